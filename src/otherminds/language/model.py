"""The one seam to language models: what can be asked of any of them, and what comes back.

A language model says how probable a text is. `complete` runs it forward, `score` runs it backward; whatever a mind does
with words is made of these two.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Literal, NamedTuple, Protocol, TypeVar

from otherminds.errors import InputError

T = TypeVar("T")
U = TypeVar("U")


class ModelError(InputError):
    """A language model cannot be asked, or did not answer: a wrong key, a dead endpoint, no log-probabilities."""


class UncertainError(ModelError):
    """A call was sent and gave no answer that can be used; it may have to be paid for all the same."""


@dataclass(frozen=True)
class Message:
    """One turn of a conversation; images are PNG files."""

    role: Literal["system", "user", "assistant"]
    text: str
    images: tuple[bytes, ...] = ()


Prompt = str | tuple[Message, ...]
"""A text to be continued as it stands, or a conversation to be answered."""


@dataclass(frozen=True)
class Request:
    """What is asked for: a text after the prompt.

    `max_tokens` is how long it may be; at `temperature` 0 the likeliest text is written. `schema` is a JSON schema, as
    text, that the reply has to follow; empty: any text. `draw` tells requests apart that are alike on purpose, such as
    a second attempt, or the same round of another episode: it goes into the cache's key and nowhere else.
    """

    prompt: Prompt
    max_tokens: int = 256
    temperature: float = 0.0
    seed: int = 0
    stop: tuple[str, ...] = ()
    schema: str = ""
    draw: str = ""


@dataclass(frozen=True)
class Continuations:
    """What is asked for: log p(text | prompt) for each of some texts, right after the prompt."""

    prompt: str
    texts: tuple[str, ...]


class Usage(NamedTuple):
    """Tokens: of the prompt, how many of these were known from the last prompt and not evaluated again, and written."""

    prompt: int = 0
    cached: int = 0
    written: int = 0

    def __add__(self, other: object) -> Usage:
        """Tokens of both."""
        assert isinstance(other, Usage)
        return Usage(self.prompt + other.prompt, self.cached + other.cached, self.written + other.written)


NOTHING = Usage()


@dataclass(frozen=True)
class Reply:
    """What a model wrote; `cut` if it was stopped by the limit of tokens, and not by itself. `usage` is in tokens."""

    text: str
    cut: bool = False
    usage: Usage = NOTHING


@dataclass(frozen=True)
class Scores:
    """log p(text | prompt), in nats, for every text asked about: the sum over its tokens, of which there are `tokens`.

    `method` is how the tokens were found: by the model's own tokeniser, by its echo of the text, or as the longest
    tokens that fit (another tokenisation would give another sum; for texts of one token there is no other).
    """

    log_probs: tuple[float, ...]
    tokens: tuple[int, ...]
    method: Literal["tokeniser", "echo", "longest"] = "tokeniser"
    usage: Usage = NOTHING


class LanguageModel(Protocol):
    """Anything that continues text and says how probable continuations are. Safe to be asked from several threads."""

    @property
    def name(self) -> str:
        """What tables call it."""
        ...

    @property
    def identity(self) -> str:
        """All that decides what it answers: which weights, which program. Part of the cache's key."""
        ...

    def complete(self, request: Request, /) -> Reply:
        """A text after the prompt. Raises ModelError if there is no answer."""
        ...

    def score(self, request: Continuations, /) -> Scores:
        """log p(text | prompt) for every text. Raises ModelError if there is no answer, or none that is exact."""
        ...


def ask_all(
    ask: Callable[[T], U], questions: Iterable[T], *, at_once: int, stop: Callable[[], None] = lambda: None
) -> Iterator[U]:
    """The answers to many questions in their order, so many of them under way at any time.

    When one fails, or nobody wants more, those under way are called off by `stop`, and what they raise is forgotten.
    """
    if at_once == 1:
        yield from map(ask, questions)
        return
    with ThreadPoolExecutor(at_once) as pool:
        futures = [pool.submit(ask, question) for question in questions]
        try:
            for future in futures:
                yield future.result()
        except BaseException:
            stop()
            raise
        finally:
            for future in futures:
                future.cancel()
