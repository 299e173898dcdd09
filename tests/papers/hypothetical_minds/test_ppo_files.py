"""Networks are read from files as they were written, and anything else is told in a line."""

from __future__ import annotations

import io
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from zipfile import ZipFile

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from odd_matrix_worlds import odd
from otherminds.errors import InputError
from otherminds.papers.hypothetical_minds.ppo import Network, Senses, Trained, read_network
from otherminds.worlds.in_the_matrix.map_files import in_the_matrix
from otherminds.worlds.in_the_matrix.world import InTheMatrix

Arrays = dict[str, np.ndarray]


def arrays_of(world: InTheMatrix, inner: int = 3) -> Arrays:
    width = Senses.of(world).width
    shapes = {"weights0": (width, inner), "biases0": (inner,), "weights1": (inner, 8), "biases1": (8,)}
    return {name: np.full(shape, 0.25, np.float16) for name, shape in shapes.items()}


def written(path: Path, arrays: Arrays) -> Path:
    np.savez_compressed(path, allow_pickle=True, **arrays)
    return path


def test_a_network_survives_a_file(tmp_path: Path) -> None:
    world = odd()
    rng, width = np.random.default_rng(5), Senses.of(world).width
    shapes = [(width, 4), (4,), (4, 8), (8,)]
    a, b, c, d = (rng.normal(size=shape).astype(np.float16).astype(np.float32) for shape in shapes)
    network = Network(((a, b), (c, d)))
    network.save(tmp_path / "n.npz")
    read = read_network(tmp_path / "n.npz", world)
    assert all(
        (x == y).all()
        for one, two in zip(network.layers, read.layers, strict=True)
        for x, y in zip(one, two, strict=True)
    )
    view = world.observe(world.start(rng), "player_1")
    acts = [Trained.initial(world, "player_1", one).observe(view).act() for one in (network, read)]
    assert acts[0] == acts[1]


def changed(name: str, change: Callable[[np.ndarray], np.ndarray]) -> Callable[[Arrays], Arrays]:
    return lambda arrays: arrays | {name: change(arrays[name])}


def without(name: str) -> Callable[[Arrays], Arrays]:
    return lambda arrays: {key: array for key, array in arrays.items() if key != name}


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (changed("weights0", lambda a: a[1:]), "`weights0` has the shape"),
        (changed("weights0", lambda a: a.ravel()), "`weights0` has the shape"),
        (changed("weights1", lambda a: a.T), "`weights1` has the shape (8, 3), not (3, 8)"),
        (changed("biases1", lambda a: a[:7]), "`biases1` has the shape (7,), not (8,)"),
        (changed("biases0", lambda a: a[None]), "`biases0` has the shape (1, 3), not (3,)"),
        (changed("biases0", lambda a: a * np.nan), "`biases0` is not all finite"),
        (changed("biases0", lambda a: a.astype(np.int64)), "`biases0` is not all finite"),
        (changed("biases0", lambda a: a.astype(str)), "`biases0` is not all finite"),
        (changed("biases0", lambda a: a.astype(object)), "is no .npz file of numbers"),
        (without("biases0"), "has the arrays biases1, weights0, weights1"),
        (without("weights1"), "has the arrays biases0, biases1, weights0"),
        (lambda arrays: arrays | {"more": arrays["biases0"]}, "has the arrays"),
        (lambda arrays: {}, "has the arrays none"),
        (lambda arrays: arrays | {"weights0": np.zeros((2000, 2000))}, "is larger than"),
    ],
)
def test_a_file_that_is_no_network_is_told_in_a_line(
    change: Callable[[Arrays], Arrays], told: str, tmp_path: Path
) -> None:
    path = written(tmp_path / "bad.npz", change(arrays_of(odd())))
    with pytest.raises(InputError) as error:
        read_network(path, odd())
    assert str(error.value).startswith(f"{path}: ")
    assert told in str(error.value)
    assert "\n" not in str(error.value)


def test_a_network_of_another_world_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path / "odd.npz", arrays_of(odd()))
    with pytest.raises(InputError, match="was it trained in another world"):
        read_network(path, in_the_matrix("pd_repeated"))


def test_a_missing_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        read_network(tmp_path / "none.npz", odd())
    with pytest.raises(InputError, match="cannot be written"):
        Network(()).save(written(tmp_path / "odd.npz", arrays_of(odd())) / "n.npz")


@pytest.mark.slow
@given(at=st.integers(0, 10_000), byte=st.integers(0, 255), cut=st.none() | st.integers(0, 10_000))
def test_a_damaged_file_is_a_network_or_told(
    at: int, byte: int, cut: int | None, tmp_path_factory: pytest.TempPathFactory
) -> None:
    buffer = io.BytesIO()
    np.savez_compressed(buffer, allow_pickle=False, **arrays_of(odd()))
    raw = bytearray(buffer.getvalue())
    raw[at % len(raw)] = byte
    path = tmp_path_factory.getbasetemp() / "damaged.npz"
    path.write_bytes(raw[:cut])
    with suppress(InputError):
        assert len(read_network(path, odd()).layers) == 2


def test_an_array_that_claims_to_be_huge_is_told(tmp_path: Path) -> None:
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "<f4", "fortran_order": False, "shape": (10**9, 10**9)})
    with ZipFile(tmp_path / "huge.npz", "w") as archive:
        archive.writestr("weights0.npy", header.getvalue())
    with pytest.raises(InputError, match="file of numbers"):
        read_network(tmp_path / "huge.npz", odd())
