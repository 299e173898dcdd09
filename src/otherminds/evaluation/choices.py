"""What people did in repeated games: a strict reader of tables, arrays of all matches, and simulated people."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from otherminds.errors import InputError, install_hint, meant
from otherminds.files.text import read_text
from otherminds.worlds.repeated_games.machines import Machine
from otherminds.worlds.repeated_games.players.habits import MISSED
from otherminds.worlds.repeated_games.players.in_vectors import Ints
from otherminds.worlds.repeated_games.players.parametric import ParametricMind, Payoffs, payoffs_of
from otherminds.worlds.repeated_games.rules import Game, Outcome

Floats = NDArray[np.float64]
NO_MOVE = "none"  # the action of a row in which no move was made in time
NOT_RECORDED = ("<NA>", "NA")  # actions of rows that are skipped
LARGEST = 50_000_000  # bytes of a table; bounds memory
COLUMNS = {"person": "person", "group": "group", "match": "match", "round": "round", "own": "own", "other": "other"}
"""The columns of a table by what they hold; group and match may be missing."""
OPTIONAL = ("group", "match")


@dataclass(frozen=True, eq=False)
class Choices:
    """The choices of N people in S matches of at most T rounds.

    `person[s]` is the index in `people` of match s, `games[s]` its game from that person's side. `own` and `theirs`,
    shape (S, T), are actions; `own` is MISSED where no move was made, and where a match has ended. `number` are the
    rounds' numbers in the table, 0 where a match has ended. `groups[n]` is the group of person n, such as a treatment
    or the partner.
    """

    people: tuple[str, ...]
    groups: tuple[str, ...]
    person: Ints
    games: tuple[Game, ...]
    own: Ints
    theirs: Ints
    number: Ints

    @cached_property
    def played(self) -> NDArray[np.bool_]:
        """The rounds that there were, shape (S, T)."""
        return self.number > 0

    @cached_property
    def payoffs(self) -> Payoffs:
        """The payoffs of both agents in each match."""
        return payoffs_of(self.games)

    @cached_property
    def scored(self) -> NDArray[np.bool_]:
        """The rounds with a likelihood term, shape (S, T): those in which a move was made."""
        return cast("NDArray[np.bool_]", self.played & (self.own != MISSED))

    @cached_property
    def earned(self) -> Floats:
        """Points of each round, shape (S, T); 0 where no move was made."""
        every = np.arange(len(self.own))[:, None]
        points: Floats = self.payoffs[0][every, self.own, self.theirs]
        return np.where(self.scored, points, 0.0)

    def total(self, by_match: Floats) -> Floats:
        """Sums over the matches of each person, shape (S, …) to (N, …)."""
        totals = np.zeros((len(self.people), *by_match.shape[1:]))
        np.add.at(totals, self.person, by_match)
        return totals

    def subset(self, people: Sequence[int] | Ints) -> Choices:
        """The choices of some people, in this order; a person may be named more than once."""
        indices = np.asarray(people, dtype=np.intp)
        if np.array_equal(indices, np.arange(len(self.people))):
            return self
        matches = [np.flatnonzero(self.person == n) for n in indices]
        person = np.repeat(np.arange(len(indices)), [len(m) for m in matches])
        names, groups = (tuple(part[n] for n in indices) for part in (self.people, self.groups))
        some = self.of_matches(np.concatenate(matches) if matches else np.array([], dtype=np.intp))
        return replace(some, people=names, groups=groups, person=person)

    def of_matches(self, which: Ints) -> Choices:
        """The same people with some of their matches only; a match may be repeated."""
        length = int(self.played[which].sum(axis=1).max(initial=1))
        own, theirs, number = self.own[which, :length], self.theirs[which, :length], self.number[which, :length]
        games = tuple(self.games[s] for s in which)
        return Choices(self.people, self.groups, self.person[which], games, own, theirs, number)

    def of_group(self, group: str) -> Choices:
        """The choices of the people of one group."""
        return self.subset([n for n, name in enumerate(self.groups) if name == group])


# Reading


@dataclass
class _Match:
    """A match while it is read."""

    person: str
    group: str
    game: Game
    last: int = 0
    own: list[int] = field(default_factory=list)
    theirs: list[int] = field(default_factory=list)
    number: list[int] = field(default_factory=list)


def read_choices(
    path: Path,
    game: Callable[[str], Game],
    columns: Mapping[str, str] | None = None,
    *,
    text: str | None = None,
) -> Choices:
    """Read a table of choices, a CSV or Parquet file with named columns.

    One row is one round: `person`, `round` (increasing within a match), `own` and `other` (actions by name, case
    ignored, or by a first letter that only one of them has), and perhaps `group` and `match`. A person who begins a
    new match meets a new partner. `columns` maps these to other names of columns. An own action `none` is a move that
    was missed, rows with `<NA>` are skipped. `game(group)` is the game of a group. `text`, if given, is the table
    itself as CSV; then `path` only names it in errors.
    Raises InputError with file and line.
    """
    column_names = {**COLUMNS, **(columns or {})}
    table = _parquet(path) if path.suffix == ".parquet" else _csv(path, text)
    header = next(table)[1]
    index_of = {name: header.index(column) for name, column in column_names.items() if column in header}
    for name, column in column_names.items():
        if name not in index_of and (name not in OPTIONAL or name in (columns or {})):
            hint = f"it has {', '.join(header)}; --column {name}=NAME says which holds it"
            raise InputError(f"there is no column `{column[:60]}`", path=path, line=1, hint=hint)
    matches: dict[tuple[str, str], _Match] = {}
    group_of: dict[str, tuple[str, int]] = {}
    for line, cells in table:
        if len(cells) != len(header):
            raise InputError(f"{len(cells)} cells instead of {len(header)}", path=path, line=line)
        cell = {name: cells[i].strip() for name, i in index_of.items()}
        _add(matches, group_of, cell, game, path, line)
    played_matches = [match for match in matches.values() if match.own]
    if not played_matches:
        raise InputError("there are no choices in it", path=path)
    if len({match.game.shape for match in played_matches}) > 1:
        raise InputError("its games have different numbers of actions", path=path, hint="fit them one by one")
    return _arrays(played_matches)


def _add(
    matches: dict[tuple[str, str], _Match],
    group_of: dict[str, tuple[str, int]],
    cell: Mapping[str, str],
    game: Callable[[str], Game],
    path: Path,
    line: int,
) -> None:
    """Append the round in one row of the table to its person's match, beginning the match if the row is its first.

    `matches` has a match for each (person, name of match); `group_of` the group of each person, and the line where it
    was first given. `cell` is the row by column: {"person": "p1", "round": "3", "own": "c", "other": "d"}.
    """
    person, group = cell["person"], cell.get("group", "all")
    if not person:
        raise InputError("there is no person", path=path, line=line)
    known_group, first_line = group_of.setdefault(person, (group, line))
    if known_group != group:
        message = f"person {person[:60]} is in group `{group[:60]}`, and in `{known_group[:60]}` in line {first_line}"
        raise InputError(message, path=path, line=line, hint="a person has one group")
    key = (person, cell.get("match", ""))
    match = matches.get(key) or matches.setdefault(key, _Match(person, group, game(group)))
    try:
        round_number = int(cell["round"])
    except ValueError:
        raise InputError(f"round `{cell['round'][:60]}` is no whole number", path=path, line=line) from None
    if round_number <= match.last:
        message = f"round {round_number} of person {person[:60]} comes after round {match.last}"
        raise InputError(message, path=path, line=line, hint="rounds increase within a match")
    match.last = round_number
    if cell["own"] in NOT_RECORDED or cell["other"] in NOT_RECORDED:
        return
    theirs = _action(cell["other"], match.game.actions[1], path, line)
    missed = cell["own"].lower() == NO_MOVE
    match.own.append(MISSED if missed else _action(cell["own"], match.game.actions[0], path, line))
    match.theirs.append(theirs)
    match.number.append(round_number)


def _action(text: str, names: Sequence[str], path: Path, line: int) -> int:
    """The index of an action given by its name or by a first letter that only one has, case ignored.

    Both `c` and `COOPERATE` are 0 among ("Cooperate", "Defect"). Raises InputError if no action is meant.
    """
    plain = text.casefold()
    lower = [name.casefold() for name in names]
    if plain in lower:
        return lower.index(plain)
    initials = [name[0] for name in lower]
    if initials.count(plain) == 1:
        return initials.index(plain)
    hint = meant(text, names, f"`{NO_MOVE}` if no move was made")
    raise InputError(f"there is no action `{text[:60]}`", path=path, line=line, hint=hint)


def _csv(path: Path, text: str | None) -> Iterator[tuple[int, list[str]]]:
    """The rows of a CSV file, each with its line number; the first is the header. Empty lines are left out."""
    if text is None:
        text = read_text(path, limit=LARGEST)
    reader = csv.reader(io.StringIO(text), strict=True)
    try:
        header = next(reader, None)
        if not header:
            raise InputError("it is empty", path=path)
        yield 1, [name.strip() for name in header]
        for cells in reader:
            if cells:
                yield reader.line_num, cells
    except csv.Error as error:
        raise InputError(f"this is no CSV: {error}", path=path, line=reader.line_num) from None


def _parquet(path: Path) -> Iterator[tuple[int, list[str]]]:
    """The rows of a Parquet file, numbered as the lines of a CSV file would be."""
    if not find_spec("pyarrow"):
        raise InputError("Parquet needs pyarrow", path=path, hint=install_hint("parquet"))
    import pyarrow
    from pyarrow import parquet

    try:
        table = parquet.read_table(path)
    except (OSError, pyarrow.ArrowException) as error:
        raise InputError(f"this is no Parquet file: {error}", path=path) from None
    yield 1, list(table.column_names)
    columns = [["" if value is None else str(value) for value in column.to_pylist()] for column in table.columns]
    for line, cells in enumerate(zip(*columns, strict=True), 2):
        yield line, list(cells)


def _arrays(matches: Sequence[_Match]) -> Choices:
    """The matches of people as padded arrays: rounds after the end of a match are MISSED, with number 0."""
    group = {match.person: match.group for match in matches}
    index = {name: n for n, name in enumerate(group)}
    most_rounds = max(len(match.own) for match in matches)
    own_moves = np.full((len(matches), most_rounds), MISSED)
    their_moves, numbers = np.zeros_like(own_moves), np.zeros_like(own_moves)
    for s, match in enumerate(matches):
        rounds = len(match.own)
        own_moves[s, :rounds], their_moves[s, :rounds], numbers[s, :rounds] = match.own, match.theirs, match.number
    person = np.array([index[match.person] for match in matches])
    games = tuple(match.game for match in matches)
    return Choices(tuple(index), tuple(group.values()), person, games, own_moves, their_moves, numbers)


# Simulated people


def simulated(
    mind: ParametricMind,
    like: Choices,
    values: Mapping[str, Floats],
    rng: np.random.Generator,
    partners: Mapping[str, Machine] | None = None,
) -> Choices:
    """People with these parameters, shape (N,) each, in the place of real ones: same matches, groups and rounds.

    `partners` are the machines of the groups that they play with, from the second place of the game; without them the
    other's recorded moves are played again, whatever the simulated person does.
    """
    values_by_match = {name: value[like.person][:, None] for name, value in values.items()}
    minds = crowd_of(mind, like, values_by_match)
    machines = Partners.of(like, partners) if partners else None
    own_moves = np.full_like(like.own, MISSED)
    their_moves = like.theirs.copy()
    for t in range(own_moves.shape[1]):
        policy = minds.act()[:, 0]
        actions = _sampled_actions(np.broadcast_to(policy, (len(own_moves), policy.shape[1])), rng)
        own_moves[:, t] = np.where(like.played[:, t], actions, MISSED)
        if machines is not None:
            their_moves[:, t] = machines.act(rng)
            machines.observe(actions, their_moves[:, t])
        minds = minds.observe(own_moves[:, t], their_moves[:, t])
    return Choices(like.people, like.groups, like.person, like.games, own_moves, their_moves, like.number)


@dataclass
class Partners:
    """The machines of the people's groups, one for each of S matches, each in its state.

    `outputs[i, q, b]` is the probability that machine i plays action b in state q; `moves[i, q, a, b]` its next state
    after the person's action a and its own action b. `which` and `state`, shape (S,), are the machine of each match
    and its present state.
    """

    outputs: Floats
    moves: Ints
    which: Ints
    state: Ints

    @classmethod
    def of(cls, choices: Choices, machines: Mapping[str, Machine]) -> Partners:
        """The machines before the first round; `outputs` and `moves` are padded to the largest of them."""
        groups = list(machines)
        most_states = max(len(machine.outputs) for machine in machines.values())
        moves = [np.array(machine.moves) for machine in machines.values()]
        outputs = np.zeros((len(groups), most_states, len(next(iter(machines.values())).outputs[0])))
        next_states = np.zeros((len(groups), most_states, *moves[0].shape[1:]), dtype=np.intp)
        for i, machine in enumerate(machines.values()):
            outputs[i, : len(machine.outputs)], next_states[i, : len(machine.outputs)] = machine.outputs, moves[i]
        which = np.array([groups.index(choices.groups[n]) for n in choices.person])
        return cls(outputs, next_states, which, np.zeros_like(which))

    def act(self, rng: np.random.Generator) -> Ints:
        """Their next actions, shape (S,)."""
        return _sampled_actions(self.outputs[self.which, self.state], rng)

    def observe(self, theirs: Ints, own: Ints) -> None:
        """The partners after a round; `theirs` are the people's actions."""
        self.state = self.moves[self.which, self.state, own, theirs]


def _sampled_actions(policy: Floats, rng: np.random.Generator) -> Ints:
    """An action sampled from each row of `policy`, shape (S, |A|): indices of shape (S,)."""
    drawn = (policy.cumsum(axis=1) < rng.random((len(policy), 1))).sum(axis=1)
    return cast("Ints", np.minimum(drawn, policy.shape[1] - 1))


# Minds one by one, as a crowd


@dataclass(frozen=True, eq=False)
class OneByOne:
    """Minds without a version in arrays, as a crowd: `minds[s][k]` is that of match s at parameter point k."""

    minds: tuple[tuple[Any, ...], ...]
    games: tuple[Game, ...]

    def observe(self, own: Ints, theirs: Ints) -> OneByOne:
        """The minds after a round."""
        rounds = [outcome(game, int(a), int(b)) for game, a, b in zip(self.games, own, theirs, strict=True)]
        minds = tuple(tuple(mind.observe(o) for mind in row) for row, o in zip(self.minds, rounds, strict=True))
        return OneByOne(minds, self.games)

    def act(self) -> Floats:
        """π, shape (S, K, |A|)."""
        options = range(self.games[0].shape[0])
        return np.array([[_probabilities(mind.act(), options) for mind in row] for row in self.minds])


def _probabilities(policy: Any, options: Iterable[int]) -> list[float]:
    return [float(np.exp(policy.log_prob(a))) for a in options]


def outcome(game: Game, own: int, theirs: int) -> Outcome:
    """What the agent observes of a round; the payoff of a missed move is 0."""
    return Outcome(own, theirs, 0.0 if own == MISSED else float(game.payoff()[own, theirs]))


def crowd_of(mind: ParametricMind, choices: Choices, values: Mapping[str, Floats]) -> Any:
    """The minds before the first round, for parameters of shape (S, K) or (1, K): K points for each of S matches.

    Like `OneByOne`, the result has `observe(own, theirs)`, actions of shape (S,), and `act()`, π of shape (S, K, |A|).
    """
    if mind.many is not None:
        return mind.many(choices.payoffs, values)
    shape = np.broadcast_shapes(*(value.shape for value in values.values()), (len(choices.games), 1))
    values_by_match = {name: np.broadcast_to(value, shape) for name, value in values.items()}
    minds = tuple(
        tuple(
            mind.mind(game, **{name: float(value[s, k]) for name, value in values_by_match.items()}).observe(None)
            for k in range(shape[1])
        )
        for s, game in enumerate(choices.games)
    )
    return OneByOne(minds, choices.games)
