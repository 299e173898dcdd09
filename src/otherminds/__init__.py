"""Computational Theory of Mind: agents are minds run forward, mindreading is minds run backward.

The file `__init__.pyi` lists the public names. A module is imported when one of its names is first asked for, so
`import otherminds` stays quick.
"""

import ast
from importlib import import_module
from pathlib import Path
from typing import Any

__version__ = "0.1.0"

_LISTED = ast.parse(Path(__file__).with_suffix(".pyi").read_text("utf-8")).body
_MODULES = {name.name: line.module for line in _LISTED if isinstance(line, ast.ImportFrom) for name in line.names}

__all__ = sorted(_MODULES)


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(str(_MODULES[name])), name)


def __dir__() -> list[str]:
    """The public names, so that completion offers them before they are imported."""
    return [*__all__, "__version__"]
