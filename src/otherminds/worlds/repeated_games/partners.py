"""Partners by name, `partner("tft~0.05", game)`, and the suites that experiments draw from.

The partner plays in the second place. In 2 × 2 games the first action is cooperation, the second defection. In games of
three or more it observes the joint action of all others.

In `tft~0.1` the partner plays a uniformly random action with probability .1. With two actions that changes its action
in 5 % of rounds: a noise of .05 in the unit of Axelrod's library, which is the probability of a changed action.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from math import prod
from pathlib import Path

import numpy as np

from otherminds.errors import InputError, meant
from otherminds.worlds.repeated_games import machines as strategies
from otherminds.worlds.repeated_games.machines import (
    Machine,
    build,
    bundled_machines,
    constant,
    periodic,
    reactive,
    read_machines,
    together,
)
from otherminds.worlds.repeated_games.payoff_files import find_game
from otherminds.worlds.repeated_games.rules import Game

TIE = 1e-9  # payoffs that differ by less are equal: rounding
PERIOD = 10  # rounds that `switcher` plays each of its two ways; chosen
MAX_ACTIONS = 30  # actions of games that named partners play; bounds the size of machines
MAX_ROUNDS = 1000  # digits of a cycle; bounds time
MAX_SUITE = 10_000  # partners in a suite; bounds time
MAX_OTHERS = 1000  # joint actions of the others to which a named partner can react; bounds the size of machines
MAX_TOGETHER = 10_000  # states of several partners together; bounds time

Maker = Callable[[Game], Machine]


class UnknownPartnerError(InputError):
    """No partner has this name."""


def partner(name: str, game: Game | str, own: Mapping[str, Machine] | None = None) -> Machine:
    """The partner with this name, ignoring case; `~0.1` after it adds random actions with probability .1.

    `own` are machines by name that come before all others, as `own_machines` reads them.
    Raises UnknownPartnerError for an unknown name, InputError for a partner that cannot play the game.
    """
    if isinstance(game, str):
        game = find_game(game)
    own_by_name = own or {}
    if _normalised(name) in own_by_name:
        return own_by_name[_normalised(name)]
    plain, tilde, noise = _normalised(name).partition("~")
    if plain in own_by_name:
        machine = own_by_name[plain]
    else:
        _need(_fits(game), plain, game, f"it plays games with {MAX_ACTIONS} actions at most")
        machine = _by_digits(plain, game) or _by_name(plain, game, own_by_name)
    try:
        return machine.trembling(float(noise)) if tilde else machine
    except ValueError:
        hint = "the probability of a uniformly random action, from 0 to 1: tft~0.1 is Axelrod's noise of 0.05"
        raise InputError(f"`{noise[:60]}` is not a noise", hint=hint) from None


def own_machines(path: Path | None, game: Game) -> Mapping[str, Machine]:
    """The machines of a file by name, in the second place of the game; empty without a file.

    Raises InputError for a file that is not valid, or two machines whose names differ in case or spaces only.
    """
    by_name = dict[str, Machine]()
    for machine in read_machines(path, game) if path else ():
        if _normalised(machine.name) in by_name:
            hint = "names must differ in more than case and spaces"
            raise InputError(f"`{machine.name[:60]}` is listed twice", path=path, hint=hint)
        by_name[_normalised(machine.name)] = machine
    return by_name


def partners_in(game: Game, names: Sequence[str], path: Path | None = None) -> list[Machine]:
    """A partner for each match: in a game of two each that is named, or all of a file of machines if none is.

    In a game of three or more there is one match. The names are those of the other agents in their order, whose product
    machine is the partner (`together`). Raises InputError for unknown names, and for another number of names.
    """
    if len(game.agents) == 2:
        own = own_machines(path, game)
        return [partner(name, game, own) for name in names] if names else list(own.values())
    partner_agents = game.agents[1:]
    if len(names) != len(partner_agents):
        hint = f"name one for each of {', '.join(partner_agents)}, in this order"
        raise InputError(f"{game.name} needs {len(partner_agents)} partners, not {len(names)}", hint=hint)
    partner_machines = []
    for i, name in enumerate(names, 1):
        view = game.seen_by(i).seen_by(1)  # agent i in the second place, the others in their order
        partner_machines.append(partner(name, view, own_machines(path, view)))
    if prod(len(machine.outputs) for machine in partner_machines) > MAX_TOGETHER:
        raise InputError(f"these partners have more than {MAX_TOGETHER:,} states together", hint="choose smaller ones")
    return [together(game, partner_machines)]


def partner_names(game: Game) -> tuple[str, ...]:
    """The names of the partners that can play a game, without others with digits: cycle-011, zd-extort-3, …"""
    if not _fits(game):
        return ()
    machines = _bundled() if game.shape == (2, 2) else ()
    return (*_constants(game), *(name for name in PARTNERS if not _misfit(name, game)), *machines)


def single_action(game: Game) -> tuple[Machine, ...]:
    """The constant partners, one for each action (Riemer et al., §2.2)."""
    return tuple(constant(game, action) for action in range(len(game.actions[1])))


def tit_for_tat(game: Game) -> tuple[Machine, ...]:
    """The paper's tit-for-tat partner alone (Riemer et al., §2.2). Raises InputError if it does not fit the game."""
    return (partner("tft", game),)


def memory_one(game: Game) -> tuple[Machine, ...]:
    """All 32 deterministic memory-one partners of a 2 × 2 game, or all reactive ones of a larger game.

    Raises InputError if there are more than 10,000.
    """
    options, their_options = game.payoff(1).shape
    if (options, their_options) == (2, 2):
        return tuple(strategies.all_memory_one(game))
    if options ** (1 + their_options) > MAX_SUITE:
        raise InputError(f"{game.name} has more than {MAX_SUITE:,} reactive partners")
    return tuple(strategies.all_reactive(game))


def machines(game: Game) -> tuple[Machine, ...]:
    """The bundled strategies of the Axelrod library. Raises InputError if the game is not 2 × 2."""
    return bundled_machines(game)


def _tft(game: Game) -> Machine:
    """The paper's tit-for-tat: a best response in Rock, Paper, Scissors, a copy elsewhere, as if after action 0."""
    imitates = game.payoffs != find_game("rps").payoffs
    answers = list(range(len(game.actions[1]))) if imitates else _best_replies(game)
    return reactive("tft", game, answers[0], answers)


def _anti_copy(game: Game) -> Machine:
    """Plays the action after the other's last one, which in 2 × 2 games is the opposite."""
    size = len(game.actions[1])
    return reactive("anti-copy", game, 0, [(action + 1) % size for action in range(size)])


def _best_replies(game: Game) -> list[int]:
    """The second agent's best reply to each action of the first, by index; ties to the lowest."""
    return [int(action) for action in game.payoff(1).argmax(axis=0)]


def _by_success(name: str, game: Game, *, repeat: bool) -> Machine:
    """Repeats its action after a payoff of at least its mean, else shifts to the next; not `repeat`: the opposite."""
    payoff = game.payoff(1)
    succeeded = payoff >= payoff.mean() - TIE

    def follow(_: int, own: int, theirs: int) -> int:
        return own if succeeded[own, theirs] == repeat else (own + 1) % len(payoff)

    return build(name, game, 0, lambda action: action, follow)


def _random(game: Game) -> Machine:
    options = len(game.actions[1])
    return build("random", game, (), lambda _: (1.0 / options,) * options, lambda q, _own, _theirs: q)


def _stubborn(game: Game) -> Machine:
    """Insists on its best outcome; after the other has given in, plays its part in the other's best for a round."""
    insist, concession = divmod(int(game.payoff(1).argmax()), len(game.actions[0]))
    repay = int(game.payoff(0).argmax()) % len(game.actions[1])
    return build(
        "reciprocal-stubborn",
        game,
        False,
        lambda owes: repay if owes else insist,
        lambda owes, _own, theirs: not owes and theirs == concession,
    )


def _switcher(game: Game) -> Machine:
    """Plays its first action for ten rounds, then copies for ten, in turn."""
    return build(
        "switcher",
        game,
        (0, 0),
        lambda q: 0 if q[0] < PERIOD else q[1],
        lambda q, _own, theirs: ((q[0] + 1) % (2 * PERIOD), theirs),
    )


def _four_vector(name: str, *cooperates: float) -> Maker:
    """Cooperates first, then with one probability after each of CC, CD, DC, DD (own action first)."""
    laws = [(p, 1.0 - p) for p in cooperates]
    return lambda game: strategies.memory_one(name, game, 0, [laws[:2], laws[2:]])


ZERO_DETERMINANT = re.compile(r"zd-(?P<kind>extort|gtft)-(?P<slope>[0-9]{1,6}(\.[0-9]{1,6})?)")


def zero_determinant(game: Game, kind: str, slope: float) -> tuple[float, ...] | None:
    """P(cooperate) after CC, CD, DC, DD, own action first, with which a partner earns a fixed share of the surplus.

    p = (1, 1, 0, 0) + φ ((own − base) − χ (other's − base)), with χ the slope: in the long run its mean payoff exceeds
    the base by χ times what the other's does, whatever the other does (Press and Dyson, PNAS 2012). The base is the
    payoff of mutual defection (`kind` extort) or of mutual cooperation (gtft), and φ half the largest that is possible,
    or the largest. In 3/0/5/1 these are the strategies of Stewart and Plotkin (PNAS 2012). None if no φ is possible.
    """
    mutual, share = {"extort": (1, 0.5), "gtft": (0, 1.0)}[kind]
    own, theirs = game.payoff(1), game.payoff(0).T
    gaps = (own - own[mutual, mutual] - slope * (theirs - theirs[mutual, mutual])).ravel()
    gaps[np.abs(gaps) < TIE] = 0.0
    costs = gaps * (-1, -1, 1, 1)  # all of one sign, or some p is outside [0, 1]
    if costs.min() < 0.0 < costs.max():
        return None
    rate = share / (costs.max() or costs.min() or 1.0)
    return tuple((np.array([1.0, 1.0, 0.0, 0.0]) + rate * gaps).tolist())


def _zero_determinant(name: str, game: Game) -> Machine:
    """The zero-determinant partner of this name, which the game must have. Cooperates first."""
    _, kind, slope = name.split("-")
    return _four_vector(name, *(zero_determinant(game, kind, float(slope)) or ()))(game)


PARTNERS: Mapping[str, Maker] = {
    "tft": _tft,
    "copy": lambda game: reactive("copy", game, 0, range(len(game.actions[1]))),
    "anti-copy": _anti_copy,
    "best-response": lambda game: reactive("best-response", game, _best_replies(game)[0], _best_replies(game)),
    "wsls": lambda game: _by_success("wsls", game, repeat=True),
    "win-shift": lambda game: _by_success("win-shift", game, repeat=False),
    "alternate": lambda game: periodic("alternate", game, range(len(game.actions[1]))),
    "random": _random,
    "reciprocal-stubborn": _stubborn,
    "switcher": _switcher,
    "grim": lambda game: build("grim", game, 0, lambda q: q, lambda q, _own, theirs: q or theirs),
    "tit-for-two-tats": lambda game: strategies.memory(
        "tit-for-two-tats", game, 2, lambda history: int([theirs for _, theirs in history] == [1, 1])
    ),
    "gtft": _four_vector("gtft", 1.0, 1 / 3, 1.0, 1 / 3),
    **{name: partial(_zero_determinant, name) for name in ("zd-extort-2", "zd-gtft-2")},
    "joss": _four_vector("joss", 0.9, 0.0, 0.9, 0.0),
}
SQUARE = ("tft", "copy", "anti-copy", "switcher")  # those that need as many actions as the other has
OF_TWO = ("reciprocal-stubborn",)  # those that answer one other, besides the square ones
TWO_BY_TWO = ("grim", "tit-for-two-tats", "gtft", "zd-extort-2", "zd-gtft-2", "joss")


def _by_name(name: str, game: Game, own: Mapping[str, Machine]) -> Machine:
    """The partner with a name from PARTNERS, of a bundled machine or of a constant; noise is already split off.

    Raises UnknownPartnerError for another name, and InputError for one that cannot play the game.
    """
    maker = partial(_zero_determinant, name) if ZERO_DETERMINANT.fullmatch(name) else PARTNERS.get(name)
    if maker or name in _bundled():
        misfit = _misfit(name, game)
        _need(not misfit, name, game, misfit)
        return maker(game) if maker else _bundled()[name]
    constants = _constants(game)
    if name in constants:
        return constants[name]
    hint = "also cycle-, reactive- and memory-one- with digits, as cycle-011, and zd-extort-3"
    hint = meant(name, [*own, *partner_names(game)], hint)
    raise UnknownPartnerError(f"unknown partner `{name[:60]}`", hint=hint)


def _by_digits(name: str, game: Game) -> Machine | None:
    """The partner whose table is in its name, such as `cycle-011` or `memory-one-00110`; None for another name.

    The digits of a cycle are its actions; those of the others are the first action and the reply to each context.
    """
    match = re.fullmatch(r"(?P<kind>cycle|reactive|memory-one)-(?P<digits>[0-9]+)", name)
    if not match:
        return None
    kind, digits = match["kind"], match["digits"]
    options, their_options = game.payoff(1).shape
    first, *replies = actions = [int(digit) for digit in digits]
    _need(max(actions) < options, name, game, f"its actions are 0 to {options - 1}")
    title = f"{kind} {digits}"
    if kind == "cycle":
        _need(len(actions) <= MAX_ROUNDS, name, game, f"{MAX_ROUNDS} digits are the most")
        return periodic(title, game, actions)
    contexts = their_options if kind == "reactive" else options * their_options
    _need(len(replies) == contexts, name, game, f"it needs a first action and {contexts} replies")
    if kind == "reactive":
        return reactive(title, game, first, replies)
    by_own_action = [replies[own * their_options : (own + 1) * their_options] for own in range(options)]
    return strategies.memory_one(title, game, first, by_own_action)


def _misfit(name: str, game: Game) -> str:
    """Why a named partner cannot play a game; empty if it can."""
    if game.shape != (2, 2) and (name in TWO_BY_TWO or name not in PARTNERS):
        return "it plays 2 × 2 games"
    if len(game.agents) > 2 and (name in SQUARE or name in OF_TWO):
        return "it plays games of two"
    slope = ZERO_DETERMINANT.fullmatch(name)
    if slope and zero_determinant(game, slope["kind"], float(slope["slope"])) is None:
        cooperate, defect = game.actions[1]
        return (
            f"its surplus over mutual {defect if slope['kind'] == 'extort' else cooperate} would have to be at most "
            f"{slope['slope']} times the other's whenever it plays {cooperate}, and at least that whenever {defect}"
        )
    square = len(game.actions[0]) == len(game.actions[1])
    return "it needs as many actions as the other has" if name in SQUARE and not square else ""


def _constants(game: Game) -> dict[str, Machine]:
    return {_normalised(machine.name): machine for machine in single_action(game)}


@cache
def _bundled() -> dict[str, Machine]:
    return {_normalised(machine.name): machine for machine in bundled_machines(find_game("ipd"))}


def _normalised(name: str) -> str:
    """A name as it is compared: lower case, hyphens for spaces."""
    return "-".join(name.casefold().split())


def _fits(game: Game) -> bool:
    return max(game.shape) <= MAX_ACTIONS and game.payoff(1).shape[1] <= MAX_OTHERS


def _need(condition: bool, name: str, game: Game, reason: str) -> None:
    """Raise InputError with this reason unless the condition holds."""
    if not condition:
        raise InputError(f"{name[:60]} cannot play {game.name}", hint=reason)
