"""`otherminds play GAME PARTNER --player me`: a person plays a repeated game in the terminal."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import typer
from rich.console import Console
from rich.text import Text

from otherminds.errors import InputError
from otherminds.evaluation.engines import stream
from otherminds.evaluation.literal_functional import functional_regret
from otherminds.evaluation.store import Row
from otherminds.evaluation.tasks import Task, play
from otherminds.reports.terminal.tables import payoffs
from otherminds.worlds.repeated_games.players.learners import Counts, SplitPlayer

ME = "me"
ROUNDS = 20  # of a person, if none are asked for
MOST_ACTIONS = 9  # that have a digit to type


def play_yourself(task: Task, seed: int) -> list[Row]:
    """Ask a person for an action a round, tell what the partner did, and at the end what was earned of what could be.

    Raises InputError if the game has more than MOST_ACTIONS actions, or if the input ends.
    """
    game, console = task.game, Console()
    mine, theirs = game.actions[0], game.actions[1]
    if len(mine) > MOST_ACTIONS:
        raise InputError(f"{game.name} has more than {MOST_ACTIONS} actions", hint="choose a smaller game")
    console.print(payoffs(game))
    console.print(Text(f"\n{task.horizon} rounds with a partner that plays by a rule. You choose at the same time."))
    keys = ", ".join(f"{i} {name}" for i, name in enumerate(mine, 1))

    def choose(_: Any) -> int:
        return _asked(f"Round {len(rows) + 1}: {keys}", mine)

    rows = list[Row]()
    subject = SplitPlayer(task.partner.start, Counts.of(game))  # only its predictions are used
    for row in play(task, subject, rng=stream(seed, ME), partner_rng=stream(seed, ME, "partner"), choose=choose):
        rows.append(row)
        total = sum(past_row["reward"] for past_row in rows)
        did = f"  you {mine[row['action']]}, partner {theirs[row['observed']]}: {row['reward']:g} (total {total:g})"
        console.print(Text(did))
    earned, best = total / task.horizon, task.optimum / task.horizon
    console.print(
        Text(
            f"\nYou earned {earned:.2f} a round. Whoever knows this partner ({task.partner.name}) expects {best:.2f}: "
            f"your regret is {functional_regret(task, rows):.2f} a round."
        )
    )
    return rows


def _asked(question: str, names: Sequence[str]) -> int:
    """The number of the action that is typed, by number, name or the beginning of one name."""
    while True:
        print(f"{question}? ", end="", flush=True)
        line = sys.stdin.readline()
        if not line:
            raise InputError("the input ended before the last round", hint="type the number or the name of an action")
        typed = line.strip().lower()
        fitting = [i for i, name in enumerate(names) if typed and name.lower().startswith(typed)]
        if typed.isdigit() and 1 <= int(typed) <= len(names):
            return int(typed) - 1
        if len(fitting) == 1:
            return fitting[0]
        typer.echo(f"  Please type one of {', '.join(names)}, or its number.")
