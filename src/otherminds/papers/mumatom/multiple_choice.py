"""A language model that answers questions about stories by itself: it reads story, question and options, and chooses.

Nothing is read or explained for it. A reply that chooses no option is asked for again, at most twice; then there is no
answer. Replies are counted by the kind of failure, apart from wrong answers.
"""

from __future__ import annotations

import re
import zlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from string import ascii_uppercase
from typing import NamedTuple

from otherminds.evaluation.store import Row, first_columns
from otherminds.evaluation.story_sets import LETTERS, make
from otherminds.files.text import printable
from otherminds.language.asking import (
    Exchange,
    Unreadable,
    correction,
    enum_schema,
    prompts_of,
    schema_text,
    unreadable,
)
from otherminds.language.choices import read_choice
from otherminds.language.model import LanguageModel, Message, Reply, Request, Usage
from otherminds.language.prices import CallEstimate, CountingModel
from otherminds.language.scripted import Scripted
from otherminds.papers.mumatom.experiment import EXPERIMENT, spoken_half, with_accuracy
from otherminds.stories.mumatom_files import MumatomEpisode

ATTEMPTS = 3  # at a readable reply; chosen, not tuned
ANSWER_TOKENS = 256  # of a reply, which has about ten, or a hundred with a reason; chosen
THINKING_TOKENS = 8192  # of a reply after one that was cut off, often within thoughts that are not shown; chosen
SHOWN = 300  # characters of a reply that a row keeps; chosen
PLAIN = "plain"  # the phrasing of invented stories that models read

fill = prompts_of("otherminds.papers.mumatom")


class StoryChoice(NamedTuple):
    """A question about a story, its options, the number of the right one, and the kind of question."""

    stem: str
    options: tuple[str, ...]
    gold: int
    kind: str


@dataclass(frozen=True)
class AskedStory:
    """A story whose questions a language model answers.

    `group`: stories with one group are clustered in intervals. `max_tokens` limits every reply; without it the limit is
    ANSWER_TOKENS, and THINKING_TOKENS after a reply that was cut off.
    """

    condition: str
    subject: str
    id: str
    group: str
    seed: int
    story: str
    questions: tuple[StoryChoice, ...]
    max_tokens: int | None = None

    @property
    def key(self) -> tuple[str, str, str]:
        """What tells it apart in the rows."""
        return (self.condition, self.subject, self.id)


def subject(model: str) -> str:
    """The name of a model in the column `subject`."""
    return f"lm:{model.replace(':', '-')}"


def invented(stories: int, seed: int, model: str) -> list[AskedStory]:
    """Invented stories for a model, in the plain phrasing: the first ones that the solver reads, too."""
    return [
        AskedStory(
            f"invented/{PLAIN}",
            subject(model),
            row["id"],
            row["group"],
            seed,
            row["story"],
            (
                StoryChoice(
                    row["question"], tuple(row["options"]), LETTERS.index(row["letter"]), row["cell"].split("/")[0]
                ),
            ),
        )
        for row in make(stories, seed, phrasing_names=(PLAIN,), quiet=True)
    ]


def benchmark(sources: Sequence[MumatomEpisode], seed: int, model: str) -> list[AskedStory]:
    """The episodes of MuMA-ToM for a model: text and video in words, or the full text of one without a video."""
    entries = []
    for source in sources:
        questions = tuple(StoryChoice(item.stem, item.options, item.gold, item.kind) for item in source.questions)
        track, story = "full_text", source.full
        if source.video is not None:
            track, story = "text_video", f"{spoken_half(source)}\n\n{source.video}"
        entries.append(AskedStory(track, subject(model), source.id, source.id, seed, story, questions))
    return entries


def rows(entry: AskedStory, model: LanguageModel) -> list[Row]:
    """The answers to the questions of a story, one row each. Raises ModelError if the model cannot be asked."""
    answers = []
    for t, question in enumerate(entry.questions):
        option, exchanges = choose(entry, t, model)
        used = sum((exchange.usage for exchange in exchanges), Usage())
        answers.append(
            first_columns(EXPERIMENT, entry.key, entry.seed)
            | {
                "t": t,
                "group": entry.group,
                "kind": question.kind,
                "action": option,
                "gold": question.gold,
                "correct": option == question.gold,
                "guessing": 1.0 / len(question.options) if option is None else float(option == question.gold),
                "said": [{"read": e.reading, "text": printable(e.text[:SHOWN])} for e in exchanges],
                "replies": len(exchanges),
                "kinds": [exchange.kind for exchange in exchanges if not exchange.readable],
                "constrained": sum(exchange.constrained for exchange in exchanges),
                "tokens": used.prompt + used.written,
            }
        )
    return with_accuracy(answers)


def choose(entry: AskedStory, t: int, model: LanguageModel) -> tuple[int | None, tuple[Exchange, ...]]:
    """The number of the option that a model chooses, None if no reply can be read, and all exchanges."""
    question = entry.questions[t]
    letters = ascii_uppercase[: len(question.options)]
    prompt = fill(
        "choose-option",
        story=entry.story,
        question=question.stem,
        options="\n".join(f"{letter}. {option}" for letter, option in zip(letters, question.options, strict=True)),
        letters=f"{', '.join(letters[:-1])} or {letters[-1]}",
    )
    schema, turn = schema_text(answer=enum_schema([*letters])), prompt
    length = entry.max_tokens or ANSWER_TOKENS
    exchanges: list[Exchange] = []
    for attempt in range(ATTEMPTS):
        draw = f"{' '.join(entry.key)} question {t + 1} {attempt}"
        seed = zlib.crc32(f"{entry.seed} {draw}".encode()) >> 1
        reply = model.complete(Request((Message("user", turn),), length, 0.0, seed, schema=schema, draw=draw))
        option = read_option(reply, question.options)
        if not isinstance(option, Unreadable):
            exchanges.append(
                Exchange("choose", letters[option], reply.text, reply.usage, constrained=reply.constrained)
            )
            return option, tuple(exchanges)
        exchanges.append(Exchange("choose", option.why, reply.text, reply.usage, readable=False, kind=option.kind))
        turn = f"{prompt}\n\n{correction(option)}"
        if option.kind == "cut":
            length = entry.max_tokens or THINKING_TOKENS
    return None, tuple(exchanges)


def read_option(reply: Reply, options: Sequence[str]) -> int | Unreadable:
    """The number of the option that a reply chooses by its letter or its words, or why there is none."""
    if reply.withheld == "filtered":
        return unreadable("was held back by a filter", reply.text, "filtered")
    if reply.withheld == "refused":
        return unreadable("is a refusal", reply.text, "refused")
    if reply.withheld:
        return unreadable(f"is a {reply.withheld}", reply.text)
    if reply.cut or (reply.thought and not reply.text.strip()):
        return unreadable("was cut off", reply.text, "cut")
    text, letters = reply.text, ascii_uppercase[: len(options)]
    for letter, option in sorted(zip(letters, options, strict=True), key=lambda pair: -len(pair[1])):
        words = re.escape(option.strip().rstrip("."))
        text = re.sub(rf"(?:\b{letter}[.):,]?\s*)?[\"'“(]?{words}\.?[\"'”)]?", letter, text, flags=re.IGNORECASE)
    option_read = read_choice(text, letters)
    return unreadable(option_read.why, reply.text) if isinstance(option_read, Unreadable) else option_read


def estimate(entries: Sequence[AskedStory]) -> CallEstimate:
    """Calls and tokens of a plan if every reply can be read."""
    counter = CountingModel(Scripted("first", lambda _: "Answer: option A"))
    for entry in entries:
        rows(entry, counter)
    return CallEstimate(counter.calls, counter.usage)


def unreadable_kinds(answers: Sequence[Row]) -> Counter[str]:
    """The replies that could not be read, by kind."""
    return Counter(kind for row in answers for kind in row.get("kinds", ()))
