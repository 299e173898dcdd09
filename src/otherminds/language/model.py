"""The interface to all language models: `complete` continues a text, `score` gives the log-probability of texts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Literal, NamedTuple, Protocol, TypeVar

from otherminds.errors import InputError

EMBEDDED = "embedded:"  # beginning of the identity of a model that runs in the process, and always follows a schema
T = TypeVar("T")
U = TypeVar("U")


class ModelError(InputError):
    """A language model could not be asked or did not answer: wrong key, dead endpoint, no log-probabilities."""


class UncertainError(ModelError):
    """A call was sent and gave no usable answer. It may have to be paid for."""


@dataclass(frozen=True)
class Message:
    """One turn of a conversation. Images are the bytes of PNG files."""

    role: Literal["system", "user", "assistant"]
    text: str
    images: tuple[bytes, ...] = ()


Prompt = str | tuple[Message, ...]
"""A text to continue, or a conversation to answer."""


@dataclass(frozen=True)
class Request:
    """A request for the text after a prompt.

    The reply has at most `max_tokens` tokens; at `temperature` 0 it is the likeliest text. `schema` is a JSON schema,
    as text, that the reply has to follow; empty for free text. Its root is an object, as OpenAI's strict mode refuses
    any other. A server that refuses schemas is sent the request without it: then the prompt alone says what to write,
    and `Reply.constrained` is false. `draw` distinguishes requests that are otherwise equal, such as a second attempt
    or the same round of another episode; it only enters the key of the ledger.
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
    """A request for log p(text | prompt) of each text, right after the prompt."""

    prompt: str
    texts: tuple[str, ...]


class Usage(NamedTuple):
    """Token counts: of the prompt, of its part that was cached and not evaluated again, and of the reply.

    Reasoning that is billed but not shown counts as part of the reply.
    """

    prompt: int = 0
    cached: int = 0
    written: int = 0

    def __add__(self, more: object) -> Usage:
        """The sums of both."""
        assert isinstance(more, Usage)
        return Usage(self.prompt + more.prompt, self.cached + more.cached, self.written + more.written)


NOTHING = Usage()


Withheld = Literal["", "filtered", "refused", "tool call"]
"""Why an answer, or the rest of it, is missing: a provider's filter, the model's refusal, a call of a tool instead."""


@dataclass(frozen=True)
class Reply:
    """The text that a model wrote, and how it came about.

    `cut` is true if the limit of tokens ended it, possibly before any text. `usage` is in tokens. If the model refused,
    the text is its refusal. `thought` is true if thoughts came apart from the text; they are never part of it.
    `constrained` is true if the request's schema was enforced by the model, or accepted by its server.
    """

    text: str
    cut: bool = False
    usage: Usage = NOTHING
    withheld: Withheld = ""
    thought: bool = False
    constrained: bool = False


@dataclass(frozen=True)
class Scores:
    """log p(text | prompt) in nats for every text: the sum over its `tokens` tokens.

    `method` says how the text was cut into tokens: by the model's own tokeniser, by the server's echo of the text, or
    greedily into the longest tokens that fit. Another tokenisation would give another sum, except for single tokens.
    """

    log_probs: tuple[float, ...]
    tokens: tuple[int, ...]
    method: Literal["tokeniser", "echo", "longest"] = "tokeniser"
    usage: Usage = NOTHING


class LanguageModel(Protocol):
    """A model that continues text and scores continuations. Its methods may be called from several threads."""

    @property
    def name(self) -> str:
        """The name of the model in tables."""

    @property
    def identity(self) -> str:
        """All that decides the answers: weights and program. Part of every ledger key."""

    def complete(self, request: Request, /) -> Reply:
        """The text after the prompt. Raises ModelError if there is no answer."""

    def score(self, request: Continuations, /) -> Scores:
        """log p(text | prompt) in nats for every text. Raises ModelError if there is no answer, or no exact one."""


def ask_all(ask: Callable[[T], U], questions: Iterable[T], *, at_once: int) -> Iterator[U]:
    """Yield the answers in the order of the questions, with at most `at_once` calls of `ask` under way at any time.

    If a call fails, or the caller stops iterating, no more calls are made, and the errors of those under way are
    dropped. With `at_once` = 1 the calls are made in this thread.
    """
    if at_once == 1:
        yield from map(ask, questions)
        return
    with ThreadPoolExecutor(at_once) as pool:
        yield from pool.map(ask, questions)
