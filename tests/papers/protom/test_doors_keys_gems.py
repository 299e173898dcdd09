"""Doors-Keys-Gems: the goals that facilitators state, what becomes of their messages, and what is made of rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from otherminds.mind import GoalDirected
from otherminds.observer import Observer
from otherminds.papers.protom.doors_keys_gems import DOORS_KEYS_GEMS, SETS, VARIANTS
from otherminds.papers.protom.experiment import PlannedEpisode, assess, plan
from otherminds.papers.protom.facilitator import PaperProToM, ProToM, with_none_of_these
from otherminds.worlds.doors_keys_gems.advice import DoorsKeysGemsAdvice
from otherminds.worlds.doors_keys_gems.agent import Seeker
from otherminds.worlds.doors_keys_gems.level_files import Level, bundled_levels
from otherminds.worlds.doors_keys_gems.planner import Goal

Row = dict[str, Any]
TWENTY = {level.name: level for level in bundled_levels()}
LOCKED_IN, PURPLE_GATE, OWN_KEY = (TWENTY[name] for name in ("locked-in", "purple-gate", "own-key"))
INFERRING = (*(subject for subject in SETS["heldout"] if subject not in ("none", "random")), "protom_prior_0.1")
EVERY = ("none", "random", *INFERRING)
BY_THE_PAPER = ("protom_paper", "protom_traj")


def entry(level: Level, subject: str, seed: int = 42) -> PlannedEpisode:
    return PlannedEpisode(level, subject, level.kind, seed)


def advice(found: list[Row]) -> list[Row]:
    return [row for row in found if row["agent"] == "facilitator"]


# What a row says


@pytest.mark.slow
@pytest.mark.parametrize("subject", INFERRING)
def test_a_goal_is_stated_if_it_is_believed(subject: str) -> None:
    """The paper's rule states the likeliest goal, however likely it is."""
    for level in (LOCKED_IN, PURPLE_GATE):
        found = DOORS_KEYS_GEMS.rows(entry(level, subject))
        spoken = [row for row in advice(found) if row["action"]]
        for row in spoken:
            assert {"friends", "sure", "saves"} <= row.keys()
            assert ("stated" in row) == ("stated_p" in row) == ("I believe" in row["words"])
            (friend, *_) = row["friends"]
            if subject in BY_THE_PAPER:
                (held,) = [r["posterior"] for r in found if (r["t"], r["agent"]) == (row["t"], friend)]
                assert row["stated"] == max(held, key=held.__getitem__)
            elif "stated" in row:
                assert row["stated"] == level.world.gems[level.world.goals[level.world.agents.index(friend)]].colour
        assert spoken or subject == "protom_traj"


def test_every_facilitator_of_every_set_can_be_played() -> None:
    assert {subject for subjects in SETS.values() for subject in subjects} <= {"none", "random", *VARIANTS}


@pytest.mark.parametrize("level", [LOCKED_IN, PURPLE_GATE, OWN_KEY], ids=lambda level: level.name)
def test_without_settings_the_constructors_make_the_facilitators_that_were_measured(level: Level) -> None:
    world, advice = level.world, DoorsKeysGemsAdvice(level.world)
    minds: dict[str, list[GoalDirected[Any]]] = {
        agent: [Seeker(advice.planner, i, Goal("gem", gem)) for gem in range(len(world.gems))]
        for i, agent in enumerate(world.agents)
    }
    open_minded = {agent: with_none_of_these(listed) for agent, listed in minds.items()}
    sure = {agent: Observer.over(listed) for agent, listed in minds.items()}
    ours = ProToM.initial(world, advice, open_minded, world.initial)
    by_the_paper = PaperProToM.initial(world, advice, sure, world.initial)
    assert DOORS_KEYS_GEMS.facilitator("protom", level, advice) == ours
    assert DOORS_KEYS_GEMS.facilitator("protom_paper", level, advice) == by_the_paper
    measured = DOORS_KEYS_GEMS.episode(entry(level, "protom"), advice)
    again = replace(DOORS_KEYS_GEMS.episode(entry(level, "protom"), advice), facilitator=ours)
    assert [(m.decision, m.joint) for m in again] == [(m.decision, m.joint) for m in measured]


def test_the_last_row_tells_how_it_ended() -> None:
    failed, helped = DOORS_KEYS_GEMS.rows(entry(LOCKED_IN, "none")), DOORS_KEYS_GEMS.rows(entry(LOCKED_IN, "oracle"))
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
    found = DOORS_KEYS_GEMS.rows(entry(replace(LOCKED_IN, horizon=6), "random", seed))
    assert [row["action"] for row in advice(found) if row["action"]] == [LOCKED_IN.certificate["message"]]
    assert fates(found) == ["running"]


def test_of_every_message_it_is_told_what_became_of_it() -> None:
    for seed in range(12):
        found = DOORS_KEYS_GEMS.rows(entry(OWN_KEY, "random", seed))
        assert len(fates(found)) == sum(bool(row["action"]) for row in advice(found))


def test_nothing_becomes_of_what_has_not_been_said() -> None:
    for seed in range(8):
        found = DOORS_KEYS_GEMS.rows(entry(replace(LOCKED_IN, horizon=1), "random", seed))
        assert (fates(found), found[-1]["action"]) == ([], "")


# What decides what is in the rows


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
    columns = {"experiment": "protom-dkg", "condition": f"new/{condition}", "subject": subject, "metric": metric}
    summary = assess(DOORS_KEYS_GEMS.experiment, HAND_MADE, prefix="new/")
    (estimate,) = [row for row in summary if row.items() >= columns.items()]
    assert estimate["value"] == pytest.approx(value)
    assert estimate["low"] <= estimate["value"] <= estimate["high"]
    assert estimate["n"] == (2 if condition == "all" else 1)


def test_nothing_is_made_up_about_those_who_infer_nothing() -> None:
    summary = assess(DOORS_KEYS_GEMS.experiment, HAND_MADE, prefix="new/")
    assert {row["subject"] for row in summary if row["metric"] in ("p_true", "brier")} == {"protom"}
