"""Episodes as rows: what every row says, that nothing else decides what is in it, and what is made of them."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from otherminds.mind import NONE_OF_THESE
from otherminds.papers.protom.doors_keys_gems import EXPERIMENT, SETS, VARIANTS, episode, rows
from otherminds.papers.protom.experiment import SUBJECTS, PlannedEpisode, assess, plan
from otherminds.worlds.doors_keys_gems.advice import DoorsKeysGemsAdvice
from otherminds.worlds.doors_keys_gems.level_files import Level, bundled_levels, parse_level

Row = dict[str, Any]
TWENTY = {level.name: level for level in bundled_levels()}
LOCKED_IN, PURPLE_GATE, OWN_KEY = (TWENTY[name] for name in ("locked-in", "purple-gate", "own-key"))
INFERRING = (*(subject for subject in SETS["heldout"] if subject not in ("none", "random")), "protom_prior_0.1")
EVERY = ("none", "random", *INFERRING)
FAITHFUL = [subject for subject, settings in VARIANTS.items() if settings.get("faithful")]


def entry(level: Level, subject: str, seed: int = 42) -> PlannedEpisode:
    return PlannedEpisode(level, subject, level.kind, seed)


def untimed(found: list[Row]) -> list[Row]:
    return [{key: value for key, value in row.items() if key != "ms"} for row in found]


def advice(found: list[Row]) -> list[Row]:
    return [row for row in found if row["agent"] == "facilitator"]


# What a row says


@pytest.mark.parametrize("subject", EVERY)
@pytest.mark.parametrize("level", [LOCKED_IN, PURPLE_GATE], ids=lambda level: level.name)
def test_every_row_says_whose_decision_it_tells(level: Level, subject: str) -> None:
    found = rows(entry(level, subject))
    about = {"schema": 1, "experiment": "protom-dkg", "condition": level.kind, "subject": subject, "seed": 42}
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert all(row.items() >= {**about, "episode": level.name}.items() for row in found)
    people = [*level.world.agents, "facilitator"]
    assert [(row["t"], row["agent"]) for row in found] == [(t, a) for t in range(len(found) // 3) for a in people]


@pytest.mark.parametrize("subject", EVERY)
def test_the_actions_and_rewards_of_the_rows_are_what_happened(subject: str) -> None:
    level, found = PURPLE_GATE, rows(entry(PURPLE_GATE, subject))
    world, state = level.world, level.world.initial
    for t in range(len(found) // 3):
        now = {row["agent"]: row for row in found if row["t"] == t and row["agent"] != "facilitator"}
        after = world.step(state, {a: world.vocabulary[row["action"]] for a, row in now.items()})
        for i, agent in enumerate(world.agents):
            assert now[agent]["reward"] == (0.0 if world.has_gem(state, i) else -1.0)
            assert now[agent]["goal"] == world.gems[world.goals[i]].colour
        state = after
    assert found[-1]["success"]
    assert world.done(state)


@pytest.mark.parametrize("subject", EVERY)
def test_only_those_who_infer_goals_report_what_they_believe(subject: str) -> None:
    for row in rows(entry(LOCKED_IN, subject)):
        believed = {"posterior", "predicted", "p_true"} & row.keys()
        if row["agent"] == "facilitator" or not subject.startswith("protom"):
            assert not believed
            continue
        posterior = row["posterior"]
        none = [] if subject in FAITHFUL else [NONE_OF_THESE]
        assert set(posterior) == {*(gem.colour for gem in LOCKED_IN.world.gems), *none}
        assert sum(posterior.values()) == pytest.approx(1.0)
        assert posterior[row["predicted"]] == max(posterior.values())
        assert row["p_true"] == posterior[row["goal"]]


@pytest.mark.parametrize("subject", EVERY)
def test_the_facilitator_either_says_something_or_says_why_not(subject: str) -> None:
    found = advice(rows(entry(LOCKED_IN, subject)))
    assert [bool(row["action"]) for row in found] == ["words" in row for row in found]
    assert [bool(row["action"]) for row in found] == ["why" not in row for row in found]
    assert all(math.isfinite(row["ms"]) and row["ms"] >= 0 for row in found)
    assert found[0]["why"] == "nobody has done anything yet"
    for row in found:
        if subject not in ("none", "random") and row["action"]:
            best = max(price["worth"] for price in row["prices"])
            assert row["action"] in [price["message"] for price in row["prices"] if price["worth"] > best - 1e-6]
            assert all(price["worth"] == price["saves"] for price in row["prices"]) == (subject in FAITHFUL)


@pytest.mark.parametrize("subject", INFERRING)
def test_a_goal_is_stated_if_it_is_believed(subject: str) -> None:
    """The paper's rule states the likeliest goal, however likely it is."""
    for level in (LOCKED_IN, PURPLE_GATE):
        found = rows(entry(level, subject))
        spoken = [row for row in advice(found) if row["action"]]
        for row in spoken:
            assert {"friends", "sure", "saves"} <= row.keys()
            assert ("stated" in row) == ("stated_p" in row) == ("I believe" in row["words"])
            (friend, *_) = row["friends"]
            if subject in FAITHFUL:
                (held,) = [r["posterior"] for r in found if (r["t"], r["agent"]) == (row["t"], friend)]
                assert row["stated"] == max(held, key=held.__getitem__)
            elif "stated" in row:
                assert row["stated"] == level.world.gems[level.world.goals[level.world.agents.index(friend)]].colour
        assert spoken or subject == "protom_traj"


def test_every_facilitator_of_every_set_can_be_played() -> None:
    assert {subject for subjects in SETS.values() for subject in subjects} <= {"none", "random", *VARIANTS}


def test_the_last_row_tells_how_it_ended() -> None:
    failed, helped = rows(entry(LOCKED_IN, "none")), rows(entry(LOCKED_IN, "oracle"))
    assert (failed[-1]["success"], failed[-1]["length"], len(failed)) == (False, 80, 240)
    assert helped[-1]["success"]
    assert helped[-1]["length"] == len(helped) // 3 < 80
    assert not any("success" in row or "length" in row for row in failed[:-1] + helped[:-1])


def fates(found: list[Row]) -> list[str]:
    """What became of every message, in order; those of which nothing more is told are not in it."""
    ended = [row["status"] for row in advice(found) if row.get("status") in ("completed", "impossible", "ignored")]
    return [*ended, *([found[-1]["outcome"]] if "outcome" in found[-1] else [])]


@pytest.mark.parametrize("seed", range(4))
def test_a_message_still_under_way_at_the_end_is_told_as_such(seed: int) -> None:
    found = rows(entry(replace(LOCKED_IN, horizon=6), "random", seed))
    assert [row["action"] for row in advice(found) if row["action"]] == [LOCKED_IN.certificate["message"]]
    assert fates(found) == ["running"]


def test_of_every_message_it_is_told_what_became_of_it() -> None:
    for seed in range(12):
        found = rows(entry(OWN_KEY, "random", seed))
        assert len(fates(found)) == sum(bool(row["action"]) for row in advice(found))


def test_nothing_becomes_of_what_has_not_been_said() -> None:
    for seed in range(8):
        found = rows(entry(replace(LOCKED_IN, horizon=1), "random", seed))
        assert (fates(found), found[-1]["action"]) == ([], "")


def test_an_episode_in_which_there_is_nothing_to_do() -> None:
    level = parse_level("agents: Ana, Ben\ngoals: red, blue\nhorizon: 1\n\na1 gr a2 gb", Path("dull.txt"))
    (*_, last) = found = rows(entry(level, "protom"))
    assert len(found) == 3
    assert (last["success"], last["length"]) == (False, 1)


# What decides what is in the rows


@pytest.mark.slow
@pytest.mark.parametrize("subject", EVERY)
def test_the_same_entry_gives_the_same_rows_whatever_was_played_before(subject: str) -> None:
    first = untimed(rows(entry(PURPLE_GATE, subject)))
    favours = DoorsKeysGemsAdvice(PURPLE_GATE.world)
    for other in SUBJECTS:
        rows(entry(LOCKED_IN, other, seed=1))
        list(episode(entry(PURPLE_GATE, other, seed=2), favours))
    moments = list(episode(entry(PURPLE_GATE, subject), favours))
    assert untimed(rows(entry(PURPLE_GATE, subject))) == first
    spelt = [PURPLE_GATE.world.spell(moment.joint[a]) for moment in moments for a in PURPLE_GATE.world.agents]
    assert spelt == [row["action"] for row in first if row["agent"] != "facilitator"]


def test_another_seed_gives_another_episode() -> None:
    deeds = {tuple(row["action"] for row in rows(entry(OWN_KEY, "none", seed))) for seed in range(5)}
    assert len(deeds) > 1


@pytest.mark.parametrize("level", TWENTY.values(), ids=TWENTY)
def test_people_do_the_same_with_every_facilitator_until_something_is_said(level: Level) -> None:
    alone = rows(entry(level, "none"))
    for subject in SUBJECTS[1:]:
        found = rows(entry(level, subject))
        said = next((row["t"] for row in advice(found) if row["action"]), 80)
        ours, theirs = ([(r["t"], r["agent"], r["action"]) for r in each if "goal" in r] for each in (found, alone))
        assert [deed for deed in ours if deed[0] < said] == [deed for deed in theirs if deed[0] < said]


def test_a_plan_is_every_level_with_every_facilitator() -> None:
    unclassified = replace(OWN_KEY, name="new", certificate={})
    made = plan([LOCKED_IN, unclassified], ["none", "protom"], seed=3, prefix="heldout/")
    assert [made_.key for made_ in made] == [
        (f"heldout/{kind}", subject, name)
        for kind, name in (("necessary", "locked-in"), ("unclassified", "new"))
        for subject in ("none", "protom")
    ]
    assert {made_.seed for made_ in made} == {3}


# What is made of them


def told(condition: str, subject: str, name: str, *, length: int, ended: bool, said: int, p: float) -> Iterator[Row]:
    """An episode of two steps, in which the facilitator takes 8 ms and then 2, and says this many things."""
    about = {"condition": condition, "subject": subject, "episode": name}
    for t in range(2):
        posterior = {"red": p, "blue": 1 - p}
        inferred = {"posterior": posterior, "p_true": p, "predicted": "red" if p > 0.5 else "blue"}
        yield {**about, "t": t, "agent": "Ana", "goal": "red", **(inferred if subject == "protom" else {})}
        yield {**about, "t": t, "agent": "facilitator", "action": "speak" if t < said else "", "ms": (8.0, 2.0)[t]} | (
            {"success": ended, "length": length} if t else {}
        )


HAND_MADE = [
    *told("new/useful", "none", "a", length=30, ended=True, said=0, p=0.0),
    *told("new/useful", "oracle", "a", length=15, ended=True, said=1, p=0.0),
    *told("new/useful", "protom", "a", length=20, ended=True, said=2, p=0.9),
    *told("new/necessary", "none", "b", length=80, ended=False, said=0, p=0.0),
    *told("new/necessary", "oracle", "b", length=20, ended=True, said=1, p=0.0),
    *told("new/necessary", "protom", "b", length=80, ended=False, said=0, p=0.3),
]


@pytest.mark.parametrize(
    ("condition", "subject", "metric", "value"),
    [
        ("all", "none", "success", 0.5),
        ("all", "oracle", "success", 1.0),
        ("all", "protom", "success", 0.5),
        ("all", "oracle", "speedup", (1.0 + 3.0) / 2),
        ("all", "protom", "speedup", (0.5 + 0.0) / 2),
        ("all", "protom", "speedup_ratio_of_means", 110 / 100 - 1),
        ("useful", "protom", "speedup", 0.5),
        ("necessary", "oracle", "speedup", 3.0),
        ("all", "none", "speedup", 0.0),
        ("all", "protom", "messages", 1.0),
        ("useful", "protom", "messages", 2.0),
        ("all", "protom", "decision_ms", 2.0),
        ("all", "protom", "p_true", 0.6),
        ("useful", "protom", "p_true", 0.9),
        ("all", "protom", "top1", 0.5),
        ("all", "protom", "brier", (2 * 0.1**2 + 2 * 0.7**2) / 2),
        ("useful", "protom", "share_of_oracle_speedup", 0.5),
    ],
)
def test_what_is_made_of_rows(condition: str, subject: str, metric: str, value: float) -> None:
    wanted = {"experiment": "protom-dkg", "condition": f"new/{condition}", "subject": subject, "metric": metric}
    (found,) = [row for row in assess(EXPERIMENT, HAND_MADE, prefix="new/") if row.items() >= wanted.items()]
    assert found["value"] == pytest.approx(value)
    assert found["low"] <= found["value"] <= found["high"]
    assert found["n"] == (2 if condition == "all" else 1)


def test_nothing_is_made_up_about_those_who_infer_nothing() -> None:
    inferred = {
        row["subject"] for row in assess(EXPERIMENT, HAND_MADE, prefix="new/") if row["metric"] in ("p_true", "brier")
    }
    assert inferred == {"protom"}
