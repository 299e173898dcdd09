"""Pages of documentation: their blocks of code, command lines, links and anchors."""

from __future__ import annotations

import html
import re
import shlex
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent
from typing import Any, NamedTuple
from urllib.parse import unquote, urlsplit

ROOT = Path(__file__).parents[1]
MODULES = {"embedded": "xllamacpp", "fast": "numba", "inspect": "inspect_ai", "parquet": "pyarrow", "web": "fastapi"}
"""What extras are imported as, where that is another name."""

FENCE = re.compile(r"^(?P<indent> *)(?P<fence>```+|~~~+) *(?P<language>[\w+-]*).*\n(?P<code>(?:.*\n)*?)(?P=indent)(?P=fence) *$", re.M)
INDENTED = re.compile(r"(?<=\n\n)(?:    .*\n|\n(?=    ))+")
INLINE = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)", re.S)
COMMENT = re.compile(r"<!--.*?-->", re.S)
MARK = re.compile(r"<!-- (no test|needs): (.+?) -->\s*")
LINK = re.compile(r"\]\(\s*<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\s*\)|^\[[^\]]+\]:\s*(\S+)|<(https?://[^>\s]+)>|\b(?:src|href)=\"([^\"]+)\"", re.M)
HEADING = re.compile(r"^(#{1,6}) +(.+?)(?: +#+)? *$", re.M)
ANCHOR = re.compile(r"\b(?:id|name)=\"([^\"]+)\"|\{[^}\n]*#([\w.-]+)[^}\n]*\}")
PLACEHOLDER = "…"


class Block(NamedTuple):
    """A block of code: where it begins, what it should print (None: that is not said), and the marks above it."""

    language: str
    code: str
    line: int
    printed: str | None
    marks: dict[str, str]

    def fits(self, output: str) -> bool:
        """Whether this was printed; … stands for anything."""
        told = PLACEHOLDER.join(line.rstrip() for line in (self.printed or "").rstrip().split("\n"))
        return bool(told)


def name(path: Path) -> str:
    """What a page is called: its path in the repository."""
    return path.relative_to(ROOT).as_posix()
