"""Nested beliefs by possible worlds: relations of what everybody considers possible, updated by event models.

Written from the conventions alone, as an oracle: a world says where one thing is; an agent believes what holds in all
worlds that he considers possible. An event model says what may have happened, to whom, and what it changes; worlds and
events are multiplied, and worlds that no chain of so many minds can tell apart are merged again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from otherminds.stories.model import Episode, Event, Utterance

Convention = Literal["told", "hi_tom"]
NEVER, STILL_THERE = -1, 10**9


@dataclass(frozen=True)
class Possible:
    """One event that may have happened: the place it gives the thing (None: none), and what each agent takes it for."""

    place: str | None
    taken_for: Mapping[str, str]


Model = dict[str, Possible]


@dataclass
class Worlds:
    """Worlds by number: where the thing is, and which worlds each agent considers possible there; 0 is the actual."""

    place: list[str]
    possible: list[dict[str, frozenset[int]]]

    @classmethod
    def unknown(cls, actual: str, places: Sequence[str], agents: Sequence[str]) -> Worlds:
        """Nobody knows anything, and all know that."""
        order = [actual, *(place for place in places if place != actual)]
        everything = frozenset(range(len(order)))
        return cls(order, [dict.fromkeys(agents, everything) for _ in order])

    def after(self, model: Model, depth: int) -> Worlds:
        """The product with an event model, of which `now` is what really happens."""
        pairs = {(0, "now"): 0}
        queue = [(0, "now")]
        place, possible = list[str](), list[dict[str, frozenset[int]]]()
        for world, name in queue:
            event = model[name]
            place.append(self.place[world] if event.place is None else event.place)
            seen: dict[str, frozenset[int]] = {}
            for agent, worlds in self.possible[world].items():
                onward = [(other, event.taken_for[agent]) for other in sorted(worlds)]
                for pair in onward:
                    if pair not in pairs:
                        pairs[pair] = len(pairs)
                        queue.append(pair)
                seen[agent] = frozenset(pairs[pair] for pair in onward)
            possible.append(seen)
        return Worlds(place, possible).merged(depth)

    def merged(self, depth: int) -> Worlds:
        """Worlds that look alike down to so many minds are one (the coarsest partition after so many refinements)."""
        kind: list[Any] = list(self.place)
        for _ in range(depth):
            kind = _numbered(
                (kind[world], *(frozenset(kind[w] for w in found) for found in self.possible[world].values()))
                for world in range(len(self.place))
            )
        numbers = _numbered(kind)
        first = {number: world for world, number in reversed(list(enumerate(numbers)))}
        return Worlds(
            [self.place[first[n]] for n in range(len(first))],
            [
                {who: frozenset(numbers[w] for w in found) for who, found in self.possible[first[n]].items()}
                for n in range(len(first))
            ],
        )

    def believed(self, chain: Sequence[str]) -> str | None:
        """Where the thing is in all worlds that the chain leads to; None if it is not the same everywhere."""
        worlds = frozenset({0})
        for who in chain:
            worlds = frozenset(other for world in worlds for other in self.possible[world][who])
        places = {self.place[world] for world in worlds}
        return places.pop() if len(places) == 1 else None


def _numbered(values: Iterable[Any]) -> list[int]:
    numbers: dict[Any, int] = {}
    return [numbers.setdefault(value, len(numbers)) for value in values]


def check(episode: Episode, chain: Sequence[str], thing: str, convention: Convention = "told") -> str | None:
    """Where A thinks that B thinks that … the thing is, in stories that say where everybody is and who comes and goes.

    Whoever comes in sees where the thing is, together with all who are there. Hearers believe what they are told; or,
    as in Hi-ToM, only if the speaker left after them, what is said to nobody is heard by all, and it changes nothing
    of third-order beliefs and beyond.
    """
    depth = max(len(chain), 1)
    start = next(fact.value for fact in episode.init if fact.predicate == "at" and fact.subject == thing)
    room = {entity.id: entity.room for entity in episode.entities}[start or ""]
    containers = [entity.id for entity in episode.entities if entity.kind == "place"]
    where = dict.fromkeys(episode.agents) | {f.subject: f.value for f in episode.init if f.predicate == "in_room"}
    left = {who: STILL_THERE if where[who] == room else NEVER for who in episode.agents}
    assert start is not None
    worlds = Worlds.unknown(start, containers, episode.agents).after(_shared(where, room, start), depth)
    for number, event in enumerate(episode.timeline):
        if isinstance(event, Utterance):
            worlds = worlds.after(_told(event, where, left, convention), depth)
        elif isinstance(event, Event) and event.verb in ("enter", "leave"):
            left[event.agent] = number if where[event.agent] == room else left[event.agent]
            where[event.agent] = event.room if event.verb == "enter" else None
            if where[event.agent] == room:
                left[event.agent] = STILL_THERE
                worlds = worlds.after(_shared(where, room, worlds.place[0]), depth)
        elif isinstance(event, Event) and event.verb == "move" and event.obj == thing:
            worlds = worlds.after(_shared(where, room, event.place), depth)
    return worlds.believed(chain)


def _shared(where: Mapping[str, str | None], room: str | None, place: str | None) -> Model:
    """All in the room see, before each other's eyes, that the thing is there now; for the others, nothing happens."""
    seen = {who: "now" if here == room else "nothing" for who, here in where.items()}
    return {"now": Possible(place, seen), "nothing": Possible(None, dict.fromkeys(where, "nothing"))}


def _told(
    utterance: Utterance, where: Mapping[str, str | None], left: Mapping[str, int], convention: Convention
) -> Model:
    """What is said changes nothing but minds.

    Whoever trusts it takes it for `true`; others for what it is. The speaker takes it to be believed by all (`spoken`),
    and those who trust him take him to be as convinced as all the others in his eyes (`meant`).
    """
    speaker, said = utterance.speaker, utterance.content
    assert said is not None
    public = [who for who in where if convention == "hi_tom" or (where[who] and where[who] == where[speaker])]
    hearers = set(utterance.hearers or public) - {speaker}
    trusting = {who for who in hearers if convention == "told" or left[who] < left[speaker]}

    def taken(by_speaker: str, by_trusting: str, by_doubting: str) -> dict[str, str]:
        found = dict.fromkeys(where, "nothing") | dict.fromkeys(hearers, by_doubting)
        return found | dict.fromkeys(trusting, by_trusting) | {speaker: by_speaker}

    model = {
        "now": Possible(None, taken("spoken", "true", "now")),
        "true": Possible(said.value, taken("meant", "true", "now")),
        "spoken": Possible(None, taken("spoken", "meant", "meant")),
        "meant": Possible(said.value, taken("meant", "meant", "meant")),
        "nothing": Possible(None, dict.fromkeys(where, "nothing")),
    }
    return _layered(model, 2) if convention == "hi_tom" else model


def _layered(model: Model, depth: int) -> Model:
    """The same, but so many minds deep everybody takes it for nothing."""
    found = {"nothing": model["nothing"]}
    for layer in range(depth + 1):
        for name, event in model.items():
            inner = {
                w: "nothing" if n == "nothing" or layer == depth else f"{n} {layer + 1}"
                for w, n in event.taken_for.items()
            }
            found[f"{name} {layer}"] = Possible(event.place, inner)
    return found | {"now": found["now 0"]}
