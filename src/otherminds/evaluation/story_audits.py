"""Audits of benchmark files: their labels beside the answers that follow from their stories."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import get_args

from otherminds.errors import InputError, unknown
from otherminds.evaluation.progress import shown
from otherminds.stories.answering import answer, missing
from otherminds.stories.audit import Audit, Judged, answer_item, audit
from otherminds.stories.beliefs.belief_files import Format, Item, read_items
from otherminds.stories.beliefs.percepts import answer_percept
from otherminds.stories.beliefs.perspectives import Conventions
from otherminds.stories.english.questions import read_question
from otherminds.stories.english.reading import read_story
from otherminds.stories.model import Answer, Episode
from otherminds.stories.mumatom_files import read_mumatom
from otherminds.stories.relevance import UNREAD, answer_over
from otherminds.worlds.household.agent import ANSWERING

MUMATOM = "mumatom"
LONG = 200  # items from which an audit shows its progress; chosen


def audited(path: Path, form: str | None = None) -> Audit:
    """An audit of the labels of a benchmark file, or of a MuMA-ToM folder; the format is detected if `form` is None.

    Rows that cannot be read are skipped, and listed as its faults. Raises InputError if the format is unknown, or if no
    row of the file has it.
    """
    formats = (*get_args(Format), MUMATOM)
    if form is not None and form not in formats:
        raise unknown("format", form, formats)
    if form == MUMATOM and path.is_file() and path.name != "questions.json":
        raise InputError("MuMA-ToM is a folder, or its questions.json", path=path)
    faults = list[InputError]()
    if form == MUMATOM or path.is_dir() or path.name == "questions.json":
        items = mumatom_items(path if path.is_dir() else path.parent, faults)
    else:
        items = read_items(path, form, faults)  # type: ignore[arg-type]
    result = audit(shown(items, len(items), "Auditing") if len(items) > LONG else items, answer=judge)
    return replace(result, faults=tuple(map(str, faults)))


def mumatom_items(folder: Path, faults: list[InputError] | None = None) -> tuple[Item, ...]:
    """All questions of a MuMA-ToM folder, with the full text as their story; faults as in `read_mumatom`."""
    return tuple(
        Item(
            f"{episode.id} Q{number}",
            episode.full,
            question.stem,
            question.options,
            question.options[question.gold],
            None,
            f"MuMA-ToM {question.kind}",
        )
        for episode in read_mumatom(folder, faults)
        for number, question in enumerate(episode.questions, 1)
    )


def judge(item: Item, conventions: Conventions) -> Judged:
    """The answer to an item of any benchmark. Raises Unread if the item cannot be read."""
    if item.group.startswith("BigToM") and "action" not in item.group:
        return Judged(answer_percept(item), item.options)
    if not item.options:
        return answer_item(item, conventions)
    reading = read_story(item.story)
    question = read_question(item.question, item.options, reading)
    if question.kind == "where":
        return answer_item(item, conventions)

    def answer_of(episode: Episode) -> Answer:
        return answer(episode, question, conventions, ANSWERING)

    inferred = answer_over(reading, question, answer_of)
    if question.polarity == "least":  # confidence in the least likely option: invert the odds
        inverted = [1.0 / max(p, 1e-12) for p in inferred.posterior]
        inferred = replace(inferred, posterior=tuple(p / sum(inverted) for p in inverted))
    unread_reason = inferred.abstained if (inferred.abstained or "").startswith(UNREAD) else None
    unread_reason = f"{UNREAD}: {inferred.unless}" if inferred.unless else unread_reason
    missing_fact = missing(reading, question) or unread_reason
    return Judged(inferred, item.options, (missing_fact,) if missing_fact else ())
