"""Wavelength: one player gives a clue for a hidden target on a dial between two opposites, the other guesses it.

Spectra are TOML files with one entry a line, so that every error has its line: `[cold.hot]`, then `"ice cube" = 0.15`
for each clue. (The party game by Warsch, Hague and Vickers 2019.)
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from otherminds.files.text import read_text
from otherminds.files.toml import read_toml
from otherminds.worlds.map_file import FileLine, bundled_text, rows_of

PASS = -1  # the action of the player whose turn it is not; convention
SCORES = (4.0, 3.0, 2.0)  # points for a miss by 0, 1 and 2 positions; rules of the game
LONGEST = 60  # characters of a pole or clue


class Spectrum(NamedTuple):
    """Two opposites, and clues with their conventional places, from 0 (low) to 1 (high)."""

    low: str
    high: str
    clues: tuple[str, ...]
    places: tuple[float, ...]


def read_spectra(path: Path) -> tuple[Spectrum, ...]:
    """Read spectra from a file. Raises InputError with the line of the first error."""
    return parse_spectra(read_text(path), path)


@cache
def bundled_spectra() -> tuple[Spectrum, ...]:
    """The eight bundled spectra."""
    return parse_spectra(*bundled_text("clue_games", "wavelength.toml"))


def parse_spectra(text: str, path: Path) -> tuple[Spectrum, ...]:
    """Read spectra from text; errors name `path`. Raises InputError for invalid spectra."""
    clues_by_poles: dict[tuple[str, str], dict[str, float]] = {}
    line_of_poles: dict[tuple[str, str], FileLine] = {}
    for number, row in enumerate(rows_of(text.replace("\r\n", "\n"), path), 1):
        line = FileLine(number, row, path)
        entry = _entry(line)
        if row.lstrip().startswith("["):
            poles = _poles(entry, line)
            if poles in clues_by_poles:
                raise line.wrong(f"a second spectrum {'–'.join(poles)}")
            clues_by_poles[poles] = {}
            line_of_poles[poles] = line
        elif entry and not clues_by_poles:
            raise line.wrong("a clue before any spectrum", "begin with [low.high]")
        elif entry:
            name, place = _clue(entry, line)
            if name in (clues := clues_by_poles[poles]):
                raise line.wrong(f"a second place for `{name}`")
            clues[name] = place
    for poles, clues in clues_by_poles.items():
        if len(clues) < 2:
            raise line_of_poles[poles].wrong("a spectrum needs at least 2 clues")
    if not clues_by_poles:
        raise FileLine(1, "", path).wrong("the file has no spectrum", "begin with [low.high]")
    return tuple(Spectrum(*poles, tuple(clues), tuple(clues.values())) for poles, clues in clues_by_poles.items())


def _entry(line: FileLine) -> dict[str, Any]:
    """The TOML value of a line, empty for one without content."""
    try:
        return read_toml(line.text)
    except (ValueError, RecursionError) as error:
        place = re.search(r" \(at (?:line 1, column (?P<column>\d+)|end of document)\)$", str(error))
        column = int(place["column"]) if place and place["column"] else None
        message = str(error)[: place.start()] if place else "is not a line of TOML"
        raise line.wrong(message, column=column) from None


def _poles(entry: dict[str, Any], line: FileLine) -> tuple[str, str]:
    """The two opposites of a line such as `[cold.hot]`, in TOML {"cold": {"hot": {}}}. Raises InputError for others."""
    (low, inner), *_ = entry.items()
    high = next(iter(inner), "") if isinstance(inner, dict) else ""
    if entry != {low: {high: {}}} or low == high:
        raise line.wrong("a spectrum begins with two opposites", "as in [cold.hot]")
    return _checked_name(low, line), _checked_name(high, line)


def _clue(entry: dict[str, Any], line: FileLine) -> tuple[str, float]:
    """A clue and its place, from 0 to 1. Raises InputError for any other line."""
    (name, place), *_ = entry.items()
    if isinstance(place, bool) or not isinstance(place, int | float) or not 0.0 <= place <= 1.0:
        raise line.wrong("the place of a clue is a number from 0 to 1", 'as in "ice cube" = 0.15')
    return _checked_name(name, line), float(place)


def _checked_name(name: str, line: FileLine) -> str:
    """The name of a pole or clue, unchanged. Raises InputError if it is empty, long or not printable."""
    if not name.isprintable() or name != name.strip() or not 0 < len(name) <= LONGEST:
        raise line.wrong(f"a name has 1 to {LONGEST} printable characters, no space around them")
    return name


class WavelengthRound(NamedTuple):
    """A finished round, which both players see."""

    spectrum: int
    target: int
    clue: int
    guess: int


class WavelengthState(NamedTuple):
    """The state: rounds finished so far, the spectrum, the target, the clue once it is given, the last round."""

    rounds: int
    spectrum: int
    target: int
    clue: int | None
    last: WavelengthRound | None


class WavelengthView(NamedTuple):
    """What a player observes: the spectrum, the target (giver only), the clue once it is given, the last round."""

    spectrum: int
    target: int | None
    clue: int | None
    last: WavelengthRound | None


@dataclass(frozen=True)
class Wavelength:
    """Wavelength played `rounds` times on a dial with positions 0, 1, …

    A round has two steps: the giver sees the target and names a clue by its index in the spectrum, then the guesser
    sets the dial; the player whose turn it is not passes. Both score 4, 3 or 2 points for a miss by 0, 1 or 2
    positions. Spectra and targets are drawn uniformly.
    Raises ValueError with fewer than 1 spectrum, 1 round or 2 positions.
    """

    rounds: int = 20
    positions: int = 21
    spectra: tuple[Spectrum, ...] = field(default_factory=bundled_spectra)

    def __post_init__(self) -> None:
        if self.rounds < 1 or self.positions < 2 or not self.spectra:
            raise ValueError("this game needs at least 1 round, 2 positions and 1 spectrum")

    @property
    def agents(self) -> tuple[str, str]:
        """The players in the order in which they act."""
        return ("giver", "guesser")

    def start(self, rng: np.random.Generator, /) -> WavelengthState:
        """The first spectrum and target."""
        return WavelengthState(0, *self._draw(rng), None, None)

    def _draw(self, rng: np.random.Generator) -> tuple[int, int]:
        """A spectrum, by its index, and a target position, both uniform."""
        return int(rng.integers(len(self.spectra))), int(rng.integers(self.positions))

    def actions(self, state: WavelengthState, agent: str) -> tuple[int, ...]:
        """The clues for the giver, then the positions for the guesser; only PASS out of turn."""
        if self.agents.index(agent) != (state.clue is not None):
            return (PASS,)
        return tuple(range(len(self.spectra[state.spectrum].clues) if state.clue is None else self.positions))

    def step(self, state: WavelengthState, joint: Mapping[str, int], rng: np.random.Generator, /) -> WavelengthState:
        """The state after the clue, or after the guess and a new draw. Raises ValueError for an illegal action."""
        for agent, action in joint.items():
            if action not in self.actions(state, agent):
                raise ValueError(f"{agent} cannot do {action} now")
        if state.clue is None:
            return state._replace(clue=joint["giver"])
        finished_round = WavelengthRound(state.spectrum, state.target, state.clue, joint["guesser"])
        return WavelengthState(state.rounds + 1, *self._draw(rng), None, finished_round)

    def observe(self, state: WavelengthState, agent: str) -> WavelengthView:
        """All of the state; the target is visible to the giver only."""
        return WavelengthView(state.spectrum, state.target if agent == "giver" else None, state.clue, state.last)

    def reward(self, state: WavelengthState, joint: Mapping[str, int], _after: WavelengthState) -> dict[str, float]:
        """The score of the guess for both players when a round ends, else 0."""
        worth = 0.0 if state.clue is None else score(joint["guesser"] - state.target)
        return dict.fromkeys(self.agents, worth)

    def done(self, state: WavelengthState) -> bool:
        """Whether all rounds are finished."""
        return state.rounds >= self.rounds

    def all_actions(self, agent: str) -> tuple[int, ...]:
        """Every action of an agent in any state, PASS last; spectra may differ in the number of clues."""
        clues = max(len(spectrum.clues) for spectrum in self.spectra)
        return (*range(clues if agent == "giver" else self.positions), PASS)

    def observation_values(self, agent: str) -> Mapping[str, Any]:
        """The possible values of each field of what an agent observes, for adapters."""
        spectra = range(len(self.spectra))
        places = (None, *range(self.positions))
        clues = (None, *range(max(len(spectrum.clues) for spectrum in self.spectra)))
        last_round = {"spectrum": (None, *spectra), "target": places, "clue": clues, "guess": places}
        return {"spectrum": spectra, "target": places, "clue": clues, "last": last_round}


def score(miss: int) -> float:
    """4, 3, 2 for a guess that misses the target by 0, 1, 2 positions; else 0."""
    return SCORES[abs(miss)] if abs(miss) < len(SCORES) else 0.0
