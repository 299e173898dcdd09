"""Odd names: whatever people type is known, or refused in one line."""

from __future__ import annotations

from zlib import crc32

import numpy as np
import pytest

from names import BLANKS, STRANGE, names, odd_name
from trials import try_name

EACH = 2


@pytest.mark.parametrize("kind", names())
def test_good_names_are_known(kind: str) -> None:
    for name in names()[kind].good:
        if kind != "model":  # any own module
            names()[kind].look_up(name)


@pytest.mark.slow
@pytest.mark.parametrize("kind", names())
def test_odd_names_are_known_or_refused_in_one_line(kind: str) -> None:
    rng = np.random.default_rng(crc32(kind.encode()))
    for name in [*(odd_name(names()[kind], rng) for _ in range(EACH)), *STRANGE[:: len(STRANGE) // 3]]:
        assert not try_name(names()[kind], name).faults, name[:60]


@pytest.mark.slow
def test_questions_of_blanks_take_no_time() -> None:
    for text in BLANKS:
        assert not [fault for fault in try_name(names()["question"], text).faults if "s, not" in fault]


@pytest.mark.parametrize(("kind", "name"), [("level", "9" * 5_000), ("player", "\udcff"), ("level", "\u0663")])
def test_names_that_once_broke_something(kind: str, name: str) -> None:
    trial = try_name(names()[kind], name)
    assert trial.refused
    assert not trial.faults
