"""Generating certified levels, and proving the certificates of levels again, on any number of processes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from otherminds.errors import InputError, near
from otherminds.evaluation.engines import in_order, opened
from otherminds.evaluation.progress import shown
from otherminds.files.text import printable, read_text, write_whole
from otherminds.papers.protom.levels import kitchens, maps
from otherminds.papers.protom.levels.level_sets import CLASSES, Design, L
from otherminds.worlds.overcooked.level_files import is_kitchen

DESIGNS: Mapping[str, Design[Any]] = {"doors-keys-gems": maps.DESIGN, "overcooked": kitchens.DESIGN}
SETS: Mapping[str, tuple[Design[Any], str]] = {
    prefix + which: (design, which)
    for prefix, design in (("", maps.DESIGN), ("overcooked-", kitchens.DESIGN))
    for which in ("tuning", "heldout", "robust")
}
PICKED = {design.picked: design for design in DESIGNS.values()}
CANDIDATES = 2_000  # random levels tried for each wanted level of a class before giving up; chosen


def make(folder: Path, seed: int, per_class: int, jobs: int, world: str = "doors-keys-gems") -> int:
    """Write `per_class` levels of each class with their certificates into `folder`; returns how many were written.

    Each is written as soon as it is found. Raises InputError if it cannot be written or too few levels are found.
    """
    design = DESIGNS[world]
    count = 0
    try:
        folder.mkdir(parents=True, exist_ok=True)
        numbers = range(per_class * CANDIDATES)
        quotas = dict.fromkeys(CLASSES, per_class)
        with opened(None, jobs) as engine:
            candidates = in_order(partial(design.proven, seed), numbers, engine=engine)
            for level in shown(design.choose(candidates, quotas), per_class * len(CLASSES), "Making levels"):
                write_whole(folder / f"{level.name}.txt", [design.write(level).encode()])
                count += 1
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror}", path=folder) from None
    except KeyboardInterrupt as interrupt:
        interrupt.add_note(f"{count} level{' is' if count == 1 else 's are'} in {folder}")
        raise
    if count < per_class * len(CLASSES):
        raise InputError(f"only {count} levels were found", hint="try another --seed", path=folder)
    return count


def check(names: Sequence[str], jobs: int) -> Iterator[tuple[str, bool]]:
    """Prove the certificates of levels or sets again: for each, a line of text, and whether the certificate holds.

    A name is that of a set, a level file, or a folder of level files. Raises InputError if there is no such thing.
    """
    for name in names:
        if name in SETS:
            design, which = SETS[name]
            level_set = design.level_set(which)
            levels = level_set.levels()
            proofs = zip(levels, _proofs(name, design, levels, jobs), strict=True)
            proved = [proof for level, proof in proofs if proof is not None and proof.kind == level.kind]
            same = len(proved) == len(levels) and design.digest(proved) == level_set.certificates
            verdict = f"hash {'as recorded' if same else 'DIFFERS'}"
            yield f"{name}: {len(proved)} of {len(levels)} certificates proved, {verdict}", same
        elif name in PICKED:
            yield from _check_levels(name, PICKED[name], PICKED[name].bundled(), jobs)
        else:
            if not Path(name).suffix and not Path(name).exists() and (close := near(name, [*SETS, *PICKED])):
                raise InputError(f"there is no file and no set of levels `{name}`", hint=f"did you mean {close[0]}?")
            files = sorted(Path(name).glob("*.txt")) if Path(name).is_dir() else [Path(name)]
            if not files:
                raise InputError("holds no level (*.txt)", path=Path(name))
            by_world: dict[str, list[Any]] = {}
            for file in files:
                text = read_text(file)
                world = "overcooked" if is_kitchen(text) else "doors-keys-gems"
                by_world.setdefault(world, []).append(DESIGNS[world].parse(text, file))
            for world, levels in by_world.items():
                yield from _check_levels(name, DESIGNS[world], levels, jobs)


def _check_levels(name: str, design: Design[Any], levels: Sequence[Any], jobs: int) -> Iterator[tuple[str, bool]]:
    """For each level a line of text, and whether its certificate is what is proved now."""
    for level, proof in zip(levels, _proofs(name, design, levels, jobs), strict=True):
        label = printable(level.name)
        if not level.kind:
            yield f"{label}: has no certificate", False
        elif proof is None:
            yield f"{label}: belongs to no class, but claims to be {printable(level.kind)}", False
        else:
            claimed, proved = level.certificate, proof.certificate
            wrong = [key for key in {**claimed, **proved} if claimed.get(key) != proved.get(key)]
            line = f"{', '.join(wrong)} cannot be proved" if wrong else f"{level.kind}, proved"
            yield f"{label}: {line}", not wrong


def _proofs(name: str, design: Design[L], levels: Sequence[L], jobs: int) -> Iterator[L | None]:
    """Each level with the certificate that is proved now, None if it belongs to no class; shows progress."""
    with opened(None, jobs) as engine:
        yield from shown(in_order(design.certified, levels, engine=engine), len(levels), f"Proving {name}")
