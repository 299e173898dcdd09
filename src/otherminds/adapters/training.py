"""Repeated games with unknown partners as an environment in which language models are trained, with exact rewards.

`PartnerGame` has the shape that trainers expect, such as GRPO in TRL (`environment_factory=PartnerGame`): `reset` takes
the columns of a row and returns the prompt, `predict` and `choose` are the tools, and `get_reward` scores the episode.
`curriculum` makes the rows. Nothing of a trainer is imported.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from otherminds.errors import InputError
from otherminds.evaluation.engines import stream
from otherminds.evaluation.literal_functional import exact_reward, tom_percent
from otherminds.evaluation.partner_families import Part, drawn, stakes, tasks
from otherminds.evaluation.tasks import Row, Task
from otherminds.language.asking import Unreadable
from otherminds.papers.functional.game_prompts import GameSetting, known, listed, read_action, round_line
from otherminds.worlds.repeated_games.payoff_files import find_game
from otherminds.worlds.repeated_games.rules import Outcome

ROUNDS = 20  # of an episode, unless a row says otherwise; chosen
GOAL = "The other player is a program whose rule you do not know. Earn as much as you can over all rounds."
TASK = (
    f"{GOAL} In each round, first call `predict` with the option that you expect of the other player, then `choose` "
    "with your own."
)


class PartnerGame:
    """A repeated game with an unknown partner: text in, tool calls out, and an exact reward at the end.

    `rows` has a row per round played, as those of `play` for all scores that need no probabilities; `unreadable` counts
    tool calls that named no option.
    """

    def __init__(self) -> None:
        self._episode: tuple[Task, GameSetting, np.random.Generator] | None = None
        self.rows: list[Row] = []
        self.unreadable = 0
        self._state = 0  # of the partner
        self._prediction: int | None = None

    def reset(
        self,
        *,
        seed: int,
        game: str = "ipd",
        family: str = "structured",
        part: Part = "train",
        rounds: int = ROUNDS,
        names: str = "neutral",
        **_columns: object,
    ) -> str:
        """Begin an episode, and return the rules, the payoffs and the task; other columns of the row are ignored.

        The seed determines the partner drawn from the part of the family, the order of the payoffs, which of the
        `names` each option has, and the partner's slips. Raises InputError for an unknown game, family, part or set of
        names, and for too few rounds.
        """
        task = drawn(family, find_game(game), part, rounds, seed)
        labels_rng, payoffs_rng, partner_rng = (stream(seed, use) for use in ("labels", "payoffs", "slips"))
        setting = GameSetting.of(task.game, rounds, names, labels_rng=labels_rng, payoffs_rng=payoffs_rng)
        self._episode = task, setting, partner_rng
        self.rows, self.unreadable, self._state, self._prediction = [], 0, 0, None
        return f"{known(setting, ())}\n\n{TASK}"

    def predict(self, option: str) -> str:
        """Say which option you expect the other player to choose in this round. The last prediction counts.

        Args:
            option: The name of the option that the other player will choose.
        """
        action = self._read(option, "predict")
        if isinstance(action, str):
            return action
        self._prediction = action
        return f"You expect option {self.setting.theirs[action]} of the other player in round {len(self.rows) + 1}."

    def choose(self, option: str) -> str:
        """Choose your option in this round. You are told what both of you chose and what you got.

        Args:
            option: The name of the option that you choose.
        """
        action = self._read(option, "act")
        return action if isinstance(action, str) else self._play(action)

    def get_reward(self) -> float:
        """The episode's exact reward: 1 at the optimum, 0 on average for uniform play (see `exact_reward`)."""
        return exact_reward(self.task, self.rows)

    @property
    def task(self) -> Task:
        """The game, the partner and the rounds of the episode. Raises InputError before the first `reset`."""
        return self._begun()[0]

    @property
    def setting(self) -> GameSetting:
        """The wording of the episode. Raises InputError before the first `reset`."""
        return self._begun()[1]

    @property
    def done(self) -> bool:
        """Whether all rounds are played."""
        return len(self.rows) == self.task.horizon

    @property
    def accuracy(self) -> float:
        """Literal Theory of Mind: the share of rounds played in which the prediction was right; 0 before the first."""
        return tom_percent(self.rows) / 100.0 if self.rows else 0.0

    @property
    def step_rewards(self) -> list[float]:
        """−(V_t(q) − Q_t(q, a)) / (V − U) of each round played: after the last round, their sum is the reward − 1."""
        return [row["step_reward"] for row in self.rows]

    def _begun(self) -> tuple[Task, GameSetting, np.random.Generator]:
        if self._episode is None:
            raise InputError("no episode has begun", hint="call `reset` first")
        return self._episode

    def _read(self, option: str, question: Literal["act", "predict"]) -> int | str:
        """The action that an option names, or what the model is told instead; what names none is counted."""
        if self.done:
            return f"All {len(self.rows)} rounds are played."
        labels = self.setting.labels(question)
        if option in labels:
            return labels.index(option)
        action = read_action(str(option), labels, question, len(self.rows) + 1)
        if not isinstance(action, Unreadable):
            return action
        self.unreadable += 1
        return f"This names no option, and round {len(self.rows) + 1} goes on. Name one of: {listed(labels)}."

    def _play(self, action: int) -> str:
        """Play a round with this action, and say what happened."""
        task, setting, rng = self._begun()
        t, partner = len(self.rows), task.partner
        theirs = partner.policies[self._state].sample(rng)
        outcome = Outcome(action, theirs, float(task.game.payoff()[action, theirs]))
        step_reward = 0.0 - float(task.losses(t, self._state)[action]) / (task.optimum - task.uniform)
        about = {"t": t, "predicted": self._prediction, "observed": theirs, "action": action, "reward": outcome.payoff}
        self.rows.append({**about, "step_reward": step_reward})
        self._state, self._prediction = partner.moves[self._state][theirs][action], None
        following = f"Round {t + 2} of {task.horizon} begins." if not self.done else "That was the last round."
        return f"{round_line(setting, t + 1, outcome)} {following}"


def curriculum(
    episodes: int,
    *,
    seed: int,
    game: str = "ipd",
    family: str = "structured",
    part: Part = "train",
    rounds: int = ROUNDS,
) -> list[dict[str, Any]]:
    """Rows for `PartnerGame.reset`, the partners that it matters most to know last (see `stakes`).

    The rows have the seeds `seed` to `seed` + `episodes` − 1. Raises InputError as `reset` does.
    """
    columns = {"game": game, "family": family, "part": part, "rounds": rounds}
    members = tasks(family, find_game(game), part, rounds)
    by_partner = dict(zip((task.partner.name for task in members), stakes(members), strict=True))

    def stake(number: int) -> float:
        return float(by_partner[drawn(family, find_game(game), part, rounds, number).partner.name])

    return [{**columns, "seed": number} for number in sorted(range(seed, seed + episodes), key=stake)]
