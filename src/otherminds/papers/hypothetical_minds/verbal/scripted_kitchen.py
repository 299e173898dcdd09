"""A program in the place of a language model in kitchens: it reads the prompts of cooks, and divides the work."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple

from otherminds.files.toml import packaged

Place = tuple[int, int]
Part = Literal["nothing", "tomatoes", "dishes", "everything"]
ReplyFields = Mapping[str, Any]

DEED = re.compile(r"^- step (\d+): .* (put .* into the pot|took the soup|delivered a soup)", re.MULTILINE)
POT = re.compile(r"^- pot at \((\d+), (\d+)\): (.*)$", re.MULTILINE)
LATELY = 100  # steps back from which a partner's actions count; chosen, not tuned
WORDS = packaged("otherminds.papers.hypothetical_minds", "scripted_kitchen.toml")
GUESSES: Mapping[Part, str] = WORDS["guesses"]
EXPECTED: Mapping[Part, str] = WORDS["expected"]
STRATEGIES: Mapping[Part, str] = WORDS["strategies"]
LOADS, SERVES = STRATEGIES["dishes"], STRATEGIES["tomatoes"]


class DescribedPot(NamedTuple):
    """A pot within reach as a prompt describes it: the number of tomatoes, and whether there is soup."""

    place: Place
    tomatoes: int
    soup: bool


@dataclass(frozen=True)
class KitchenPromptReader:
    """A prompt, and the correct answers to it."""

    text: str

    def answer(self, fields: Sequence[str]) -> ReplyFields:
        """A value for every field that is asked for."""
        part = self._part_guessed or self._part_done_lately(LATELY)
        outcomes = self.text.partition("What came of it")[2].partition("Before:")[0]
        failed = re.search(r"^- (?P<subgoal>.*): failed, (?P<why>.*)$", outcomes, re.MULTILINE)
        advice = f"Do not {failed['subgoal']} when {failed['why']}." if failed else "It went well; go on like this."
        answers: dict[str, Callable[[], Any]] = {
            "plan": self._plan,
            "hypothesis": lambda: GUESSES[part],
            "expects": lambda: EXPECTED[part],
            "strategy": lambda: STRATEGIES[part],
            "fits": lambda: (
                EXPECTED[self._part_done_lately(self._step_now + 1)]
                in self.text.rpartition("Earlier you expected this")[2]
            ),
            "success": lambda: "failed" not in outcomes,
            "lesson": lambda: advice,
        }
        return {field: answers[field]() for field in fields}

    # The partner

    def _part_done_lately(self, lately: int) -> Part:
        """The part of the work that the partner has done in these last steps."""
        actions = [what for step, what in DEED.findall(self.text) if int(step) > self._step_now - lately]
        loads = any(what.startswith("put") for what in actions)
        serves = any(not what.startswith("put") for what in actions)
        return ("everything" if serves else "tomatoes") if loads else "dishes" if serves else "nothing"

    @property
    def _part_guessed(self) -> Part | None:
        """The part of the work in the guess that is to be followed, if the prompt has one."""
        guess = self.text.rpartition("guess about")[2] if "guess about" in self.text else ""
        return next((part for part, text in GUESSES.items() if text in guess), None)

    @cached_property
    def _step_now(self) -> int:
        match = re.search(r"(?:It is step|to step) (?P<step>\d+)", self.text)
        return int(match["step"]) if match else 0

    # Subgoals

    def _plan(self) -> Sequence[ReplyFields]:
        """The next subgoals with the thing in hand, by the strategy in the prompt."""
        loads, serves = LOADS in self.text, SERVES in self.text
        pots_with_room = [pot for pot in self._pots if pot.tomatoes < 3 and not pot.soup]
        if self._holds("soup"):
            return self._deliver()
        if self._holds("tomato"):
            return self._fill(pots_with_room) if pots_with_room else self._put_down() if serves else self._hold_ready()
        if self._holds("dish"):
            return self._put_down() if loads else self._serve()
        if serves or (not loads and any(pot.soup for pot in self._pots)):
            return [*self._use_nearest("dishes"), *self._serve()]
        if pots_with_room:
            return [*self._use_nearest("tomatoes"), *self._fill(pots_with_room)]
        if loads:
            return [*self._use_nearest("tomatoes"), *self._hold_ready()]
        return [*self._use_nearest("dishes"), *self._serve()]

    def _fill(self, pots_with_room: Sequence[DescribedPot]) -> Sequence[ReplyFields]:
        """Put a tomato into the fullest pot, and go on until it holds three."""
        pot = max(pots_with_room, key=lambda pot: pot.tomatoes)
        more = [*self._use_nearest("tomatoes"), _use(pot.place)] * (2 - pot.tomatoes)
        return [_use(pot.place), *more]

    def _hold_ready(self) -> Sequence[ReplyFields]:
        """Wait with a tomato until there is room in a pot."""
        if not self._pots:
            return self._put_down()
        place = max(self._pots, key=lambda pot: (pot.soup, pot.tomatoes)).place
        return [_wait(place, "free"), _use(place)]

    def _serve(self) -> Sequence[ReplyFields]:
        """Take soup as soon as it is ready, and deliver it."""
        if not self._pots:
            return self._put_down()
        pot = max(self._pots, key=lambda pot: (pot.soup, pot.tomatoes))
        waits = [] if pot.soup else [_wait(pot.place, "ready")]
        return [*waits, _use(pot.place), *self._deliver()]

    def _deliver(self) -> Sequence[ReplyFields]:
        return self._use_nearest("deliveries") or self._put_down()

    def _put_down(self) -> Sequence[ReplyFields]:
        return self._use_nearest("empty counters")

    def _use_nearest(self, what: str) -> Sequence[ReplyFields]:
        return [_use(place) for place in self._places(what)[:1]]

    def _holds(self, thing: str) -> bool:
        return f"and hold a {thing}." in self.text

    @cached_property
    def _pots(self) -> Sequence[DescribedPot]:
        """All pots within reach, the nearest first."""
        descriptions = {(int(x), int(y)): what for x, y, what in POT.findall(self.text)}
        return [_described_pot(place, descriptions[place]) for place in self._places("pots") if place in descriptions]

    def _places(self, what: str) -> Sequence[Place]:
        """The places in the line of a prompt about `what`, the nearest first."""
        line = re.search(f"^- {what}: (?P<places>.*)$", self.text, re.MULTILINE)
        return [(int(x), int(y)) for x, y in re.findall(r"\((\d+), (\d+)\)", line["places"])] if line else []


def _use(place: Place) -> ReplyFields:
    return {"do": "interact", "x": place[0], "y": place[1]}


def _wait(place: Place, until: str) -> ReplyFields:
    return {"do": "wait", "x": place[0], "y": place[1], "until": until}


def _described_pot(place: Place, what: str) -> DescribedPot:
    """A pot from its line in a prompt."""
    number = 3 if "soup is ready" in what else 0 if what.startswith("empty") else 1 if what[0] == "a" else int(what[0])
    return DescribedPot(place, number, "soup is ready" in what or "by now there should be soup" in what)
