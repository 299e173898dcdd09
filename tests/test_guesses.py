"""What somebody types in a notebook works, or is answered with the right line."""

from __future__ import annotations

from typing import Any

import pytest

import otherminds as om
from otherminds.errors import InputError

WORLD = om.find_level("garden-gate").world
START = WORLD.initial
ANA = om.Observer.over(om.Seeker.of(WORLD, "Ana", gem) for gem in ("red gem", "blue gem", "yellow gem")).see(START)
LAW = om.Categorical.of({"red": 1.0, "blue": 3.0})
GAME = om.find_game("ipd")
NAMES: dict[str, Any] = {"om": om, "world": WORLD, "state": START, "ana": ANA, "law": LAW, "game": GAME}


@pytest.mark.parametrize(
    ("typed", "shown"),
    [
        ("law", "Categorical(red: 0.25, blue: 0.75)"),
        ("round(law['blue'], 9)", "0.75"),
        ("sorted(dict(law))", "['blue', 'red']"),
        ("max(dict(law))", "'red'"),
        ("law.mode", "'blue'"),
        ("om.bundled_levels()['garden-gate'].name", "'garden-gate'"),
        ("om.bundled_levels()[0].name", "'own-key'"),
        ("om.find_level('garden-gate').name", "'garden-gate'"),
        ("world.step(state, {'Ana': 'up', 'Ben': 'stay'}) == world.step(state, {'Ana': world.vocabulary['up'],"
         " 'Ben': world.vocabulary['stay']})", "True"),
        ("om.Seeker.of(world, 'Ben', 'green door')", "Seeker(Ben: green door, beta=3, lapse=0.05)"),
        ("ana", "Observer(minds=3, posterior=(red gem: 0.33, blue gem: 0.33, yellow gem: 0.33))"),
        ("om.partner('TFT', game)", "Machine(tft, 3 states)"),
    ],
)  # fmt: skip
def test_a_guess_works(typed: str, shown: str) -> None:
    assert repr(eval(typed, dict(NAMES))) == shown


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("law['green']", "'green' is none of its outcomes, Categorical(red: 0.25, blue: 0.75)"),
        ("law.items()", "a Categorical has no `items`: dict(c) has the probabilities by outcome"),
        ("law.plot()", "otherminds.plot_posterior(c) draws it"),
        ("om.Categorical({'a': 0.5, 'b': 0.5})", "a Categorical is made by Categorical.of({outcome: share, …})"),
        ("om.Observer([1, 2])", "an Observer is made by Observer.over(minds)"),
        ("om.bundled_levels()['gardengate']", "there is no level `gardengate` (did you mean garden-gate?)"),
        ("om.find_level('gardengate')", "there is no level `gardengate` (did you mean garden-gate?)"),
        ("world.step(state, {'Ana': 'upp', 'Ben': 'stay'})", "there is no action `upp` (did you mean up?)"),
        ("ana.watch('up', state)", "could have done 'up'; the likeliest would do Action(verb='up'"),
        ("om.Seeker.of(world, 'Anna', 'blue gem')", "there is no agent `Anna` (did you mean Ana?)"),
        ("om.Seeker.of(world, 'Ana', 'blue gm')", "there is no goal `blue gm` (did you mean blue gem"),
        ("om.partner('titfortat', game)", "unknown partner `titfortat` (did you mean tit-for-tat?)"),
        ("om.find_game('prisoners')", "no bundled game `prisoners`"),
    ],
)
def test_a_guess_that_does_not_work_is_answered(typed: str, said: str) -> None:
    with pytest.raises((InputError, TypeError, ValueError, KeyError, AttributeError)) as told:
        eval(typed, dict(NAMES))
    assert said in str(told.value)
    assert "\n" not in str(told.value)
