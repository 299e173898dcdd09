"""What the options of each role pay, worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

from otherminds.worlds.offers.rules import (
    ULTIMATUM_RESPONDER,
    Division,
    Floats,
    dictator_gifts,
    in_amounts,
    trust_investments,
    trust_returns,
    ultimatum_offers,
    ultimatum_responses,
)


def test_a_rejected_offer_leaves_nothing() -> None:
    assert ULTIMATUM_RESPONDER.options == ("reject", "accept")
    assert ultimatum_responses(2, 10).tolist() == [[[1, 0, 0]], [[1, 2, 8]]]


def test_a_proposer_keeps_the_rest_if_the_offer_is_accepted() -> None:
    assert in_amounts("ultimatum:proposer", range(0, 5, 2)).options == ("0", "2", "4")
    divisions = ultimatum_offers(2, np.array([0.25, 0.75, 1.0]), 2, largest=4)
    assert divisions.tolist() == [
        [[0.25, 2, 0], [0.75, 0, 0]],
        [[0.75, 0, 2], [0.25, 0, 0]],
        [[0, 0, 0], [0, 0, 0]],  # more than the pie
    ]


def test_a_dictator_gives() -> None:
    assert in_amounts("dictator:dictator", range(4)).options == ("0", "1", "2", "3")
    assert dictator_gifts(2, largest=3).tolist() == [[[1, 2, 0]], [[1, 1, 1]], [[1, 0, 2]], [[0, 0, 0]]]


def test_an_investment_is_tripled_and_a_share_of_it_returned() -> None:
    assert in_amounts("trust:investor", range(0, 11, 5)).options == ("0", "5", "10")
    divisions = trust_investments(10, [0.0, 0.5], [1, 3], step=5, trustee_has=10)
    assert divisions.tolist() == [
        [[0.25, 10, 10], [0.75, 10, 10]],
        [[0.25, 5, 25], [0.75, 12.5, 17.5]],
        [[0.25, 0, 40], [0.75, 15, 25]],
    ]
    assert trust_investments(10, [0.0, 0.2, 0.4])[..., 0] == pytest.approx(1 / 3)


def test_no_more_is_returned_than_was_received() -> None:
    assert in_amounts("trust:trustee", range(5)).options == ("0", "1", "2", "3", "4")
    divisions = trust_returns(1, 2, multiplier=2, trustee_has=5)
    assert divisions.tolist() == [[[1, 7, 1]], [[1, 6, 2]], [[1, 5, 3]], [[0, 0, 0]], [[0, 0, 0]]]


@pytest.mark.parametrize(
    ("task", "divisions"),
    [
        (ULTIMATUM_RESPONDER, ultimatum_responses(3, 10)),
        (in_amounts("ultimatum:proposer", range(11)), ultimatum_offers(6, np.linspace(0, 1, 11), largest=10)),
        (in_amounts("dictator:dictator", range(0, 21, 5)), dictator_gifts(20, 5)),
        (in_amounts("trust:investor", range(11)), trust_investments(10, np.linspace(0, 1, 5))),
        (in_amounts("trust:trustee", range(31)), trust_returns(0, 10)),
    ],
)
def test_every_option_has_its_divisions(task: Division, divisions: Floats) -> None:
    assert divisions.shape[0] == len(task.options)
    assert set(divisions[..., 0].sum(axis=1).round(12).tolist()) <= {0.0, 1.0}
    assert divisions[0, :, 0].sum() == pytest.approx(1.0)
