# ruff: noqa: E501  (sentences are easier to read on one line)
from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import replace
from importlib import resources

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from otherminds.stories.english.questions import Unread, read_question
from otherminds.stories.english.reading import read_story
from otherminds.stories.english.rewording import Rule, rewording_rules
from otherminds.stories.english.sentences import tokens
from otherminds.stories.model import (
    Belief,
    Event,
    Fact,
    Goal,
    Happening,
    Knows,
    Observation,
    Question,
    SocialGoal,
    Utterance,
)

BEFORE = 'Mary walked into the kitchen. Mary opened the fridge. Joel walked into the kitchen. "Where is the beer?" Joel asked. '
BEER = Fact("at", "beer", "kitchen fridge")
OPENED = ("open", None, "kitchen fridge")
HELD = SocialGoal("Mary", "Joel", "help")
HINDERED = SocialGoal("Mary", "Joel", "hinder")
ALOOF = SocialGoal("Mary", "Joel", "independent")
READING = read_story(BEFORE + "Mary grabbed the beer from the fridge.")

EVENTS = (
    ("What Mary did was open up the fridge in the kitchen.", OPENED),
    ("It was the fridge in the kitchen that Mary now opened.", OPENED),
    ("As for the fridge in the kitchen, Mary opened it.", OPENED),
    ("Mary put out a hand, and the fridge in the kitchen was opened.", OPENED),
    ("OK, so Mary went ahead and opened the fridge in the kitchen.", OPENED),
    ("Off Mary went to the bathroom.", ("walk", None, None)),
    ("The bathroom was where Mary went.", ("walk", None, None)),
    ("What Mary picked up from the fridge in the kitchen was the beer.", ("grab", "beer", "kitchen fridge")),
    ("The beer went in the fridge in the kitchen; that's where Mary put it.", ("put", "beer", "kitchen fridge")),
    ("Having the beer in her grasp, Mary laid it in the fridge in the kitchen.", ("put", "beer", "kitchen fridge")),
)  # fmt: skip
UNSEEN = (
    "Mary noted the absence of any beer in the fridge in the kitchen.", "Mary found no beer in the fridge in the kitchen.",
    "The beer wasn't in the fridge in the kitchen; Mary could see that much.",
    "No beer, Mary perceived, was to be found in the fridge in the kitchen.",
    "There was no beer in the fridge in the kitchen, as Mary could see.",
)  # fmt: skip
SAID = (
    ("No answer came from Mary.", "silence"), ("There wasn't a peep out of Mary.", "silence"),
    ("The question was met with silence by Mary.", "silence"), ("Mary held her tongue, offering no response.", "silence"),
    ("Mary, in response, admitted to not knowing.", "unsure"), ('Mary went, "Beats me."', "unsure"),
    ('"It is in the fridge in the kitchen," was the answer given by Mary.', "assert"),
    ("The beer, Mary responded, was in the fridge in the kitchen.", "assert"),
)  # fmt: skip
NO_EVENTS = (
    "What Mary did not do was open the stove in the kitchen.", "What Mary nearly did was open the stove in the kitchen.",
    "As for the stove in the kitchen, Mary never opened it.", "It was not the stove in the kitchen that Mary opened.",
    "Mary put out a hand, but the stove in the kitchen was not opened.",
    "The milk, Mary could not see, was on the desk in the bedroom.",
)  # fmt: skip
BARE = "Mary opened the fridge in the kitchen."
FRAMED = (
    ("All those years ago, Mary opened the fridge in the kitchen.", BARE),
    ("Pay attention here, because Mary opened the fridge in the kitchen.", BARE),
    ("From where I stood, I could tell that Mary opened the fridge in the kitchen.", BARE),
    ("I am quite sure that Mary opened the fridge in the kitchen.", BARE),
    ("I would say under oath that Mary opened the fridge in the kitchen.", BARE),
    ("Mary opened the fridge in the kitchen, and I had a clear view of it.", BARE),
    ("Mary opened the fridge in the kitchen, and I remember the sound it made.", BARE),
    ("Mary opened the fridge in the kitchen, my dear.", BARE),
    ('Mary had an answer ready: "The beer is in the fridge."', 'Mary said, "The beer is in the fridge."'),
    ('In answer, Mary gave this location for the beer: "It is in the fridge."', 'Mary said, "It is in the fridge."'),
    ("Wherever the beer might be, Mary saw that it was not in the fridge.", "Mary saw no beer in the fridge."),
)  # fmt: skip
DOUBTS = (
    "Nobody says that", "If only", "I doubt that", "In a dream,", "Joel hoped that", "I am almost sure that", "I was not sure that",
    "I could not tell that", "I would say that", "Of course, I am not certain that",
)  # fmt: skip
OPTIONS = (
    ("In the opinion of Joel, the beer lay in the fridge in the kitchen.", (Belief("Joel", BEER),)),
    ("As Joel saw it, the beer was in the fridge in the kitchen.", (Belief("Joel", BEER),)),
    ("Joel took the beer to be in the fridge in the kitchen.", (Belief("Joel", BEER),)),
    ("Whether or not the beer was located by Joel was a matter of indifference to Mary.", (ALOOF,)),
    ("It made no difference to Mary whether Joel found the beer.", (ALOOF,)),
    ("The purpose of Mary was to assist Joel in locating the beer.", (HELD,)),
    ("Mary was out to stop Joel from tracking down the beer.", (HINDERED,)),
    ("Mary, who took Joel to want the beer in the fridge in the kitchen, tried to help him.",
     (Belief("Mary", Goal("Joel", BEER)), HELD)),
    ("Figuring that Joel wanted the beer to be in the fridge in the kitchen, Mary tried to get in Joel's way.",
     (Belief("Mary", Goal("Joel", BEER)), HINDERED)),
)  # fmt: skip
GIVEN = (
    ("Let's say Mary was out to give Joel a hand. Which one sounds MOST likely?", "most", HELD),
    ("Taking it that Mary is aware of what's in the fridge in the kitchen, which is the LEAST credible?", "least",
     Knows("Mary", "kitchen fridge")),
    ("On the assumption that Mary meant to obstruct Joel, which must be judged the MOST probable?", "most", HINDERED),
    ("Suppose what the fridge in the kitchen holds is known to Mary. Which is MOST likely?", "most",
     Knows("Mary", "kitchen fridge")),
)  # fmt: skip


def last(sentence: str) -> Happening:
    reading = read_story(BEFORE + sentence)
    assert reading.coverage == 1.0, reading.unread
    return reading.episode.timeline[-1]


@pytest.mark.parametrize(("sentence", "wanted"), EVENTS)
def test_events_are_read_in_any_order_of_words(sentence: str, wanted: tuple[str, str | None, str | None]) -> None:
    event = last(sentence)
    assert isinstance(event, Event)
    assert event.agent == "Mary"
    assert (event.verb, event.obj, event.place) == wanted


@pytest.mark.parametrize("sentence", UNSEEN)
def test_what_somebody_does_not_see_is_read(sentence: str) -> None:
    seen = last(sentence)
    assert isinstance(seen, Observation)
    assert (seen.agent, seen.fact, seen.sees) == ("Mary", BEER, False)


@pytest.mark.parametrize(("sentence", "act"), SAID)
def test_answers_and_silence_are_read(sentence: str, act: str) -> None:
    said = last(sentence)
    assert isinstance(said, Utterance)
    assert (said.speaker, said.act) == ("Mary", act)


@pytest.mark.parametrize("sentence", NO_EVENTS)
def test_what_did_not_happen_is_never_an_event(sentence: str) -> None:
    before, after = read_story(BEFORE), read_story(BEFORE + sentence)
    assert after.coverage < 1.0 or len(after.episode.timeline) == len(before.episode.timeline)


@pytest.mark.parametrize(("framed", "bare"), FRAMED)
def test_what_frames_a_sentence_changes_nothing(framed: str, bare: str) -> None:
    assert replace(last(framed), span=None) == replace(last(bare), span=None)


@pytest.mark.parametrize("doubt", DOUBTS)
def test_doubt_is_not_left_out(doubt: str) -> None:
    story = f"{BEFORE}{doubt} Mary grabbed the beer from the fridge in the kitchen."
    assert all(event.verb != "grab" for event in read_story(story).episode.events)


@pytest.mark.parametrize(("option", "claims"), OPTIONS)
def test_options_are_read_in_many_wordings(option: str, claims: tuple[object, ...]) -> None:
    assert read_question("Which is MOST likely?", [option], READING).options[0].claims == claims


@pytest.mark.parametrize(("stem", "polarity", "claim"), GIVEN)
def test_what_is_supposed_is_read_in_many_wordings(stem: str, polarity: str, claim: object) -> None:
    question = read_question(stem, [OPTIONS[0][0]], READING)
    assert (question.polarity, question.conditions) == (polarity, (claim,))


def test_words_to_the_listener_change_no_question() -> None:
    option = "Mary believed, my dear, that the beer was in the fridge in the kitchen."
    stem = "If we take it, my dear, that Mary was trying to help Joel, which is the MOST likely?"
    question = read_question(stem, [option], READING)
    assert question.conditions == (HELD,)
    assert question.options[0].claims == (Belief("Mary", BEER),)
    assert question.labels == (option,)


WORDS = sorted({word for text in (*(one[0] for one in OPTIONS), *(one[0] for one in GIVEN)) for word in text.split()})


@pytest.mark.slow
@given(st.lists(st.sampled_from(WORDS), max_size=14), st.lists(st.sampled_from(WORDS), max_size=14))
@settings(max_examples=150, deadline=None)
def test_shuffled_words_are_a_question_or_unread(stem: list[str], option: list[str]) -> None:
    with suppress(Unread):
        assert isinstance(read_question(" ".join(stem), [" ".join(option)], READING), Question)


def examples(section: str) -> list[tuple[str, str]]:
    """The examples in the comments above the rules of a section."""
    text = (resources.files("otherminds.stories.english") / "rewording.toml").read_text("utf-8")
    rules = text.partition(f"\n[{section}]\n")[2].partition("rules = [")[2].partition("\n]")[0]
    return re.findall(r"^  # (?!---)(.+) -> (.+)$", rules, re.MULTILINE)


def test_every_rule_for_statements_does_what_its_example_says() -> None:
    for rule, (before, after) in zip(rewording_rules("statement"), examples("statement"), strict=True):
        assert rule.compiled.sub(rule.plain, before) == after


def as_rules_see(sentence: str) -> str:
    """A sentence as the rules for stories see it, without its full stop."""
    words = ['"' if t.quote else f"@{t.text}" if t.text in ("Ann", "Bob") else t.low for t in tokens(sentence)]
    return " ".join(word for word in words if word != ".")


def test_every_rule_for_stories_fits_its_example() -> None:
    for rule, (before, _) in zip(rewording_rules("story"), examples("story"), strict=True):
        assert rule.compiled.search(as_rules_see(before)), before


def test_what_a_rule_needs_is_in_whatever_it_fits() -> None:
    sentences = [as_rules_see(sentence) for example in examples("story") for sentence in example]
    for rule in rewording_rules("story"):
        fitted = [sentence for sentence in sentences if rule.compiled.search(sentence)]
        assert fitted
        assert all(any(one in sentence for one in rule.needed) for sentence in fitted), rule.pattern


@pytest.mark.parametrize(
    ("pattern", "needed"),
    [
        (r"^<s> put it(?: down)? (?P<p><at> .+)$", (" put it",)),
        (r"^(?:a (?:b|c)|de)? fgh? ?i+$", (" fg",)),
        (r"^he (?:saw|sees)|they$", ("",)),
        (r"^(?i:a)ccording to .+$", ("",)),
        (r"^(?P<a>.+?) \x27s \w+(?!not)[^,]* no$", (" 's ",)),
        (r"^<s> (?:sees?|was (?:seen|told))+ (?!nobody|nothing)(?:something)? (?P<p>in|at) <x>$", ("see", "was ")),
        (r"^he (?:takes|took \w+|) (?:it)?$", ("he ",)),
    ],
)
def test_a_rule_needs_the_longest_text_outside_of_brackets_or_one_of_a_group(
    pattern: str, needed: tuple[str, ...]
) -> None:
    assert Rule("story", pattern).needed == needed
