"""The episode viewer: a picture of every step, with captions, beliefs as bars, events on a time axis and notes.

Every world feeds it the same format: levels, and for each level the frames of its episodes. Everything is worked out
in Python; the script only shows it. Texts, captions and looks that recur are stored once and referred to by number.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count, pairwise
from string import Template
from typing import Any, NamedTuple, TypeVar

from otherminds.files.text import printable
from otherminds.reports.page import Html, asset, embedded, safe
from otherminds.worlds.canvas import svg_look
from otherminds.worlds.sprites import MovingPart, ink_on

SPEEDS = {"0.5": "½×", "1": "1×", "2": "2×", "4": "4×", "8": "8×", "16": "16×"}
NO_BREAK = "\N{NO-BREAK SPACE}"
EYES = '<fieldset data-at="eyes"><legend>Show</legend></fieldset>\n'

T = TypeVar("T", bound=Hashable)
Spot = tuple[float, float, int]
"""Where a part is drawn, and the number of its look."""

View = tuple[str, Sequence[str]]
"""What an agent does not see: the outline of the fog as an SVG path, and the names of the parts hidden in it."""

Note = tuple[str | int, ...]
"""The cells of a line below the map."""


class ReplayGoal(NamedTuple):
    """The name of a goal, its label, the colours of its icon and of the letters on it, and the kind of its icon.

    icon: `gem`, `dish`, or `none` for no goal that could be named.
    """

    name: str
    label: str
    colour: str
    ink: str
    icon: str

    @classmethod
    def of(cls, name: str, label: str, colour: str, icon: str) -> ReplayGoal:
        """A goal with letters that can be read on its colour."""
        return cls(printable(name), label, colour, ink_on(colour), icon)


class TimelineMark(NamedTuple):
    """An event on the time axis: a button, followed by a line up to the step `end`, or a bar of a height in [-1, 1]."""

    t: int
    title: str = ""
    end: int | None = None
    status: str = ""
    height: float | None = None


class Caption(NamedTuple):
    """A piece of the account beside the map.

    kind: `heading`, `text`, `quiet` or `quote` for a text; `people` for lines (agent, text), and `eyes` for the same
    with buttons to look through the agents' eyes; `table` for rows (text, number, number) under a head, of which
    one may be `marked`; `bars` for lines (text, value, sprite or None) on a scale from `least` to `most`.
    """

    kind: str
    text: str = ""
    lines: Sequence[tuple[Any, ...]] = ()
    head: Sequence[str] = ()
    marked: int = -1
    least: float = 0.0
    most: float = 1.0


@dataclass(frozen=True)
class ReplayLevel:
    """What the episodes of a level share.

    picture: SVG with a `<g data-part="agent-0">` for every part. start: these parts, by name. people: name, label and
    colour of each agent.
    """

    name: str
    picture: str
    start: Mapping[str, MovingPart]
    people: Sequence[tuple[str, str, str]]
    goals: Sequence[ReplayGoal] = ()


@dataclass(frozen=True)
class ReplayEpisode:
    """The frames of an episode: parts, captions, views and notes have an entry for each state, the last one included.

    parts: the visible parts by name. captions: the account. views: what each agent does not see; None if all agents
    see everything. notes: the lines below the map. wants: the goal of each agent by number, None if it has none.
    beliefs: P(goal) for each step, agent and goal in thousandths; None if nothing is inferred. length: the text
    beside the choice of the episode.
    """

    parts: Sequence[Mapping[str, MovingPart]]
    captions: Sequence[Sequence[Caption]]
    marks: Sequence[TimelineMark]
    outcome: str = ""
    length: str = ""
    views: Sequence[Sequence[View]] | None = None
    notes: Sequence[Sequence[Note]] = ()
    wants: Sequence[int | None] = ()
    beliefs: Sequence[Sequence[Sequence[int]]] | None = None


def viewer(
    levels: Sequence[ReplayLevel],
    episodes: Sequence[Sequence[ReplayEpisode | None]],
    subjects: Sequence[tuple[str, str]] = (("", ""),),
    *,
    choices: Html | None = None,
    title: str = "",
    mark: str = "message",
    legend: str = "",
    notes: Html | None = None,
    speed: str = "1",
) -> Html:
    """An element to step through episodes: a row of `episodes` for each level, with an entry for each subject.

    subjects: key and title of each episode of a level. choices: how to choose a level and an episode; None if there
    is one only. title: the heading. mark: the word for an event. legend: what the time axis shows. notes: the lines
    below the map, with cells `[data-cell]`. speed: the one chosen at first.
    """
    tables = _Tables()
    data: dict[str, Any] = {"levels": [], "subjects": [], "episodes": []}
    for level, level_episodes in zip(levels, episodes, strict=True):
        start, views = tables.spots(level.start), _numbers()
        data["episodes"].append(
            [_episode_data(episode, start, tables, views) if episode else None for episode in level_episodes]
        )
        data["levels"].append(
            {
                "name": printable(level.name),
                "people": [[printable(name), label, colour] for name, label, colour in level.people],
                "goals": level.goals,
                "parts": list(start),
                "start": list(start.values()),
                "views": list(views),
            }
        )
    data |= {
        "subjects": [[printable(key), printable(name)] for key, name in subjects],
        "words": list(tables.words),
        "captions": list(tables.captions),
        "notes": list(tables.notes),
    }
    all_episodes = [episode for level_episodes in episodes for episode in level_episodes if episode]
    speeds = (f'<option value="{s}"{" selected" * (s == speed)}>{text}' for s, text in SPEEDS.items())
    eyes = EYES if any(episode.views for episode in all_episodes) else ""
    return Html(
        Template(asset("replay.html")).substitute(
            kind="replay" if any(episode.wants for episode in all_episodes) else "replay plain",
            label=safe(title or "Episodes"),
            title=f"<h3>{safe(title)}</h3>\n" if title else "",
            choose=f'<div class="choose">\n{choices}{eyes}</div>\n' if choices else "",
            maps="".join(f"<div data-map{' hidden' * (i > 0)}>{level.picture}</div>" for i, level in enumerate(levels)),
            mark=mark,
            speeds="".join(speeds),
            legend=f'<p class="quiet">{safe(legend)}</p>\n' if legend else "",
            notes=f'<ul class="notes" data-at="notes">{notes}</ul>\n' if notes else "",
            looks="".join(f"<g>{svg_look(sprite)}</g>" for sprite in tables.looks),
            data=embedded(data),
        )
    )


def _numbers() -> defaultdict[Any, int]:
    """The numbers of values that recur: each new value gets the next one."""
    return defaultdict(count().__next__)


class _Tables:
    """The values that numbers in the data of a viewer stand for."""

    def __init__(self) -> None:
        self.words, self.captions, self.notes, self.looks = (_numbers() for _ in range(4))

    def word(self, text: str) -> int:
        """The number of a text, without characters that are not printable; no-break spaces stay."""
        return self.words[NO_BREAK.join(map(printable, text.split(NO_BREAK)))]

    def spots(self, parts: Mapping[str, MovingPart]) -> dict[str, Spot | None]:
        """The place of every part and the number of its look, or None if it is hidden."""
        return {
            name: (*part.place, self.looks[part._replace(name="", place=None)]) if part.place else None
            for name, part in parts.items()
        }

    def caption(self, caption: Caption) -> int:
        """The number of a caption, whose texts and sprites are numbers, too."""
        kind = caption.kind
        if kind in ("people", "eyes"):
            return self.captions[kind, tuple((i, self.word(text)) for i, text in caption.lines)]
        if kind == "table":
            rows = tuple((self.word(text), *numbers) for text, *numbers in caption.lines)
            return self.captions[kind, tuple(map(self.word, caption.head)), rows, caption.marked]
        if kind == "bars":
            lines = tuple(
                (self.word(text), value, sprite and self.looks[sprite]) for text, value, sprite in caption.lines
            )
            return self.captions[kind, caption.text, lines, caption.least, caption.most]
        return self.captions[kind, self.word(caption.text)]


def _episode_data(
    episode: ReplayEpisode,
    start: Mapping[str, Spot | None],
    tables: _Tables,
    views: defaultdict[Any, int],
) -> dict[str, Any]:
    """An episode as data for the viewer's script; texts, captions, notes and looks are numbers in `tables`.

    `moves` has the changes of the picture for each step, see `_changes`; `sights` the number of each agent's view at
    each state; `captions` and `notes` only entries that differ from the ones before.
    """
    spots = [tables.spots(parts) for parts in episode.parts]
    index = {name: i for i, name in enumerate(start)}
    sights = [
        [views[outline, tuple(index[name] for name in hidden)] for outline, hidden in state_views]
        for state_views in episode.views or ()
    ]
    return {
        "moves": [list(_changes(index, before, after)) for before, after in pairwise(spots)],
        "sights": sights or None,
        "captions": list(_new([tuple(map(tables.caption, captions)) for captions in episode.captions])),
        "marks": [[mark.t, tables.word(mark.title), *mark[2:]] for mark in episode.marks],
        "notes": [
            [i, t, note]
            for i, line in enumerate(zip(*episode.notes, strict=True))
            for t, note in _new([tables.notes[cells] for cells in line])
        ],
        "outcome": printable(episode.outcome),
        "length": episode.length,
        "wants": episode.wants,
        "beliefs": episode.beliefs,
    }


def _changes(
    index: Mapping[str, int], before: Mapping[str, Spot | None], after: Mapping[str, Spot | None]
) -> Iterator[list[float]]:
    """The changes of the picture: [part, x, y], with a look if it is new, or [part] if it vanishes."""
    for name, i in index.items():
        old, new = before.get(name), after.get(name)
        if old and not new:
            yield [i]
        elif new and old != new:
            yield [i, *(new[:2] if old and old[2] == new[2] else new)]


def _new(values: Sequence[T]) -> Iterator[tuple[int, T]]:
    """Every value that differs from the one before it, with its index."""
    for t, value in enumerate(values):
        if t == 0 or value != values[t - 1]:
            yield t, value
