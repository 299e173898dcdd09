"""Nested beliefs in stories: where A thinks that B thinks an item is, and answers to questions about it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby
from typing import NamedTuple

from otherminds.distribution import IMPOSSIBLE
from otherminds.stories import model as stories
from otherminds.stories.beliefs.perspectives import EVERYDAY, REALITY, Conventions, item_and_place, sights
from otherminds.stories.homes import comes, find_rooms
from otherminds.worlds.household.nested_belief import NestedBelief

Chain = tuple[str, ...]  # the minds from the outermost inwards: "A thinks that B thinks" is ("A", "B"), reality ()


class Whereabouts(NamedTuple):
    """The claim that an item is at a place (or, with `so` false, is not) in the belief of a chain of minds.

    Without a place it is that the last of the minds knows the place: believes what the mind around it believes.
    """

    chain: Chain
    obj: str
    place: str | None
    so: bool = True


def believed_place(
    episode: stories.Episode, chain: Chain, obj: str, at: int | None = None, conventions: Conventions = EVERYDAY
) -> str | None:
    """Where an item is in the belief of a chain of minds: a place, or the agent that holds it; None if unknown to them.

    An agent's belief about its own belief is that belief.
    """
    mind = _mind(chain)
    for event, _ in sights(episode, conventions, at):
        mind = mind.observe(event)
    return _inmost(mind).place_of(obj)


def deciding(
    episode: stories.Episode, chain: Chain, obj: str, at: int | None = None, conventions: Conventions = EVERYDAY
) -> tuple[stories.Happening, ...]:
    """The happenings behind a belief of where an item is, in order: what set it and, if it is false, why it is false.

    A belief is false because of a move that the agent missed, and of the agent's departure before that, if it left.
    """
    mind, reality = _mind(chain), _mind(())
    set_by: stories.Happening | None = None
    missed: tuple[stories.Happening | None, ...] = ()
    for event, happening in sights(episode, conventions, at):
        next_mind, next_reality = mind.observe(event), reality.observe(event)
        if _inmost(next_mind).place_of(obj) != _inmost(mind).place_of(obj):
            set_by, missed = happening, ()
        elif next_reality.place_of(obj) != reality.place_of(obj):
            absent = [_departure(episode, agent, happening) for agent in chain if not event.reaches(agent)]
            missed = (*absent[:1], happening)
        mind, reality = next_mind, next_reality
    false = _inmost(mind).place_of(obj) != reality.place_of(obj)
    happenings = {h for h in (set_by, *(missed if false else ())) if h is not None}
    return tuple(sorted(happenings, key=episode.timeline.index))


def whereabouts(claim: stories.Claim) -> Whereabouts | None:
    """A claim about an item's place, in reality or in nested belief; None for other claims."""
    chain, is_so = list[str](), True
    inner: object = claim
    while isinstance(inner, stories.Belief):
        if not inner.holds and not is_so:
            return None
        chain.append(inner.agent)
        is_so = is_so and inner.holds
        inner = inner.content
    fact = inner.fact if isinstance(inner, stories.Holds) else inner
    obj, place = item_and_place(fact) if isinstance(fact, stories.Fact) else (None, None)
    return None if obj is None or (place is None and not chain) else Whereabouts(tuple(chain), obj, place, is_so)


def answer_where(
    episode: stories.Episode, question: stories.Question, conventions: Conventions = EVERYDAY
) -> stories.Answer:
    """The option that fits an item's place, in reality or in the nested belief it claims.

    Abstains, with a reason, if the question is about anything else, or none or several of the options fit.
    """
    parsed_options = [[whereabouts(claim) for claim in option.claims] for option in question.options]
    options = [[claim for claim in claims if claim is not None] for claims in parsed_options]
    if question.conditions or not options or options != parsed_options or not all(options):
        why = "the options do not all say where a thing is, or is thought to be"
        return stories.abstention(len(question.options), why)

    def believed(chain: Chain, obj: str) -> str | None:
        return believed_place(episode, chain, obj, question.at, conventions)

    claims = [claim for claims in options for claim in claims]
    # whoever has no idea does not know where it is, nor think that it is in some place
    knowing = {(claim.chain, claim.obj) for claim in claims if claim.place is None}
    yes_or_no = {(c.chain, c.obj) for c in claims if c.place and c._replace(so=not c.so) in claims}
    needed = {(claim.chain, claim.obj) for claim in claims} | {(chain[:-1], obj) for chain, obj in knowing}
    beliefs = {(chain, obj): believed(chain, obj) for chain, obj in needed}
    for (chain, obj), place in beliefs.items():
        if place is None and (chain, obj) not in knowing | yes_or_no:
            return stories.abstention(len(question.options), _ignorance(episode, chain, obj, question.at, conventions))
        if place != believed_place(_gone(episode), chain, obj, question.at, conventions):
            return stories.abstention(len(question.options), "it is not said where everybody goes")
    options = [[c._replace(place=c.place or beliefs[c.chain[:-1], c.obj]) for c in claims] for claims in options]
    # a room stands for each place in it that no option names
    rooms, offered = find_rooms(episode).of_place, {claim.place for claims in options for claim in claims}
    places = {key: place if place in offered else rooms.get(place or "") for key, place in beliefs.items()}
    fits = [all((places[c.chain, c.obj] == c.place) == c.so for c in claims) for claims in options]
    is_answer = [fit == (question.polarity == "most") for fit in fits]
    if sum(is_answer) != 1:
        places_believed = ", ".join(sorted({f"{obj}: {place}" for (_, obj), place in beliefs.items()}))
        why = f"{'several' if any(is_answer) else 'none'} of the options fit ({places_believed})"
        return stories.Answer(None, _posterior(fits), abstained=why)
    because = [h for chain, obj in sorted(beliefs) for h in deciding(episode, chain, obj, question.at, conventions)]
    certain = tuple(0.0 if fit else IMPOSSIBLE for fit in fits)  # the evidence of each deciding happening
    terms = tuple(stories.Term(happening.t, happening, certain) for happening in dict.fromkeys(because))
    return stories.Answer(is_answer.index(True), _posterior(fits), terms)


def _mind(chain: Chain) -> NestedBelief:
    """The outermost mind of a chain; an agent's belief about itself is its belief."""
    return NestedBelief.along(tuple(agent for agent, _ in groupby(chain)) or (REALITY,))


def _inmost(mind: NestedBelief) -> NestedBelief:
    return _inmost(mind.models[0]) if mind.models else mind


def _gone(episode: stories.Episode) -> stories.Episode:
    """The story with walks to an unstated place read as departures."""
    items = {fact.subject for fact in episode.init} | {event.obj for event in episode.events if event.verb != "walk"}

    def gone(event: stories.Happening) -> stories.Happening:
        if not isinstance(event, stories.Event) or event.verb != "walk" or event.room or event.place:
            return event
        return event if event.obj in items - {None} else replace(event, verb="leave")

    return replace(episode, timeline=tuple(map(gone, episode.timeline)))


def _departure(episode: stories.Episode, agent: str, before: stories.Happening | None) -> stories.Happening | None:
    """The agent's last movement before a happening; None if it never moved."""
    earlier = episode.timeline[: episode.timeline.index(before)] if before is not None else ()
    own = [event for event in earlier if isinstance(event, stories.Event) and event.agent == agent]
    return next((event for event in reversed(own) if event.verb == "leave" or comes(event)), None)


def _posterior(fits: Sequence[bool]) -> tuple[float, ...]:
    share = 1.0 / sum(fits) if any(fits) else 1.0 / max(1, len(fits))
    return tuple(share if fit or not any(fits) else 0.0 for fit in fits)


def _ignorance(episode: stories.Episode, chain: Chain, obj: str, at: int | None, conventions: Conventions) -> str:
    """Why the place of an item is unknown, in words: the outermost mind of the chain that has not seen it."""
    if believed_place(episode, (), obj, at, conventions) is None:
        return f"nothing tells the place of the {obj}"
    for end in range(1, len(chain) + 1):
        if believed_place(episode, chain[:end], obj, at, conventions) is None:
            outer = "".join(f"{agent} does not know that " for agent in chain[: end - 1])
            return f"{outer}{chain[end - 1]} has {'' if outer else 'not '}seen the place of the {obj}"
    raise AssertionError("the place is known")
