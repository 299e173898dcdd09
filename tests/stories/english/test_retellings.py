"""What happened, told in roundabout ways: inversions, clefts, passives, participles, questions within the story."""

# ruff: noqa: E501  (sentences are easier to read on one line)
from __future__ import annotations

import pytest

from otherminds.stories.english.reading import read_story
from otherminds.stories.model import Event, Utterance

BEFORE = "Mary and Joel came into the kitchen. Mary walked to the fridge in the kitchen and opened it. Mary took a beer from the fridge. "
FRIDGE, TABLE, STOVE = "kitchen fridge", "kitchen table", "kitchen stove"
DEEDS = (
    ("The beer then went onto the kitchen table.", "Mary", "put", "beer", TABLE),
    ("The beer ended up on the kitchen table.", "Mary", "put", "beer", TABLE),
    ("The beer was put on the kitchen table.", "Mary", "put", "beer", TABLE),
    ("It was on the kitchen table that Mary put the beer.", "Mary", "put", "beer", TABLE),
    ("It was on the kitchen table that the beer was put by Mary.", "Mary", "put", "beer", TABLE),
    ("The beer, too, was set down on the kitchen table by Mary.", "Mary", "put", "beer", TABLE),
    ("The beer she put on the kitchen table.", "Mary", "put", "beer", TABLE),
    ("Mary went to the kitchen table, on which she put the beer.", "Mary", "put", "beer", TABLE),
    ("Mary, having gone over to the kitchen table, put the beer on it.", "Mary", "put", "beer", TABLE),
    ("She went to the stove, opened it, and in went the beer.", "Mary", "put", "beer", STOVE),
    ("She opened the stove and put the beer in.", "Mary", "put", "beer", STOVE),
    ("The stove was next: she opened it and laid the beer in there.", "Mary", "put", "beer", STOVE),
    ("With the fridge closed, Mary put the beer on the kitchen table.", "Mary", "put", "beer", TABLE),
    ("Mary finished what she was doing by putting the beer on the kitchen table.", "Mary", "put", "beer", TABLE),
    ("Joel walked to the stove, which he pulled open and closed afterwards.", "Joel", "close", None, STOVE),
    ("Joel opened the stove, and out came a potato.", "Joel", "grab", "potato", STOVE),
    ("A potato was what Joel took from the stove.", "Joel", "grab", "potato", STOVE),
    ("What Joel went to fetch was a potato.", "Joel", "grab", "potato", None),
    ("Before that, Joel had opened the stove.", "Joel", "open", None, STOVE),
    ("The stove was what Joel headed for.", "Joel", "walk", None, STOVE),
    ("To the stove Joel went.", "Joel", "walk", None, STOVE),
    ("All was quiet until Joel opened the stove.", "Joel", "open", None, STOVE),
    ("As the witness tells it, the stove was opened by Joel.", "Joel", "open", None, STOVE),
    ("Later on it was Joel who opened the stove.", "Joel", "open", None, STOVE),
    ("Joel, meanwhile, opened the stove.", "Joel", "open", None, STOVE),
    ("Joel was on his way to the stove.", "Joel", "walk", None, STOVE),
    ("Joel started towards the stove.", "Joel", "walk", None, STOVE),
    ("His way led to the stove.", "Joel", "walk", None, STOVE),
)  # fmt: skip
SAID = (
    ('Joel turned to her: did she know where the milk was?', "Joel", "ask", "milk", None),
    ("Did she know, Joel asked, where the milk was?", "Joel", "ask", "milk", None),
    ("Joel called out to ask where the milk was.", "Joel", "ask", "milk", None),
    ('Joel said, walking to the stove, "Where is the milk? Do you know?"', "Joel", "ask", "milk", None),
    ('"The milk," Joel said. "Any idea where it is?"', "Joel", "ask", "milk", None),
    ("The milk, Joel answered, he had found in the stove.", "Joel", "assert", "milk", STOVE),
    ("He had found the milk, Joel answered, in the stove.", "Joel", "assert", "milk", STOVE),
    ('Joel said, "I did find some milk. It was in the stove."', "Joel", "assert", "milk", STOVE),
    ('Joel said, "The milk was in the stove when I came across it, if that helps."', "Joel", "assert", "milk", STOVE),
    ("Joel said, opening the stove, that the milk was in the fridge.", "Joel", "assert", "milk", FRIDGE),
)  # fmt: skip
IDLE = (
    "It was a grey and windless day.", "It was almost noon.", "It had been a long day for both of them.", "Not another word was exchanged.",
    "Neither of them paid any attention to it.", "And that was all.", "Joel had been doing something else.", "There was a mug.",
    'Joel sighed, "What a day!"', "And the beer?",
)  # fmt: skip
STILL_UNREAD = (
    "Joel frobbed the beer.", "The beer was frobbed.", "The beer was gone.", 'Joel said, "Somebody took it."', "The beer frobbed onto the table.",
)  # fmt: skip


def happenings(text: str) -> list[tuple[str, str, str | None, str | None]]:
    """Who did or said what about which thing and place, in order."""
    found: list[tuple[str, str, str | None, str | None]] = []
    for one in read_story(BEFORE + text).episode.timeline:
        if isinstance(one, Event):
            found.append((one.agent, one.verb, one.obj, one.place))
        elif isinstance(one, Utterance) and one.content is not None:
            found.append((one.speaker, one.act, one.content.subject, one.content.value))
    return found


@pytest.mark.parametrize(("text", "agent", "verb", "obj", "place"), [*DEEDS, *SAID])
def test_what_happens_is_read_however_it_is_told(
    text: str, agent: str, verb: str, obj: str | None, place: str | None
) -> None:
    assert (agent, verb, obj, place) in happenings(text)[len(happenings("")) :]


@pytest.mark.parametrize("text", IDLE)
def test_what_changes_nothing_is_no_event_and_leaves_nothing_open(text: str) -> None:
    assert happenings(text) == happenings("")


@pytest.mark.parametrize("text", STILL_UNREAD)
def test_what_may_be_a_deed_stays_unread(text: str) -> None:
    assert read_story(BEFORE + text).unread


def test_what_is_told_again_happens_once() -> None:
    told = happenings("Mary put the beer on the kitchen table. Joel took it from the table, where Mary had put it.")
    assert [one[:3] for one in told[len(happenings("")) :]] == [("Mary", "put", "beer"), ("Joel", "grab", "beer")]
    more = happenings("Mary put the beer on the table. Joel took it from the table, where Mary had put it, and left.")
    assert more[-1][:2] == ("Joel", "leave")
