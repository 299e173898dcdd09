"""Word associations: how strongly a clue brings a word to mind, for people who know different fields of life."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from otherminds.files.text import brief
from otherminds.files.toml import packaged

Floats = NDArray[np.float64]

UNKNOWN = 0.1  # share of a strength that is left in an unknown field; chosen after a look at the scores


class Associator(NamedTuple):
    """Somebody who knows some fields of life."""

    known: tuple[str, ...]

    @property
    def name(self) -> str:
        """The fields, such as `sea kitchen sport`."""
        return " ".join(self.known) or "nothing"


@dataclass(frozen=True, eq=False)
class Associations:
    """Words and clues; `table[word][field][clue]` is the strength of an association, from 0 to 1.

    For a person the strength of a clue is s[word, clue] = max over fields of its strength there, times UNKNOWN in the
    fields that the person does not know. Tables are equal only if they are the same object.
    """

    __repr__ = brief

    table: Mapping[str, Mapping[str, Mapping[str, float]]]

    @cached_property
    def words(self) -> tuple[str, ...]:
        """The words, in the order of the table."""
        return tuple(self.table)

    @cached_property
    def fields(self) -> tuple[str, ...]:
        """The fields of life."""
        return tuple(dict.fromkeys(name for fields in self.table.values() for name in fields))

    @cached_property
    def clues(self) -> tuple[str, ...]:
        """All clues."""
        every = (clue for fields in self.table.values() for clues in fields.values() for clue in clues)
        return tuple(dict.fromkeys(every))

    @property
    def conventional(self) -> Associator:
        """The person who knows all fields."""
        return Associator(self.fields)

    @property
    def people(self) -> Iterator[Associator]:
        """The conventional person, and everybody who knows exactly half of the fields: 21 people with 6 fields."""
        yield self.conventional
        yield from map(Associator, combinations(self.fields, len(self.fields) // 2))


@cache
def strengths(associations: Associations, person: Associator) -> Floats:
    """s[word, clue] of a person, read-only."""
    table = np.zeros((len(associations.words), len(associations.clues)))
    index = {clue: i for i, clue in enumerate(associations.clues)}
    for row, fields in zip(table, associations.table.values(), strict=True):
        for name, clues in fields.items():
            for clue, strength in clues.items():
                share = 1.0 if name in person.known else UNKNOWN
                row[index[clue]] = max(row[index[clue]], share * strength)
    table.setflags(write=False)
    return table


@cache
def bundled_associations() -> Associations:
    """The bundled table."""
    return Associations(packaged("otherminds.worlds.clue_games", "associations.toml"))
