"""Nested beliefs: which events change a belief, which change models of others, and which change nothing."""

from __future__ import annotations

import pytest

from otherminds.worlds.household.nested_belief import (
    MoveEvent,
    NestedBelief,
    SightEvent,
    StatementEvent,
    WitnessedEvent,
)

A, B, C = "Anna", "Ben", "Clara"
ALL = frozenset({A, B, C})
IN_BOX = MoveEvent("ball", "box", ALL)


def mind(agent: str = A, order: int = 4) -> NestedBelief:
    return NestedBelief.among(agent, (A, B, C), order)


def thinks(one: NestedBelief, *chain: str) -> str | None:
    return one.model_of(*chain).place_of("ball")


def test_a_mind_has_models_of_models_down_to_its_order() -> None:
    four = mind()
    assert four.model_of(B, A, C).models == ()
    assert {other.agent for other in four.model_of(B).models} == {A, C}
    with pytest.raises(KeyError, match="Anna has no model of David"):
        four.model_of("David")
    with pytest.raises(ValueError, match="at least 1"):
        mind(order=0)
    with pytest.raises(ValueError, match="needs an agent"):
        NestedBelief.along(())


def test_what_all_see_all_know_that_all_see_to_any_depth() -> None:
    after = mind().observe(IN_BOX)
    assert {thinks(after), thinks(after, B), thinks(after, B, C), thinks(after, B, A, C)} == {"box"}


def test_who_is_away_neither_sees_nor_is_taken_to_see() -> None:
    moved = MoveEvent("ball", "drawer", frozenset({A, C}))
    anna, ben = (mind(who).observe(IN_BOX).observe(moved) for who in (A, B))
    assert thinks(ben) == "box"
    assert thinks(ben, A) == "box"
    assert (thinks(anna), thinks(anna, B), thinks(anna, C), thinks(anna, C, B)) == ("drawer", "box", "drawer", "box")


def test_who_watches_unnoticed_knows_and_nobody_knows_that() -> None:
    spied = MoveEvent("ball", "drawer", frozenset({A}), unseen=frozenset({B}))
    anna, ben = (mind(who).observe(IN_BOX).observe(spied) for who in (A, B))
    assert (thinks(ben), thinks(ben, A), thinks(ben, A, B)) == ("drawer", "drawer", "box")
    assert (thinks(anna), thinks(anna, B)) == ("drawer", "box")


def test_a_look_shows_what_is_there_and_what_is_not() -> None:
    look = SightEvent(frozenset({"box", "drawer"}), (("ball", "drawer"),), frozenset({A, B}), frozenset({A}))
    before = mind().observe(IN_BOX).observe(MoveEvent("hat", "box", ALL))
    after = before.observe(look)
    assert thinks(after) == "drawer"
    assert after.place_of("hat") is None
    assert after.model_of(B).place_of("hat") == "box"
    assert after.model_of(C).place_of("hat") == "box"


def test_others_are_taken_to_see_what_one_believes_to_be_there() -> None:
    look = SightEvent(frozenset({"box", "drawer"}), (("ball", "drawer"),), frozenset({A, B}), frozenset({B}))
    after = NestedBelief.among(A, (A, B, C), 3).observe(MoveEvent("ball", "box", frozenset({A}))).observe(look)
    assert (thinks(after), thinks(after, B)) == ("box", "box")


def test_who_is_told_believes_it_and_takes_the_speaker_to() -> None:
    told = StatementEvent(A, "ball", "shelf", frozenset({B}), frozenset({B}))
    anna, ben, clara = (mind(who).observe(IN_BOX).observe(told) for who in (A, B, C))
    assert (thinks(anna), thinks(anna, B), thinks(anna, B, A)) == ("box", "shelf", "shelf")
    assert (thinks(ben), thinks(ben, A), thinks(ben, A, B), thinks(ben, C)) == ("shelf", "shelf", "shelf", "box")
    assert clara == mind(C).observe(IN_BOX)


def test_who_does_not_trust_takes_the_speaker_to_think_he_is_believed() -> None:
    told = StatementEvent(A, "ball", "shelf", frozenset({B, C}), frozenset({C}))
    ben = mind(B).observe(IN_BOX).observe(told)
    assert (thinks(ben), thinks(ben, A), thinks(ben, A, B), thinks(ben, C)) == ("box", "box", "shelf", "shelf")


def test_a_denial_takes_a_belief_away() -> None:
    denied = StatementEvent(A, "ball", "box", frozenset({B}), frozenset({B}), so=False)
    assert thinks(mind(B).observe(IN_BOX).observe(denied)) is None
    elsewhere = StatementEvent(A, "ball", "shelf", frozenset({B}), frozenset({B}), so=False)
    assert thinks(mind(B).observe(IN_BOX).observe(elsewhere)) == "box"


def test_telling_may_reach_only_so_many_minds_deep() -> None:
    told = StatementEvent(A, "ball", "shelf", frozenset({B}), frozenset({B}), depth=2)
    ben = mind(B).observe(IN_BOX).observe(told)
    assert (thinks(ben), thinks(ben, A), thinks(ben, A, B)) == ("shelf", "shelf", "box")


def test_the_mind_along_a_chain_is_the_same_as_in_the_whole_tree() -> None:
    events: list[WitnessedEvent] = [
        IN_BOX,
        MoveEvent("ball", "drawer", frozenset({A, B})),
        StatementEvent(B, "ball", "hat", frozenset({C}), frozenset({C})),
    ]
    for chain in [(A, B), (C, B, A), (B, C, B), (B, A, C, B)]:
        whole, thin = mind(chain[0]), NestedBelief.along(chain)
        for event in events:
            whole, thin = whole.observe(event), thin.observe(event)
            assert thinks(whole, *chain[1:]) == thinks(thin, *chain[1:])


def test_minds_that_believe_the_same_are_equal_however_they_came_to() -> None:
    hat, ball = MoveEvent("hat", "box", ALL), MoveEvent("ball", "box", ALL)
    assert mind().observe(hat).observe(ball) == mind().observe(ball).observe(hat)
    assert hash(mind().observe(hat).observe(ball)) == hash(mind().observe(ball).observe(hat))
