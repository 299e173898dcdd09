"""A model of Inspect AI as a LanguageModel of this library.

Inspect waits for its models on an event loop, while players here call theirs in turn: a game is played in a thread of
its own, and each call goes back to the loop from there.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from typing import Any

import anyio.from_thread
import numpy as np
from inspect_ai import model as models

from otherminds.language.model import (
    NOTHING,
    Continuations,
    Message,
    ModelError,
    Prompt,
    Reply,
    Request,
    Scores,
    Usage,
    Withheld,
)
from otherminds.language.wire import NO_SCORES, TOP

FEWEST_TOKENS = 16  # the smallest limit on tokens that every provider accepts
ROLES = {"system": models.ChatMessageSystem, "user": models.ChatMessageUser, "assistant": models.ChatMessageAssistant}
SCHEMA_PROVIDERS = {
    *("anthropic", "google", "grok", "groq", "mistral", "ollama", "openai", "openai-api", "openrouter", "sglang"),
    *("together", "vllm"),
}
"""The providers to which Inspect 0.3.285 passes a JSON schema as it is; with others it does nothing, or less."""
REFUSALS = (400, 422)  # HTTP status of a request that the server does not accept
MOCK = "mockllm/"  # beginning of the names of Inspect's own stand-in for a model


class Bridge:
    """A model of Inspect as a LanguageModel, called from a thread that the event loop waits for.

    The user's settings of the model in Inspect (`--temperature`, `--max-tokens`, `--seed`) override those of requests.
    """

    def __init__(self, model: models.Model) -> None:
        self.model = model
        self._constrains = self.name.partition("/")[0] in SCHEMA_PROVIDERS

    @property
    def name(self) -> str:
        """Its name in Inspect, with the provider."""
        return str(self.model)

    @property
    def identity(self) -> str:
        """`inspect:` and its name; Inspect tells nothing else."""
        return f"inspect:{self.name}"

    def complete(self, request: Request) -> Reply:
        """The reply to a prompt. A schema is enforced if the provider supports that, else left to the prompt.

        If the server refuses a request with a schema, it is sent without it, as all later ones are if that works.
        Raises ModelError for pictures.
        """
        own = self.model.config
        settings: dict[str, Any] = {"max_tokens": request.max_tokens, "temperature": request.temperature}
        settings |= {"seed": request.seed, "stop_seqs": list(request.stop) or None}
        settings = {name: value for name, value in settings.items() if getattr(own, name) is None}
        if request.schema and self._constrains and own.response_schema is None:
            form = {"name": "reply", "description": "The answer.", "json_schema": json.loads(request.schema)}
            schema = models.ResponseSchema(**form, strict=True)
            try:
                return _reply(self._ask(request.prompt, {**settings, "response_schema": schema}), constrained=True)
            except Exception as error:
                if getattr(error, "status_code", None) not in REFUSALS:
                    raise
            reply = _reply(self._ask(request.prompt, settings))
            self._constrains = False
            return reply
        return _reply(self._ask(request.prompt, settings))

    def score(self, request: Continuations) -> Scores:
        """log p(the reply begins with a text), as one token with or without the space before it, for every text.

        Raises ModelError if the provider gives no log-probabilities, or a text is not among the likeliest tokens.
        """
        settings = {"max_tokens": FEWEST_TOKENS, "temperature": 1.0, "logprobs": True, "top_logprobs": TOP}
        output = self._ask(request.prompt, settings)
        scored = None if output.empty else output.choices[0].logprobs
        first = scored.content[0] if scored is not None and scored.content else None
        # the likeliest first tokens; none if the provider does not tell
        tokens = {t.token: t.logprob for t in (*(first.top_logprobs or ()), first)} if first is not None else {}
        if not tokens:
            raise ModelError(f"{self.name} gives no log-probabilities", hint=NO_SCORES)
        log_probs = []
        for text in request.texts:
            values = [tokens[form] for form in {text, text.strip()} if form in tokens]
            if not values:
                limitation = f"{self.name} tells the {len(tokens)} most probable tokens alone"
                raise ModelError(f"{limitation}, and `{text.strip()[:40]}` is not there", hint=NO_SCORES)
            log_probs.append(min(0.0, float(np.logaddexp.reduce(values))))
        return Scores(tuple(log_probs), (1,) * len(log_probs), usage=_usage(output))

    def _ask(self, prompt: Prompt, settings: Mapping[str, Any]) -> models.ModelOutput:
        prompt_messages = [Message("user", prompt)] if isinstance(prompt, str) else prompt
        if any(message.images for message in prompt_messages):
            raise ModelError(f"{self.name} is shown no pictures here")
        messages: list[models.ChatMessage] = [ROLES[message.role](content=message.text) for message in prompt_messages]
        config = models.GenerateConfig(**settings)
        output = anyio.from_thread.run(partial(self.model.generate, messages, config=config))
        if output.error and (output.empty or output.stop_reason != "content_filter"):
            raise ModelError(f"{self.name}: {output.error}")
        return output


def _reply(output: models.ModelOutput, *, constrained: bool = False) -> Reply:
    """The reply in an output of Inspect. Thoughts are no part of its text."""
    # a provider can pass on half a character, which no file can hold
    text = output.completion.encode("utf-8", "replace").decode()
    if output.empty:
        return Reply(text, usage=_usage(output), constrained=constrained)
    content = output.message.content
    thought = not isinstance(content, str) and any(part.type == "reasoning" for part in content)
    cut = output.stop_reason in ("max_tokens", "model_length")
    return Reply(text, cut, _usage(output), _withheld(output.choices[0]), thought, constrained)


def _withheld(choice: models.ChatCompletionChoice) -> Withheld:
    """Why an answer is missing: the model's refusal, a filter of the provider, or a tool that was called instead."""
    content, details = choice.message.content, choice.stop_details
    refused = not isinstance(content, str) and any(part.type == "text" and part.refusal for part in content)
    if refused or (details is not None and details.type == "refusal"):
        return "refused"
    if choice.stop_reason == "content_filter":
        return "filtered"
    return "tool call" if choice.message.tool_calls and not choice.message.text.strip() else ""


def _usage(output: models.ModelOutput) -> Usage:
    used = output.usage
    if used is None:
        return NOTHING
    cached = used.input_tokens_cache_read or 0
    return Usage(used.input_tokens + cached + (used.input_tokens_cache_write or 0), cached, used.output_tokens)


def count_words(model: models.Model) -> None:
    """Let Inspect's stand-in for a model count tokens as words; other models are unchanged.

    It would download a vocabulary to count them, and without a network the call ends in an error, after minutes if
    connections are neither made nor refused.
    """

    async def words(text: str) -> int:
        return max(1, len(text.split()))

    if str(model).startswith(MOCK):
        vars(model.api)["count_text_tokens"] = words
