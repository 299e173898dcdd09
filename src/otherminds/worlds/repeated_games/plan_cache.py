"""Plans that take long to solve are kept in a folder; a file that is missing, torn or foreign is solved anew."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np

from otherminds.files.text import opened
from otherminds.worlds.repeated_games.bayes_adaptive_values import Situation, Solution

FORMAT = 1


def user_cache() -> Path:
    """Where this user's programs keep what they can compute again: $OTHERMINDS_CACHE, else the XDG cache folder."""
    if own := os.environ.get("OTHERMINDS_CACHE"):
        return Path(own)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "otherminds"


def digest(*problem: object) -> str:
    """A name for a problem that no other one has."""
    return hashlib.sha256(repr((FORMAT, *problem)).encode()).hexdigest()[:24]


def remembered(folder: Path | None, name: str, compute: Callable[[], Solution]) -> Solution:
    """The solution of this name from the folder, or computed and put there; without a folder, just computed."""
    if folder is None:
        return compute()
    path = folder / f"plan-{name}.npz"
    found = _read(path)
    if found is None:
        found = compute()
        _write(path, found)
    return found


def _read(path: Path) -> Solution | None:
    try:
        with opened(path) as file, np.load(file, allow_pickle=False) as kept:
            situations = map(
                Situation, kept["rounds"].tolist(), kept["contexts"].tolist(), map(tuple, kept["known"].tolist())
            )
            return Solution(tuple(kept["worth"].tolist()), dict(zip(situations, kept["actions"].tolist(), strict=True)))
    except Exception:  # zip files can be spoilt in more ways than can be listed
        return None


def _write(path: Path, solution: Solution) -> None:
    """Write in one go, so that nobody ever reads half of it; a folder that cannot be written does without."""
    draft = path.with_name(f"{path.stem}-{os.getpid()}.tmp.npz")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        np.savez_compressed(
            draft,
            worth=np.array(solution.worth),
            rounds=np.array([s.round for s in solution.choices], dtype=np.int32),
            contexts=np.array([s.context for s in solution.choices], dtype=np.int16),
            known=np.array([s.known for s in solution.choices], dtype=np.int8),
            actions=np.array(list(solution.choices.values()), dtype=np.int8),
        )
        draft.replace(path)
    except OSError:
        with suppress(OSError):
            draft.unlink()
