"""Answers to questions about stories, in the terminal."""

from __future__ import annotations

import math
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from otherminds.errors import shortened
from otherminds.files.text import printable
from otherminds.stories.answering import StoryAnswer
from otherminds.stories.model import Event, Happening, Observation, Term, Utterance

BAR = 20  # characters of a bar for P = 1
LONGEST = 160  # characters of a text that was not read


def answer(story_answer: StoryAnswer) -> RenderableType:
    """The answer, the posterior as bars, the happenings that decided it, and how much of the story was read."""
    conclusion = story_answer.answer
    labels = _labels(story_answer)
    parts: list[RenderableType]
    if conclusion.option is None:
        parts = [
            Text(f"cannot tell: {printable(shortened(conclusion.abstained or '', 2 * LONGEST))}", style="bold yellow")
        ]
        if conclusion.leaning is not None:
            leaning = f"{letter(conclusion.leaning)}) {printable(labels[conclusion.leaning])}"
            parts.append(Text(f"If that changes nothing, it is {leaning}.", style="dim"))
        if story_answer.advice:
            parts.append(Text(f"{printable(story_answer.advice)}.", style="dim"))
    else:
        option = f"{letter(conclusion.option)}) {printable(labels[conclusion.option])}"
        parts = [Text.assemble("answer  ", (option, "bold green"), style="dim")]
    if story_answer.question is not None and conclusion.option is not None:
        table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
        for number, (label, p) in enumerate(zip(labels, conclusion.posterior, strict=True)):
            row = (f"{letter(number)})", printable(label), f"{p:.1%}", "█" * round(BAR * p))
            table.add_row(*(Text(cell, style="bold" if number == conclusion.option else "") for cell in row))
        if story_answer.question.polarity == "least":
            table.caption, table.caption_justify = "the least likely was asked for", "left"
        parts += [Text(), table]
    if conclusion.unless:
        doubt = f"It may be otherwise, as this was not read: {printable(shortened(conclusion.unless, LONGEST))}"
        parts += [Text(), Text(doubt, style="yellow")]
    if terms := conclusion.decisive():
        parts += [Text(), Text("because", style="dim")]
        only_together = len(terms) > 1 and not any(math.isfinite(term.weight) for term in terms)
        explanations = ("" if only_together else f" {_favours(term)}" for term in terms)
        parts += [
            Text.assemble(("  · ", "dim"), happening(t.happening), (why, "dim"))
            for t, why in zip(terms, explanations, strict=True)
        ]
        parts += [Text(f"Together these rule out every answer but {_best(terms[0])}.", style="dim")] * only_together
    if conclusion.passages:
        parts += [Text(), Text("because the story says", style="dim")]
        parts += [Text.assemble(("  · ", "dim"), printable(shortened(text, LONGEST))) for text in conclusion.passages]
    reading = story_answer.reading
    share_read = "All" if reading.coverage == 1.0 and not reading.unread else f"{reading.coverage:.0%}"
    coverage = f"{share_read} of the story was read"
    coverage += f"; not this: {printable(shortened(reading.unread[0], LONGEST))}" if reading.unread else "."
    parts += [Text(), Text(coverage, style="dim")]
    parts.append(Text())
    return Group(*parts)


def letter(number: int) -> str:
    """The label of an option: A to Z, then AA, AB, …"""
    return (letter(number // 26 - 1) if number >= 26 else "") + chr(ord("A") + number % 26)


def _labels(story_answer: StoryAnswer) -> tuple[str, ...]:
    """The options of the question in words: as it words them itself, or from what they claim."""
    question = story_answer.question
    if question is None:
        return ()
    return question.labels or tuple("; ".join(map(str, option.claims)) for option in question.options)


def _favours(term: Term) -> str:
    if not math.isfinite(term.weight):
        return f"That rules out every answer but {_best(term)}."
    return f"That speaks for {_best(term)}, with odds of up to {math.exp(min(term.weight, 60.0)):,.0f} to 1."


def _best(term: Term) -> str:
    """The label of the option that a happening speaks for."""
    return letter(max(range(len(term.log_probs)), key=lambda i: term.log_probs[i]))


def happening(occurrence: Happening) -> str:
    """A happening in a sentence, with its source and probability if it is uncertain."""
    match occurrence:
        case Event(agent=agent, verb=verb, obj=thing):
            where = _the(occurrence.place or occurrence.room)
            what = _the(thing) or "something"
            words = (
                f"{agent or 'Somebody'} "
                + {
                    "enter": f"enters {where}",
                    "leave": f"leaves {where}",
                    "walk": f"walks to {where}" if where else "walks",
                    "open": f"opens {where or what}",
                    "close": f"closes {where or what}",
                    "grab": f"takes {what}{f' from {where}' if where else ''}",
                    "put": f"puts {what} at {where}" if where else f"puts {what} down",
                    "move": f"moves {what}{f' to {where}' if where else ''}",
                    "look": f"looks at {where or what}",
                    "wait": "waits",
                }[verb].rstrip()
            )
        case Utterance(speaker=speaker, act=act, content=content):
            thing = _the(content.subject) if content else "it"
            place = f"at {_the(content.value)}" if content and content.value else "there"
            words = (
                f"{speaker} "
                + {
                    "ask": f"asks where {thing} is",
                    "assert": f"says that {thing} is {place}",
                    "deny": f"says that {thing} is not {place}",
                    "unsure": f"says not to know where {thing} is",
                    "silence": "does not answer",
                }[act]
            )
        case Observation(agent=agent, fact=fact, sees=sees):
            words = f"{agent or 'Somebody'} {'sees' if sees else 'does not notice'} that {_the(fact.subject)} is at "
            words += _the(fact.value)
    return printable(
        words + (f" ({occurrence.source}, with probability {occurrence.p:.2g})" if occurrence.p < 1.0 else "") + "."
    )


def _the(name: str | None) -> str:
    """A name as it stands in a sentence: things and places get an article, people do not."""
    return "" if not name else name if name[:1].isupper() else f"the {name}"


def as_data(story_answer: StoryAnswer) -> dict[str, Any]:
    """The answer as JSON data: the option in words and by number, its posterior, and what decides it."""
    conclusion = story_answer.answer
    labels = _labels(story_answer)
    return {
        "answer": None if conclusion.option is None else labels[conclusion.option],
        "option": conclusion.option,
        "posterior": [
            {"option": label, "p": p}
            for label, p in zip(labels or conclusion.posterior, conclusion.posterior, strict=True)
        ],
        "abstained": conclusion.abstained,
        "advice": story_answer.advice or None,
        "leaning": None if conclusion.leaning is None else labels[conclusion.leaning],
        "unless": conclusion.unless,
        "because": [*(happening(term.happening) for term in conclusion.decisive()), *conclusion.passages],
        "coverage": story_answer.reading.coverage,
        "unread": list(story_answer.reading.unread),
    }
