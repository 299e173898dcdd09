"""What docs/stories.md says of stories by people who did not know the reader, and by which nothing was chosen."""

from __future__ import annotations

from blind_stories import HOME, PLAIN, careful_reader, judged, written


def test_few_are_answered_and_one_in_ten_of_these_wrongly() -> None:
    found = list(judged(written()))
    answered = [one for one in found if one.ours is not None]
    wrong = [one for one in answered if not one.right]
    assert (len(found), len(answered), len(wrong)) == (400, 61, 4)
    assert all(one.p < 0.95 for one in wrong)


def test_half_of_plain_stories_are_answered_and_few_wrongly() -> None:
    found = list(judged(written(HOME)))
    answered = [one for one in found if one.ours is not None]
    wrong = [one for one in answered if not one.right]
    assert (len(found), len(answered), len(wrong)) == (240, 121, 4)
    assert all(one.p < 0.95 for one in wrong)


def test_three_in_ten_of_those_told_plainly_are_answered_and_few_wrongly() -> None:
    found = list(judged(written(PLAIN)))
    answered = [one for one in found if one.ours is not None]
    wrong = [one for one in answered if not one.right]
    assert (len(found), len(answered), len(wrong)) == (240, 74, 4)
    assert all(one.p < 0.95 for one in wrong)


def test_with_a_careful_reader_nearly_all_are_answered_and_rightly() -> None:
    items = [item for item in written() if "replies" in item]
    found = list(judged(items, lambda item: careful_reader(item["replies"])))
    answered = [one for one in found if one.ours is not None]
    wrong = [one for one in answered if not one.right]
    assert (len(found), len(answered), len(wrong)) == (160, 156, 1)
    assert all(one.p < 0.95 for one in wrong)
