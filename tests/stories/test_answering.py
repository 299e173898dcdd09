"""From a story and a question to an answer, or to none: who infers what, and what keeps it from being an answer."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, get_args

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from otherminds.errors import InputError
from otherminds.language.model import ModelError
from otherminds.language.scripted import Scripted
from otherminds.stories.answering import COVERAGE, StoryAnswer, answer, answer_benchmark, ask
from otherminds.stories.beliefs.perspectives import EVERYDAY, SALLY_ANNE
from otherminds.stories.model import (
    Answer,
    AnswerOption,
    Belief,
    Claim,
    Entity,
    Episode,
    Event,
    Fact,
    Goal,
    Happening,
    Holds,
    Knows,
    NextAction,
    Observation,
    Question,
    Reading,
    SocialGoal,
    Stance,
    Utterance,
    Verb,
)
from otherminds.worlds.household.agent import ANSWERING, RESERVED

AGENTS, THINGS, PLACES, ROOMS = ("Ann", "Bob", "Cid"), ("ball", "cup"), ("box", "shelf", "kitchen fridge"), ("kitchen",)
ENTITIES = (
    *(Entity(name, "agent") for name in AGENTS),
    *(Entity(name, "object") for name in THINGS),
    Entity("box", "place", "kitchen", "in"),
    Entity("shelf", "place", "kitchen", "on"),
    Entity("kitchen fridge", "place", "kitchen", "in"),
    Entity("kitchen", "room"),
    Entity("hall", "room"),
)


def among(*options: Claim, **more: Any) -> Question:
    return Question("q", tuple(AnswerOption((option,)) for option in options), **more)


def at(place: str | None, thing: str = "ball") -> Fact:
    return Fact("at", thing, place)


def stances(agent: str, toward: str, **more: Any) -> Question:
    return among(*(SocialGoal(agent, toward, kind) for kind in get_args(Stance)), **more)


def well_formed(found: Answer, question: Question) -> None:
    """A choice or a reason, and a probability for every option."""
    assert len(found.posterior) == len(question.options)
    assert sum(found.posterior) == pytest.approx(1.0)
    assert all(p >= 0.0 for p in found.posterior)
    assert (found.option is None) == bool(found.abstained)
    if found.option is not None:
        best = (max if question.polarity == "most" else min)(found.posterior)
        assert found.posterior[found.option] == pytest.approx(best)
    for term in found.terms:
        assert len(term.log_probs) == len(question.options)
        assert not any(value != value for value in term.log_probs)


# Which mind is asked for by the claims

MOVED = Episode(
    "moved",
    ("Ann", "Bob"),
    ENTITIES,
    (Fact("in_room", "Ann", "kitchen"), Fact("in_room", "Bob", "kitchen"), at("box")),
    (Event(0, "Ann", "leave", room="kitchen"), Event(1, "Bob", "move", "ball", "shelf")),
)
TALK = Episode(
    "talk",
    ("Ann", "Bob"),
    ENTITIES,
    (),
    (
        Utterance(0, "Ann", "ask", at(None)),
        Utterance(1, "Bob", "assert", at("kitchen fridge")),
        Event(2, "Ann", "walk", room="kitchen"),
        Event(3, "Ann", "open", place="kitchen fridge"),
        Event(4, "Ann", "grab", "ball", "kitchen fridge"),
    ),
)
SEARCH = Episode(
    "search",
    ("Ann",),
    ENTITIES,
    (Fact("in_room", "Ann", "kitchen"), at("box"), Fact("at", "cup", "kitchen fridge")),
    (
        Event(0, "Ann", "open", place="box"),
        Event(1, "Ann", "look", place="box"),
        Event(2, "Ann", "open", place="kitchen fridge"),
        Event(3, "Ann", "grab", "cup", "kitchen fridge"),
    ),
    complete=True,
)
TOLD_APART: list[tuple[Episode, Question, int]] = [
    (MOVED, among(Holds(at("box")), Holds(at("shelf"))), 1),
    (MOVED, among(Belief("Ann", at("box")), Belief("Ann", at("shelf"))), 0),
    (MOVED, among(Belief("Bob", at("box")), Belief("Bob", at("shelf"))), 1),
    (MOVED, among(Belief("Bob", Belief("Ann", at("shelf"))), Belief("Bob", Belief("Ann", at("box")))), 1),
    (MOVED, among(Belief("Ann", at("box")), Belief("Ann", at("shelf")), polarity="least"), 1),
    (MOVED, among(Holds(at("shelf")), Holds(at("box")), at=0), 1),
    (TALK, stances("Bob", "Ann", conditions=(Knows("Bob", "kitchen fridge"),)), 0),
    (TALK, stances("Bob", "Ann", conditions=(Knows("Bob", "kitchen fridge"),), polarity="least"), 1),
    (TALK, among(Belief("Bob", at("kitchen fridge")), Belief("Bob", Fact("at", "cup", "kitchen fridge")),
                 conditions=(SocialGoal("Bob", "Ann", "help"),)), 0),
    (TALK, among(Belief("Bob", at("shelf")), Belief("Bob", at("kitchen fridge")),
                 conditions=(SocialGoal("Bob", "Ann", "help"),)), 1),
    (SEARCH, among(Goal("Ann", Fact("holds", "Ann", "ball")), Goal("Ann", Fact("holds", "Ann", "cup"))), 1),
]  # fmt: skip


@pytest.mark.parametrize(("episode", "question", "option"), TOLD_APART)
def test_the_mind_that_is_asked_about_is_the_one_that_answers(
    episode: Episode, question: Question, option: int
) -> None:
    found = answer(episode, question)
    well_formed(found, question)
    assert found.option == option
    assert found.decisive() or question.at == 0


@pytest.mark.parametrize(("episode", "question", "option"), TOLD_APART)
def test_the_order_of_the_options_makes_no_difference(episode: Episode, question: Question, option: int) -> None:
    options = tuple(reversed(question.options))
    turned = Question("q", options, question.polarity, question.conditions, question.presumes, question.at)
    found = answer(episode, turned)
    assert found.option == len(options) - 1 - option
    assert found.posterior == pytest.approx(answer(episode, question).posterior[::-1])


def test_conventions_say_what_is_seen_on_coming_back() -> None:
    back = Episode(
        "back", ("Ann", "Bob"), ENTITIES, MOVED.init, (*MOVED.timeline, Event(2, "Ann", "enter", room="kitchen"))
    )
    question = among(Belief("Ann", at("box")), Belief("Ann", at("shelf")))
    assert answer(back, question, EVERYDAY).option == 1
    assert answer(back, question, SALLY_ANNE).option == 0


def test_manners_say_whether_who_does_not_care_answers() -> None:
    """Where people are reserved, an answer speaks more against not caring."""
    question = stances("Bob", "Ann", conditions=(Knows("Bob", "kitchen fridge"),))
    reserved, answering = (answer(TALK, question, costs=costs).posterior for costs in (RESERVED, ANSWERING))
    assert reserved[2] < answering[2]


NO_ANSWER: list[tuple[Episode, Question, str]] = [
    (MOVED, among(Holds(at("box")), Holds(Fact("is", "ball", "red"))), "."),
    (MOVED, among(Holds(at("shelf")), Holds(at("shelf"))), "several of the options fit"),
    (MOVED, among(Holds(at("kitchen fridge")), Holds(at("box"))), "none of the options fit"),
    (MOVED, among(Goal("Ann"), Goal("Bob")), "one person"),
    (MOVED, among(NextAction(Event(3, "Ann", "wait")), Holds(at("box"))), "."),
    (Episode("e", ()), among(Holds(at("box")), Holds(at("shelf"))), "."),
    (Episode("e", ("Ann", "Bob")), stances("Ann", "Bob"), "."),
    (TALK, stances("Ann", "Cid"), "."),
]


@pytest.mark.parametrize(("episode", "question", "said"), NO_ANSWER)
def test_what_cannot_be_told_is_not_answered(episode: Episode, question: Question, said: str) -> None:
    found = answer(episode, question)
    well_formed(found, question)
    assert found.option is None
    assert found.abstained
    assert said in found.abstained or said == "."


# Any story and any question

NAMES = st.sampled_from(AGENTS)
VALUES = st.sampled_from((*AGENTS, *THINGS, *PLACES, "kitchen", "nowhere"))
MAYBE_THING, MAYBE_PLACE = (st.sampled_from((None, *names)) for names in (THINGS, PLACES))
MAYBE_ROOM = st.sampled_from((None, "kitchen", "hall"))
P = st.sampled_from((1.0, 1.0, 1.0, 0.5, 0.0))
ATS = st.builds(Fact, st.just("at"), st.sampled_from(THINGS), MAYBE_PLACE)
FACTS = ATS | st.builds(Fact, st.sampled_from(("at", "in_room", "holds", "is")), VALUES, st.none() | VALUES)


def events(t: int) -> st.SearchStrategy[Event]:
    return st.builds(Event, st.just(t), NAMES, st.sampled_from(get_args(Verb)), MAYBE_THING, MAYBE_PLACE, MAYBE_ROOM, P)


def utterances(t: int) -> st.SearchStrategy[Utterance]:
    act = st.sampled_from(("ask", "assert", "deny", "unsure", "silence"))
    hearers = st.sampled_from(((), ("Ann",), ("Bob", "Cid")))
    return st.builds(Utterance, st.just(t), NAMES, act, st.none() | ATS, hearers, P)


def timelines(length: int) -> st.SearchStrategy[tuple[Happening, ...]]:
    return st.tuples(
        *(events(t) | utterances(t) | st.builds(Observation, st.just(t), NAMES, FACTS, st.booleans(), P)
          for t in range(length))
    )  # fmt: skip


EPISODES = st.builds(
    Episode,
    st.just("any"),
    st.sampled_from((AGENTS, AGENTS[:2], ())),
    st.just(ENTITIES) | st.lists(st.sampled_from(ENTITIES), unique_by=lambda one: one.id).map(tuple),
    st.lists(FACTS, max_size=3).map(tuple),
    st.integers(0, 5).flatmap(timelines),
    st.booleans(),
)
GOALS = st.builds(Goal, NAMES, st.none() | ATS)
BELIEFS = st.recursive(
    st.builds(Belief, NAMES, ATS | GOALS), lambda inner: st.builds(Belief, NAMES, inner, st.booleans()), max_leaves=2
)
SOCIAL = st.builds(SocialGoal, NAMES, NAMES, st.sampled_from(get_args(Stance)))
CLAIMS: st.SearchStrategy[Claim] = st.one_of(
    GOALS, BELIEFS, SOCIAL, st.builds(Knows, NAMES, st.sampled_from(PLACES)), st.builds(Holds, FACTS),
    st.builds(NextAction, events(9)),
)  # fmt: skip
PLAIN = st.permutations(AGENTS).flatmap(
    lambda who: st.sampled_from(
        (
            stances(who[0], who[1]),
            among(*(Holds(at(place)) for place in PLACES)),
            among(*(Belief(who[0], at(place)) for place in PLACES)),
            among(*(Belief(who[0], Goal(who[1], at(place))) for place in PLACES)),
            among(*(Goal(who[0], at(place)) for place in PLACES)),
            among(*(Goal(who[0], Fact("holds", who[0], thing)) for thing in THINGS)),
        )
    )
)
ODD = st.builds(
    Question,
    st.just("q"),
    st.lists(st.lists(CLAIMS, max_size=2).map(lambda claims: AnswerOption(tuple(claims))), min_size=2, max_size=4).map(
        tuple
    ),
)
QUESTIONS = st.builds(
    lambda question, polarity, given, presumes, time: Question(
        "q", question.options, polarity, given, presumes, time
    ),
    PLAIN | PLAIN | ODD,
    st.sampled_from(("most", "least")),
    st.just(()) | st.tuples(CLAIMS),
    st.just(()) | st.tuples(events(9)),
    st.none() | st.integers(-1, 6),
)  # fmt: skip
PLACELESS = Episode("placeless", ("Ann", "Bob"), (Entity("Bob", "agent"),), (), (), complete=True)
UNNAMED_ROOM = Episode(
    "room",
    AGENTS,
    (),
    (Fact("in_room", "Cid", "kitchen"), Fact("in_room", "Ann", "hall"), Fact("at", "cup", "kitchen fridge")),
    (
        Event(0, "Bob", "walk", room="kitchen"),
        Utterance(1, "Cid", "ask", at(None), p=0.0),
        Event(2, "Cid", "put", "cup", "box", p=0.5),
        Observation(3, "Bob", Fact("at", "cup", "kitchen fridge"), False),
        Utterance(4, "Ann", "silence", p=0.5),
    ),
    complete=True,
)


@pytest.mark.slow
@given(EPISODES, QUESTIONS)
@settings(max_examples=80)
@example(PLACELESS, stances("Ann", "Bob", presumes=(Event(9, "", "walk", "cup"),)))
@example(UNNAMED_ROOM, stances("Ann", "Bob", conditions=(Knows("Ann", "shelf"),)))
def test_any_question_about_any_story_is_answered_or_not_with_a_reason(episode: Episode, question: Question) -> None:
    found = answer(episode, question)
    well_formed(found, question)
    assert found == answer(episode, question)


# In words

SALLY = (
    "Sally is in the kitchen. Anne is in the kitchen. The ball is in the basket. Sally leaves the kitchen. "
    "Anne moves the ball to the box."
)
WHERE = "Where will Sally look for the ball?"


def asked(story: str | Reading, stem: str = WHERE, options: tuple[str, ...] = (), **more: Any) -> StoryAnswer:
    found = ask(story, stem, options, **more)
    if found.question is not None:
        well_formed(found.answer, found.question)
    assert (found.question is None) <= (found.answer.option is None)
    return found


def test_a_story_in_words_is_read_and_answered() -> None:
    found = asked(SALLY, options=("box", "basket"))
    assert (found.answer.option, found.reading.coverage, found.engine, found.advice) == (1, 1.0, "symbolic", "")


def test_half_of_a_benchmarks_story_has_to_be_read() -> None:
    unread = " Zorp blitzed the quux. Frob gnarled. Plugh xyzzyed. Zorp frobbed. Frob blitzed. Quux gnarled."
    few, many = (answer_benchmark(SALLY + unread * n, WHERE, ("box", "basket")) for n in (0, 1))
    assert few.answer.option == 1
    assert many.reading.coverage < COVERAGE
    assert f"only {many.reading.coverage:.0%}" in (many.answer.abstained or "")


@pytest.mark.parametrize(
    "sentence", ["The ball zorped blithely.", "Zorp blithely BALL.", 'Plugh: "Xyzzy."', "“Xyzzy!”"]
)
def test_a_sentence_of_a_benchmark_that_may_decide_has_to_be_read(sentence: str) -> None:
    found = answer_benchmark(f"{SALLY} {sentence}", WHERE, ("box", "basket"))
    assert found.reading.coverage < 1.0
    assert found.answer.option is None
    assert (found.answer.abstained or "").startswith("could not read: ")


def test_a_sentence_of_a_benchmark_that_decides_nothing_need_not_be_read() -> None:
    assert answer_benchmark(f"{SALLY} Zorp blitzed blithely.", WHERE, ("box", "basket")).answer.option == 1


@pytest.mark.parametrize("sentence", ["Zorp blitzed blithely.", "It was a sunny day.", "Sally fainted.", "“Xyzzy!”"])
def test_every_sentence_that_somebody_types_has_to_be_in_the_form(sentence: str) -> None:
    found = asked(f"{SALLY} {sentence}")
    assert found.answer.option is None
    assert (found.answer.abstained or "").startswith(f"could not read “{sentence}")
    assert "Reword that sentence" in found.advice
    assert "--model" in found.advice


def test_a_question_that_cannot_be_read_is_not_answered() -> None:
    found = asked(SALLY, "Why zorp?", ("this", "that"))
    assert found.question is None
    assert found.answer.posterior == (0.5, 0.5)
    assert (found.answer.abstained or "").startswith("could not read the question")
    assert "Ask in another way" in found.advice


def test_what_is_too_long_is_refused() -> None:
    with pytest.raises(InputError, match="longer than"):
        ask("Ann sings. " * 20_000, WHERE, ())
    with pytest.raises(InputError, match="longer than"):
        ask(SALLY, WHERE * 2_000, ())


# A model that reads

UNREAD = (
    "Whiling in a kitchen, Sally plus Anne. Its basket: lodging for the ball. Kitchen farewelled, vamoosed Sally. "
    "Transplanted, by Anne, boxwards to a box, that ball."
)


def model(write: Callable[[Any], str]) -> tuple[Scripted, list[Any]]:
    """A model, and what it is asked."""
    heard: list[Any] = []

    def told(request: Any) -> str:
        heard.append(request)
        return write(request)

    return Scripted("reader", told), heard


def read(_: Any) -> str:
    """What a reader of `UNREAD` writes down."""
    claims = {place: [{"minds": ["Sally"], "value": place, "so": True}] for place in ("basket", "box")}
    answers = [{"answer": place, "claims": some} for place, some in claims.items()]
    told = [
        {"sentence": sentence, "does": "is", "value": place, "who": people, "to": [], "unnoticed": []}
        for sentence, place, people in ((2, "basket", ["Sally", "Anne"]), (4, "box", ["Anne"]))
    ]
    matter = {"about": "where the ball is", "values": [*claims], "people": ["Sally", "Anne"], "after": 4}
    return json.dumps(matter | {"answers": answers, "told": told})


def test_a_model_is_asked_only_about_what_cannot_be_read() -> None:
    reader, heard = model(read)
    assert asked(SALLY, model=reader).engine == "symbolic"
    assert not heard
    found = asked(UNREAD, model=reader)
    assert (found.answer.option, found.engine, found.reading.coverage) == (0, "reader", 1.0)
    assert len(heard) == 1
    assert asked(UNREAD).answer.option is None


@pytest.mark.parametrize("reply", ["A", "The answer is basket.", "{}", json.dumps({"answer": "A"}), "", "\0" * 99])
def test_a_model_never_answers(reply: str) -> None:
    talker, heard = model(lambda _: reply)
    found = asked(UNREAD, WHERE, ("basket", "box"), model=talker)
    assert heard
    assert found.answer.option is None
    assert "stronger model" in found.advice


def test_a_model_that_cannot_be_asked_is_no_answer() -> None:
    def broken(_: Any) -> str:
        raise ModelError("is down")

    with pytest.raises(ModelError, match="is down"):
        ask(UNREAD, WHERE, (), model=Scripted("down", broken))
