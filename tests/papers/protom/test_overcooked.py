"""Episodes in kitchens as rows: what every row says, that nothing else decides what is in it, and who is considered."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from kitchens import kitchen
from otherminds.mind import NONE_OF_THESE
from otherminds.papers.protom.episodes import Moment
from otherminds.papers.protom.experiment import SUBJECTS, PlannedEpisode, assess
from otherminds.papers.protom.experiment import episode as play
from otherminds.papers.protom.facilitator import ProToM
from otherminds.papers.protom.overcooked import (
    EXPERIMENT,
    SETS,
    SETTINGS,
    SWEEPS,
    VARIANTS,
    OneRequest,
    episode,
    facilitator,
    people,
    possible_recipes,
    rows,
    setup,
)
from otherminds.worlds.overcooked.advice import OvercookedAdvice
from otherminds.worlds.overcooked.level_files import KitchenLevel, read_kitchen
from otherminds.worlds.overcooked.planner import IN_HAND, Advice
from otherminds.worlds.overcooked.rules import State
from paths import KITCHENS_BY_CLASS

Row = dict[str, Any]
FOLDER = KITCHENS_BY_CLASS
NOT_NEEDED, USEFUL, NECESSARY = SMALL = [
    read_kitchen(FOLDER / f"{kind}.txt") for kind in ("not_needed", "useful", "necessary")
]
MENU = tuple(possible_recipes(USEFUL.world))
EVERY = ("none", "random", "oracle", "protom", "protom_paper", "protom_weighted")


def entry(level: KitchenLevel, subject: str, seed: int = 42) -> PlannedEpisode:
    return PlannedEpisode(level, subject, level.kind, seed)


@cache
def told(kind: str, subject: str) -> list[Row]:
    """The rows of an episode, which no test may change."""
    (level,) = [level for level in SMALL if level.kind == kind]
    return rows(entry(level, subject))


def untimed(found: list[Row]) -> list[Row]:
    return [{key: value for key, value in row.items() if key != "ms"} for row in found]


def advice(found: list[Row]) -> list[Row]:
    return [row for row in found if row["agent"] == "facilitator"]


# What a row says


@pytest.mark.slow
@pytest.mark.parametrize("subject", EVERY)
@pytest.mark.parametrize("level", SMALL, ids=lambda level: level.kind)
def test_every_row_says_whose_decision_it_tells(level: KitchenLevel, subject: str) -> None:
    found = told(level.kind, subject)
    about = {"schema": 1, "experiment": "protom-overcooked", "condition": level.kind, "subject": subject, "seed": 42}
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert all(row.items() >= {**about, "episode": level.name}.items() for row in found)
    everybody = [*level.world.agents, "facilitator"]
    assert [(row["t"], row["agent"]) for row in found] == [(t, a) for t in range(len(found) // 3) for a in everybody]


@pytest.mark.slow
@pytest.mark.parametrize("subject", EVERY)
@pytest.mark.parametrize("level", SMALL, ids=lambda level: level.kind)
def test_the_actions_and_rewards_of_the_rows_are_what_happened(level: KitchenLevel, subject: str) -> None:
    found, world, state = told(level.kind, subject), level.world, level.world.initial
    for t in range(len(found) // 3):
        now = {row["agent"]: row for row in found if row["t"] == t and row["agent"] != "facilitator"}
        assert not world.done(state)
        for i, agent in enumerate(world.agents):
            assert now[agent]["reward"] == (0.0 if world.is_served(state, i) else -1.0)
            assert now[agent]["goal"] == world.recipes[i]
        state = world.step(state, {agent: now[agent]["action"] for agent in world.agents})
    last = found[-1]
    assert last["success"] == world.done(state)
    assert last["length"] == (len(found) // 3 if last["success"] else level.horizon)
    assert not any("success" in row or "length" in row for row in found[:-1])


def test_whoever_needs_help_fails_without_and_succeeds_with_it() -> None:
    assert not told("necessary", "none")[-1]["success"]
    assert (told("necessary", "none")[-1]["length"], len(told("necessary", "none"))) == (100, 300)
    for subject in ("oracle", "protom", "protom_paper", "protom_weighted"):
        assert told("necessary", subject)[-1]["success"]
        assert [row["action"] for row in advice(told("not_needed", subject)) if row["action"]] == []


@pytest.mark.parametrize("subject", EVERY)
def test_only_those_who_infer_recipes_report_what_they_believe(subject: str) -> None:
    for row in told("necessary", subject):
        believed = {"posterior", "predicted", "p_true"} & row.keys()
        if row["agent"] == "facilitator" or not subject.startswith("protom"):
            assert not believed
            continue
        posterior = row["posterior"]
        assert {*posterior} == {*MENU, *(() if subject == "protom_paper" else (NONE_OF_THESE,))}
        assert sum(posterior.values()) == pytest.approx(1.0)
        assert posterior[row["predicted"]] == max(posterior.values())
        assert row["p_true"] == posterior[row["goal"]]


@pytest.mark.parametrize("subject", EVERY)
def test_the_facilitator_either_says_something_or_says_why_not(subject: str) -> None:
    found = advice(told("necessary", subject))
    assert [bool(row["action"]) for row in found] == ["words" in row for row in found]
    assert [bool(row["action"]) for row in found] == ["why" not in row for row in found]
    assert all(math.isfinite(row["ms"]) and row["ms"] >= 0 for row in found)
    assert found[0]["why"] == "nobody has done anything yet"
    spoken = [row for row in found if row["action"]]
    assert bool(spoken) == (subject != "none")
    for row in spoken if subject not in ("none", "random") else ():
        best = max(price["worth"] for price in row["prices"])
        assert best > 2.0 if subject == "protom_paper" else best >= 0.0
        allowed = [p["message"] for p in row["prices"] if p["worth"] > best - 1e-6 and p["changes"] >= 0.3]
        assert row["action"] in allowed


@pytest.mark.slow
def test_prices_are_left_out_of_sets_that_are_only_summed_up() -> None:
    found = rows(replace(entry(NECESSARY, "oracle"), condition="heldout/necessary"))
    assert any(row["action"] for row in advice(found))
    assert not any("prices" in row for row in found)
    assert any("prices" in row for row in told("necessary", "oracle"))


def test_an_episode_in_which_there_is_nothing_to_do() -> None:
    world = kitchen("-/*-", "-12-", "-tp-", recipes=("SimpleTomato", "SimpleTomato"))
    found = rows(PlannedEpisode(KitchenLevel("short", world, horizon=1), "protom", "", 1))
    assert len(found) == 3
    assert (found[-1]["success"], found[-1]["length"]) == (False, 1)


# What decides what is in the rows


@pytest.mark.slow
@pytest.mark.parametrize("subject", ["none", "random", "oracle", "protom"])
def test_the_same_entry_gives_the_same_rows_whatever_was_played_before(subject: str) -> None:
    level, advice = NECESSARY, OvercookedAdvice(NECESSARY.world)
    list(episode(entry(level, "oracle", seed=2), advice))
    moments = list(episode(entry(level, subject), advice))
    first = untimed(told("necessary", subject))
    assert untimed(rows(entry(level, subject))) == first
    deeds = [moment.joint[agent] for moment in moments for agent in level.world.agents]
    assert deeds == [row["action"] for row in first if row["agent"] != "facilitator"]


def test_another_seed_gives_another_episode() -> None:
    deeds = {tuple(row["action"] for row in rows(entry(USEFUL, "none", seed))) for seed in range(8)}
    assert len(deeds) > 1


@pytest.mark.parametrize("level", SMALL, ids=lambda level: level.kind)
def test_people_do_the_same_with_every_facilitator_until_something_is_said(level: KitchenLevel) -> None:
    alone = told(level.kind, "none")
    for subject in EVERY[1:]:
        found = told(level.kind, subject)
        said = next((row["t"] for row in advice(found) if row["action"]), level.horizon)
        assert said > 0
        ours, theirs = ([(r["t"], r["agent"], r["action"]) for r in each if "goal" in r] for each in (found, alone))
        assert [deed for deed in ours if deed[0] < said] == [deed for deed in theirs if deed[0] < said]


def test_people_have_beliefs_of_their_own_that_depend_on_the_seed_alone() -> None:
    advice = OvercookedAdvice(USEFUL.world)
    particles = [tuple(cook.particle for cook in people(USEFUL, advice, seed).values()) for seed in (1, 2, 3, 1)]
    assert particles[0] == particles[3]
    assert len({particle for pair in particles[:3] for particle in pair}) == 6
    for i, (agent, cook) in enumerate(people(USEFUL, advice, 1).items()):
        assert (agent, cook.goal, cook.agent) == (USEFUL.world.agents[i], USEFUL.world.recipes[i], i)
        assert (cook.beta, cook.lapse) == (math.inf, 0.0)


# Saying one thing at the right time


def request(level: KitchenLevel) -> Advice:
    """The message that the certificate names, which can be said at the start."""
    advice = OvercookedAdvice(level.world)
    words = level.certificate["message"].partition(", after")[0]
    (found,) = [r for r in advice.candidates(level.world.initial) if advice.address(r) == words]
    return found


def hinted(level: KitchenLevel, t: int) -> list[Moment[State, str, Advice]]:
    helper = OneRequest(OvercookedAdvice(level.world), request(level), t)
    return list(play(entry(level, "none"), setup(entry(level, "none"))._replace(facilitator=helper)))


@pytest.mark.parametrize("t", [1, 2, 5, 40])
def test_a_hint_is_given_once_and_not_before_its_time(t: int) -> None:
    moments = hinted(NECESSARY, t)
    assert [k for k, moment in enumerate(moments) if moment.decision.message is not None] == [t]
    assert moments[t].decision.message == request(NECESSARY)
    assert moments[t].decision.words == "pass the fresh tomato at (5, 4) to Ana"
    assert {moment.decision.silence for moment in moments[1:t]} <= {"it is not the time"}
    assert NECESSARY.world.done(moments[-1].after)


def test_a_hint_that_cannot_be_followed_any_more_is_not_given() -> None:
    alone = list(play(entry(USEFUL, "none"), setup(entry(USEFUL, "none"))))
    candidates = [request(USEFUL) in OvercookedAdvice(USEFUL.world).candidates(moment.state) for moment in alone]
    gone = len(candidates) - candidates[::-1].index(True)
    assert gone < len(candidates)
    late = hinted(USEFUL, gone)
    assert not any(moment.decision.message for moment in late)
    assert [moment.joint for moment in late] == [moment.joint for moment in alone]


def test_a_hint_waits_until_it_can_be_followed() -> None:
    """A food that somebody carries can be passed on only while they do."""
    advice, level = OvercookedAdvice(USEFUL.world), USEFUL
    alone = list(play(entry(level, "none"), setup(entry(level, "none"))))
    able = [{r for r in advice.candidates(moment.state) if r.place == IN_HAND} for moment in alone]
    chosen = min(able[next(k for k, found in enumerate(able) if k > 2 and found)])
    assert chosen not in able[1]
    moments = list(
        play(entry(level, "none"), setup(entry(level, "none"))._replace(facilitator=OneRequest(advice, chosen, 1)))
    )
    begun = next(k for k, moment in enumerate(alone) if k and chosen in advice.candidates(moment.state))
    assert [k for k, moment in enumerate(moments) if moment.decision.message] == [begun]


# Who is considered


@pytest.mark.parametrize(
    ("things", "recipes", "expected"),
    [
        ("-tlp", ("SimpleTomato", "SimpleTomato"), ["SimpleTomato", "SimpleLettuce"]),
        ("otlp", ("SimpleOnion", None), ["SimpleTomato", "SimpleLettuce", "SimpleOnion"]),
        ("-tlp", ("Salad", "SimpleLettuce"), ["SimpleTomato", "SimpleLettuce", "Salad"]),
        ("-t-p", ("OnionSalad", "SimpleTomato"), ["SimpleTomato", "OnionSalad"]),
    ],
)
def test_the_menu_is_what_can_be_cooked_of_one_food_and_what_is_ordered(
    things: str, recipes: tuple[str | None, str | None], expected: Sequence[str]
) -> None:
    assert possible_recipes(kitchen("-/*-", "-12-", things, recipes=recipes)) == expected


def considered(subject: str, level: KitchenLevel, **settings: Any) -> dict[str, list[tuple[Any, int]]]:
    """The recipes and particles of all minds that a facilitator begins with."""
    found = facilitator(subject, level, OvercookedAdvice(level.world), **settings)
    assert isinstance(found, ProToM)
    return {agent: [(mind.goal, mind.particle) for mind in watcher.minds] for agent, watcher in found.watchers.items()}


def test_the_oracle_knows_the_recipes_and_nobody_else_does() -> None:
    world = USEFUL.world
    for subject in VARIANTS:
        goals = {agent: {goal for goal, _ in minds} for agent, minds in considered(subject, USEFUL).items()}
        true = {agent: {recipe} for agent, recipe in zip(world.agents, world.recipes, strict=True)}
        known = {*MENU} if subject in ("protom_paper", "protom_prior_0") else {*MENU, NONE_OF_THESE}
        assert goals == (true if subject == "oracle" else dict.fromkeys(world.agents, known))


def test_every_recipe_is_considered_with_as_many_beliefs_as_there_are_particles() -> None:
    for subject, count in (("protom", 5), ("protom_paper", 5), ("protom_particles_2", 2), ("protom_particles_10", 10)):
        for minds in considered(subject, USEFUL).values():
            goals = (*MENU, NONE_OF_THESE) if subject != "protom_paper" else MENU
            assert sorted(minds) == sorted((goal, k) for goal in goals for k in range(count))
    assert [len(minds) for minds in considered("oracle", USEFUL).values()] == [5, 5]
    assert [len(minds) for minds in considered("protom", USEFUL, particles=1).values()] == [len(MENU) + 1] * 2


def test_variants_differ_from_the_paper_in_one_thing_at_a_time() -> None:
    advice = OvercookedAdvice(USEFUL.world)
    found = {subject: facilitator(subject, USEFUL, advice) for subject in VARIANTS}
    shown = {
        subject: (p.cost, p.epsilon, p.gate, p.faithful, p.even_particles, p.distinct, p.waits)
        for subject, p in found.items()
        if isinstance(p, ProToM)
    }
    assert shown["protom_paper"] == (2.0, 0.3, "next", True, True, False, ())
    at_once = (SETTINGS["cost"], SETTINGS["epsilon"], "plan", False, True, False, ())
    assert shown["protom_fast"] == shown["oracle"] == at_once
    messages = {subject: p.messages for subject, p in found.items() if isinstance(p, ProToM)}
    assert [s for s, m in messages.items() if isinstance(m, OvercookedAdvice) and not m.beliefs] == ["protom_fast"]
    ours = (*at_once[:6], (2,))
    assert shown["protom"] == ours
    assert shown["protom_weighted"] == (*ours[:4], False, *ours[5:])
    for epsilon in {*SWEEPS["epsilon"]} - {SETTINGS["epsilon"]}:
        assert shown[f"protom_epsilon_{epsilon:g}"] == (ours[0], epsilon, *ours[2:])
    for cost in {*SWEEPS["cost"]} - {SETTINGS["cost"]}:
        assert shown[f"protom_cost_{cost:g}"] == (cost, *ours[1:])
    for particles in {*SWEEPS["particles"]} - {5}:
        assert shown[f"protom_particles_{particles:g}"] == ours
    assert len(VARIANTS) == 5 + sum(len(values) - 1 for values in SWEEPS.values())
    assert set(SETS["tuning"]) == {"none", *VARIANTS}
    assert set(SETS["heldout"]) == {*SUBJECTS, "protom_paper", "protom_weighted", "protom_fast"}
    assert all(SETTINGS[name] in values for name, values in SWEEPS.items())


# What is made of them


@pytest.mark.slow
def test_what_is_made_of_rows() -> None:
    summary = assess(EXPERIMENT, [row for level in SMALL for subject in EVERY for row in told(level.kind, subject)])
    found = {(r["condition"], r["subject"], r["metric"]): r["value"] for r in summary}
    assert len(found) == len(summary)
    assert {r["experiment"] for r in summary} == {"protom-overcooked"}
    metrics = ("success", "speedup", "speedup_ratio_of_means", "messages", "decision_ms")
    for condition in ("all", "not_needed", "useful", "necessary"):
        assert {(condition, subject, metric) for subject in EVERY for metric in metrics} <= set(found)
    shares = {(c, s) for c, s, metric in found if metric == "share_of_oracle_speedup"}
    assert shares == {("useful", s) for s in EVERY if s.startswith("protom")}
    length = {(level.kind, s): told(level.kind, s)[-1]["length"] for level in SMALL for s in EVERY}
    for subject in EVERY:
        gains = {level.kind: length[level.kind, "none"] / length[level.kind, subject] - 1 for level in SMALL}
        assert found["all", subject, "speedup"] == pytest.approx(sum(gains.values()) / 3)
        assert found["necessary", subject, "speedup"] == pytest.approx(gains["necessary"])
        said = [sum(bool(r["action"]) for r in advice(told(level.kind, subject))) for level in SMALL]
        assert found["all", subject, "messages"] == pytest.approx(sum(said) / 3)
        if subject.startswith("protom"):
            best = length["useful", "none"] / length["useful", "oracle"] - 1
            assert found["useful", subject, "share_of_oracle_speedup"] == pytest.approx(gains["useful"] / best)
            for level in SMALL:
                believed = [row["p_true"] for row in told(level.kind, subject) if "p_true" in row]
                assert found[level.kind, subject, "p_true"] == pytest.approx(sum(believed) / len(believed))
