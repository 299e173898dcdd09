"""What docs/results/mumatom.md says of the benchmark's episodes as retold by people who did not know the reader."""

from __future__ import annotations

import pytest

from benchmarks.evidence.retold_episodes import ANEW, counts, retold
from otherminds.papers.mumatom.experiment import TRACKS
from paths import SHARED

DATA = SHARED / "mumatom-dev"


@pytest.mark.slow
@pytest.mark.skipif(not DATA.is_dir(), reason="the benchmark's files are not here")
def test_how_many_are_answered_rightly() -> None:
    """Right, wrong, open, and right if what is open is guessed."""
    told = [(track, list(retold(DATA)), track) for track in TRACKS]
    told.append(("anew", list(retold(DATA, ANEW)), "full_text"))
    found = dict[str, tuple[int, int, int, int]]()
    for name, episodes, track in told:
        kinds, guessing = counts(episodes, track)
        found[name] = kinds["right"], kinds["wrong"], kinds["open"], round(guessing)
    assert found == {
        "full_text": (223, 5, 12, 229),
        "text_video": (200, 27, 13, 205),
        "text_scene": (209, 15, 16, 216),
        "text_video_scene": (213, 14, 13, 218),
        "anew": (289, 8, 39, 311),
    }
