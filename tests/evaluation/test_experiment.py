"""A model that now and then cannot be asked costs episodes, and not the run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from otherminds.errors import InputError
from otherminds.evaluation.asking import Asking
from otherminds.evaluation.experiment import IN_A_ROW, Options, keep, play
from otherminds.evaluation.runs import look
from otherminds.evaluation.store import Key, Row, Store
from otherminds.language.model import ModelError
from otherminds.language.prices import BudgetError


class Entry(NamedTuple):
    number: int

    @property
    def key(self) -> Key:
        return ("all", "lm", f"{self.number:02}")


PLAN = [Entry(number) for number in range(20)]


def rows(entry: Entry) -> list[Row]:
    condition, subject, episode = entry.key
    return [{"condition": condition, "subject": subject, "episode": episode, "t": 0}]


def failing(when: Callable[[int], bool], error: InputError, asked: list[int]) -> Callable[[Entry], list[Row]]:
    def task(entry: Entry) -> list[Row]:
        asked.append(entry.number)
        if when(entry.number):
            raise error
        return rows(entry)

    return task


DEAD = ModelError("no answer")


@pytest.mark.slow
@pytest.mark.parametrize("at_once", [1, 4])
def test_episodes_that_fail_are_set_aside_and_the_run_goes_on(tmp_path: Path, at_once: int) -> None:
    asked, asking = list[int](), Asking("m", at_once=at_once)
    with Store(tmp_path, "x") as store:
        keep(store, asking, failing(lambda n: n % 3 == 0, DEAD, asked), store.todo(PLAN), "x", None)
        assert sorted(asked) == list(range(20))
        assert store.done() == {entry.key for entry in PLAN if entry.number % 3}
        assert look(tmp_path).failures == {entry.key: "no answer" for entry in PLAN if entry.number % 3 == 0}
        again = list[int]()
        keep(store, asking, failing(lambda _: False, DEAD, again), store.todo(PLAN), "x", None)
        assert sorted(again) == list(range(0, 20, 3))
        assert len(store.all()) == 20
        assert look(tmp_path).failures == {}


@pytest.mark.parametrize("at_once", [1, 4])
def test_a_model_that_is_dead_is_not_asked_for_ever(tmp_path: Path, at_once: int) -> None:
    asked, asking = list[int](), Asking("m", at_once=at_once)
    with Store(tmp_path, "x") as store:
        todo = store.todo(PLAN)
        with pytest.raises(ModelError, match="no answer"):
            keep(store, asking, failing(lambda n: n > 1, DEAD, asked), todo, "x", None)
        assert IN_A_ROW * at_once + 2 <= len(asked) < IN_A_ROW * at_once + 2 + 2 * at_once
        assert len(store.done()) == 2
        asked_again = list[int]()  # calls that were under way may still end in the other list
        with pytest.raises(ModelError, match="no answer"):
            keep(store, asking, failing(lambda _: True, DEAD, asked_again), todo[:2], "x", None)
        assert len(asked_again) == 2


@pytest.mark.parametrize("error", [BudgetError("too much"), InputError("something else")])
def test_what_no_other_episode_would_change_ends_the_run(tmp_path: Path, error: InputError) -> None:
    asked = list[int]()
    with Store(tmp_path, "x") as store:
        with pytest.raises(InputError, match=str(error)):
            keep(store, Asking("m"), failing(lambda n: n == 5, error, asked), store.todo(PLAN), "x", None)
        assert asked == list(range(6))
        assert len(store.done()) == 5
        assert look(tmp_path).failures == {}


def test_what_was_played_before_something_went_wrong_is_kept(tmp_path: Path) -> None:
    with Store(tmp_path, "x") as store:
        with pytest.raises(InputError, match="something else"):
            play(store, Options(tmp_path), "x", (failing(lambda n: n == 5, InputError("something else"), []), PLAN))
        assert store.done() == {entry.key for entry in PLAN[:5]}
        play(store, Options(tmp_path, shard=(2, 2)), "x", (rows, PLAN))
        assert store.done() == {entry.key for entry in PLAN if entry.number < 5 or entry.number % 2}
