"""What docs/stories.md says of stories by people who did not know the reader, and by which nothing was chosen."""

from __future__ import annotations

from collections.abc import Iterable

from blind_stories import HOME, PLAIN, Judged, careful_reader, chosen_by, judged, written
from otherminds.language.scripted import Scripted


def counts(found: Iterable[Judged]) -> tuple[int, int, int]:
    """The number of stories, of those answered, and of those answered wrongly, none of which with P >= .95."""
    told = list(found)
    answered = [one for one in told if one.ours is not None]
    wrong = [one for one in answered if not one.right]
    assert all(one.p < 0.95 for one in wrong)
    return len(told), len(answered), len(wrong)


def test_few_are_answered_and_one_in_ten_of_these_wrongly() -> None:
    assert counts(judged(written())) == (400, 68, 5)


def test_half_of_stories_at_home_are_answered_and_few_wrongly() -> None:
    assert counts(judged(written(HOME))) == (240, 122, 5)


def test_three_in_ten_of_those_told_plainly_are_answered_and_few_wrongly() -> None:
    assert counts(judged(written(PLAIN))) == (360, 111, 4)


def test_with_a_careful_reader_nearly_all_are_answered_and_rightly() -> None:
    items = [item for item in written() if "replies" in item]
    assert counts(judged(items, lambda item: careful_reader(item["replies"]))) == (160, 156, 1)


def test_a_model_chooses_by_the_mean_over_all_orders_of_the_options() -> None:
    """One that likes "A" likes all options equally; what it likes besides decides."""
    item = {"story": "Ann is in.", "question": "Who is in?", "options": ["Bob", "Ann", "Cleo"], "answers": ["ann."]}

    def weigh(prompt: str, letter: str) -> float:
        return -5.0 * (letter != " A") - 1.0 * (f"{letter.strip()}. Ann" not in prompt)

    p, right = chosen_by(Scripted("likes A, and Ann", lambda _: "", weigh), item)
    assert right
    assert 1 / 3 < p < 1 / 2
