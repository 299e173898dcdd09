"""Clue games for tests of every world."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from otherminds.worlds.clue_games.codenames import Codenames
from otherminds.worlds.clue_games.small_hanabi import SmallHanabi
from otherminds.worlds.clue_games.taboo import Taboo
from otherminds.worlds.clue_games.tiny_hanabi import TinyHanabi
from otherminds.worlds.clue_games.wavelength import Wavelength, bundled_spectra


def lopsided() -> TinyHanabi:
    """Three cards for one, two for the other; four signals, five actions."""
    answers = tuple(tuple(float(signal * action) for action in range(5)) for signal in range(4))
    return TinyHanabi(10, ((answers,) * 2,) * 3)


def words() -> Wavelength:
    """A spectrum of two clues and one of three."""
    short, long = bundled_spectra()[:2]
    spectra = (short._replace(clues=short.clues[:2], places=short.places[:2]), long)
    return Wavelength(10, 7, (spectra[0], long._replace(clues=long.clues[:3], places=long.places[:3])))


CLUE_GAMES: dict[str, Callable[[], Any]] = {
    "hanabi": lambda: TinyHanabi(10),
    "lopsided": lopsided,
    "wavelength": lambda: Wavelength(10),
    "words": words,
    "taboo": lambda: Taboo(3),
    "codenames": lambda: Codenames(3),
    "small hanabi": lambda: SmallHanabi(3),
}
