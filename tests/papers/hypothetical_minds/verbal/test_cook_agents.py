"""Cooks moved by a language model: when each of them asks what, what they keep, and what they deliver."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from hypothetical_minds import Told, unreadable
from otherminds.language.asking import Asker
from otherminds.language.scripted import Scripted
from otherminds.mind import Mind
from otherminds.papers.hypothetical_minds.melting_pot import COOKS
from otherminds.papers.hypothetical_minds.verbal.agents import KEPT, STYLES, ReactingCook, SpeakingCook
from otherminds.papers.hypothetical_minds.verbal.hypotheses import ABLATIONS, HypothesisSettings
from otherminds.world import rollout
from otherminds.worlds.avatars import Action
from otherminds.worlds.collaborative_cooking.map_files import cooking_asymmetric
from otherminds.worlds.collaborative_cooking.rules import CollaborativeCooking, CookingState, PotState
from papers.hypothetical_minds.scripted import BROKEN, scripted_model
from speaking_cooks import ROOM, kitchen_of, moment, play

WORLD = kitchen_of(*ROOM)
ASIDE = "6 1 E"
DELIVERS = {"plan": [{"do": "interact", "x": 5, "y": 0}]}
WAITS = {"plan": [{"do": "wait", "x": 2, "y": 0, "until": "ready"}]}
REPLIES: Mapping[str, Any] = {
    "hypothesis": {"hypothesis": "They do nothing."},
    "predict": {"expects": "They will do nothing."},
    "judge": {"fits": True},
    "strategy": {"strategy": "I do it all."},
    "subgoals": WAITS,
    "reflect": {"success": False, "lesson": "Bring tomatoes first."},
}
Cook = SpeakingCook | ReactingCook


def speaking(told: Told | Scripted, settings: HypothesisSettings | None = None, **more: Any) -> SpeakingCook:
    model = told.model if isinstance(told, Told) else told
    mind = SpeakingCook.initial(WORLD, "me", Asker(model, "episode 0"), settings or HypothesisSettings())
    return replace(mind, **more)


def reacting(told: Told | Scripted, name: str, **more: Any) -> ReactingCook:
    model = told.model if isinstance(told, Told) else told
    return replace(ReactingCook.initial(WORLD, "me", Asker(model, "episode 0"), STYLES[name]), **more)


def run(mind: Any, state: CookingState, steps: int, *yours: Action) -> Any:
    """Observes the state and so many more; the other one does these things, and then nothing."""
    mind = mind.observe(WORLD.observe(state, "me"))
    for n in range(steps):
        state = play(WORLD, state, mind.act().mode, yours[n] if n < len(yours) else "noop")
        mind = mind.observe(WORLD.observe(state, "me"))
    return mind


SERVING = moment(WORLD, "5 1 N soup", ASIDE)
LATE = moment(WORLD, "1 1 N", "5 1 N soup")


# When what is asked


def test_a_delivery_is_reflected_on_thought_about_and_followed_by_another_plan() -> None:
    told = Told({**REPLIES, "subgoals": [DELIVERS, WAITS]})
    mind = run(speaking(told), SERVING, 1)
    first = ["strategy", "subgoals"]
    assert told.purposes == [*first, "reflect", "hypothesis", "predict", "strategy", "subgoals"]
    assert len(mind.exchanges) == len(told.asked)
    assert [record.occasion.why for record in mind.theory.records] == [
        "The episode begins.",
        "Soup was delivered at step 1.",
    ]
    assert "I do it all." in told.texts("subgoals")[1]
    assert "In between you were paid 20" in told.texts("reflect")[0]


def test_a_delivery_of_the_partner_breaks_a_plan_off_without_a_reflection() -> None:
    told = Told(REPLIES)
    mind = run(speaking(told), LATE, 1, "interact")
    assert told.purposes == ["strategy", "subgoals", "hypothesis", "predict", "strategy", "subgoals"]
    assert "broken off: Soup was delivered at step 1." in told.texts("subgoals")[1]
    assert mind.body.situation.memory.soups == (0, 1)


@pytest.mark.parametrize(("patience", "occasions"), [(50, 3), (30, 4), (0, 1)])
def test_it_thinks_again_if_nothing_is_delivered_for_long(patience: int, occasions: int) -> None:
    mind = run(speaking(Told(REPLIES), patience=patience), moment(WORLD, "1 1 N", ASIDE), 100)
    assert len(mind.theory.records) == occasions
    assert [record.occasion.situation.t for record in mind.theory.records] == [n * patience for n in range(occasions)]


def test_every_plan_is_reflected_on_once_and_the_latest_lessons_are_kept() -> None:
    lessons = [{"success": True, "lesson": f"Lesson {n}."} for n in range(60)]
    picks = {"plan": [{"do": "interact", "x": 3, "y": 0}]}
    told = Told({**REPLIES, "subgoals": picks, "reflect": lessons})
    mind = run(speaking(told, patience=0), moment(WORLD, "3 1 N", ASIDE), 40)
    plans = told.purposes.count("subgoals")
    assert plans > KEPT + 2
    assert told.purposes.count("reflect") == plans - 1
    assert mind.notes == tuple(f"Lesson {n}." for n in range(plans - 1 - KEPT, plans - 1))
    assert "there was nothing there to pick up" in told.texts("reflect")[0]
    assert "Lesson 0." in told.texts("subgoals")[1]
    assert "Before: at (3, 1), holding nothing; pot at (2, 0): empty" in told.texts("reflect")[0]


def test_a_lesson_that_cannot_be_read_leaves_no_note() -> None:
    told = Told({**REPLIES, "subgoals": [DELIVERS, WAITS], "reflect": "It went well."})
    mind = run(speaking(told), SERVING, 1)
    assert mind.notes == ()
    assert unreadable(mind) == 3


def test_a_plan_is_reflected_on_once_even_if_no_other_one_can_be_read() -> None:
    told = Told({**REPLIES, "subgoals": [DELIVERS, "?"]})
    run(speaking(told, patience=0), SERVING, 25)
    assert told.purposes.count("reflect") == 1
    assert told.purposes.count("subgoals") == 1 + 3 * 3


@pytest.mark.parametrize(
    ("name", "purposes"),
    [
        ("react", ["subgoals", "subgoals"]),
        ("reflexion", ["subgoals", "reflect", "subgoals"]),
        ("planreact", ["strategy", "subgoals", "strategy", "subgoals"]),
    ],
)
def test_what_the_baselines_ask(name: str, purposes: list[str]) -> None:
    told = Told({**REPLIES, "subgoals": [DELIVERS, WAITS]})
    mind = run(reacting(told, name), SERVING, 1)
    assert told.purposes == purposes
    assert len(mind.exchanges) == len(purposes)
    assert unreadable(mind) == 0
    assert all(text.count('{"reasoning": "') >= 3 for text in told.texts("subgoals"))
    assert ("I do it all." in told.texts("subgoals")[0]) == (name == "planreact")
    assert ("Bring tomatoes first." in told.texts("subgoals")[1]) == (name == "reflexion")


def test_a_plan_in_words_that_cannot_be_read_leaves_the_one_before() -> None:
    told = Told({**REPLIES, "subgoals": [DELIVERS, WAITS], "strategy": [REPLIES["strategy"], "?"]})
    mind = run(reacting(told, "planreact"), SERVING, 3)
    assert mind.plan == "I do it all."
    assert told.purposes.count("strategy") == 1 + 3


def test_nothing_is_asked_at_the_end() -> None:
    world = kitchen_of(*ROOM, steps=1)
    told = Told({**REPLIES, "subgoals": [DELIVERS, WAITS]})
    mind = SpeakingCook.initial(world, "me", Asker(told.model))
    mind = mind.observe(world.observe(SERVING, "me"))
    mind = mind.observe(world.observe(play(world, SERVING, "interact"), "me"))
    assert told.purposes == ["strategy", "subgoals"]


# Models that break the form


@pytest.mark.parametrize("name", BROKEN)
@pytest.mark.parametrize("planning_style", ["hm", *STYLES])
def test_programs_that_break_the_form_move_nobody(name: str, planning_style: str) -> None:
    model = scripted_model(name)
    mind: Any = speaking(model) if planning_style == "hm" else reacting(model, planning_style)
    state = moment(WORLD, "2 1 N", ASIDE)
    mind = mind.observe(WORLD.observe(state, "me"))
    for _ in range(60):
        assert mind.act().support == ("noop",)
        state = play(WORLD, state, "noop")
        mind = mind.observe(WORLD.observe(state, "me"))
    assert unreadable(mind) == len(mind.exchanges) > 0


def test_looking_changes_nothing_that_was_there() -> None:
    for mind in (speaking(Told(REPLIES)), reacting(Told(REPLIES), "reflexion")):
        before = run(mind, SERVING, 3)
        copy = type(before)(**{name: getattr(before, name) for name in before.__dataclass_fields__})
        run(before, SERVING, 3)
        assert before == copy
        assert hash(before) == hash(copy)


# Whole episodes

KITCHEN = cooking_asymmetric()


def episode(mind: Cook, partner: str, seed: int, steps: int = 1000) -> tuple[float, Any]:
    """What is earned, and the mind after it."""
    rng = np.random.default_rng(seed)
    me, other = KITCHEN.agents
    watched = Watched(mind)
    minds: dict[str, Mind[Any, Action]] = {me: watched, other: COOKS[partner](KITCHEN)}
    reward = sum(step.after.rewards[0] for step in rollout(KITCHEN, minds, steps=steps, rng=rng))
    return reward, Watched.last


class Watched:
    """A mind of which the last state is kept."""

    last: Any = None

    def __init__(self, mind: Any) -> None:
        self.mind = Watched.last = mind

    def observe(self, obs: Any) -> Watched:
        return Watched(self.mind.observe(obs))

    def act(self) -> Any:
        return self.mind.act()


def kitchen_cook(name: str, kind: str = "HM", world: CollaborativeCooking = KITCHEN) -> Cook:
    asker = Asker(scripted_model(name), "episode 0")
    if kind in STYLES:
        return ReactingCook.initial(world, world.agents[0], asker, STYLES[kind])
    return SpeakingCook.initial(world, world.agents[0], asker, ABLATIONS[kind])


@pytest.mark.slow
@pytest.mark.parametrize(("partner", "least"), [("skilled", 700), ("semi-skilled", 600), ("idle", 380)])
@pytest.mark.parametrize("seed", [0, 3])
def test_who_thinks_straight_earns_with_anybody_in_either_room(partner: str, least: float, seed: int) -> None:
    reward, mind = episode(kitchen_cook("straight"), partner, seed)
    assert reward >= least
    assert unreadable(mind) == 0
    assert mind.body.rests_until == 0
    assert all(len(record.exchanges) <= 4 + 2 * 5 for record in mind.theory.records)
    assert any(record.validated for record in mind.theory.records)


@pytest.mark.slow
@pytest.mark.parametrize(("partner", "part"), [("idle", "They do nothing that helps."), ("skilled", "leave the soup")])
def test_the_guess_it_ends_up_with_is_right(partner: str, part: str) -> None:
    _, mind = episode(kitchen_cook("straight"), partner, 0, 400)
    assert mind.theory.used is not None
    assert part in mind.theory.hypotheses[mind.theory.used].text


@pytest.mark.slow
def test_who_stutters_does_the_same_with_one_more_call_each() -> None:
    straight, plain = episode(kitchen_cook("straight"), "skilled", 0, 300)
    stuttered, twice = episode(kitchen_cook("stutterer"), "skilled", 0, 300)
    assert straight == stuttered > 0
    assert len(twice.exchanges) == 2 * len(plain.exchanges)
    assert unreadable(twice) == len(plain.exchanges)


@pytest.mark.slow
@pytest.mark.parametrize("kind", [*ABLATIONS, *STYLES])
def test_all_variants_deliver_with_who_thinks_straight_and_alike_each_time(kind: str) -> None:
    one, other = (episode(kitchen_cook("straight", kind), "skilled", 1, 250)[0] for _ in range(2))
    assert one == other > 80


@pytest.mark.slow
def test_two_of_a_kind_cook_together_in_one_room() -> None:
    world = kitchen_of(*ROOM, steps=400)
    rng = np.random.default_rng(0)
    minds = {
        agent: SpeakingCook.initial(world, agent, Asker(scripted_model("straight"), agent)) for agent in world.agents
    }
    assert sum(step.after.rewards[0] for step in rollout(world, minds, steps=400, rng=rng)) > 0


def test_it_learns_of_a_kitchen_only_by_its_window() -> None:
    """What lies or is cooked out of view makes no difference to what is asked."""
    world = kitchen_of(*ROOM, reach=WORLD.reach._replace(left=1, right=1, forward=1, backward=1))
    texts = []
    for pots, on in (([], {}), ([PotState(), PotState(3, 4, True)], {(5, 3): "soup"})):
        told = Told(REPLIES)
        state = moment(world, "1 1 N", ASIDE, pots=pots, on=on)
        SpeakingCook.initial(world, "me", Asker(told.model)).observe(world.observe(state, "me"))
        texts.append(told.texts("subgoals"))
    assert texts[0] == texts[1]
