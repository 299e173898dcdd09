"""A program in the place of a language model in matrix worlds: it reads prompts, and answers correctly."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from otherminds.papers.hypothetical_minds.agent import Encounter
from otherminds.worlds.in_the_matrix.hypotheses import partner_inventory, typical_inventory
from otherminds.worlds.in_the_matrix.rules import Rules

MEETING = re.compile(r"^Meeting \d+: you held (.+?) \(played .+?\) and were paid (\S+)\.(?: (.*))?$", re.MULTILINE)
THEIRS = re.compile(r"seems to have played (?P<kind>.+)\.$")
INSTEAD = re.compile(r"if you had played (?P<kind>.+?) in it")
GUESS = re.compile(r"^- (.+), expected to play (.+)$", re.MULTILINE)
AIM = re.compile(r"You have decided to play (?P<kind>.+?) in the next meeting")
OTHERS = re.compile(r"With you there: (?P<names>.+)\.$", re.MULTILINE)
PLACE = re.compile(r"\((\d+), (\d+)\)")
ENOUGH = 5  # lead of the kind to play over all others in the inventory, as the margin of other agents
ERRANDS = 4  # walks of a plan; chosen, not tuned

Plays = Sequence[tuple[int | None, int]]
ReplyFields = Mapping[str, Any]


class PlayRule(NamedTuple):
    """A way to play in words: so many kinds after our last play, after their own, or after the first kind."""

    text: str
    after: Literal["ours", "theirs", "the first"]
    shift: int
    kinds: int

    def follow(self, plays: Plays) -> int:
        """The next play after these plays: ours (None for a tie) and theirs."""
        if self.after == "the first":
            return self.shift
        plays_followed = [own if self.after == "ours" else theirs for own, theirs in plays]
        untied = [play for play in plays_followed if play is not None]
        return (untied[-1] + self.shift) % self.kinds if untied else 0


def all_rules(kinds: Sequence[str]) -> list[PlayRule]:
    """A partner always plays the same, answers our last play, or goes on from its own; the simple rules first."""
    n = len(kinds)
    rules = [PlayRule(f"They always play {name}.", "the first", kind, n) for kind, name in enumerate(kinds)]
    for shift in range(n):
        transitions = ", ".join(f"{kinds[k]} → {kinds[(k + shift) % n]}" for k in range(n))
        rules.append(PlayRule(f"They answer my last play: {transitions}.", "ours", shift, n))
        if shift:
            rules.append(PlayRule(f"They go on from their own last play: {transitions}.", "theirs", shift, n))
    return rules


@dataclass(frozen=True)
class MatrixPromptReader:
    """A prompt, and the correct answers to it."""

    rules: Rules
    kinds: tuple[str, ...]
    text: str

    @property
    def meetings(self) -> list[Encounter]:
        """All meetings in the prompt."""
        encounters = []
        for inventory_text, reward, rest in MEETING.findall(self.text):
            inventory = tuple(int(part.rpartition(" ")[2]) for part in inventory_text.split(", "))
            theirs = THEIRS.search(rest)
            encounters.append(Encounter(inventory, self._kind(theirs["kind"]) if theirs else None, float(reward)))
        return encounters

    @property
    def plays(self) -> Plays:
        """All meetings in which the partner's play is known."""
        return [(met.played, met.theirs) for met in self.meetings if met.theirs is not None]

    def answer(self, fields: Sequence[str]) -> ReplyFields:
        """A value for every field that is asked for."""
        rule = self._shown_rule or self._best_rule
        players, expected = self._sought
        theirs = rule.follow(self.plays) if expected is None else expected
        reply = max(range(len(self.kinds)), key=lambda own: self._payoff(own, theirs))
        strategy = f"Play what beats this. {rule.text} Gather {self.kinds[reply]}."
        answers: dict[str, Callable[[], Any]] = {
            "plan": self._plan,
            "inventory": self._inventory,
            "hypothesis": lambda: rule.text,
            "strategy": lambda: strategy if self.plays else f"Gather {self.kinds[self._target]}.",
            "players": lambda: players,
            "partner_plays": lambda: self.kinds[theirs],
            "i_play": lambda: self.kinds[reply],
            "reward": self._sign_of_payoff,
            "success": lambda: not self.meetings or self.meetings[-1].reward > 0,
            "lesson": lambda: f"In {len(self.meetings)} meetings it paid to keep to what went well.",
        }
        return {field: answers[field]() for field in fields}

    def _kind(self, name: str) -> int | None:
        return self.kinds.index(name) if name in self.kinds else None

    @property
    def _sought(self) -> tuple[Sequence[str], int | None]:
        """The players expected to play the commonest kind, or all others; the kind, None if none is expected."""
        guesses = GUESS.findall(self.text)
        if not guesses:
            match = OTHERS.search(self.text)
            return (match["names"].split(", ") if match else []), None
        commonest = Counter(kind for _, kind in guesses).most_common(1)[0][0]
        return [name for name, kind in guesses if kind == commonest], self._kind(commonest)

    @property
    def _shown_rule(self) -> PlayRule | None:
        """The rule that is to be followed, if the prompt names one."""
        question = self.text.rpartition("A guess about what")[2] if "A guess about what" in self.text else ""
        question = question or self.text.partition("A strategy for you:")[2]
        return next((rule for rule in all_rules(self.kinds) if rule.text in question), None)

    @property
    def _best_rule(self) -> PlayRule:
        """The rule that predicts most of the meetings, the simplest of equals."""
        plays = self.plays

        def hits(rule: PlayRule) -> int:
            return sum(rule.follow(plays[:n]) == theirs for n, (_, theirs) in enumerate(plays))

        return max(all_rules(self.kinds), key=hits)

    def _payoff(self, own: int, theirs: int) -> float:
        n = len(self.kinds)
        return self.rules.reward(typical_inventory(own, n), typical_inventory(theirs, n))[0]

    def _inventory(self) -> dict[str, int]:
        last = self.meetings[-1]
        return dict(zip(self.kinds, partner_inventory(self.rules, last.own, last.reward).mode, strict=True))

    def _sign_of_payoff(self) -> str:
        """Whether the play that the prompt asks about would have paid in the last meeting."""
        instead = INSTEAD.search(self.text)
        theirs = self.meetings[-1].theirs
        own = self._kind(instead["kind"]) if instead else None
        pays = 0.0 if own is None or theirs is None else self._payoff(own, theirs)
        return "positive" if pays > 0 else "negative" if pays < 0 else "neutral"

    # Subgoals

    def _plan(self) -> Sequence[ReplyFields]:
        """Gather the kind to play until there is enough of it, then look for a player."""
        kind = self._target
        counts = [int(count) for count in self._places("Inventory: ", r"(\d+)")]
        lead = counts[kind] - max(count for k, count in enumerate(counts) if k != kind)
        if lead < ENOUGH:
            name = self.kinds[kind]
            starts = (f"Observable {name} locations: ", f"Remembered {name} locations: ")
            places = {(int(x), int(y)) for start in starts for x, y in self._places(start, PLACE.pattern)}
            position = next(iter(self._places("Player position: ", PLACE.pattern)), ("0", "0"))
            x0, y0 = map(int, position)
            near = sorted(places, key=lambda place: (abs(place[0] - x0) + abs(place[1] - y0), place))
            walks = near[: min(ERRANDS, ENOUGH - lead)]
            return [{"do": "move_to", "x": x, "y": y} for x, y in walks] or [{"do": "patrol"}]
        match = OTHERS.search(self.text)
        view = self.text.partition("Observable other")[2]
        in_view = [name for name in match["names"].split(", ") if f"'{name}-" in view] if match else []
        return [{"do": "fire_at", "player": name} for name in in_view[:1]] or [{"do": "patrol"}]

    @property
    def _target(self) -> int:
        """The kind to play: as told, as planned, as before if that was well paid, or else the next one."""
        aim = AIM.search(self.text)
        plan = self.text.rpartition("Your plan until the next meeting is over:")[2]
        planned = re.search(r"Gather (?P<kind>.+?)\.", plan) if plan != self.text else None
        named = aim or planned
        kind = self._kind(named["kind"]) if named else None
        if kind is not None:
            return kind
        last = self.meetings[-1] if self.meetings else None
        if last is None or last.played is None:
            return 0
        return last.played if last.reward > 0 else (last.played + 1) % len(self.kinds)

    def _places(self, start: str, pattern: str) -> list[Any]:
        """All that matches the pattern in the line that begins so."""
        line = re.search(f"^{re.escape(start)}(?P<rest>.*)$", self.text, re.MULTILINE)
        return re.findall(pattern, line["rest"]) if line else []
