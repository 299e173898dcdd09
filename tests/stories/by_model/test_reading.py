"""Stories that a model reads in one call: what it is asked, what is made of its reply, and replies that cannot be."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from endpoint_server import Fault, Heard, in_turn, serve
from otherminds.language.endpoint import Endpoint
from otherminds.language.model import LanguageModel, ModelError, Request
from otherminds.language.scripted import Scripted, text_of
from otherminds.stories import model as stories
from otherminds.stories.answering import ask
from otherminds.stories.by_model import answer_with
from otherminds.stories.evidence import TRUTH
from troubles import SILENCES, TROUBLES, Trouble

Data = dict[str, Any]
Answered = tuple[stories.Reading, stories.Question | None, stories.Answer]

STORY = (
    "Zdenka nudged the lute beneath a pew and hurried off. The sexton, humming, spirited it up to the loft. "
    "Unbeknown to him she was peering through the grille. Pigeons cooed."
)
STEM = "Where does the sexton suppose Zdenka will grope for the lute?"
PEW, LOFT = "beneath a pew", "in the loft"
ZDENKA, SEXTON = "Zdenka", "the sexton"
PEOPLE = [ZDENKA, SEXTON]


def answers(*minds: str, labels: Sequence[str] = (PEW, LOFT)) -> list[Data]:
    return [
        {"answer": label, "claims": [{"minds": [*minds], "value": value, "so": True}]}
        for label, value in zip(labels, (PEW, LOFT), strict=True)
    ]


def yes_or_no(value: str, *minds: str) -> list[Data]:
    return [
        {"answer": answer, "claims": [{"minds": [*minds], "value": value, "so": answer == "yes"}]}
        for answer in ("yes", "no")
    ]


def item(sentence: int, does: str, value: str | None = None, who: Sequence[str] = (), **more: Sequence[str]) -> Data:
    lists = {key: [*more.get(key, ())] for key in ("to", "unnoticed")}
    return {"sentence": sentence, "does": does, "value": value, "who": [*who], **lists}


HIDES = item(1, "is", PEW, PEOPLE)
MOVES = item(2, "is", LOFT, [SEXTON])
PEERS = item(3, "unaware of", None, [SEXTON], to=[ZDENKA])
ITEMS = [HIDES, MOVES, PEERS]


def reply(*items: Data, **changed: Any) -> Data:
    """The reply of a good reader about the sexton and Zdenka, with other items or with changes."""
    data: Data = {"about": "where the lute is", "values": [PEW, LOFT], "people": PEOPLE, "after": 4}
    return data | {"answers": answers(SEXTON, ZDENKA), "told": [*(items or ITEMS)]} | changed


def reader(*replies: Data | str) -> tuple[Scripted, list[Request]]:
    """A model with these replies in turn, the last of them for ever, and what it is asked."""
    requests: list[Request] = []

    def write(request: Request) -> str:
        requests.append(request)
        data = replies[min(len(requests), len(replies)) - 1]
        return data if isinstance(data, str) else json.dumps(data)

    return Scripted("reader", write), requests


def answered(*replies: Data | str, story: str = STORY, options: Sequence[str] = ()) -> Answered:
    return answer_with(reader(*replies)[0], story, STEM, options)


def label(outcome: Answered) -> str | None:
    _, question, answer = outcome
    return None if question is None or answer.option is None else question.labels[answer.option]


# One call


def test_one_call_reads_story_and_question() -> None:
    model, requests = reader(reply())
    assert label(answer_with(model, STORY, STEM, ())) == PEW
    (request,) = requests
    assert "\n4. Pigeons cooed.\n" in text_of(request)
    assert f"The question: {STEM}\nIt has no options.\nThe data:" in text_of(request)
    form = json.loads(request.schema)
    assert [*form["properties"]] == ["about", "values", "people", "answers", "after", "told"]


def test_a_call_is_short() -> None:
    """2500 tokens a story, at four characters a token."""
    model, requests = reader(reply())
    answer_with(model, f"{STORY} {STORY}", STEM, ("in the loft", "beneath a pew"))
    assert len(text_of(requests[0])) + len(requests[0].schema) + len(json.dumps(reply())) < 10_000


def test_the_answer_follows_from_who_perceives_what() -> None:
    assert label(answered(reply(answers=answers(ZDENKA)))) == LOFT
    assert label(answered(reply(answers=answers()))) == LOFT
    assert label(answered(reply(answers=answers(), after=1))) == PEW
    assert label(answered(reply(answers=yes_or_no(TRUTH, SEXTON, ZDENKA)))) == "no"
    assert label(answered(reply(HIDES, item(2, "is", LOFT, PEOPLE), item(4, "misses", None, [ZDENKA])))) == PEW


def test_it_is_what_asking_with_a_model_gives() -> None:
    outcome = ask(STORY, STEM, (), model=reader(reply())[0])
    assert outcome.engine == "reader"
    assert outcome.answer.option == 0


def test_the_answer_comes_with_the_sentences_that_decide_and_what_the_model_made_of_them() -> None:
    reading, _, answer = answered(reply())
    assert reading.coverage == 1.0
    assert [clause.outcome for clause in reading.clauses] == ["event", "event", "event", "no effect"]
    assert reading.clauses[2].reason == "perceived by Zdenka, unnoticed by the sexton"
    assert answer.passages[1].endswith("(reader: in the loft, known to the sexton and, unnoticed, to Zdenka)")


def test_options_keep_their_words_and_order() -> None:
    options = ("up in the loft", "below the pew")
    data = reply(answers=[*reversed(answers(ZDENKA, labels=("?", "!")))])
    outcome = answered(data, options=options)
    assert outcome[1] is not None
    assert outcome[1].labels == options
    assert label(outcome) == "up in the loft"


def test_hints_tell_what_somebody_wants() -> None:
    hints = [item(n, "hints", "she gropes", []) for n in (1, 2)]  # "grope" is in the question
    data = reply(*hints, values=["she gropes", "she does not"], answers=yes_or_no("she gropes"))
    assert label(answered(data)) == "yes"
    assert answered(reply(hints[0], values=data["values"], answers=data["answers"]))[2].abstained is not None


def test_a_matter_may_concern_nobody() -> None:
    assert label(answered(reply(item(1, "is", PEW), people=[], answers=answers()))) == PEW


# Long stories


def long_story(count: int) -> str:
    return STORY.replace("Pigeons cooed.", " ".join(["Pigeons cooed."] * (count - 3)))


def test_a_long_story_is_read_in_parts_about_one_matter() -> None:
    found_out = item(64, "says", LOFT, [SEXTON], to=[ZDENKA])
    model, requests = reader(reply(after=65), {"told": [HIDES]}, {"told": [found_out]})
    assert label(answer_with(model, long_story(65), STEM, ())) == LOFT
    assert len(requests) == 3
    assert "Tell of the sentences 1 to 30 only" in text_of(requests[0])
    assert "The data for the sentences 61 to 65:" in text_of(requests[2])
    fields = json.loads(requests[2].schema)["$defs"]["_ItemForm"]["properties"]
    assert fields["value"]["enum"] == [PEW, LOFT, None]
    assert fields["who"]["items"]["enum"] == PEOPLE
    model, requests = reader(reply(item(1, "is", PEW), people=[], answers=answers(), after=31), {"told": []})
    assert label(answer_with(model, long_story(31), STEM, ())) == PEW
    assert '"enum":[]' not in requests[1].schema


def test_a_part_that_is_not_read_keeps_the_answer_open() -> None:
    model, requests = reader(reply(after=31), "?")
    reading, _, answer = answer_with(model, long_story(31), STEM, ())
    assert answer.option is None
    assert str(answer.abstained).startswith("could not read: Pigeons cooed. (reader: none of 2 replies could be read")
    assert len(requests) == 3
    assert [clause.outcome for clause in reading.clauses[29:]] == ["no effect", "unread"]


@pytest.mark.parametrize("story", [long_story(121), "x" * 50_000])
def test_about_too_long_a_story_no_model_is_asked(story: str) -> None:
    model, requests = reader(reply())
    _, question, answer = answer_with(model, story, STEM, ())
    assert (question, answer.option, requests) == (None, None, [])
    assert "120 sentences and 40,000 characters at most" in str(answer.abstained)


# Replies that cannot be


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"people": ["Zdenka", "the sexton", "Zorp"]}, "'Zorp' is nobody in the story"),
        ({"values": ["kraken", "squid"]}, "none of the values is in the story"),
        ({"values": [PEW]}, "needs 2 to"),
        ({"after": 5}, "there is no sentence 5"),
        ({"told": [item(5, "is", PEW)]}, "there is no sentence 5"),
        ({"told": [item(0, "is", PEW)]}, "there is no sentence 0"),
        ({"told": None}, "told"),
        ({"answers": answers(SEXTON, ZDENKA)[:1]}, "has 1 answers"),
        ({"answers": answers("the bishop")}, "not all are among the people"),
        ({"answers": yes_or_no(TRUTH)}, "cannot answer from 0 minds"),
        ({"answers": [{"answer": name, "claims": []} for name in PEOPLE]}, "without claims"),
        ({"answers": [{**answer, "answer": "x"} for answer in answers()]}, "gives an answer twice"),
        ({"values": [PEW, LOFT * 99]}, "has a name of more than 200 characters"),
    ],
)
def test_a_reply_that_does_not_fit_the_story_is_asked_for_again(change: Data, why: str) -> None:
    model, requests = reader(reply(**change))
    _, question, answer = answer_with(model, STORY, STEM, ())
    assert (question, answer.option, len(requests)) == (None, None, 2)
    assert str(answer.abstained).startswith("cannot read the question: none of 2 replies could be read: ")
    assert why in str(answer.abstained)
    model, requests = reader(reply(**change), reply())
    assert label(answer_with(model, STORY, STEM, ())) == PEW
    assert why in text_of(requests[1])


IMPOSSIBLE = [
    item(2, "is", "kraken", PEOPLE),
    item(2, "is", None, PEOPLE),
    item(2, "is", LOFT, ["Zorp"]),
    item(2, "says", LOFT, []),
    item(2, "says", LOFT, [SEXTON], to=["Zorp"]),
    item(2, "thinks", LOFT, PEOPLE * 2),
    item(2, "is", LOFT, PEOPLE * 7),
]


@pytest.mark.parametrize("impossible", IMPOSSIBLE)
def test_a_sentence_that_tells_what_cannot_be_keeps_the_answer_open(impossible: Data) -> None:
    model, requests = reader(reply(HIDES, impossible))
    reading, question, answer = answer_with(model, STORY, STEM, ())
    assert (answer.option, len(requests)) == (None, 1)
    assert str(answer.abstained).startswith("could not read: The sexton, humming, spirited it up to the loft. (reader:")
    assert reading.unread == ("The sexton, humming, spirited it up to the loft.",)
    assert reading.coverage == 0.75
    assert question is not None


@pytest.mark.parametrize("impossible", IMPOSSIBLE)
def test_unless_it_could_decide_nothing(impossible: Data) -> None:
    items = [HIDES, {**impossible, "sentence": 3}, {**MOVES, "sentence": 2}]
    assert label(answered(reply(*items, answers=answers(), after=1))) == PEW


def test_nobody_can_miss_what_did_not_change() -> None:
    abstained = answered(reply(item(1, "misses", None, [ZDENKA]), MOVES))[2].abstained
    assert "there was no change to perceive" in str(abstained)


def test_a_sentence_of_too_many_things_is_not_read() -> None:
    assert "tells more than 4 things" in str(answered(reply(*[HIDES] * 5))[2].abstained)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
)


@st.composite
def damaged(draw: st.DrawFn) -> Any:
    """A good reply in which one part is another value, or is gone."""
    data = json.loads(json.dumps(reply()))
    node: Any = data
    while True:
        key = draw(st.sampled_from([*node] if isinstance(node, dict) else range(len(node))))
        if not isinstance(node[key], dict | list) or not node[key] or draw(st.booleans()):
            break
        node = node[key]
    if draw(st.booleans()):
        node[key] = draw(JSON | st.sampled_from((PEW, LOFT, ZDENKA, SEXTON, TRUTH)))
    else:
        del node[key]
    return data


@pytest.mark.slow
@settings(deadline=None)
@given(JSON | damaged())
def test_no_reply_crashes(data: Any) -> None:
    _, question, answer = answered(json.dumps(data))
    assert (answer.option is None) == (answer.abstained is not None)
    assert sum(answer.posterior) == pytest.approx(1.0) or question is None
    assert "\n" not in str(answer.abstained)


# Bounds


def test_time_bounds_a_call_that_hangs() -> None:
    over = threading.Event()

    def hang(_: Request) -> str:
        over.wait()
        return "?"

    began = time.monotonic()
    _, question, answer = answer_with(Scripted("reader", hang), STORY, STEM, (), seconds=0.05)
    assert time.monotonic() - began < 5.0
    over.set()
    assert (question, answer.option) == (None, None)
    assert answer.abstained == "cannot read the question: reader gave no reply within 0.05 s"


def test_without_time_no_call_is_made() -> None:
    model, requests = reader(reply())
    assert answer_with(model, STORY, STEM, (), seconds=0.0)[2].option is None
    assert requests == []


def test_calls_are_bounded_however_many_replies_are_bad() -> None:
    model, requests = reader("?", reply(after=120), "?")
    assert answer_with(model, long_story(120), STEM, ())[2].option is None
    assert len(requests) == 8


def test_a_model_that_cannot_be_asked_is_no_answer() -> None:
    def down(_: Request) -> str:
        raise ModelError("is down")

    with pytest.raises(ModelError, match="is down"):
        answer_with(Scripted("down", down), STORY, STEM, ())


# A server


def through_server(
    model: LanguageModel, fault: Callable[[Heard], Fault | None] | None = None, timeout: float = 1.0
) -> Answered | None:
    """What comes of asking through a server, within its time; None if the model could not be asked."""
    seconds = max(9.0, timeout)
    with serve(model, fault=fault) as server:
        endpoint = Endpoint("reader", server.url, timeout=timeout, attempts=2, wait=lambda _: None)
        began = time.monotonic()
        try:
            return answer_with(endpoint, STORY, STEM, (), seconds=seconds)
        except ModelError:
            return None
        finally:
            assert time.monotonic() - began < seconds + 5.0


@pytest.mark.slow
@pytest.mark.parametrize("trouble", [*TROUBLES, *SILENCES], ids=lambda trouble: trouble.name)
def test_whatever_the_server_does_first_no_answer_is_wrong(trouble: Trouble) -> None:
    refused = trouble.name == "400"  # then it is asked without a schema, too
    outcome = through_server(reader(reply())[0], in_turn(*[trouble.fault] * (1 + refused)))
    assert outcome is None or label(outcome) == PEW
    assert (outcome is None) == (trouble.end in ("uncertain", "failed") or (trouble.wait or 0.0) > 60.0)


def test_a_server_that_is_silent_is_left_in_time() -> None:
    with serve(reader(reply())[0], fault=lambda _: Fault(kind="hang")) as server:
        began = time.monotonic()
        outcome = answer_with(Endpoint("reader", server.url, timeout=60.0), STORY, STEM, (), seconds=0.1)
        assert time.monotonic() - began < 5.0
    reasons = ("reader gave no reply within 0.1 s", "reader has no time left")
    assert (outcome[2].abstained or "").removeprefix("cannot read the question: ") in reasons


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20))
def test_garbled_replies_give_no_wrong_answer(seed: int) -> None:
    """Half of a reply is cut away, doubled or replaced; what can still be read is the right answer or none."""
    good = json.dumps(reply())
    start, end = sorted(((seed * 7919 + k * 104729) % len(good)) for k in (1, 2))
    garbled = (good[:start], good + good, good[:start] + "\ufffd" * 9 + good[end:], good[:start] + good[end:])[seed % 4]
    outcome = through_server(reader(garbled, reply())[0], timeout=60.0)
    assert outcome is not None
    assert label(outcome) in (PEW, None)
