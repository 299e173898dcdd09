"""Sets of invented stories: with and without the episodes as a video model would report them."""

from __future__ import annotations

import pytest

from otherminds.evaluation.story_sets import make
from otherminds.stories.files import episode_of


@pytest.mark.slow
def test_seen_episodes_are_added_and_change_nothing_else() -> None:
    plain = list(make(6, 3, quiet=True))
    seen = list(make(6, 3, quiet=True, seen=True))
    assert [{key: row[key] for key in row if key != "seen"} for row in seen] == plain
    reported = [episode_of(row["seen"]) for row in seen]
    assert all(event.source == "video" for one in reported for event in one.timeline if event.type == "event")
    assert any(row["seen"]["timeline"] != row["episode"]["timeline"] for row in seen)
