"""What came of holding a world's rules against what its model was seen to do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Comparison:
    """How many steps were compared, where the rules cannot have led to what was seen, and how much happened of what."""

    steps: int
    mismatches: tuple[str, ...]
    counts: Mapping[str, int]
