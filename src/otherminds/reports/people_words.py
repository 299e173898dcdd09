"""What fits of minds to people say, in words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from otherminds.evaluation.choices import Choices
from otherminds.evaluation.fitting import Fit
from otherminds.evaluation.model_comparison import LEAST_EFFECT, Comparison, Power, Recovery
from otherminds.evaluation.populations import PROFILED, Fitted
from otherminds.evaluation.predictions import Score
from otherminds.evaluation.statistics import Estimate, ratio
from otherminds.reports.page import interval, number

FEW = 5  # people from which intervals over people say something; chosen
LEAST_AGREEMENT = 0.25  # share of searches that end at the best value below which a person is warned of, and
LOW_AGREEMENT = 0.5  # below which the median is; chosen
RECOVERED, ROUGHLY = 0.9, 0.7  # correlations from which a parameter is recovered, and roughly; usual
WIDE_ERROR = 0.5  # error in spreads of the true values from which there are too few choices; chosen
TRADED = 0.7  # correlation with another parameter from which the two trade off; chosen
BINS_OF_EVIDENCE = ((100.0, "extreme"), (30.0, "very strong"), (10.0, "strong"), (3.0, "moderate"))
"""Bayes factors from which there is so much evidence: Jeffreys (1961), in the words of Lee and Wagenmakers (2013)."""

PRIOR = "Minds are compared by fits with a weak prior, so these BIC are not those of `otherminds fit`, which has none."
RANDOM_EFFECTS = (
    "Shares and exceedance probabilities are those of random effects over people, in which each person has one of the "
    "minds. They were computed from the held-out log likelihoods, not from the evidence of all choices, by "
    "sampling the exact posterior of the shares."
)
REPLAYED = "replayed partners, who do not react: they make the moves of the data again"
NO_CHECK = (
    "Partners are replayed: they would not react to what simulated people do, so there is no check by simulated people."
)


def chance_of(choices: Choices) -> float:
    """The log probability of a choice by uniform play."""
    return -float(np.log(choices.games[0].shape[0]))


def against_chance(over: Estimate, chance: float) -> str:
    """Whether predictions with this log likelihood per choice are better than chance, in words."""
    if max(abs(end - chance) for end in over[:3]) < 1e-9:
        return "the same as chance"
    if over.n < FEW:
        return f"{'above' if over.value > chance else 'below'} chance, for too few people to say whether others are"
    if over.low > chance:
        return "better than chance"
    return "worse than chance" if over.high < chance else "not told apart from chance"


def held_out_in_words(over: Estimate, chance: float | None) -> str:
    """The log likelihood of what was held out, beside chance."""
    words = f"Held out: {interval(*over[:3], 3)} nats a choice"
    return f"{words}." if chance is None else f"{words}, chance {number(chance, 3)}: {against_chance(over, chance)}."


def search_in_words(fitted: Fitted) -> str:
    """A warning if searches for the best parameters ended at several values; empty if they mostly agreed."""
    agreement = fitted.fit.agreement
    noun = {"person": "people", "group": "groups"}.get(fitted.by, "fit")
    few = agreement[agreement < LEAST_AGREEMENT]
    middle = float(np.median(agreement)) if len(agreement) else 1.0
    may = "their maximum may not be the largest"
    if len(few):
        share = f"{np.median(few):.0%}".replace("%", " %")
        return f"For {len(few)} of {len(agreement)} {noun} only {share} of the searches ended at the best value: {may}."
    if middle < LOW_AGREEMENT:
        share = f"{middle:.0%}".replace("%", " %")
        return f"Only {share} of the searches ended at the best value (median over {noun}): {may}."
    return ""


def how_fitted(fit: Fit) -> str:
    """What the fits of `otherminds fit` are, in words: their BIC depends on it."""
    return "by maximum likelihood, without a prior" if np.isnan(fit.evidence).all() else "with partial pooling"


def how_bounded(fitted: Fitted) -> str:
    """From what the intervals of parameters are, in words."""
    is_free = np.isnan(fitted.fit.evidence).all()
    is_profiled = is_free and (fitted.by != "person" or len(fitted.fit.mind.parameters) <= PROFILED)
    if is_profiled:
        return "Intervals are 95 %, from the profile of the likelihood."
    return (
        "Intervals are 95 %, from the curvature at the maximum. There is none where the likelihood is flat, as with a "
        "value at a bound."
    )


def evidence_in_words(bayes_factor: float) -> str:
    """A Bayes factor in words, with the number."""
    in_favour = bayes_factor >= 1.0
    size = bayes_factor if in_favour else 1.0 / max(bayes_factor, 1e-300)
    shown = number(bayes_factor) if 0.01 <= bayes_factor < 1000 else "over 1,000" if in_favour else "below 0.01"
    word = next((word for least, word in BINS_OF_EVIDENCE if size >= least), "")
    if not word:
        return f"hardly any evidence ({shown})"
    return f"{word} evidence {'for' if in_favour else 'against'} ({shown})"


def recovered_in_words(recovery: Recovery) -> str:
    """Whether a parameter is recovered, and if not why."""
    if recovery.r >= RECOVERED:
        return "recovered"
    why = ["too few choices"] if recovery.error >= WIDE_ERROR else []
    why += [f"trades off with {recovery.rival}"] if recovery.rival and abs(recovery.rho) >= TRADED else []
    verdict = "roughly" if recovery.r >= ROUGHLY else "not recovered"
    return f"{verdict}: {', '.join(why)}" if why else verdict


def winner(comparison: Comparison) -> str:
    """Whether the mind that predicts best beats chance and is ahead of the next, in words."""
    scores = comparison.held_out.sum(axis=0)
    counted = comparison.held_out_choices.tolist()
    ranked = np.argsort(-scores, kind="stable")
    names = [comparison.minds[m].name for m in ranked]
    chance, over = chance_of(comparison.choices), comparison.per_choice()[ranked[0]]
    words = f"{names[0]} predicts {'best' if len(names) > 1 else 'this'}, {against_chance(over, chance)}. "
    if len(names) < 2:
        return words.strip()
    ahead = ratio((comparison.held_out[:, ranked[0]] - comparison.held_out[:, ranked[1]]).tolist(), counted)
    words += f"It is ahead of {names[1]} by {interval(*ahead[:3], 3)} nats a choice. "
    if len(counted) < FEW:
        return words + f"{len(counted)} people are too few to say whether that holds for others."
    sure = ahead.low > 0.0
    return words + ("Zero is outside the interval." if sure else "Zero is inside: these data do not tell them apart.")


def most_frequent(comparison: Comparison) -> str:
    """The mind with the largest share of people, and how sure that is, in words."""
    over = comparison.over()
    m = int(over.shares.argmax())
    return (
        f"{comparison.minds[m].name} has the largest expected share of people, {number(float(over.shares[m]))}: it is "
        f"the most frequent mind with probability {number(float(over.exceedance[m]))}, and with "
        f"{number(float(over.protected[m]))} if all may be as frequent."
    )


def power_in_words(power: Sequence[Power]) -> str:
    """What the shares of simulations in a table of power mean."""
    return (
        f"Effects are on the real line, as large as estimated, or {LEAST_EFFECT:g} if that is smaller. Each was "
        f"simulated {power[0].simulations} times, and so were people without effects. An effect is found if its 95 % "
        "interval excludes zero; without one that should happen in 5 %. Intervals should cover the true one in 95 %."
    )


def score_in_words(score: Score) -> str:
    """How well a mind that was fitted before predicts people, and how many of them it knew."""
    over = Estimate(score.per_choice, score.low, score.high, score.people)
    known = "all" if score.known == score.people else "none" if not score.known else f"{score.known}"
    others = (
        "" if score.known == score.people else "; the others are taken to be one of those who were, nobody knows who"
    )
    return (
        f"{score.mind} predicts {against_chance(over, score.chance)}: {interval(*over[:3], 3)} nats a choice, chance "
        f"{number(score.chance, 3)}. Of {score.people:,} people {known} had been fitted, or their groups{others}."
    )
