"""A program in the place of a language model in matrix worlds: it reads the prompts of all agents."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from otherminds.language.model import Request
from otherminds.language.scripted import text_of
from otherminds.papers.hypothetical_minds.verbal.matrix_prompts import kinds_of
from otherminds.worlds.in_the_matrix.hypotheses import partner_inventory, typical_inventory
from otherminds.worlds.in_the_matrix.rules import Rules
from otherminds.worlds.in_the_matrix.strategies import Inventory
from otherminds.worlds.in_the_matrix.world import InTheMatrix

MEETING = re.compile(r"^Meeting \d+: you held (.+?) \(played (.+?)\) and were paid (\S+)\.(?: (.*))?$", re.MULTILINE)
THEIRS = re.compile(r"seems to have played (.+)\.$")
INSTEAD = re.compile(r"if you had played (.+?) in it")
AIM = re.compile(r"You have decided to play (.+?) in the next meeting")
OTHERS = re.compile(r"With you there: (.+)\.$", re.MULTILINE)
PLACE = re.compile(r"\((\d+), (\d+)\)")
ENOUGH, ERRANDS = 5, 4

Plays = Sequence[tuple[int | None, int]]
Written = Mapping[str, Any]


class PlayRule(NamedTuple):
    """A way to play in words, and the next play after these plays: ours (None for a tie) and theirs."""

    text: str
    follow: Callable[[Plays], int]


def all_rules(kinds: Sequence[str]) -> tuple[PlayRule, ...]:
    """Always the same, or by what was played last: by us, or by themselves."""
    n = len(kinds)
    return (*(_always(kinds, k) for k in range(n)), *(rule for shift in range(n) for rule in _shifts(kinds, shift)))


def _always(kinds: Sequence[str], kind: int) -> PlayRule:
    return PlayRule(f"They always play {kinds[kind]}.", lambda _: kind)


def _shifts(kinds: Sequence[str], shift: int) -> Iterator[PlayRule]:
    n = len(kinds)
    told = ", ".join(f"{kinds[k]} → {kinds[(k + shift) % n]}" for k in range(n))

    def answers(plays: Plays) -> int:
        ours = [own for own, _ in plays if own is not None]
        return (ours[-1] + shift) % n if ours else 0

    def goes_on(plays: Plays) -> int:
        return (plays[-1][1] + shift) % n if plays else 0

    yield PlayRule(f"They answer my last play: {told}.", answers)
    if shift:
        yield PlayRule(f"They go on from their own last play: {told}.", goes_on)


class ToldMeeting(NamedTuple):
    """A meeting as a prompt describes it."""

    held: Inventory
    own: int | None
    reward: float
    theirs: int | None


@dataclass(frozen=True)
class MatrixPromptReader:
    """A prompt, and the correct answers to it."""

    rules: Rules
    kinds: tuple[str, ...]
    text: str

    @property
    def meetings(self) -> list[ToldMeeting]:
        """All meetings that it tells of."""
        return [self._met(*found) for found in MEETING.findall(self.text)]

    @property
    def plays(self) -> Plays:
        """All meetings of which both plays are known."""
        return [(met.own, met.theirs) for met in self.meetings if met.theirs is not None]

    def answer(self, asked: Sequence[str]) -> Written:
        """Something for every field that is asked for."""
        if "plan" in asked:
            return {"plan": self._plan()}
        rule = self._shown() or self._best()
        theirs = rule.follow(self.plays)
        found: dict[str, Callable[[], Any]] = {
            "inventory": self._inventory,
            "hypothesis": lambda: rule.text,
            "strategy": lambda: self._strategy(rule),
            "partner_plays": lambda: self.kinds[theirs],
            "i_play": lambda: self.kinds[self._beats(theirs)],
            "reward": self._verdict,
            "success": lambda: not self.meetings or self.meetings[-1].reward > 0,
            "lesson": lambda: f"In {len(self.meetings)} meetings it paid to keep to what went well.",
        }
        return {field: found[field]() for field in asked}

    def _met(self, held: str, played: str, reward: str, rest: str) -> ToldMeeting:
        own = tuple(int(part.rpartition(" ")[2]) for part in held.split(", "))
        theirs = THEIRS.search(rest)
        return ToldMeeting(own, self._kind(played), float(reward), self._kind(theirs[1]) if theirs else None)

    def _kind(self, name: str) -> int | None:
        return self.kinds.index(name) if name in self.kinds else None

    def _shown(self) -> PlayRule | None:
        """The rule that is to be followed, if the prompt names one."""
        question = self.text.rpartition("A guess about what")[2] if "A guess about what" in self.text else ""
        question = question or self.text.partition("A strategy for you:")[2]
        return next((rule for rule in all_rules(self.kinds) if rule.text in question), None)

    def _best(self) -> PlayRule:
        """The rule that is right about most of all meetings, the simplest of equals."""
        plays = self.plays

        def hits(rule: PlayRule) -> int:
            return sum(rule.follow(plays[:n]) == theirs for n, (_, theirs) in enumerate(plays))

        return max(all_rules(self.kinds), key=hits)

    def _beats(self, theirs: int) -> int:
        return max(range(len(self.kinds)), key=lambda own: self._pays(own, theirs))

    def _pays(self, own: int, theirs: int) -> float:
        n = len(self.kinds)
        return self.rules.reward(typical_inventory(own, n), typical_inventory(theirs, n))[0]

    def _strategy(self, rule: PlayRule) -> str:
        """What beats a rule, or, where the partner's plays are not known, what went well."""
        if not self.plays:
            return f"Gather {self.kinds[self._target()]}."
        return f"Play what beats this. {rule.text} Gather {self.kinds[self._beats(rule.follow(self.plays))]}."

    def _inventory(self) -> dict[str, int]:
        last = self.meetings[-1]
        return dict(zip(self.kinds, partner_inventory(self.rules, last.held, last.reward).mode, strict=True))

    def _verdict(self) -> str:
        instead, theirs = INSTEAD.search(self.text), self.meetings[-1].theirs
        own = self._kind(instead[1]) if instead else None
        pays = 0.0 if own is None or theirs is None else self._pays(own, theirs)
        return "positive" if pays > 0 else "negative" if pays < 0 else "neutral"

    # Subgoals

    def _plan(self) -> Sequence[Written]:
        """Gather what is to be played until there is enough of it, then look for somebody."""
        kind, held = self._target(), self._places("Inventory: ", r"(\d+)")
        counts = [int(count) for count in held]
        lead = counts[kind] - max(count for k, count in enumerate(counts) if k != kind)
        if lead < ENOUGH:
            walks = self._walks(kind)[: min(ERRANDS, ENOUGH - lead)]
            return [{"do": "move_to", "x": x, "y": y} for x, y in walks] or [{"do": "patrol"}]
        seen = [name for name in self._others() if f"'{name}-" in self.text.partition("Observable other")[2]]
        return [{"do": "fire_at", "player": name} for name in seen[:1]] or [{"do": "patrol"}]

    def _target(self) -> int:
        """The kind to play: as told, as planned, as before if that was well paid, or else the next one."""
        told = AIM.search(self.text)
        plan = self.text.rpartition("Your plan until the next meeting is over:")[2]
        planned = re.search(r"Gather (.+?)\.", plan) if plan != self.text else None
        named = self._kind(told[1]) if told else self._kind(planned[1]) if planned else None
        if named is not None:
            return named
        last = self.meetings[-1] if self.meetings else None
        if last is None or last.own is None:
            return 0
        return last.own if last.reward > 0 else (last.own + 1) % len(self.kinds)

    def _walks(self, kind: int) -> list[tuple[int, int]]:
        """Where there is some of a kind, the nearest one first."""
        name = self.kinds[kind]
        places = [
            (int(x), int(y))
            for start in (f"Observable {name} locations: ", f"Remembered {name} locations: ")
            for x, y in self._places(start, PLACE.pattern)
        ]
        here = next(iter(self._places("Player position: ", PLACE.pattern)), ("0", "0"))
        x, y = map(int, here)
        return sorted(set(places), key=lambda place: (abs(place[0] - x) + abs(place[1] - y), place))

    def _places(self, start: str, pattern: str) -> list[Any]:
        line = re.search(f"^{re.escape(start)}(.*)$", self.text, re.MULTILINE)
        return re.findall(pattern, line[1]) if line else []

    def _others(self) -> list[str]:
        told = OTHERS.search(self.text)
        return told[1].split(", ") if told else []


def matrix_reply(world: InTheMatrix, request: Request) -> str:
    """The reply of a program that reasons correctly, as JSON."""
    fields = [field for field in json.loads(request.schema)["properties"] if field != "reasoning"]
    reply = MatrixPromptReader(world.rules, kinds_of(world), text_of(request)).answer(fields)
    return json.dumps({"reasoning": "It follows from the meetings.", **reply}, ensure_ascii=False)
