"""Stories and questions read by a language model: it writes them down as data, and the inference remains what it is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from otherminds.errors import InputError
from otherminds.language.asking import prompts_of
from otherminds.language.model import LanguageModel, Message
from otherminds.stories.by_model.dictation import Failed, Stage, Wording, dictated, one_line
from otherminds.stories.by_model.minds_of_options import Asked, Asking
from otherminds.stories.by_model.transcript import Telling, Transcript
from otherminds.stories.english.questions import LONGEST_QUESTION, split_options
from otherminds.stories.english.reading import LONGEST_STORY, read_story
from otherminds.stories.english.sentences import find_names, plain, sentences, tokens
from otherminds.stories.english.statements import Unread
from otherminds.stories.english.story_state import StoryState
from otherminds.stories.model import Entity, Episode, Question, Reading, Source

fill = prompts_of("otherminds.stories.by_model")

SYMBOLIC = "symbolic"
TOKENS, TOKENS_OF_SENTENCE, TOKENS_OF_OPTION, MOST_TOKENS = 400, 150, 200, 16_000
"""How much a model may write: so much for every sentence or option, and some more."""


def read_or_ask(
    text: str,
    model: LanguageModel | None = None,
    least: float = 0.8,
    *,
    cast: Sequence[str] = (),
    attempts: int = 3,
    source: Source = "text",
    p: float = 0.95,
) -> tuple[Reading, str]:
    """The story as the rules read it; if they read less than `least` of it, as the model does, if it reads more.

    With it, who read it: `symbolic`, or the name of the model. Raises ModelError if the model does not answer.
    """
    reading = read_story(text, source=source, cast=cast)
    if model is None or reading.coverage >= least:
        return reading, SYMBOLIC
    other = read_with(model, text, cast=cast, attempts=attempts, source=source, p=p)
    if other.coverage > reading.coverage:
        return other, model.name
    return replace(reading, unread=(*reading.unread, *other.unread)), SYMBOLIC


def read_with(
    model: LanguageModel,
    text: str,
    *,
    cast: Sequence[str] = (),
    attempts: int = 3,
    source: Source = "text",
    p: float = 0.95,
) -> Reading:
    """The story as a language model writes it down; each happening is as told with probability `p`.

    The coverage is the share of the sentences that the model gives an account of, with all things and places that they
    name; whether the account is right is not known. People and things that the text does not name are refused, as is
    whatever has another form; if no reply of so many attempts can be read, the coverage is 0, and why is in `unread`.
    Raises InputError if the text is too long, ModelError if there is no answer.
    """
    if len(text) > LONGEST_STORY:
        raise InputError(f"the story is longer than {LONGEST_STORY:,} characters", hint="give only the story itself")
    found = tokens(plain(text))
    names = tuple(dict.fromkeys((*find_names(sentences(found), cast), *cast)))
    spans = [(sentence[0].start, sentence[-1].end) for sentence in sentences(found, names)]
    if not spans:
        return Reading(Episode("", ()), coverage=0.0, unread=("there is no story",))
    lines = [one_line(text[start:end] + _mark(text, end)) for start, end in spans]

    wording = Wording.of(lines)

    def sense(story: Transcript) -> Reading:
        scene = StoryState(names, source, p, numbered=True)
        return Telling(text, spans, wording, Stage(scene, wording)).of(story)

    numbered = "\n".join(f"{number}. {line}" for number, line in enumerate(lines, 1))
    known = f"; they are among {', '.join(cast)}" if cast else ""
    prompt = fill("stories-read", lines=numbered, cast=known)
    reading = dictated(
        model, Message("user", prompt), Transcript, sense, "story", attempts, _tokens(len(lines), TOKENS_OF_SENTENCE)
    )
    if isinstance(reading, Failed):
        return Reading(Episode("", ()), coverage=0.0, unread=(reading.told,))
    return reading


def _tokens(parts: int, each: int) -> int:
    return min(TOKENS + each * parts, MOST_TOKENS)


def _mark(text: str, end: int) -> str:
    """The mark that ends a sentence."""
    return text[end : end + 1] if text[end : end + 1] in tuple(".!?") else ""


def question_with(
    model: LanguageModel, stem: str, options: Sequence[str], reading: Reading, attempts: int = 3
) -> Question:
    """The question as a language model writes it down. What neither the story nor the question names is refused.

    Raises Unread if no reply of so many attempts can be read, InputError if the question is too long, ModelError if
    there is no answer.
    """
    if len(stem) + sum(map(len, options)) > LONGEST_QUESTION:
        raise InputError(f"the question is longer than {LONGEST_QUESTION:,} characters")
    if not options:
        stem, options = split_options(stem)
    if not options:
        raise Unread(stem)
    labels = tuple(options)
    stage = Asking(reading.episode, stem, labels)
    turn, most = Message("user", _prompt(stem, labels, reading.episode)), _tokens(len(labels), TOKENS_OF_OPTION)
    found = dictated(model, turn, Asked, stage.of, "question", attempts, most)
    if isinstance(found, Failed):
        raise Unread(f"{one_line(stem)} ({found.told})")
    return found


def _prompt(stem: str, options: Sequence[str], episode: Episode) -> str:
    def named(wanted: Callable[[Entity], bool]) -> str:
        return ", ".join(entity.id for entity in episode.entities if wanted(entity)) or "none"

    return fill(
        "stories-question",
        question=one_line(stem),
        options="\n".join(f"{number}. {one_line(option)}" for number, option in enumerate(options, 1)),
        count=len(options),
        people=", ".join(episode.agents) or "none",
        things=named(lambda entity: entity.kind == "object"),
        places=named(lambda entity: entity.kind in ("place", "room")),
    )
