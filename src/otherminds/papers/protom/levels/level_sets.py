"""Sets of certified levels: chosen from random ones by class, kept as numbers and hashes, and made anew from a seed."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Generic, Protocol, TypeVar

import numpy as np

from otherminds.errors import InputError
from otherminds.worlds.doors_keys_gems.level_files import Level
from otherminds.worlds.map_file import level_texts
from otherminds.worlds.overcooked.level_files import KitchenLevel

L = TypeVar("L", Level, KitchenLevel)

CLASSES = ("not_needed", "useful", "necessary")


class Proof(Protocol):
    """What has been established of a level."""

    def certificate(self, seed: str) -> dict[str, str]:
        """The proof as lines of a level file; `seed` says where the level comes from, if it was made."""
        ...


@dataclass(frozen=True)
class Design(Generic[L]):
    """How the levels of one world are made, proved, compared, read and written, and where those are that come with it.

    `prove` gives None for a level that belongs to no class; `shape` is a hash that is the same for levels that are
    the same but for symmetries and names. `folder` holds the folder `picked`, a level a file, and sets.json with the
    sets that are given by their numbers.
    """

    random: Callable[[np.random.Generator], L]
    prove: Callable[[L], Proof | None]
    shape: Callable[[L], str]
    parse: Callable[[str, Path], L]
    write: Callable[[L], str]
    folder: Traversable
    picked: str

    def candidate(self, seed: int, index: int, kind: str = "") -> L:
        """The random level with this number, as it would be called if it is of this class."""
        level = self.random(np.random.default_rng([seed, index]))
        certificate = {"seed": f"{seed}/{index}"} | ({"class": kind} if kind else {})
        return replace(level, name=f"{kind or 'random'}-{index}", certificate=certificate)

    def proven(self, seed: int, index: int) -> L | None:
        """The random level with this number and its certificate, None if it has no class."""
        level = self.certified(self.candidate(seed, index))
        return level and replace(level, name=f"{level.kind}-{index}")

    def certified(self, level: L) -> L | None:
        """The level with its certificate, proved anew, None if it has no class."""
        proof = self.prove(level)
        if proof is None:
            return None
        return replace(level, certificate=proof.certificate(level.certificate.get("seed", "")))

    def choose(self, levels: Iterable[L | None], wanted: Mapping[str, int]) -> Iterator[L]:
        """The first levels of each class, as many as wanted, no two the same but for symmetries and names."""
        missing, seen = Counter(wanted), set[str]()
        for level in levels:
            if level is not None and missing[level.kind] > 0 and (shape := self.shape(level)) not in seen:
                seen.add(shape)
                missing[level.kind] -= 1
                yield level
            if not +missing:
                return

    def digest(self, levels: Iterable[L]) -> str:
        """The SHA-256 of the level files, certificates included."""
        return hashlib.sha256("".join(self.write(level) for level in levels).encode()).hexdigest()

    def bundled(self) -> list[L]:
        """The levels that were picked, in the order of their file names."""
        return [self.parse(text, path) for text, path in level_texts(self.folder / self.picked)]

    def level_set(self, name: str) -> LevelSet[L]:
        """One of the sets that come with the library as numbers: `tuning` or `heldout`."""
        table = json.loads((self.folder / "sets.json").read_text("utf-8"))
        return LevelSet(design=self, **table[name])


@dataclass(frozen=True)
class LevelSet(Generic[L]):
    """A set of levels as their numbers and two hashes: of the maps, and of the maps with their certificates."""

    design: Design[L]
    seed: int
    numbers: Mapping[str, Sequence[int]]
    maps: str
    certificates: str

    def levels(self) -> list[L]:
        """The levels made anew from the seed. Raises InputError if they are not what they were."""
        candidate = self.design.candidate
        made = [candidate(self.seed, n, kind) for kind, numbers in self.numbers.items() for n in numbers]
        if self.design.digest(made) != self.maps:
            raise InputError(f"the levels made from seed {self.seed} are not those that were chosen")
        return made
