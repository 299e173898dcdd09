"""Conformance checks: does a world, a mind or a player of one's own keep the promises that everything else builds on?

    def test_my_world() -> None:
        check_world(MyWorld())

A check says nothing if all is well. Otherwise it raises ConformanceError with one line: whose promise is broken, which,
and how to mend it. What the checked code raises by itself comes through as it is.
"""

from otherminds.testing.minds import check_mind, check_mindreader
from otherminds.testing.promises import ConformanceError
from otherminds.testing.worlds import check_world

__all__ = ["ConformanceError", "check_mind", "check_mindreader", "check_world"]
