"""Reading a companion's mind against enumeration by brute force: every joint hypothesis, simulated from scratch."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
import pytest

from households import home_from, random_home
from otherminds.stories.homes import home_of
from otherminds.stories.model import (
    Answer,
    AnswerOption,
    Belief,
    Claim,
    Entity,
    Episode,
    Event,
    Fact,
    Goal,
    Happening,
    Holds,
    Knows,
    NextAction,
    Observation,
    Polarity,
    Question,
    SocialGoal,
    Utterance,
)
from otherminds.stories.social_goals.evidence import (
    ECHO,
    IGNORANT,
    ILLEGAL,
    KNOWING,
    MISPLACED,
    OVERLOOKED,
    SEEING,
    SLIP,
    UNTOLD,
    WANDERING,
)
from otherminds.stories.social_goals.inference import CannotAnswerError, answer_social, choose
from otherminds.worlds.household.agent import (
    ANSWERING,
    RESERVED,
    STANCES,
    SpeakingCosts,
    Stance,
    errands,
    reply,
    uniform_odds,
)
from otherminds.worlds.household.rules import WAIT, Act, Home, Household, Person, State
from otherminds.worlds.household.searcher import LAPSE, OVERLOOKS, Errand, Searcher, act_count

ANN, BOB, THING, OTHER = "Ann", "Bob", "apple", "pear"
UNKNOWN = "where it was"


# The oracle: one household for every place where the thing may have been, and nothing shared


class Course:
    """The story as it went if the thing was at `start`: a household with the thing in it and minds that see it."""

    def __init__(self, episode: Episode, home: Home, seeker: str | None, start: str, costs: SpeakingCosts) -> None:
        self.home, self.seeker, self.agents, self.costs = home, seeker, episode.agents, costs
        self.awaited, self.searching, self.claimed = False, True, set[str]()
        rooms = {fact.subject: fact.value for fact in episode.init if fact.predicate == "in_room"}
        others = [(f.subject, f.value) for f in episode.init if f.predicate == "at" and f.subject != THING]
        people = tuple((name, Person(rooms[name] or "")) for name in episode.agents)
        things = tuple((thing, place or "") for thing, place in others)
        self.state = State(people, (*things, (THING, start)))
        self.world = Household(home, episode.agents, self.state)
        self.minds = {
            name: Searcher(home, name, Errand(THING), uniform_odds(home), company=True) for name in episode.agents
        }
        self.moved: list[str] | None = None
        self.steps: list[Step] = []
        self.told: dict[int | None, tuple[float, float]] = {}
        self.spoken = False
        self.look()

    def look(self) -> None:
        self.minds = {name: mind.observe(self.world.observe(self.state, name)) for name, mind in self.minds.items()}

    def happen(self, agent: str, act: Act) -> None:
        """Let it happen as told: whoever is told to take the thing has it then, wherever it was."""
        if act.thing == THING and act.do in ("grab", "put"):
            people = [(name, person._replace(holds=person.holds - {THING})) for name, person in self.state.people]
            if act.do == "grab":
                people = [(n, p._replace(holds=p.holds | {THING}) if n == agent else p) for n, p in people]
            gone = act.do == "grab" or act.place is not None
            things = [pair for pair in self.state.things if pair[0] != THING or not gone]
            things += [(THING, act.place)] if act.do == "put" and act.place else []
            self.state = State(tuple(people), tuple(things), self.state.opened, ((agent, act),))
        else:
            self.state = self.world.act(self.state, agent, act)
        self.look()

    def beliefs(self) -> None:
        """What Bob believes now: with what he has seen, and had he seen nothing (−1: he has no idea)."""
        truth, n = self.state.where(THING), len(self.home.places)
        number = -1 if truth is None else self.home.number[truth]
        found, unseen = self.minds[BOB].item_place, self.minds[BOB].unseen
        blind = belief(n, number, None, (1 << n) - 1)
        seen = belief(n, number, None if found is None else self.home.number[found], unseen)
        self.told = {b: (seen[b], blind[b]) for b in blind}
        self.truth = truth

    def chance(self, happening: Happening, p: float, among: float | None = None) -> float:
        """What is told is so, or it was any of so many other things: acts, if not said otherwise."""
        return happening.p * p + (1.0 - happening.p) / (among or act_count(self.home))

    def event(self, event: Event) -> None:
        place = event.place if event.place in self.home.place else None
        room = self.home.place[place].room if place else event.room if event.room in self.home.rooms else None
        if event.agent not in self.agents:
            return
        for act in acts_told(event, place, room):
            source = None if event.verb == "move" and act.do == "grab" else room
            for step in self.before(event.agent, act, source):
                self.happen(event.agent, step)
            if act.do == "grab":
                self.grab(event, act, source)
            elif act.do == "put" and act.thing == THING and act.place is not None and event.agent == BOB:
                n = len(self.home.places)
                fits, other = self.chance(event, 1.0 - LAPSE, n), self.chance(event, LAPSE / act_count(self.home), n)
                self.steps.append(Step(event, deed=(act.place, fits, other)))
            elif act.do != "put" and event.agent == self.seeker and self.searching:
                self.steps.append(Step(event, fixed=self.chance(event, self.p(act))))
            self.happen(event.agent, act)
            if act.thing == THING and act.do == "grab":
                self.moved = []
            elif act.thing == THING and act.do == "put" and act.place is not None:
                self.moved = [act.place]

    def before(self, agent: str, act: Act, room: str | None) -> list[Act]:
        """Walking there, and opening what must be open."""
        if act.do == "walk" and act.place not in self.home.place:
            return []
        me, spot = self.state.person(agent), self.home.place.get(act.place or "")
        room = spot.room if spot else room
        steps = [Act("walk", None, room)] if room is not None and me.room != room else []
        if act.do == "walk" or spot is None:
            return steps
        steps += [Act("walk", None, spot.name)] if me.at != spot.name else []
        ajar = not spot.closes or spot.name in self.state.opened or act.do == "open"
        return steps if ajar else [*steps, Act("open", None, spot.name)]

    def grab(self, event: Event, act: Act, room: str | None) -> None:
        unnamed = act.thing is None and event.agent == self.seeker and self.awaited
        if act.thing != THING and not unnamed:
            return
        possible = [place.name for place in self.home.places] if self.moved is None else self.moved
        if not any(reached(self.home, place, act.place, room) for place in possible):
            return
        place, p = self.state.where(THING), 0.0
        if reached(self.home, place, act.place, room):
            spot = self.home.place[place or ""]
            p = UNTOLD if act.place is None and spot.closes and spot.name not in self.state.opened else 1.0
        elif event.source == "video" and place is not None and self.home.place[place].room == event.room:
            p = MISPLACED
        p *= 1.0 - OVERLOOKS if event.agent == self.seeker else 1.0
        echo = event.source == "video" and act.place in self.claimed
        among = 1.0 / ECHO if echo else len(self.home.places)
        self.steps.append(Step(event, fixed=self.chance(event, max(p, ILLEGAL), among)))
        self.awaited, self.searching = False, self.searching and not unnamed

    def p(self, act: Act) -> float:
        p = math.exp(self.minds[self.seeker or ""].act().log_prob(act))
        anywhere = 1.0 / (len(self.home.places) + len(self.home.rooms))
        return (1.0 - WANDERING) * p + WANDERING * anywhere if act.do == "walk" else p

    def utterance(self, said: Utterance) -> None:
        about = said.content.subject if said.content else THING if said.act == "silence" else None
        if about != THING or said.speaker not in self.agents:
            return
        value = said.content.value if said.content else None
        places = [place.name for place in self.home.places if value in (place.name, place.room)]
        kinds = {"unsure": [Act("unsure", THING)], "silence": [WAIT], "ask": [Act("ask", THING)], "deny": []}
        acts = [Act("tell", THING, place) for place in places] if said.act == "assert" else kinds[said.act]
        self.claimed |= set(places) if said.act == "assert" else set()
        if said.speaker == BOB and said.act != "ask":
            self.beliefs()
            self.spoken = True
            room = self.home.rooms.index(self.state.person(self.seeker or ANN).room)
            table: dict[tuple[int | None, Stance], float] = {}
            for b in (None, *range(len(self.home.places))):
                for s in STANCES:
                    p = math.fsum(reply(self.home, THING, b, s, room, self.costs)[act] for act in acts)
                    table[b, s] = self.chance(said, max(p, SLIP))
            self.steps.append(Step(said, reply=table))
        elif said.act == "ask" and said.speaker == self.seeker:
            self.steps.append(Step(said, fixed=self.chance(said, self.p(acts[0]))))
            self.awaited = True
        for act in acts[:1]:
            self.happen(said.speaker, act)

    def observation(self, seen: Observation) -> None:
        places = [place.name for place in self.home.places if seen.fact.value in (place.name, place.room)]
        if seen.fact.predicate != "at" or seen.fact.subject != THING or not places:
            return
        fits = (self.state.where(THING) in places) == seen.sees
        self.steps.append(Step(seen, fixed=self.chance(seen, 1.0 if fits else ILLEGAL, len(self.home.places))))
        if seen.agent in self.minds:
            mind = self.minds[seen.agent]
            unseen = {i for i in range(len(self.home.places)) if mind.unseen >> i & 1}
            unseen -= {self.home.number[place] for place in places}
            found = places[0] if seen.sees and len(places) == 1 else mind.item_place
            self.minds[seen.agent] = replace(mind, unseen=sum(1 << i for i in unseen), item_place=found)


class Step:
    """What one happening says: a number, a table over beliefs and stances, or an errand with its two chances."""

    def __init__(
        self,
        happening: Happening,
        fixed: float = 1.0,
        reply: Mapping[tuple[int | None, Stance], float] | None = None,
        deed: tuple[str, float, float] | None = None,
    ) -> None:
        self.happening, self.fixed, self.reply, self.deed = happening, fixed, reply, deed

    def p(self, b: int | None, s: Stance, e: Errand | None) -> float:
        if self.reply is not None:
            return self.reply[b, s]
        if self.deed is not None:
            place, fits, other = self.deed
            return fits if e == Errand(THING, place) else other
        return self.fixed


def belief(n: int, truth: int, found: int | None, unseen: int) -> dict[int | None, float]:
    """One believes what one saw; else one mostly knows, or has no idea, or is wrong, mostly not about places one has
    looked into."""
    if found is not None:
        odds: dict[int | None, float] = {b: SEEING if b == found else (1 - SEEING) / n for b in (None, *range(n))}
    else:
        wrong = (1.0 - KNOWING - IGNORANT) / max(n - 1, 1)
        odds = {None: IGNORANT}
        odds |= {b: (KNOWING if b == truth else wrong) * (1 if unseen >> b & 1 else OVERLOOKED) for b in range(n)}
    return {b: o / math.fsum(odds.values()) for b, o in odds.items()}


def acts_told(event: Event, place: str | None, room: str | None) -> list[Act]:
    if event.verb in ("walk", "enter", "leave"):
        to = place or (event.room if event.verb != "leave" else None)
        return [Act("walk", None, to)] if to else []
    if event.verb == "move":
        return [Act("grab", event.obj, None), Act("put", event.obj, place)]
    if event.verb == "grab" or event.verb == "put":
        return [Act(event.verb, event.obj, place)]
    return [Act(event.verb, None, place)] if place and (event.verb == "open" or event.verb == "close") else []


def reached(home: Home, place: str | None, at: str | None, room: str | None) -> bool:
    if place is None or at is not None:
        return place is not None and place == at
    return room is None or home.place[place].room == room


def lay(episode: Episode, presumed: Sequence[Event]) -> str:
    """Where the thing lay before Bob first brought it anywhere."""
    lies = next((f.value for f in episode.init if f.predicate == "at" and f.subject == THING), None)
    for told in (*episode.timeline, *presumed):
        if isinstance(told, Event) and told.obj == THING and told.verb in ("grab", "put", "move"):
            lies = (told.place if told.verb == "grab" else None) or lies
            if told.verb != "grab" and told.agent == BOB and told.place:
                break
            lies = told.place if told.verb != "grab" and told.place else lies
    return lies or UNKNOWN


def holds(claim: Claim, home: Home, truth: str | None, b: int | None, s: Stance, g: str | None) -> bool:
    """Whether a claim is so under one hypothesis."""

    def at(place: str | None, name: str | None) -> bool:
        return place is not None and name in (place, home.place[place].room)

    thought = None if b is None else home.places[b].name
    match claim:
        case SocialGoal(kind=kind):
            return s == kind
        case Knows(place=name):
            return at(truth, name) == at(thought, name)
        case Belief(content=Fact(value=name), holds=so):
            return at(thought, name) == so
        case Belief(content=Goal(content=wanted), holds=so):
            return (g == (wanted.value if wanted else None)) == so
        case Holds(fact=Fact(value=name)):
            return at(truth, name)
        case _:
            return True


def wants(claims: Sequence[Claim], home: Home, seeker: str | None) -> set[str | None]:
    """What Bob may take Ann to want: who asks wants to have the thing and no more, unless a claim says what it is."""
    meant = [claim.content.content for claim in claims if isinstance(claim, Belief) and isinstance(claim.content, Goal)]
    said = {None if goal is None else goal.value for goal in meant}
    return said | {None} if seeker is not None else {None, *(place.name for place in home.places)}


def brute(episode: Episode, question: Question, home: Home, costs: SpeakingCosts) -> list[float] | None:
    """P(story | option, given), summed over all (start T, belief b, stance s, wanted g, errand e); None if an option
    and what is given cannot both be so."""
    asks = [t for t in episode.timeline if isinstance(t, Utterance) and t.act == "ask" and t.speaker != BOB]
    seeker = asks[0].speaker if asks else None
    start = next((f.value for f in episode.init if f.predicate == "at" and f.subject == THING), None)
    lies, every = lay(episode, question.presumes), list[tuple[Course, float, int | None, Stance, str | None, float]]()
    for place in home.places:
        course = Course(episode, home, seeker, place.name, costs)
        for told in (*episode.timeline, *question.presumes):
            {"event": course.event, "utterance": course.utterance, "observation": course.observation}[told.type](told)  # type: ignore[operator]
        if not course.spoken:
            course.beliefs()
        first = 1.0 if start in (None, place.name) else ILLEGAL
        for b in course.told:
            for s in STANCES:
                for g in (None, *(spot.name for spot in home.places)):
                    table = errands(home, THING, lies, s, g)
                    like = math.fsum(p * math.prod(step.p(b, s, e) for step in course.steps) for e, p in table.items())
                    every.append((course, first, b, s, g, like))
    scores = []
    for option in question.options:
        claims = (*question.conditions, *option.claims)
        goals = wants(claims, home, seeker)
        kept = [h for h in every if h[4] in goals and all(holds(c, home, h[0].truth, h[2], h[3], h[4]) for c in claims)]
        prior = math.fsum(first * course.told[b][1] for course, first, b, _, _, _ in kept)
        if not prior:
            return None
        scores.append(math.fsum(f * course.told[b][0] * like for course, f, b, _, _, like in kept) / prior)
    return scores


# Small random stories


def entities(home: Home) -> tuple[Entity, ...]:
    spots = [Entity(place.name, "place", place.room, "in" if place.closes else "on") for place in home.places]
    people = [Entity(name, "agent") for name in (ANN, BOB)]
    return (*people, *(Entity(room, "room") for room in home.rooms), *spots, Entity(THING, "object"))


def timed(happenings: Sequence[Happening]) -> tuple[Happening, ...]:
    return tuple(replace(happening, t=t) for t, happening in enumerate(happenings))


def a_happening(rng: np.random.Generator, home: Home) -> Happening:
    place, room = str(rng.choice([spot.name for spot in home.places])), str(rng.choice(home.rooms))
    spot: str | None = place if rng.random() < 0.8 else None
    thing, who = THING if rng.random() < 0.6 else OTHER, str(rng.choice([ANN, ANN, BOB]))
    p, sure = float(rng.uniform(0.2, 1.0)), bool(rng.random() < 0.6)
    chance = 1.0 if sure else p
    draw = int(rng.integers(16))
    if draw < 3:
        return Event(0, who, "walk", place=place if rng.random() < 0.5 else None, room=room, p=chance)
    if draw < 5:
        return Event(0, who, "open" if rng.random() < 0.7 else "close", place=place, p=chance)
    if draw < 8:
        obj = None if rng.random() < 0.15 else thing
        by_video = rng.random() < 0.3
        at = room if spot is None or by_video else None
        return Event(0, who, "grab", obj, spot, room=at, p=chance, source="video" if by_video else "text")
    if draw < 10:
        return Event(0, who, "put" if rng.random() < 0.7 else "move", thing, spot, p=chance)
    if draw < 14:
        value = room if rng.random() < 0.2 else place
        kind = str(rng.choice(["ask", "assert", "assert", "assert", "unsure", "silence", "deny"]))
        content = None if kind == "silence" else Fact("at", thing, value if kind in ("assert", "deny") else None)
        return Utterance(0, ANN if kind == "ask" else BOB, kind, content, p=chance)  # type: ignore[arg-type]
    value = room if rng.random() < 0.15 else place
    return Observation(
        0, str(rng.choice([ANN, BOB, BOB, ""])), Fact("at", thing, value), bool(rng.random() < 0.6), chance
    )


def an_episode(rng: np.random.Generator, home: Home) -> Episode:
    told = [a_happening(rng, home) for _ in range(int(rng.integers(1, 6)))]
    if rng.random() < 0.7:
        told.insert(int(rng.integers(len(told) + 1)), Utterance(0, ANN, "ask", Fact("at", THING)))
    spots = [place.name for place in home.places]
    init = [Fact("in_room", name, str(rng.choice(home.rooms))) for name in (ANN, BOB)]
    init += [Fact("at", THING, str(rng.choice(spots)))] if rng.random() < 0.3 else []
    init += [Fact("at", OTHER, str(rng.choice(spots)))] if rng.random() < 0.5 else []
    return Episode("random", (ANN, BOB), entities(home), tuple(init), timed(told), complete=True)


def a_question(rng: np.random.Generator, home: Home, asked: bool) -> Question:
    spots = [place.name for place in home.places]
    name = str(rng.choice([*spots, *home.rooms]))
    stance = SocialGoal(BOB, ANN, STANCES[int(rng.integers(3))])
    presumes = (Event(0, BOB, "put", THING, str(rng.choice(spots))),) if rng.random() < 0.2 else ()
    believed: list[Claim] = [Belief(BOB, Fact("at", THING, spot), bool(rng.random() < 0.7)) for spot in spots]
    thing: tuple[Claim, ...] = () if asked or presumes else (Goal(ANN, Fact("at", THING)),)
    givens: list[tuple[Claim, ...]] = [
        (), (Knows(BOB, name),), (Holds(Fact("at", THING, name)),), (believed[0],), (Goal(ANN, Fact("at", THING)),),
    ]  # fmt: skip
    given, kind = (*thing, *givens[int(rng.integers(5))]), int(rng.integers(3))
    if kind == 0:
        options = [AnswerOption((SocialGoal(BOB, ANN, s),)) for s in STANCES]
    elif kind == 1:
        given = (*given, stance) if rng.random() < 0.6 else given
        options = [AnswerOption((one,)) for one in (*believed, Belief(BOB, Fact("at", THING, name)))]
    else:
        goals = [None, *(Fact("at", THING, spot) for spot in spots)]
        minds = [Belief(BOB, Goal(ANN, goal), bool(rng.random() < 0.8)) for goal in goals]
        options = [AnswerOption((mind, SocialGoal(BOB, ANN, STANCES[int(rng.integers(3))]))) for mind in minds]
    polarity: Polarity = "most" if rng.random() < 0.5 else "least"
    return Question("?", tuple(options), polarity, given, presumes)


def random_cases(n: int) -> Iterator[tuple[Episode, Question, Home]]:
    for rng in np.random.default_rng(7).spawn(n):
        home = random_home(rng)
        episode = an_episode(rng, home)
        asks = [told for told in episode.timeline if isinstance(told, Utterance) and told.act == "ask"]
        asked = bool(asks) and asks[0].content == Fact("at", THING)
        if not asked:
            episode = replace(episode, timeline=timed([told for told in episode.timeline if told not in asks]))
        yield episode, a_question(rng, home, asked), home


def answered(episode: Episode, question: Question, costs: SpeakingCosts) -> Answer | None:
    try:
        return answer_social(episode, question, costs=costs)
    except CannotAnswerError:
        return None


@pytest.mark.slow
def test_posteriors_of_two_hundred_stories_are_those_of_enumerating_all_there_is() -> None:
    impossible = told = 0
    for episode, question, home in random_cases(200):
        assert home_of(episode).places == home.places
        costs = ANSWERING if question.polarity == "least" else RESERVED
        expected, answer = brute(episode, question, home, costs), answered(episode, question, costs)
        if expected is None or answer is None:
            assert expected is None
            assert answer is None
            impossible += 1
            continue
        scores, total = expected, math.fsum(expected)
        expected = [score / total for score in scores]
        assert answer.posterior == pytest.approx(expected, rel=1e-9, abs=1e-15), (episode, question)
        told += max(expected) - min(expected) > 0.05
        check_choice(answer, expected, question.polarity)
        check_terms(episode, question, answer, costs, scores)
    assert impossible < 33
    assert told > 80


def check_choice(answer: Answer, expected: list[float], polarity: Polarity) -> None:
    order = sorted(expected, reverse=polarity == "most")
    if answer.option is None:
        assert order[0] == pytest.approx(order[1], rel=1e-5)
        assert answer.abstained is not None
    else:
        assert expected[answer.option] == pytest.approx(order[0])


def check_terms(
    episode: Episode, question: Question, answer: Answer, costs: SpeakingCosts, scores: Sequence[float]
) -> None:
    """The terms add up to what the story says about each option, and without them the answer is the same."""
    sums = [math.fsum(term.log_probs[i] for term in answer.terms) for i in range(len(question.options))]
    assert sums == pytest.approx([math.log(score) for score in scores], rel=1e-10, abs=1e-10)
    assert {term.happening for term in answer.terms} <= {*episode.timeline, *question.presumes}
    assert all(term.t == term.happening.t for term in answer.terms)
    plain = answer_social(episode, question, costs=costs, explain=False)
    assert plain.posterior == pytest.approx(answer.posterior)
    assert (plain.option, plain.terms) == (answer.option, ())


# Stories written by hand

HOME = home_from("kitchen: +fridge, +stove | bedroom: desk, +drawer | bathroom: shelf, +cabinet")
STARTS = (Fact("in_room", ANN, "kitchen"), Fact("in_room", BOB, "bathroom"))
SOCIAL = tuple(AnswerOption((SocialGoal(BOB, ANN, stance),)) for stance in STANCES)
ASKS = Utterance(0, ANN, "ask", Fact("at", THING))


def story(*told: Happening, init: tuple[Fact, ...] = ()) -> Episode:
    return Episode("hand", (ANN, BOB), entities(HOME), STARTS + init, timed(told), complete=True)


def says(place: str) -> Utterance:
    return Utterance(0, BOB, "assert", Fact("at", THING, place))


def brings(to: str, *, source: str = "fridge") -> tuple[Event, Event]:
    return Event(0, BOB, "grab", THING, source), Event(0, BOB, "put", THING, to)


def taken(place: str) -> Event:
    return Event(0, ANN, "grab", THING, place)


def wanted(place: str | None, stance: Stance = "help", *, so: bool = True) -> AnswerOption:
    content = None if place is None else Fact("at", THING, place)
    return AnswerOption((Belief(BOB, Goal(ANN, content), so), SocialGoal(BOB, ANN, stance)))


def posterior(episode: Episode, options: tuple[AnswerOption, ...], *given: Claim, **more: int) -> tuple[float, ...]:
    return answer_social(episode, Question("?", options, conditions=given, **more)).posterior  # type: ignore[arg-type]


def thinks(place: str, so: bool = True) -> AnswerOption:
    return AnswerOption((Belief(BOB, Fact("at", THING, place), so),))


def test_who_knows_and_tells_the_truth_helps_and_who_knows_and_lies_hinders() -> None:
    helped = posterior(story(ASKS, says("drawer"), taken("drawer")), SOCIAL, Knows(BOB, "drawer"))
    misled = posterior(story(ASKS, says("drawer"), taken("fridge")), SOCIAL, Knows(BOB, "drawer"))
    assert helped[0] == max(helped)
    assert helped[1] == min(helped)
    assert misled[1] == max(misled)
    assert misled[0] == min(misled)


def test_a_helper_believes_what_it_says_and_a_hinderer_anything_else() -> None:
    options = (thinks("drawer"), thinks("fridge"), thinks("cabinet"))
    honest = posterior(story(ASKS, says("drawer")), options, SocialGoal(BOB, ANN, "help"))
    lying = posterior(story(ASKS, says("drawer")), options, SocialGoal(BOB, ANN, "hinder"))
    assert honest[0] > 0.9
    assert lying[0] < 0.1


def test_who_has_seen_the_thing_believes_it_there_and_not_where_it_has_seen_nothing() -> None:
    options = (thinks("drawer"), thinks("fridge"), thinks("cabinet"))
    for seen, place in ((True, 0), (False, 0), (True, 1)):
        look = Observation(0, BOB, Fact("at", THING, ("drawer", "fridge")[place]), seen)
        found = posterior(story(look), options)
        assert (found[place] > 0.9) if seen else (found[place] == min(found) < 0.2)
    opened = Event(0, BOB, "open", place="drawer")
    assert posterior(story(opened, init=(Fact("at", THING, "drawer"),)), options)[0] > 0.9
    assert posterior(story(opened, init=(Fact("at", THING, "cabinet"),)), options)[0] < 0.1


def test_who_brings_it_somewhere_to_help_takes_it_to_be_wanted_there_and_to_hinder_anywhere_else() -> None:
    moved = story(*brings("desk"))
    assert posterior(moved, (wanted("desk"), wanted("stove"), wanted("cabinet")))[0] > 0.9
    options = tuple(wanted(place, "hinder") for place in ("fridge", "desk", "stove"))
    away = posterior(moved, options)
    assert away[0] > 0.9
    assert away[1] == min(away)


def test_the_first_place_is_the_one_a_hinderer_takes_it_from_whatever_becomes_of_it_later() -> None:
    options = (wanted("desk"), wanted("fridge", "hinder"), wanted(None, "independent"))
    moved = posterior(story(*brings("desk")), options)
    assert posterior(story(*brings("desk"), taken("desk")), options) == pytest.approx(moved)
    later = story(*brings("desk"), taken("desk"), Event(0, ANN, "put", THING, "stove"))
    assert posterior(later, options) == pytest.approx(moved)


def test_not_to_believe_something_is_the_opposite_of_believing_it() -> None:
    moved = story(*brings("desk"))
    yes, no = posterior(moved, (wanted("desk"), wanted("desk", so=False)))
    assert yes > 0.9 > no
    seeking = Goal(ANN, Fact("at", THING))
    yes, no = posterior(moved, (wanted(None, "independent"), wanted(None, "independent", so=False)), seeking)
    assert yes == pytest.approx(no)  # who does not care moves it for no reason, whatever it believes
    yes, no = posterior(story(ASKS, says("drawer")), (thinks("drawer"), thinks("drawer", False)))
    assert yes > 0.5 > no


def test_saying_or_seeing_a_thing_twice_is_no_more_evidence_of_what_it_has_seen() -> None:
    look = Observation(0, BOB, Fact("at", THING, "drawer"), False)
    denies = Utterance(0, BOB, "deny", Fact("at", THING, "stove"))
    options = (thinks("drawer"), thinks("fridge"), thinks("cabinet"))
    once = posterior(story(look, denies), options)
    assert posterior(story(look, denies, denies), options) == pytest.approx(once)


def test_silence_about_something_else_is_no_answer() -> None:
    other = (Utterance(0, ANN, "ask", Fact("at", OTHER)), Utterance(0, BOB, "silence", Fact("at", OTHER)))
    assert posterior(story(ASKS, *other), SOCIAL) == pytest.approx((1 / 3,) * 3)
    assert posterior(story(ASKS, Utterance(0, BOB, "silence")), SOCIAL)[2] > 0.5


def test_what_is_moved_may_have_been_anywhere() -> None:
    moved = story(Event(0, ANN, "move", THING, "desk"), init=(Fact("at", THING, "shelf"),))
    first = answer_social(moved, Question("?", (thinks("fridge"), thinks("drawer")))).terms[0]
    assert min(first.log_probs) > math.log(1e-3)


def test_only_what_came_before_the_question_counts() -> None:
    whole = story(ASKS, says("drawer"), taken("fridge"))
    short = story(ASKS, says("drawer"))
    assert posterior(whole, SOCIAL, Knows(BOB, "drawer"), at=1) == posterior(short, SOCIAL, Knows(BOB, "drawer"))
    assert posterior(whole, SOCIAL, Knows(BOB, "drawer"), at=2) == posterior(whole, SOCIAL, Knows(BOB, "drawer"))


def test_what_the_question_presumes_counts_as_the_end_of_the_story() -> None:
    options = (wanted("desk"), wanted("desk", "hinder"), wanted(None, "independent"))
    grab, put = brings("desk")
    presumed = Question("?", options, presumes=(put,))
    assert answer_social(story(grab), presumed).posterior == pytest.approx(posterior(story(grab, put), options))


def test_a_room_stands_for_all_its_places() -> None:
    rooms = posterior(story(ASKS, says("drawer")), (thinks("bedroom"), thinks("kitchen")))
    places = posterior(
        story(ASKS, says("drawer")), (thinks("desk"), thinks("drawer"), thinks("fridge"), thinks("stove"))
    )
    assert rooms[0] > 0.5
    assert rooms[0] < max(places) + 0.5
    assert posterior(story(ASKS, says("bedroom")), (thinks("bedroom"), thinks("kitchen")))[0] > 0.5


def test_that_somebody_looks_for_the_thing_may_be_given_in_any_words() -> None:
    told = story(ASKS, says("drawer"))
    plain = posterior(told, SOCIAL)
    for goal in (Fact("at", THING), Fact("holds", ANN, THING)):
        assert posterior(told, SOCIAL, Goal(ANN, goal)) == plain


CANNOT: list[tuple[tuple[AnswerOption, ...], tuple[Claim, ...], str]] = [
    ((), (), "not about one person's mind"),
    ((AnswerOption((Holds(Fact("at", THING, "desk")),)),), (), "not about one person's mind"),
    ((*SOCIAL, AnswerOption((SocialGoal(ANN, BOB, "help"),))), (), "not about one person's mind"),
    (SOCIAL, (SocialGoal(BOB, ANN, "help"),), "cannot be so"),
    (SOCIAL, (Belief(BOB, Fact("at", THING, "desk")), Belief(BOB, Fact("at", THING, "stove"))), "cannot be so"),
    (SOCIAL, (Belief(BOB, Fact("at", THING, "kitchen")), Belief(BOB, Fact("at", THING, "desk"))), "cannot be so"),
    ((AnswerOption((Belief(BOB, Belief(ANN, Fact("at", THING, "desk"))),)),), (), "a Belief holds"),
    ((AnswerOption((Belief(BOB, Fact("is", THING, "red")),)),), (), "a Belief holds"),
    ((*SOCIAL, AnswerOption((NextAction(taken("desk")),))), (), "a NextAction holds"),
    ((wanted("kitchen"), wanted("desk")), (), "is not a place"),
]  # fmt: skip


@pytest.mark.parametrize(("options", "given", "message"), CANNOT)
def test_what_is_not_modelled_is_not_answered(
    options: tuple[AnswerOption, ...], given: tuple[Claim, ...], message: str
) -> None:
    with pytest.raises(CannotAnswerError, match=message):
        answer_social(story(ASKS, says("drawer")), Question("?", options, conditions=given))


def test_without_a_thing_at_issue_nothing_is_answered() -> None:
    with pytest.raises(CannotAnswerError, match="no thing is at issue"):
        answer_social(story(Event(0, ANN, "walk", room="bedroom")), Question("?", SOCIAL))


def test_a_story_that_names_no_place_plays_in_a_home_with_the_usual_furniture() -> None:
    bare = Episode("bare", (ANN, BOB), timeline=timed((ASKS, says("kitchen fridge"))))
    answer = answer_social(bare, Question("?", SOCIAL))
    assert math.fsum(answer.posterior) == pytest.approx(1.0)
    assert len(home_of(bare).places) > 10


def test_the_likeliest_or_the_least_likely_is_chosen_and_of_two_alike_neither() -> None:
    most, least = (Question("?", SOCIAL, polarity) for polarity in ("most", "least"))
    scores = [math.log(p) for p in (0.02, 0.05, 0.03)]
    assert choose(scores, most).option == 1
    assert choose(scores, least).option == 0
    assert choose(scores, most).posterior == pytest.approx((0.2, 0.5, 0.3))
    tied = choose([math.log(p) for p in (0.05, 0.05, 0.03)], most)
    assert (tied.option, tied.abstained) == (None, "nothing in the story tells A and B apart")
    assert choose([math.log(p) for p in (0.05, 0.05, 0.03)], least).option == 2
    nothing = choose([-math.inf] * 3, most)
    assert (nothing.option, nothing.posterior) == (None, (1 / 3,) * 3)
    assert choose([-math.inf, 0.0, -1.0], most).option == 1


def test_what_somebody_believes_is_explained_by_what_they_have_seen() -> None:
    look = Observation(0, BOB, Fact("at", THING, "drawer"))
    answer = answer_social(story(look, ASKS, says("stove")), Question("?", (thinks("drawer"), thinks("stove"))))
    assert answer.option == 0
    assert answer.decisive(1)[0].happening == replace(look, t=0)


def test_what_decides_is_named_first() -> None:
    told = story(ASKS, says("drawer"), Event(0, ANN, "walk", room="bedroom"), taken("fridge"))
    answer = answer_social(told, Question("?", SOCIAL, conditions=(Knows(BOB, "drawer"),)))
    first = answer.decisive(1)[0]
    assert first.weight == max(term.weight for term in answer.terms)
    assert first.t in (1, 3)
    assert all(term.weight > 0.01 for term in answer.decisive(10))
