"""What docs/systems/stories.md says of stories that careful readers read, and of models that choose an option alone."""

from __future__ import annotations

import pytest

from benchmarks.evidence.blind_stories import TYPED, careful_reader, chosen_by, judged, written
from otherminds.language.scripted import Scripted


@pytest.mark.slow
def test_with_a_careful_reader_nearly_all_are_answered_and_rightly() -> None:
    items = [item for item in written() if item.get("replies")]
    verdicts = list(judged(items, lambda item: careful_reader(item["story"], item["replies"])))
    answered = [verdict for verdict in verdicts if verdict.ours is not None]
    assert (len(verdicts), len(answered)) == (157, 153)
    assert all(verdict.right for verdict in answered)


def test_a_model_chooses_by_the_mean_over_all_orders_of_the_options() -> None:
    """One that likes "A" likes all options equally; what it likes besides decides."""
    item = {"story": "Ann is in.", "question": "Who is in?", "options": ["Bob", "Ann", "Cleo"], "answers": ["ann."]}

    def weigh(prompt: str, letter: str) -> float:
        return -5.0 * (letter != " A") - 1.0 * (f"{letter.strip()}. Ann" not in prompt)

    p, right = chosen_by(Scripted("likes A, and Ann", lambda _: "", weigh), item)
    assert right
    assert 1 / 3 < p < 1 / 2


@pytest.mark.slow
def test_typed_stories_are_answered_if_they_are_in_the_controlled_form_and_never_wrongly() -> None:
    verdicts = list(judged(written(TYPED)))
    answered = [verdict for verdict in verdicts if verdict.ours is not None]
    assert all(verdict.right and verdict.item["kind"] == "controlled" for verdict in answered)
    assert (len(verdicts), len(answered)) == (200, 89)
