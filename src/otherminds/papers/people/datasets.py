"""The bundled tables of what people and language models did, and the machines that people played with."""

from __future__ import annotations

import lzma
from collections.abc import Mapping
from functools import cache, partial
from importlib import resources
from pathlib import Path

from otherminds.errors import InputError
from otherminds.evaluation.choices import Choices
from otherminds.evaluation.tables import read_choices
from otherminds.mind import ParametricMind
from otherminds.worlds.repeated_games.machines import Machine, Partner, build
from otherminds.worlds.repeated_games.players.parametric import trembling
from otherminds.worlds.repeated_games.rules import Game

MOVES = ("rock", "paper", "scissors")
RULE = 0.9  # probability of the bot's move by its rule (Brockbank and Vul 2024); each other move has .05
RPS = Game(
    "rps-points",
    ("person", "bot"),
    (MOVES, MOVES),
    tuple(
        (float((0, 3, -1)[(own - theirs) % 3]), float((0, 3, -1)[(theirs - own) % 3]))
        for own in range(3)
        for theirs in range(3)
    ),
    "Rock, Paper, Scissors: 3 for a win, −1 for a loss",
)
TEMPTATION, SUCKER, PUNISHMENT = 50.0, 12.0, 25.0  # points of Dal Bó and Fréchette (2011)
DATASETS = ("human-rps", "human-ipd")


@cache
def dilemma(reward: float) -> Game:
    """The prisoner's dilemma of Dal Bó and Fréchette with this reward for mutual cooperation."""
    t, s, p = TEMPTATION, SUCKER, PUNISHMENT
    return Game(
        f"dilemma-{reward:g}",
        ("person", "other"),
        (("cooperate", "defect"),) * 2,
        ((reward, reward), (s, t), (t, s), (p, p)),
        f"Prisoner's dilemma with reward {reward:g}",
    )


def _of_treatment(group: str) -> Game:
    return dilemma(float(group.partition("R")[2]))


def bundled(name: str) -> str:
    """The text of a bundled table."""
    packed = resources.files("otherminds.papers.people").joinpath("data", f"{name}.csv.xz").read_bytes()
    return lzma.decompress(packed).decode()


@cache
def dataset(name: str) -> Choices:
    """A bundled set of people's choices. Raises InputError for another name.

    human-rps: 217 people against seven bots (Brockbank and Vul 2024); groups are bots. human-ipd: 266 people in
    prisoner's dilemmas (Dal Bó and Fréchette 2011); groups are treatments, as D75R40: continuation .75, reward 40.
    """
    if name == "human-rps":
        columns = {"group": "bot", "own": "human", "other": "bot_move"}
        return read_choices(Path(f"{name}.csv"), lambda _: RPS, columns, text=bundled(name))
    if name == "human-ipd":
        columns = {"group": "treatment", "match": "game", "own": "choice"}
        return read_choices(Path(f"{name}.csv"), _of_treatment, columns, text=bundled(name))
    raise InputError(f"there is no data set `{name[:60]}`", hint=f"{' or '.join(DATASETS)}, or the path of a table")


# The bots of Brockbank and Vul: shifts are + (rock, paper, scissors, rock), 0 and −

PLUS, NIL, MINUS = 1, 0, 2
WIN, TIE, LOSS = 1, 0, 2  # (bot's move − person's move) modulo 3: the bot's outcome
OWN_SHIFT = {"prev_move_positive": PLUS, "prev_move_negative": MINUS}
REPLY = {"opponent_prev_move_positive": PLUS, "opponent_prev_move_nil": NIL}
OUTCOMES: Mapping[str, Mapping[int, int]] = {
    "win_nil_lose_positive": {WIN: NIL, LOSS: PLUS, TIE: MINUS},
    "win_positive_lose_negative": {WIN: PLUS, LOSS: MINUS, TIE: NIL},
}
DUAL = {
    WIN: {PLUS: MINUS, NIL: PLUS, MINUS: NIL},
    LOSS: {PLUS: NIL, NIL: MINUS, MINUS: PLUS},
    TIE: {PLUS: PLUS, NIL: NIL, MINUS: MINUS},
}

BOTS = (*REPLY, *OWN_SHIFT, *OUTCOMES, "outcome_transition_dual_dependency")
History = tuple[tuple[int, int], ...]


@cache
def bots() -> Mapping[str, Machine]:
    """The seven bots, by the names of the data, in the second place of the game.

    Their first move is uniform, and so is one for which the rule needs a round that has not been played.
    """
    return {name: _bot(name) for name in BOTS}


def _bot(name: str) -> Machine:
    """The machine of a bot, whose state are the last two rounds (own, person's); it makes its rule's move with RULE."""

    def act(history: History) -> tuple[float, ...]:
        move = _rule(name, history) if history else None
        p_other = (1.0 - RULE) / 2
        return (1 / 3,) * 3 if move is None else tuple(RULE if b == move else p_other for b in range(3))

    start: History = ()
    return build(name, RPS, start, act, lambda h, own, theirs: (*h, (own, theirs))[-2:])


def _rule(name: str, history: History) -> int | None:
    """The move of a bot's rule after the last two rounds, (bot, person) each; None if it needs another round."""
    own, theirs = history[-1]
    if name in OWN_SHIFT:
        return (own + OWN_SHIFT[name]) % 3
    if name in REPLY:
        return (theirs + REPLY[name]) % 3
    if name in OUTCOMES:
        return (own + OUTCOMES[name][(own - theirs) % 3]) % 3
    return None if len(history) < 2 else (own + DUAL[(own - theirs) % 3][(own - history[-2][0]) % 3]) % 3


# The strategies of Dal Bó and Fréchette

PUNISHED = 2  # rounds for which T2 defects after a defection
STRATEGIES = ("ALLD", "ALLC", "GRIM", "TFT", "WSLS", "T2")


def strategies() -> tuple[ParametricMind, ...]:
    """The six strategies of Dal Bó and Fréchette's finite mixture, each with a tremble (state 0 is the first).

    GRIM defects for good, and T2 for two rounds, after a defection of either player; as in the R package stratEst.
    """
    return tuple(trembling(name, "strategy of Dal Bó and Fréchette", partial(_start, name)) for name in STRATEGIES)


def _start(name: str, game: Game) -> Partner:
    return _strategy(name, game).start


@cache
def _strategy(name: str, game: Game) -> Machine:
    """C is 0 and D is 1."""
    if name in ("ALLD", "ALLC"):
        return build(name, game, 0, lambda _: int(name == "ALLD"), lambda q, _own, _theirs: q)
    if name == "TFT":
        return build(name, game, 0, lambda q: q, lambda _q, _own, theirs: theirs)
    if name == "WSLS":
        return build(name, game, 0, lambda q: q, lambda _q, own, theirs: int(own != theirs))
    if name == "GRIM":
        return build(name, game, 0, lambda q: q, lambda q, own, theirs: int(q or own or theirs))

    def punish(remaining: int, own: int, theirs: int) -> int:
        return remaining - 1 if remaining else PUNISHED * int(own or theirs)

    return build(name, game, 0, lambda left: int(left > 0), punish)
