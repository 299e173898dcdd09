"""Reading the authors' files: what is taken from them, and what is said if they are not as expected."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy

from food_truck_clones import BELIEFS, DESIRES, WALKS, people, stimuli, write_clone
from otherminds.errors import InputError
from otherminds.papers.food_trucks.clone import is_clone, read_clone


def test_scenarios_are_levels_with_judgements(tmp_path: Path) -> None:
    write_clone(tmp_path)
    clone = read_clone(tmp_path, 2.5)
    assert (len(clone.scenarios), clone.skipped, clone.model) == (len(WALKS), 0, None)
    assert [one.level.parked for one in clone.scenarios[1:4]] == ["Lebanese", "nothing", "Mexican"]
    assert [one.irrational for one in clone.scenarios] == [False] * 4 + [True, False]
    second = clone.scenarios[1]
    assert second.level.actions == ("up", "right", "right", "right", "eat")
    assert (second.name, second.people.desire.tolist(), second.people.belief.tolist()) == (
        "scenario 2",
        list(map(float, DESIRES[1])),
        list(BELIEFS[1]),
    )
    grid = second.level.world.grid
    assert [grid.xy(cell) for cell in second.level.cells] == [(0, 1), (0, 0), (1, 0), (2, 0), (3, 0), (3, 0)]
    assert (grid.xy(second.level.world.known_spot), grid.is_floor(grid.cell(1, 1))) == ((0, 2), False)


def test_the_clone_is_found_from_any_of_its_folders(tmp_path: Path) -> None:
    data = write_clone(tmp_path)
    assert not is_clone(tmp_path / "elsewhere")
    for folder in (tmp_path, data.parent, data):
        assert is_clone(folder)
        assert len(read_clone(folder, 2.5).scenarios) == len(WALKS)


def test_scenarios_without_judgements_are_skipped_and_counted(tmp_path: Path) -> None:
    for blank in ((0, 3), (1, 5)):
        write_clone(tmp_path, *blank)
        clone = read_clone(tmp_path, 2.5)
        assert clone.skipped == 2
        assert [one.number - 1 for one in clone.scenarios] == [i for i in range(len(WALKS)) if i not in blank]


def model(scenarios: int, betas: tuple[float, ...]) -> dict[str, Any]:
    shape = (3, scenarios, len(betas))
    belief = np.full(shape, 1 / 3)
    return {"desire_model": np.ones(shape) * np.array(betas), "belief_model": belief, "beta_score_values": betas}


def test_the_authors_own_model_is_read_if_it_is_there(tmp_path: Path) -> None:
    theirs = model(len(WALKS), (2.0, 2.5, 3.0))
    write_clone(tmp_path, 0, btom_results_complete=theirs)
    found = read_clone(tmp_path, 2.5).model
    assert found is not None
    assert [one.desire.tolist() for one in found] == [[2.5] * 3] * (len(WALKS) - 1)
    theirs["belief_model"][0, 1] = np.nan
    write_clone(tmp_path, 0, btom_results_complete=theirs)
    assert read_clone(tmp_path, 2.5).model is None


def broken(change: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
    found = stimuli()
    change(found)
    return found


def with_path(*path: int) -> dict[str, Any]:
    return broken(lambda found: found["scenario"][0, 0].update(path=np.array([path], np.uint8)))


BROKEN: dict[str, tuple[dict[str, Any], str]] = {
    "no scenarios": ({"stimuli": {"worlds": stimuli()["worlds"]}}, "stimuli.mat: has no variable `scenario`"),
    "no judgements": ({"human_data": {"x": 1.0}}, "human_data.mat: has no variable `des_inf_mean`"),
    "few judgements": (
        {"human_data": {name: array[:, 1:] for name, array in people().items()}},
        "human_data.mat: `des_inf_mean` is no array of 3 × 6 numbers",
    ),
    "words": (
        {"human_data": people() | {"bel_inf_mean_norm": "many"}},
        "human_data.mat: `bel_inf_mean_norm` is no array of 3 × 6 numbers",
    ),
    "ratings that are too high": (
        {"human_data": people() | {"des_inf_mean": people()["des_inf_mean"] + 3}},
        "human_data.mat: `des_inf_mean` has numbers that are not from 1 to 7",
    ),
    "one rational scenario": ({"human_data": people(1, 2, 3, 5)}, "human_data.mat: has judgements of 2 scenarios (two"),
    "judgements that are all equal": (
        {"human_data": people() | {"des_inf_mean": np.full((3, 6), 4.0)}},
        "human_data.mat: has judgements of 6 scenarios (two rational ones",
    ),
    "a jump": ({"stimuli": with_path(5, 12)}, "stimuli.mat: scenario 1: its path jumps"),
    "a walk through the wall": ({"stimuli": with_path(5, 6)}, "stimuli.mat: scenario 1: (2, 2) is no floor"),
    "a cell that there is not": ({"stimuli": with_path(5, 40)}, "stimuli.mat: scenario 1: (4, 10) is no floor"),
    "a meal without a truck": ({"stimuli": with_path(5, 13)}, "stimuli.mat: scenario 1: action 1: nobody can eat here"),
    "a path that begins at a truck": ({"stimuli": with_path(1, 5)}, "stimuli.mat: scenario 1: its path begins at a"),
    "no path": ({"stimuli": with_path()}, "stimuli.mat: scenario 1: it has no layout, no world or no steps"),
    "a layout that there is not": (
        {"stimuli": broken(lambda found: found["scenario"][0, 2].update(condition=np.array([[2, 1, 1]])))},
        "stimuli.mat: scenario 3: ",
    ),
    "no wall": (
        {"stimuli": broken(lambda found: found["worlds"][0, 0][0, 0].pop("obst_sz"))},
        "stimuli.mat: `worlds.0.0.obst_sz`: Field required",
    ),
    "a huge map": (
        {"stimuli": broken(lambda found: found["worlds"][0, 0][0, 1].update(graph_sz=np.array([[99], [99]])))},
        "stimuli.mat: `worlds.0.1.graph_sz.0`: ",
    ),
    "other trucks": (
        {"stimuli": broken(lambda found: found["worlds"][0, 0].__setitem__((0, 2), found["worlds"][0, 0][0, 0]))},
        "stimuli.mat: scenario 1: its worlds do not have",
    ),
}


@pytest.mark.parametrize(("files", "message"), BROKEN.values(), ids=BROKEN)
def test_what_is_wrong_with_the_arrays_is_said_in_one_line(tmp_path: Path, files: dict[str, Any], message: str) -> None:
    data = write_clone(tmp_path, **files)
    with pytest.raises(InputError) as caught:
        read_clone(tmp_path, 2.5)
    assert str(caught.value).startswith(f"{data}/{message}")
    assert "\n" not in str(caught.value)


HDF = b"MATLAB 7.3 MAT-file, Platform: GLNXA64" + b" " * 474 + b"\x89HDF\r\n\x1a\n"
FILES: dict[str, tuple[Callable[[bytes], bytes | None], str]] = {
    "missing": (lambda _: None, "cannot be read: No such file or directory"),
    "empty": (lambda _: b"", "is no MATLAB file, or a broken one (point --data at a clone of"),
    "a page of a browser": (lambda _: b"<!DOCTYPE html>\n<html>\n" * 20, "is no MATLAB file, or a broken one"),
    "cut off": (lambda raw: raw[: len(raw) // 2], "is no MATLAB file, or a broken one"),
    "damaged": (lambda raw: raw[:300] + b"xxxx" + raw[304:], "is no MATLAB file, or a broken one"),
    "a newer version": (lambda _: HDF, "is a MATLAB file of version 7.3, which is not read (save it with -v7)"),
    "a newer version without its name": (lambda _: HDF[512:], "is a MATLAB file of version 7.3"),
    "huge": (lambda raw: raw + bytes(20_000_000), "is larger than 20,000,000 bytes"),
}


@pytest.mark.parametrize("name", ["human_data.mat", "btom_results_complete.mat"])
@pytest.mark.parametrize(("change", "message"), FILES.values(), ids=FILES)
def test_what_is_wrong_with_a_file_is_said_in_one_line(
    tmp_path: Path, name: str, change: Callable[[bytes], bytes | None], message: str
) -> None:
    data = write_clone(tmp_path, btom_results_complete=model(len(WALKS), (2.5, 3.0)))
    path = data / name
    raw = change(path.read_bytes())
    path.unlink()
    if raw is None and name.startswith("btom"):
        assert read_clone(tmp_path, 2.5).model is None
        return
    if raw is not None:
        path.write_bytes(raw)
    with pytest.raises(InputError) as caught:
        read_clone(tmp_path, 2.5)
    assert str(caught.value).startswith(f"{path}: {message}")


def test_a_folder_that_is_no_clone(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"has no BeliefDesireInference/data/stimuli.mat \(point --data at a clone"):
        read_clone(tmp_path, 2.5)


def test_nothing_is_unpickled(tmp_path: Path) -> None:
    data = write_clone(tmp_path)
    scipy.io.savemat(data / "human_data.mat", people() | {"other": np.array([{"a": 1}], object)}, do_compression=True)
    assert len(read_clone(tmp_path, 2.5).scenarios) == len(WALKS)
