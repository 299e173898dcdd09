"""A clone of the authors' repository as they lay it out, with scenarios and judgements of our own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import scipy

WIDTH, HEIGHT = 4, 3  # cells; y is upwards, and cell (x, y) is x + 4 (y − 1), from 1
FINISHED = WIDTH * HEIGHT + 1
# path, number of the true world (Lebanese, Mexican or nothing at the other spot), irrational; the wall is (2 … 3, 2)
WALKS = (
    ((5, 1, FINISHED), 1, 0),
    ((5, 9, 10, 11, 12, FINISHED), 1, 0),
    ((5, 9, 9, 5, 1, FINISHED), 3, 0),
    ((2, 3, 4, 8), 2, 0),
    ((2, 2, 1, FINISHED), 3, 1),
    ((5, 9, 5), 1, 0),
)
DESIRES = ((6, 3, 3), (2, 6, 4), (4, 3, 6), (2, 5, 6), (6, 2, 2), (3, 2, 5))
BELIEFS = ((0.3, 0.3, 0.4), (0.5, 0.3, 0.2), (0.2, 0.6, 0.2), (0.3, 0.5, 0.2), (0.1, 0.2, 0.7), (0.3, 0.5, 0.2))


def stimuli() -> dict[str, Any]:
    """The variables of stimuli.mat."""
    known, hidden, nothing = [[1], [1]], [[WIDTH], [HEIGHT]], np.zeros((0, 0))
    possible = np.empty((1, 3), object)
    for k, others in enumerate(((hidden, nothing), (nothing, hidden), (nothing, nothing))):
        poses = np.empty((1, 3), object)
        poses[0, :] = [np.array(pose, np.uint8) for pose in (known, *others)]
        possible[0, k] = {
            "graph_sz": np.array([[WIDTH], [HEIGHT]], np.uint8),
            "obst_pose": np.array([[2], [2]], np.uint8),
            "obst_sz": np.array([[2], [1]], np.uint8),
            "goal_space": np.array([[1, WIDTH], [1, HEIGHT]], np.uint8),
            "goal_pose": poses,
        }
    worlds, scenarios = np.empty((1, 1), object), np.empty((1, len(WALKS)), object)
    worlds[0, 0] = possible
    for i, (path, world, irrational) in enumerate(WALKS):
        scenarios[0, i] = {
            "world": possible,
            "world_ind": world,
            "path": np.array([path], np.uint8),
            "finished": int(path[-1] == FINISHED),
            "irrational": irrational,
            "condition": np.array([[1, world, i + 1]], np.uint8),
        }
    return {"worlds": worlds, "scenario": scenarios}


def people(*blank: int) -> dict[str, Any]:
    """The variables of human_data.mat, without the judgements of some scenarios (from 0)."""
    found = {"des_inf_mean": np.array(DESIRES, float).T, "bel_inf_mean_norm": np.array(BELIEFS).T}
    for array in found.values():
        array[:, list(blank)] = np.nan
    return found


def write_clone(folder: Path, *blank: int, **changed: dict[str, Any]) -> Path:
    """Write a clone and return its data folder; `changed` has the variables of a file in the place of ours."""
    data = folder / "BeliefDesireInference" / "data"
    data.mkdir(parents=True, exist_ok=True)
    files = {"stimuli": stimuli(), "human_data": people(*blank)} | changed
    for name, variables in files.items():
        scipy.io.savemat(data / f"{name}.mat", variables, do_compression=True)
    return data
