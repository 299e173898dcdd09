"""The frames of a story: the plan of the home, people and items on it, the happening, and its caption."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from otherminds.files.text import printable
from otherminds.files.toml import packaged
from otherminds.stories.homes import SOMEWHERE
from otherminds.stories.model import Episode, Event, Fact, Happening, Observation, Utterance
from otherminds.stories.pictures.floor_plan import STRIP, Area, FloorPlan, StoryStates, floor_plan, story_states
from otherminds.worlds.canvas import font
from otherminds.worlds.household.rules import Person, Place, State
from otherminds.worlds.sprites import INK, PAPER, Box, Disc, Polygon, Shape, TextLine, ink_on, labels, mix

WIDTH, HEIGHT = 320.0, 240.0  # of a frame; all lengths and colours are chosen for legibility
PLAN = Area(6, 6, 308, 186)
GROUND, FLOOR, OUTSIDE, WALL = "#eceef1", "#fbfaf7", "#e3e6ea", "#9aa1aa"
PALE, WOOD, FRONT, OPEN, LEAF = "#ece6da", "#dcc49c", "#8c6d3f", "#f0e442", "#b89f00"
QUIET = "#5b616a"
PEOPLE = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#43474d")
RADIUS = 10.0  # of the disc of a person


ELLIPSIS = "…"
LONGEST = 400  # characters of a text that are measured or shown; chosen, as hostile texts are endless
MEASURED = 20.0  # size of letters at which texts are measured


@dataclass(frozen=True)
class StoryFrame:
    """The drawing of one happening, on a sheet of WIDTH by HEIGHT."""

    number: int
    caption: str
    drawn: tuple[Shape, ...]


def frames_of(episode: Episode) -> Iterator[StoryFrame]:
    """A frame for every happening, as things are after it. Raises InputError for a home that cannot be drawn."""
    course = story_states(episode)
    artist = _Artist(episode, course, floor_plan(episode, course, PLAN))
    for number in range(len(episode.timeline)):
        yield artist.frame(number)


@dataclass(frozen=True)
class _Artist:
    episode: Episode
    course: StoryStates
    plan: FloorPlan

    def frame(self, number: int) -> StoryFrame:
        """The frame of a happening: the plan with everybody in it, the caption, and the states before and after it."""
        happening = self.episode.timeline[number]
        before, state = self.course.states[number : number + 2]
        text = caption(self.episode, happening)
        drawn = (
            Box(0, 0, WIDTH, HEIGHT, PAPER),
            Box(2, 2, WIDTH - 4, PLAN.height + 8, GROUND, 5),
            *self._rooms(),
            *self._places(state, happening),
            *self._trail(before, state, happening),
            *self._people(state, happening),
            *self._bubble(state, happening),
            *_legend(number + 1, text, happening),
        )
        return StoryFrame(number + 1, text, drawn)

    def _rooms(self) -> Iterator[Shape]:
        for room, area in self.plan.rooms.items():
            scale = self.plan.scales[room]
            yield Box(*area, _floor(room), 3, WALL)
            name = cut(room, area.width - 10, 8.5 * scale, bold=True)
            yield TextLine(area.x + 5, area.y + 9.8 * scale, 8.5 * scale, name, QUIET, "start", bold=True)

    def _places(self, state: State, happening: Happening) -> Iterator[Shape]:
        target = happening.place if isinstance(happening, Event) else None
        target = happening.fact.value if isinstance(happening, Observation) else target
        for name, box in self.plan.places.items():
            place = self.course.home.place[name]
            if name == target:
                yield Box(box.x - 2, box.y - 2, box.width + 4, box.height + 4, INK, 4)
            scale, down = self.plan.scales[place.room], self.plan.facing(name, place.room)
            yield from _piece(place, box, name in state.opened, scale, down)
            lying = [thing for thing, where in state.things if where == name]
            if lying:  # the names of things that lie there
                size, wrapped = snug(", ".join(lying), box.width - 6, 7.8 * scale, 1, bold=True)
                wide, y = width_of(" ".join(wrapped), size, bold=True) + 5, box.y + box.height - 9 * scale
                yield Box(box.middle - wide / 2, y - size * 0.75, wide, size * 1.5, PAPER, 3, INK)
                yield TextLine(box.middle, y + 0.36 * size, size, " ".join(wrapped), INK, bold=True)

    def _trail(self, before: State, state: State, happening: Happening) -> Iterator[Shape]:
        """Dots from the place where the acting agent was to the place where it is now."""
        if not isinstance(happening, Event) or happening.agent not in self.episode.agents:
            return
        (x, y), (u, v) = (self.plan.standing(self.course.home, s)[happening.agent] for s in (before, state))
        dots = int(math.dist((x, y), (u, v)) / 7)
        colour = mix(self._colour(happening.agent), PAPER, 0.35)
        for i in range(dots):
            yield Disc(x + (u - x) * i / dots, y + (v - y) * i / dots, 1.8, colour)

    def _colour(self, name: str) -> str:
        return PEOPLE[self.episode.agents.index(name) % len(PEOPLE)]

    def _people(self, state: State, happening: Happening) -> Iterator[Shape]:
        """Discs with initials; above all of them names, and what people hold."""
        initials = labels(self.episode.agents)
        acting = happening.speaker if isinstance(happening, Utterance) else happening.agent
        spots = self.plan.standing(self.course.home, state)
        for name, (x, y) in spots.items():
            colour, radius = self._colour(name), RADIUS * self.plan.scales[state.person(name).room]
            if name == acting:
                yield Disc(x, y, radius + 3, PAPER, INK)
            yield Disc(x, y, radius, colour, PAPER)
            size = radius * (1.15, 0.9, 0.7)[min(len(initials[name]), 3) - 1]
            yield TextLine(x, y + 0.36 * size, size, initials[name], ink_on(colour), bold=True)
        for name, (x, y) in spots.items():
            person = state.person(name)
            near = [u - x for neighbour, (u, v) in spots.items() if neighbour != name and abs(v - y) < 2 * RADIUS]
            yield from self._name(name, person.room, x, y, min(map(abs, near), default=WIDTH))
            if person.holds:
                beside = [u for u in near if abs(u) < 80 and self.plan.rooms[person.room].spans(x + u)]
                yield from self._held(name, person, x, y, -math.copysign(1, min(beside, key=abs)) if beside else 0)

    def _name(self, name: str, room: str, x: float, y: float, free: float) -> Iterator[Shape]:
        """The name under the disc, or, where it is too low for that, beside it; cut if others stand too near."""
        area, scale = self.plan.rooms[room], self.plan.scales[room]
        size = 8.2 * scale
        shown = cut(name, min(max(free - 3, 22 * scale), 54 * scale), size, bold=True)
        wide = width_of(shown, size, bold=True)
        strip = self.plan.rooms.get(SOMEWHERE)
        if strip is not None and strip.height <= STRIP and y > strip.y:
            yield TextLine(x + (RADIUS + 4) * scale, y + 3, size, shown, INK, "start", bold=True)
            return
        u = min(max(x, area.x + wide / 2 + 2), area.x + area.width - wide / 2 - 2)
        yield Box(u - wide / 2 - 1, y + (RADIUS + 3.5) * scale, wide + 2, size + 1, _floor(room), 2)
        yield TextLine(u, y + (RADIUS + 3.5) * scale + 0.86 * size, size, shown, INK, bold=True)

    def _held(self, name: str, person: Person, x: float, y: float, side: float) -> Iterator[Shape]:
        """The items in the hands of an agent, to its right (1), to its left (−1) or where they fit (0), if they do."""
        area, scale = self.plan.rooms[person.room], self.plan.scales[person.room]
        size, offset = 7.8 * scale, RADIUS * scale - 2
        items = cut(", ".join(sorted(person.holds)), 72 * scale, size, bold=True)
        width = width_of(items, size, bold=True) + 6
        right_x, left_x = x + offset, x - offset - width
        crowded = not (PLAN if side else area).spans(right_x + width)
        start = left_x if left_x >= PLAN.x and (side < 0 or crowded) else right_x
        yield Box(start, y - 3 * scale - size * 0.75, width, size * 1.5, PAPER, 3, self._colour(name))
        yield TextLine(start + width / 2, y - 3 * scale + 0.36 * size, size, items, INK, bold=True)

    def _bubble(self, state: State, happening: Happening) -> Iterator[Shape]:
        """What is said at this happening, if anything, in a bubble above the speaker."""
        if not isinstance(happening, Utterance) or happening.speaker not in self.episode.agents:
            return
        x, y = self.plan.standing(self.course.home, state)[happening.speaker]
        top = y - RADIUS - 20
        text = cut(bubble(happening), 200, 9, bold=True)
        width = width_of(text, 9, bold=True) + 12
        left_x = min(max(x - width / 3, PLAN.x), PLAN.x + PLAN.width - width)
        tail = ((x - 2, top + 14), (x + 6, top + 14), (x, top + 21))
        yield Box(left_x, top, width, 15, PAPER, 6, INK)
        yield Polygon(tail, PAPER, INK)
        yield Polygon(((x - 2, top + 12), (x + 6, top + 12), (x + 5, top + 15), (x - 1, top + 15)), PAPER)
        yield TextLine(left_x + width / 2, top + 10.9, 9, text, INK, bold=True)


def _floor(room: str) -> str:
    return OUTSIDE if room == SOMEWHERE else FLOOR


def _piece(place: Place, box: Area, is_open: bool, scale: float, down: int) -> Iterator[Shape]:
    """A piece of furniture: a table top, or a cupboard whose door, facing `down` (1) or up (−1), is shut or open."""
    front = box.y + (box.height if down > 0 else 0.0)
    if not place.closes:
        yield Box(*box, PALE, 3, WALL)
    elif is_open:
        yield Box(*box, OPEN, 3, LEAF)
        x, tip = box.x, front + down * 13 * scale
        yield Polygon(((x, front - down), (x + 3, front), (x + 1, tip), (x - 2, tip - down)), FRONT)
    else:
        yield Box(*box, WOOD, 3, FRONT)
        yield Box(box.x + 1, front - 5 * scale * (down > 0), box.width - 2, 5 * scale, FRONT, 1)
        yield Disc(box.x + box.width - 6, front - down * 2.5 * scale, 1.5 * scale, OPEN)
    top = box.y + 1.5 + (0.0 if down > 0 else 5 * scale)
    kind = place.name.removeprefix(f"{place.room} ")
    size, name_lines = snug(kind, box.width - 3, 8 * scale, 2)
    for i, line in enumerate(name_lines):
        yield TextLine(box.middle, top + (i + 0.95) * (size + 0.4), size, line, INK)


def _legend(number: int, text: str, happening: Happening) -> Iterator[Shape]:
    """The number of the frame, the caption, and how sure it is that this happened, if it is not certain."""
    top = PLAN.y + PLAN.height + 8
    wide = width_of(str(number), 10, bold=True) + 9
    yield Box(4, top, wide, 15, INK, 4)
    yield TextLine(4 + wide / 2, top + 11, 10, str(number), PAPER, bold=True)
    unsure = f"{happening.source.replace('_', ' ')}, {happening.p:.0%}" if happening.p < 1.0 else ""
    for i, line in enumerate(lines(text, WIDTH - wide - 14, 10.8, 2 if unsure else 3)):
        yield TextLine(wide + 9, top + 11 + 12.8 * i, 10.8, line, INK, "start")
    if unsure:
        yield TextLine(WIDTH - 6, HEIGHT - 4, 8, unsure, QUIET, "end")


# Text that fits


def width_of(text: str, size: float, bold: bool = False) -> float:
    """The width of a line of text; most fonts that a browser would take are narrower."""
    return _measured(printable(text)[:LONGEST], bold) * size / MEASURED


@lru_cache(maxsize=1 << 12)
def _measured(text: str, bold: bool) -> float:
    return float(font(MEASURED, bold).getlength(text))


def cut(text: str, width: float, size: float, bold: bool = False) -> str:
    """As much of the text as fits, with an ellipsis if that is not all."""
    text = " ".join(printable(text[: LONGEST + 1]).split())
    if len(text) <= LONGEST and width_of(text, size, bold) <= width:
        return text
    lengths = range(1, min(len(text), LONGEST) + 1)
    fits = bisect_right(lengths, width, key=lambda n: width_of(text[:n].rstrip() + ELLIPSIS, size, bold))
    return text[:fits].rstrip() + ELLIPSIS


def lines(text: str, width: float, size: float, most: int, bold: bool = False) -> tuple[str, ...]:
    """The text broken at blanks into at most `most` lines; the rest is cut off with an ellipsis."""
    words = printable(text[: LONGEST + 1]).split()
    wrapped: list[str] = []
    while words:
        breaks = range(1, len(words)) if len(wrapped) < most - 1 else ()
        count = next(
            (n for n in breaks if width_of(" ".join(words[: n + 1]), size, bold) > width),
            len(words),
        )
        wrapped.append(cut(" ".join(words[:count]), width, size, bold))
        words = words[count:]
    return tuple(wrapped)


def snug(text: str, width: float, size: float, most: int, bold: bool = False) -> tuple[float, tuple[str, ...]]:
    """A size of letters and the lines in it; the size is reduced, to 0.7 at least, if the text fits then."""
    for smaller in (size, 0.9 * size, 0.8 * size, 0.7 * size):
        wrapped = lines(text, width, smaller, most, bold)
        if not any(line.endswith(ELLIPSIS) for line in wrapped):
            return smaller, wrapped
    return size, lines(text, width, size, most, bold)


# Captions

# The words for each verb: with neither place nor room, with a place, and with a room.
VERBS: Mapping[str, tuple[str, str, str]] = packaged("otherminds.stories.pictures", "captions.toml")


def caption(episode: Episode, happening: Happening) -> str:
    """A happening as a sentence with the agent as its subject."""
    if isinstance(happening, Utterance):
        return f"{happening.speaker} {_said(episode, happening)}"
    if isinstance(happening, Observation):
        sees = "sees that" if happening.sees else "does not notice whether"
        return f"{happening.agent} {sees} {statement(episode, happening.fact)}."
    thing = f"the {happening.obj}" if happening.obj is not None else "something"
    words, at_place, in_room = VERBS[happening.verb]
    if happening.place is not None:
        place, location = _noun(episode, happening.place), _at(episode, happening.place)
        words = at_place.format(thing=thing, place=place, at=location)
    else:
        words = (words if happening.room is None else in_room).format(thing=thing, room=happening.room)
    return f"{happening.agent} {words}."


def statement(episode: Episode, fact: Fact, so: bool = True) -> str:
    """A fact as a clause, or (with `so` false) its negation."""
    verbs = ("has", "does not have") if fact.predicate == "holds" else ("is", "is not")
    return f"{_noun(episode, fact.subject)} {verbs[not so]} {_value(episode, fact)}"


def _value(episode: Episode, fact: Fact) -> str:
    """What somebody holds, or what or where something is, in words; `something` or `somewhere` if that is unknown."""
    if fact.predicate == "holds":
        return "something" if fact.value is None else _noun(episode, fact.value)
    if fact.value is None:
        return "somewhere"
    return fact.value if fact.predicate == "is" else _at(episode, fact.value)


def bubble(happening: Utterance) -> str:
    """The content of an utterance in few words, for a bubble."""
    content = happening.content
    if content is None or happening.act == "silence":
        return "…"
    value = content.value or "?"
    return {
        "ask": f"{content.subject}?" if content.value is None else f"{content.subject}: {value}?",
        "assert": f"{content.subject} → {value}",
        "deny": f"{content.subject}: not {value}",
        "unsure": f"{content.subject}? No idea",
    }[happening.act]


def _said(episode: Episode, happening: Utterance) -> str:
    """What somebody says, as the rest of a sentence: `asks Bob: “Where is the cup?”`."""
    hearers = f" to {' and '.join(happening.hearers)}" if happening.hearers else ""
    content = happening.content
    if content is None or happening.act == "silence":
        return f"says nothing{hearers}."
    match happening.act:
        case "ask":
            return f"asks{hearers.removeprefix(' to')}: “{_question(episode, content)}”"
        case "unsure":
            unknown = f"whether {statement(episode, content)}"
            if content.value is None and content.predicate != "holds":
                unknown = f"where {_noun(episode, content.subject)} is"
            return f"says{hearers}: “I don’t know {unknown}.”"
        case _:
            claim = statement(episode, content, happening.act == "assert")
            return f"says{hearers}: “{claim[:1].upper()}{claim[1:]}.”"


def _question(episode: Episode, fact: Fact) -> str:
    subject = _noun(episode, fact.subject)
    if fact.predicate == "holds":
        return f"Does {subject} have {_value(episode, fact)}?"
    return f"Where is {subject}?" if fact.value is None else f"Is {subject} {_value(episode, fact)}?"


def _noun(episode: Episode, name: str) -> str:
    """A name, or the name of a thing or place with its article: the table in the kitchen."""
    if name in episode.agents:
        return name
    room = next((entity.room for entity in episode.entities if entity.id == name and entity.kind == "place"), None)
    kind = name.removeprefix(f"{room} ")
    return f"the {name}" if kind == name else f"the {kind} in the {room}"


def _at(episode: Episode, place: str) -> str:
    """In or on the place; in a room."""
    entity = next((entity for entity in episode.entities if entity.id == place), None)
    if entity is None or entity.kind == "agent":
        return f"at {_noun(episode, place)}"
    return f"{'in' if entity.kind == 'room' else entity.relation or 'at'} {_noun(episode, place)}"
