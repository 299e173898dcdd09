"""Repeated games with unknown partners as an environment of OpenEnv, served over WebSocket.

    uvicorn --factory otherminds.adapters.openenv:app

A client resets with a row of `curriculum` and steps with calls of the two tools of `PartnerGame`:

    with GenericEnvClient("http://127.0.0.1:8000").sync() as env:
        told = env.reset(**row)
        while not told.done:
            told = env.step({"tool": "choose", "option": "J"})

The last step carries the episode's reward and the others none, so that their sum is `PartnerGame.get_reward`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from otherminds.adapters.training import PartnerGame
from otherminds.errors import InputError

if TYPE_CHECKING:
    from fastapi import FastAPI

try:
    from openenv.core.env_server import Action, Environment, Observation, State, create_app
except ModuleNotFoundError as missing:
    if missing.name is None or missing.name.split(".")[0] != "openenv":
        raise
    hint = "in an environment of its own: pip install 'openenv-core>=0.3,<0.4'"
    raise InputError("environments of OpenEnv need a package", hint=hint) from None

SESSIONS = 64  # most episodes under way at one time; chosen


class ToolCall(Action):
    """A call of `PartnerGame.predict` or `PartnerGame.choose`."""

    tool: Literal["predict", "choose"]
    option: str


class TextObservation(Observation):
    """What the player is told: the prompt after `reset`, and then what the tool returned."""

    text: str


class PartnerEnvironment(Environment[ToolCall, TextObservation, State]):
    """A `PartnerGame` per session; `state` has its reward so far, where rounds not played count as played worst."""

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self) -> None:
        super().__init__()
        self._game = PartnerGame()
        self._episode, self._calls = "", 0

    def reset(self, seed: int | None = None, episode_id: str | None = None, **columns: Any) -> TextObservation:
        """Begin the episode of a row of `curriculum`. Raises InputError without a seed, and as `PartnerGame.reset`."""
        if seed is None:
            raise InputError("an episode needs a seed", hint="reset with a row of `curriculum`")
        text = self._game.reset(seed=seed, **columns)
        self._episode, self._calls = episode_id or str(seed), 0
        return TextObservation(text=text)

    def step(self, action: ToolCall, timeout_s: float | None = None, **_options: object) -> TextObservation:
        """Call a tool. The reward is that of the episode in the step that ends it, and None in all others."""
        over = self._game.done
        text = self._game.predict(action.option) if action.tool == "predict" else self._game.choose(action.option)
        self._calls += 1
        ends = self._game.done and not over
        return TextObservation(text=text, done=self._game.done, reward=self._game.get_reward() if ends else None)

    @property
    def state(self) -> State:
        """The reward, the accuracy of predictions, and the numbers of rounds played and of unreadable calls."""
        game = self._game
        about = {"reward": game.get_reward(), "accuracy": game.accuracy, "unreadable": game.unreadable}
        return State(episode_id=self._episode, step_count=self._calls, rounds_played=len(game.rows), **about)


def app() -> FastAPI:
    """The server of `PartnerEnvironment`, with a game of its own for each connection."""
    server: FastAPI = create_app(
        PartnerEnvironment, ToolCall, TextObservation, env_name="partner_game", max_concurrent_envs=SESSIONS
    )
    return server
