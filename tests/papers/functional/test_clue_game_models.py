"""Language models in clue games: what they are told, what is read from them, and what their episodes come to."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from bad_replies import bad_reply
from otherminds.distribution import Categorical, point_mass
from otherminds.errors import InputError
from otherminds.language.choices import read_choice
from otherminds.language.model import Request
from otherminds.language.scripted import Scripted, text_of
from otherminds.papers.functional.card_and_word_games import games
from otherminds.papers.functional.clue_game_models import ClueGameModel, converse, estimate, least, of_rounds
from otherminds.worlds.clue_games.clue_game import ClueGame
from otherminds.worlds.clue_games.tiny_hanabi import Deal, HanabiView
from reply_readers import ReplyReader

ASKED = re.compile("with one of (.+) in place of", re.DOTALL)
CONDITIONS = list(games())
SIGNALS, DIALS = "hanabi/signals", "wavelength/dials"
WAYS = ("qa", "cot", "plans_insights", "reflexion2", "social_qa", "s2a", "lm", "social_lm")


def short(condition: str, rounds: int = 4) -> ClueGame:
    return of_rounds(games()[condition], rounds)


def streams(seed: int = 0) -> dict[str, np.random.Generator]:
    return {role: np.random.default_rng([seed, i]) for i, role in enumerate(("deals", "partner", "subject"))}


def options(text: str) -> list[str]:
    found = ASKED.search(text)
    return found[1].removeprefix("option ").split(", option ") if found else []


@dataclass
class Speaker:
    """Writes what `reply` makes of the options, and keeps all prompts."""

    reply: Callable[[list[str], str], str] = lambda labels, _text: f"Answer: option {labels[0]}"
    texts: list[str] = field(default_factory=list)

    @property
    def model(self) -> Scripted:
        return Scripted("speaker", self._write, self._weigh)

    def _write(self, request: Request) -> str:
        text = text_of(request)
        self.texts.append(text)
        return self.reply(options(text), text) if options(text) else "A note: keep to it."

    def _weigh(self, prompt: str, text: str) -> float:
        self.texts.append(prompt + text)
        return -1.0 - len(text)


def played(condition: str, speaker: Speaker, way: str = "qa", rounds: int = 4, **more: Any) -> list[dict[str, Any]]:
    game = short(condition, rounds)
    model = ClueGameModel.of(game, speaker.model, way, **more)
    return list(converse(game, next(iter(game.partners)), model, streams()))


# Episodes


@pytest.mark.slow
@pytest.mark.parametrize("condition", CONDITIONS)
def test_an_episode_in_conversation_is_the_one_that_is_played(condition: str) -> None:
    game = short(condition, 3)
    partner = list(game.partners)[-1]
    for name in game.subjects:
        subject = game.informed(game.partners[partner]) if name == "informed" else game.uninformed[name]
        talked, silent = list(converse(game, partner, subject, streams(1))), list(game.play(partner, name, streams(1)))
        assert [{column: row[column] for column in silent[0]} for row in talked] == silent
        assert [row["words"] for row in talked] == [*map(str, (row["words"] for row in talked))]
        assert "said" not in talked[0]


def test_a_perfect_signal_reader_earns_all_that_can_be_earned() -> None:
    """Signaller 2-0 shows its card by 2 or 0; the table then pays 10 for the right action, by hand."""
    game = short(SIGNALS, 12)
    best = {("0", "2"): 0, ("1", "2"): 2, ("0", "0"): 2, ("1", "0"): 0}  # own card and signal: R of Foerster et al.

    def reply(labels: list[str], text: str) -> str:
        views = re.findall(r"Your card is (\d)\. The signal is (\d)\.", text)
        card, signal = views[-1]
        if labels[0].startswith("card"):
            return f"Answer: option card {0 if signal == '2' else 1}"
        return f"Answer: option action {best[card, signal]}"

    rows = list(converse(game, "2-0", ClueGameModel.of(game, Speaker(reply).model, "qa"), streams(3)))
    assert len(rows) == 12
    assert [row["predicted"] for row in rows] == [row["observed"] for row in rows]
    expected = [game.world.payoffs[r["observed"]][r["card"]][r["signal"]][r["action"]] for r in rows]  # type: ignore[attr-defined]
    assert [row["reward"] for row in rows] == expected == [row["best"] for row in rows]
    assert sum(expected) == 12 * 10


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("condition", CONDITIONS)
def test_every_way_of_asking_plays_every_game(condition: str, way: str) -> None:
    speaker = Speaker()
    rows = played(condition, speaker, way, 2)
    game = short(condition, 2)
    assert all(row["action"] is not None and row["predicted"] is not None for row in rows)
    assert all(row["unreadable"] == 0 and row["tokens"] > 0 for row in rows)
    assert all(game.spoken.rules.partition("\n")[0] in text for text in speaker.texts)
    assert all(0.0 <= row["p_true"] <= 1.0 for row in rows)


def test_the_same_seed_plays_the_same_episode() -> None:
    plain, again = (played(DIALS, Speaker(), "lm") for _ in range(2))
    assert plain == again


# What is lost


def test_a_round_without_a_readable_move_is_lost_and_its_prediction_counts() -> None:
    def reply(labels: list[str], text: str) -> str:
        is_second = "Now it is turn 2." in text and labels[0].startswith("action")
        return "I would rather not say." if is_second else f"Answer: option {labels[0]}"

    speaker = Speaker(reply)
    rows = played(SIGNALS, speaker)
    assert [row["action"] for row in rows] == [0, None, 0, 0]
    assert rows[1]["reward"] == 0.0
    assert [row["predicted"] for row in rows] == [0] * 4  # the first card of those listed
    assert rows[1]["p_true"] == float(rows[1]["observed"] == 0)
    assert [row["unreadable"] for row in rows] == [0, 3, 0, 0]
    last = speaker.texts[-1]
    assert "Turn 2 was not played, because your answer could not be read." in last
    assert last.count("Your partner's card was") == 2  # turns 1 and 3: nobody sees how a lost one would have ended
    assert "could not be read" in rows[1]["words"]


def test_a_giver_that_gives_no_clue_predicts_nothing() -> None:
    rows = played(DIALS, Speaker(lambda labels, _text: "Hm." if "position 0" not in labels else "position 0"))
    assert [row["action"] for row in rows] == [row["predicted"] for row in rows] == [None] * 4
    assert [row["p_true"] for row in rows] == [None] * 4
    assert sum(row["reward"] for row in rows) == 0.0


@pytest.mark.parametrize("condition", CONDITIONS)
def test_an_episode_of_nonsense_earns_the_least_of_every_round(condition: str) -> None:
    game = short(condition, 3)
    rows = played(condition, Speaker(lambda *_: "…"), rounds=3)
    assert len(rows) == 3
    assert sum(row["reward"] for row in rows) == 3 * least(game)
    assert all(row["action"] is None for row in rows)


@pytest.mark.slow
@pytest.mark.parametrize("condition", CONDITIONS)
def test_no_round_earns_less_than_a_lost_one(condition: str) -> None:
    for seed in range(8):
        rng = np.random.default_rng(seed)
        game = short(condition, 1)
        speaker = Speaker(lambda labels, _text, rng=rng: f"Answer: option {rng.choice(labels)}")  # type: ignore[misc]
        model = ClueGameModel.of(game, speaker.model, "qa")
        rows = list(converse(game, next(iter(game.partners)), model, streams(seed)))
        assert sum(row["reward"] for row in rows) >= least(game)


def test_a_prediction_that_cannot_be_read_is_wrong_and_loses_no_round() -> None:
    rows = played(SIGNALS, Speaker(lambda labels, _text: "?" if "card 0" in labels else f"Answer: option {labels[-1]}"))
    assert [row["predicted"] for row in rows] == [None] * 4
    assert [row["action"] for row in rows] == [2] * 4
    assert all(row["p_true"] == 0.0 for row in rows)


@pytest.mark.slow
@pytest.mark.parametrize("condition", CONDITIONS)
def test_hostile_replies_are_no_moves_that_they_do_not_say(condition: str) -> None:
    """Of each kind of reply an option is read that it names, or nothing; the episode always ends."""
    rng, given = np.random.default_rng(7), list[tuple[ReplyReader, Any]]()

    def reply(labels: list[str], _text: str) -> str:
        good = [f"Answer: option {label}" for label in labels]
        reader = ReplyReader("clue", lambda text: None, good, "Answer: option Lizard", labels[0], tuple(labels))
        bad = bad_reply(reader, rng)
        given.append((reader, bad))
        return bad.text

    rows = played(condition, Speaker(reply), rounds=3)
    read = [exchange["read"] for row in rows for exchange in row["said"]]
    assert len(read) == len(given)
    assert sum(row["unreadable"] for row in rows) > 0
    for label, (reader, bad) in zip(read, given, strict=True):
        if label in reader.labels:
            assert not bad.unreadable
            assert re.search(rf"(?<!\w){re.escape(label)}(?!\w)", bad.text, re.IGNORECASE)


# What is told


def test_prompts_tell_the_view_the_past_and_the_form_of_the_answer() -> None:
    speaker = Speaker()
    played(SIGNALS, speaker, rounds=2)
    predicting, acting, *_ = speaker.texts
    assert "What do you expect in turn 1?" in predicting
    assert "the question is: Which card does your partner hold?" in predicting
    assert "This time you play 2 rounds." in predicting
    assert options(predicting) == ["card 0", "card 1"]
    assert "Which option do you choose in turn 1?" in acting
    assert options(acting) == ["action 0", "action 1", "action 2"]
    assert acting.count("Turn 1, now: Your card is ") == 1
    assert re.search(r"\nTurn 1: Your partner's card was \d", speaker.texts[-1])


def test_a_social_player_is_told_what_it_expects() -> None:
    speaker = Speaker()
    played(SIGNALS, speaker, "social_qa", rounds=1)
    assert "You expect: option card 0." in speaker.texts[-1]


def test_reflections_and_plans_are_seen_again() -> None:
    speaker = Speaker()
    rows = played(SIGNALS, speaker, "reflexion1", rounds=2)
    assert "- A note: keep to it." in speaker.texts[-1]
    assert [exchange["of"] for exchange in rows[1]["said"]] == ["reflect", "predict", "act"]
    speaker = Speaker(lambda labels, _text: f"Plans: p1\nInsights: i1\nAnswer: option {labels[0]}")
    played(DIALS, speaker, "plans_insights", rounds=2)
    first, second = (text for text in speaker.texts if "Which option do you choose" in text)
    assert "Plans: p1" not in first
    assert "Plans: p1\nInsights: i1" in second


@pytest.mark.slow
@pytest.mark.parametrize("condition", [condition for condition in CONDITIONS if games()[condition].names])
def test_shuffled_names_stand_for_something_else_and_leave_the_game_alone(condition: str) -> None:
    """Whoever always chooses what has the lowest value plays the same episode, whatever it is called."""
    prompts, episodes = list[str](), list[list[dict[str, Any]]]()
    game = short(condition, 2)
    for draw in ("", *"abcd"):
        speaker = Speaker()
        model = ClueGameModel.of(game, speaker.model, "qa", draw=draw, shuffle=bool(draw))

        @dataclass(frozen=True)
        class Lowest:
            """Sees and asks as the model, but chooses by value."""

            mind: ClueGameModel

            def observe(self, view: Any) -> Lowest:
                return Lowest(self.mind.observe(view))

            def predict(self) -> Any:
                return self.mind.predict()

            def act(self) -> Any:
                self.mind.act()
                return point_mass((self.mind.actions or (-1,))[0])

        rows = list(converse(game, next(iter(game.partners)), Lowest(model), streams()))
        episodes.append([{key: row[key] for key in ("observed", "action", "reward")} for row in rows])
        prompts.append(speaker.texts[0])
    assert all(episode == episodes[0] for episode in episodes)
    assert len(set(prompts)) > 1


def test_two_equal_turns_in_succession_are_two_turns() -> None:
    game = short(SIGNALS)
    player = ClueGameModel.of(game, Speaker().model, "qa").observe(HanabiView(0, None, None))
    for _ in range(2):
        deal = Deal((0, 0), 1, 1)
        player = player.observe(HanabiView(0, 1, player.last)).observe(HanabiView(0, None, deal))
    assert len(player.player.rounds) == 2


# Asking


@pytest.mark.parametrize("way", ["cot3", "oracle", "qa+oracle_max", "nothing"])
def test_strategies_that_need_a_matrix_are_refused(way: str) -> None:
    with pytest.raises(InputError, match=re.escape(way)):
        ClueGameModel.of(short(SIGNALS), Speaker().model, way)


def views(condition: str) -> Iterator[Any]:
    game = short(condition, 2)
    seen = list[Any]()

    @dataclass(frozen=True)
    class Watching:
        mind: Any

        def observe(self, view: Any) -> Watching:
            seen.append(view)
            return Watching(self.mind.observe(view))

        def act(self) -> Any:
            return self.mind.act()

        def predict(self) -> Any:
            return self.mind.predict()

    for partner in [*game.partners][:3]:
        list(converse(game, partner, Watching(game.informed(game.partners[partner])), streams()))
    yield from seen


@pytest.mark.slow
@pytest.mark.parametrize("condition", CONDITIONS)
def test_every_option_that_is_named_can_be_answered(condition: str) -> None:
    game = short(condition)
    player = ClueGameModel.of(game, Speaker().model, "qa")
    for view in views(condition):
        seen = player.observe(view)
        for question, values in (("act", seen.actions), ("predict", seen.answers)):
            labels = seen.player.setting.labels(question)  # type: ignore[arg-type]
            assert len(set(labels)) == len(labels) == len(values)
            listed = sorted(labels)
            assert [read_choice(f"Answer: option {label}", listed) for label in listed] == list(range(len(listed)))


def test_without_names_there_is_nothing_to_shuffle() -> None:
    with pytest.raises(InputError, match="no names to shuffle"):
        ClueGameModel.of(short(SIGNALS), Speaker().model, "qa", shuffle=True)


def test_an_estimate_counts_the_calls_of_an_episode() -> None:
    game = short(SIGNALS, 5)
    speaker = Speaker()
    list(converse(game, "0-0", ClueGameModel.of(game, speaker.model, "qa"), streams()))
    assert estimate(game, "0-0", "qa", 3).calls == 3 * len(speaker.texts) == 30


def test_an_illegal_action_is_one_clear_line() -> None:
    @dataclass(frozen=True)
    class Odd:
        def observe(self, _view: Any) -> Odd:
            return self

        def act(self) -> Categorical[int]:
            return point_mass(7)

    with pytest.raises(InputError, match=re.escape("`7` is not allowed now (one of -1)")):
        list(converse(short(SIGNALS), "0-0", Odd(), streams()))
