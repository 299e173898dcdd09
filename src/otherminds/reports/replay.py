"""The episode viewer: a picture of the level at every step, what was believed, and what was said and why.

Everything is worked out here, by replaying the joint actions of the rows; the script only shows it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from string import Template
from typing import Any, NamedTuple

from otherminds.errors import InputError
from otherminds.files.text import printable
from otherminds.reports.page import Html, embedded, safe, stack
from otherminds.reports.scenes import Scene, scene
from otherminds.worlds.doors_keys_gems.level_files import Level
from otherminds.worlds.overcooked.level_files import KitchenLevel
from otherminds.worlds.sprites import PEOPLE, labels

FACILITATOR = "facilitator"
KINDS = {"not_needed": "Help not needed", "useful": "Help useful", "necessary": "Help necessary"}
SUBJECTS = {
    "none": "No facilitator",
    "random": "Random",
    "oracle": "Oracle",
    "protom": "ProToM",
    "protom_lookahead": "ProToM looking ahead",
}
ENDED = ("completed", "impossible", "ignored")
NOTHING = -1

Row = Mapping[str, Any]
Key = tuple[str, str]
Playable = Level | KitchenLevel
Levels = Mapping[str, Playable]
Numbered = tuple[float, ...] | None


def replays(levels: Levels, rows: Sequence[Row]) -> Html:
    """A widget to step through the episodes of these levels; other levels, and held-out ones, are left out.

    Where there are several episodes of a level and a facilitator, the one with the lowest seed is shown.
    Raises InputError if rows are missing, double or do not fit their level.
    """
    found = _choose(levels, rows)
    if not found:
        return stack("There is no episode to show.")
    names = sorted({name for name, _ in found}, key=lambda name: _rank(name, levels))
    subjects = sorted({subject for _, subject in found}, key=_subject_rank)
    words, looks = _Table(), _Table()
    scenes = [scene(levels[name]) for name in names]
    shown, episodes = [], []
    for name, shared in zip(names, scenes, strict=True):
        played = [found.get((name, subject), []) for subject in subjects]
        goals = sorted({goal for episode in played for goal in _goals(episode)}, key=shared.rank)
        tables = _Tables(goals, words, looks, _Table())
        episodes.append([_Episode.of(shared, rows).summary(tables) if rows else None for rows in played])
        shown.append(_level(levels[name].name, shared, tables))
    data = {
        "levels": shown,
        "subjects": [[printable(subject), SUBJECTS.get(subject, printable(subject))] for subject in subjects],
        "episodes": episodes,
        "words": words.known,
    }
    return _widget(data, [levels[name] for name in names], scenes, looks.known)


# Which episodes, in which order


def _choose(levels: Levels, rows: Sequence[Row]) -> dict[Key, list[Row]]:
    """The rows of every level and facilitator, of the lowest seed there is."""
    found: dict[Key, dict[int, list[Row]]] = {}
    for row in rows:
        if row["episode"] in levels and not row["condition"].startswith("heldout/"):
            seeds = found.setdefault((row["episode"], row["subject"]), {})
            seeds.setdefault(row["seed"], []).append(row)
    return {key: seeds[min(seeds)] for key, seeds in found.items()}


def _rank(name: str, levels: Levels) -> tuple[int, int]:
    kinds, kind = list(KINDS), levels[name].kind
    return kinds.index(kind) if kind in kinds else len(kinds), list(levels).index(name)


def _subject_rank(subject: str) -> tuple[int, str]:
    known = list(SUBJECTS)
    return known.index(subject) if subject in known else len(known), subject


# What episodes of one level share


class _Table:
    """Texts and lists that occur again and again, each kept once and referred to by its number."""

    def __init__(self) -> None:
        self.known: list[Any] = []
        self._numbers: dict[str, int] = {}

    def number(self, value: Any) -> int:
        """The number of this value; NOTHING for an empty one."""
        if not value:
            return NOTHING
        key = json.dumps(value)
        if key not in self._numbers:
            self._numbers[key] = len(self.known)
            self.known.append(printable(value) if isinstance(value, str) else value)
        return self._numbers[key]


class _Tables(NamedTuple):
    """What numbers in the data stand for: goals and views within one level, words and looks on the whole page.

    A look is what a part of the picture is drawn as; a view is the outline of the fog and the parts hidden in it.
    """

    goals: Sequence[str]
    words: _Table
    looks: _Table
    views: _Table


def _level(name: str, shared: Scene[Any, Any], tables: _Tables) -> dict[str, Any]:
    agents, start = shared.world.agents, _spots(shared, shared.world.initial, tables.looks)
    initials = labels(agents)
    return {
        "name": printable(name),
        "people": [[printable(agent), initials[agent], PEOPLE[i % len(PEOPLE)]] for i, agent in enumerate(agents)],
        "goals": [shared.goal(goal) for goal in tables.goals],
        "icon": shared.icon,
        "ends": shared.ends,
        "parts": list(start),
        "start": list(start.values()),
        "views": tables.views.known,
    }


def _goals(rows: Iterable[Row]) -> set[str]:
    """Everything that somebody wants or is thought to want."""
    return {str(goal) for row in rows for goal in (row.get("goal"), *row.get("posterior", ())) if goal}


# One episode


@dataclass(frozen=True)
class _Episode:
    """The rows of one episode by step: those of the people by name, and the facilitator's, empty if missing."""

    scene: Scene[Any, Any]
    acts: list[dict[str, Row]]
    facilitator: list[Row]

    @classmethod
    def of(cls, shared: Scene[Any, Any], rows: Sequence[Row]) -> _Episode:
        """The rows, sorted. Raises InputError if a step or somebody's action is missing or double."""
        steps = 1 + max(row["t"] for row in rows)
        if steps > len(rows) or min(row["t"] for row in rows) < 0:
            raise InputError(f"{_where(rows[-1], steps - 1)}: the steps before it do not count up from 0")
        by_step: list[dict[str, Row]] = [{} for _ in range(steps)]
        for row in rows:
            if by_step[row["t"]].setdefault(row["agent"], row) is not row:
                raise InputError(f"{_where(row)} has two rows for {row['agent']}")
        facilitator = [now.pop(FACILITATOR, {}) for now in by_step]
        for t, now in enumerate(by_step):
            if set(now) != set(shared.world.agents):
                people, found = ", ".join(shared.world.agents), ", ".join(now) or "nobody"
                raise InputError(f"{_where(rows[0], t)} has rows for {found}, the level has {people}")
        return cls(shared, by_step, facilitator)

    def states(self) -> list[Any]:
        """Where things stood before every step and at the end."""
        world, vocabulary = self.scene.world, self.scene.vocabulary
        states = [world.initial]
        for t, now in enumerate(self.acts):
            for row in now.values():
                if row["action"] not in vocabulary:
                    raise InputError(f"{_where(row, t)}: no such action as `{row['action']}`")
            states.append(world.step(states[-1], {agent: vocabulary[row["action"]] for agent, row in now.items()}))
        return states

    def summary(self, tables: _Tables) -> dict[str, Any]:
        """All that the script needs to know of the episode, in little space."""
        states, people, (goals, words, looks, views) = self.states(), self.scene.world.agents, tables
        places = [_spots(self.scene, state, looks) for state in states]
        inferred = any("posterior" in row for now in self.acts for row in now.values())
        return {
            "done": self.scene.world.done(states[-1]),
            "moves": [list(_changes(before, after)) for before, after in pairwise(places)],
            "sights": list(_sights(self.scene, states, list(places[0]), views)) if self.scene.fog else None,
            "acts": [[words.number(now[agent]["action"]) for agent in people] for now in self.acts],
            "wants": [goals.index(goal) if (goal := self.acts[0][a].get("goal")) else NOTHING for a in people],
            "beliefs": [[_belief(now[a], goals) for a in people] for now in self.acts] if inferred else None,
            "why": [words.number(row.get("why")) for row in self.facilitator],
            "prices": [words.number(self._prices(row, words)) for row in self.facilitator],
            "said": list(self._said(words)),
        }

    def _prices(self, row: Row, words: _Table) -> list[list[float]]:
        """The messages that were compared, best first: message, steps saved, chance to change anything."""
        prices = sorted(row.get("prices", ()), key=lambda price: -price["saves"])
        return [[words.number(p["message"]), round(p["saves"], 2), round(p["changes"], 2)] for p in prices]

    def _said(self, words: _Table) -> Iterator[dict[str, Any]]:
        """Every message: when it was said, what it promised, and when and how it ended."""
        last = len(self.facilitator)
        for t, row in enumerate(self.facilitator):
            if row.get("action"):
                later = ((u, self.facilitator[u].get("status")) for u in range(t + 1, last))
                end, status = next(
                    ((u, s) for u, s in later if s in ENDED), (last, self.facilitator[-1].get("outcome", "running"))
                )
                saves = [p["saves"] for p in row.get("prices", ()) if p["message"] == row["action"]]
                yield {
                    "t": t,
                    "message": words.number(row["action"]),
                    "words": words.number(row.get("words")),
                    "saves": round(saves[0], 2) if saves else None,
                    "end": end,
                    "status": status,
                }


def _where(row: Row, t: int | None = None) -> str:
    return f"step {row['t'] if t is None else t} of `{row['episode']}` with `{row['subject']}`"


def _spots(shared: Scene[Any, Any], state: Any, looks: _Table) -> dict[str, Numbered]:
    """Where every part of the picture is: x, y, and the number of its look if that can change; or None."""
    found = shared.spots(state).items()
    return {part: spot and (*spot[:2], *map(looks.number, spot[2:])) for part, spot in found}


def _changes(before: Mapping[str, Numbered], after: Mapping[str, Numbered]) -> Iterator[list[float]]:
    """What is new in the picture: [part, x, y], with a look if it has a new one, or [part] for one that vanishes."""
    for i, (old, new) in enumerate(zip(before.values(), after.values(), strict=True)):
        if old and not new:
            yield [i]
        elif new and old != new:
            yield [i, *(new[:2] if old and old[2:] == new[2:] else new)]


def _sights(shared: Scene[Any, Any], states: Sequence[Any], parts: Sequence[str], views: _Table) -> Iterator[list[int]]:
    """The view that everybody has of every state."""
    index = {part: i for i, part in enumerate(parts)}
    for state in states:
        fogs = [shared.fog(state, agent) for agent in shared.world.agents] if shared.fog else ()
        yield [views.number([fog.outline, [index[part] for part in fog.parts]]) for fog in fogs]


def _belief(row: Row, goals: Sequence[str]) -> list[int]:
    """The posterior in thousandths."""
    return [round(1000 * row.get("posterior", {}).get(goal, 0.0)) for goal in goals]


# The page


def _widget(
    data: Mapping[str, Any], levels: Sequence[Playable], scenes: Sequence[Scene[Any, Any]], looks: Sequence[str]
) -> Html:
    maps = (f"<div data-map{' hidden' if i else ''}>{shown.picture}</div>" for i, shown in enumerate(scenes))
    choices = (_choices(levels, kind) for kind in (*KINDS, ""))
    drawn = "".join(f"<g>{look}</g>" for look in looks)
    return Html(
        SKELETON.substitute(
            choices="".join(choices),
            eyes=EYES if any(shown.fog for shown in scenes) else "",
            maps="".join(maps),
            looks=f'<template data-at="looks"><svg>{drawn}</svg></template>\n' if looks else "",
            data=embedded(data),
        )
    )


def _choices(levels: Sequence[Playable], kind: str) -> str:
    """The levels of one class to choose from; an unknown class counts as none."""
    members = [(i, level) for i, level in enumerate(levels) if (level.kind if level.kind in KINDS else "") == kind]
    options = "".join(f'<option value="{i}">{safe(level.name)}</option>' for i, level in members)
    label = KINDS.get(kind, "Other levels")
    return f'<optgroup label="{safe(label)}">{options}</optgroup>' if members else ""


EYES = '<fieldset data-at="eyes"><legend>Show</legend></fieldset>\n'
SKELETON = Template("""\
<div class="replay" data-replay>
<div class="choose">
<label>Level <select data-at="level">$choices</select></label>
<fieldset data-at="subjects"><legend>Facilitator</legend></fieldset>
$eyes</div>
<p class="outcome" data-at="outcome"></p>
<div class="stage">
<div class="map-box" data-at="maps">$maps</div>
<div class="controls">
<button type="button" data-at="back">Back</button>
<button type="button" data-at="play">Play</button>
<button type="button" data-at="next">Next</button>
<label>Speed <select data-at="speed">
<option value="0.5">½×<option value="1" selected>1×<option value="2">2×<option value="4">4×
</select></label>
<output data-at="clock"></output>
</div>
<div class="timeline">
<input type="range" data-at="scrubber" min="0" value="0" step="1" aria-label="Step">
<div class="track" data-at="track"></div>
<div data-at="charts"></div>
</div>
<div class="account" data-at="account" aria-live="polite"></div>
</div>
$looks<noscript><p>The viewer needs JavaScript; the page works without it otherwise.</p></noscript>
<script type="application/json" data-at="data">$data</script>
</div>""")
