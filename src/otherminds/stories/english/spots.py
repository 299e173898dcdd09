"""Places in a story as it is read, and where its people stand."""

from __future__ import annotations

from dataclasses import dataclass, field

from otherminds.stories.english.lexicon import lexicon
from otherminds.stories.model import Relation


@dataclass(eq=False)
class Spot:
    """A place: its kind, what tells it apart from others of the kind, and the room it is in, if known."""

    kind: str
    extra: tuple[str, ...] = ()
    room: str | None = None
    ordinal: str = ""
    fresh: bool = False

    @property
    def id(self) -> str:
        """Its name: "third kitchen cabinet", "green box"."""
        return " ".join(
            [*([self.ordinal] if self.ordinal else []), *([self.room] if self.room else []), *self.extra, self.kind]
        )


@dataclass
class Standing:
    """Where an agent is and what it last had to do with."""

    room: str | None = None
    spot: Spot | None = None
    closed: bool = False
    held: list[str | None] = field(default_factory=list)
    things: list[str] = field(default_factory=list)
    group: list[str] = field(default_factory=list)
    spots: list[Spot] = field(default_factory=list)
    seeks: str | None = None
    left: str | None = None
    pair: list[str] = field(default_factory=list)

    def handle(self, group: list[str]) -> None:
        """Notes which things somebody handled together."""
        self.group = group
        self.pair = group if len(group) == 2 else self.pair


def relation(kind: str) -> Relation | None:
    """Whether things are in or on such a place."""
    places = lexicon().places
    return "in" if kind in places["inside"] else "on" if kind in places["on"] else None
