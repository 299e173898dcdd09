"""Wavelength: the rules, the spectra that come with it, and a strict reader for others."""

from __future__ import annotations

import re
import tomllib
from importlib import resources
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from otherminds.errors import InputError
from otherminds.worlds.clue_games.wavelength import (
    PASS,
    Spectrum,
    Wavelength,
    WavelengthRound,
    WavelengthState,
    WavelengthView,
    bundled_spectra,
    parse_spectra,
    read_spectra,
    score,
)

FILE = Path("mine.toml")
GOOD = '# mine\n\n[cold.hot]\nice = 0.1  # brr\n"boiling water" = 1\n\n["very small".large]\r\nant = 0.2\nwhale = 0.9\n'
SPECTRA = (Spectrum("cold", "hot", ("ice", "tea", "lava"), (0.1, 0.7, 1.0)), Spectrum("a", "b", ("c", "d"), (0.0, 1.0)))
WORLD = Wavelength(rounds=2, spectra=SPECTRA)


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def test_scores_by_distance() -> None:
    assert [score(miss) for miss in range(-4, 5)] == [0, 0, 2, 3, 4, 3, 2, 0, 0]


@pytest.mark.slow
@given(st.integers(0, 20), st.integers(0, 2), st.integers(0, 20))
def test_a_round_is_a_clue_and_a_guess(target: int, clue: int, guess: int) -> None:
    state = WavelengthState(0, 0, target, None, None)
    joint = {"giver": clue, "guesser": PASS}
    given_ = WORLD.step(state, joint, rng())
    assert given_ == WavelengthState(0, 0, target, clue, None)
    assert set(WORLD.reward(state, joint, given_).values()) == {0.0}
    joint = {"giver": PASS, "guesser": guess}
    after = WORLD.step(given_, joint, rng())
    assert (after.rounds, after.clue, after.last) == (1, None, WavelengthRound(0, target, clue, guess))
    assert set(WORLD.reward(given_, joint, after).values()) == {score(target - guess)}


def test_only_the_giver_sees_the_target_before_the_round_is_over() -> None:
    state = WavelengthState(1, 1, 13, 0, WavelengthRound(0, 5, 2, 6))
    assert WORLD.observe(state, "giver") == WavelengthView(1, 13, 0, state.last)
    assert WORLD.observe(state, "guesser") == WavelengthView(1, None, 0, state.last)


def test_actions_are_the_clues_of_the_spectrum_then_positions() -> None:
    state = WavelengthState(0, 1, 13, None, None)
    assert (WORLD.actions(state, "giver"), WORLD.actions(state, "guesser")) == ((0, 1), (PASS,))
    state = state._replace(clue=0)
    assert (WORLD.actions(state, "giver"), WORLD.actions(state, "guesser")) == ((PASS,), tuple(range(21)))
    with pytest.raises(ValueError, match="guesser cannot do 21 now"):
        WORLD.step(state, {"giver": PASS, "guesser": 21}, rng())


def test_targets_do_not_depend_on_what_anybody_does_and_it_ends() -> None:
    def seen(clue: int, guess: int) -> list[tuple[int, int]]:
        source = rng(3)
        state = WORLD.start(source)
        drawn = [(state.spectrum, state.target)]
        while not WORLD.done(state):
            state = WORLD.step(state, {"giver": clue, "guesser": PASS}, source)
            state = WORLD.step(state, {"giver": PASS, "guesser": guess}, source)
            drawn.append((state.spectrum, state.target))
        return drawn

    assert seen(0, 0) == seen(1, 20)
    assert len(seen(0, 0)) == 3


@pytest.mark.parametrize("wrong", [{"rounds": 0}, {"positions": 1}, {"spectra": ()}])
def test_there_must_be_something_to_play(wrong: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="at least"):
        Wavelength(**wrong)  # type: ignore[arg-type]


# Spectra


def test_eight_spectra_of_twelve_clues_come_with_the_library() -> None:
    found = bundled_spectra()
    assert [len(spectrum.clues) for spectrum in found] == [12] * 8
    clues = [clue for spectrum in found for clue in spectrum.clues]
    assert len(set(clues)) == len(clues)
    for spectrum in found:
        assert list(spectrum.places) == sorted(set(spectrum.places))
        assert (spectrum.places[0], spectrum.places[-1]) == (0.0, 1.0)
        assert max(np.diff(spectrum.places)) <= 0.16


def test_the_reader_finds_what_toml_finds() -> None:
    for text in (GOOD, (resources.files("otherminds.worlds.clue_games") / "wavelength.toml").read_text("utf-8")):
        plain = [
            Spectrum(low, high, tuple(clues), tuple(clues.values()))
            for low, highs in tomllib.loads(text).items()
            for high, clues in highs.items()
        ]
        assert list(parse_spectra(text, FILE)) == plain


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "mine.toml:1: the file has no spectrum (begin with [low.high])"),
        ("# no\nice = 0.1", "mine.toml:2: a clue before any spectrum (begin with [low.high])"),
        ("[cold]\nice = 0.1", "mine.toml:1: a spectrum begins with two opposites (as in [cold.hot])"),
        ("[cold.cold]", "mine.toml:1: a spectrum begins with two opposites (as in [cold.hot])"),
        ("[a.b.c]", "mine.toml:1: a spectrum begins with two opposites (as in [cold.hot])"),
        ("[[cold.hot]]", "mine.toml:1: a spectrum begins with two opposites (as in [cold.hot])"),
        ('[" cold".hot]', "mine.toml:1: a name has 1 to 60 printable characters, no space around them"),
        ("[cold.hot]\nice = 0.1", "mine.toml:1: a spectrum needs at least 2 clues"),
        (GOOD + "[cold.hot]", "mine.toml:10: a second spectrum cold–hot"),
        (GOOD + "ant = 0.3", "mine.toml:10: a second place for `ant`"),
        (GOOD + "cat = 1.01", 'mine.toml:10: the place of a clue is a number from 0 to 1 (as in "ice cube" = 0.15)'),
        (GOOD + "cat = nan", 'mine.toml:10: the place of a clue is a number from 0 to 1 (as in "ice cube" = 0.15)'),
        (GOOD + "cat = true", 'mine.toml:10: the place of a clue is a number from 0 to 1 (as in "ice cube" = 0.15)'),
        (GOOD + "cat = '1'", 'mine.toml:10: the place of a clue is a number from 0 to 1 (as in "ice cube" = 0.15)'),
        (GOOD + "a.b = 0.1", 'mine.toml:10: the place of a clue is a number from 0 to 1 (as in "ice cube" = 0.15)'),
        (GOOD + '"" = 0.1', "mine.toml:10: a name has 1 to 60 printable characters, no space around them"),
        (GOOD + "the cat = 0.1", "mine.toml:10:5: Expected '=' after a key in a key/value pair"),
        (GOOD + "cat = [0.1,\n0.2]", "mine.toml:10: Invalid value"),
    ],
)
def test_errors_have_their_line(text: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_spectra(text, FILE)
    assert str(caught.value) == message


@given(st.text(alphabet='[]{}.="#\\\n\r abc01-éx', max_size=60))
def test_anything_else_is_refused_in_one_line(text: str) -> None:
    message = "mine.toml:"
    try:
        parse_spectra(text, FILE)
    except InputError as error:
        message = str(error)
    assert re.fullmatch("mine.toml:.*", message)


def test_deep_nesting_is_refused() -> None:
    with pytest.raises(InputError, match=r"^mine.toml:1: "):
        parse_spectra("a = " + "[" * 100_000, FILE)


def test_files_are_read_from_disk(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(GOOD, encoding="utf-8")
    assert [s.high for s in read_spectra(path)] == ["hot", "large"]
    with pytest.raises(InputError, match="cannot be read"):
        read_spectra(tmp_path / "none.toml")
