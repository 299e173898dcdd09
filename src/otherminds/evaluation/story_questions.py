"""Questions about story files, and audits of benchmark files."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import get_args

from otherminds.errors import InputError, unknown
from otherminds.evaluation.progress import shown
from otherminds.language.find import find_model
from otherminds.stories.answering import StoryAnswer, answer, ask, missing
from otherminds.stories.audit import Audit, Judged, answer_item, audit
from otherminds.stories.beliefs.belief_files import Format, Item, read_items
from otherminds.stories.beliefs.percepts import answer_percept
from otherminds.stories.beliefs.perspectives import PRESETS, SALLY_ANNE, Conventions
from otherminds.stories.english.questions import read_question, split_options
from otherminds.stories.english.reading import read_story
from otherminds.stories.files import StoryFile, Worded, read_story_file, told_story
from otherminds.stories.model import Answer, Episode, Question, Reading
from otherminds.stories.mumatom_files import read_mumatom
from otherminds.stories.relevance import UNREAD, answer_over
from otherminds.worlds.household.agent import ANSWERING

MUMATOM = "mumatom"
FILES = (".txt", ".json", ".jsonl")
LONG = 200  # items from which an audit shows its progress; chosen


def asked(
    story: str,
    question: str | None = None,
    name: str | None = None,
    model: str | None = None,
    convention: str | None = None,
) -> list[StoryAnswer]:
    """The answers to the questions of a story, or to `question` instead: a file, or the text itself if there is none.

    `name` is the id of a row in a JSONL file, `model` the specification of a language model that reads what the rules
    cannot. Raises InputError if the convention is unknown, or if there is no question.
    """
    chosen = {one.name.lower(): one for one in PRESETS}
    if convention is not None and convention.lower() not in chosen:
        raise unknown("convention", convention, chosen)
    conventions = None if convention is None else chosen[convention.lower()]
    found = told_story(story) if _in_words(story) else read_story_file(Path(story), name)
    questions = (Worded(*split_options(question)),) if question is not None else found.questions
    if not questions:
        raise InputError("the story has no question", hint='give one with --question "…"')
    return [_asked(found, one, model, conventions) for one in questions]


def _in_words(story: str) -> bool:
    """Whether this is a story itself: no name of a file, with a space."""
    try:
        return bool(re.search(r"\s", story.strip())) and not story.endswith(FILES) and not Path(story).is_file()
    except (OSError, ValueError):  # too long for a name, or with a NUL byte
        return True


def _asked(
    found: StoryFile, question: Question | Worded, model: str | None, conventions: Conventions | None
) -> StoryAnswer:
    helper = find_model(model) if model else None
    told = Reading(found.episode) if found.episode is not None else found.text or ""
    if isinstance(question, Worded):
        return ask(told, question.stem, question.options, conventions=conventions, model=helper)
    reading = read_story(told) if isinstance(told, str) else told
    return StoryAnswer(reading, question, answer(reading.episode, question, conventions or SALLY_ANNE))


def audited(path: Path, form: str | None = None) -> Audit:
    """An audit of the labels of a benchmark file, or of a MuMA-ToM folder; the format is detected if `form` is None.

    Raises InputError if the format is unknown, or the file has another form.
    """
    known = (*get_args(Format), MUMATOM)
    if form is not None and form not in known:
        raise unknown("format", form, known)
    if form == MUMATOM and path.is_file() and path.name != "questions.json":
        raise InputError("MuMA-ToM is a folder, or its questions.json", path=path)
    if form == MUMATOM or path.is_dir() or path.name == "questions.json":
        items = mumatom_items(path if path.is_dir() else path.parent)
        return audit(shown(items, len(items), "Auditing"), answer=judge)
    items = read_items(path, form)  # type: ignore[arg-type]
    return audit(shown(items, len(items), "Auditing") if len(items) > LONG else items, answer=judge)


def mumatom_items(folder: Path) -> tuple[Item, ...]:
    """All questions of a MuMA-ToM folder, with the full text as their story."""
    return tuple(
        Item(
            f"{episode.id} Q{k}",
            episode.full,
            one.stem,
            one.options,
            one.options[one.gold],
            None,
            f"MuMA-ToM {one.kind}",
        )
        for episode in read_mumatom(folder)
        for k, one in enumerate(episode.questions, 1)
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

    def answered(episode: Episode) -> Answer:
        return answer(episode, question, conventions, ANSWERING)

    found = answer_over(reading, question, answered)
    if question.polarity == "least":  # confidence in the least likely option: invert the odds
        inverted = [1.0 / max(p, 1e-12) for p in found.posterior]
        found = replace(found, posterior=tuple(p / sum(inverted) for p in inverted))
    undecided = found.abstained if (found.abstained or "").startswith(UNREAD) else None
    lacking = missing(reading, question) or undecided
    return Judged(found, item.options, (lacking,) if lacking else ())
