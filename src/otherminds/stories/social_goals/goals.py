"""Goal inference from movement: what a person in a home searches for, and where they believe it is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from otherminds.distribution import IMPOSSIBLE
from otherminds.observer import Observer
from otherminds.stories import model as stories
from otherminds.stories.homes import acts_of_event, home_of, opening_of, room_of, steps_before
from otherminds.stories.social_goals.inference import CannotAnswerError, choose, places_named
from otherminds.worlds.household.agent import uniform_odds
from otherminds.worlds.household.rules import Act, Home, Household, HouseholdView, Person
from otherminds.worlds.household.searcher import TRUST, Errand, Searcher, odds_after_hearing

UNDECIDED = 0.5  # probability that a searcher has no belief about a place; chosen
SWITCH_RATE = 0.1  # probability, at each act, that it forms its belief anew; chosen
DOUBT = 0.02  # relative weight of a place where the person believes the item is not; chosen, not tuned


def answer_goal(episode: stories.Episode, question: stories.Question) -> stories.Answer:
    """Posterior over options about one person's goal, or about where they believe the item they want is.

    One `Searcher` per option, watched by one `Observer`: P(o | a₁ … aₜ) ∝ Π π(aₖ | o, what the person has seen). If the
    options are beliefs about one item, what is asked is the belief before the last act, which may have changed: see
    `_searching`. Acts the story leaves out (walking there, opening the container) update the minds but are not scored.

    Raises CannotAnswerError for claims about anything else. (Inverse planning for the questions of MMToM-QA.)
    """
    home = home_of(episode, places_named(question))
    names = {claim.agent for claim in question.claims if isinstance(claim, stories.Goal | stories.Belief)}
    if len(names) != 1:
        raise CannotAnswerError("the options are not about one person's goal or belief")
    name = names.pop()
    walk, n = _Walk(episode, home, name), len(question.options)
    minds = [_mind(home, name, question, option) for option in question.options]
    of_beliefs = all(isinstance(claim, stories.Belief) for option in question.options for claim in option.claims)
    of_beliefs &= len({mind.errand for mind in minds}) == 1
    before = observer = (_searching(minds) if of_beliefs else Observer.over(minds)).see(walk.view())
    terms = []
    for event in episode.timeline:
        if question.at is not None and event.t > question.at:
            break
        if isinstance(event, stories.Observation) and event.agent == name:
            observer = observer.see(walk.shown(event))
        if not isinstance(event, stories.Event) or event.agent != name:
            continue
        for act, told_of in walk.acts(event):
            if not told_of:
                observer = observer.see(walk.view())
                continue
            terms.append(stories.Term(event.t, event, tuple(mind.act().log_prob(act) for mind in observer.minds[:n])))
            before, observer = observer, observer.watch(act, walk.view())
    # what the last act shows, such as what is in a place that they are about to open, people do not know yet
    log_weights = [
        w if not of_beliefs or _may_believe(mind, option) else IMPOSSIBLE
        for mind, w, option in zip(before.minds, observer.weights, question.options, strict=False)
    ]
    return choose(log_weights, question, tuple(terms))


def _searching(minds: Sequence[Searcher]) -> Observer[Searcher]:
    """An observer of somebody who thinks one of these things of where an item is, or nothing, and may think anew.

    Who has searched one place looks next where they then believe it. So what they believe at the end is not what they
    believed at first: with the probability SWITCH_RATE at each act they form their belief anew.
    """
    undecided = replace(minds[0], odds=uniform_odds(minds[0].home))
    prior = [(1.0 - UNDECIDED) / len(minds)] * len(minds) + [UNDECIDED]
    return Observer.over([*minds, undecided], prior, switch_rate=SWITCH_RATE)


def _may_believe(mind: Searcher, option: stories.AnswerOption) -> bool:
    """Whether somebody who has seen what the mind has may believe what an option claims of where the item is."""
    for claim in option.claims:
        if not isinstance(claim, stories.Belief) or not isinstance(claim.content, stories.Fact):
            continue
        meant = _meant(mind.home, claim.content.value)
        searched = all(not mind.unseen >> i & 1 for i in meant)
        seen_there = any(mind.home.places[i].name == mind.item_place for i in meant)
        if (seen_there and not claim.holds) or (
            claim.holds and not seen_there and (searched or mind.item_place is not None)
        ):
            return False
    return True


class _Walk:
    """One person's acts in the home, in order, with the acts that the story leaves out."""

    def __init__(self, episode: stories.Episode, home: Home, name: str) -> None:
        self.home, self.name, self.state = home, name, opening_of(episode, home)
        if name not in dict(self.state.people):
            self.state = self.state._replace(people=(*self.state.people, (name, Person(home.rooms[0]))))
        self.world = Household(home, (name,), self.state)

    def view(self) -> HouseholdView:
        """The person's current observation."""
        return self.world.observe(self.state, self.name)

    def shown(self, observation: stories.Observation) -> HouseholdView:
        """The person's observation after the story says that they see (or do not see) an item; updates the state."""
        thing, place = observation.fact.subject, observation.fact.value
        if observation.fact.predicate == "at" and place is not None and place in self.home.place:
            remaining = tuple(pair for pair in self.state.things if pair != (thing, place))
            self.state = self.state._replace(things=(*remaining, (thing, place)) if observation.sees else remaining)
            view = self.view()
            things = frozenset(pair for pair in self.state.things if pair[1] in view.places or pair[1] == place)
            return view._replace(places=view.places | {place}, things=things)
        return self.view()

    def acts(self, event: stories.Event) -> Iterable[tuple[Act, bool]]:
        """Pairs (act, told): the acts of an event (True), each after the acts it requires (False). All are applied."""
        if event.verb == "walk" and event.place is None and event.obj is not None:
            event = replace(event, place=self._place_of(event.obj))
        for act in acts_of_event(event, self.home):
            if act.do == "grab" and act.place is None and act.thing is not None:
                act = act._replace(place=self._place_of(act.thing))
            me, opened = self.state.person(self.name), self.state.opened
            for step in (*steps_before(self.home, me, opened, act, room_of(self.home, event)), act):
                self.state = self.world.act(self.state, self.name, step)
                yield step, step is act

    def _place_of(self, thing: str) -> str | None:
        """Where the item is: at the person's place if possible, else in their room, else anywhere."""
        me = self.state.person(self.name)
        places = [place for item, place in self.state.things if item == thing]
        nearby = [place for place in places if self.home.place[place].room == me.room]
        return me.at if me.at in nearby else next(iter(nearby or places), None)


def _mind(home: Home, name: str, question: stories.Question, option: stories.AnswerOption) -> Searcher:
    """The searcher with the goal and belief claimed by an option and the givens."""
    claims: tuple[stories.Claim, ...] = (*question.conditions, *option.claims)
    wants = [claim.content for claim in claims if isinstance(claim, stories.Goal) and claim.content is not None]
    beliefs = [claim for claim in claims if isinstance(claim, stories.Belief)]
    believed = [(claim.content, claim.holds) for claim in beliefs if isinstance(claim.content, stories.Fact)]
    things = [fact.value or "" if fact.predicate == "holds" else fact.subject for fact in wants]
    things = things or [fact.subject for fact, _ in believed]
    if not things:
        raise CannotAnswerError("no option says what the person wants")
    to = next((fact.value for fact in wants if fact.predicate == "at" and fact.value in home.place), None)
    odds = uniform_odds(home)
    for fact, holds in believed:
        if fact.subject == things[0]:
            odds = _believing(home, odds, fact.value, holds)
    return Searcher(home, name, Errand(things[0], to), odds)


def _believing(home: Home, odds: tuple[float, ...], place_name: str | None, holds: bool) -> tuple[float, ...]:
    """The odds over places updated by the belief that the item is (or, with `holds` false, is not) at `where`."""
    meant = _meant(home, place_name)
    if holds and len(meant) == 1:
        return odds_after_hearing(odds, meant[0], TRUST)
    return tuple(o if (i in meant) == holds else o * DOUBT for i, o in enumerate(odds))


def _meant(home: Home, place_name: str | None) -> list[int]:
    """The places that a claim means by their name or room. Raises CannotAnswerError if there are none."""
    meant = [i for i, place in enumerate(home.places) if place_name in (place.name, place.room)]
    if not meant:
        raise CannotAnswerError(f"there is no {place_name!r} in the story")
    return meant
