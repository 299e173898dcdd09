"""What was held out is predicted from the rest, and new people from fits that are read from files."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from otherminds.errors import InputError
from otherminds.evaluation.choices import Choices
from otherminds.evaluation.fitting import fit, weakly
from otherminds.evaluation.likelihoods import Likelihood
from otherminds.evaluation.predictions import (
    FittedBefore,
    held_out,
    held_out_by_person,
    last_rounds,
    later_rounds,
    leave_one_person_out,
    predicted_from_units,
    read_fitted,
    score_of,
)
from otherminds.papers.people.datasets import dataset
from otherminds.worlds.repeated_games.players.parametric import MINDS

Floats = NDArray[np.float64]
WSLS = MINDS["wsls"]


@cache
def few(people: int, rounds: int) -> Choices:
    """The first rounds of some people, a missed move among them."""
    every = dataset("human-rps")
    some = every.subset(range(0, len(every.people), len(every.people) // people)[:people])
    own, theirs, number = (part[:, :rounds].copy() for part in (some.own, some.theirs, some.number))
    own[0, 1] = -1
    return Choices(some.people, some.groups, some.person, some.games, own, theirs, number)


# Held out


@pytest.mark.slow
def test_held_out_choices_are_not_fitted() -> None:
    choices = few(4, 60)
    late = last_rounds(choices)
    assert late.sum(axis=1).tolist() == [20] * 4
    changed = choices.own.copy()
    changed[late] = (changed[late] + 1) % 3
    other = replace(choices, own=changed)
    fits = [weakly(Likelihood.of(WSLS, data, ~late)).x for data in (choices, other)]
    assert (fits[0] == fits[1]).all()
    assert not np.allclose(later_rounds(WSLS, choices), later_rounds(WSLS, other))


def test_the_last_rounds_are_counted_over_all_matches() -> None:
    own = np.zeros((3, 4), dtype=np.intp)
    number = np.array([[1, 2, 3, 4], [1, 2, -1, -1], [1, 2, 3, -1]])
    game = few(4, 60).games[0]
    choices = Choices(("a", "b"), ("g", "g"), np.array([0, 0, 1]), (game,) * 3, own, own, number)
    assert last_rounds(choices).tolist() == [[False] * 4, [True, True, False, False], [False, False, True, False]]
    assert last_rounds(choices, 1 / 2).sum(axis=1).tolist() == [1, 2, 2]


@pytest.mark.slow
def test_a_person_is_predicted_from_the_others_of_the_group() -> None:
    choices, mind = dataset("human-rps").of_group("prev_move_positive").subset(range(3)), MINDS["fictitious_play"]
    likelihood = Likelihood.of(mind, choices)
    x = weakly(likelihood).x
    table = likelihood(np.broadcast_to(x, (3, 3, 1)))
    expected = np.log(np.exp(table[0, 1:] - table[0, 1:].max()).mean()) + table[0, 1:].max()
    assert leave_one_person_out(mind, choices)[0] == pytest.approx(expected)


@pytest.mark.slow
def test_the_log_likelihood_per_choice_is_over_what_was_held_out() -> None:
    choices = few(4, 60)
    values, counted = held_out_by_person(WSLS, choices, "rounds")
    assert counted.tolist() == (choices.scored & last_rounds(choices)).sum(axis=1).tolist()
    assert values == pytest.approx(later_rounds(WSLS, choices))
    assert held_out(WSLS, choices, "rounds").value == pytest.approx(values.sum() / counted.sum())
    _, counted = held_out_by_person(WSLS, replace(choices, groups=("all",) * 4), "person")
    assert counted.sum() == choices.scored.sum()
    chance = held_out(MINDS["chance"], choices, "rounds")
    assert (chance.low, chance.value, chance.high) == pytest.approx((-np.log(3),) * 3)


# New people


@pytest.mark.slow
def test_known_people_are_scored_by_their_own_parameters() -> None:
    choices = few(4, 60)
    found = fit(Likelihood.of(WSLS, choices))
    order = np.array([2, 0, 3, 1])
    before = FittedBefore("wsls", tuple(found.units[n] for n in order), {k: v[order] for k, v in found.values.items()})
    score = score_of(WSLS, choices, before)
    assert score.log_likelihood == pytest.approx(found.log_likelihood.sum())
    assert (score.people, score.known, score.choices) == (4, 4, choices.scored.sum())
    assert score.per_choice == pytest.approx(score.log_likelihood / score.choices)
    assert score.low < score.per_choice < score.high
    assert score.chance == pytest.approx(-np.log(3))


def test_unknown_people_may_be_any_of_the_units() -> None:
    choices = few(4, 20)
    values = {"win_stay": np.array([0.2, 0.7]), "lose_shift": np.array([0.5, 0.9])}
    likelihood = Likelihood.of(WSLS, choices)
    table = likelihood.of_values({name: np.tile(value, (4, 1)) for name, value in values.items()}, 2)
    before = FittedBefore("wsls", ("x", choices.people[1]), values)
    ours, known = predicted_from_units(likelihood, before)
    assert known.tolist() == [False, True, False, False]
    assert ours[1] == pytest.approx(table[1, 1])
    assert ours[[0, 2, 3]] == pytest.approx(np.log(np.exp(table[[0, 2, 3]]).mean(axis=1)))
    assert score_of(WSLS, choices, before).known == 1


def test_a_person_of_a_known_group_is_predicted_by_it() -> None:
    choices = replace(few(4, 20), groups=("g", "h", "g", "h"))
    values = {"win_stay": np.array([0.2, 0.7]), "lose_shift": np.array([0.5, 0.9])}
    ours, known = predicted_from_units(Likelihood.of(WSLS, choices), FittedBefore("wsls", ("h", "g"), values))
    table = Likelihood.of(WSLS, choices).of_values({k: np.tile(v, (4, 1)) for k, v in values.items()}, 2)
    assert known.all()
    assert ours == pytest.approx(table[np.arange(4), [1, 0, 1, 0]])


def test_parameters_of_another_mind_are_refused() -> None:
    before = FittedBefore("q_learning", ("a",), {"rate": np.array([0.5]), "beta": np.array([3.0])})
    with pytest.raises(InputError, match="wsls has win_stay, lose_shift, the fits rate, beta"):
        score_of(WSLS, few(4, 20), before)


# Files of fits


def unit(name: str, **values: Any) -> Mapping[str, Any]:
    return {"unit": name, "parameters": {parameter: {"value": value} for parameter, value in values.items()}}


def test_fits_are_read_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "fits.json"
    units = [unit("a", tremble=0.1), unit("b", tremble=0.25)]
    path.write_text(
        json.dumps([{"mind": "tft", "units": units, "more": 1}, {"mind": "chance", "units": [unit("all")]}])
    )
    tft, chance = read_fitted(path)
    assert (tft.mind, tft.units, tft.values["tremble"].tolist()) == ("tft", ("a", "b"), [0.1, 0.25])
    assert (chance.mind, chance.units, dict(chance.values)) == ("chance", ("all",), {})


@pytest.mark.parametrize(
    "text",
    [
        "",
        "win_stay,0.5\n",
        "{}",
        "[]",
        '[{"mind": "wsls", "units": []}]',
        '[{"mind": "wsls", "units": [{"unit": "a"}]}]',
        json.dumps([{"mind": "wsls", "units": [unit("a", win_stay=0.5), unit("b", lose_shift=0.5)]}]),
        json.dumps([{"mind": "wsls", "units": [unit("a", win_stay=None)]}]),
        '[{"mind": "wsls", "units": [{"unit": "a", "parameters": {"win_stay": {"value": NaN}}}]}]',
        json.dumps([{"mind": "wsls", "units": [unit("a", win_stay="nan")]}]),
        "[" * 10_000,
    ],
)
def test_a_file_without_fits_is_refused_in_one_line(text: str, tmp_path: Path) -> None:
    path = tmp_path / "fits.json"
    path.write_text(text)
    with pytest.raises(InputError) as refused:
        read_fitted(path)
    message = str(refused.value)
    assert message.startswith(f"{path}: ")
    assert len(message.splitlines()) == 1
    assert "otherminds fit" in message
