"""What docs/stories.md says of stories by people who did not know the reader, and by which nothing was chosen."""

from __future__ import annotations

from blind_stories import judged


def test_a_quarter_is_answered_and_one_in_twelve_wrongly() -> None:
    found = list(judged())
    answered = [one for one in found if one.ours is not None]
    wrong = [one for one in answered if not one.right]
    assert (len(found), len(answered), len(wrong)) == (240, 59, 5)
    assert all(one.p < 0.95 for one in wrong)
