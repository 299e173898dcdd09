"""The scenarios and judgements of Baker et al. (2017), read from a user's clone of clbaker/BToM.

The files have no licence, so nothing of them is bundled. They are MATLAB files of version 5. Cell (x, y), from 1 and
with y upwards, has the number x + width · (y − 1), and the number after the last one stands for "finished".
"""

from __future__ import annotations

import io
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, NamedTuple, cast

import numpy as np
import scipy
from numpy.typing import NDArray
from pydantic import BaseModel, BeforeValidator, Field, TypeAdapter, ValidationError

from otherminds.errors import InputError, fault_place, faults
from otherminds.files.text import naming, opened
from otherminds.worlds.food_trucks.level_files import FoodTruckLevel
from otherminds.worlds.food_trucks.rules import EAT, STAY, TRUCKS, FoodTrucks
from otherminds.worlds.grid import Grid

Floats = NDArray[np.float64]

PROJECT, DATA = Path("BeliefDesireInference"), Path("data")
STIMULI, PEOPLE, MODEL = "stimuli.mat", "human_data.mat", "btom_results_complete.mat"
HINT = "point --data at a clone of https://github.com/clbaker/BToM"
LARGEST = 20_000_000  # bytes of a file; the largest of the clone has 31 thousand
LARGEST_SIDE = 30  # cells of a map in each direction; the largest of the clone has 15
ROUNDING = 1e-6  # by which numbers may be outside their bounds
HDF = b"\x89HDF"

Whole = Annotated[int, Field(ge=0, le=10_000)]
Pair = tuple[Whole, Whole]
Single = BeforeValidator(lambda value: value[0] if isinstance(value, list) and len(value) == 1 else value)


class _Layout(BaseModel):
    """The size of a map, the corner and size of its wall, and the trucks' spots; places are (column, row) from 1."""

    graph_sz: tuple[Annotated[int, Field(ge=2, le=LARGEST_SIDE)], Annotated[int, Field(ge=2, le=LARGEST_SIDE)]]
    obst_pose: Pair
    obst_sz: Pair
    goal_pose: tuple[tuple[Whole, ...], ...]


class _Scenario(BaseModel):
    """A walk as numbers of cells, and its condition: the numbers of its layout and of its world, from 1."""

    path: list[Whole]
    irrational: Annotated[bool, Single]
    condition: tuple[Whole, Whole, Whole]


class _Stimuli(BaseModel):
    worlds: list[list[_Layout]]
    scenario: Annotated[list[_Scenario], Field(min_length=1)]


class Judgement(NamedTuple):
    """How much the agent likes each truck, from 1 to 7, and the initial belief in each of the contents."""

    desire: Floats
    belief: Floats


@dataclass(frozen=True)
class Scenario:
    """A walk that people watched, and the means of their judgements; `number` is that of the authors, from 1."""

    number: int
    level: FoodTruckLevel
    irrational: bool
    people: Judgement

    @property
    def name(self) -> str:
        """As in `scenario 7`."""
        return f"scenario {self.number}"


class Clone(NamedTuple):
    """The scenarios that have judgements, how many have none, and the authors' own model if the clone has it.

    `model[k]` are the predictions for the kth scenario with the rationality that is nearest to 2.5.
    """

    scenarios: tuple[Scenario, ...]
    skipped: int
    model: tuple[Judgement, ...] | None


def is_clone(path: Path) -> bool:
    """Whether this is a clone, or the folder of this experiment in one."""
    return any((folder / STIMULI).is_file() for folder in _folders(path))


def _folders(path: Path) -> Sequence[Path]:
    return [path / PROJECT / DATA, path / DATA, path]


def read_clone(path: Path, beta: float) -> Clone:
    """The scenarios and judgements of a clone; scenarios without judgements (NaN) are counted and left out.

    `beta` is the rationality for which the authors' own predictions are taken. Raises InputError if a file is missing
    or malformed, or if fewer than two rational scenarios have judgements, or these do not differ.
    """
    folder = next((folder for folder in _folders(path) if (folder / STIMULI).is_file()), None)
    if folder is None:
        raise InputError(f"has no {PROJECT / DATA / STIMULI}", path=path, hint=HINT)
    levels = _levels(folder / STIMULI)
    arrays = _load(folder / PEOPLE, "des_inf_mean", "bel_inf_mean_norm")
    shape = (len(TRUCKS), len(levels))
    desires = _numbers(arrays, "des_inf_mean", shape, (1.0, 7.0), folder / PEOPLE)
    beliefs = _numbers(arrays, "bel_inf_mean_norm", shape, (0.0, 1.0), folder / PEOPLE)
    scored = np.flatnonzero(~np.isnan(np.vstack([desires, beliefs])).any(axis=0)).tolist()
    scenarios = [Scenario(i + 1, *levels[i], Judgement(desires[:, i], beliefs[:, i])) for i in scored]
    rational = np.array([scenario.people for scenario in scenarios if not scenario.irrational])
    if len(rational) < 2 or np.ptp(rational, axis=(0, 2)).min() == 0.0:
        hint = "two rational ones are needed, with judgements that differ"
        raise InputError(f"has judgements of {len(scored)} scenarios", path=folder / PEOPLE, hint=hint)
    return Clone(tuple(scenarios), len(levels) - len(scored), _model(folder / MODEL, shape, scored, beta))


# Arrays


def _load(path: Path, *names: str) -> Mapping[str, Any]:
    """Variables of a MATLAB file. Raises InputError if it cannot be read or lacks one of them."""
    with naming(path), opened(path) as file:
        raw = file.read(LARGEST + 1)
    if len(raw) > LARGEST:
        raise InputError(f"is larger than {LARGEST:,} bytes", path=path)
    if raw.startswith(b"MATLAB 7.3") or HDF in (raw[:4], raw[512:516]):
        raise InputError("is a MATLAB file of version 7.3, which is not read", path=path, hint="save it with -v7")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            variables: Mapping[str, Any] = scipy.io.loadmat(cast("Any", io.BytesIO(raw)), variable_names=list(names))
    except Exception as error:  # scipy raises errors of a dozen kinds for files that are broken
        raise InputError("is no MATLAB file, or a broken one", path=path, hint=HINT) from error
    for name in names:
        if name not in variables:
            raise InputError(f"has no variable `{name}`", path=path, hint=HINT)
    return variables


def _numbers(
    arrays: Mapping[str, Any], name: str, shape: tuple[int, ...], bounds: tuple[float, float], path: Path
) -> Floats:
    """An array of numbers from the lower to the upper bound, or NaN. Raises InputError for any other."""
    numbers = np.asarray(arrays[name])
    if numbers.shape != shape or numbers.dtype.kind not in "fiu":
        sizes = " × ".join(map(str, shape))
        raise InputError(f"`{name}` is no array of {sizes} numbers", path=path)
    low, high = bounds
    if not (np.isnan(numbers) | ((numbers >= low - ROUNDING) & (numbers <= high + ROUNDING))).all():
        raise InputError(f"`{name}` has numbers that are not from {low:g} to {high:g}", path=path)
    return numbers.astype(float)


def _model(path: Path, shape: tuple[int, int], scored: Sequence[int], beta: float) -> tuple[Judgement, ...] | None:
    """The authors' predictions for these scenarios; None without the file, or if a prediction is missing."""
    if not path.exists():
        return None
    arrays = _load(path, "desire_model", "belief_model", "beta_score_values")
    betas = np.atleast_1d(np.asarray(arrays["beta_score_values"])).ravel()
    desires = _numbers(arrays, "desire_model", (*shape, len(betas)), (1.0, 7.0), path)
    beliefs = _numbers(arrays, "belief_model", (*shape, len(betas)), (0.0, 1.0), path)
    nearest = int(np.abs(betas - beta).argmin())
    predictions = tuple(Judgement(desires[:, i, nearest], beliefs[:, i, nearest]) for i in scored)
    return None if np.isnan(np.array(predictions)).any() else predictions


# Scenarios


def _plain(value: Any) -> Any:
    """A struct as a dictionary, several or a cell array as a list, and numbers as a flat list."""
    if not isinstance(value, np.ndarray):
        return value
    if value.dtype.names:
        structs = [{name: _plain(element[name]) for name in value.dtype.names} for element in value.ravel()]
        return structs[0] if len(structs) == 1 else structs
    return [_plain(element) for element in value.ravel()] if value.dtype.hasobject else value.ravel().tolist()


def _levels(path: Path) -> list[tuple[FoodTruckLevel, bool]]:
    """Every scenario as a level, and whether the authors call it irrational."""
    variables = _load(path, "worlds", "scenario")
    try:
        stimuli = TypeAdapter(_Stimuli).validate_python({key: _plain(variables[key]) for key in ("worlds", "scenario")})
    except ValidationError as error:
        fault = faults(error)[0]
        raise InputError(f"`{fault_place(fault)}`: {fault['msg']}", path=path, hint=HINT) from None
    levels = []
    for number, scenario in enumerate(stimuli.scenario, 1):
        try:
            levels.append((_level(f"scenario {number}", scenario, stimuli.worlds), scenario.irrational))
        except (ValueError, IndexError) as error:
            raise InputError(f"scenario {number}: {error}", path=path, hint=HINT) from None
    return levels


def _level(name: str, scenario: _Scenario, worlds: Sequence[Sequence[_Layout]]) -> FoodTruckLevel:
    """Raises ValueError or IndexError for a scenario that does not fit its world."""
    layout, truth = (number - 1 for number in scenario.condition[:2])
    if min(layout, truth) < 0 or len(scenario.path) < 2:
        raise ValueError("it has no layout, no world or no steps")
    possible = worlds[layout]
    layout_of_world = possible[truth]
    width, height = layout_of_world.graph_sz
    parked = [[pose for pose in candidate.goal_pose[1:] if pose] for candidate in possible]
    expected = [[True, False], [False, True], [False, False]]
    if [[bool(pose) for pose in candidate.goal_pose[1:]] for candidate in possible] != expected:
        raise ValueError("its worlds do not have the second truck, the third truck and no truck at the hidden spot")
    (x, y), (w, h) = layout_of_world.obst_pose, layout_of_world.obst_sz
    walls = ((i, height - j) for i in range(x - 1, x - 1 + w) for j in range(y, y + h))
    grid = Grid.of(width, height, walls)

    def cell(place: Sequence[int]) -> int:
        """The cell at a (column, row) counted from 1, rows upwards, as in the files. Raises ValueError off floor."""
        column, row = place
        square = grid.cell(column - 1, height - row)
        if not (1 <= column <= width and 1 <= row <= height and grid.is_floor(square)):
            raise ValueError(f"({column}, {row}) is no floor")
        return square

    known_spot, hidden_spot = cell(layout_of_world.goal_pose[0]), cell(parked[0][0])
    done = width * height + 1
    finished = scenario.path[-1] == done
    cells = [cell(((p - 1) % width + 1, (p - 1) // width + 1)) for p in scenario.path[: -1 if finished else None]]
    names = {step: move for move, step in grid.offsets.items()} | {0: STAY}
    steps = [after - before for before, after in pairwise(cells)]
    if not set(steps) <= names.keys():
        raise ValueError("its path jumps")
    if cells[0] in (known_spot, hidden_spot):
        raise ValueError("its path begins at a truck")
    world = FoodTrucks(grid, known_spot, hidden_spot, cells[0])
    actions = (*(names[step] for step in steps), *([EAT] if finished else []))
    level = FoodTruckLevel(name, world, world.contents[truth], actions)
    _ = level.cells  # raises ValueError if nobody can walk like this
    return level
