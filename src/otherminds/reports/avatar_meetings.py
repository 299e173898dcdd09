"""What the viewer of matrix worlds tells of meetings: what was thought of the partner before, and how it came out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from otherminds.errors import InputError, faults
from otherminds.files.text import printable
from otherminds.reports.page import number
from otherminds.worlds.in_the_matrix.world import InTheMatrix

LONGEST = 600

T = TypeVar("T")
Whole = Annotated[int, Field(strict=True, ge=0, lt=1_000_000)]
Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]
Holding = tuple[Whole, ...]


class Meeting(BaseModel):
    """A meeting of the first player: with whom, what both held, what it paid, and what had been thought before it."""

    t: Whole
    partner: Whole | None = None
    own: Holding | None = None
    theirs: Holding | None = None
    reward: Number | None = None
    expected: tuple[Annotated[float, Field(strict=True, ge=0, le=1 + 1e-6)], ...] | None = None
    hypotheses: tuple[tuple[str, Number], ...] | None = None

    def misfit(self, world: InTheMatrix, earliest: int, latest: int) -> str:
        """What does not fit an episode, if anything."""
        players, kinds = world.rules.players, world.rules.resources
        if not earliest <= self.t <= latest:
            return f"t: must be from {earliest} to {latest}, as meetings come in order"
        if self.partner is not None and not 0 < self.partner < players:
            return f"partner: must be from 1 to {players - 1}"
        for name in ("own", "theirs", "expected"):
            found = getattr(self, name)
            if found is not None and len(found) != len(kinds):
                return f"{name}: the world has {len(kinds)} kinds of resources"
        return ""

    @property
    def likeliest(self) -> int | None:
        """The kind that was expected; None if none was above all others."""
        return _greatest([round(p, 3) for p in self.expected or ()])

    @property
    def right(self) -> bool | None:
        """Whether the partner played what was expected; None if nothing was, or it held as much of several kinds."""
        played = _greatest(self.theirs or ())
        return None if self.likeliest is None or played is None else self.likeliest == played

    def who(self, world: InTheMatrix) -> str:
        """The partner, the only one that there is if it is not told."""
        known = 1 if world.rules.players == 2 else self.partner
        return "somebody" if known is None else printable(world.agents[known])

    def outcome(self, world: InTheMatrix) -> str:
        """The meeting in one sentence."""
        sides = ((printable(world.agents[0]), self.own), (self.who(world), self.theirs))
        held = [f"{name} held {_counts(world, holding)}" for name, holding in sides if holding]
        paid = [] if self.reward is None else [f"paid {'+' * (self.reward > 0)}{number(self.reward, 1)}"]
        return (
            f"Step {self.t}: {', '.join([*held, *paid]) or f'a meeting with {self.who(world)}'}{self._verdict(world)}."
        )

    def _verdict(self, world: InTheMatrix) -> str:
        if not self.expected:
            return ""
        if self.likeliest is None:
            return "; nothing in particular was expected"
        kind, chance = printable(world.rules.resources[self.likeliest]), self.expected[self.likeliest]
        verdict = {True: ": right", False: ": wrong", None: ""}[self.right]
        return f"; expected {kind} ({100 * chance:.0f}\N{NO-BREAK SPACE}%){verdict}"

    def summary(self, world: InTheMatrix, words: dict[str, int]) -> dict[str, Any]:
        """All that the script needs to know; long texts are called by their numbers."""
        texts = ((text if len(text) <= LONGEST else text[: LONGEST - 1] + "…", v) for text, v in self.hypotheses or ())
        return {
            "t": self.t,
            "who": self.who(world),
            "held": [[words.setdefault(printable(text), len(words)), round(value, 3)] for text, value in texts],
            "expected": [round(p, 3) for p in self.expected or ()],
            "reward": self.reward or 0,
            "right": self.right,
            "outcome": self.outcome(world),
        }


def _greatest(numbers: Sequence[float]) -> int | None:
    """Where the greatest number is, if there is only one."""
    return numbers.index(max(numbers)) if numbers and numbers.count(max(numbers)) == 1 else None


def _counts(world: InTheMatrix, holding: Holding) -> str:
    return " ".join(f"{printable(kind)} {n}" for kind, n in zip(world.rules.resources, holding, strict=True))


MEETING = TypeAdapter(Meeting)


def meetings(world: InTheMatrix, thoughts: Sequence[Mapping[str, Any]], steps: int) -> list[Meeting]:
    """The meetings of an episode. Raises InputError for the first one that does not fit."""
    found: list[Meeting] = []
    for n, row in enumerate(thoughts, 1):
        met = read(MEETING, row, f"meeting {n}")
        if misfit := met.misfit(world, found[-1].t if found else 0, steps):
            raise InputError(f"meeting {n}: {misfit}")
        found.append(met)
    return found


def scale(found: Sequence[Meeting]) -> tuple[float, float]:
    """From where to where bars of values reach: from zero up, or as far down as up if anything is below zero."""
    values = [value for met in found for _, value in met.hypotheses or ()]
    most = max([1.0, *map(abs, values)])
    return (-most if any(value < 0 for value in values) else 0.0), most


def read(form: TypeAdapter[T], raw: object, where: str, names: Sequence[str] = ()) -> T:
    """Something of this form; `names` are what its places are called. Raises InputError if it is not."""
    try:
        return form.validate_python(raw)
    except ValidationError as error:
        first = faults(error)[0]
        place = list(first["loc"])
        if place and isinstance(place[0], int) and place[0] < len(names):
            place[0] = names[place[0]]
        raise InputError(": ".join(filter(None, (where, ".".join(map(str, place)), first["msg"])))) from None
