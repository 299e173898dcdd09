"""What an avatar learns of its own meetings by its windows alone: what it held, with whom, and what that paid."""

from __future__ import annotations

from typing import NamedTuple

from otherminds.worlds.in_the_matrix.hypotheses import partner_inventory, partner_play
from otherminds.worlds.in_the_matrix.strategies import Inventory, play_of
from otherminds.worlds.in_the_matrix.world import InTheMatrix, MatrixView

SURE = 0.6
"""How probable what a partner played has to be to be taken for granted."""


class Encounter(NamedTuple):
    """A meeting that is over: what one held, the kind that the partner seems to have played, and the reward.

    `theirs` is None if that cannot be told, or if the partner had most of several kinds.
    """

    own: Inventory
    theirs: int | None
    reward: float

    @property
    def played(self) -> int | None:
        """The kind one played oneself, None for a tie."""
        return play_of(self.own)


class Watch(NamedTuple):
    """The last view, and what one holds in the meeting that is going on, if there is one."""

    last: MatrixView | None = None
    held: Inventory | None = None

    def after(self, world: InTheMatrix, view: MatrixView) -> tuple[Watch, Encounter | None]:
        """After one more view; with the meeting that has paid just now, if one has."""
        if self.held is None:
            return Watch(view, self._holding(world, view) if view.frozen and view.window else None), None
        if view.window:
            return Watch(view, self.held), None
        played = partner_play(partner_inventory(world.rules, self.held, view.reward))
        theirs = played.mode if played.prob(played.mode) >= SURE else None
        return Watch(view), Encounter(self.held, theirs, view.reward)

    def _holding(self, world: InTheMatrix, view: MatrixView) -> Inventory:
        """Who has won holds nothing any more as soon as they are frozen."""
        empty = view.inventory == world.rules.empty
        return self.last.inventory if empty and self.last is not None else view.inventory


BEGINNING = Watch()
