"""Repeated games inside Inspect's harness: the model that it evaluates in a player's seat, and what is said of a game.

Inspect waits for its models on an event loop, and our players ask theirs in turn. So a game is played in a thread of
its own, and each question goes back to the loop from there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import anyio.from_thread
import anyio.to_thread
import numpy as np
from inspect_ai.log import transcript
from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageUser,
    GenerateConfig,
    Model,
    ModelOutput,
    get_model,
)
from inspect_ai.scorer import Score, Scorer, Target, mean, scorer, stderr
from inspect_ai.solver import Generate, Solver, TaskState, solver

from otherminds.evaluation.tasks import Row, Task
from otherminds.language.model import NOTHING, Continuations, ModelError, Prompt, Reply, Request, Scores, Usage
from otherminds.language.wire import NO_SCORES, TOP
from otherminds.papers.functional.models import ModelGameEntry, rows
from otherminds.worlds.repeated_games.partners import partner
from otherminds.worlds.repeated_games.payoff_files import find_game

SCORES = ("tom_percent", "functional_regret", "unreadable_share", "lost_share")
ROOM = 16
"""The fewest tokens that every provider lets one ask for."""
ROLES = {"system": ChatMessageSystem, "user": ChatMessageUser, "assistant": ChatMessageAssistant}


# The model


@dataclass(frozen=True)
class Bridge:
    """A model of Inspect's as one of ours, to be asked from a thread that the loop waits for.

    What the user set for the model in Inspect (`--temperature`, `--max-tokens`, `--seed`) wins over what is asked for.
    """

    model: Model

    @property
    def name(self) -> str:
        """As Inspect calls it, with the provider."""
        return str(self.model)

    @property
    def identity(self) -> str:
        """Its name: Inspect does not say more."""
        return f"inspect:{self.name}"

    def complete(self, request: Request) -> Reply:
        """A text after the prompt. Raises ModelError for pictures and schemas, which games do not need."""
        if request.schema:
            raise ModelError(f"{self.name} is asked for plain text here, not for JSON")
        wanted: dict[str, Any] = {"max_tokens": request.max_tokens, "temperature": request.temperature}
        wanted |= {"seed": request.seed, "stop_seqs": list(request.stop) or None}
        own = self.model.config
        output = self._ask(request.prompt, {name: v for name, v in wanted.items() if getattr(own, name) is None})
        # a provider can pass on half a character, which no file can hold
        text = output.completion.encode("utf-8", "replace").decode()
        cut = not output.empty and output.stop_reason in ("max_tokens", "model_length")
        return Reply(text, cut, _usage(output))

    def score(self, request: Continuations) -> Scores:
        """log p(the reply begins with a text), as one token with or without the space before it, for every text.

        Raises ModelError if the provider gives no log-probabilities, or a text is not among the likeliest tokens.
        """
        wanted = {"max_tokens": ROOM, "temperature": 1.0, "logprobs": True, "top_logprobs": TOP}
        output = self._ask(request.prompt, wanted)
        tokens = _first_tokens(output)
        if not tokens:
            raise ModelError(f"{self.name} gives no log-probabilities", hint=NO_SCORES)
        found = []
        for text in request.texts:
            values = [tokens[form] for form in {text, text.strip()} if form in tokens]
            if not values:
                told = f"{self.name} tells the {len(tokens)} most probable tokens alone"
                raise ModelError(f"{told}, and `{text.strip()[:40]}` is not there", hint=NO_SCORES)
            found.append(min(0.0, float(np.logaddexp.reduce(values))))
        return Scores(tuple(found), (1,) * len(found), usage=_usage(output))

    def _ask(self, prompt: Prompt, wanted: Mapping[str, Any]) -> ModelOutput:
        config = GenerateConfig(**wanted)
        output = anyio.from_thread.run(partial(self.model.generate, self._messages(prompt), config=config))
        if output.error:
            raise ModelError(f"{self.name}: {output.error}")
        return output

    def _messages(self, prompt: Prompt) -> list[ChatMessage]:
        if isinstance(prompt, str):
            return [ChatMessageUser(content=prompt)]
        if any(message.images for message in prompt):
            raise ModelError(f"{self.name} is shown no pictures here")
        return [ROLES[message.role](content=message.text) for message in prompt]


def _first_tokens(output: ModelOutput) -> dict[str, float]:
    """log p of the likeliest first tokens of a reply; none if the provider does not tell."""
    told = None if output.empty else output.choices[0].logprobs
    if told is None or not told.content:
        return {}
    first = told.content[0]
    return {one.token: one.logprob for one in (*(first.top_logprobs or ()), first)}


def _usage(output: ModelOutput) -> Usage:
    used = output.usage
    if used is None:
        return NOTHING
    cached = used.input_tokens_cache_read or 0
    return Usage(used.input_tokens + cached + (used.input_tokens_cache_write or 0), cached, used.output_tokens)


# The game


@cache
def pairing(game: str, name: str, rounds: int) -> Task:
    """A partner by name, to play a game by name with for so many rounds. Raises InputError for what there is not."""
    found = find_game(game)
    return Task(found, partner(name, found), rounds)


def entry_of(about: Mapping[str, Any], model: str = "inspect", epoch: int = 1) -> ModelGameEntry:
    """The episode that a sample's metadata describe; later epochs are further episodes with the same partner.

    Raises InputError for names, strategies or shuffles that there are not.
    """
    task = pairing(about["game"], about["partner"], about["rounds"])
    condition = f"{task.game.name}/{task.partner.name}"
    number = about["episode"] + about["episodes"] * (epoch - 1)
    return ModelGameEntry(
        task, condition, model, about["strategy"], number, about["seed"], about["names"], about["shuffle"]
    )


@solver
def game_player() -> Solver:
    """Lets the model play the game that the sample's metadata describe; leaves the rows there, one per round."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        bridge = Bridge(get_model())
        entry = entry_of(state.metadata, bridge.name, state.epoch)
        # a limiter of its own: games that wait for models must not take the threads that these may need
        played = await anyio.to_thread.run_sync(rows, entry, bridge, limiter=anyio.CapacityLimiter(1))
        state.metadata["options"] = {"own": _options(entry, 0), "other": _options(entry, 1)}
        state.metadata["rows"] = played
        transcript().info(table(entry, played), source="rounds")
        return state

    return solve


@scorer(metrics={name: [mean(), stderr()] for name in SCORES})
def literal_and_functional() -> Scorer:
    """Scores a game from its rows: predictions that came true, payoff that was lost, replies that could not be read."""

    async def score(state: TaskState, target: Target) -> Score:
        played: list[Row] = state.metadata.get("rows", [])
        if not played:
            return Score.unscored(explanation="The game was broken off.")
        last = played[-1]
        earned = sum(row["reward"] for row in played)
        value = {name: float(last[name]) for name in SCORES}
        return Score(value=value, answer=f"{earned:g} earned", explanation=_explained(played, earned))

    return score


def _explained(played: Sequence[Row], earned: float) -> str:
    last, rounds = played[-1], len(played)
    right = sum(row["predicted"] == row["observed"] for row in played)
    lost = sum(row["action"] is None for row in played)
    unreadable = sum(row["unreadable"] for row in played)
    regret = last["functional_regret"]
    return (
        f"It foresaw {right} of {rounds} moves of {last['partner']}. It earned {earned:g}; whoever knew the partner "
        f"could expect {earned + rounds * regret:.4g}, which is {regret:.4g} more in each round. {unreadable} of "
        f"{last['replies']} replies could not be read, and {lost} rounds were lost because of that."
    )


def table(entry: ModelGameEntry, played: Sequence[Row]) -> str:
    """The rounds of a game as a table in Markdown."""
    own, other = ([*_options(entry, seat).items()] for seat in (0, 1))

    def named(options: Sequence[tuple[str, str]], action: int | None) -> str:
        return "unreadable" if action is None else "{} ({})".format(*options[action])

    lines = ["| round | predicted | observed | action | reward | best |", "|---|---|---|---|---|---|"]
    for row in played:
        seen = [named(other, row["predicted"]), named(other, row["observed"]), named(own, row["action"])]
        lines.append("| " + " | ".join([str(row["t"] + 1), *seen, f"{row['reward']:g}", f"{row['best']:g}"]) + " |")
    return "\n".join(lines)


def _options(entry: ModelGameEntry, seat: int) -> dict[str, str]:
    """What the options are called in the prompts, in the order of the rows' numbers, and what they are."""
    told = (entry.setting.own, entry.setting.theirs)[seat]
    return dict(zip(told, entry.task.game.actions[seat], strict=True))
