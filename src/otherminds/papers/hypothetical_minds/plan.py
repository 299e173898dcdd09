"""What is played of Hypothetical Minds: which agents, with or without a language model, in which scenarios."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from otherminds.errors import unknown
from otherminds.language.asking import plain
from otherminds.papers.hypothetical_minds.models import AGENTS, SWEEP, Speaker
from otherminds.papers.hypothetical_minds.seats import SEATS
from otherminds.worlds.in_the_matrix.scenarios import scenario, scenarios

EXPERIMENT = "hypothetical"
SUBJECTS = tuple(SEATS)
COOKING = ("programs", "random")
FILMED = ("rws_repeated_4", "pd_repeated_8", "rws_repeated_1", "rws_arena_6")
SMALL = ("rws_repeated_6", "pd_repeated_3", "rws_arena_0", "cooking_asymmetric_0")
SPOKEN: Mapping[str, Sequence[str]] = {"quick": ("HM",), "normal": ("HM",), "full": (*AGENTS, *SWEEP)}


@dataclass(frozen=True)
class Entry:
    """One episode of a scenario with an agent; with a language model if one is named; `filmed` if it is to be shown."""

    scenario: str
    agent: str
    number: int
    seed: int
    model: str = ""
    filmed: bool = False

    @property
    def subject(self) -> str:
        """The agent, and its model if it has one."""
        return f"lm:{self.model.replace(':', '-')}:{self.agent}" if self.model else self.agent

    @property
    def key(self) -> tuple[str, str, str]:
        """What tells it apart in the rows."""
        return (self.scenario, self.subject, str(self.number))

    @property
    def cooks(self) -> bool:
        """Whether it is in a kitchen."""
        return scenario(self.scenario).substrate.startswith("cooking")


def plan(
    episodes: int, seed: int, agents: Sequence[str] = SUBJECTS, only: str | None = None, model: str = ""
) -> list[Entry]:
    """So many episodes of every scenario, or of one, with every agent; in kitchens, with those who can cook.

    Raises InputError for a scenario or an agent that there is not.
    """
    chosen = [scenario(only)] if only is not None else [one for one in scenarios() if one.upstream]
    for agent in agents:
        _checked(agent, model)
    found = [
        Entry(one.id, agent, n, seed, model, filmed=n == 0 and bool(only or one.id in FILMED))
        for one in chosen
        for agent in agents
        for n in range(episodes)
    ]
    return [entry for entry in found if not entry.cooks or _can_cook(entry.agent, model)]


def _can_cook(agent: str, model: str) -> bool:
    return Speaker.parse(agent).cooks if model else agent in COOKING


def _checked(agent: str, model: str) -> None:
    if model:
        Speaker.parse(agent)
    elif agent not in SEATS:
        raise unknown("agent", plain(agent), SEATS, "others want --model")


def spoken_plan(
    scale: str, episodes: int, seed: int, model: str, agents: Sequence[str] = (), only: str | None = None
) -> list[Entry]:
    """What a language model is to play: by default Hypothetical Minds in all scenarios, or in one of each world.

    Raises InputError for a scenario or an agent that there is not.
    """
    found = plan(episodes, seed, agents or SPOKEN[scale], only, model)
    return [entry for entry in found if only or scale != "quick" or entry.scenario in SMALL]
