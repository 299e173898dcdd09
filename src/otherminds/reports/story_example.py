"""A story in a report: what was read of it, a question, the posterior over its answers, and what decides it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from otherminds.reports.page import Html, number, safe, stack, table
from otherminds.reports.terminal.stories import happening, letter
from otherminds.stories.answering import StoryAnswer
from otherminds.stories.model import Fact, Reading

OUTCOMES = {"fact": "How things are.", "no effect": "It changes nothing.", "unread": "Not read."}
"""What became of a clause that tells of no happening, and of no place at the start."""
RELATIONS = {"at": "is at", "in_room": "is in", "holds": "holds", "is": "is"}


def story_example(story_answer: StoryAnswer, question: str, options: Sequence[str]) -> Html:
    """The clauses of a story as they were read, the question, the probability of each answer, and what it rests on.

    A question that is not answered has the reason instead.
    """
    best, posterior = story_answer.answer.option, story_answer.answer.posterior
    story = table(("Story", "Read as"), _clauses(story_answer.reading), stacks=True)
    if best is None:
        return stack(story, Html(f"<p><strong>{safe(question)}</strong></p>"), f"Open: {story_answer.answer.abstained}")
    labelled = [f"{letter(i)}) {option}" for i, option in enumerate(options)]
    answers = [
        [Html(f"<strong>{safe(label)}</strong>") if i == best else label, number(p)]
        for i, (label, p) in enumerate(zip(labelled, posterior, strict=True))
    ]
    return stack(story, table((question, "Probability"), answers), _grounds(story_answer))


def _clauses(reading: Reading) -> Iterator[tuple[str, str]]:
    """Each clause with its happenings, from the time of the clause to that of the next, or the facts that it states."""
    ends = [*(clause.t for clause in reading.clauses[1:]), len(reading.episode.timeline)]
    for clause, end in zip(reading.clauses, ends, strict=False):  # a reading need not tell of its clauses
        sentences = [happening(event) for event in reading.episode.timeline[clause.t : end]]
        if clause.outcome == "fact":
            sentences += [_stated(fact) for fact in reading.episode.init if fact.subject in clause.text]
        yield clause.text, " ".join(sentences) or OUTCOMES.get(clause.outcome, clause.outcome)


def _stated(fact: Fact) -> str:
    """A fact in a sentence."""
    subject, value = (name if name[:1].isupper() else f"the {name}" for name in (fact.subject, fact.value or "unknown"))
    return f"{subject[:1].upper()}{subject[1:]} {RELATIONS[fact.predicate]} {value}."


def _grounds(story_answer: StoryAnswer) -> Html:
    """The decisive happenings with their probability under each answer, unless they are decisive only together."""
    terms = story_answer.answer.decisive()
    if not any(math.isfinite(term.weight) for term in terms):
        grounds = [[happening(term.happening)] for term in terms] or [[text] for text in story_answer.answer.passages]
        return stack(table(("The answer rests on",), grounds), "Together these leave no other answer possible.")
    head = ("The answer rests on", *(f"if {letter(i)}" for i in range(len(story_answer.answer.posterior))))
    likelihoods = ((happening(term.happening), *(number(math.exp(p)) for p in term.log_probs)) for term in terms)
    return stack(table(head, likelihoods), "These are how likely each happening is if that answer is right.")
