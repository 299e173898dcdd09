"""Episodes of both worlds as rows: what every row says, and that nothing but the entry decides what is in it."""

from __future__ import annotations

import json
import math
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from kitchens import kitchen
from otherminds.mind import NONE_OF_THESE
from otherminds.papers.protom.doors_keys_gems import DOORS_KEYS_GEMS
from otherminds.papers.protom.experiment import SUBJECTS, PlannedEpisode
from otherminds.papers.protom.facilitated_world import FacilitatedWorld
from otherminds.papers.protom.facilitator import PaperProToM, ProToM
from otherminds.papers.protom.overcooked import OVERCOOKED, possible_recipes
from otherminds.worlds.doors_keys_gems.level_files import Level, bundled_levels, parse_level
from otherminds.worlds.overcooked.level_files import KitchenLevel, read_kitchen
from paths import KITCHENS_BY_CLASS

Row = dict[str, Any]
MAPS = [level for level in bundled_levels() if level.name in ("locked-in", "purple-gate")]
KITCHENS = [read_kitchen(KITCHENS_BY_CLASS / f"{kind}.txt") for kind in ("not_needed", "useful", "necessary")]
LEVELS: dict[str, Level | KitchenLevel] = {level.name: level for level in MAPS} | {
    level.name: level for level in KITCHENS
}
INFERRING = {
    Level: ("oracle", "protom", "protom_at_once", "protom_paper", "protom_traj", "protom_prior_0.1"),
    KitchenLevel: ("oracle", "protom", "protom_paper", "protom_weighted"),
}
EPISODES = [
    pytest.param(name, subject, id=f"{name}-{subject}", marks=[pytest.mark.slow] * isinstance(level, KitchenLevel))
    for name, level in LEVELS.items()
    for subject in ("none", "random", *INFERRING[type(level)])
]


@cache
def rule_of(name: str, subject: str) -> ProToM[Any, Any, Any] | PaperProToM[Any, Any, Any]:
    """The facilitator that plays an episode, before its first step."""
    world, level = world_of(name), LEVELS[name]
    rule = world.facilitator(subject, level, world.advice(level.world))
    assert isinstance(rule, ProToM | PaperProToM)
    return rule


def world_of(name: str) -> FacilitatedWorld:
    return DOORS_KEYS_GEMS if isinstance(LEVELS[name], Level) else OVERCOOKED


def entry(name: str, subject: str, seed: int = 42) -> PlannedEpisode:
    return PlannedEpisode(LEVELS[name], subject, LEVELS[name].kind, seed)


@cache
def rows_of(name: str, subject: str) -> list[Row]:
    """The rows of an episode, which no test may change."""
    return world_of(name).rows(entry(name, subject))


def untimed(rows: list[Row]) -> list[Row]:
    return [{key: value for key, value in row.items() if key != "ms"} for row in rows]


def decisions(rows: list[Row]) -> list[Row]:
    return [row for row in rows if row["agent"] == "facilitator"]


# What a row says


@pytest.mark.parametrize(("name", "subject"), EPISODES)
def test_every_row_says_whose_decision_it_tells(name: str, subject: str) -> None:
    rows, level = rows_of(name, subject), LEVELS[name]
    about = {"schema": 1, "experiment": world_of(name).experiment, "condition": level.kind, "subject": subject}
    assert json.loads(json.dumps(rows, allow_nan=False)) == rows
    assert all(row.items() >= {**about, "seed": 42, "episode": name}.items() for row in rows)
    agents = [*level.world.agents, "facilitator"]
    assert [(row["t"], row["agent"]) for row in rows] == [(t, a) for t in range(len(rows) // 3) for a in agents]


@pytest.mark.parametrize(("name", "subject"), EPISODES)
def test_the_actions_and_rewards_of_the_rows_are_what_happened(name: str, subject: str) -> None:
    rows, level = rows_of(name, subject), LEVELS[name]
    world: Any = level.world
    state, reached = world.initial, world.has_gem if isinstance(level, Level) else world.is_served
    goals = [world.gems[goal].colour for goal in world.goals] if isinstance(level, Level) else world.recipes
    for t in range(len(rows) // 3):
        now = {row["agent"]: row for row in rows if row["t"] == t and row["agent"] != "facilitator"}
        assert not world.done(state)
        for i, agent in enumerate(world.agents):
            assert now[agent]["reward"] == (0.0 if reached(state, i) else -1.0)
            assert now[agent]["goal"] == goals[i]
        state = world.step(state, {agent: world.vocabulary[row["action"]] for agent, row in now.items()})
    assert rows[-1]["success"] == world.done(state)
    assert rows[-1]["length"] == (len(rows) // 3 if rows[-1]["success"] else level.horizon)
    assert not any("success" in row or "length" in row for row in rows[:-1])


@pytest.mark.parametrize(("name", "subject"), EPISODES)
def test_only_those_who_infer_goals_report_what_they_believe(name: str, subject: str) -> None:
    level = LEVELS[name]
    goals = [gem.colour for gem in level.world.gems] if isinstance(level, Level) else possible_recipes(level.world)
    for row in rows_of(name, subject):
        if row["agent"] == "facilitator" or not subject.startswith("protom"):
            assert not {"posterior", "predicted", "p_true"} & row.keys()
            continue
        posterior, by_the_paper = row["posterior"], isinstance(rule_of(name, subject), PaperProToM)
        assert {*posterior} == {*goals, *(() if by_the_paper else (NONE_OF_THESE,))}
        assert sum(posterior.values()) == pytest.approx(1.0)
        assert posterior[row["predicted"]] == max(posterior.values())
        assert row["p_true"] == posterior[row["goal"]]


@pytest.mark.parametrize(("name", "subject"), EPISODES)
def test_the_facilitator_either_says_something_or_says_why_not(name: str, subject: str) -> None:
    rows = decisions(rows_of(name, subject))
    assert (
        [bool(row["action"]) for row in rows] == ["words" in row for row in rows] == ["why" not in row for row in rows]
    )
    assert all(math.isfinite(row["ms"]) and row["ms"] >= 0 for row in rows)
    assert rows[0]["why"] == "nobody has done anything yet"
    for row in rows:
        if row["action"] and subject not in ("none", "random"):
            rule, best = rule_of(name, subject), max(price["worth"] for price in row["prices"])
            assert best > rule.phi if isinstance(rule, PaperProToM) else best >= 0.0
            eligible = [p for p in row["prices"] if p["worth"] > best - 1e-6 and p["changes"] >= rule.epsilon]
            assert row["action"] in [price["message"] for price in eligible]
            in_steps = all(price["worth"] == price["saves"] for price in row["prices"])
            assert in_steps == isinstance(rule, PaperProToM)


def test_an_episode_in_which_there_is_nothing_to_do() -> None:
    level = parse_level("agents: Ana, Ben\ngoals: red, blue\nhorizon: 1\n\na1 gr a2 gb", Path("dull.txt"))
    kitchen_level = KitchenLevel("short", kitchen("-/*-", "-12-", "-tp-", recipes=("SimpleTomato",) * 2), horizon=1)
    for world, short in ((DOORS_KEYS_GEMS, level), (OVERCOOKED, kitchen_level)):
        rows = world.rows(PlannedEpisode(short, "protom", "", 1))
        assert len(rows) == 3
        assert (rows[-1]["success"], rows[-1]["length"]) == (False, 1)


# What decides what is in the rows


@pytest.mark.slow
@pytest.mark.parametrize(("name", "subject"), [p for p in EPISODES if p.values[0] in ("purple-gate", KITCHENS[2].name)])
def test_the_same_entry_gives_the_same_rows_whatever_was_played_before(name: str, subject: str) -> None:
    world, level = world_of(name), LEVELS[name]
    advice = world.advice(level.world)
    for earlier in SUBJECTS:
        list(world.episode(entry(name, earlier, seed=2), advice))
    moments = list(world.episode(entry(name, subject), advice))
    rows = untimed(rows_of(name, subject))
    assert untimed(world.rows(entry(name, subject))) == rows
    spelled = [level.world.spell(moment.joint[agent]) for moment in moments for agent in level.world.agents]
    assert spelled == [row["action"] for row in rows if row["agent"] != "facilitator"]


@pytest.mark.parametrize("name", ["locked-in", KITCHENS[1].name])
def test_another_seed_gives_another_episode(name: str) -> None:
    episodes = [world_of(name).rows(entry(name, "none", seed)) for seed in range(8)]
    assert len({tuple(row["action"] for row in rows) for rows in episodes}) > 1


@pytest.mark.parametrize(("name", "subject"), EPISODES)
def test_people_do_the_same_with_every_facilitator_until_something_is_said(name: str, subject: str) -> None:
    rows = rows_of(name, subject)
    spoken = next((row["t"] for row in decisions(rows) if row["action"]), LEVELS[name].horizon)
    assert spoken > 0
    helped, alone = (
        [(row["t"], row["agent"], row["action"]) for row in each if "goal" in row and row["t"] < spoken]
        for each in (rows, rows_of(name, "none"))
    )
    assert helped == alone
