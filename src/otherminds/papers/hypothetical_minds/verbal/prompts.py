"""What a language model is told of a matrix world, of the meetings with a partner, and of guesses about them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Self

from otherminds.language.asking import plain, prompts_of
from otherminds.language.model import Message
from otherminds.papers.hypothetical_minds.encounters import Encounter
from otherminds.worlds.in_the_matrix.rules import Inventory
from otherminds.worlds.in_the_matrix.world import InTheMatrix

fill = prompts_of("otherminds.papers.hypothetical_minds")

NO_MEETINGS = "There was no meeting yet."
Rated = tuple[str, float]


@dataclass(frozen=True)
class Topic:
    """What all prompts about a partner have in common: the world in words, the partner, and the kinds of resources."""

    world: str
    partner: str
    kinds: tuple[str, ...]

    @classmethod
    def of(cls, world: InTheMatrix, agent: str, partner: str = "the other player", name: str = "") -> Self:
        """The topic of one agent in a world, which may have a name."""
        return cls(world_text(world, agent, name), plain(partner), kinds_of(world))

    def history(self, meetings: Sequence[Encounter]) -> str:
        """All meetings with the partner in words."""
        return history(meetings, self.kinds, self.partner)

    def prompt(self, name: str, meetings: Sequence[Encounter], **fields: object) -> tuple[Message, ...]:
        """The prompt of that name after these meetings."""
        known = {"partner": self.partner, "kinds": ", ".join(quoted(self.kinds)), "history": self.history(meetings)}
        return Message("system", self.world), Message("user", fill(f"hm-{name}", **known, **fields))


def kinds_of(world: InTheMatrix) -> tuple[str, ...]:
    """The names of the kinds of resources, each on one line."""
    return tuple(map(plain, world.rules.resources))


def world_text(world: InTheMatrix, agent: str, name: str = "") -> str:
    """The rules of a world as one of its agents is told of them."""
    rules, grid = world.rules, world.rules.field.grid
    kinds = kinds_of(world)
    rows = (f"{kind}: {', '.join(map(_number, row))}" for kind, row in zip(kinds, rules.payoffs[0], strict=True))
    return fill(
        "hm-world",
        agent=plain(agent),
        world=plain(name) or "of resources",
        width=grid.width,
        height=grid.height,
        others=", ".join(plain(other) for other in world.agents if other != agent),
        kinds=", ".join(kinds),
        payoffs="\n".join(rows),
    )


def history(meetings: Sequence[Encounter], kinds: Sequence[str], partner: str) -> str:
    """Meetings in words, a line for each; without a partner, nothing is said of what they seem to have played."""
    lines = [f"Meeting {n}: {_told(meeting, kinds, partner)}" for n, meeting in enumerate(meetings, 1)]
    return "\n".join(["The meetings so far:", *lines]) if lines else NO_MEETINGS


def rated(hypotheses: Iterable[Rated]) -> str:
    """Guesses with their values, a line for each."""
    return "\n".join(f"- {value:+.2f}: {text}" for text, value in hypotheses)


def quoted(names: Iterable[str]) -> tuple[str, ...]:
    """Names as they are to be written in JSON."""
    return tuple(json.dumps(name, ensure_ascii=False) for name in names)


def held(inventory: Inventory, kinds: Sequence[str]) -> str:
    """An inventory in words."""
    return ", ".join(f"{kind} {count}" for kind, count in zip(kinds, inventory, strict=True))


def _told(meeting: Encounter, kinds: Sequence[str], partner: str) -> str:
    own = "several kinds alike" if meeting.played is None else kinds[meeting.played]
    told = f"you held {held(meeting.own, kinds)} (played {own}) and were paid {_number(meeting.reward)}."
    if not partner:
        return told
    if meeting.theirs is None:
        return f"{told} What {partner} played cannot be told."
    return f"{told} {partner} seems to have played {kinds[meeting.theirs]}."


def _number(value: float) -> str:
    return f"{value:+.3g}" if value else "0"
