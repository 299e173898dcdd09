"""Kitchens: who succeeds with help, which minds are considered, requests at the right time, and rows summed up."""

from __future__ import annotations

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
from otherminds.papers.protom.facilitator import PaperProToM, ProToM
from otherminds.papers.protom.levels.kitchens import OneRequest
from otherminds.papers.protom.overcooked import CHOSEN, OVERCOOKED, SETS, SWEEPS, VARIANTS, possible_recipes
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
    return OVERCOOKED.rows(entry(level, subject))


def advice(found: list[Row]) -> list[Row]:
    return [row for row in found if row["agent"] == "facilitator"]


# What a row says


@pytest.mark.slow
def test_whoever_needs_help_fails_without_and_succeeds_with_it() -> None:
    assert not told("necessary", "none")[-1]["success"]
    assert (told("necessary", "none")[-1]["length"], len(told("necessary", "none"))) == (100, 300)
    for subject in ("oracle", "protom", "protom_paper", "protom_weighted"):
        assert told("necessary", subject)[-1]["success"]
        assert [row["action"] for row in advice(told("not_needed", subject)) if row["action"]] == []


@pytest.mark.slow
def test_prices_are_left_out_of_sets_that_are_only_summed_up() -> None:
    found = OVERCOOKED.rows(replace(entry(NECESSARY, "oracle"), condition="heldout/necessary"))
    assert any(row["action"] for row in advice(found))
    assert not any("prices" in row for row in found)
    assert any("prices" in row for row in told("necessary", "oracle"))


# What decides what is in the rows


def test_people_have_beliefs_of_their_own_that_depend_on_the_seed_alone() -> None:
    advice = OvercookedAdvice(USEFUL.world)
    crowds = [OVERCOOKED.people(USEFUL, advice, seed) for seed in (1, 2, 3, 1)]
    particles = [tuple(cook.particle for cook in cooks.values()) for cooks in crowds]
    assert particles[0] == particles[3]
    assert len({particle for pair in particles[:3] for particle in pair}) == 6
    for i, (agent, cook) in enumerate(OVERCOOKED.people(USEFUL, advice, 1).items()):
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
    return list(play(entry(level, "none"), OVERCOOKED.setup(entry(level, "none"))._replace(facilitator=helper)))


@pytest.mark.parametrize("t", [1, 2, 5, 40])
def test_a_hint_is_given_once_and_not_before_its_time(t: int) -> None:
    moments = hinted(NECESSARY, t)
    assert [k for k, moment in enumerate(moments) if moment.decision.message is not None] == [t]
    assert moments[t].decision.message == request(NECESSARY)
    assert moments[t].decision.words == "pass the fresh tomato at (5, 4) to Ana"
    assert {moment.decision.silence for moment in moments[1:t]} <= {"it is not the time"}
    assert NECESSARY.world.done(moments[-1].after)


def test_a_hint_that_cannot_be_followed_any_more_is_not_given() -> None:
    alone = list(play(entry(USEFUL, "none"), OVERCOOKED.setup(entry(USEFUL, "none"))))
    candidates = [request(USEFUL) in OvercookedAdvice(USEFUL.world).candidates(moment.state) for moment in alone]
    gone = len(candidates) - candidates[::-1].index(True)
    assert gone < len(candidates)
    late = hinted(USEFUL, gone)
    assert not any(moment.decision.message for moment in late)
    assert [moment.joint for moment in late] == [moment.joint for moment in alone]


def test_a_hint_waits_until_it_can_be_followed() -> None:
    """A food that somebody carries can be passed on only while they do."""
    advice, level = OvercookedAdvice(USEFUL.world), USEFUL
    alone = list(play(entry(level, "none"), OVERCOOKED.setup(entry(level, "none"))))
    able = [{r for r in advice.candidates(moment.state) if r.place == IN_HAND} for moment in alone]
    chosen = min(able[next(k for k, found in enumerate(able) if k > 2 and found)])
    assert chosen not in able[1]
    setup = OVERCOOKED.setup(entry(level, "none"))
    moments = list(play(entry(level, "none"), setup._replace(facilitator=OneRequest(advice, chosen, 1))))
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


def considered(subject: str, level: KitchenLevel, **changes: Any) -> dict[str, list[tuple[Any, int]]]:
    """The recipes and particles of all minds that a facilitator begins with."""
    world = replace(OVERCOOKED, variants={subject: replace(VARIANTS[subject], **changes)})
    found = world.facilitator(subject, level, OvercookedAdvice(level.world))
    assert isinstance(found, ProToM | PaperProToM)
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


def test_variants_differ_from_the_default_in_one_thing_at_a_time() -> None:
    advice = OvercookedAdvice(USEFUL.world)
    rules: dict[str, Any] = {subject: OVERCOOKED.facilitator(subject, USEFUL, advice) for subject in VARIANTS}
    ours = {"cost": CHOSEN["cost"], "epsilon": CHOSEN["epsilon"], "waits": (2,), "even_particles": True}
    changed: dict[str, dict[str, Any]] = {name: {} for name in VARIANTS if name != "protom_paper"}
    changed |= {subject: {"waits": ()} for subject in ("oracle", "protom_at_once", "protom_fast")}
    changed["protom_weighted"] = {"even_particles": False}
    for name in ("epsilon", "cost"):
        changed |= {f"protom_{name}_{x:g}": {name: x} for x in SWEEPS[name] if x != CHOSEN[name]}
    for subject, change in changed.items():
        assert isinstance(rules[subject], ProToM)
        assert {name: getattr(rules[subject], name) for name in ours} == ours | change
    paper = rules["protom_paper"]
    assert isinstance(paper, PaperProToM)
    assert (paper.phi, paper.epsilon, paper.gate) == (2.0, 0.3, "next")
    assert {(rule.distinct, rule.negligible) for rule in rules.values()} == {(False, 0.03)}
    assert [subject for subject, rule in rules.items() if not rule.messages.beliefs] == ["protom_fast"]
    assert len(VARIANTS) == 6 + sum(len(values) - 1 for values in SWEEPS.values())
    assert set(SETS["tuning"]) == {"none", *VARIANTS}
    assert set(SETS["heldout"]) == {*SUBJECTS, "protom_paper", "protom_weighted", "protom_fast"}
    assert all(CHOSEN[name] in values for name, values in SWEEPS.items())


# What is made of them


@pytest.mark.slow
def test_what_is_made_of_rows() -> None:
    rows = [row for level in SMALL for subject in EVERY for row in told(level.kind, subject)]
    summary = assess(OVERCOOKED.experiment, rows)
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
