"""Reading a goal or a belief from somebody's way through a home, against the product of all that they did."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from households import home_from, random_home
from otherminds.stories.model import (
    AnswerOption,
    Belief,
    Claim,
    Entity,
    Episode,
    Event,
    Fact,
    Goal,
    Happening,
    Knows,
    Observation,
    Question,
    SocialGoal,
)
from otherminds.stories.social_goals.goals import DOUBT, SWITCH_RATE, UNDECIDED, answer_goal
from otherminds.stories.social_goals.inference import CannotAnswerError
from otherminds.worlds.household.rules import Act, Home, Household, Person, Place, State
from otherminds.worlds.household.searcher import TRUST, Errand, Searcher

ANN = "Ann"
HOME = home_from("kitchen: +fridge, +stove, table | bedroom: desk, +drawer | bathroom: +cabinet")
THINGS = (Fact("at", "plate", "fridge"), Fact("at", "book", "drawer"))


def an_episode(home: Home, told: Sequence[Happening], init: Sequence[Fact], room: str = "") -> Episode:
    spots = [Entity(place.name, "place", place.room, "in" if place.closes else "on") for place in home.places]
    rooms = [Entity(room, "room") for room in home.rooms]
    timeline = tuple(replace(happening, t=t) for t, happening in enumerate(told))
    there = Fact("in_room", ANN, room or home.rooms[0])
    return Episode("way", (ANN,), (*rooms, *spots), (there, *init), timeline, complete=True)


def went(*told: Happening, init: Sequence[Fact] = THINGS, room: str = "") -> Episode:
    return an_episode(HOME, told, init, room)


def walks(to: str) -> Event:
    return Event(0, ANN, "walk", place=to) if to in HOME.place else Event(0, ANN, "walk", room=to)


def opens(place: str) -> Event:
    return Event(0, ANN, "open", place=place)


def closes(place: str) -> Event:
    return Event(0, ANN, "close", place=place)


def wants(thing: str, to: str | None = None) -> AnswerOption:
    return AnswerOption((Goal(ANN, Fact("at", thing, to)),))


def thinks(thing: str, where: str, so: bool = True) -> AnswerOption:
    return AnswerOption((Belief(ANN, Fact("at", thing, where), so),))


def posterior(
    episode: Episode, *options: AnswerOption, given: tuple[Claim, ...] = (), **more: int
) -> tuple[float, ...]:
    return answer_goal(episode, Question("?", options, conditions=given, **more)).posterior  # type: ignore[arg-type]


# The oracle: one searcher at a time, walked through the story, the probabilities of its acts multiplied


def odds_of(home: Home, claims: Sequence[Claim], thing: str) -> tuple[float, ...]:
    odds = [1.0] * len(home.places)
    for claim in claims:
        if isinstance(claim, Belief) and isinstance(claim.content, Fact) and claim.content.subject == thing:
            meant = [claim.content.value in (place.name, place.room) for place in home.places]
            if claim.holds and sum(meant) == 1:
                rest = sum(o for o, here in zip(odds, meant, strict=True) if not here)
                odds = [TRUST if here else (1 - TRUST) * o / rest for o, here in zip(odds, meant, strict=True)]
            else:
                odds = [o if here == claim.holds else DOUBT * o for o, here in zip(odds, meant, strict=True)]
    return tuple(odds)


def steps_of(episode: Episode, home: Home, claims: Sequence[Claim], until: int) -> list[tuple[float, Searcher]]:
    """For each act that is told, its probability and the mind before it."""
    goal = next((claim.content for claim in claims if isinstance(claim, Goal) and claim.content is not None), None)
    belief = next((c.content for c in claims if isinstance(c, Belief) and isinstance(c.content, Fact)), None)
    fact = goal or belief
    assert fact is not None
    errand = Errand(fact.subject, goal.value if goal is not None and goal.value in home.place else None)
    room = next(f.value for f in episode.init if f.predicate == "in_room")
    things = tuple((f.subject, f.value or "") for f in episode.init if f.predicate == "at")
    state = State(((ANN, Person(room or "")),), things)
    world = Household(home, (ANN,), state)
    mind = Searcher(home, ANN, errand, odds_of(home, claims, fact.subject)).observe(world.observe(state, ANN))
    found = []
    for event in episode.timeline:
        if not isinstance(event, Event) or event.agent != ANN or event.t > until:
            continue
        for act, told in acts(event, home, state):
            found += [(math.exp(mind.act().log_prob(act)), mind)] * told
            state = world.act(state, ANN, act)
            mind = mind.observe(world.observe(state, ANN))
    return found


def last_believed(steps: Sequence[Sequence[tuple[float, Searcher]]], options: Sequence[AnswerOption]) -> list[float]:
    """The joint probability of the acts and each belief at the end, summed over all changes; undecided is the last."""
    prior = np.array([(1 - UNDECIDED) / len(options)] * len(options) + [UNDECIDED])
    now = prior
    for chances in zip(*([p for p, _ in mine] for mine in steps), strict=True):
        now = now * chances
        now = (1 - SWITCH_RATE) * now + SWITCH_RATE * now.sum() * prior
    return [
        float(p) * consistent(mine[-1][1], option) if mine else 1.0
        for p, mine, option in zip(now, steps, options, strict=False)
    ]


def consistent(mind: Searcher, option: AnswerOption) -> bool:
    """Whether what the mind has seen leaves the belief possible."""
    (claim,) = option.claims
    assert isinstance(claim, Belief)
    assert isinstance(claim.content, Fact)
    meant = {place.name for place in mind.home.places if claim.content.value in (place.name, place.room)}
    left = {place.name for i, place in enumerate(mind.home.places) if mind.unseen >> i & 1}
    if mind.item_place is not None:
        return (mind.item_place in meant) == claim.holds
    return not claim.holds or bool(meant & left)


def acts(event: Event, home: Home, state: State) -> list[tuple[Act, bool]]:
    """What must have come before, and what was told."""
    if event.verb == "walk" and event.place is None:
        return [(Act("walk", None, event.room), True)]
    me, spot = state.person(ANN), home.place[event.place or ""]
    steps = [Act("walk", None, spot.room)] if me.room != spot.room else []
    if event.verb == "walk":
        return [*((step, False) for step in steps), (Act("walk", None, spot.name), True)]
    steps += [Act("walk", None, spot.name)] if me.at != spot.name else []
    if event.verb != "open" and spot.closes and spot.name not in state.opened:
        steps.append(Act("open", None, spot.name))
    assert event.verb in ("open", "close", "grab", "put")
    return [*((step, False) for step in steps), (Act(event.verb, event.obj, spot.name), True)]


def a_case(rng: np.random.Generator) -> tuple[Episode, Question, Home]:
    home = random_home(rng, (2, 5))
    spots = [place.name for place in home.places]
    things = [f"thing {i}" for i in range(3)]
    init = [Fact("at", thing, str(rng.choice(spots))) for thing in things if rng.random() < 0.8]
    told: list[Happening] = []
    for _ in range(int(rng.integers(1, 7))):
        place, thing, verb = str(rng.choice(spots)), str(rng.choice(things)), int(rng.integers(6))
        agent = ANN if rng.random() < 0.9 else "Bob"
        if verb < 2:
            told.append(Event(0, agent, "walk", room=str(rng.choice(home.rooms))))
        elif verb == 2:
            told.append(Event(0, agent, "walk", place=place))
        else:
            name = ("open", "close", "grab" if rng.random() < 0.6 else "put")[verb - 3]
            told.append(Event(0, agent, name, thing if name in ("grab", "put") else None, place))  # type: ignore[arg-type]
    options = []
    for thing in things:
        to = str(rng.choice(spots)) if rng.random() < 0.3 else None
        where = str(rng.choice([*spots, *home.rooms]))
        goal, belief = Goal(ANN, Fact("at", thing, to)), Belief(ANN, Fact("at", thing, where), bool(rng.random() < 0.7))
        options.append(AnswerOption(((goal,), (belief,), (goal, belief))[int(rng.integers(3))]))
    given: tuple[Claim, ...] = ()
    if rng.random() < 0.3:
        given = (Goal(ANN, Fact("at", things[0], str(rng.choice(spots)))),)
        options = [thinks(things[0], str(rng.choice(spots)), bool(rng.random() < 0.7)) for _ in things]
    at = int(rng.integers(4)) if rng.random() < 0.2 else None
    return (
        an_episode(home, told, init, str(rng.choice(home.rooms))),
        Question("?", tuple(options), conditions=given, at=at),
        home,
    )


@pytest.mark.slow
def test_posteriors_are_the_products_of_the_probabilities_of_all_acts() -> None:
    apart = changed = 0
    for rng in np.random.default_rng(11).spawn(300):
        episode, question, home = a_case(rng)
        until = len(episode.timeline) if question.at is None else question.at
        claims = [(*question.conditions, *option.claims) for option in question.options]
        steps = [steps_of(episode, home, mine, until) for mine in claims]
        scores = [math.prod(p for p, _ in mine) for mine in steps]
        answer = answer_goal(episode, question)
        for i, score in enumerate(scores):
            assert math.fsum(term.log_probs[i] for term in answer.terms) == pytest.approx(math.log(score))
        claimed = [claim for option in question.options for claim in option.claims]
        things = {c.content.subject for c in claimed if isinstance(c, Belief) and isinstance(c.content, Fact)}
        if len(things) == 1 and all(isinstance(claim, Belief) for claim in claimed):
            wanted = question.conditions or (Goal(ANN, Fact("at", *things)),)
            steps.append(steps_of(episode, home, wanted, until))
            scores = last_believed(steps, question.options)
            changed += 1
            if not steps[0] or not any(scores):
                continue
        expected = [score / math.fsum(scores) for score in scores]
        assert answer.posterior == pytest.approx(expected, rel=1e-9)
        apart += max(expected) - min(expected) > 0.05
    assert apart > 150
    assert changed > 60


# Stories written by hand


def test_who_goes_straight_to_the_fridge_believes_it_there() -> None:
    straight = went(walks("fridge"), opens("fridge"), init=())
    options = [thinks("plate", place) for place in ("fridge", "stove", "drawer")]
    assert posterior(straight, *options)[0] > 0.8
    assert posterior(straight, thinks("plate", "fridge"), thinks("plate", "fridge", so=False))[0] > 0.8
    away = went(walks("bedroom"), walks("drawer"), opens("drawer"), init=())
    assert posterior(away, thinks("plate", "bedroom"), thinks("plate", "kitchen"))[0] > 0.8
    assert posterior(away, *options)[2] > 0.8


def test_where_somebody_goes_next_shows_what_they_believe_now_wherever_they_looked_before() -> None:
    first = (walks("drawer"), opens("drawer"), closes("drawer"))
    believed = thinks("plate", "fridge"), thinks("plate", "fridge", so=False)
    assert posterior(went(*first, walks("fridge"), opens("fridge"), init=(), room="bedroom"), *believed)[0] > 0.8
    searched = went(walks("fridge"), opens("fridge"), closes("fridge"), *first, init=())
    assert posterior(searched, *believed) == (0.0, 1.0)  # it was not there


@pytest.mark.parametrize(("rooms", "each"), [(1, 20), (4, 6), (12, 5)])
def test_homes_may_be_large(rooms: int, each: int) -> None:
    places = tuple(Place(f"box {r}/{n}", f"room {r}", True) for r in range(rooms) for n in range(each))
    home = Home(tuple(f"room {r}" for r in range(rooms)), places, ((0,) * rooms,) * rooms)
    told = an_episode(home, [Event(0, ANN, "walk", place="box 0/1")], ())
    assert posterior(told, thinks("plate", "box 0/1"), thinks("plate", "box 0/1", so=False))[0] > 0.8


def test_who_opens_the_fridge_sees_a_plate_and_closes_it_does_not_want_the_plate() -> None:
    looked = went(walks("fridge"), opens("fridge"), closes("fridge"), walks("bedroom"))
    assert posterior(looked, wants("plate"), wants("book"))[0] < 0.05
    elsewhere = went(walks("fridge"), opens("fridge"), closes("fridge"), walks("bedroom"), init=THINGS[1:])
    assert posterior(elsewhere, wants("plate"), wants("book")) == pytest.approx((0.5, 0.5))


def test_it_is_seen_wherever_it_is_even_if_there_are_several() -> None:
    several = (*THINGS, Fact("at", "plate", "cabinet"))
    looked = went(walks("fridge"), opens("fridge"), closes("fridge"), walks("bedroom"), init=several)
    assert posterior(looked, wants("plate"), wants("book"))[0] < 0.05


def test_who_takes_a_thing_wants_it_whether_or_not_the_story_says_from_where() -> None:
    for grab in (Event(0, ANN, "grab", "plate", "fridge"), Event(0, ANN, "grab", "plate")):
        assert posterior(went(opens("fridge"), grab), wants("plate"), wants("book"))[0] > 0.99


def test_who_brings_a_thing_somewhere_wants_it_there() -> None:
    options = [wants("plate", "table"), wants("plate", "desk"), wants("plate"), wants("book", "table")]
    grab = Event(0, ANN, "grab", "plate", "fridge")
    assert posterior(went(grab, Event(0, ANN, "put", "plate", "table")), *options)[0] > 0.9
    moves = Event(0, ANN, "move", "plate", "table")
    assert posterior(went(opens("fridge"), moves), *options)[0] > 0.9
    done = went(grab, Event(0, ANN, "put", "plate", "table"), Event(0, ANN, "walk", room="bedroom"))
    assert posterior(done, *options)[3] < 0.5


def test_walking_to_a_thing_is_walking_to_where_it_is() -> None:
    told = went(Event(0, ANN, "walk", obj="plate"), opens("fridge"))
    assert posterior(told, wants("plate"), wants("book")) == posterior(
        went(walks("fridge"), opens("fridge")), wants("plate"), wants("book")
    )


def test_only_what_was_done_by_then_counts() -> None:
    looked = went(walks("bedroom"), walks("drawer"), opens("drawer"), closes("drawer"))
    short = went(walks("bedroom"), walks("drawer"), opens("drawer"))
    options = (wants("plate"), wants("book"))
    assert posterior(looked, *options, at=2) == posterior(short, *options)
    assert posterior(looked, *options)[1] < posterior(short, *options)[1]


def test_what_somebody_else_does_says_nothing() -> None:
    options = (wants("plate"), wants("book"))
    told = went(walks("bedroom"), Event(0, "Bob", "grab", "plate", "fridge"), walks("drawer"))
    assert posterior(told, *options) == posterior(went(walks("bedroom"), walks("drawer")), *options)


def test_a_thing_to_hold_is_wanted_like_a_thing_to_have_anywhere() -> None:
    looked = went(walks("fridge"), opens("fridge"), closes("fridge"))
    held = [AnswerOption((Goal(ANN, Fact("holds", ANN, thing)),)) for thing in ("plate", "book")]
    assert posterior(looked, *held) == posterior(looked, wants("plate"), wants("book"))


def test_a_goal_that_is_given_holds_for_every_belief() -> None:
    straight = went(walks("bedroom"), walks("drawer"), init=())
    options = [thinks("plate", place) for place in ("fridge", "drawer")]
    given = (Goal(ANN, Fact("at", "plate", "table")),)
    assert posterior(straight, *options, given=given)[1] > 0.9


def test_what_the_story_says_that_somebody_saw_counts_as_seen() -> None:
    sees = Observation(0, ANN, Fact("at", "plate", "fridge"))
    looked = went(walks("fridge"), opens("fridge"), sees, closes("fridge"), walks("bedroom"), init=THINGS[1:])
    assert posterior(looked, wants("plate"), wants("book"))[0] < 0.05


CANNOT: list[tuple[tuple[AnswerOption, ...], str]] = [
    ((AnswerOption((SocialGoal(ANN, "Bob", "help"),)),), "not about one person"),
    ((AnswerOption((Knows(ANN, "desk"),)),), "not about one person"),
    ((wants("plate"), AnswerOption((Goal("Bob", Fact("at", "book")),))), "not about one person"),
    ((AnswerOption((Goal(ANN),)),), "what the person wants"),
    ((thinks("plate", "living room"),), "there is no 'living room'"),
]


@pytest.mark.parametrize(("options", "message"), CANNOT)
def test_what_is_not_modelled_is_not_answered(options: tuple[AnswerOption, ...], message: str) -> None:
    with pytest.raises(CannotAnswerError, match=message):
        answer_goal(went(walks("fridge")), Question("?", options))
