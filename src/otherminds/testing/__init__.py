"""Conformance checks: do your world, minds, messages or player meet the requirements that the library builds on?

    def test_my_world() -> None:
        check_world(MyWorld())

A check is silent if all requirements are met. Otherwise it raises ConformanceError with one line: which requirement is
violated, by what, and how to fix it. Exceptions of the checked code pass through unchanged.
"""

from otherminds.testing.messages import check_messages
from otherminds.testing.minds import check_goal_directed, check_mind, check_mindreader
from otherminds.testing.worlds import ConformanceError, check_world

__all__ = [
    "ConformanceError",
    "check_goal_directed",
    "check_messages",
    "check_mind",
    "check_mindreader",
    "check_world",
]
