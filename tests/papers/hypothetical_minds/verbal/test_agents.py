"""ReAct, Reflexion and PlanReAct: what each asks, when, and what it tells its model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from hypothetical_minds import Told, unreadable
from matrix_worlds import PAPER, ROCK, play, scene, world_of
from otherminds.language.asking import Asker
from otherminds.language.scripted import Scripted
from otherminds.mind import Mind
from otherminds.papers.hypothetical_minds.agent import Encounter
from otherminds.papers.hypothetical_minds.melting_pot import background
from otherminds.papers.hypothetical_minds.verbal.agents import KEPT, STYLES, PlanningStyle, Reacting
from otherminds.world import rollout
from otherminds.worlds.avatars import Action
from otherminds.worlds.in_the_matrix.map_files import in_the_matrix
from otherminds.worlds.in_the_matrix.rules import MatrixState
from otherminds.worlds.in_the_matrix.scenarios import bot
from otherminds.worlds.in_the_matrix.world import MatrixView
from papers.hypothetical_minds.scripted import BROKEN, scripted_model

WORLD = world_of()
ME, OTHER = WORLD.agents
WAITS = {"plan": [{"do": "wait", "steps": 2}]}
LONG = {"plan": [{"do": "wait", "steps": 50}]}
FIRES = {"plan": [{"do": "fire_at", "player": OTHER}]}
LESSON = {"success": False, "lesson": "Gather paper first."}
PLAN = {"strategy": "Gather five paper and meet them."}
REPLIES: Mapping[str, Any] = {"subgoals": WAITS, "reflect": LESSON, "strategy": PLAN}
APART = scene(WORLD, "1 1 >", "9 6 <")
FACING = scene(WORLD, "3 3 >", "5 3 <", held=(PAPER, ROCK))
WHOLE = 25


def agent(told: Told | Scripted, how: PlanningStyle) -> Reacting:
    model = told.model if isinstance(told, Told) else told
    return Reacting.initial(WORLD, ME, Asker(model, "episode 0"), how, mapped=True)


def run(mind: Reacting, state: MatrixState, steps: int) -> Reacting:
    """Observes the state and so many more."""
    mind = mind.observe(WORLD.observe(state, ME))
    for _ in range(steps):
        state = play(WORLD, state, mind.act().mode)
        mind = mind.observe(WORLD.observe(state, ME))
    return mind


def told_after(how: PlanningStyle, state: MatrixState, steps: int, **replies: Any) -> tuple[Told, Reacting]:
    told = Told({**REPLIES, **replies})
    return told, run(agent(told, how), state, steps)


# What each asks


@pytest.mark.parametrize(
    ("name", "purposes"),
    [
        ("react", ["subgoals", "subgoals", "subgoals"]),
        ("reflexion", ["subgoals", "reflect", "subgoals", "reflect", "subgoals"]),
        ("planreact", ["strategy", "subgoals", "subgoals", "subgoals"]),
    ],
)
def test_what_is_asked_as_plans_end(name: str, purposes: list[str]) -> None:
    told, mind = told_after(STYLES[name], APART, 4)
    assert told.purposes == purposes
    assert len(mind.exchanges) == len(purposes)
    assert unreadable(mind) == 0


@pytest.mark.parametrize(
    ("how", "purposes"),
    [
        (STYLES["react"], ["subgoals", "subgoals"]),
        (STYLES["reflexion"], ["subgoals", "reflect", "subgoals"]),
        (STYLES["planreact"], ["strategy", "subgoals", "strategy", "subgoals"]),
    ],
    ids=["react", "reflexion", "planreact"],
)
def test_what_is_asked_after_a_meeting(how: PlanningStyle, purposes: list[str]) -> None:
    told, _ = told_after(how, FACING, WHOLE, subgoals=[FIRES, LONG])
    assert told.purposes == purposes


def test_nothing_is_asked_while_one_cannot_act() -> None:
    told, mind = told_after(STYLES["planreact"], FACING, 23, subgoals=[FIRES, LONG])
    assert told.purposes == ["strategy", "subgoals"]
    assert len(mind.meetings) == 1


# What they tell


def test_a_model_hears_of_its_meetings_but_not_of_what_others_held() -> None:
    told, mind = told_after(STYLES["react"], FACING, WHOLE, subgoals=[FIRES, LONG])
    first, second = told.texts("subgoals")
    assert "There was no meeting yet." in first
    assert "Meeting 1: you held rock 1, paper 6, scissors 1 (played paper) and were paid +3.91." in second
    assert "seems to have played" not in second
    assert mind.meetings[0].own == PAPER
    assert mind.meetings[0].reward == pytest.approx(WORLD.rules.reward(PAPER, ROCK)[0])


def test_subgoals_are_asked_for_with_three_examples() -> None:
    told, _ = told_after(STYLES["react"], APART, 0)
    assert told.texts("subgoals")[0].count('{"reasoning": "I ') == 3


def test_a_plan_in_words_is_shown_with_each_question_for_subgoals() -> None:
    told, mind = told_after(STYLES["planreact"], APART, 4)
    assert all("Gather five paper and meet them." in text for text in told.texts("subgoals"))
    assert mind.plan == "Gather five paper and meet them."
    for name in ("react", "reflexion"):
        told, _ = told_after(STYLES[name], APART, 4)
        assert not any("Your plan until the next meeting" in text for text in told.texts("subgoals"))


def test_a_reflection_hears_what_came_of_a_plan_and_its_lesson_is_kept() -> None:
    told, mind = told_after(STYLES["reflexion"], APART, 2)
    text = told.texts("reflect")[0]
    assert "- wait 2" in text
    assert "wait 2: done" in text
    assert "Before, you were at (1, 1), holding rock 1, paper 1, scissors 1" in text
    assert "paid nothing" in text
    assert mind.notes == ("Gather paper first.",)
    assert "Gather paper first." in told.texts("subgoals")[1]
    assert "Gather paper first." not in told.texts("subgoals")[0]


def test_a_reflection_on_a_meeting_hears_what_it_paid() -> None:
    told, _ = told_after(STYLES["reflexion"], FACING, WHOLE, subgoals=[FIRES, LONG])
    text = told.texts("reflect")[0]
    assert "a meeting began" in text
    assert "In between you were paid +3.91" in text
    assert "Meeting 1: you held" in text


def test_only_the_latest_notes_are_kept() -> None:
    lessons = [{"success": True, "lesson": f"Lesson {n}."} for n in range(30)]
    _, mind = told_after(STYLES["reflexion"], APART, 2 * (KEPT + 3), reflect=lessons)
    assert mind.notes == tuple(f"Lesson {n}." for n in range(3, KEPT + 3))


def test_notes_and_plans_are_one_line_each() -> None:
    lesson = {"success": True, "lesson": "All is well.\n\nMeeting 9: you held rock 9"}
    told, mind = told_after(STYLES["reflexion"], APART, 2, reflect=lesson)
    assert "\nMeeting 9" not in told.texts("subgoals")[1]
    assert mind.notes == ("All is well. Meeting 9: you held rock 9",)
    told, _ = told_after(STYLES["planreact"], APART, 2, strategy={"strategy": "Gather.\nMeeting 9: you held rock 9"})
    assert "\nMeeting 9" not in told.texts("subgoals")[1]


# What cannot be read


def test_a_reflection_that_cannot_be_read_leaves_no_note() -> None:
    told, mind = told_after(STYLES["reflexion"], APART, 2, reflect={"success": "no", "lesson": "Gather."})
    assert mind.notes == ()
    assert told.purposes == ["subgoals", *["reflect"] * 3, "subgoals"]
    assert unreadable(mind) == 3
    assert [exchange.purpose for exchange in mind.own_exchanges] == ["reflect"] * 3


def test_a_plan_is_reflected_on_once_even_if_there_is_no_other_one() -> None:
    told, _ = told_after(STYLES["reflexion"], APART, 30, subgoals=[WAITS, "?"])
    assert told.purposes.count("reflect") == 1
    assert told.purposes.count("subgoals") == 1 + 3 * 3


def test_a_plan_that_cannot_be_read_leaves_the_one_before_and_is_not_asked_for_again() -> None:
    told, mind = told_after(STYLES["planreact"], FACING, WHOLE + 6, strategy=[PLAN, "?"], subgoals=[FIRES, WAITS])
    assert mind.plan == "Gather five paper and meet them."
    assert told.purposes[:6] == ["strategy", "subgoals", *["strategy"] * 3, "subgoals"]
    assert told.purposes[6:] == ["subgoals"] * 3
    assert unreadable(mind) == 3


@pytest.mark.parametrize("how", STYLES.values(), ids=STYLES.keys())
@pytest.mark.parametrize("name", BROKEN)
def test_programs_that_break_the_form_move_nobody(name: str, how: PlanningStyle) -> None:
    mind, state = agent(scripted_model(name, WORLD), how).observe(WORLD.observe(APART, ME)), APART
    for _ in range(12):
        assert mind.act().support == ("noop",)
        state = play(WORLD, state, "noop")
        mind = mind.observe(WORLD.observe(state, ME))
    assert unreadable(mind) == len(mind.exchanges) == 3 * (2 + how.plans)


# Values as values


def test_looking_changes_nothing_that_was_there() -> None:
    told = Told({**REPLIES, "subgoals": [FIRES, LONG]})
    mind = run(agent(told, STYLES["reflexion"]), FACING, 20)
    copy = replace(mind)
    run(mind, FACING, 3)
    assert mind == copy
    assert hash(mind) == hash(copy)


def test_what_both_held_in_a_meeting_is_not_looked_at() -> None:
    def seen(view: MatrixView, met: bool) -> MatrixView:
        return view if met else view._replace(met=None)

    found = []
    for met in (True, False):
        told, state = Told({**REPLIES, "subgoals": [FIRES, LONG]}), FACING
        mind = agent(told, STYLES["reflexion"])
        for _ in range(WHOLE):
            mind = mind.observe(seen(WORLD.observe(state, ME), met))
            state = play(WORLD, state, mind.act().mode)
        found.append((told.asked, mind.meetings))
    assert found[0] == found[1]


def test_a_model_that_thinks_straight_reads_every_meeting() -> None:
    told = Told({**REPLIES, "reflect": scripted_model("straight", WORLD).write, "subgoals": [FIRES, LONG]})
    mind = agent(told, STYLES["reflexion"])
    mind = replace(mind, meetings=(Encounter(PAPER, None, -2.5), Encounter(ROCK, None, 0.0)))
    assert "In 3 meetings" in run(mind, FACING, WHOLE).notes[0]


@pytest.mark.slow
@pytest.mark.parametrize("name", STYLES)
def test_with_a_model_that_thinks_straight_they_play_well_and_alike_each_time(name: str) -> None:
    world = in_the_matrix("rws_repeated")
    me, other = world.agents
    scores = []
    for _ in range(2):
        rng = np.random.default_rng(2)
        mind = Reacting.initial(world, me, Asker(scripted_model("straight", world)), STYLES[name], mapped=True)
        minds: dict[str, Mind[Any, Action]] = {
            me: mind,
            other: background(world, other, bot("rws_repeated__rock_margin_0"), rng),
        }
        scores.append([step.after.rewards[0] for step in rollout(world, minds, steps=500, rng=rng)])
    assert scores[0] == scores[1]
    assert sum(scores[0]) > 5
