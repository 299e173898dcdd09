"""The episode viewer: a picture of the level at every step, what was believed, and what was said and why.

Everything is worked out here, by replaying the joint actions of the rows; the script only shows it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from string import Template
from typing import Any

from otherminds.errors import InputError
from otherminds.evaluation.report import Html, embedded, safe, stack
from otherminds.worlds.doors_keys_gems import DoorsKeysGems, State
from otherminds.worlds.level_files import Level
from otherminds.worlds.picture import placements, svg
from otherminds.worlds.sprites import GREY, PEOPLE, colour_labels, hue, ink_on, labels, printable

FACILITATOR = "facilitator"
KINDS = {"not_needed": "Help not needed", "useful": "Help useful", "necessary": "Help necessary"}
SUBJECTS = {"none": "No facilitator", "random": "Random", "oracle": "Oracle", "protom": "ProToM"}
ENDED = ("completed", "impossible", "ignored")
NOTHING = -1

Row = Mapping[str, Any]
Key = tuple[str, str]


def replays(levels: Mapping[str, Level], rows: Sequence[Row]) -> Html:
    """A widget to step through the episodes of these levels; other levels, and held-out ones, are left out.

    Where there are several episodes of a level and a facilitator, the one with the lowest seed is shown.
    Raises InputError if rows are missing, double or do not fit their level.
    """
    found = _choose(levels, rows)
    if not found:
        return stack("There is no episode to show.")
    names = sorted({name for name, _ in found}, key=lambda name: _rank(name, levels))
    subjects = sorted({subject for _, subject in found}, key=_subject_rank)
    words, shown, episodes = _Words(), [], []
    for name in names:
        played = [found.get((name, subject), []) for subject in subjects]
        goals = _goals(levels[name].world, [row for episode in played for row in episode])
        shown.append(_level(levels[name], goals))
        episodes.append([_summary(levels[name], episode, goals, words) for episode in played])
    data = {
        "levels": shown,
        "subjects": [[printable(subject), SUBJECTS.get(subject, printable(subject))] for subject in subjects],
        "episodes": episodes,
        "words": words.known,
    }
    return _widget(data, [levels[name] for name in names])


def _summary(level: Level, rows: Sequence[Row], goals: Sequence[str], words: _Words) -> dict[str, Any] | None:
    return _Episode.of(level, rows).summary(goals, words) if rows else None


# Which episodes, in which order


def _choose(levels: Mapping[str, Level], rows: Sequence[Row]) -> dict[Key, list[Row]]:
    """The rows of every level and facilitator, of the lowest seed there is."""
    found: dict[Key, dict[int, list[Row]]] = {}
    for row in rows:
        if row["episode"] in levels and not row["condition"].startswith("heldout/"):
            seeds = found.setdefault((row["episode"], row["subject"]), {})
            seeds.setdefault(row["seed"], []).append(row)
    return {key: seeds[min(seeds)] for key, seeds in found.items()}


def _rank(name: str, levels: Mapping[str, Level]) -> tuple[int, int]:
    kinds, kind = list(KINDS), levels[name].kind
    return kinds.index(kind) if kind in kinds else len(kinds), list(levels).index(name)


def _subject_rank(subject: str) -> tuple[int, str]:
    known = list(SUBJECTS)
    return known.index(subject) if subject in known else len(known), subject


# What episodes of one level share


def _level(level: Level, goals: Sequence[str]) -> dict[str, Any]:
    world, initials = level.world, labels(level.world.agents)
    start = placements(world, world.initial)
    return {
        "name": printable(level.name),
        "people": [[printable(name), initials[name], PEOPLE[i % len(PEOPLE)]] for i, name in enumerate(world.agents)],
        "goals": [_goal(world, goal) for goal in goals],
        "parts": list(start),
        "start": list(start.values()),
    }


def _goals(world: DoorsKeysGems, rows: Sequence[Row]) -> list[str]:
    """Everything that somebody wants or is thought to want, in the order of the level's gems."""
    mentioned = {str(goal) for row in rows for goal in (row.get("goal"), *row.get("posterior", ())) if goal}
    order = [gem.colour for gem in world.gems]
    return sorted(mentioned, key=lambda goal: (order.index(goal) if goal in order else len(order), goal))


def _goal(world: DoorsKeysGems, goal: str) -> list[str]:
    """What it is called, its label, and the colours of its shape and of letters on it."""
    if any(goal == gem.colour for gem in world.gems):
        return [f"{printable(goal)} gem", colour_labels(world)[goal], hue(goal), ink_on(hue(goal))]
    return [printable(goal), printable(goal)[:1].upper(), GREY, ink_on(GREY)]


# One episode


class _Words:
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


@dataclass(frozen=True)
class _Episode:
    """The rows of one episode by step: those of the people by name, and the facilitator's, empty if missing."""

    world: DoorsKeysGems
    acts: list[dict[str, Row]]
    facilitator: list[Row]

    @classmethod
    def of(cls, level: Level, rows: Sequence[Row]) -> _Episode:
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
            if set(now) != set(level.world.agents):
                people, found = ", ".join(level.world.agents), ", ".join(now) or "nobody"
                raise InputError(f"{_where(rows[0], t)} has rows for {found}, the level has {people}")
        return cls(level.world, by_step, facilitator)

    def states(self) -> list[State]:
        """Where things stood before every step and at the end."""
        states = [self.world.initial]
        for t, now in enumerate(self.acts):
            for row in now.values():
                if row["action"] not in self.world.vocabulary:
                    raise InputError(f"{_where(row, t)}: no such action as `{row['action']}`")
            joint = {agent: self.world.vocabulary[row["action"]] for agent, row in now.items()}
            states.append(self.world.step(states[-1], joint))
        return states

    def summary(self, goals: Sequence[str], words: _Words) -> dict[str, Any]:
        """All that the script needs to know of the episode, in little space."""
        states, people = self.states(), self.world.agents
        inferred = any("posterior" in row for now in self.acts for row in now.values())
        return {
            "done": self.world.done(states[-1]),
            "moves": list(_changes(self.world, states)),
            "acts": [[words.number(now[agent]["action"]) for agent in people] for now in self.acts],
            "wants": [goals.index(self.acts[0][a]["goal"]) if "goal" in self.acts[0][a] else NOTHING for a in people],
            "beliefs": [[_belief(now[a], goals) for a in people] for now in self.acts] if inferred else None,
            "why": [words.number(row.get("why")) for row in self.facilitator],
            "prices": [words.number(self._prices(row, words)) for row in self.facilitator],
            "said": list(self._said(words)),
        }

    def _prices(self, row: Row, words: _Words) -> list[list[float]]:
        """The messages that were compared, best first: message, steps saved, chance to change anything."""
        prices = sorted(row.get("prices", ()), key=lambda price: -price["saves"])
        return [[words.number(p["message"]), round(p["saves"], 2), round(p["changes"], 2)] for p in prices]

    def _said(self, words: _Words) -> Iterator[dict[str, Any]]:
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


def _changes(world: DoorsKeysGems, states: Sequence[State]) -> Iterator[list[list[float]]]:
    """What moves in the picture at every step: [part, x, y], or [part] for one that vanishes."""
    before = list(placements(world, states[0]).values())
    for state in states[1:]:
        after = list(placements(world, state).values())
        yield [[i, *(new or ())] for i, (old, new) in enumerate(zip(before, after, strict=True)) if old != new]
        before = after


def _belief(row: Row, goals: Sequence[str]) -> list[int]:
    """The posterior in thousandths."""
    return [round(1000 * row.get("posterior", {}).get(goal, 0.0)) for goal in goals]


# The page


def _widget(data: Mapping[str, Any], levels: Sequence[Level]) -> Html:
    drawings = [svg(level.world, level.world.initial, goals=True) for level in levels]
    maps = "".join(f"<div data-map{' hidden' if i else ''}>{map_}</div>" for i, map_ in enumerate(drawings))
    choices = "".join(_choices(levels, kind) for kind in (*KINDS, ""))
    return Html(SKELETON.substitute(choices=choices, maps=maps, data=embedded(data)))


def _choices(levels: Sequence[Level], kind: str) -> str:
    """The levels of one class to choose from; an unknown class counts as none."""
    members = [(i, level) for i, level in enumerate(levels) if (level.kind if level.kind in KINDS else "") == kind]
    options = "".join(f'<option value="{i}">{safe(level.name)}</option>' for i, level in members)
    label = KINDS.get(kind, "Other levels")
    return f'<optgroup label="{safe(label)}">{options}</optgroup>' if members else ""


SKELETON = Template("""\
<div class="replay" data-replay>
<div class="choose">
<label>Level <select data-at="level">$choices</select></label>
<fieldset data-at="subjects"><legend>Facilitator</legend></fieldset>
</div>
<p class="outcome" data-at="outcome"></p>
<div class="stage">
<div class="map-box" data-at="maps">$maps</div>
<div class="controls">
<button type="button" data-at="back">Back</button>
<button type="button" data-at="play">Play</button>
<button type="button" data-at="next">Next</button>
<output data-at="clock"></output>
</div>
<div class="timeline">
<input type="range" data-at="scrubber" min="0" value="0" step="1" aria-label="Step">
<div class="track" data-at="track"></div>
<div data-at="charts"></div>
</div>
<div class="account" data-at="account" aria-live="polite"></div>
</div>
<noscript><p>The viewer needs JavaScript; the page works without it otherwise.</p></noscript>
<script type="application/json" data-at="data">$data</script>
</div>""")
