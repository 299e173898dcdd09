"""What a language model is told about a matrix world: rules, map, meetings, and the moment in which it plans."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from otherminds.language.asking import plain
from otherminds.language.model import Message
from otherminds.papers.hypothetical_minds.agent import Encounter, Lesson
from otherminds.papers.hypothetical_minds.verbal.forms import fill
from otherminds.papers.hypothetical_minds.verbal.matrix_subgoals import MOST, MatrixSituation
from otherminds.worlds.in_the_matrix.memory import EVERYWHERE, THERE, UNKNOWN
from otherminds.worlds.in_the_matrix.rules import Inventory
from otherminds.worlds.in_the_matrix.strategies import Aim
from otherminds.worlds.in_the_matrix.world import InTheMatrix


def kinds_of(world: InTheMatrix) -> tuple[str, ...]:
    """The names of the kinds of resources, each on one line."""
    return tuple(map(plain, world.rules.resources))


def world_text(world: InTheMatrix, agent: str) -> str:
    """The rules of a world as one of its agents is told them."""
    rules, grid = world.rules, world.rules.field.grid
    kinds = kinds_of(world)
    rows = (f"{kind}: {', '.join(map(_signed, row))}" for kind, row in zip(kinds, rules.payoffs[0], strict=True))
    return fill(
        "hm-world",
        agent=plain(agent),
        world="of resources",
        width=grid.width,
        height=grid.height,
        others=", ".join(plain(name) for name in world.agents if name != agent),
        kinds=", ".join(kinds),
        payoffs="\n".join(rows),
    )


def meetings_text(meetings: Sequence[Encounter], kinds: Sequence[str], partner: str) -> str:
    """Meetings in words, a line each; without a partner's name, nothing about what the partner seems to have played."""
    lines = [f"Meeting {n}: {_meeting_text(meeting, kinds, partner)}" for n, meeting in enumerate(meetings, 1)]
    return "\n".join(["The meetings so far:", *lines]) if lines else "There was no meeting yet."


def lessons_text(lessons: Sequence[Lesson], names: Sequence[str], kinds: Sequence[str]) -> str:
    """Meetings with many players in words, a line each."""

    def played(kind: int | None) -> str:
        return "several kinds alike" if kind is None else kinds[kind]

    lines = []
    for number, lesson in enumerate(lessons, 1):
        who = "somebody" if lesson.partner is None else names[lesson.partner]
        theirs = "is not known" if lesson.theirs is None else f"seems to be {kinds[lesson.theirs]}"
        pay = f"you played {played(lesson.own)} and were paid {_signed(lesson.reward)}; what they played {theirs}."
        lines.append(f"Meeting {number} with {who}: {pay}")
    return "\n".join(["All meetings so far:", *lines])


def quoted(names: Iterable[str]) -> tuple[str, ...]:
    """Names as they are to be written in JSON."""
    return tuple(json.dumps(name, ensure_ascii=False) for name in names)


def inventory_text(inventory: Inventory, kinds: Sequence[str]) -> str:
    """An inventory in words."""
    return ", ".join(f"{kind} {count}" for kind, count in zip(kinds, inventory, strict=True))


def matrix_message(situation: MatrixSituation) -> Message:
    """The rules, and the map as far as it is known."""
    agent, partly = situation.world.agents[situation.me], situation.memory.explored != EVERYWHERE
    map_part = fill("hm-map", unknown=", ? never seen" if partly else "", map=map_text(situation))
    return Message("system", f"{world_text(situation.world, agent)}\n\n{map_part}")


def map_text(situation: MatrixSituation) -> str:
    """The map, a letter a cell."""
    grid = situation.world.rules.field.grid

    def letter(cell: int) -> str:
        return ("." if grid.is_floor(cell) else "#") if situation.memory.knows(cell) else "?"

    return "\n".join("".join(letter(grid.cell(x, y)) for x in range(grid.width)) for y in range(grid.height))


def present(situation: MatrixSituation) -> dict[str, object]:
    """The present moment as fields of a template: the step, what is in view, and what is remembered."""
    in_view = situation.world.describe(situation.view, situation.world.agents[situation.me])
    return {"t": situation.t, "seen": in_view, "remembered": remembered_text(situation)}


def matrix_subgoals_text(situation: MatrixSituation, purpose: str, outcomes: str) -> str:
    """The question for the next few subgoals, after the outcomes of the last ones."""
    fields = {"outcomes": outcomes, "purpose": purpose, "example": situation.other_names[0], "most": MOST}
    return fill("hm-subgoals", **present(situation), **fields)


def aim_text(world: InTheMatrix, me: int, aim: Aim, worth: Sequence[float]) -> str:
    """The task to gather one kind and to meet a player with whom that is worth anything, the best first, or any."""
    good = sorted((j for j, value in enumerate(worth) if value > 0), key=lambda j: -worth[j])
    players = good or [j for j in range(len(world.agents)) if j != me]
    player_names = " or ".join(plain(world.agents[j]) for j in players)
    return fill("hm-aim", kind=kinds_of(world)[aim.kind], margin=aim.margin, others=player_names)


def remembered_text(situation: MatrixSituation) -> str:
    """What is out of view, and when it was seen last (Cross et al. 2024, D.2)."""
    rules, memory = situation.world.rules, situation.memory
    names = {**dict(enumerate(kinds_of(situation.world))), UNKNOWN: "unknown"}
    places_of_kind: dict[str, list[str]] = {name: [] for name in names.values()}
    emptied: list[str] = []
    for cell, kind, away, looked in zip(rules.sites, memory.kinds, memory.away, memory.looked, strict=True):
        if looked != situation.t and memory.knows(cell):
            place = f"({situation.at(cell)}, {'on the map' if looked == THERE else f'step {looked}'})"
            (places_of_kind[names[kind]] if away == THERE else emptied).append(place)
    sightings = (
        f"{name}: ({situation.at(sighting.cell)}, step {sighting.t})"
        for name, sighting in zip(situation.names, memory.players, strict=True)
        if sighting is not None and sighting.t < situation.t
    )
    shown = [(name, places) for name, places in places_of_kind.items() if places or name != "unknown"]
    lines = (f"Remembered {name} locations: [{', '.join(places)}]" for name, places in [*shown, ("emptied", emptied)])
    return "\n".join([*lines, f"Remembered other players: {{{', '.join(sightings)}}}"])


def _meeting_text(meeting: Encounter, kinds: Sequence[str], partner: str) -> str:
    """A meeting in words: what the agent held and was paid, and what the partner seems to have played."""
    own = "several kinds alike" if meeting.played is None else kinds[meeting.played]
    text = f"you held {inventory_text(meeting.own, kinds)} (played {own}) and were paid {_signed(meeting.reward)}."
    if not partner:
        return text
    if meeting.theirs is None:
        return f"{text} What {partner} played cannot be told."
    return f"{text} {partner} seems to have played {kinds[meeting.theirs]}."


def _signed(value: float) -> str:
    return f"{value:+.3g}" if value else "0"
