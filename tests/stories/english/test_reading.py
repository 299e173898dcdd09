from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from otherminds.errors import InputError
from otherminds.stories.english.reading import read_story
from otherminds.stories.model import Event, Fact, Happening, Observation, Utterance

Told = tuple[str | None, ...]

KITCHEN = "Mara and Joel are in the kitchen. "
HELD = KITCHEN + "Mara grabbed the beer. "
ASKED = KITCHEN + 'Mara asked, "Where is the beer?" '
SENT = ASKED + '"In the fridge," said Joel. Mara opened the fridge. '
FRIDGE, STOVE, TABLE = "kitchen fridge", "kitchen stove", "kitchen table"
CABINET, COFFEE_TABLE = "living room cabinet", "living room coffee table"


def told(happening: Happening) -> Told:
    if isinstance(happening, Event):
        return happening.agent, happening.verb, happening.obj, happening.place or happening.room
    if isinstance(happening, Utterance):
        fact = happening.content
        return happening.speaker, happening.act, fact.subject if fact else None, fact.value if fact else None
    assert isinstance(happening, Observation)
    return happening.agent, "sees" if happening.sees else "misses", happening.fact.subject, happening.fact.value


def after(before: str, text: str) -> list[Told]:
    """What the text tells after another one, all of which is read."""
    reading = read_story(before + text)
    assert reading.coverage == 1.0, reading.unread
    return [told(one) for one in reading.episode.timeline[len(read_story(before).episode.timeline) :]]


ACTIONS: tuple[tuple[str, Told, tuple[str, ...]], ...] = (
    (
        KITCHEN,
        ("Mara", "open", None, FRIDGE),
        (
            "Mara opened the fridge.", "Mara pulled the fridge open.", "Mara swung open the fridge door.",
            "Mara pulled open the door of the refrigerator.", "The fridge was opened by Mara.",
            "Mara has opened the fridge.", "Mara proceeded to open the fridge.", "Mara began by opening the fridge.",
            "Mara flung the fridge wide open.", "Mara is about to open the fridge.",
            "Mara is on the verge of opening the fridge.",
        ),
    ),
    (
        KITCHEN,
        ("Mara", "close", None, FRIDGE),
        (
            "Mara closed the fridge.", "Mara pushed the fridge shut.", "Mara shut the door of the fridge.",
            "Mara swung the fridge closed again.", "The fridge was shut by Mara.",
        ),
    ),
    (
        KITCHEN,
        ("Mara", "walk", None, FRIDGE),
        (
            "Mara walked to the fridge.", "Mara strolled over to the fridge.", "Mara made her way to the fridge.",
            "Mara approached the fridge.", "Mara moved towards the fridge.", "Mara headed straight for the fridge.",
            "Mara continued on to the fridge.", "Mara turned to the fridge.",
        ),
    ),
    (
        KITCHEN,
        ("Mara", "enter", None, "living room"),
        (
            "Mara walked into the living room.", "Mara entered the living room.",
            "Mara stepped into the livingroom.", "Mara wandered into the living room.",
            "Mara came into the sitting room.",
        ),
    ),
    (
        KITCHEN,
        ("Mara", "walk", None, "living room"),
        ("Mara went to the living room.", "Mara returned to the living room.", "Mara headed for the living room."),
    ),
    (
        KITCHEN,
        ("Mara", "leave", None, "kitchen"),
        ("Mara left the kitchen.", "Mara went out.", "Mara walked out of the kitchen.", "Mara exited the room."),
    ),
    (
        KITCHEN,
        ("Mara", "grab", "beer", FRIDGE),
        (
            "Mara grabbed the beer from the fridge.", "Mara took a beer out of the fridge.",
            "Mara picked the beer up from inside the fridge.", "Mara helped herself to a beer from the fridge.",
            "Mara got the beer out of the fridge.", "From the fridge, Mara took a bottle of beer.",
            "The beer was taken from the fridge by Mara.", "Mara scooped the beer out of the fridge.",
        ),
    ),
    (
        HELD,
        ("Mara", "put", "beer", TABLE),
        (
            "Mara put the beer on the kitchen table.", "She set it down on the kitchentable.",
            "Mara dropped it off on the kitchen table.", "She returned the beer to the kitchen table.",
            "The beer was put on the kitchen table by Mara.", "On the kitchen table Mara placed the beer.",
            "She left it on the kitchen table.", "She laid the object on the kitchen table.",
        ),
    ),
    (
        HELD,
        ("Mara", "put", "beer", STOVE),
        ("Mara tucked it into the stove.", "She hid the beer in the stove.", "She put the beer away in the stove."),
    ),
    (
        HELD,
        ("Mara", "move", "beer", COFFEE_TABLE),
        (
            "Mara moved the beer to the coffee table in the living room.",
            "Mara carried it to the living room coffee table.",
            "Mara took the beer to the coffee table in the living room.",
        ),
    ),
    (HELD, ("Mara", "move", "beer", "bedroom"), ("Mara brought it to the bedroom.", "She took it to the bedroom.")),
)  # fmt: skip

SAYINGS: tuple[tuple[str, Told, tuple[str, ...]], ...] = (
    (
        KITCHEN,
        ("Mara", "ask", "beer", None),
        (
            'Mara asked, "Where is the beer?"', '"Have you seen the beer?" inquired Mara.',
            "“Any idea where the beer might be?” wondered Mara aloud.", "Mara asked Joel where the beer was.",
            "Mara asked Joel if he knew where the beer was.", "Mara wanted to know where the beer was.",
            "Mara asked about the beer.", "Mara asked Joel about the location of the beer.",
            "Mara asks Joel 'Do you know where the beer is?'", '"I can\'t find the beer," said Mara.',
            '"Joel, do you know where I can find the beer?" Mara called out.', "Mara: Where is the beer?",
            'Mara said: "The beer?"',
        ),
    ),
    (
        ASKED,
        ("Joel", "assert", "beer", FRIDGE),
        (
            'Joel said, "It is in the fridge."', '"In the fridge," came the answer from Joel.',
            '"Try the fridge," Joel suggested.', '"You\'ll find it in the fridge," replied Joel.',
            '"Last I saw, it was in the fridge," Joel said.', '"Check the fridge," he answered.',
            "Joel told her it was in the fridge.", "Joel replied that there was a beer inside the fridge.",
            "Joel directed her to the fridge.", "Joel suggested checking the fridge.",
            "Joel told her to look in the fridge.", '"I found the beer inside the fridge," was the reply.',
            '"In the fridge."', "Joel: I left it in the fridge.", '"I believe it\'s in the fridge," said Joel.',
        ),
    ),
    (
        ASKED,
        ("Joel", "deny", "beer", FRIDGE),
        (
            '"It is not in the fridge," said Joel.', "Joel said it was not in the fridge.",
            '"I don\'t think it\'s in the fridge," said Joel.', '"Don\'t bother looking in the fridge," Joel said.',
            '"You won\'t find it in the fridge," said Joel.', '"There is no beer in the fridge," Joel replied.',
        ),
    ),
    (
        ASKED,
        ("Joel", "unsure", "beer", None),
        (
            '"I don\'t know," said Joel.', '"Beats me," Joel said.', "Joel shrugged.", "Joel had no idea.",
            "Joel admitted that he hadn't seen it.", '"Not sure," said Joel.', '"Sorry, no," said Joel.',
            "Joel claimed not to know.", '"I haven\'t seen it," replied Joel.',
        ),
    ),
    (
        ASKED,
        ("Joel", "silence", "beer", None),
        (
            "Joel said nothing.", "Joel did not answer.", "Joel stayed silent.", "Joel ignored her.",
            "Mara's question was met with silence.", "There was no answer from Joel.", "She got no answer.",
        ),
    ),
    (
        SENT,
        ("Mara", "misses", "beer", FRIDGE),
        (
            "It was empty.", "She did not find the beer.", "The beer was not there.", "She found nothing.",
            "There was no beer in it.", "No beer.", "She saw that it was empty.", "The beer was nowhere to be seen.",
        ),
    ),
    (SENT, ("Mara", "sees", "beer", FRIDGE), ("The beer was there.", "She found the beer inside.", "There it was.")),
)  # fmt: skip


@pytest.mark.parametrize(
    ("before", "expected", "text"),
    [(before, expected, text) for before, expected, texts in (*ACTIONS, *SAYINGS) for text in texts],
)
def test_one_happening_is_read_in_many_wordings(before: str, expected: Told, text: str) -> None:
    assert after(before, text) == [expected]


NOTHING_HAPPENS = (
    "Mara did not open the fridge.", "Mara never opened the fridge.", "Mara almost opened the fridge.",
    "Mara was about to open the fridge, but changed her mind.", "If Mara opened the fridge, Joel laughed.",
    "Mara wanted to open the fridge.", "Mara planned to open the fridge.", "Mara considered opening the fridge.",
    "Mara could have opened the fridge.", "Mara will open the fridge.", "Mara failed to open the fridge.",
    "Mara pretended to open the fridge.", "Nobody opened the fridge.", "Neither Mara nor Joel opened the fridge.",
    "Instead of opening the fridge, Mara smiled.", "Mara left the kitchen without opening the fridge.",
    "Mara asked Joel to open the fridge.", "Joel told Mara to open the fridge.", "Mara said she would open it.",
    "Mara decided against opening the fridge.", "Unless Mara opens the fridge, Joel smiles.",
    "It was not Mara who opened the fridge.", "Mara zorped the fridge.", "Mara wished she had opened the fridge.",
    "Mara took nothing.", "Mara put nothing on the table.", "Mara denied opening the fridge.",
    "Mara stopped short of opening the fridge.", "Mara refused to open it.",
)  # fmt: skip


@pytest.mark.parametrize("text", NOTHING_HAPPENS)
def test_what_is_denied_wished_or_supposed_is_no_event(text: str) -> None:
    happened = [one for one in read_story(KITCHEN + text).episode.timeline if isinstance(one, Event)]
    assert not [one for one in happened if one.verb in ("open", "close", "grab", "put", "move")]


@pytest.mark.parametrize(
    ("text", "unread"),
    [
        ("Mara zorped the milk.", ["Mara zorped the milk"]),
        ("Mara opened the fridge and zorped the milk.", ["Mara opened the fridge and zorped the milk"]),
        ("Mara opened the fridge. If it rains, Joel leaves.", ["If it rains, Joel leaves"]),
        ("Mara believes that the milk is in the stove.", ["Mara believes that the milk is in the stove"]),
        ('Joel said, "Colourless ideas moved it."', ['Joel said, "Colourless ideas moved it."']),
        ("Somebody had moved the milk.", ["Somebody had moved the milk"]),
    ],
)
def test_what_cannot_be_read_is_listed_and_lowers_the_coverage(text: str, unread: list[str]) -> None:
    reading = read_story(KITCHEN + text)
    assert list(reading.unread) == unread
    assert reading.coverage < 1.0


@pytest.mark.slow
@given(verb=st.text("bcdfghjklmnpqrstvwxz", min_size=6, max_size=12))
def test_an_unknown_verb_lowers_the_coverage(verb: str) -> None:
    known = read_story(KITCHEN + "Mara opened the fridge.")
    unknown = read_story(KITCHEN + f"Mara {verb} the fridge.")
    assert known.coverage == 1.0
    assert unknown.coverage < 1.0
    assert unknown.episode.timeline == ()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "Mara closed the fridge after taking the milk from it.",
            [("Mara", "grab", "milk", FRIDGE), ("Mara", "close", None, FRIDGE)],
        ),
        (
            "Before leaving the kitchen, Mara opened and closed the stove.",
            [("Mara", "open", None, STOVE), ("Mara", "close", None, STOVE), ("Mara", "leave", None, "kitchen")],
        ),
        (
            "Mara put the fork on the kitchen table and the spoon in the stove.",
            [("Mara", "put", "fork", TABLE), ("Mara", "put", "spoon", STOVE)],
        ),
        (
            "Mara took a fork and a knife. She put the former on the kitchen table and the latter in the stove.",
            [
                ("Mara", "grab", "fork", "kitchen"), ("Mara", "grab", "knife", "kitchen"),
                ("Mara", "put", "fork", TABLE), ("Mara", "put", "knife", STOVE),
            ],
        ),
        (
            "Joel, who had just walked to the stove, opened it while Mara walked to the fridge and opened it.",
            [
                ("Joel", "walk", None, STOVE), ("Joel", "open", None, STOVE),
                ("Mara", "walk", None, FRIDGE), ("Mara", "open", None, FRIDGE),
            ],
        ),
        (
            "Mara went to the bedroom to get a mug. She put the mug on the desk.",
            [
                ("Mara", "walk", None, "bedroom"), ("Mara", "grab", "mug", "bedroom"),
                ("Mara", "put", "mug", "bedroom desk"),
            ],
        ),
        ("Mara went to the bedroom to get a mug.", [("Mara", "walk", None, "bedroom")]),
        (
            "Both Mara and Joel walked into the bedroom.",
            [("Mara", "enter", None, "bedroom"), ("Joel", "enter", None, "bedroom")],
        ),
        ("They both left.", [("Mara", "leave", None, "kitchen"), ("Joel", "leave", None, "kitchen")]),
        ("Mara likes the milk. Joel lost his watch. Mara saw a dog.", []),
    ],
)  # fmt: skip
def test_clauses_are_read_in_the_order_of_time(text: str, expected: list[Told]) -> None:
    assert after(KITCHEN, text) == expected


def test_a_thing_is_taken_from_where_the_story_says_it_was_put() -> None:
    text = "Ida put the mug on the kitchen table. Then Udo grabbed the mug Ida had previously placed there."
    assert told(read_story(text).episode.timeline[-1]) == ("Udo", "grab", "mug", TABLE)


def test_a_thing_is_taken_from_the_place_that_was_opened_but_not_from_one_that_was_closed_again() -> None:
    assert after(KITCHEN, "Mara opened the fridge and took the milk.")[-1] == ("Mara", "grab", "milk", FRIDGE)
    assert after(KITCHEN, "Mara opened the fridge, closed it, and took the milk.")[-1] == (
        "Mara", "grab", "milk", "kitchen",
    )  # fmt: skip


def test_a_place_belongs_to_the_room_it_is_in_and_to_the_one_where_somebody_stands() -> None:
    text = (
        "Ida walked into the living room and opened a cabinet. Udo opened the cabinet in the kitchen. "
        "Ida closed the cabinet. Udo closed the kitchen cabinet."
    )
    places = [one.place for one in read_story(text).episode.timeline if isinstance(one, Event) and one.place]
    assert places == [CABINET, "kitchen cabinet", CABINET, "kitchen cabinet"]


def test_the_cabinet_is_the_one_in_the_room_where_somebody_is() -> None:
    before = (
        "Ida walked into the living room and opened a cabinet. She walked to the sofa. Udo opened the kitchen cabinet. "
    )
    assert after(before, "Ida closed the cabinet.") == [("Ida", "close", None, CABINET)]


def test_who_answers_is_not_who_asked() -> None:
    text = "Azola asked Brem where the beer was, and he told her it was in the fridge. She opened the fridge."
    assert [told(one)[:2] for one in read_story(text).episode.timeline] == [
        ("Azola", "ask"), ("Brem", "assert"), ("Azola", "open"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("phrase", "obj"),
    [
        ("two wine glasses", "wineglass"), ("a bottle of wine", "wine"), ("the wine bottle", "wine"),
        ("some potatoes", "potato"), ("the remote", "remote control"), ("a piece of bread", "bread"),
        ("a juice box", "juice"), ("a frobnicator", "frobnicator"), ("the red_ball", "red ball"),
    ],
)  # fmt: skip
def test_things_have_one_name(phrase: str, obj: str) -> None:
    assert after(KITCHEN, f"Mara grabbed {phrase}.") == [("Mara", "grab", obj, "kitchen")]


def test_some_object_is_nothing_in_particular() -> None:
    assert after(KITCHEN, "Mara grabs some object from the stove.") == [("Mara", "grab", None, STOVE)]


@pytest.mark.parametrize("name", ["Azola", "Brem", "Mark", "Emily", "Rose"])
def test_names_are_capitalised_words_that_act(name: str) -> None:
    text = f"{name} opened the fridge. Later, {name} closed it. Meanwhile, Udo walked to the stove. Thereafter he left."
    assert read_story(text).episode.agents == (name, "Udo")


def test_words_that_only_begin_sentences_are_no_names() -> None:
    text = "Meanwhile, nothing moved. Later the fridge was opened by Udo. Suddenly Ida left. Afterwards he left."
    assert read_story(text).episode.agents == ("Udo", "Ida")


def test_a_name_known_beforehand_is_a_name() -> None:
    assert read_story("May opened the fridge.", cast=["May"]).episode.agents == ("May",)


TOMI = """1 Ida, Udo and Ole entered the front_yard.
2 The celery is in the green_bucket.
3 Ida moved the celery to the red_box.
4 Ida exited the front_yard.
5 Udo dislikes the hat
6 Udo made no movements and stayed in the front_yard for 1 minute.
7 Ole privately told Ida that the celery is in the blue_crate.
8 Ole publicly claimed that the celery is in the green_bucket.
9 Ida told Udo where the celery is.
10 Ole publicly told Ida that the celery is in the red_box.
11 The red_box is in the front_yard.
"""


def test_numbered_stories_are_read() -> None:
    reading = read_story(TOMI)
    assert reading.coverage == 1.0
    assert reading.episode.init == (Fact("at", "celery", "green bucket"),)
    told_of = [told(one) for one in reading.episode.timeline]
    assert told_of[:5] == [
        (
            "Ida",
            "enter", None, "front yard"), ("Udo", "enter", None, "front yard"), ("Ole", "enter", None, "front yard",
        ),
        ("Ida", "move", "celery", "red box"), ("Ida", "leave", None, "front yard"),
    ]  # fmt: skip
    utterances = [one for one in reading.episode.timeline if isinstance(one, Utterance)]
    assert [(one.speaker, one.hearers) for one in utterances] == [
        ("Ole", ("Ida",)), ("Ole", ()), ("Ida", ("Udo",)), ("Ole", ()),
    ]  # fmt: skip
    assert [one.content for one in utterances] == [
        Fact("at", "celery", "blue crate"), Fact("at", "celery", "green bucket"), Fact("at", "celery", None),
        Fact("at", "celery", "red box"),
    ]  # fmt: skip
    rooms = {entity.id: entity.room for entity in reading.episode.entities if entity.kind == "place"}
    assert rooms["red box"] == "front yard"


@pytest.mark.parametrize("thing", ["celery", "green_pepper", "sweet potato"])
def test_what_is_claimed_to_be_somewhere_needs_no_article(thing: str) -> None:
    (claim,) = read_story(
        f"Ida and Udo entered the hall.\nIda publicly claimed that {thing} is in the box."
    ).episode.utterances
    assert claim.content == Fact("at", thing.replace("_", " "), "box")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "Ida sees Udo put the cookie in the jar.",
            [("Udo", "put", "cookie", "jar"), ("Ida", "sees", "cookie", "jar")],
        ),
        (
            "Udo moved the cookie to the jar. Ida did not notice this.",
            [("Udo", "move", "cookie", "jar"), ("Ida", "misses", "cookie", "jar")],
        ),
        (
            "Udo moved the cookie to the jar. Ida did not see that the cookie was moved.",
            [("Udo", "move", "cookie", "jar"), ("Ida", "misses", "cookie", "jar")],
        ),
        (
            "Udo moved the cookie to the jar. Ida was not in the room when Udo moved the cookie.",
            [("Udo", "move", "cookie", "jar"), ("Ida", "misses", "cookie", "jar")],
        ),
        ("Ida saw that the cookie was in the jar.", [("Ida", "sees", "cookie", "jar")]),
    ],
)
def test_what_the_story_says_somebody_saw_is_an_observation(text: str, expected: list[Told]) -> None:
    assert after("Ida and Udo are in the hall. ", text) == expected


APARTMENT = """The apartment consists of a bedroom and a kitchen.
In the bedroom, there is a coffee table and a desk. There are two books on the desk.
The kitchen is equipped with four cabinets, a fridge and a stove. The third cabinet from the left houses a wine
glass, while the second cabinet contains a plate. Inside the fridge, there are two apples. The first cabinet is empty.
Rhea is situated in the bedroom. She walks into the kitchen and opens the third kitchen cabinet.
"""


def test_an_apartment_is_read_with_what_is_in_it() -> None:
    reading = read_story(APARTMENT)
    assert reading.coverage == 1.0
    assert set(reading.episode.init) == {
        Fact("at", "book", "bedroom desk"), Fact("at", "wineglass", "third kitchen cabinet"),
        Fact("at", "plate", "second kitchen cabinet"), Fact("at", "apple", "kitchen fridge"),
        Fact("in_room", "Rhea", "bedroom"),
    }  # fmt: skip
    assert told(reading.episode.timeline[-1]) == ("Rhea", "open", None, "third kitchen cabinet")
    places = {entity.id for entity in reading.episode.entities if entity.kind == "place"}
    assert {"first kitchen cabinet", "fourth kitchen cabinet", "bedroom coffee table"} <= places


def test_a_sentence_that_cannot_be_read_lends_its_room_to_nothing() -> None:
    text = "The bedroom has a desk. The kitchen zorps cabinets. The third cabinet from the left houses a plate."
    assert read_story(text).episode.init == (Fact("at", "plate", "third cabinet"),)


def test_what_somebody_sees_not_to_be_so_is_not_seen_to_be_so() -> None:
    seen = read_story("Ida and Udo are in the hall. Ida saw that the cookie was not in the jar.")
    assert not [one for one in seen.episode.timeline if isinstance(one, Observation) and one.sees]


def test_a_relative_with_a_name_is_the_person_of_that_name() -> None:
    assert read_story("Paul and his mother Rita left. Rita came back.").episode.agents == ("Paul", "Rita")


def test_facts_before_anything_happens_stand_at_the_start_and_contradictions_are_not_read() -> None:
    start = "The cake is in the red box. "
    reading = read_story(start + "Ida moved the cake to the blue box. The cake is in the blue box.")
    assert reading.episode.init == (Fact("at", "cake", "red box"),)
    assert reading.coverage == 1.0
    reading = read_story(start + "Ida moved the cake to the blue box. The cake is in the red box.")
    assert reading.unread == ("The cake is in the red box",)


def test_source_and_probability_are_noted_and_hedges_lower_the_probability() -> None:
    first, second = read_story(
        "Ida opened the fridge. She likely grabbed the milk.", source="video", p=0.8
    ).episode.timeline
    assert (first.source, first.p) == ("video", 0.8)
    assert second.p == pytest.approx(0.56)


def test_too_long_a_text_is_refused() -> None:
    with pytest.raises(InputError, match="longer than 100,000 characters"):
        read_story("x" * 100_001)


@pytest.mark.parametrize("text", ["", " \n", "...", '"', "'", "42", "\x00\ufffe", "and and and", "“”" * 40])
def test_no_story_at_all_covers_nothing(text: str) -> None:
    assert read_story(text).coverage == 0.0
    assert read_story(text).episode.timeline == ()


WORDS = [
    "Ida", "Udo", "Mary", "the", "a", "another", "it", "her", "fridge", "kitchen", "cabinet", "table", "in", "into",
    "on", "to", "from", "of", "and", "while", "after", "before", "who", "that", "where", "not", "opened", "opening",
    "grabbed", "put", "moved", "walked", "asked", "said", "saw", "is", "was", "had", "milk", "spoon", '"Where',
    "is", 'it?"', "'s", ",", ".", ";", ":", "?", "\n", "zorp",
]  # fmt: skip


@pytest.mark.slow
@settings(max_examples=60)
@given(st.one_of(st.lists(st.sampled_from(WORDS), max_size=60).map(" ".join), st.text(max_size=200)))
def test_any_text_is_read_without_complaint(text: str) -> None:
    reading = read_story(text)
    assert 0.0 <= reading.coverage <= 1.0
    assert reading == read_story(text)
    times = [one.t for one in reading.episode.timeline]
    assert times == sorted(times)
    for one in reading.episode.timeline:
        assert one.span is not None
        assert 0 <= one.span[0] <= one.span[1] <= len(text)
    ids = [entity.id for entity in reading.episode.entities]
    places = [one.place for one in reading.episode.timeline if isinstance(one, Event) and one.place]
    assert set(places) <= set(ids)


@pytest.mark.slow
def test_text_of_many_quotes_and_endless_sentences_is_read() -> None:
    for text in ("\"'" * 20_000, "Ida said that " * 5_000, "bottle of " * 8_000, "Ida's " * 10_000, "(a) " * 20_000):
        assert read_story(text).coverage < 1.0
