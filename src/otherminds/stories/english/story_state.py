"""What a reader keeps in mind of a story: who is where, what was spoken of, and what a noun phrase stands for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from otherminds.stories.english.lexicon import lexicon, wordset
from otherminds.stories.english.phrases import ORDINALS, Noun
from otherminds.stories.model import Entity, Event, Fact, Happening, Relation, Source


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
class AgentState:
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


NEW = wordset("new")
MANY = 30
"""People in one story; "everyone" stands for no more than that."""
ANYWHERE = wordset("anywhere")


@dataclass
class StoryState:
    """The state of the story so far."""

    names: Sequence[str]
    source: Source = "text"
    p: float = 1.0
    story_rooms: frozenset[str] = frozenset()
    numbered: bool = False
    agents: list[str] = field(default_factory=list)
    spots: list[Spot] = field(default_factory=list)
    objects: list[str] = field(default_factory=list)
    rooms: list[str] = field(default_factory=list)
    standing: dict[str, AgentState] = field(default_factory=dict)
    where: dict[str, Spot | None] = field(default_factory=dict)
    begins: list[tuple[Fact, Spot | None]] = field(default_factory=list)
    rooms_of_spots: dict[str, str | None] = field(default_factory=dict)
    timeline: list[tuple[Happening, Spot | None]] = field(default_factory=list)
    tentative: list[Event] = field(default_factory=list)
    subjects: list[str] = field(default_factory=list)
    spoken: list[str] = field(default_factory=list)
    asked: tuple[str, str | None] | None = None
    pending: bool = False
    handled: set[str] = field(default_factory=set)
    last_room: str | None = None
    last_moved: str | None = None
    there: Spot | str | None = None
    genders: dict[str, str] = field(default_factory=dict)

    def of(self, agent: str) -> AgentState:
        """What is known of an agent, who is in the story from now on."""
        if agent not in self.standing:
            self.standing[agent] = AgentState()
            self.agents.append(agent)
        return self.standing[agent]

    def emit(self, happening: Happening, spot: Spot | None = None) -> None:
        """Adds something that happened; the spot is put in as its place at the end, when its room is known."""
        self.timeline.append((happening, spot))

    # rooms and places

    def room(self, noun: Noun) -> str | None:
        """The room a noun phrase stands for; None for "the room"."""
        text = noun.text
        if text == "room" or noun.words[0] in ("other", "another"):
            return None
        if text not in self.rooms:
            self.rooms.append(text)
        self.last_room = self.there = text
        return text

    def spot(self, noun: Noun, agent: str | None) -> Spot:
        """The place a noun phrase stands for, when `agent` deals with it (or nobody does: somebody speaks of it)."""
        known = lexicon()
        kind = known.kind_of(noun.words) or noun.words[-1]
        extra = tuple(noun.words[: len(noun.words) - len(kind.split())])
        ordinal = noun.ordinal if self.numbered or noun.ordinal == "other" else ""
        wanted = Spot(kind, extra, noun.room or None, ordinal, fresh=noun.det in NEW)
        found = self._fixed(wanted) if noun.room or ordinal else self._loose(wanted, noun, agent)
        found = self._same_id(found) or found
        if found not in self.spots:
            self.spots.append(found)
        else:
            self.spots.remove(found)
            self.spots.append(found)
        if found.room and found.room not in self.rooms:
            self.rooms.append(found.room)
        self.there = found
        if agent:
            self.of(agent).spots.append(found)
        return found

    def row(self, noun: Noun, count: int) -> None:
        """Notes several places of a kind that are told apart by number."""
        for ordinal in ORDINALS[:count]:
            self.spot(Noun("place", noun.words, 0, 0, "the", room=noun.room, ordinal=ordinal), None)

    def _fixed(self, wanted: Spot) -> Spot:
        if not wanted.room:
            alike = [s for s in self.spots if s.kind == wanted.kind and s.ordinal == wanted.ordinal]
            wanted.room = self.last_room
            return alike[-1] if alike else wanted
        same = [s for s in self.spots if s.id == wanted.id]
        if same:
            return same[0]
        loose = [
            s
            for s in self.spots
            if s.room is None and not s.fresh and s.kind == wanted.kind and s.extra == wanted.extra
        ]
        if loose and not wanted.ordinal:
            loose[0].room = wanted.room
            return loose[0]
        return wanted

    def _loose(self, wanted: Spot, noun: Noun, agent: str | None) -> Spot:
        """A place named without its room: one spoken of before, or one in the room where the agent is."""
        known = lexicon()
        here = self.of(agent).room if agent else None if self.agents else self.last_room
        alike = self.alike(wanted) or self._by_other_name(wanted)
        if agent and self.of(agent).spot in alike and noun.det not in ("another", "other", "second", "third"):
            found = self.of(agent).spot
            assert found is not None
            return found
        home = known.places["home"].get(wanted.kind)
        if home:
            wanted.room = home if home in self.story_rooms else None
            return alike[-1] if alike else wanted
        if noun.det == "same" and alike:
            return alike[-1]
        if wanted.kind not in known.furniture or wanted.extra:
            return alike[-1] if alike else wanted
        return self._furniture(wanted, alike, here)

    def _furniture(self, wanted: Spot, alike: list[Spot], here: str | None) -> Spot:
        if here is None or not self._may_stand(wanted.kind, here):
            return alike[-1] if alike and not wanted.fresh else (self._same_id(wanted) or wanted)
        in_here = [spot for spot in alike if spot.room == here]
        if in_here:
            return in_here[-1]
        loose = [spot for spot in alike if spot.room is None and not spot.fresh]
        wanted.room = here
        if loose:
            loose[-1].room = here
            return loose[-1]
        return wanted

    def _same_id(self, wanted: Spot) -> Spot | None:
        tail = wanted.kind[-3:]
        return next((spot for spot in self.spots if spot.kind[-3:] == tail and spot.id == wanted.id), None)

    def _may_stand(self, kind: str, room: str) -> bool:
        rooms = lexicon().places["rooms_of"].get(kind)
        return (rooms is None or room in rooms) and room not in ANYWHERE

    def alike(self, wanted: Spot) -> list[Spot]:
        """The places a shorter name may stand for, the last mentioned at the end."""
        return [
            spot
            for spot in self.spots
            if (spot.kind == wanted.kind or spot.kind.endswith(" " + wanted.kind))
            and set(wanted.extra) <= set(spot.extra)
        ]

    def _by_other_name(self, wanted: Spot) -> list[Spot]:
        other = lexicon().places["like"].get(wanted.kind)
        return self.alike(Spot(other, wanted.extra)) if other else []

    # things

    def thing(self, noun: Noun, agent: str | None) -> str | None:
        """The object a noun phrase stands for; None for "something"."""
        found = self._pronoun_thing(noun, agent) if noun.kind in ("pronoun", "one", "vague") else self._object(noun)
        if found:
            self.mention(found, agent)
        return found

    def _object(self, noun: Noun) -> str:
        text = noun.text
        if text in self.objects:
            return text
        head, extra = noun.words[-1], set(noun.words[:-1])
        alike = [o for o in self.objects if o.split()[-1] == head and _nested(set(o.split()[:-1]), extra)]
        if len(alike) == 1:
            return alike[0]
        self.objects.append(text)
        return text

    def mention(self, thing: str, agent: str | None) -> None:
        """Notes that an object was spoken of."""
        self.spoken.append(thing)
        if thing not in self.objects:
            self.objects.append(thing)
        if agent:
            self.of(agent).things.append(thing)

    def _pronoun_thing(self, noun: Noun, agent: str | None) -> str | None:
        things = self.of(agent).things if agent else []
        if noun.kind == "vague":
            held = self.of(agent).held if agent else []
            return held[-1] if held and noun.det in ("the", "same", "this", "that") else None
        if noun.words[0] in ("former", "latter"):
            pair = self.of(agent).pair if agent else []
            last = pair[::-1] if pair else list(dict.fromkeys(reversed(self.spoken)))[:2]
            return (last[-1] if noun.words[0] == "former" else last[0]) if last else None
        if noun.words[0] == "other" and agent:
            return next((one for one in self.of(agent).group if one != (things or [""])[-1]), None)
        return things[-1] if things else self.spoken[-1] if self.spoken else None

    # people

    def person(self, noun: Noun, subject: Sequence[str] = (), *, reply: bool = False) -> list[str]:
        """The agents a noun phrase stands for; nobody if that is unclear. `subject` is who it cannot be."""
        if noun.kind == "agent":
            return self._described(noun, subject)
        word = noun.words[0]
        if word in ("they", "them", "both", "we", "each", "everyone", "everybody", "themselves", "us"):
            return self._several(word)
        if word in ("i", "me"):
            return list(subject)
        if word not in ("he", "she", "him", "her", "who", "himself", "herself") and noun.kind != "one":
            return []
        return self._single({"him": "he", "her": "she"}.get(word, word), subject, reply=reply)

    def _described(self, noun: Noun, subject: Sequence[str]) -> list[str]:
        if noun.text in self.names or noun.text in self.standing:
            return [noun.text]
        others = [name for name in self.names if name not in subject]
        if noun.owner and noun.words[-1] in lexicon().sets["relational"] and len(self.names) == 2:
            mine = subject or self.subjects[:1]
            others = [name for name in self.names if name not in mine]
            return others[:1] if len(others) == 1 else []
        return [noun.text]

    def _several(self, word: str) -> list[str]:
        if word in ("everyone", "everybody") or len(self.agents) == 2:
            return list(self.agents) if len(self.agents) <= MANY else []
        return list(self.subjects) if len(self.subjects) > 1 else []

    def _single(self, word: str, subject: Sequence[str], *, reply: bool) -> list[str]:
        recent = [*self.subjects, *reversed(self.agents)] if len(self.subjects) == 1 else list(reversed(self.agents))
        if reply and self.asked and len(self.agents) > 1:
            recent = [one for one in recent if one != self.asked[0]] + [self.asked[0]]
        recent = [one for one in dict.fromkeys(recent) if one not in subject]
        gender = lexicon().gender
        fitting = (
            [one for one in recent if gender.get(one, self.genders.get(one, word)) == word]
            if word in ("he", "she")
            else recent
        )
        sure = fitting or recent
        if len(recent) == 1 and subject:
            self.genders.setdefault(recent[0], word)
        if len(self.subjects) > 1 and len(sure) > 1 and not subject:
            return [] if len([one for one in self.subjects if one in sure]) > 1 else sure[:1]
        return sure[:1]

    def other(self, agent: str) -> str | None:
        """The only other agent there is."""
        others = [one for one in dict.fromkeys([*self.agents, *self.names]) if one != agent]
        return others[0] if len(others) == 1 else None

    # the end

    def entities(self) -> tuple[Entity, ...]:
        """Everybody and everything that occurred."""
        things = [o for o in dict.fromkeys(self.objects) if o]
        spots = {spot.id: spot for spot in self.spots}
        return (
            *(Entity(agent, "agent") for agent in self.agents),
            *(Entity(thing, "object") for thing in things if thing not in spots),
            *(
                Entity(spot.id, "place", spot.room or self.rooms_of_spots.get(spot.id), relation(spot.kind))
                for spot in spots.values()
            ),
            *(Entity(room, "room") for room in dict.fromkeys(self.rooms)),
        )


def _nested(one: Iterable[str], other: Iterable[str]) -> bool:
    first, second = set(one), set(other)
    return first <= second or second <= first
