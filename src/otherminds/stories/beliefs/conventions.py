"""What a story leaves unsaid about who sees what: the conventions that its readers are expected to share.

Common to all: who is in a room sees what is done there, and knows that the others there see it too; who is elsewhere
sees nothing of it, and nobody's idea of him changes; who is not said to come from elsewhere was there from the start.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Conventions:
    """The switches.

    `entering`, what coming into a room shows: `everything` in it, containers being open, so that all who are there see
    it together; all of it, but only the `first_time`: who comes back believes what he did until he looks; only what is
    on `surfaces`, in hands or lying about; or `nothing`.
    `telling`: hearers believe what they are `told`; or only speakers who left the room of the thing after them, all
    knowing who left when (`later_exit`); or nobody (`ignored`).
    `public`, who hears what is said to nobody in particular: those in the speaker's `room`, or `everybody`.
    `telling_reaches`: how many minds deep what is said changes what is believed of beliefs; None: without end.
    """

    name: str
    entering: Literal["everything", "first_time", "surfaces", "nothing"] = "everything"
    telling: Literal["told", "later_exit", "ignored"] = "told"
    public: Literal["room", "everybody"] = "room"
    telling_reaches: int | None = None


EVERYDAY = Conventions("everyday")
TOMI = Conventions("ToMi")
HI_TOM = Conventions("Hi-ToM", telling="later_exit", public="everybody", telling_reaches=2)
SALLY_ANNE = Conventions("Sally-Anne", entering="first_time")
PRESETS = (EVERYDAY, TOMI, HI_TOM, SALLY_ANNE)
