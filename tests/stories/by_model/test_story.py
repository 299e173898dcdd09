"""Language models that read: what they write down becomes what the rules would have read, or nothing at all."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest

from otherminds.errors import InputError
from otherminds.language.model import Message, ModelError, Request
from otherminds.language.scripted import Scripted, scripted, text_of
from otherminds.stories.answering import StoryAnswer, ask
from otherminds.stories.by_model.question import question_with
from otherminds.stories.by_model.story import TRUST, read_or_ask, read_with
from otherminds.stories.english.questions import Unread, read_question
from otherminds.stories.english.reading import read_story
from otherminds.stories.invented.invention import invent
from otherminds.stories.invented.telling import tell
from otherminds.stories.model import (
    Belief,
    Entity,
    Episode,
    Event,
    Fact,
    Goal,
    Happening,
    Holds,
    Knows,
    Observation,
    Reading,
    SocialGoal,
    Utterance,
)

Data = dict[str, Any]

SALLY = (
    "Sally and Anne are in the kitchen. Sally puts the marble in the basket. Sally leaves the kitchen. "
    "Anne moves the marble to the box. Sally enters the garden."
)
SALLY_DATA: Data = {
    "people": ["Sally", "Anne"],
    "places": [{"name": "basket", "room": None, "relation": "in"}, {"name": "the box"}],
    "start": [{"line": 1, "what": "Sally", "room": "kitchen"}, {"line": 1, "what": "Anne", "room": "the kitchen"}],
    "happenings": [
        {"line": 2, "who": "Sally", "does": "put", "thing": "marble", "place": "basket", "room": None, "to": []},
        {"line": 3, "who": "Sally", "does": "leave", "room": "kitchen"},
        {"line": 4, "who": "Anne", "does": "move", "thing": "the marble", "place": "box"},
        {"line": 5, "who": "Sally", "does": "enter", "room": "garden"},
    ],
    "nothing": [],
}
WINE = (
    "Kevin asked Jessica where the wine glasses were. Jessica said that a wine glass is in the cabinet in the kitchen. "
    "Kevin walked to the kitchen. Kevin opened the kitchen cabinet. Kevin grabbed the wine glass from the cabinet. "
    "Kevin put the wine glass on the coffee table in the bedroom."
)
WINE_DATA: Data = {
    "people": ["Kevin", "Jessica"],
    "places": [
        {"name": "cabinet", "room": "kitchen", "relation": "in"},
        {"name": "coffee_table", "room": "bedroom", "relation": "on"},
    ],
    "start": [],
    "happenings": [
        {"line": 1, "who": "Kevin", "does": "ask", "thing": "wine glasses"},
        {"line": 2, "who": "Jessica", "does": "assert", "thing": "wineglass", "place": "cabinet", "room": "kitchen"},
        {"line": 3, "who": "Kevin", "does": "walk", "place": "kitchen"},
        {"line": 4, "who": "Kevin", "does": "open", "thing": "kitchen cabinet"},
        {"line": 5, "who": "Kevin", "does": "grab", "thing": "wine glass", "place": "cabinet"},
        {"line": 6, "who": "Kevin", "does": "put", "thing": "wine glass", "place": "bedroom coffee table"},
    ],
    "nothing": [],
}
BALL = (
    "Ann, Bob and Cid are in the garden. The ball is in the red box. Bob leaves the garden. "
    "Ann moves the ball to the green bucket. Ann privately told Bob that the ball is in the red box. "
    "Bob did not see that the ball is in the green bucket. Cid saw that the ball is in the green bucket."
)
BALL_DATA: Data = {
    "people": ["Ann", "Bob", "Cid"],
    "places": [{"name": "red_box"}, {"name": "green bucket"}],
    "start": [
        *({"line": 1, "what": name, "room": "garden"} for name in ("Ann", "Bob", "Cid")),
        {"line": 2, "what": "ball", "place": "red box"},
    ],
    "happenings": [
        {"line": 3, "who": "Bob", "does": "leave", "place": "garden"},
        {"line": 4, "who": "Ann", "does": "move", "thing": "ball", "place": "green bucket"},
        {"line": 5, "who": "Ann", "does": "assert", "thing": "ball", "place": "red box", "to": ["Bob"]},
        {"line": 6, "who": "Bob", "does": "did not see", "thing": "ball", "place": "green bucket"},
        {"line": 7, "who": "Cid", "does": "saw", "thing": "ball", "place": "green bucket"},
    ],
    "nothing": [],
}
SILENT = (
    "It was a sunny day. Tom asked Eve where the salad was. Eve said nothing. Tom walks into the kitchen. "
    "Tom looks for the salad. Tom opened the fridge and closed the fridge."
)
SILENT_DATA: Data = {
    "people": ["Tom", "Eve"],
    "places": [{"name": "refrigerator", "room": "kitchen", "relation": "in"}],
    "start": [],
    "happenings": [
        {"line": 2, "who": "Tom", "does": "ask", "thing": "salad"},
        {"line": 3, "who": "Eve", "does": "silence", "thing": "salad"},
        {"line": 4, "who": "Tom", "does": "enter", "room": "kitchen"},
        {"line": 5, "who": "Tom", "does": "look", "thing": "salad"},
        {"line": 6, "who": "Tom", "does": "open", "place": "fridge"},
        {"line": 6, "who": "Tom", "does": "close", "place": "fridge"},
    ],
    "nothing": [1],
}
STORIES = {"sally": (SALLY, SALLY_DATA), "wine": (WINE, WINE_DATA), "ball": (BALL, BALL_DATA)}
ODD = "Sally glorped the marble. Sally blurped, and Anne frobbed the marble."
ODD_DATA: Data = {
    "people": ["Sally", "Anne"],
    "places": [],
    "start": [],
    "happenings": [
        {"line": 1, "who": "Sally", "does": "put", "thing": "marble"},
        {"line": 2, "who": "Sally", "does": "leave"},
        {"line": 2, "who": "Anne", "does": "move", "thing": "marble"},
    ],
    "nothing": [],
}


def model_of(*replies: object) -> tuple[Scripted, list[Request]]:
    """A model that gives these replies in turn, and the list of what it was asked."""
    asked: list[Request] = []
    inner = scripted("reader", [reply if isinstance(reply, str) else json.dumps(reply) for reply in replies])

    def write(request: Request) -> str:
        asked.append(request)
        return inner.write(request)

    return Scripted("reader", write), asked


def silent() -> Scripted:
    """A model that must not be asked."""
    return scripted("silent", [])


def bare(episode: Episode) -> tuple[object, ...]:
    """What is in an episode, whatever the order of its entities and the places of its words in the text."""
    timeline = tuple(replace(happening, span=None) for happening in episode.timeline)
    return set(episode.agents), set(episode.entities), set(episode.init), timeline


def starts(reading: Reading) -> list[int]:
    """Where the words begin that tell of each happening."""
    return [happening.span[0] for happening in reading.episode.timeline if happening.span is not None]


def changed(data: Data, change: Callable[[Data], object]) -> Data:
    """A copy of the data with a change."""
    copy: Data = json.loads(json.dumps(data))
    change(copy)
    return copy


class TestPerfectReader:
    """A model that writes down exactly what is told."""

    @pytest.mark.parametrize("name", STORIES)
    def test_its_episode_is_that_of_the_rules(self, name: str) -> None:
        text, data = STORIES[name]
        model, asked = model_of(data)
        by_rules = read_story(text, p=TRUST)
        assert by_rules.coverage == 1.0
        reading = read_with(model, text)
        assert bare(reading.episode) == bare(by_rules.episode)
        assert starts(reading) == starts(by_rules)
        assert (reading.coverage, reading.unread, len(asked)) == (1.0, (), 1)

    def test_sentences_that_tell_nothing_are_accounted_for(self) -> None:
        model, _ = model_of(SILENT_DATA)
        reading = read_with(model, SILENT)
        assert bare(reading.episode) == bare(read_story(SILENT, p=TRUST).episode)
        assert reading.coverage == 1.0

    def test_what_it_leaves_out_is_missing_from_the_coverage(self) -> None:
        model, _ = model_of(changed(SILENT_DATA, lambda data: data["nothing"].clear()))
        reading = read_with(model, SILENT)
        assert reading.coverage == pytest.approx(5 / 6)
        assert reading.unread == ("It was a sunny day",)

    def test_its_happenings_are_as_sure_as_the_model_is_trusted(self) -> None:
        model, _ = model_of(BALL_DATA)
        episode = read_with(model, BALL).episode
        assert {(happening.p, happening.source) for happening in episode.timeline} == {(TRUST, "text")}
        assert Utterance(2, "Ann", "assert", Fact("at", "ball", "red box"), ("Bob",), TRUST) in bare(episode)[3]  # type: ignore[operator]

    @pytest.mark.slow
    @pytest.mark.parametrize("phrasing", ["plain", "flowing", "present"])
    def test_invented_stories_come_out_as_the_rules_read_them(self, phrasing: str) -> None:
        rng = np.random.default_rng(5)
        compared = 0
        for story in invent(12, rng):
            text = tell(story.episode, story.question, phrasing, rng).story
            by_rules = read_story(text, p=TRUST)
            model = Scripted("perfect", partial(transcript, by_rules.episode, text))
            reading = read_with(model, text)
            assert bare(reading.episode) == bare(by_rules.episode), text
            compared += by_rules.coverage == 1.0
        assert compared >= 6

    def test_what_the_text_says_of_rooms_unheard_of_is_kept(self) -> None:
        text = "Ann is in the observatory. Ann puts the quux into the zorp. Ann leaves the observatory."
        data = {
            "people": ["Ann"],
            "places": [{"name": "zorp", "room": "observatory", "relation": "in"}],
            "start": [{"line": 1, "what": "Ann", "room": "observatory"}],
            "happenings": [
                {"line": 2, "who": "Ann", "does": "put", "thing": "quux", "place": "zorp"},
                {"line": 3, "who": "Ann", "does": "leave", "place": "observatory"},
            ],
            "nothing": [],
        }
        episode = read_with(model_of(data)[0], text).episode
        assert Entity("zorp", "place", "observatory", "in") in episode.entities
        assert episode.timeline == (
            Event(0, "Ann", "put", "quux", "zorp", p=TRUST, span=(27, 58)),
            Event(1, "Ann", "leave", room="observatory", p=TRUST, span=(60, 86)),
        )


def transcript(episode: Episode, text: str, request: Request) -> str:
    """What a perfect reader writes: the episode, in words; no line is left without an account."""
    lines = re.findall(r"^\d+\. (.*)", text_of(request), re.MULTILINE)
    begins = [0]
    for one in lines[1:]:
        begins.append(text.index(one, begins[-1] + 1))

    def line(happening: Happening) -> int:
        assert happening.span is not None
        return sum(begin <= happening.span[0] for begin in begins)

    places = [{"name": e.id, "room": e.room, "relation": e.relation} for e in episode.entities if e.kind == "place"]
    happenings = [{"line": line(happening), **told(happening)} for happening in episode.timeline]
    assert not episode.init
    data = {"people": episode.agents, "places": places, "start": [], "happenings": happenings}
    return json.dumps({**data, "nothing": list(range(1, len(lines) + 1))})


def told(happening: Happening) -> Data:
    """A happening in words."""
    match happening:
        case Event(_, who, verb, obj, place, room):
            return {"who": who, "does": verb, "thing": obj, "place": place, "room": room}
        case Utterance(_, who, act, content, hearers):
            about = {"thing": content.subject, "place": content.value} if content else {}
            return {"who": who, "does": act, **about, "to": list(hearers)}
        case Observation(_, who, fact, sees):
            return {"who": who, "does": "saw" if sees else "did not see", "thing": fact.subject, "place": fact.value}


def add(**told: object) -> Callable[[Data], object]:
    """Put one more happening at the end."""
    return lambda data: data["happenings"].append({"line": 1, "who": "Sally", **told})


NONSENSE: dict[str, tuple[Callable[[Data], object], str]] = {
    "a person made up": (lambda data: data["people"].append("Zoe"), "'Zoe' is nobody in the story"),
    "part of a name": (lambda data: data["people"].append("Sall"), "'Sall' is nobody in the story"),
    "a thing as a person": (lambda data: data["people"].append("marble"), "'marble' is no person"),
    "a room as a person": (lambda data: data["people"].append("kitchen"), "'kitchen' is no person"),
    "somebody not listed": (lambda data: data["people"].remove("Anne"), "'Anne' is no"),
    "a thing made up": (add(does="grab", thing="diamond"), "'diamond' is not in the story"),
    "a place made up": (add(does="open", place="treasure chest"), "'treasure chest' is not in the story"),
    "a place declared and made up": (
        lambda data: data["places"].append({"name": "sofa"}),
        "'sofa' is not in the story",
    ),
    "a room made up": (add(does="enter", room="bathroom"), "'bathroom' is not in the story"),
    "words of two sentences": (add(does="open", place="basket box"), "'basket box' is not in the story"),
    "a room as a thing": (add(does="grab", thing="kitchen"), "'kitchen' is no thing"),
    "a person as a place": (add(does="put", thing="marble", place="Anne"), "'Anne' is no place"),
    "a room that opens": (add(does="open", place="kitchen"), "'kitchen' is no place that can be opened"),
    "a pronoun": (add(does="grab", thing="it"), "'it' does not name anything"),
    "an act told to somebody": (add(does="wait", to=["Anne"]), "says nothing to anybody by wait"),
    "a hearer made up": (add(does="assert", thing="marble", place="box", to=["Zoe"]), "'Zoe' is not among the people"),
    "seen nothing": (add(does="saw", thing="marble"), "does not say what Sally saw"),
    "seen somewhere": (add(does="saw", place="box"), "does not say what Sally saw"),
    "a line that is not there": (lambda data: data["happenings"][0].update(line=6), "there is no sentence 6"),
    "line 0": (lambda data: data["nothing"].append(0), "there is no sentence 0"),
    "nowhere at the start": (lambda data: data["start"][0].pop("room"), "does not say where Sally was"),
    "nothing at all": (lambda data: (data["happenings"].clear(), data["start"].clear()), "tells of nothing"),
    "two places of one name": (
        lambda data: data["places"].append({"name": "box", "room": "kitchen"}),
        "two places are called 'box'",
    ),
    "a wrong verb": (add(does="teleport"), "happenings.4.does: Input should be"),
    "a key too many": (add(does="wait", why="bored"), "happenings.4.why: Extra inputs"),
    "a key missing": (lambda data: data.pop("people"), "people: Field required"),
    "a number in words": (lambda data: data["happenings"][0].update(line="2"), "happenings.0.line: Input should be"),
    "a long name": (lambda data: data["people"].append("S" * 61), "people.2: String should have at most 60"),
    "no name": (add(does="grab", thing=""), "happenings.4.thing: String should have at least 1"),
    "500 events": (lambda data: data.update(happenings=data["happenings"] * 125), "lists more than 400"),
}


class TestUnreadable:
    """Whatever is not a reading of this story is asked for again, a few times, and then is no reading."""

    @pytest.mark.parametrize("name", NONSENSE)
    def test_what_cannot_be_is_refused_with_the_reason(self, name: str) -> None:
        change, why = NONSENSE[name]
        model, asked = model_of(changed(SALLY_DATA, change))
        reading = read_with(model, SALLY, attempts=1)
        assert reading.coverage == 0.0
        assert reading.episode == Episode("", ())
        assert len(reading.unread) == len(asked) == 1
        assert why in reading.unread[0]

    @pytest.mark.parametrize(
        ("reply", "why"),
        [
            ("Sally puts the marble in the basket.", "is not JSON"),
            (json.dumps(SALLY_DATA)[:-40], "is not JSON"),
            ("[" * 5000, "is nested too deeply"),
            ('{"people":' * 3000, "is n"),
            (json.dumps([SALLY_DATA]), "Input should be a valid dictionary"),
            (json.dumps({**SALLY_DATA, "happenings": SALLY_DATA["happenings"] * 2500}), "is longer than 100,000"),
            ("null", "Input should be a valid dictionary"),
            ("", "is not JSON"),
            (json.dumps(SALLY_DATA).replace('"line": 2', '"line": NaN'), "NaN is no number"),
            (json.dumps(changed(SALLY_DATA, lambda data: data["people"].append("\nZoe\x00"))), "'Zoe' is nobody"),
        ],
    )
    def test_garbage_is_refused_with_the_reason(self, reply: str, why: str) -> None:
        model, _ = model_of(reply)
        reading = read_with(model, SALLY, attempts=1)
        assert reading.coverage == 0.0
        assert why in reading.unread[0]
        assert reading.unread[0].isprintable()

    def test_it_is_asked_again_and_no_more_than_needed(self) -> None:
        model, asked = model_of("?", SALLY_DATA, "never asked for")
        assert read_with(model, SALLY).coverage == 1.0
        assert [request.temperature > 0 for request in asked] == [False, True]
        assert len({(request.draw, request.seed) for request in asked}) == 2

    def test_after_the_last_attempt_it_tells_all_that_was_wrong(self) -> None:
        model, asked = model_of("?", changed(SALLY_DATA, lambda data: data["people"].append("Zoe")), "?", SALLY_DATA)
        reading = read_with(model, SALLY)
        assert len(asked) == 3
        assert "none of 3 replies" in reading.unread[0]
        assert "is not JSON" in reading.unread[0]
        assert "'Zoe' is nobody in the story" in reading.unread[0]

    def test_nothing_is_asked_about_no_story(self) -> None:
        assert read_with(silent(), " \n ").unread == ("there is no story",)

    def test_long_texts_and_no_attempts_are_errors(self) -> None:
        with pytest.raises(InputError, match="longer than 100,000"):
            read_with(silent(), "a" * 100_001)
        with pytest.raises(InputError, match="at least one attempt"):
            read_with(silent(), SALLY, attempts=0)

    def test_a_model_that_does_not_answer_is_an_error(self) -> None:
        with pytest.raises(ModelError):
            read_with(silent(), SALLY)


class TestAccounts:
    """Whether a sentence has been read is judged by what it names."""

    def test_a_sentence_of_which_a_place_is_left_out_is_not_read(self) -> None:
        def leave_out(data: Data) -> None:
            data["happenings"][2]["place"] = None
            data["nothing"].append(4)

        reading = read_with(model_of(changed(SALLY_DATA, leave_out))[0], SALLY)
        assert (reading.coverage, reading.unread) == (0.8, ("Anne moves the marble to the box",))

    def test_a_sentence_of_which_a_thing_is_left_out_is_not_read(self) -> None:
        def leave_out(data: Data) -> None:
            data["happenings"][0]["thing"] = None

        reading = read_with(model_of(changed(SALLY_DATA, leave_out))[0], SALLY)
        assert (reading.coverage, reading.unread) == (0.8, ("Sally puts the marble in the basket",))

    def test_a_sentence_about_others_is_no_source(self) -> None:
        data = changed(SALLY_DATA, lambda data: data["start"][1].update(line=2))
        reading = read_with(model_of(data)[0], SALLY, attempts=1)
        assert "sentence 2 does not tell of that" in reading.unread[0]

    def test_pronouns_may_stand_for_anybody(self) -> None:
        text = "Anne has a box. Sally opens the box. Anne looks on while she closes it."
        happenings = [
            {"line": 2, "who": "Sally", "does": "open", "place": "box"},
            {"line": 3, "who": "Sally", "does": "close", "place": "box"},
        ]
        data = {"people": ["Anne", "Sally"], "places": [], "start": [], "happenings": happenings, "nothing": [1]}
        reading = read_with(model_of(data)[0], text, attempts=1)
        assert (reading.coverage, len(reading.episode.timeline)) == (1.0, 2)

    def test_longer_names_are_not_taken_for_the_shorter_ones_within_them(self) -> None:
        text = "Ann opens the red box. Ann opens the box."
        happenings = [
            {"line": line, "who": "Ann", "does": "open", "place": place} for line, place in ((2, "box"), (1, "red box"))
        ]
        data = {"people": ["Ann"], "places": [], "start": [], "happenings": happenings, "nothing": []}
        reading = read_with(model_of(data)[0], text, attempts=1)
        assert (reading.coverage, [e.id for e in reading.episode.entities][1:]) == (1.0, ["box", "red box"])

    def test_what_is_said_without_a_place_says_nothing_of_one(self) -> None:
        data = changed(BALL_DATA, lambda data: data["happenings"][2].pop("place"))
        said = read_with(model_of(data)[0], BALL).episode.timeline[2]
        assert isinstance(said, Utterance)
        assert (said.act, said.content) == ("assert", None)

    def test_questions_and_silence_are_about_no_place(self) -> None:
        data = changed(SILENT_DATA, lambda data: [one.update(place="kitchen") for one in data["happenings"][:2]])
        ask_, silence, *_ = read_with(model_of(data)[0], SILENT).episode.timeline
        assert isinstance(ask_, Utterance)
        assert isinstance(silence, Utterance)
        assert ask_.content == silence.content == Fact("at", "salad")


class TestPrompt:
    """What a model is told."""

    def test_the_sentences_are_numbered_and_whole(self) -> None:
        model, asked = model_of(SALLY_DATA)
        read_with(model, SALLY)
        assert isinstance(asked[0].prompt, tuple)
        assert [type(turn) for turn in asked[0].prompt] == [Message]
        assert "\n1. Sally and Anne are in the kitchen.\n2. Sally puts the marble in the basket.\n" in text_of(asked[0])

    def test_every_key_is_required_by_the_schema(self) -> None:
        model, asked = model_of(SALLY_DATA)
        read_with(model, SALLY)
        objects = [one for one in parts(json.loads(asked[0].schema)) if one.get("type") == "object"]
        assert len(objects) == 4
        assert all(one["required"] == list(one["properties"]) for one in objects)
        assert all(one["additionalProperties"] is False for one in objects)
        assert not any("default" in one for one in parts(json.loads(asked[0].schema)))

    def test_text_with_marks_of_templates_is_left_as_it_is(self) -> None:
        model, asked = model_of(SALLY_DATA)
        read_with(model, SALLY.replace("kitchen", "$kitchen"), attempts=1)
        assert "in the $kitchen." in text_of(asked[0])


def parts(data: object) -> list[Data]:
    """All objects in some JSON data."""
    inner = data.values() if isinstance(data, dict) else data if isinstance(data, list) else ()
    return [*([data] if isinstance(data, dict) else []), *(part for one in inner for part in parts(one))]


class TestHandingOver:
    """The rules read what they can; a model reads where they cannot, and never answers."""

    STEM, OPTIONS = "Where will Sally look for the marble?", ("the basket", "the box")

    def test_a_story_that_the_rules_read_is_not_given_to_the_model(self) -> None:
        reading, engine = read_or_ask(SALLY, silent())
        assert engine == "symbolic"
        assert reading == read_story(SALLY)
        asked = ask(SALLY, self.STEM, self.OPTIONS, model=silent())
        assert asked == ask(SALLY, self.STEM, self.OPTIONS)
        assert (asked.engine, asked.answer.option) == ("symbolic", 0)

    def test_a_story_that_they_do_not_read_is(self) -> None:
        assert read_story(ODD).coverage < 0.8
        model, asked = model_of(ODD_DATA)
        reading, engine = read_or_ask(ODD, model)
        assert (engine, reading.coverage, len(asked)) == ("reader", 1.0, 1)
        assert [one.verb for one in reading.episode.timeline if isinstance(one, Event)] == ["put", "leave", "move"]

    def test_the_threshold_decides(self) -> None:
        text = SALLY + " Glorping blurps frob the glorps."
        coverage = read_story(text).coverage
        assert 0.8 < coverage < 1.0
        assert read_or_ask(text, silent(), coverage)[1] == "symbolic"
        model, _ = model_of(changed(SALLY_DATA, lambda data: data["nothing"].append(6)))
        assert read_or_ask(text, model, coverage + 0.01)[1] == "reader"

    def test_a_model_that_reads_no_more_than_the_rules_changes_nothing_but_is_told_of(self) -> None:
        model, asked = model_of("?", "?", "?")
        reading, engine = read_or_ask(ODD, model)
        by_rules = read_story(ODD)
        assert (engine, len(asked)) == ("symbolic", 3)
        assert (reading.episode, reading.coverage) == (by_rules.episode, by_rules.coverage)
        assert reading.unread[:-1] == by_rules.unread
        assert "none of 3 replies" in reading.unread[-1]

    def test_the_answer_comes_from_what_the_model_read(self) -> None:
        text = SALLY.replace("Sally puts the marble in the basket.", "Sally glorped the marble into the basket.")
        assert ask(text, self.STEM, self.OPTIONS, least=0.9).answer.option is None
        model, asked = model_of(SALLY_DATA)
        reading, engine = read_or_ask(text, model, 0.9)
        assert (engine, ask(reading, self.STEM, self.OPTIONS).answer.option, len(asked)) == ("reader", 0, 1)

    def test_a_model_that_fails_leaves_the_reading_as_it_was(self) -> None:
        text = SALLY + 3 * " Anne frobbed the marble."
        model, asked = model_of("?", "?")
        found = ask(text, self.STEM, self.OPTIONS, model=model)
        assert (found.engine, found.answer.option, len(asked)) == ("symbolic", None, 2)
        assert found.reading == ask(text, self.STEM, self.OPTIONS).reading
        assert "none of 2 replies could be read" in str(found.answer.abstained)

    def test_a_question_that_the_rules_do_not_read_is_given_to_the_model_alone(self) -> None:
        stem = "Whither the marble, in the mental map of Sally?"
        assert ask(SALLY, stem, ("Basketward.", "Boxward.")).question is None
        model, asked = model_of(
            {"polarity": "most", "options": [[believes("Sally", "basket")], [believes("Sally", "box")]]}
        )
        found = ask(SALLY, stem, ("Basketward.", "Boxward."), model=model)
        assert (found.engine, found.answer.option, len(asked)) == ("reader", 0, 1)
        assert found.reading == read_story(SALLY)
        assert "Whither the marble" in text_of(asked[0])

    def test_a_question_that_nobody_reads_is_not_answered(self) -> None:
        stem = "Whither the marble, in the mental map of Sally?"
        found = ask(SALLY, stem, ("Basketward.", "Boxward."), model=model_of("?", "?", "?")[0])
        assert (found.question, found.answer.option) == (None, None)
        assert "none of 3 replies" in str(found.answer.abstained)

    def test_a_reading_that_is_given_is_not_read_again(self) -> None:
        reading = read_story(SALLY)
        assert ask(reading, self.STEM, self.OPTIONS, model=silent()).answer.option == 0

    def test_who_read_is_told_only_where_somebody_else_did(self) -> None:
        found = ask(SALLY, self.STEM, self.OPTIONS)
        assert StoryAnswer(found.reading, found.question, found.answer).engine == "symbolic"


def believes(who: str, place: str, *, thing: str = "marble", holds: bool = True) -> Data:
    """The claim that somebody believes a thing to be at a place."""
    return {"kind": "is", "minds": [who], "thing": thing, "place": place, "holds": holds}


COMPANIONS = (
    "Kevin walked to the kitchen. Jessica asked Kevin where the milk was. Kevin said that the milk is in the fridge. "
    "Jessica walked to the kitchen and opened the fridge. Jessica grabbed the milk. "
    "Jessica put the milk on the coffee table."
)


class TestQuestions:
    """Questions that a model writes down."""

    @pytest.fixture
    def reading(self) -> Reading:
        return read_story(COMPANIONS)

    @pytest.mark.parametrize(
        ("stem", "options", "data"),
        [
            (
                "If Kevin has been trying to help Jessica, which of the following statements is LEAST likely?",
                (
                    "Kevin believed that the milk was in the fridge.",
                    "Kevin believed that the milk was not in the fridge.",
                    "Kevin knew what was inside the fridge.",
                ),
                {
                    "polarity": "least",
                    "given": [{"kind": "help", "who": "Kevin", "toward": "Jessica"}],
                    "options": [
                        [believes("Kevin", "fridge", thing="milk")],
                        [believes("Kevin", "the kitchen fridge", thing="milk", holds=False)],
                        [{"kind": "knows", "who": "Kevin", "place": "refrigerator"}],
                    ],
                },
            ),
            (
                "Which is most likely?",
                (
                    "Kevin believed that Jessica wanted to place the milk on the coffee table.",
                    "Kevin was trying to hinder Jessica.",
                ),
                {
                    "polarity": "most",
                    "options": [
                        [
                            {
                                "kind": "wants",
                                "minds": ["Kevin"],
                                "who": "Jessica",
                                "thing": "milk",
                                "place": "coffee table",
                            }
                        ],
                        [{"kind": "hinder", "who": "Kevin", "toward": "Jessica"}],
                    ],
                },
            ),
            (
                "Where does Kevin think that Jessica thinks the milk is?",
                ("the fridge", "the coffee table"),
                {
                    "polarity": "most",
                    "options": [
                        [{"kind": "is", "minds": ["Kevin", "Jessica"], "thing": "milk", "place": place}]
                        for place in ("fridge", "coffee table")
                    ],
                },
            ),
            (
                "Where was the milk at the beginning?",
                ("the fridge", "the coffee table"),
                {
                    "polarity": "most",
                    "at_start": True,
                    "options": [
                        [{"kind": "is", "thing": "milk", "place": place}] for place in ("fridge", "coffee table")
                    ],
                },
            ),
            (
                "Which is most likely?",
                ("Jessica wants to get the milk.", "Jessica wanted to put the milk in the fridge."),
                {
                    "polarity": "most",
                    "options": [
                        [{"kind": "wants", "who": "Jessica", "thing": "milk"}],
                        [{"kind": "wants", "who": "Jessica", "thing": "milk", "place": "fridge"}],
                    ],
                },
            ),
        ],
    )
    def test_a_perfect_reader_asks_what_the_rules_ask(
        self, reading: Reading, stem: str, options: tuple[str, ...], data: Data
    ) -> None:
        model, asked = model_of(data)
        question = question_with(model, stem, options, reading)
        assert question == replace(read_question(stem, options, reading), kind="")
        assert len(asked) == 1
        assert all(option in text_of(asked[0]) for option in options)

    def test_claims_of_all_kinds(self, reading: Reading) -> None:
        claims = [
            {"kind": "is", "thing": "Jessica", "place": "kitchen"},
            {"kind": "wants", "who": "Jessica"},
            {"kind": "wants", "minds": ["Kevin"], "who": "Jessica", "thing": "milk", "holds": False},
            {"kind": "is", "minds": ["Kevin", "Jessica"], "thing": "milk", "place": "fridge", "holds": False},
            {"kind": "independent", "who": "Kevin", "toward": "Jessica"},
            {"kind": "knows", "who": "Kevin", "place": "coffee table"},
        ]
        presumes = [{"who": "Jessica", "thing": "milk", "place": "coffee table"}]
        data = {"polarity": "most", "presumes": presumes, "options": [[claim] for claim in claims]}
        question = question_with(model_of(data)[0], "Which?", tuple("abcdef"), reading)
        at = Fact("at", "milk", "kitchen fridge")
        assert [option.claims for option in question.options] == [
            (Holds(Fact("in_room", "Jessica", "kitchen")),),
            (Goal("Jessica"),),
            (Belief("Kevin", Goal("Jessica", Fact("holds", "Jessica", "milk")), holds=False),),
            (Belief("Kevin", Belief("Jessica", at, holds=False)),),
            (SocialGoal("Kevin", "Jessica", "independent"),),
            (Knows("Kevin", "coffee table"),),
        ]
        moved = Event(len(reading.episode.timeline) + 1, "Jessica", "put", "milk", "coffee table", source="question")
        assert question.presumes == (moved,)

    @pytest.mark.parametrize(
        ("claim", "why"),
        [
            (believes("Zoe", "fridge", thing="milk"), "'Zoe' is nobody in the story"),
            (believes("what", "fridge", thing="milk"), "'what' is nobody in the story"),
            (believes("Kevin", "fridge", thing="beer"), "'beer' is neither in the story nor in the question"),
            (believes("Kevin", "dungeon", thing="milk"), "'dungeon' is neither in the story nor in the question"),
            (believes("Kevin", "Jessica", thing="milk"), "'Jessica' is no place"),
            ({"kind": "help", "who": "Kevin"}, "'nobody' is nobody in the story"),
            ({"kind": "knows", "who": "Kevin", "place": None}, "'nowhere' is no place"),
            ({"kind": "is", "minds": ["Kevin"], "place": "fridge"}, "'nothing' is no thing"),
            ({"kind": "is", "thing": "milk", "place": "fridge", "holds": False}, "not believed by somebody"),
            ({"kind": "help", "minds": ["Kevin"], "who": "Kevin", "toward": "Jessica"}, "nobody's belief"),
            ({"kind": "is", "minds": ["Kevin"] * 9, "thing": "milk", "place": "fridge"}, "more than 8 minds"),
            ({"kind": "is", "who": "Kevin", "thing": "milk", "place": "fridge"}, "has only place and thing"),
            ({"kind": "help", "who": "Kevin", "toward": "Jessica", "thing": "milk"}, "has only toward and who"),
            ({"kind": "prefers", "who": "Kevin"}, "options.0.0.kind: Input should be"),
        ],
    )
    def test_what_cannot_be_asked_is_refused(self, reading: Reading, claim: Data, why: str) -> None:
        data = {"polarity": "most", "options": [[claim], [believes("Kevin", "fridge", thing="milk")]]}
        model, asked = model_of(data, data)
        with pytest.raises(Unread) as error:
            question_with(model, "Which of these is what is so?", ("a", "b"), reading, attempts=2)
        assert why in error.value.sentence
        assert "Which of these is what is so?" in error.value.sentence
        assert len(asked) == 2

    @pytest.mark.parametrize(
        ("stem", "polarity"), [("Which is most likely?", "least"), ("Which is least likely?", "most")]
    )
    def test_its_polarity_is_that_of_the_wording(self, reading: Reading, stem: str, polarity: str) -> None:
        data = {"polarity": polarity, "options": [[believes("Kevin", "fridge", thing="milk")]] * 2}
        with pytest.raises(Unread, match=f"does not ask for what is {polarity} likely"):
            question_with(model_of(data)[0], stem, ("the least likely", "b"), reading, 1)

    @pytest.mark.parametrize("options", [[], [[believes("Kevin", "fridge", thing="milk")]], [[], []]])
    def test_every_option_needs_its_claims(self, reading: Reading, options: list[object]) -> None:
        with pytest.raises(Unread, match="option"):
            question_with(model_of({"polarity": "most", "options": options})[0], "Which?", ("a", "b"), reading, 1)

    def test_options_in_the_stem_are_found_and_without_any_nothing_is_asked(self, reading: Reading) -> None:
        data = {
            "polarity": "most",
            "options": [[believes("Kevin", where, thing="milk")] for where in ("fridge", "coffee table")],
        }
        question = question_with(model_of(data)[0], "Which? A) Fridge. B) Table.", (), reading)
        assert question.labels == ("Fridge.", "Table.")
        with pytest.raises(Unread):
            question_with(silent(), "Which?", (), reading)

    def test_a_long_question_is_an_error(self, reading: Reading) -> None:
        with pytest.raises(InputError, match="longer than 20,000"):
            question_with(silent(), "a" * 20_001, ("a", "b"), reading)
