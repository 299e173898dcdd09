"""Questions about story files."""

from __future__ import annotations

import re
from pathlib import Path

from otherminds.errors import InputError, unknown
from otherminds.language.model import EMBEDDED
from otherminds.stories.answering import StoryAnswer, answer, answer_benchmark, ask
from otherminds.stories.beliefs.perspectives import PRESETS, SALLY_ANNE, Conventions
from otherminds.stories.english.questions import split_options
from otherminds.stories.english.reading import read_story
from otherminds.stories.files import StoryFile, Worded, read_story_file, told_story
from otherminds.stories.model import Question, Reading

FILES = (".txt", ".json", ".jsonl")


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
    if not story.strip():
        raise InputError("there is no story", hint="give a text or a file: otherminds ask story.txt")
    if model is not None and model.startswith(EMBEDDED):
        hint = "leave --model out, or name a larger model, such as openai:gpt-4o"
        raise InputError(
            "the embedded models are too small to read stories: of eight stories they got two right", hint=hint
        )
    presets = {preset.name.lower(): preset for preset in PRESETS}
    if convention is not None and convention.lower() not in presets:
        raise unknown("convention", convention, presets)
    conventions = None if convention is None else presets[convention.lower()]
    story_file = told_story(story) if _in_words(story) else read_story_file(Path(story), name)
    questions = (Worded(*split_options(question)),) if question is not None else story_file.questions
    if not questions:
        raise InputError("the story has no question", hint='give one with --question "…"')
    return [_asked(story_file, q, model, conventions, is_row=name is not None) for q in questions]


def _in_words(story: str) -> bool:
    """Whether this is a story itself: no name of a file, with a space."""
    try:
        return bool(re.search(r"\s", story.strip())) and not story.endswith(FILES) and not Path(story).is_file()
    except (OSError, ValueError):  # too long for a name, or with a NUL byte
        return True


def _asked(
    story_file: StoryFile,
    question: Question | Worded,
    model: str | None,
    conventions: Conventions | None,
    *,
    is_row: bool,
) -> StoryAnswer:
    """The answer to one question. A row of a file is read as a benchmark's, unless a model is named."""
    language_model = None
    if model:
        from otherminds.language.find import find_model

        language_model = find_model(model)
    reading_or_text = Reading(story_file.episode) if story_file.episode is not None else story_file.text or ""
    if isinstance(question, Worded):
        if is_row and language_model is None:
            return answer_benchmark(reading_or_text, question.stem, question.options, conventions=conventions)
        return ask(reading_or_text, question.stem, question.options, conventions=conventions, model=language_model)
    reading = read_story(reading_or_text) if isinstance(reading_or_text, str) else reading_or_text
    return StoryAnswer(reading, question, answer(reading.episode, question, conventions or SALLY_ANNE))
