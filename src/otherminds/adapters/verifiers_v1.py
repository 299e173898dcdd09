"""Repeated games with unknown partners as an environment of verifiers (its `v1`), in which the game is the user.

The model predicts and chooses in plain text, a turn a round. verifiers finds a taskset by the name of a module at the
top level, so name one, `partner_games.py`, with the line

    from otherminds.adapters.verifiers_v1 import ChatHarness, PartnerEnv, PartnerTaskset, __all__

where Python finds it: `PYTHONPATH=. vf-eval partner-games --env.taskset.part held-out`. Rollouts run in the process of
the evaluation and install nothing, unless another harness or runtime is set for the role `player`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from otherminds.adapters.training import GOAL, ROUNDS, PartnerGame, curriculum
from otherminds.errors import InputError
from otherminds.evaluation.partner_families import Part
from otherminds.papers.functional.game_prompts import known

try:
    import httpx
    import verifiers.v1 as vf
    from verifiers.v1.dialects.chat import message_to_wire
except ModuleNotFoundError as missing:
    if missing.name is None or missing.name.split(".")[0] not in ("httpx", "verifiers"):
        raise
    hint = "in an environment of its own: pip install 'verifiers>=0.4,<0.5'"
    raise InputError("environments of verifiers need a package", hint=hint) from None

__all__ = ["ChatHarness", "PartnerEnv", "PartnerTaskset"]
FORM = (
    "In each round, reply with two lines: `Predict:` and the option that you expect of the other player, then "
    "`Choose:` and your own."
)
AROUND = " \t*_`#>-"  # marks that models put around a line


class PartnerTasksetConfig(vf.TasksetConfig):
    """The arguments of `curriculum`."""

    episodes: int = 1000
    seed: int = 0
    game: str = "ipd"
    family: str = "structured"
    part: Part = "train"
    rounds: int = ROUNDS


class PartnerData(vf.TaskData):
    """A row of `curriculum`."""

    row: dict[str, Any]


class PartnerTask(vf.Task[PartnerData, vf.State, vf.TaskConfig]):
    """An episode; `PartnerEnv` plays and scores it."""


class PartnerTaskset(vf.Taskset[PartnerTask, PartnerTasksetConfig]):
    """The episodes of a curriculum. Raises InputError as `curriculum` does."""

    def load(self) -> Iterator[PartnerTask]:
        """A task per row, in rising order of stakes."""
        arguments = self.config.model_dump(exclude={*vf.TasksetConfig.model_fields})
        for row in curriculum(**arguments):
            prompt = f"{known(_begun(row).setting, ())}\n\n{GOAL} {FORM}"
            data = PartnerData(name="{game}/{family}/{part}/{seed}".format(**row), prompt=prompt, row=row)
            yield PartnerTask(data, self.config.task)


class PartnerEnvConfig(vf.EnvConfig):
    """One role, which runs on this machine unless told otherwise."""

    player: vf.AgentConfig = vf.AgentConfig(runtime=vf.SubprocessConfig())


class PartnerEnv(vf.Env[PartnerEnvConfig]):
    """Plays an episode with the model. The reward is `PartnerGame.get_reward`; accuracy and unreadable are metrics."""

    async def run(self, task: PartnerTask, agents: vf.Agents) -> None:
        """Play until the last round, but for two replies a round at most. A rollout that fails has no reward."""
        game = _begun(task.data.row)
        async with agents.player.interaction(task) as interaction:
            segment = await interaction.turn()
            for left in reversed(range(2 * game.task.horizon)):
                if segment.terminated:
                    break
                told = answer(game, segment.last_reply)
                if game.done or not left:
                    break
                segment = await interaction.turn(told)
        if interaction.trace.ok:
            interaction.trace.record_reward("partner_game", game.get_reward())
            interaction.trace.record_metrics({"accuracy": game.accuracy, "unreadable": float(game.unreadable)})


class ChatHarness(vf.Harness[vf.HarnessConfig]):
    """One chat completion per turn, asked for by the process of the evaluation itself."""

    APPENDS_SYSTEM_PROMPT, SUPPORTS_RESUME, EXECUTES_CODE, NEEDS_CONTAINER = True, True, False, False

    async def launch(
        self,
        ctx: vf.ModelContext,
        trace: vf.Trace,
        runtime: vf.Runtime,
        endpoint: str,
        secret: str,
        mcp_urls: dict[str, str],
        data: vf.TaskData,
    ) -> vf.ProgramResult:
        """Ask for the next message of the conversation; what comes is recorded by verifiers on the way."""
        system, prompt = self.resolve_prompt(data)
        messages = [vf.UserMessage(content=prompt)] if isinstance(prompt, str) else prompt
        before = [] if system is None else [vf.SystemMessage(content=system)]
        body = {"model": ctx.model, "messages": [message_to_wire(message) for message in (*before, *messages)]}
        headers = {"Authorization": f"Bearer {secret}"}
        async with httpx.AsyncClient(timeout=None, trust_env=False) as client:  # noqa: S113 - verifiers bounds the time
            response = await client.post(f"{endpoint}/chat/completions", json=body, headers=headers)
        return vf.ProgramResult(exit_code=int(response.is_error), stdout="", stderr=response.text)


def answer(game: PartnerGame, reply: str) -> str:
    """Play a reply's last lines `Predict:` and `Choose:`, and say what happened; without a choice the round goes on."""
    lines = {"predict": "", "choose": ""}
    for line in reply.splitlines():
        head, colon, option = line.strip(AROUND).partition(":")
        if colon and (word := head.strip(AROUND).casefold()) in lines:
            lines[word] = option.strip(AROUND)
    if lines["predict"]:
        game.predict(lines["predict"])
    rounds, told = len(game.rows), game.choose(lines["choose"])
    return told if len(game.rows) > rounds else f"{told} {FORM}"


def _begun(row: dict[str, Any]) -> PartnerGame:
    game = PartnerGame()
    game.reset(**row)
    return game
