"""Beliefs after a change that was noticed or missed, by the structure of free English."""

from __future__ import annotations

from dataclasses import replace

import pytest

from otherminds.stories.beliefs.belief_files import Item
from otherminds.stories.beliefs.percepts import answer_percept, closest, content

JAR = "Ann fills the jar with salt. Ann believes that the jar contains salt. A guest swaps the salt for sugar."
SUGAR, SALT = "Ann believes the jar contains sugar.", "Ann believes the jar contains salt."
GATE = "Raj shut the gate last night. He thinks the gate is closed. A storm blows the gate open while he sleeps."
OPEN, CLOSED = "Raj thinks the gate is open.", "Raj thinks the gate is closed."
FIG = "Mia waters her fig tree. Mia believes that the tree has ripe figs. Birds eat all the figs in the night."
NONE, SOME = "Mia believes the tree has no ripe figs.", "Mia believes the tree has ripe figs."


def item(story: str, last: str, *options: str) -> Item:
    return Item("", f"{story}\n{last}", "What does she believe?", options, options[0], None, "")


@pytest.mark.parametrize(
    ("story", "options", "aware", "unaware"),
    [
        (JAR, (SUGAR, SALT), "Ann sees the guest swapping it.", "Ann does not see the guest swapping it."),
        (JAR, (SUGAR, SALT), "Ann tastes and notices the sugar.", "Ann fails to notice the sugar."),
        (GATE, (OPEN, CLOSED), "Raj hears the gate banging.", "Raj doesn't hear the gate banging."),
        (GATE, (OPEN, CLOSED), "Raj finds out about the gate.", "Raj never finds out about the gate."),
        (FIG, (NONE, SOME), "Mia watches the birds.", "Mia is unaware of the birds, seeing none of it."),
    ],
)
def test_who_notices_believes_what_is_new_and_who_misses_it_what_was_before(
    story: str, options: tuple[str, str], aware: str, unaware: str
) -> None:
    for order in (options, options[::-1]):
        new = order.index(options[0])
        assert answer_percept(item(story, aware, *order)).option == new
        missed = answer_percept(item(story, unaware, *order))
        assert missed.option == 1 - new
        assert missed.posterior[1 - new] == pytest.approx(0.95)


@pytest.mark.parametrize(
    ("story", "options", "aware", "unaware"),
    [
        (JAR, (SUGAR, SALT), "Ann empties the jar and fetches another one.", "Ann seasons the soup from the jar."),
        (
            JAR,
            (SUGAR, SALT),
            "Ann bakes a sugar cake from the jar.",
            "Ann does not hurry and empties the jar into the soup.",
        ),
        (FIG, (NONE, SOME), "Mia searches for a different tree.", "Mia brings a basket to the tree."),
    ],
)
def test_deeds_tell_less_than_percepts(story: str, options: tuple[str, str], aware: str, unaware: str) -> None:
    for deed, option in ((aware, 0), (unaware, 1)):
        answer = answer_percept(item(story, deed, *options))
        assert answer.option == option
        assert max(answer.posterior) == pytest.approx(0.7)


def test_abstains_without_a_handle() -> None:
    plain = item(JAR, "Ann sees the guest swapping it.", SUGAR, SALT)
    for changed, why in [
        (
            replace(plain, story=JAR.replace("Ann believes that the", "The") + "\nAnn sees it."),
            "does not say what is believed",
        ),
        (replace(plain, options=(SUGAR, SALT, "Neither.")), "there are not two options"),
        (replace(plain, options=("Yes.", "No.")), "as close to one option as to the other"),
        (replace(plain, story=JAR + "\nIt rains."), "nothing to do with what is believed"),
    ]:
        answer = answer_percept(changed)
        assert answer.option is None
        assert answer.abstained is not None
        assert why in answer.abstained
        assert sum(answer.posterior) == pytest.approx(1.0)


def test_words_without_endings_and_negations_count() -> None:
    assert content("Ann's figs weren't picked") == content("the figs are not picked, Ann s")
    assert closest([content("no figs") - content("figs"), frozenset()], content("there are figs")) == 1
    assert closest([content("oat"), content("almond")], content("it holds oatmilk")) == 0
    assert closest([content("oat"), content("almond")], content("it holds tea")) is None
    assert closest([content("no"), frozenset()], content("a noon walk")) == 1
