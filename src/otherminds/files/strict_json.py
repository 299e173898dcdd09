"""The JSON of rows: each name once, finite numbers, and not nested deeply."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NoReturn


def dumps(value: Any) -> str:
    """A value as JSON. Raises ValueError or TypeError if it cannot be."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def loads(text: str) -> Any:
    """A value from JSON, in which each name comes once and no number is NaN. Raises ValueError, RecursionError."""
    return json.loads(text, parse_constant=_refuse, object_pairs_hook=_once)


def depth(value: Any) -> int:
    """How deeply lists and objects are nested in a value."""
    if isinstance(value, Mapping):
        return 1 + max(map(depth, value.values()), default=0)
    return 1 + max(map(depth, value), default=0) if isinstance(value, list) else 0


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(found := dict(pairs)) < len(pairs):
        raise ValueError("a name comes twice")
    return found
