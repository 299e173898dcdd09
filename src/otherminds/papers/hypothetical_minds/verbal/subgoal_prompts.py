"""What a language model is told of a moment in a matrix world when it is to plan."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from otherminds.language.asking import listed, prompts_of
from otherminds.language.model import Message
from otherminds.papers.hypothetical_minds.verbal.prompts import kinds_of, world_text
from otherminds.papers.hypothetical_minds.verbal.subgoal_forms import MOST, Situation
from otherminds.worlds.in_the_matrix.memory import EVERYWHERE, THERE, UNKNOWN

fill = prompts_of("otherminds.papers.hypothetical_minds")


def world_and_map(situation: Situation, name: str = "") -> Message:
    """The rules, and the map as far as it is known."""
    agent, partly = situation.world.agents[situation.me], situation.memory.seen != EVERYWHERE
    told = fill("hm-map", unknown=", ? never seen" if partly else "", map=map_text(situation))
    return Message("system", f"{world_text(situation.world, agent, name)}\n\n{told}")


def map_text(situation: Situation) -> str:
    """The map, a letter a cell."""
    grid = situation.world.rules.field.grid

    def letter(cell: int) -> str:
        return ("." if grid.is_floor(cell) else "#") if situation.memory.knows(cell) else "?"

    return "\n".join("".join(letter(grid.cell(x, y)) for x in range(grid.width)) for y in range(grid.height))


def seen_text(situation: Situation) -> str:
    """What is in view."""
    return situation.world.describe(situation.view, situation.world.agents[situation.me])


def remembered_text(situation: Situation) -> str:
    """What is out of view, and when it was seen last (Cross et al. 2024, D.2)."""
    return "\n".join(_remembered(situation))


def subgoals_prompt(situation: Situation, purpose: str, outcomes: Sequence[str], name: str = "") -> tuple[Message, ...]:
    """The question for the next few subgoals."""
    came = f"\n{fill('hm-outcomes', outcomes=listed(outcomes))}\n" if outcomes else ""
    now = fill(
        "hm-subgoals",
        t=situation.view.t,
        seen=seen_text(situation),
        remembered=remembered_text(situation),
        outcomes=came,
        purpose=purpose,
        example=situation.others[0],
        most=MOST,
    )
    return world_and_map(situation, name), Message("user", now)


def aim_text(situation: Situation, kind: int, margin: int, partners: Sequence[str]) -> str:
    """The task to gather one kind, and to meet one of these with it."""
    others = " or ".join(partners or situation.others)
    return fill("hm-aim", kind=kinds_of(situation.world)[kind], margin=margin, others=others)


def _remembered(situation: Situation) -> Iterator[str]:
    names = {UNKNOWN: "unknown", **dict(enumerate(kinds_of(situation.world)))}
    rules, memory, t = situation.world.rules, situation.memory, situation.view.t
    there: dict[str, list[str]] = {name: [] for name in (*kinds_of(situation.world), "unknown")}
    gone: list[str] = []
    for cell, kind, away, looked in zip(rules.sites, memory.kinds, memory.away, memory.looked, strict=True):
        if looked == t or not situation.memory.knows(cell):
            continue
        place = f"({_at(situation, cell)}, {'on the map' if looked == THERE else f'step {looked}'})"
        (there[names[kind]] if away == THERE else gone).append(place)
    for name, places in there.items():
        if places or name != "unknown":
            yield f"Remembered {name} locations: [{', '.join(places)}]"
    yield f"Remembered emptied locations: [{', '.join(gone)}]"
    yield f"Remembered other players: {{{', '.join(_others(situation))}}}"


def _others(situation: Situation) -> Iterator[str]:
    for name, other in zip(situation.players, situation.memory.others, strict=True):
        if other is not None and other.t < situation.view.t:
            yield f"{name}: ({_at(situation, other.cell)}, step {other.t})"


def _at(situation: Situation, cell: int) -> tuple[int, int]:
    return situation.world.rules.field.grid.xy(cell)
