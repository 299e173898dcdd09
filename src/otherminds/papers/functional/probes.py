"""Probes of what an agent does instead of acting on what it knows: simple habits, each told apart where it matters.

A probe is a habit, such as to name the same option again and again. Only *telling* moves count: those in which the
habit is a mistake, that is, loses something against the best possible play or predicts what the partner does not do. An
agent has a habit if it follows it in nearly all telling moves; an agent that plays or predicts well follows none.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from otherminds.evaluation.literal_functional import action_losses
from otherminds.evaluation.store import Row
from otherminds.evaluation.tasks import ROUNDING, Task

HABITUAL = 0.9  # share of telling moves from which an agent has a habit; chosen
FEWEST = 20  # telling moves that say anything; chosen
Episode = Sequence[Row]
Played = tuple[Episode, Task]


class Probe(NamedTuple):
    """How often an agent followed a habit in the telling moves; `words` complete "the agent …"."""

    name: str
    words: str
    share: float
    telling: int

    @property
    def is_habit(self) -> bool:
        """Whether the agent follows it in nearly all of enough telling moves."""
        return self.telling >= FEWEST and self.share >= HABITUAL


Habit = Callable[[int, Episode, Task, Mapping[str, str]], int | None]
"""The move that a habit makes or predicts in round t of an episode; None if it says nothing. The mapping has the label
that the agent names most often, for each game and question."""


def label(row: Row, question: str, task: Task) -> str | None:
    """The name under which an agent chose or predicted an option: as it was worded, or else that of the action."""
    readings = [exchange["read"] for exchange in row.get("said", ()) if exchange["of"] == question]
    index = row["action"] if question == "act" else row["predicted"]
    if index is None:
        return None
    return str(readings[-1]) if readings else task.game.actions[question == "predict"][index]


def _same_label(question: str) -> Habit:
    def habit(t: int, episode: Episode, task: Task, favourites: Mapping[str, str]) -> int | None:
        if (favourite := favourites.get(f"{task.game.name} {question}")) is None:
            return None
        index = {label(row, question, task): row["action" if question == "act" else "predicted"] for row in episode}
        # in an episode in which it is never named, it stands for one of the options that are never taken
        options = range(task.game.shape[question == "predict"])
        return index.get(favourite, next((i for i in options if i not in index.values()), None))

    return habit


def _same_option(t: int, episode: Episode, task: Task, favourites: Mapping[str, str]) -> int | None:
    favourite = favourites.get(f"{task.game.name} option")
    return None if favourite is None else int(favourite)


def _repeats_itself(t: int, episode: Episode, task: Task, favourites: Mapping[str, str]) -> int | None:
    return episode[t - 1]["action"] if t else None


def _copies_partner(t: int, episode: Episode, task: Task, favourites: Mapping[str, str]) -> int | None:
    return episode[t - 1]["observed"] if t and task.game.actions[0] == task.game.actions[1] else None


def _own_wish(t: int, episode: Episode, task: Task, favourites: Mapping[str, str]) -> int | None:
    payoffs = task.game.payoff().max(axis=0)
    wishes = np.flatnonzero(payoffs >= payoffs.max() - ROUNDING)
    return int(wishes[0]) if len(wishes) == 1 else None


def _like_itself(t: int, episode: Episode, task: Task, favourites: Mapping[str, str]) -> int | None:
    return episode[t]["action"] if task.game.actions[0] == task.game.actions[1] else None


def _repeats_partner(t: int, episode: Episode, task: Task, favourites: Mapping[str, str]) -> int | None:
    return episode[t - 1]["observed"] if t else None


ACTS: Mapping[str, tuple[str, Habit]] = {
    "same option": ("always does the same", _same_option),
    "same name": ("always names the same option, whatever it stands for", _same_label("act")),
    "copies its partner": ("copies its partner's last move", _copies_partner),
    "repeats itself": ("repeats its own last move", _repeats_itself),
}
PREDICTIONS: Mapping[str, tuple[str, Habit]] = {
    "predicts the same name": ("always predicts the same name, whatever it stands for", _same_label("predict")),
    "predicts its own wish": ("expects of its partner what would pay itself the most", _own_wish),
    "predicts its own move": ("expects its partner to do what it does itself", _like_itself),
    "predicts the last move": ("expects its partner to repeat its last move", _repeats_partner),
}
"""The habits in the order in which they explain a failure: the first that an agent has is named."""


def probes(played: Sequence[Played]) -> tuple[Probe, ...]:
    """Every habit with the share of telling moves in which the agent followed it."""
    favourites = _favourites(played)
    losses = [action_losses(task, episode) for episode, task in played]
    every = []
    for name, (words, habit) in ACTS.items():
        followed = list(_followed_actions(habit, played, losses, favourites))
        every.append(Probe(name, words, float(np.mean(followed)) if followed else 0.0, len(followed)))
    for name, (words, habit) in PREDICTIONS.items():
        followed = list(_followed_predictions(habit, played, favourites))
        every.append(Probe(name, words, float(np.mean(followed)) if followed else 0.0, len(followed)))
    return tuple(every)


def _favourites(played: Sequence[Played]) -> dict[str, str]:
    """The label that the agent names most often, for each game and question, and its most frequent action."""
    counts: dict[str, Counter[Any]] = {}
    for episode, task in played:
        for row in episode:
            for question in ("act", "predict"):
                counts.setdefault(f"{task.game.name} {question}", Counter())[label(row, question, task)] += 1
            counts.setdefault(f"{task.game.name} option", Counter())[row["action"]] += 1
    for counter in counts.values():
        counter.pop(None, None)
    return {key: str(counter.most_common(1)[0][0]) for key, counter in counts.items() if counter}


def _followed_actions(
    habit: Habit, played: Sequence[Played], losses: Sequence[NDArray[np.float64]], favourites: Mapping[str, str]
) -> Iterator[bool]:
    """Whether the agent did what the habit does, in each round in which that is a mistake."""
    for (episode, task), by_round in zip(played, losses, strict=True):
        for t, row in enumerate(episode):
            move = habit(t, episode, task, favourites)
            if move is not None and by_round[t, move] > ROUNDING:  # never in a round without a readable action
                yield row["action"] == move


def _followed_predictions(habit: Habit, played: Sequence[Played], favourites: Mapping[str, str]) -> Iterator[bool]:
    """Whether the agent predicted what the habit predicts, in each round in which that does not come about."""
    for episode, task in played:
        for t, row in enumerate(episode):
            prediction = habit(t, episode, task, favourites)
            if row["predicted"] is not None and prediction is not None and prediction != row["observed"]:
                yield row["predicted"] == prediction
