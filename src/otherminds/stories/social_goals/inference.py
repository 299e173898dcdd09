"""Social goal inference: the exact posterior over a companion's belief, stance, and belief about another's goal."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import cast

import numpy as np
from numpy.typing import NDArray

from otherminds.distribution import IMPOSSIBLE, log_sum_exp
from otherminds.stories import model as stories
from otherminds.stories.homes import home_of
from otherminds.stories.social_goals.evidence import Errands, Evidence, Factor, Roles, gather, log_p_of, together
from otherminds.worlds.household.agent import RESERVED, STANCES, SpeakingCosts, Stance, errands

TIE = 1e-6  # nats; options closer than this are tied
UNKNOWN_PLACE = "where it was"  # name of the item's place if the story does not state it

Floats = NDArray[np.float64]
Booleans = NDArray[np.bool_]


class CannotAnswerError(ValueError):
    """The question is about something that the inference does not model."""


@dataclass(frozen=True)
class ClaimConstraints:
    """The hypotheses that an option and the givens allow: pairs (T, b), stances, and places the other may want."""

    fits: Booleans
    stances: tuple[Stance, ...]
    wants: tuple[str | None, ...]


def answer_social(
    episode: stories.Episode, question: stories.Question, *, costs: SpeakingCosts = RESERVED, explain: bool = True
) -> stories.Answer:
    """P(option | given, story) for options about a companion's belief, social goal, or belief about another's goal.

    With a uniform prior over options, P(o | E) ∝ P(E | o, given), where planning minds explain all happenings E:

        P(E, o) = Σ_s P(s) [Σ_{T,b} P(T) P(b | T) Π p(act | T) Π p(reply | b, s)]
                           [Σ_g P(g) Σ_e P(e | s, g) Π p(act | e)].

    The enumeration is exact. Without `explain` the answer has no terms. Raises CannotAnswerError for claims about
    anything else. (MuMA-ToM, §4.)
    """
    roles = roles_of(episode, question)
    if question.at is not None:
        episode = replace(episode, timeline=tuple(h for h in episode.timeline if h.t <= question.at))
    home = home_of(episode, places_named(question))
    people = (roles.seeker, roles.companion, *(event.agent for event in question.presumes))
    agents = tuple(dict.fromkeys((*episode.agents, *(name for name in people if name is not None))))
    episode = replace(episode, agents=agents)
    evidence = gather(episode, home, roles, question.presumes, costs)
    cases = [_case(evidence, roles, (*question.conditions, *option.claims)) for option in question.options]
    sums = list(accumulate(evidence.factors, together))
    traces = [list(_trace(evidence, sums if explain else sums[-1:], roles, case)) for case in cases]
    scores = [trace[-1] for trace in traces]
    terms = tuple(
        stories.Term(factor.happening.t, factor.happening, tuple(trace[k + 1] - trace[k] for trace in traces))
        for k, factor in enumerate(evidence.factors if explain else ())
    )
    return choose(scores, question, terms)


def choose(scores: Sequence[float], question: stories.Question, terms: tuple[stories.Term, ...] = ()) -> stories.Answer:
    """The answer from log p(story | option), by the question's polarity; abstains if the best two options are tied."""
    total = log_sum_exp(scores)
    if not math.isfinite(total):
        return stories.Answer(None, (1.0 / len(scores),) * len(scores), terms, "no option can explain the story")
    posterior = tuple(math.exp(score - total) for score in scores)
    sign = 1.0 if question.polarity == "most" else -1.0
    order = sorted(range(len(scores)), key=lambda i: -sign * scores[i])
    if len(order) > 1 and abs(scores[order[0]] - scores[order[1]]) < TIE:
        tied = " and ".join(chr(65 + i) for i in sorted(order[:2]))
        return stories.Answer(None, posterior, terms, f"nothing in the story tells {tied} apart")
    return stories.Answer(order[0], posterior, terms)


def roles_of(episode: stories.Episode, question: stories.Question) -> Roles:
    """The item, seeker and companion of a question. Raises CannotAnswerError if item or companion is unclear."""
    claims = [claim for option in question.options for claim in option.claims] + list(question.conditions)
    about = [claim.agent for claim in claims if isinstance(claim, stories.Belief | stories.SocialGoal | stories.Knows)]
    companion = about[0] if about else None
    if companion is None or any(agent != companion for agent in about):
        raise CannotAnswerError("the options are not about one person's mind")
    other_agents = {*episode.agents} - {companion}
    questions = [u for u in episode.utterances if u.act == "ask" and u.content and u.speaker in other_agents]
    moved = [event.obj for event in question.presumes if event.obj is not None]
    mentioned = [fact.subject for claim in claims for fact in facts(claim)]
    if moved or not questions:
        things = moved or mentioned
        if not things:
            raise CannotAnswerError("no thing is at issue")
        return Roles(things[0], questions[0].speaker if questions else None, companion)
    assert questions[0].content is not None
    return Roles(questions[0].content.subject, questions[0].speaker, companion)


def facts(claim: stories.Claim) -> Iterator[stories.Fact]:
    """The facts about places and holders that a claim mentions, at any depth."""
    match claim:
        case stories.Holds(fact):
            yield fact
        case stories.Belief(_, content):
            yield from (content,) if isinstance(content, stories.Fact) else facts(content)
        case stories.Goal(_, stories.Fact(predicate="at") as content):
            yield content


def places_named(question: stories.Question) -> Iterator[str]:
    """The places that a question mentions, also in the events it presumes."""
    for claim in question.claims:
        if isinstance(claim, stories.Knows):
            yield claim.place
        yield from (fact.value for fact in facts(claim) if fact.predicate == "at" and fact.value is not None)
    yield from (event.place for event in question.presumes if event.place is not None)


def _case(evidence: Evidence, roles: Roles, claims: Iterable[stories.Claim]) -> ClaimConstraints:
    """The claims as constraints on the places T and beliefs b, the companion's stance, and what the seeker wants."""
    n = len(evidence.home.places)
    fits, stances = np.ones((n, n + 1), dtype=bool), STANCES
    wants: tuple[str | None, ...] = (None,)
    if roles.seeker is None:  # a seeker that asks for the item wants to have it; nothing more is known
        wants += tuple(place.name for place in evidence.home.places)
    for claim in claims:
        match claim:
            case stories.SocialGoal(kind=kind):
                stances = tuple(stance for stance in stances if stance == kind)
            case stories.Belief(content=stories.Goal(content=None), holds=holds):
                wants = (None,) if holds else tuple(goal for goal in wants if goal is not None)
            case stories.Belief(content=stories.Goal(content=stories.Fact(predicate="at", value=name)), holds=holds):
                if name is not None and name not in evidence.home.place:
                    raise CannotAnswerError(f"{name!r} is not a place to which a thing can be brought")
                goal_place = name or evidence.lies or UNKNOWN_PLACE
                wants = (goal_place,) if holds else tuple(goal for goal in wants if goal != goal_place)
            case _:
                fits &= _fits(evidence, roles, claim)
    return ClaimConstraints(fits, stances, wants)


def _fits(evidence: Evidence, roles: Roles, claim: stories.Claim) -> Booleans:
    """For which (T, b) a claim holds, shape (n, n + 1); all of them if the claim is about another item."""
    n, thing = len(evidence.home.places), roles.thing
    match claim:
        case stories.Knows(place=name):
            is_place = np.append(False, _is_at(evidence, name))
            return cast("Booleans", is_place[1 + evidence.truth][:, None] == is_place)
        case stories.Belief(content=stories.Fact(predicate="at", subject=subject, value=name), holds=holds):
            believed = np.append(False, _is_at(evidence, name)) == holds
            return np.broadcast_to(believed if subject == thing else True, (n, n + 1))
        case stories.Holds(fact=stories.Fact(predicate="at", subject=subject, value=name)) if subject == thing:
            is_true = np.append(False, _is_at(evidence, name))[1 + evidence.truth]
            return np.broadcast_to(is_true[:, None], (n, n + 1))
        case stories.Goal(content=stories.Fact(subject=subject, value=held)) if thing in (subject, held):
            return np.ones((n, n + 1), dtype=bool)
    raise CannotAnswerError(f"nothing is known of how to tell whether a {type(claim).__name__} holds here")


def _is_at(evidence: Evidence, name: str | None) -> Booleans:
    """Which places the name of a place or room stands for, shape (n,)."""
    return np.array([name in (place.name, place.room) for place in evidence.home.places])


def _trace(evidence: Evidence, sums: Sequence[Factor], roles: Roles, case: ClaimConstraints) -> Iterator[float]:
    """0 and then log P(happenings so far | case) for each cumulative sum of factors; the differences are the terms."""
    start = np.where(case.fits, evidence.prior, IMPOSSIBLE)
    prior = _log_sum(start) + math.log(max(len(case.stances), 1))
    if not (math.isfinite(prior) and case.stances and case.wants):
        raise CannotAnswerError("what is given cannot be so in this story")
    yield 0.0
    for factor in sums:
        weights = start + factor.places + factor.beliefs
        total = [
            _log_sum(weights + factor.replies[STANCES.index(stance)])
            + _log_p_acts(evidence, roles.thing, stance, case.wants, factor.errands)
            for stance in case.stances
        ]
        yield log_sum_exp(total) - prior


def _log_sum(table: Floats) -> float:
    top = float(table.max(initial=IMPOSSIBLE))
    return top if math.isinf(top) else top + math.log(float(np.exp(table - top).sum()))


def _log_p_acts(evidence: Evidence, thing: str, stance: Stance, wants: tuple[str | None, ...], done: Errands) -> float:
    """log Σ_g P(g) Σ_e P(e | stance, g) p(acts | e), with g uniform over `wants`."""
    if not done:
        return 0.0
    lies, total = evidence.lies or UNKNOWN_PLACE, 0.0
    for goal_place in wants:
        odds = errands(evidence.home, thing, lies, stance, goal_place)
        total += sum(p * math.exp(log_p_of(done, errand)) for errand, p in odds.items())
    return math.log(total / len(wants))
