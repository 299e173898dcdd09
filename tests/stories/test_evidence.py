"""What a story tells about one matter: the beliefs that follow, corrections told later, and sentences nobody read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations, pairwise, product

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from otherminds.errors import InputError
from otherminds.stories.evidence import (
    GATE_SIZE,
    HINT,
    SAID,
    TRUTH,
    UNFORESEEN,
    Does,
    Minds,
    SentenceEvidence,
    StateClaim,
    Variable,
    answer_from,
    deciding,
    undecided_by,
)

ANA, BEN, KIM = "Ana", "Ben", "Kim"
HOOK, DRAWER = "hook", "drawer"
BOTH = (ANA, BEN)


def about(*minds: str, values: Sequence[str] = (HOOK, DRAWER), after: int = 9) -> Variable:
    """Where the last of the minds takes the keys to be."""
    claims = tuple((StateClaim(minds, value),) for value in values)
    return Variable("where the keys are", tuple(values), (ANA, BEN, KIM), tuple(values), claims, after)


def whether(*minds: str, value: str = TRUTH) -> Variable:
    """Whether the last of the minds believes in the value: yes or no."""
    claims = tuple((StateClaim(minds, value, so),) for so in (True, False))
    return Variable("where the keys are", (HOOK, DRAWER), (ANA, BEN, KIM), ("yes", "no"), claims, 9)


def item(
    does: Does, value: str | None = None, who: Minds = (), to: Minds = (), unnoticed: Minds = (), sentence: int = 1
) -> SentenceEvidence:
    return SentenceEvidence(sentence, does, value, who, to, unnoticed)


def label(variable: Variable, *evidence: SentenceEvidence) -> str | None:
    option = answer_from(variable, evidence).option
    return None if option is None else variable.labels[option]


HUNG = item("is", HOOK, BOTH)
HIDDEN = item("is", DRAWER, (BEN,), sentence=2)
WATCHED = replace(HIDDEN, unnoticed=(ANA,))


def test_beliefs_follow_from_who_perceives_what() -> None:
    assert label(about(), HUNG, WATCHED) == DRAWER
    assert label(about(ANA), HUNG, WATCHED) == DRAWER
    assert label(about(BEN, ANA), HUNG, WATCHED) == HOOK
    assert label(about(ANA), HUNG, HIDDEN) == HOOK
    assert label(about(after=1), HUNG, HIDDEN) == HOOK
    assert label(about(ANA, ANA), HUNG, HIDDEN) == HOOK


def test_to_know_is_to_believe_what_is_so() -> None:
    assert label(whether(ANA), HUNG, WATCHED) == "yes"
    assert label(whether(ANA), HUNG, HIDDEN) == "no"
    assert label(whether(BEN, ANA), HUNG, WATCHED) == "no"


def test_a_statement_is_believed_by_those_who_hear_it() -> None:
    lie = item("says", HOOK, (BEN,), to=(ANA,), sentence=3)
    assert label(about(ANA), HUNG, WATCHED, lie) == HOOK
    assert label(about(BEN), HUNG, WATCHED, lie) == DRAWER
    assert label(about(ANA, BEN), HUNG, WATCHED, lie) == HOOK
    overheard = item("says", DRAWER, (BEN,), unnoticed=(ANA,), sentence=3)
    assert label(about(ANA), HIDDEN, overheard) == DRAWER
    assert label(about(BEN, ANA), HIDDEN, overheard) is None  # he knows nothing of her


def test_to_lie_is_to_say_what_one_does_not_believe_at_that_moment() -> None:
    sincere = whether(BEN, value=SAID)
    says = item("says", HOOK, (BEN,), to=(ANA,))
    assert label(sincere, HUNG, says, HIDDEN) == "yes"
    assert label(sincere, HUNG, HIDDEN, replace(says, sentence=3)) == "no"
    assert label(sincere, HUNG, HIDDEN) is None
    polite = [says, item("thinks", DRAWER, (BEN,), sentence=2), item("says", DRAWER, (BEN,), sentence=3)]
    assert label(sincere, *polite) == "no"


def test_all_claims_of_an_answer_must_hold() -> None:
    claims = tuple(tuple(StateClaim((name,), TRUTH, so) for name in BOTH) for so in (True, False))
    variable = replace(about(), labels=("both", "neither"), claims=claims)
    assert label(variable, HUNG, WATCHED) == "both"
    assert label(variable, item("is", HOOK)) == "neither"
    assert label(variable, item("is", HOOK, (ANA,))) is None


def test_a_place_found_empty_is_no_longer_believed_in() -> None:
    evidence = item("was", HOOK, BOTH), item("is not", HOOK, (ANA,), sentence=2)
    assert label(about(ANA), *evidence) is None
    assert label(about(BEN), *evidence) == HOOK
    assert label(about(), *evidence) == DRAWER  # of two states, the other


def test_what_somebody_is_said_to_think_they_think() -> None:
    evidence = item("is", DRAWER, BOTH), item("thinks", HOOK, (BEN, ANA), sentence=2)
    assert label(about(BEN, ANA), *evidence) == HOOK
    assert label(about(ANA), *evidence) == DRAWER
    assert label(about(ANA), *evidence, item("thinks", None, (ANA,), sentence=3)) is None


def test_what_was_so_before_comes_first_wherever_it_is_told() -> None:
    evidence = replace(HIDDEN, sentence=1), item("was", HOOK, BOTH, sentence=2)
    assert label(about(ANA), *evidence) == HOOK
    assert label(about(), *evidence) == DRAWER
    assert label(about(ANA, after=1), *evidence) == HOOK


def test_without_a_word_on_it_nothing_is_answered() -> None:
    assert answer_from(about(ANA), []).abstained == "the story does not tell where the keys are"


def test_hints_are_weighed() -> None:
    variable = about()
    once = answer_from(variable, [item("hints", HOOK)])
    assert once.option is None
    assert once.posterior[0] == pytest.approx((1 - UNFORESEEN) * HINT / (HINT + 1) + UNFORESEEN / 2)
    twice = item("hints", HOOK), item("hints against", DRAWER, sentence=2)
    assert label(variable, *twice) == HOOK
    assert label(variable, *twice, item("is", DRAWER, sentence=3)) == DRAWER
    assert label(replace(variable, after=1), *twice) is None


@pytest.mark.parametrize(
    ("does", "value", "who"),
    [
        ("is", None, (ANA,)),
        ("says", HOOK, ()),
        ("thinks", HOOK, ()),
        ("misses", None, ()),
        ("unaware of", None, (ANA,)),
    ],
)
def test_evidence_says_what_it_needs(does: Does, value: str | None, who: Minds) -> None:
    with pytest.raises(InputError, match=f"'{does}'"):
        item(does, value, who)


@pytest.mark.parametrize(
    ("evidence", "words"),
    [
        (WATCHED, "drawer, known to Ben and, unnoticed, to Ana"),
        (item("is not", HOOK), "not hook, known to nobody"),
        (item("finds out", None, (KIM,)), "found out by Kim"),
        (item("misses", None, BOTH), "missed by Ana and Ben"),
        (item("unaware of", None, (BEN,), (ANA,)), "perceived by Ana, unnoticed by Ben"),
        (item("says", HOOK, (BEN,), (ANA,), (KIM,)), "Ben says: hook to Ana, overheard by Kim"),
        (item("thinks", None, (BEN, ANA)), "Ben thinks that Ana has no idea"),
        (item("hints against", HOOK), "hints against hook"),
    ],
)
def test_evidence_in_words(evidence: SentenceEvidence, words: str) -> None:
    assert str(evidence) == words


# Corrections


def test_who_missed_a_change_believes_what_they_believed_before() -> None:
    seen_by_both = replace(HIDDEN, agents=BOTH)
    missed = item("misses", None, (ANA,), sentence=3)
    assert label(about(ANA), HUNG, seen_by_both, missed) == HOOK
    assert label(about(BEN, ANA), HUNG, seen_by_both, missed) == HOOK
    assert label(about(BEN), HUNG, seen_by_both, missed) == DRAWER
    later = item("finds out", None, (ANA,), sentence=3)
    assert label(about(ANA), HUNG, seen_by_both, later, replace(missed, sentence=4)) == DRAWER  # that stays with her
    assert label(about(ANA, after=2), HUNG, seen_by_both, missed) == HOOK  # it was so from the beginning


def test_who_is_unaware_of_a_witness_takes_them_to_believe_what_they_believed_before() -> None:
    unaware = item("unaware of", None, (BEN,), (ANA,), sentence=3)
    for event in (HIDDEN, replace(HIDDEN, agents=BOTH)):
        assert label(about(BEN, ANA), HUNG, event, unaware) == HOOK
        assert label(about(ANA), HUNG, event, unaware) == DRAWER


def test_a_correction_without_a_change_says_nothing() -> None:
    assert label(about(ANA), item("was", HOOK, BOTH), item("misses", None, (ANA,))) == HOOK


def test_corrections_are_among_what_decides() -> None:
    missed = item("misses", None, (ANA,), sentence=3)
    evidence = [HUNG, replace(HIDDEN, agents=BOTH), missed, item("hints", HOOK, sentence=4)]
    assert deciding(about(ANA), evidence) == [HUNG, HIDDEN, missed]
    assert deciding(about(BEN), evidence) == [HUNG, HIDDEN]


# An oracle: what the last of a chain believes, by recursion over what reaches each mind.

WHO = ("A", "B", "C")
VALUES = ("x", "y", "z")


def people(most: int, least: int = 0) -> st.SearchStrategy[Minds]:
    return st.lists(st.sampled_from(WHO), unique=True, min_size=least, max_size=most).map(tuple)


def sayable(does: str, who: Sequence[str]) -> bool:
    return len(who) == 1 if does == "says" else bool(who) or does in ("is", "is not")


KINDS = st.sampled_from(("is", "is not", "finds out", "says", "thinks"))
tellings = (
    st.tuples(st.just(1), KINDS, st.sampled_from(VALUES), people(3), people(2), people(1))
    .filter(lambda parts: sayable(parts[1], parts[3]))
    .map(lambda parts: SentenceEvidence(*parts))
)
chains = st.lists(st.sampled_from(WHO), max_size=3).filter(lambda c: all(a != b for a, b in pairwise(c))).map(tuple)


def perceives(chain: Minds, event: SentenceEvidence) -> bool:
    """Whether the first of the chain perceives it, and that the second does, and so on."""
    return not chain or (chain[0] in event.agents + event.unnoticed and all(name in event.agents for name in chain[1:]))


def believed(chain: Minds, evidence: Sequence[SentenceEvidence]) -> str | None:
    """The belief of the last of the chain after all this."""
    belief: str | None = None
    truth: str | None = None
    for event in evidence:
        if event.does == "is":
            truth = event.value
        if event.does == "is not":
            truth = None if truth == event.value else truth
            belief = None if perceives(chain, event) and belief == event.value else belief
            continue
        shown = truth if event.does == "finds out" else event.value
        if event.does == "thinks":
            belief = event.value if event.agents == chain else belief
        elif not chain:
            belief = truth
        elif event.does == "says":
            speaker, hearers = event.agents[0], set(event.to) | ({chain[0]} & set(event.unnoticed))
            reached = all(name == speaker or name in hearers for name in chain)
            trusting = hearers
            for name in chain[:-1]:  # who believes it takes the speaker to believe it, too
                trusting = hearers if name == speaker else trusting | {speaker}
            if reached and chain[-1] in trusting:
                belief = event.value
        elif shown is not None and perceives(chain, event):
            belief = shown
    return belief


def of_chain(chain: Minds, after: int = 9) -> Variable:
    return Variable("it", VALUES, WHO, VALUES, tuple((StateClaim(chain, value),) for value in VALUES), after)


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(st.lists(tellings, max_size=5), chains)
def test_nested_beliefs_are_those_of_the_oracle(evidence: list[SentenceEvidence], chain: Minds) -> None:
    expected = believed(chain, evidence)
    answer = answer_from(of_chain(chain), evidence)
    if expected is None:
        assert answer.option is None or not chain  # of reality, there may be hints
    else:
        assert answer.option == VALUES.index(expected)


@st.composite
def corrected_stories(draw: st.DrawFn) -> tuple[list[SentenceEvidence], int, int]:
    """A story of one item a sentence, the place of a change in it, and a later place before the next change."""
    evidence = [
        replace(event, sentence=i) for i, event in enumerate(draw(st.lists(tellings, min_size=1, max_size=5)), 1)
    ]
    changes = [i for i, event in enumerate(evidence) if event.does in ("is", "is not")]
    assume(changes)
    place = draw(st.sampled_from(changes))
    last = next((i for i in changes if i > place), len(evidence)) - 1
    return evidence, place, draw(st.integers(place, last))


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(corrected_stories(), people(2, 1), chains, st.integers(0, 6))
def test_to_miss_a_change_is_to_be_left_out_at_once(
    story: tuple[list[SentenceEvidence], int, int], missing: Minds, chain: Minds, after: int
) -> None:
    evidence, place, later = story
    correction = SentenceEvidence(evidence[later].sentence, "misses", None, missing)
    change = evidence[place]
    left_out = replace(
        change,
        agents=tuple(name for name in change.agents if name not in missing),
        unnoticed=tuple(name for name in change.unnoticed if name not in missing),
    )
    at_once = [*evidence[:place], left_out, *evidence[place + 1 :]]
    corrected = [*evidence[: later + 1], correction, *evidence[later + 1 :]]
    assert answer_from(of_chain(chain, after), corrected) == answer_from(of_chain(chain, after), at_once)


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(corrected_stories(), people(1, 1), people(2, 1), chains, st.integers(0, 6))
def test_to_be_unaware_of_witnesses_is_to_have_them_unnoticed_at_once(
    story: tuple[list[SentenceEvidence], int, int], unaware: Minds, witnesses: Minds, chain: Minds, after: int
) -> None:
    evidence, place, later = story
    correction = SentenceEvidence(evidence[later].sentence, "unaware of", None, unaware, witnesses)
    change = evidence[place]
    hidden = replace(
        change,
        agents=tuple(name for name in change.agents if name not in witnesses),
        unnoticed=(*change.unnoticed, *witnesses),
    )
    at_once = [*evidence[:place], hidden, *evidence[place + 1 :]]
    corrected = [*evidence[: later + 1], correction, *evidence[later + 1 :]]
    assert answer_from(of_chain(chain, after), corrected) == answer_from(of_chain(chain, after), at_once)


# Sentences that nobody read


def test_a_sentence_not_read_decides_if_it_could_tell_of_a_change() -> None:
    assert undecided_by(about(ANA), [HUNG, HIDDEN], []) is None
    assert undecided_by(about(ANA), [HUNG, HIDDEN], [3]) == 3
    assert undecided_by(about(ANA), [HUNG], [2, 3]) == 2


def test_a_sentence_not_read_decides_nothing_if_all_of_it_is_told_anew() -> None:
    evidence = [item("was", HOOK, BOTH), HIDDEN, item("is", DRAWER, BOTH, sentence=4)]
    variable = about(ANA, after=4)
    assert undecided_by(variable, evidence, [3]) is None  # what it may tell is over at sentence 4
    assert undecided_by(variable, evidence, [3, 5]) == 5  # she may have missed that
    assert undecided_by(variable, [*evidence, item("is", HOOK, sentence=5)], [3, 6]) is None  # missed after the moment


def test_of_many_people_every_sentence_decides() -> None:
    claims = tuple((StateClaim((name,), TRUTH),) for name in "ABCD")
    variable = Variable("it", VALUES, tuple("ABCD"), tuple("ABCD"), claims, 1)
    assert undecided_by(variable, [item("is", "x", ("A",))], [2]) == 2
    evidence = [item("is", DRAWER, BOTH)] * (GATE_SIZE + 1)
    assert undecided_by(about(ANA, after=1), evidence[1:], [2]) is None
    assert undecided_by(about(ANA, after=1), evidence, [2]) == 2


def every_item(number: int, values: Sequence[str]) -> Iterator[SentenceEvidence]:
    """All items that the form allows of these people."""
    groups = [group for size in range(len(WHO) + 1) for group in combinations(WHO, size)]
    for value in values:
        yield item("hints", value, sentence=number)
        yield item("hints against", value, sentence=number)
        for group, unnoticed in product(groups, groups):
            yield item("was", value, group, (), unnoticed, number)
            yield item("is", value, group, (), unnoticed, number)
            yield item("is not", value, group, (), unnoticed, number)
            yield from (item("says", value, (name,), group, unnoticed, number) for name in WHO)
    for size in (1, 2):
        for minds in product(WHO, repeat=size):
            yield from (item("thinks", value, minds, sentence=number) for value in (None, *values))
    for group, second in product(groups, groups):
        yield item("finds out", None, group, unnoticed=second, sentence=number)
        if group:
            yield item("misses", None, group, sentence=number)
        if group and second:
            yield item("unaware of", None, group, second, sentence=number)


claims_of_two = st.tuples(
    st.lists(st.sampled_from(("A", "B")), max_size=2).map(tuple),
    st.sampled_from(("x", "y", TRUTH, SAID)),
    st.booleans(),
).filter(lambda parts: bool(parts[0]) or parts[1] in VALUES)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.lists(claims_of_two, min_size=1, max_size=2), min_size=2, max_size=2),
    st.lists(tellings, max_size=3),
    st.integers(1, 4),
    st.integers(1, 4),
)
def test_the_gate_is_open_if_no_item_at_all_changes_the_answer(
    answers: list[list[tuple[Minds, str, bool]]], events: list[SentenceEvidence], unread: int, after: int
) -> None:
    evidence = [replace(event, sentence=i + (i >= unread)) for i, event in enumerate(events, 1)]
    evidence = [event for event in evidence if event.value != "z"]
    claims = tuple(tuple(StateClaim(*parts) for parts in conjunction) for conjunction in answers)
    variable = Variable("it", ("x", "y"), WHO, ("1", "2"), claims, after)
    option = answer_from(variable, evidence).option
    changed = any(
        answer_from(variable, [*evidence, event]).option != option for event in every_item(unread, ("x", "y"))
    )
    assert undecided_by(variable, evidence, [unread]) == (unread if changed else None)
