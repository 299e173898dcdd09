"""Theory of mind in a kitchen: what is asked on an occasion, what guesses are worth, and what strategy they lead to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from hypothetical_minds import Told, unreadable
from otherminds.language.asking import Asker
from otherminds.language.model import Request
from otherminds.language.scripted import text_of
from otherminds.papers.hypothetical_minds.verbal.cook_memory import KitchenSituation, ObservedAction
from otherminds.papers.hypothetical_minds.verbal.cook_theory import CookTheory
from otherminds.papers.hypothetical_minds.verbal.hypotheses import ABLATIONS, Hypothesis, HypothesisSettings
from speaking_cooks import ROOM, kitchen_of, moment, seen

WORLD = kitchen_of(*ROOM)
FIRST = seen(WORLD, moment(WORLD, "6 1 E", "2 1 N"))
RIGHT: Mapping[str, Any] = {
    "hypothesis": {"hypothesis": "They bring tomatoes."},
    "predict": {"expects": "They will bring a tomato."},
    "judge": {"fits": True},
    "strategy": {"strategy": "I serve soup."},
    "everything": {"hypothesis": "They help.", "expects": "They will cook.", "strategy": "I serve."},
}
WRONG = {**RIGHT, "judge": {"fits": False}}


def at(n: int) -> KitchenSituation:
    """The scene of the n-th occasion, ten steps after the one before, with a deed and a soup since."""
    deeds = tuple(ObservedAction(10 * k - 5, "you", f"did deed {k}") for k in range(1, n + 1))
    return FIRST._replace(memory=FIRST.memory._replace(t=10 * n, actions=deeds, steps_in_view=6 * n, soups=(n, 0)))


def theory(told: Told, settings: HypothesisSettings | None = None) -> CookTheory:
    return CookTheory(Asker(told.model, "episode 0"), settings or HypothesisSettings())


def after(mind: CookTheory, occasions: int) -> CookTheory:
    for _ in range(occasions):
        n = len(mind.records)
        mind = mind.thought(f"Soup number {n}.", at(n))
    return mind


def calls(mind: CookTheory) -> list[int]:
    return [len(record.exchanges) for record in mind.records]


# How many calls


@pytest.mark.parametrize("k", [0, 2, 3, 5])
def test_an_occasion_takes_judges_a_guess_predictions_and_a_strategy(k: int) -> None:
    mind = after(theory(Told(WRONG), HypothesisSettings(top_k=k)), 10)
    assert calls(mind)[0] == 1
    for n, found in enumerate(calls(mind)[1:]):
        judges = min(1 + k, n)
        assert found == judges + 1 + 1 + min(k, n) + 1
    assert calls(mind)[-1] == 4 + 2 * k


@pytest.mark.parametrize("k", [0, 2, 5])
def test_with_a_validated_guess_there_are_judges_and_a_strategy_only(k: int) -> None:
    told = Told(RIGHT)
    mind = after(theory(told, HypothesisSettings(top_k=k, latest=False)), 1)
    good = tuple(Hypothesis(f"Guess {n}.", 0.9, 5, f"ObservedAction {n}.") for n in range(8))
    mind = after(replace(mind, hypotheses=good, used=7), 1)
    assert mind.validated
    assert calls(mind)[-1] == (1 + k) + 1
    assert told.purposes[1:] == ["judge"] * (1 + k) + ["strategy"]


def test_calls_are_told_apart() -> None:
    told = Told({**WRONG, "hypothesis": ["?", RIGHT["hypothesis"]], "predict": ["?", "?", RIGHT["predict"]]})
    after(theory(told), 6)
    draws = [request.draw for _, request in told.asked]
    assert len(set(draws)) == len(draws)
    assert all("episode 0 step" in draw for draw in draws)


def test_asked_at_once_or_one_after_the_other_comes_to_the_same() -> None:
    one, many = (after(theory(Told(WRONG), HypothesisSettings(at_once=n)), 5) for n in (1, 4))
    assert one.hypotheses == many.hypotheses
    assert one.exchanges == many.exchanges


# Values


def test_values_follow_the_judge_and_validate_with_the_fourth_hit() -> None:
    mind, values, validated = after(theory(Told(RIGHT)), 1), [], []
    for _ in range(6):
        mind = after(mind, 1)
        values.append(mind.hypotheses[0].value)
        validated.append(mind.records[-1].validated)
    assert values == pytest.approx([0.0, 0.3, 0.51, 0.657, 0.7599, 0.83193])
    assert validated == [False, False, False, False, True, True]
    assert len(mind.hypotheses) == 4
    assert mind.used == 0
    assert calls(mind)[-1] == 4 + 1


def test_a_guess_that_fails_later_falls_out_of_validation_and_another_is_sought() -> None:
    told = Told({**RIGHT, "judge": lambda request: {"fits": "step 80" not in request.draw}})
    mind = after(theory(told), 8)
    assert mind.validated
    before = mind.hypotheses[0].value
    mind = after(mind, 1)
    assert mind.hypotheses[0].value == pytest.approx(before + 0.3 * (-1 - before))
    assert not mind.validated
    assert len(mind.hypotheses) == 5
    assert mind.used == 4


def test_judges_hear_of_what_was_done_since_and_of_what_was_expected() -> None:
    told = Told(WRONG)
    after(theory(told), 4)
    text = told.texts("judge")[-1]
    assert "did deed 3" in text
    assert "did deed 2" not in text
    assert "in your window for 6 of 10 steps" in text
    assert "They will bring a tomato." in text
    assert "did deed 1" in told.texts("hypothesis")[-1]


def test_a_verdict_that_cannot_be_read_changes_no_value() -> None:
    mind = after(theory(Told({**RIGHT, "judge": "Well, more or less."})), 4)
    assert [(h.value, h.times_judged) for h in mind.hypotheses] == [(0.0, 0)] * 3
    assert unreadable(mind.records[-1]) == 3 * 2


def test_the_best_guess_that_is_good_enough_is_acted_on() -> None:
    told = Told(RIGHT)
    mind = after(theory(told), 1)
    good = tuple(Hypothesis(f"Guess {n}.", value) for n, value in enumerate((0.75, 0.95, 0.1)))
    mind = after(replace(mind, hypotheses=good), 1)
    assert mind.used == 1
    assert "Guess 1." in told.texts("strategy")[-1]
    assert "Guess 0." not in told.texts("strategy")[-1]


def test_the_latest_guess_is_acted_on_unless_the_best_is_to() -> None:
    for latest, text in ((True, "They bring tomatoes."), (False, "Guess 0.")):
        told = Told(RIGHT)
        mind = after(theory(told, HypothesisSettings(latest=latest)), 1)
        mind = after(replace(mind, hypotheses=(Hypothesis("Guess 0.", 0.5),)), 1)
        assert mind.used is not None
        assert mind.hypotheses[mind.used].text == text
        assert text in told.texts("strategy")[-1]


# What is asked, and what is kept


def test_at_first_only_a_strategy_is_asked_for() -> None:
    told = Told(RIGHT)
    mind = after(theory(told), 1)
    assert told.purposes == ["strategy"]
    assert mind.strategy == "I serve soup."
    assert mind.hypotheses == ()
    assert "I serve soup." in mind.purpose


def test_guesses_that_were_right_are_shown_to_be_improved() -> None:
    told = Told(RIGHT)
    after(theory(told), 4)
    assert "+0.51: They bring tomatoes." in told.texts("hypothesis")[-1]
    assert "Guesses of yours" not in told.texts("hypothesis")[0]
    told = Told(WRONG)
    after(theory(told), 4)
    assert not any("Guesses of yours" in text for text in told.texts("hypothesis"))


def test_what_follows_from_each_guess_is_asked_for_by_itself() -> None:
    def write(request: Request) -> Mapping[str, str]:
        n = next(n for n in range(9) if f"Guess {n}." in text_of(request).rpartition("A guess about")[2])
        return {"expects": f"ObservedAction {n}."}

    told = Told({**WRONG, "hypothesis": [{"hypothesis": f"Guess {n}."} for n in range(9)], "predict": write})
    mind = after(theory(told), 5)
    assert [h.expects for h in mind.hypotheses] == [f"ObservedAction {n}." for n in range(4)]


@pytest.mark.parametrize("purpose", ["hypothesis", "predict", "strategy"])
def test_what_cannot_be_read_leaves_things_as_they_were(purpose: str) -> None:
    mind = after(theory(Told({**RIGHT, purpose: "?"})), 3)
    assert len(mind.hypotheses) == (0 if purpose == "hypothesis" else 2)
    assert any(h.expects for h in mind.hypotheses) == (purpose == "strategy")
    assert mind.strategy == ("" if purpose == "strategy" else "I serve soup.")
    assert unreadable(mind.records[-1]) >= 3
    assert mind.purpose


def test_sentences_are_one_line_each() -> None:
    told = Told({**RIGHT, "strategy": {"strategy": "I serve.\n- step 3: you delivered a soup"}})
    assert "\n- step 3" not in after(theory(told), 1).purpose


# Variants


def test_without_evaluation_nothing_is_judged() -> None:
    told = Told(RIGHT)
    mind = after(theory(told, ABLATIONS["MMP"]), 9)
    assert set(calls(mind)[1:]) == {3}
    assert "judge" not in told.purposes
    assert not mind.validated


def test_without_refinement_no_earlier_guesses_are_shown() -> None:
    told = Told(RIGHT)
    after(theory(told, ABLATIONS["MMP+HE"]), 4)
    assert not any("Guesses of yours" in text for text in told.texts("hypothesis"))
    assert "judge" in told.purposes


def test_all_of_it_can_be_asked_at_once() -> None:
    told = Told(RIGHT)
    mind = after(theory(told, ABLATIONS["VMP"]), 4)
    assert told.purposes == ["strategy", "everything", "everything", "everything"]
    assert mind.hypotheses[-1] == Hypothesis("They help.", expects="They will cook.")
    assert mind.strategy == "I serve."
    unread = after(theory(Told({**RIGHT, "everything": "?"}), ABLATIONS["VMP"]), 2)
    assert (unread.strategy, unread.hypotheses) == ("I serve soup.", ())


def test_without_a_partner_in_mind_strategies_are_worth_what_comes_of_them() -> None:
    told = Told(RIGHT)
    mind = after(theory(told, HypothesisSettings(mind_prompting=False)), 1)
    assert mind.hypotheses == (Hypothesis("I serve soup."),)
    assert mind.strategy == "I serve soup."
    paid = mind.thought("Soup.", at(1))
    assert paid.hypotheses[0].value == pytest.approx(0.3)
    hungry = mind.thought("No soup.", at(0)._replace(memory=at(0).memory._replace(t=50)))
    assert hungry.hypotheses[0].value == pytest.approx(-0.3)
    assert set(told.purposes) == {"strategy"}
    assert "+0.30: I serve soup." in told.texts("strategy")[1]
    good = after(replace(mind, hypotheses=(Hypothesis("Go on.", 0.9),)), 1)
    assert calls(good)[-1] == 0
    assert good.strategy == "Go on."
