"""Episodes of matrix worlds for the viewer: the map, and the hypotheses of the first player about its partners."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, NamedTuple, TypeVar

from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from otherminds.errors import InputError, faults, shortened
from otherminds.files.text import printable
from otherminds.reports.page import Html, number, safe
from otherminds.reports.replay import Caption, ReplayEpisode, ReplayLevel, TimelineMark, viewer
from otherminds.worlds.avatar_drawing import BODIES, avatar_labels
from otherminds.worlds.canvas import Drawing, ground, svg_look
from otherminds.worlds.in_the_matrix.drawing import kind_shapes, matrix_scene, moving_parts
from otherminds.worlds.in_the_matrix.rules import FREE, NOWHERE, MatrixState, Rules
from otherminds.worlds.in_the_matrix.world import InTheMatrix
from otherminds.worlds.sprites import CELL, MovingPart

LONGEST = 600  # characters of a hypothesis that are shown; chosen
LEGEND = "Meetings: what each paid, up or down; pale where the partner did not play what was expected."

T = TypeVar("T")
Whole = Annotated[int, Field(strict=True, ge=0, lt=1_000_000)]
Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]
Holding = tuple[Whole, ...]


# What comes from outside


class Frame(NamedTuple):
    """A state as rows record it for the viewer; the kinds of the sites are the same in a whole episode.

    All but `shown` have an entry for each player, as in `MatrixState`; bit i of `shown` says whether site i has its
    resource.
    """

    cells: tuple[Annotated[int, Field(strict=True, ge=NOWHERE)], ...]
    facings: tuple[Annotated[int, Field(strict=True, ge=0, le=3)], ...]
    inventories: tuple[Holding, ...]
    clocks: tuple[Annotated[int, Field(strict=True, ge=FREE)], ...]
    cooldowns: Holding
    shown: Annotated[int, Field(strict=True, ge=0)]

    def misfit(self, rules: Rules) -> str:
        """The first field that does not fit a world, with the reason; empty if all fit."""
        for name, values in zip(self._fields, self[:-1], strict=False):
            if len(values) != rules.players:
                return f"{name}: the world has {rules.players} players"
        if any(len(inventory) != len(rules.resources) for inventory in self.inventories):
            return f"inventories: the world has {len(rules.resources)} kinds of resources"
        if not all(cell == NOWHERE or rules.field.grid.is_floor(cell) for cell in self.cells):
            return "cells: somebody stands where there is no floor"
        return f"shown: the world has {len(rules.sites)} sites" if self.shown >> len(rules.sites) else ""

    def state(self, rules: Rules, kinds: Sequence[int]) -> MatrixState:
        """A state that looks like this frame; what cannot be seen of a state, such as pending rewards, is empty."""
        cells, facings, holdings, clocks, cooldowns, shown = self
        due, damage = (math.inf,) * rules.players, (0,) * rules.players
        return MatrixState(
            0, cells, facings, holdings, cooldowns, clocks, due, tuple(kinds), shown, (), damage, *rules.nothing, False
        )


class ReplayMeeting(BaseModel):
    """A meeting of the first player: its partner, both inventories, its reward, and its beliefs before the meeting."""

    t: Whole
    partner: Whole | None = None
    own: Holding | None = None
    theirs: Holding | None = None
    reward: Number | None = None
    expected: tuple[Annotated[float, Field(strict=True, ge=0, le=1 + 1e-6)], ...] | None = None
    hypotheses: tuple[tuple[str, Number], ...] | None = None

    def misfit(self, world: InTheMatrix, earliest: int, latest: int) -> str:
        """The first field that does not fit an episode, with the reason; empty if all fit."""
        players, kinds = world.rules.players, world.rules.resources
        if not earliest <= self.t <= latest:
            return f"t: must be from {earliest} to {latest}, as meetings come in order"
        if self.partner is not None and not 0 < self.partner < players:
            return f"partner: must be from 1 to {players - 1}"
        for name in ("own", "theirs", "expected"):
            per_kind = getattr(self, name)
            if per_kind is not None and len(per_kind) != len(kinds):
                return f"{name}: the world has {len(kinds)} kinds of resources"
        return ""

    @property
    def likeliest(self) -> int | None:
        """The kind that was expected; None if no kind was above all others."""
        return _greatest([round(p, 3) for p in self.expected or ()])

    @property
    def right(self) -> bool | None:
        """Whether the partner played what was expected; None if nothing was, or it held as much of several kinds."""
        kind_played = _greatest(self.theirs or ())
        return None if self.likeliest is None or kind_played is None else self.likeliest == kind_played

    def who(self, world: InTheMatrix) -> str:
        """The name of the partner; if it is missing, that of the only other player, or `somebody`."""
        partner = 1 if world.rules.players == 2 else self.partner
        return "somebody" if partner is None else printable(world.agents[partner])

    def outcome(self, world: InTheMatrix) -> str:
        """The meeting in a sentence: `Step 12: Ann held rock 2 paper 0, paid +1.5; expected rock (80 %): right.`"""
        sides = ((printable(world.agents[0]), self.own), (self.who(world), self.theirs))
        kinds = [printable(kind) for kind in world.rules.resources]
        clauses = []
        for name, holding in sides:
            if holding:
                counts = " ".join(f"{kind} {n}" for kind, n in zip(kinds, holding, strict=True))
                clauses.append(f"{name} held {counts}")
        if self.reward is not None:
            clauses.append(f"paid {'+' * (self.reward > 0)}{number(self.reward, 1)}")
        expectation = "; nothing in particular was expected" if self.expected else ""
        if self.expected and self.likeliest is not None:
            chance, ending = self.expected[self.likeliest], {None: "", True: ": right", False: ": wrong"}[self.right]
            expectation = f"; expected {kinds[self.likeliest]} ({100 * chance:.0f}\N{NO-BREAK SPACE}%){ending}"
        return f"Step {self.t}: {', '.join(clauses) or f'a meeting with {self.who(world)}'}{expectation}."


def _greatest(numbers: Sequence[float]) -> int | None:
    """The index of the greatest number, if there is only one."""
    return numbers.index(max(numbers)) if numbers and numbers.count(max(numbers)) == 1 else None


FRAME, MEETING = TypeAdapter(Frame), TypeAdapter(ReplayMeeting)


def frame(state: MatrixState) -> list[Any]:
    """A state as rows record it for the viewer: the fields of `Frame` as JSON data."""
    inventories = [list(inventory) for inventory in state.inventories]
    return [list(state.cells), list(state.facings), inventories, list(state.clocks), list(state.cooldowns), state.shown]


def _states(rules: Rules, kinds: Sequence[int], frames: Sequence[Any]) -> list[MatrixState]:
    """The states of an episode from its raw frames. Raises InputError for kinds or frames that do not fit the world."""
    indices = range(len(rules.resources))
    if len(kinds) != len(rules.sites) or not all(kind in indices for kind in kinds):
        raise InputError(f"kinds: must be {len(rules.sites)} numbers from 0 to {len(indices) - 1}, one for every site")
    if not frames:
        raise InputError("an episode has one frame at least, that of the start")
    snapshots = [_read(FRAME, raw, f"frame {t}", Frame._fields) for t, raw in enumerate(frames)]
    for t, snapshot in enumerate(snapshots):
        if misfit := snapshot.misfit(rules):
            raise InputError(f"frame {t}: {misfit}")
    return [snapshot.state(rules, kinds) for snapshot in snapshots]


def _read(form: TypeAdapter[T], raw: object, context: str, names: Sequence[str] = ()) -> T:
    """A value of this form from outside.

    Raises InputError if it does not fit; the message begins with `context`, such as `frame 3`, and the name of the
    field, from `names` if the form is a tuple.
    """
    try:
        return form.validate_python(raw)
    except ValidationError as error:
        first = faults(error)[0]
        path = list(first["loc"])
        if path and isinstance(path[0], int) and path[0] < len(names):
            path[0] = names[path[0]]
        raise InputError(": ".join(filter(None, (context, ".".join(map(str, path)), first["msg"])))) from None


# The viewer


def matrix_replay(
    world: InTheMatrix, kinds: Sequence[int], frames: Sequence[Any], thoughts: Sequence[Mapping[str, Any]], title: str
) -> Html:
    """An element to step through an episode: a frame of the start and of every step, and a thought for every meeting.

    `kinds` are those of the sites, `thoughts` what the first player believed and expected before each meeting.
    Raises InputError if something does not fit the world.
    """
    states = _states(world.rules, kinds, frames)
    meetings: list[ReplayMeeting] = []
    for meeting_number, row in enumerate(thoughts, 1):
        meeting = _read(MEETING, row, f"meeting {meeting_number}")
        if misfit := meeting.misfit(world, meetings[-1].t if meetings else 0, len(states) - 1):
            raise InputError(f"meeting {meeting_number}: {misfit}")
        meetings.append(meeting)
    scenes = [matrix_scene(world, state) for state in states]
    parts = [{part.name: part for part in moving_parts(world, scene)} for scene in scenes]
    counts = {"beam": world.rules.players, "resource": len(world.rules.sites), "agent": world.rules.players}
    names = [f"{kind}-{i}" for kind, n in counts.items() for i in range(n)]  # of all parts, in the order of drawing
    start = {name: parts[0].get(name, MovingPart(name, "", (), None)) for name in names}
    most_paid = max([1e-9, *(abs(meeting.reward or 0) for meeting in meetings)])
    episode = ReplayEpisode(
        parts=parts,
        captions=list(_captions(world, meetings, len(states))),
        marks=[
            TimelineMark(m.t, status="wrong" * (m.right is False), height=round((m.reward or 0) / most_paid, 3))
            for m in meetings
        ],
        notes=[
            [(note.status, *inventory) for note, inventory in zip(scene.notes, state.inventories, strict=True)]
            for scene, state in zip(scenes, states, strict=True)
        ],
    )
    grid = world.rules.field.grid
    area = (0, 0, grid.width * CELL, grid.height * CELL)
    label = "A matrix world with " + ", ".join(world.agents)
    picture = Drawing(label, ground(grid), tuple(start.values()), area, crisp=True).svg()
    level, lines = ReplayLevel(title, picture, start, ()), _note_lines(world)
    return viewer([level], [[episode]], title=title, mark="meeting", legend=LEGEND, notes=lines, speed="8")


def _captions(world: InTheMatrix, meetings: Sequence[ReplayMeeting], states: int) -> Iterator[list[Caption]]:
    """For each step the hypotheses about the partner of the next meeting, and the outcome of the last meeting."""
    values = [value for meeting in meetings for _, value in meeting.hypotheses or ()]
    most = max([1.0, *map(abs, values)])
    # from zero up, or as far down as up if any value is below zero
    scale = (-most if any(value < 0 for value in values) else 0.0, most)
    for t in range(states):
        last = next((meeting for meeting in reversed(meetings) if meeting.t <= t), None)
        following = next((meeting for meeting in meetings if meeting.t > t), None)
        focus = following or last
        captions = _thought(world, focus, following is not None, scale) if focus else [Caption("heading", "No meeting")]
        outcome = last.outcome(world) if last else "There was none yet."
        yield [*captions, Caption("heading", "Last meeting"), Caption("text", outcome)]


def _thought(world: InTheMatrix, meeting: ReplayMeeting, is_next: bool, scale: tuple[float, float]) -> list[Caption]:
    """The hypotheses about a partner and the prediction of its play."""
    hypotheses = [(shortened(text, LONGEST), v) for text, v in meeting.hypotheses or ()]
    heading = f"{'For the next' if is_next else 'Before the last'} meeting, at step {meeting.t}"
    captions = [
        Caption("heading", f"What {printable(world.agents[0])} thinks of {meeting.who(world)}"),
        Caption("quiet", heading if hypotheses else f"{heading}: no hypothesis is recorded"),
        Caption(
            "bars", "hypotheses", [(text, round(v, 3), None) for text, v in hypotheses], least=scale[0], most=scale[1]
        ),
    ]
    if meeting.expected:
        lines = [(icon.title, round(p, 3), icon) for icon, p in zip(_kind_looks(world), meeting.expected, strict=True)]
        captions += [Caption("heading", "Expected play"), Caption("bars", "expected", lines)]
    return captions


def _kind_looks(world: InTheMatrix) -> list[MovingPart]:
    """The kinds of resources as sprites without a place."""
    kinds = world.rules.resources
    return [MovingPart("", kind, shapes, None) for kind, shapes in zip(kinds, kind_shapes(kinds), strict=True)]


def _note_lines(world: InTheMatrix) -> Html:
    """A line for every player, with cells for its status and how many it holds of each kind."""
    signs = avatar_labels(world.agents)
    icons = (f'<svg class="kind" viewBox="-24 -24 48 48">{svg_look(sprite)}</svg>' for sprite in _kind_looks(world))
    counters = "".join(f'<span class="thing">{icon}<b data-cell></b></span>' for icon in icons)
    lines = (
        f'<li><span class="token" style="background:{BODIES[i % len(BODIES)]}">{safe(signs[agent])}</span>'
        f'<span class="name">{safe(agent)}</span><span class="quiet" data-cell></span>{counters}</li>'
        for i, agent in enumerate(world.agents)
    )
    return Html("".join(lines))
