"""Sets of invented stories: with and without the episodes as a video model would report them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from otherminds.evaluation.story_sets import Row, make, write
from otherminds.stories.files import episode_of


@pytest.mark.slow
def test_seen_episodes_are_added_and_change_nothing_else() -> None:
    plain = list(make(6, 3, quiet=True))
    seen = list(make(6, 3, quiet=True, video_report=True))
    assert [{key: row[key] for key in row if key != "seen"} for row in seen] == plain
    reported = [episode_of(row["seen"]) for row in seen]
    assert all(event.source == "video" for one in reported for event in one.timeline if event.type == "event")
    assert any(row["seen"]["timeline"] != row["episode"]["timeline"] for row in seen)


def test_interrupted_it_writes_what_it_has(tmp_path: Path) -> None:
    def rows() -> Iterator[Row]:
        yield from ({"id": "1"}, {"id": "2"})
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as caught:
        write(tmp_path, rows())
    assert caught.value.__notes__ == [f"2 stories are in {tmp_path / 'stories.jsonl'}"]
    assert [file.read_text() for file in tmp_path.iterdir()] == ['{"id": "1"}\n{"id": "2"}\n']
