"""How many states a planner has expanded, and the refusal to go on for ever."""

from __future__ import annotations

from typing import ClassVar

from otherminds.errors import InputError


class Expansion:
    """Counts the states that a planner expands. `latest` is the last one begun: what progress shows.

    `possible` bounds the states of the whole world if that is known; most are never expanded, so it is only told.
    """

    latest: ClassVar[Expansion | None] = None

    def __init__(
        self, most: int, possible: int | None = None, *, hint: str = "use a smaller map, or fewer things on it"
    ) -> None:
        """Nothing is counted yet; `most` states may be. The hint says what to do if that is not enough."""
        self.states, self.most, self.possible, self.hint = 0, most, possible, hint
        Expansion.latest = self

    def count(self, states: int = 1) -> None:
        """Count states. Raises InputError beyond the limit."""
        self.states += states
        if self.states > self.most:
            out_of = f", of {self.possible:,} that there may be" if (self.possible or 0) > self.most else ""
            raise InputError(f"planning here needs more than {self.most:,} states{out_of}", hint=self.hint)
