"""Making levels, and proving again what is claimed about them, on any number of processes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from otherminds.errors import InputError
from otherminds.evaluation.run import run
from otherminds.experiments.level_design import CLASSES, LevelSet, certified, choose, digest, level_set, proven
from otherminds.experiments.progress import shown
from otherminds.worlds.level_files import Level, bundled_levels, read_level, write_level
from otherminds.worlds.sprites import printable

SETS = ("tuning", "heldout")
ENOUGH = 2_000


def make(folder: Path, seed: int, per_class: int, jobs: int) -> int:
    """Write `per_class` levels of every class with their certificates; returns how many. Raises InputError."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        numbers = range(per_class * ENOUGH)
        found = run(partial(proven, seed), numbers, jobs=jobs)
        wanted = dict.fromkeys(CLASSES, per_class)
        levels = list(shown(choose(found, wanted), per_class * len(CLASSES), "Making levels"))
        for level in levels:
            (folder / f"{level.name}.txt").write_text(write_level(level), encoding="utf-8")
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror}", path=folder) from None
    if len(levels) < per_class * len(CLASSES):
        raise InputError(f"only {len(levels)} levels were found", hint="try another --seed", path=folder)
    return len(levels)


def check(names: Sequence[str], jobs: int) -> Iterator[tuple[str, bool]]:
    """A line for every level or set whose certificate has been proved again, and whether it holds."""
    for name in names:
        if name in SETS:
            yield _check_set(name, level_set(name), jobs)
        else:
            levels = bundled_levels() if name == "twenty" else _read(Path(name))
            proofs = shown(run(certified, levels, jobs=jobs), len(levels), f"Proving {name}")
            yield from (_verdict(level, proof) for level, proof in zip(levels, proofs, strict=True))


def _read(path: Path) -> list[Level]:
    files = sorted(path.glob("*.txt")) if path.is_dir() else [path]
    if not files:
        raise InputError("holds no level (*.txt)", path=path)
    return [read_level(file) for file in files]


def _verdict(level: Level, proof: Level | None) -> tuple[str, bool]:
    name = printable(level.name)
    if not level.kind:
        return f"{name}: has no certificate", False
    if proof is None:
        return f"{name}: belongs to no class, but claims to be {printable(level.kind)}", False
    wrong = [key for key, value in proof.certificate.items() if level.certificate.get(key) != value]
    if wrong:
        return f"{name}: {', '.join(wrong)} cannot be proved", False
    return f"{name}: {level.kind}, proved", True


def _check_set(name: str, chosen: LevelSet, jobs: int) -> tuple[str, bool]:
    levels = chosen.levels()
    proofs = list(shown(run(certified, levels, jobs=jobs), len(levels), f"Proving {name}"))
    held = [p for level, p in zip(levels, proofs, strict=True) if p is not None and p.kind == level.kind]
    same = len(held) == len(levels) and digest(held) == chosen.certificates
    line = f"{name}: {len(held)} of {len(levels)} certificates proved, hash {'as recorded' if same else 'DIFFERS'}"
    return line, same
