"""Offers: choices among divisions of money between oneself and another."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Division:
    """A choice of a person in one role of a sequential game of offers, as `ultimatum:responder`, with named options.

    What the options pay in a trial is an array of shape (|A|, R, 3): for each option and each of R ways in which the
    other may respond, its probability, and the money of the person and of the other.
    """

    name: str
    options: tuple[str, ...]

    @property
    def actions(self) -> tuple[tuple[str, ...]]:
        """The names of what can be chosen."""
        return (self.options,)

    @property
    def shape(self) -> tuple[int]:
        """The number of options."""
        return (len(self.options),)
