"""Meetings are noticed and learnt from by one's own view alone, every partner has a theory, and plays follow it."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pytest

from matrix_worlds import PAPER, ROCK, met, play, scene, wait, world_of
from otherminds.distribution import Categorical
from otherminds.papers.hypothetical_minds.agent import CHANCE, Encounter, HypotheticalMinds, Lesson, TimeSpent
from otherminds.papers.hypothetical_minds.programs import Programs
from otherminds.worlds.in_the_matrix import rules as matrix_rules
from otherminds.worlds.in_the_matrix.bots import WALKER, MatrixBot
from otherminds.worlds.in_the_matrix.hypotheses import Pace, chosen_margin, library, meeting_game, typical_inventory
from otherminds.worlds.in_the_matrix.map_files import in_the_matrix
from otherminds.worlds.in_the_matrix.rules import Ends
from otherminds.worlds.in_the_matrix.scenarios import bot
from otherminds.worlds.in_the_matrix.strategies import Aim, Inventory, StrategyState, play_of, specialist
from otherminds.worlds.in_the_matrix.world import InTheMatrix, MatrixView

SCISSORS = (1, 1, 6)
HELD = (PAPER, ROCK, SCISSORS)
LIES = ((9, 1, 1), (1, 9, 1))
PAID = 3.90625
Told = tuple[Inventory, int | None, float]


@dataclass(frozen=True)
class Listener:
    """A theory that remembers what it is told, and expects and plays by how often that was."""

    expects: tuple[tuple[float, ...], ...] = ((0.5, 0.3, 0.2), (0.1, 0.6, 0.3), (0.2, 0.2, 0.6))
    plays: tuple[int, ...] = (0, 2, 1)
    told: tuple[Told, ...] = ()
    of: str = ""

    def for_partner(self, partner: str) -> Listener:
        return dataclasses.replace(self, told=(), of=partner)

    def update(self, own: Inventory, theirs: int | None, reward: float) -> Listener:
        return dataclasses.replace(self, told=(*self.told, (own, theirs, reward)))

    def predict(self) -> Categorical[int]:
        law = self.expects[len(self.told) % len(self.expects)]
        return Categorical(tuple(range(len(law))), tuple(float(np.log(p)) if p else -np.inf for p in law))

    def act(self) -> Categorical[int]:
        return Categorical((self.plays[len(self.told) % len(self.plays)],), (0.0,))

    @property
    def ranked(self) -> Sequence[tuple[str, float]]:
        return ()


def heard(theory: object) -> tuple[Told, ...]:
    """What a listener was told."""
    assert isinstance(theory, Listener)
    return theory.told


def body_of(mind: HypotheticalMinds) -> MatrixBot:
    assert isinstance(mind.body, MatrixBot)
    return mind.body


def certain(kind: int) -> Listener:
    """A theory that is certain of one kind."""
    return Listener((tuple(float(k == kind) for k in range(3)),), (kind,))


def initial(world: InTheMatrix, i: int = 0, prior: Listener | None = None, **more: Any) -> HypotheticalMinds:
    rng, more = np.random.default_rng(0), {"margin": 5} | more
    return HypotheticalMinds.initial(world, world.agents[i], prior or Listener(), rng, **more)


def watching(world: InTheMatrix, mind: HypotheticalMinds, *states: matrix_rules.MatrixState) -> HypotheticalMinds:
    """The mind after it has seen these states, without being told of meetings."""
    for state in states:
        mind = mind.observe(world.observe(state, world.agents[mind.me])._replace(met=None))
    return mind


def hit_of(
    held: Sequence[tuple[int, int, int]], *acts: Any, players: Sequence[str] = ("3 3 >", "5 3 <"), **more: Any
) -> tuple[InTheMatrix, matrix_rules.MatrixState, matrix_rules.MatrixState]:
    """A world, and its states before and after a hit."""
    world = world_of(players=len(players))
    before = scene(world, *players, held=tuple(held))
    return world, before, play(world, before, *(acts or ("interact",)), **more)


def paying(world: InTheMatrix, hit: matrix_rules.MatrixState) -> Iterator[matrix_rules.MatrixState]:
    """All states from the one after a hit to the one in which it pays."""
    state = hit
    while not any(state.rewards):
        state = wait(world, state, 1)
        yield state


# Noticing


def meeting_of(mind: HypotheticalMinds) -> tuple[int | None, tuple[int, ...]] | None:
    """The partner of a meeting that has not paid yet, None if it was out of view, and what the mind held."""
    return None if mind.watch.inventory is None else (mind.partner, mind.watch.inventory)


@pytest.mark.parametrize("i", [0, 1])
@pytest.mark.parametrize("held", [(a, b) for a in HELD for b in HELD])
def test_a_meeting_is_noticed_at_the_hit_with_what_one_held(i: int, held: tuple[Any, Any]) -> None:
    """Whether one zapped or was zapped, won and was reset, tied, or lost."""
    world, before, hit = hit_of(held)
    expectant = watching(world, initial(world, i), before)
    assert meeting_of(expectant) is None
    mind = watching(world, expectant, hit)
    assert meeting_of(mind) == (1 - i, held[i])
    assert meeting_of(watching(world, mind, wait(world, hit, 1))) == meeting_of(mind)


def test_what_one_picks_up_in_the_step_of_the_hit_counts() -> None:
    world, before, hit = hit_of((PAPER, ROCK), "interact", "forward", players=("8 4 v", "9 4 v"))
    meeting = hit.met[1]
    assert meeting is not None
    assert meeting[0] == (7, 1, 1)
    assert meeting_of(watching(world, initial(world, 1), before, hit)) == (0, meeting[0])


def test_nothing_is_noticed_where_nobody_is_hit() -> None:
    world = world_of()
    states = [scene(world, "3 3 >", "5 3 <", held=((1, 1, 1), ROCK))]
    states += [play(world, states[0], "interact"), play(world, states[0], "noop", "interact")]
    mind = watching(world, initial(world), *states)
    assert (meeting_of(mind), mind.lessons) == (None, ())


def test_the_dead_meet_nobody() -> None:
    world = world_of()
    states = [hit := met(world), *paying(world, hit)]
    dead = wait(world, states[-1], 3)
    assert world.observe(dead, world.agents[0]).frozen
    mind = watching(world, initial(world), *states, dead)
    assert (meeting_of(mind), len(mind.lessons)) == (None, 1)


# Learning


@pytest.mark.parametrize("i", [0, 1])
@pytest.mark.parametrize("held", [(a, b) for a in HELD for b in HELD if a != b])
def test_a_theory_is_told_once_what_was_played_and_paid(i: int, held: tuple[Any, Any]) -> None:
    world, before, hit = hit_of(held)
    mind = watching(world, initial(world, i), before, hit)
    *until, last = paying(world, hit)
    mind = watching(world, mind, *until)
    assert (heard(mind.theories[1 - i]), mind.lessons) == ((), ())
    mind = watching(world, mind, last)
    own, theirs, reward = play_of(held[i]), play_of(held[1 - i]), last.rewards[i]
    assert [heard(theory) for theory in mind.theories] == [
        ((held[i], theirs, reward),) if j != i else () for j in range(2)
    ]
    thought = Listener(of=world.agents[1 - i])
    assert mind.lessons == (Lesson(last.t, 1 - i, thought, thought.predict(), own, theirs, reward),)
    later = [wait(world, last, n) for n in range(1, 10)]
    assert watching(world, mind, *later).theories == mind.theories


def test_a_meeting_of_the_same_kinds_is_told_too() -> None:
    world, before, hit = hit_of((ROCK, ROCK))
    states = [wait(world, hit, n) for n in range(1, 18)]
    mind = watching(world, initial(world), before, hit, *states)
    assert heard(mind.theories[1]) == ((ROCK, 0, 0.0),)


def test_a_lesson_has_what_was_expected_before_it() -> None:
    world, before, hit = hit_of((PAPER, ROCK))
    states = [before, hit, *paying(world, hit)]
    again = [state._replace(t=state.t + 30) for state in states]
    mind = watching(world, initial(world), *states, *again)
    expected = [lesson.expected.probs for lesson in mind.lessons]
    assert expected == [pytest.approx((0.5, 0.3, 0.2)), pytest.approx((0.1, 0.6, 0.3))]
    assert [heard(lesson.theory) for lesson in mind.lessons] == [(), ((PAPER, 0, PAID),)]
    assert [lesson.t for lesson in mind.lessons] == [states[-1].t, again[-1].t]
    assert heard(mind.theories[1]) == ((PAPER, 0, PAID),) * 2


def test_who_held_as_much_of_two_kinds_has_played_nothing_yet_the_theory_is_told_of_the_meeting() -> None:
    world, before, hit = hit_of(((3, 3, 1), ROCK))
    mind = watching(world, initial(world), before, hit, *paying(world, hit))
    (lesson,) = mind.lessons
    assert (lesson.partner, lesson.own, lesson.theirs) == (1, None, 0)
    assert heard(mind.theories[1]) == (((3, 3, 1), 0, lesson.reward),)


def test_it_is_not_known_what_a_partner_played_who_held_as_much_of_two() -> None:
    world = in_the_matrix("pd_repeated")
    view = world.observe(world.start(np.random.default_rng(0)), world.agents[0])
    hit = view._replace(frozen=True, inventory=(1, 6))
    paid = hit._replace(t=17, window=(), inventory=(1, 1), reward=world.rules.reward((1, 6), (3, 3))[0])
    mind = initial(world, prior=Listener(((0.5, 0.5),), (1,)))
    for seen in (view, hit, paid):
        mind = mind.observe(seen)
    (lesson,) = mind.lessons
    assert (lesson.own, lesson.theirs) == (1, None)
    assert heard(mind.theories[1]) == (((1, 6), None, paid.reward),)


# Aims


def test_the_aim_is_what_the_theory_plays() -> None:
    world, before, hit = hit_of((PAPER, ROCK))
    mind = initial(world, margin=3)
    assert mind.aim == Aim(0, 3)
    mind = watching(world, mind, before, hit)
    assert (mind.aim, body_of(mind).state) == (Aim(0, 3), StrategyState(Aim(0, 3)))
    *until, last = paying(world, hit)
    assert watching(world, mind, *until).aim == Aim(0, 3)
    mind = watching(world, mind, *until, last)
    assert (mind.aim, body_of(mind).state) == (Aim(2, 3), StrategyState(Aim(2, 3)))
    assert body_of(mind).worth == ()


def test_a_first_aim_is_that_of_the_theory_of_the_partner_not_of_anybody() -> None:
    world = world_of()
    mind = initial(world, prior=certain(0), theories=(certain(1), certain(2)))
    assert mind.aim == Aim(2, 5)
    assert initial(world, 1, prior=certain(0), theories=(certain(1), certain(2))).aim == Aim(1, 5)


def test_the_body_acts() -> None:
    world = in_the_matrix("rws_repeated")
    state = world.start(np.random.default_rng(3))
    for kind in range(3):
        mind = watching(world, initial(world, prior=certain(kind)), state)
        body = MatrixBot.initial(
            world, world.agents[0], specialist(Aim(kind, 5)), np.random.default_rng(0), body_of(mind).skill
        )
        assert mind.act() == body.observe(world.observe(state, world.agents[0])).act()
    minds = [watching(world, initial(world, prior=certain(kind)), state) for kind in range(3)]
    assert len({body_of(mind).plan.cell for mind in minds} | {mind.act().mode for mind in minds}) > 1


# How much to gather


def surely(kind: int, kinds: int) -> Categorical[int]:
    return Categorical(tuple(range(kinds)), tuple(0.0 if k == kind else -np.inf for k in range(kinds)))


@pytest.mark.parametrize("name", ["rws_repeated", "pd_repeated", "rws_arena"])
def test_more_is_gathered_the_faster_that_is_and_the_rarer_meetings_are(name: str) -> None:
    rules = in_the_matrix(name).rules
    law = surely(0, len(rules.resources))
    paces = [[Pace(gather, meet) for gather in (9.0, 3.0, 1.0)] for meet in (20.0, 80.0)]
    few, many = [[chosen_margin(rules, 1, law, pace=pace) for pace in row] for row in paces]
    assert few == sorted(few)
    assert many == sorted(many)
    assert few[0] < few[-1]
    assert all(a <= b for a, b in zip(few, many, strict=True))


def test_as_little_as_can_be_is_gathered_before_the_eyes_of_one_that_watches() -> None:
    rules = in_the_matrix("rws_repeated").rules
    margins = [chosen_margin(rules, 1, surely(0, 3), watched=p) for p in (0.0, 0.5, 0.8, 1.0)]
    assert margins == sorted(margins, reverse=True)
    assert margins[-1] <= 2 < margins[0]


def test_to_cooperate_takes_less_than_to_defect() -> None:
    rules = in_the_matrix("pd_repeated").rules
    assert chosen_margin(rules, 0, surely(0, 2)) == 1 < chosen_margin(rules, 1, surely(0, 2))


def test_the_pace_is_measured_from_the_first_resource_on() -> None:
    world = world_of()
    view = world.observe(scene(world, "3 3 >", "5 3 <"), world.agents[0])
    spent, aim = TimeSpent(0.0, 0.0, 0.0, 0.0), Aim(0, 3)
    held = [(1, 1, 1), (1, 1, 1), (2, 1, 1), (2, 1, 1), (3, 1, 1), (4, 1, 1), (4, 1, 1)]
    views = [view._replace(inventory=inventory) for inventory in held] + [view._replace(frozen=True)] * 3
    for last, now in itertools.pairwise(views):
        spent = spent.after(last, now, aim)
    assert spent == TimeSpent(gathering=3.0, gathered=2.0, other_steps=6.0, meetings=1.0)
    assert spent.pace == Pace(1.5, 6.0)


def test_partners_that_play_what_beats_the_agent_come_to_be_taken_for_watchers() -> None:
    world = in_the_matrix("rws_repeated")
    mind = initial(world, prior=Listener(((1 / 3,) * 3,)), margin=None)
    fooled, lucky = mind, mind
    for _ in range(8):
        fooled = fooled._with_lesson(Encounter((6, 1, 1), 1, -3.0), 1)
        lucky = lucky._with_lesson(Encounter((6, 1, 1), 2, 3.0), 1)
    assert fooled.watched > 0.8 > mind.watched > lucky.watched > 0.0
    assert fooled.aim.margin == 1
    assert mind._p_watched(Encounter((6, 1, 1), 2, 3.0), surely(0, 3)) == mind.watched, "nobody could have played that"
    assert initial(in_the_matrix("pd_repeated"), prior=Listener(((0.5, 0.5),)), margin=None).watched == 0.0


# Many partners

THREE = ("3 3 >", "5 3 <", "3 5 ^")
FOUR = (*THREE, "5 1 v")
SOME = (PAPER, ROCK, ROCK, SCISSORS)


def test_the_partner_is_who_froze_in_view() -> None:
    for third, acts in (("3 6 <", ("interact",)), ("3 1 v", ("interact",)), ("5 1 v", ("noop", "interact"))):
        world, before, hit = hit_of(SOME[:3], *acts, players=("3 3 >", "5 3 <", third))
        assert hit.met[2] is None
        assert meeting_of(watching(world, initial(world), before, hit)) == (1, PAPER)


def test_who_stays_unseen_is_not_known() -> None:
    world, before, hit = hit_of((PAPER, ROCK, ROCK), "noop", "interact", players=("5 3 >", "3 3 >", "7 6 <"))
    assert hit.met[0] == (PAPER, ROCK)
    mind = watching(world, initial(world), before, hit)
    assert meeting_of(mind) == (None, PAPER)
    mind = watching(world, mind, *paying(world, hit))
    (lesson,) = mind.lessons
    assert (lesson.partner, lesson.own, lesson.theirs, lesson.reward) == (None, 1, 0, PAID)
    assert lesson.expected == Listener().predict()
    assert [heard(theory) for theory in mind.theories] == [()] * 3


def test_two_who_freeze_at_once_cannot_be_told_apart() -> None:
    places = ("3 5 ^", "3 3 v", "5 3 <", "5 2 v")
    world, before, hit = hit_of(SOME, "interact", "noop", "noop", "interact", players=places)
    assert [meeting is not None for meeting in hit.met] == [True] * 4
    assert meeting_of(watching(world, initial(world), before, hit)) == (None, PAPER)


def test_who_had_been_frozen_before_is_not_the_partner() -> None:
    places = ("3 5 ^", "3 3 v", "5 3 <", "5 2 v")
    world, before, first = hit_of(SOME, "noop", "noop", "noop", "interact", players=places)
    assert first.met[2] is not None
    hit = play(world, first, "interact")
    mind = watching(world, initial(world), before, first)
    assert meeting_of(mind) is None
    assert meeting_of(watching(world, mind, hit)) == (1, PAPER)


def test_only_the_theory_of_who_was_met_learns() -> None:
    world, before, hit = hit_of(SOME[:3], players=("3 3 >", "5 3 <", "3 6 <"))
    mind = watching(world, initial(world), before, hit, *paying(world, hit))
    assert [heard(theory) for theory in mind.theories] == [(), ((PAPER, 0, PAID),), ()]


def test_of_every_player_there_is_a_theory_of_its_own() -> None:
    world = world_of(players=4)
    names = [theory.of for theory in initial(world).theories if isinstance(theory, Listener)]
    assert names == list(world.agents)


def test_a_body_may_be_given() -> None:
    world = world_of()
    body = MatrixBot.initial(world, world.agents[0], specialist(Aim(0, 5)), np.random.default_rng(7), WALKER)
    mind = initial(world, prior=certain(1), body=body)
    assert body_of(mind) == body.toward(Aim(1, 5))


def payoffs(laws: Sequence[Sequence[float]]) -> list[list[float]]:
    """What each kind is expected to pay against each player, with six of what one plays and one of the rest."""
    rules = world_of().rules
    held = [tuple(6 if k == kind else 1 for k in range(3)) for kind in range(3)]
    return [[sum(p * rules.reward(held[a], held[b])[0] for b, p in enumerate(law)) for a in range(3)] for law in laws]


def test_with_many_what_pays_best_is_played_meeting_half_the_time_whom_one_likes() -> None:
    """max over kinds of Σ over players of max(pay, ½ pay), against random theories; a plain sum would often differ."""
    world, rng, differ = world_of(players=4), np.random.default_rng(1), 0
    for _ in range(40):
        laws = rng.dirichlet((0.4, 0.4, 0.4), size=3).tolist()
        theories = [Listener(), *(Listener((tuple(law),)) for law in laws)]
        mind = initial(world, theories=theories)
        pays = payoffs(laws)
        value = [sum(max(pay[a], CHANCE * pay[a]) for pay in pays) for a in range(3)]
        best = int(np.argmax(value))
        assert mind.aim == Aim(best, 5)
        assert body_of(mind).worth == pytest.approx((0.0, *(pay[best] for pay in pays)))
        differ += best != int(np.argmax(np.sum(pays, axis=0)))
    assert CHANCE == 0.5
    assert differ > 0


def test_who_has_not_been_met_is_taken_to_be_as_anybody_or_like_those_who_were() -> None:
    world, before, hit = hit_of(SOME[:3], players=("3 3 >", "5 3 <", "3 6 <"))
    mind = initial(world)
    first, second, _ = Listener().expects
    assert body_of(mind).worth == pytest.approx((0.0, *(payoffs([first])[0][mind.aim.kind],) * 2))
    mind = watching(world, mind, before, hit, *paying(world, hit))
    (lesson,) = mind.lessons
    joint = [p * (2 if kind == lesson.theirs else 1) for kind, p in enumerate(first)]
    pays = payoffs([second, [p / sum(joint) for p in joint]])
    assert body_of(mind).worth == pytest.approx((0.0, pays[0][mind.aim.kind], pays[1][mind.aim.kind]))
    value = [sum(max(pay[a], CHANCE * pay[a]) for pay in pays) for a in range(3)]
    assert mind.aim == Aim(int(np.argmax(value)), 5)


# Episodes


def short(substrate: str, steps: int) -> InTheMatrix:
    world = in_the_matrix(substrate)
    return dataclasses.replace(world, rules=dataclasses.replace(world.rules, ends=Ends(steps, 1, 1.0, steps)))


@cache
def prior_in(substrate: str) -> Programs:
    return Programs.of(library(in_the_matrix(substrate).rules))


def thinker(world: InTheMatrix, rng: np.random.Generator) -> HypotheticalMinds:
    substrate = {2: "pd_repeated", 3: "rws_repeated"}[len(world.rules.resources)]
    return HypotheticalMinds.initial(world, world.agents[0], prior_in(substrate), rng)


def walker(world: InTheMatrix, rng: np.random.Generator) -> MatrixBot:
    return MatrixBot.initial(world, world.agents[0], specialist(Aim(0, 5)), rng, WALKER)


def frank(view: MatrixView) -> MatrixView:
    return view


def blank(view: MatrixView) -> MatrixView:
    return view._replace(met=None)


def lying(view: MatrixView) -> MatrixView:
    """Meetings that are not, and none that is."""
    return view._replace(met=LIES if view.met is None else None)


def episode(
    world: InTheMatrix,
    bots: Sequence[str],
    seed: int,
    seat: Callable[[InTheMatrix, np.random.Generator], Any] = thinker,
    seen_as: Callable[[MatrixView], MatrixView] = frank,
) -> Iterator[tuple[matrix_rules.MatrixState, Any]]:
    """The states of an episode, and the first player's mind in each of them."""
    rng = np.random.default_rng(seed)
    me, *others = world.agents
    minds: dict[str, Any] = {me: seat(world, rng)}
    for agent, name in zip(others, bots, strict=True):
        strategy = bot(name).strategy
        assert strategy is not None
        minds[agent] = MatrixBot.initial(world, agent, strategy, rng)
    state = world.start(rng)

    def watched(minds: Mapping[str, Any]) -> dict[str, Any]:
        views = {agent: world.observe(state, agent) for agent in world.agents}
        return {a: mind.observe(seen_as(views[a]) if a == me else views[a]) for a, mind in minds.items()}

    minds = watched(minds)
    yield state, minds[me]
    while not world.done(state):
        state = world.step(state, {agent: mind.act().sample(rng) for agent, mind in minds.items()}, rng)
        minds = watched(minds)
        yield state, minds[me]


ARENA = tuple(f"rws_arena__{name}" for name in ("rock_margin_0", "paper_margin_1", "scissors_margin_0"))
CASES = [
    pytest.param("rws_repeated", ("rws_repeated__resp2prev_margin_0",), id="rws_repeated"),
    pytest.param("pd_repeated", ("pd_repeated__tft_tremble_margin_0",), id="pd_repeated"),
    pytest.param("rws_arena", (*ARENA, *ARENA, ARENA[0]), id="rws_arena"),
]


@pytest.mark.slow
@pytest.mark.parametrize("seen_as", [blank, lying])
@pytest.mark.parametrize(("substrate", "bots"), CASES)
def test_what_a_view_says_of_meetings_is_not_used(
    substrate: str, bots: tuple[str, ...], seen_as: Callable[[MatrixView], MatrixView]
) -> None:
    world = short(substrate, 300)
    pairs = zip(episode(world, bots, 3), episode(world, bots, 3, seen_as=seen_as), strict=True)
    hits = 0
    for (state, frankly), (other, blindly) in pairs:
        assert state == other
        assert frankly == blindly
        hits += state.met[0] is not None
    assert hits >= 2
    assert len(frankly.lessons) >= 2


@pytest.mark.slow
@pytest.mark.parametrize(("substrate", "bots"), CASES)
def test_every_meeting_of_an_episode_is_noticed_and_learnt_once(substrate: str, bots: tuple[str, ...]) -> None:
    world, due = short(substrate, 600), list[tuple[int | None, matrix_rules.Meeting]]()
    before, right, meetings = 0, 0, 0
    for state, mind in episode(world, bots, 5, seen_as=blank):
        hit = state.met[0]
        if hit is not None:
            partner = next(j for j, other in enumerate(state.met) if j and other == hit[::-1])
            assert meeting_of(mind) == (mind.partner, hit[0])
            assert mind.partner in ((partner,) if len(world.agents) == 2 else (partner, None))
            due.append((mind.partner, hit))
            meetings += 1
        assert len(mind.lessons) - before == (state.clocks[0] == world.rules.frozen + 1)
        if len(mind.lessons) > before:
            known, (own, theirs) = due.pop()
            lesson = mind.lessons[-1]
            assert (lesson.t, lesson.partner, lesson.own) == (state.t, known, play_of(own))
            assert lesson.reward == state.rewards[0] == pytest.approx(world.rules.reward(own, theirs)[0])
            right += lesson.theirs == play_of(theirs)
        before = len(mind.lessons)
        assert meeting_of(mind) is None or due
    assert meetings >= 5
    assert right >= 0.8 * before


@pytest.mark.slow
@pytest.mark.parametrize(("substrate", "bots"), CASES)
def test_theories_are_what_the_lessons_make_of_the_prior(substrate: str, bots: tuple[str, ...]) -> None:
    world = short(substrate, 400)
    *_, (_, mind) = episode(world, bots, 2)
    theories, known = [mind.prior] * len(world.agents), set[int]()
    for i, lesson in enumerate(mind.lessons):
        seen = [past.theirs for past in mind.lessons[:i] if past.partner != lesson.partner and past.theirs is not None]
        theory = theories[lesson.partner] if lesson.partner in known and lesson.partner is not None else mind.prior
        joint = [theory.predict().prob(kind) * (1 + seen.count(kind)) for kind in range(len(world.rules.resources))]
        expected = [p / sum(joint) for p in joint]
        assert [lesson.expected.prob(kind) for kind in range(len(joint))] == pytest.approx(expected)
        if lesson.partner is None:
            assert lesson.theory == mind.prior
            continue
        known.add(lesson.partner)
        assert lesson.theory == theories[lesson.partner]
        if lesson.own is not None and lesson.theirs is not None:
            theories[lesson.partner] = theories[lesson.partner].update(
                typical_inventory(lesson.own, len(world.rules.resources)), lesson.theirs, lesson.reward
            )
    assert mind.theories == tuple(theories)
    assert theories != [mind.prior] * len(world.agents)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("substrate", "bot", "steps", "least"),
    [
        ("rws_repeated", "rws_repeated__rock_margin_0", 400, 12.0),
        ("rws_repeated", "rws_repeated__resp2prev_margin_0", 800, 15.0),
        ("pd_repeated", "pd_repeated__cooperator_margin_0", 400, 12.0),
        ("pd_repeated", "pd_repeated__grim_one_strike_margin_0", 400, 12.0),
    ],
)
def test_who_thinks_gets_more_than_who_walks_about(substrate: str, bot: str, steps: int, least: float) -> None:
    """More than twice as much, and at least so much on average, on two seeds together."""
    world = short(substrate, steps)

    def total(seat: Callable[[InTheMatrix, np.random.Generator], Any]) -> float:
        return sum(state.rewards[0] for seed in (1, 2) for state, _ in episode(world, (bot,), seed, seat))

    thinking, walking = total(thinker), total(walker)
    assert thinking > max(2 * walking, 2 * least)


# Values


def test_a_mind_is_a_value() -> None:
    world, before, hit = hit_of((PAPER, ROCK))
    mind = initial(world)
    states = [before, hit, *paying(world, hit)]
    copy = dataclasses.replace(mind)
    one, other = (watching(world, mind, *states) for _ in range(2))
    assert (mind, hash(mind)) == (copy, hash(copy))
    assert (one, hash(one)) == (other, hash(other))
    assert len({mind, one, other}) == 2
    with pytest.raises(dataclasses.FrozenInstanceError):
        mind.margin = 4  # type: ignore[misc]


@pytest.mark.slow
def test_an_episode_is_decided_by_its_seed() -> None:
    world = short("rws_repeated", 200)
    runs = [list(episode(world, ("rws_repeated__flip_r2s_0",), seed)) for seed in (4, 4, 5)]
    assert [state for state, _ in runs[0]] == [state for state, _ in runs[1]]
    assert runs[0][-1][1].lessons == runs[1][-1][1].lessons
    assert runs[0][-1][0] != runs[2][-1][0]


def test_the_game_of_a_mind_is_that_of_meetings_with_its_margin() -> None:
    world = world_of()
    assert initial(world).game == meeting_game(world.rules, 5)
    assert np.array_equal(initial(world, margin=2).game.payoff(), meeting_game(world.rules, 2).payoff())
    assert initial(world, 1).me == 1
