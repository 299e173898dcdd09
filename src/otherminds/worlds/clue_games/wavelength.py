"""Wavelength: a clue for a hidden target on a dial between two opposites, and a guess where it is meant to be.

The spectra are TOML files with one thing a line, so that every error has its line: `[cold.hot]`, then
`"ice cube" = 0.15` for every clue. (The party game by Warsch, Hague and Vickers 2019.)
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from otherminds.errors import InputError
from otherminds.files.text import read_text
from otherminds.files.toml import read_toml
from otherminds.worlds.map_file import rows_of

PASS = -1
SCORES = (4.0, 3.0, 2.0)
LONGEST = 60


class Spectrum(NamedTuple):
    """Two opposites, and clues with the place that most people would give them, from 0 (low) to 1 (high)."""

    low: str
    high: str
    clues: tuple[str, ...]
    places: tuple[float, ...]


def read_spectra(path: Path) -> tuple[Spectrum, ...]:
    """Read spectra from a file. Raises InputError with the line of the first thing that is wrong."""
    return parse_spectra(read_text(path), path)


@cache
def bundled_spectra() -> tuple[Spectrum, ...]:
    """The eight spectra that come with the library."""
    text = (resources.files("otherminds.worlds.clue_games") / "wavelength.toml").read_text("utf-8")
    return parse_spectra(text, Path("wavelength.toml"))


def parse_spectra(text: str, path: Path) -> tuple[Spectrum, ...]:
    """Read spectra from text; `path` is what errors call it. Raises InputError for what are no spectra."""
    found: dict[tuple[str, str], dict[str, float]] = {}
    begun: dict[tuple[str, str], int] = {}
    for line, heads, entry in _lines(text, path):
        if heads:
            poles = _poles(entry, path, line)
            if poles in found:
                raise InputError(f"a second spectrum {'–'.join(poles)}", path=path, line=line)
            found[poles], begun[poles] = {}, line
        elif not found:
            raise InputError("a clue before any spectrum", path=path, line=line, hint="begin with [low.high]")
        else:
            name, place = _clue(entry, path, line)
            if name in (clues := found[poles]):
                raise InputError(f"a second place for `{name}`", path=path, line=line)
            clues[name] = place
    for poles, clues in found.items():
        if len(clues) < 2:
            raise InputError("a spectrum needs at least 2 clues", path=path, line=begun[poles])
    if not found:
        raise InputError("there is no spectrum", path=path, line=1, hint="begin with [low.high]")
    return tuple(Spectrum(*poles, tuple(clues), tuple(clues.values())) for poles, clues in found.items())


def _lines(text: str, path: Path) -> Iterator[tuple[int, bool, dict[str, Any]]]:
    """The lines that are neither empty nor comments: their number, whether they begin a spectrum, what is in them."""
    for number, line in enumerate(rows_of(text.replace("\r\n", "\n"), path), 1):
        try:
            entry = read_toml(line)
        except (ValueError, RecursionError) as error:
            place = re.search(r" \(at (?:line 1, column (\d+)|end of document)\)$", str(error))
            column = int(place[1]) if place and place[1] else None
            message = str(error)[: place.start()] if place else "is no line of TOML"
            raise InputError(message, path=path, line=number, column=column) from None
        if entry:
            yield number, line.lstrip().startswith("["), entry


def _poles(entry: dict[str, Any], path: Path, line: int) -> tuple[str, str]:
    (low, inner), *_ = entry.items()
    high = next(iter(inner), "") if isinstance(inner, dict) else ""
    if entry != {low: {high: {}}} or low == high:
        raise InputError("a spectrum begins with two opposites", path=path, line=line, hint="as in [cold.hot]")
    return _named(low, path, line), _named(high, path, line)


def _clue(entry: dict[str, Any], path: Path, line: int) -> tuple[str, float]:
    (name, place), *_ = entry.items()
    if isinstance(place, bool) or not isinstance(place, int | float) or not 0.0 <= place <= 1.0:
        hint = 'as in "ice cube" = 0.15'
        raise InputError("the place of a clue is a number from 0 to 1", path=path, line=line, hint=hint)
    return _named(name, path, line), float(place)


def _named(name: str, path: Path, line: int) -> str:
    if not name.isprintable() or name != name.strip() or not 0 < len(name) <= LONGEST:
        message = f"a name has 1 to {LONGEST} printable characters, no space around them"
        raise InputError(message, path=path, line=line)
    return name


class Round(NamedTuple):
    """A round that is over, as everybody then sees it."""

    spectrum: int
    target: int
    clue: int
    guess: int


class Board(NamedTuple):
    """The state: how many rounds are over, the spectrum, the target, the clue once it is given, the round before."""

    rounds: int
    spectrum: int
    target: int
    clue: int | None
    last: Round | None


class View(NamedTuple):
    """What an agent sees: the spectrum, the target (its giver alone), the clue once it is given, the round before."""

    spectrum: int
    target: int | None
    clue: int | None
    last: Round | None


@dataclass(frozen=True)
class Wavelength:
    """Wavelength played `rounds` times on a dial of positions 0, 1, …; whoever is not to act passes.

    A round is two steps: the giver sees the target and names a clue of the spectrum (its index), the guesser turns
    the dial. Both score 4, 3, 2 at distances 0, 1, 2 from the target. Spectra and targets are drawn uniformly.
    Raises ValueError without a spectrum, a round, or two positions.
    """

    rounds: int = 20
    positions: int = 21
    spectra: tuple[Spectrum, ...] = field(default_factory=bundled_spectra)

    def __post_init__(self) -> None:
        if self.rounds < 1 or self.positions < 2 or not self.spectra:
            raise ValueError("this game needs at least 1 round, 2 positions and 1 spectrum")

    @property
    def agents(self) -> tuple[str, str]:
        """Who acts, in the order in which they act."""
        return ("giver", "guesser")

    def start(self, rng: np.random.Generator, /) -> Board:
        """The first spectrum and target."""
        return Board(0, *self._draw(rng), None, None)

    def _draw(self, rng: np.random.Generator) -> tuple[int, int]:
        return int(rng.integers(len(self.spectra))), int(rng.integers(self.positions))

    def actions(self, state: Board, agent: str) -> tuple[int, ...]:
        """The clues of the spectrum, then the positions; only passing for whoever is not to act."""
        if self.agents.index(agent) != (state.clue is not None):
            return (PASS,)
        return tuple(range(len(self.spectra[state.spectrum].clues) if state.clue is None else self.positions))

    def step(self, state: Board, joint: Mapping[str, int], rng: np.random.Generator, /) -> Board:
        """The clue, or the guess and a new target. Raises ValueError for anything else."""
        for agent, action in joint.items():
            if action not in self.actions(state, agent):
                raise ValueError(f"{agent} cannot do {action} now")
        if state.clue is None:
            return state._replace(clue=joint["giver"])
        played = Round(state.spectrum, state.target, state.clue, joint["guesser"])
        return Board(state.rounds + 1, *self._draw(rng), None, played)

    def observe(self, state: Board, agent: str) -> View:
        """Everything, but the target for the giver alone."""
        return View(state.spectrum, state.target if agent == "giver" else None, state.clue, state.last)

    def reward(self, state: Board, joint: Mapping[str, int], _after: Board) -> dict[str, float]:
        """The score of the guess, for both, when the round ends."""
        worth = 0.0 if state.clue is None else score(joint["guesser"] - state.target)
        return dict.fromkeys(self.agents, worth)

    def done(self, state: Board) -> bool:
        """Whether all rounds are over."""
        return state.rounds >= self.rounds


def score(miss: int) -> float:
    """4, 3, 2 for a guess that misses the target by 0, 1, 2 positions; else 0."""
    return SCORES[abs(miss)] if abs(miss) < len(SCORES) else 0.0
