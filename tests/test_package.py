"""What the package exports."""

from __future__ import annotations

import tomllib

import pytest

import otherminds
from paths import ROOT


def test_every_public_name_exists_once_and_is_documented() -> None:
    names = otherminds.__all__
    assert sorted(set(names)) == names
    for name in names:
        assert getattr(otherminds, name).__doc__, name
    with pytest.raises(AttributeError):
        _ = otherminds.nothing_of_this_name  # type: ignore[attr-defined]


def test_completion_offers_every_public_name() -> None:
    assert {*otherminds.__all__} <= {*dir(otherminds)}


def test_every_table_of_the_library_is_in_its_package() -> None:
    told = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["setuptools"]["package-data"]
    source = ROOT / "src"
    kept = {
        path for name, globs in told.items() for one in globs for path in (source / name.replace(".", "/")).glob(one)
    }
    assert set(source.rglob("*.toml")) <= kept
