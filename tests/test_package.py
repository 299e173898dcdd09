"""What the package exports."""

from __future__ import annotations

import pytest

import otherminds


def test_every_public_name_exists_once_and_is_documented() -> None:
    names = otherminds.__all__
    assert sorted(set(names)) == names
    for name in names:
        assert getattr(otherminds, name).__doc__, name
    with pytest.raises(AttributeError):
        _ = otherminds.nothing_of_this_name  # type: ignore[attr-defined]
