"""What docs/results/mumatom.md says of the benchmark's episodes as retold by people who did not know the reader."""

from __future__ import annotations

import pytest

from paths import SHARED
from retold_episodes import counts, retold

DATA = SHARED / "mumatom-dev"


@pytest.mark.slow
@pytest.mark.skipif(not DATA.is_dir(), reason="the benchmark's files are not here")
def test_nine_in_ten_are_answered_rightly() -> None:
    episodes = list(retold(DATA))
    found = {track: counts(episodes, track) for track in ("full_text", "text_video", "text_scene", "text_video_scene")}
    assert {track: (one["right"], one["wrong"], one["open"]) for track, one in found.items()} == {
        "full_text": (217, 4, 19),
        "text_video": (186, 29, 25),
        "text_scene": (204, 15, 21),
        "text_video_scene": (202, 13, 25),
    }
