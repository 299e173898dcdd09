from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from otherminds.errors import InputError
from otherminds.stories.english.questions import Unread, read_question, split_options
from otherminds.stories.english.reading import read_story
from otherminds.stories.model import Belief, Claim, Event, Fact, Goal, Holds, Knows, Question, Reading, SocialGoal

SEARCH = read_story(
    'Mara and Joel walked into the kitchen. Joel asked, "Where is the beer?" Mara replied, "It\'s in the fridge." '
    "Joel opened the fridge, closed it, walked to the living room and grabbed the beer from the coffee table."
)
TIDYING = read_story(
    "Udo opened the kitchen cabinet, grabbed a spoon and placed it on the kitchen table. Later, Ida walked into the "
    "kitchen, grabbed the spoon from the kitchen table, walked to the dishwasher, opened it and put the spoon inside."
)
HIDING = read_story(
    "Ida, Udo and Ole entered the hall. The ball is in the red_box. Ida moved the ball to the blue_box. "
    "Udo left the hall."
)
FRIDGE, TABLE, DISHWASHER = "kitchen fridge", "kitchen table", "kitchen dishwasher"
BEER = Fact("at", "beer", FRIDGE)


def claims(statement: str, reading: Reading = SEARCH) -> tuple[Claim, ...]:
    """What a statement claims when it is one of two options."""
    return read_question("Which is most likely?", [statement, statement], reading).options[0].claims


BELIEFS = (
    "Mara thinks that the beer is in the fridge", "Mara believed that there was a beer inside the fridge",
    "When giving information, Mara believed that there was a beer inside the kitchen fridge",
    "Mara was under the impression that there was beer in the fridge", "In Mara's mind, the beer was in the fridge",
    "As far as Mara knew, the fridge contained a beer", "Mara expected the beer to be in the fridge",
    "Mara held the belief that a beer could be found in the fridge", "According to Mara, the beer was in the fridge",
    "When she answered, Mara was convinced that the beer was in the fridge", "Mara believed the fridge held a beer",
    "Mara believed the beer to be inside the fridge.", "Mara suspected that the beer was in the refrigerator",
)  # fmt: skip
DISBELIEFS = (
    "Mara does not think the beer is in the fridge", "Mara thinks that the beer is not inside the fridge",
    "Mara doesn't believe that there is a beer in the fridge", "Mara believed there was no beer in the fridge",
    "Mara believes there isn't a beer in the fridge",
)  # fmt: skip
HELPING = (
    "Mara has been trying to help Joel locate the beer", "Mara wished to lend Joel a hand",
    "Mara meant to be helpful to Joel", "Mara wanted Joel to succeed", "Mara's intention was to assist Joel",
    "When giving information, Mara was trying to point Joel to the beer", "Mara was acting out of kindness toward Joel",
)  # fmt: skip
HINDERING = (
    "Mara has been trying to prevent Joel from finding the beer", "Mara wanted to keep Joel from finding the beer",
    "Mara was trying to mislead Joel", "Mara's aim was to stop Joel from getting the beer",
    "Mara sought to sabotage Joel's search", "Mara hoped Joel would not find the beer",
    "Mara was sending Joel on a wild goose chase", "Mara tried to throw Joel off the scent",
)  # fmt: skip
NOT_CARING = (
    "Mara was indifferent towards Joel's goals", "Mara did not care about what Joel wanted",
    "Mara had no interest in whether Joel found the beer", "Mara wanted neither to help nor to hinder Joel",
)  # fmt: skip
KNOWING = (
    "Mara knows what is inside the fridge", "Mara knew what was in the fridge", "Mara knows what the fridge contains",
    "Mara is well aware of the contents of the fridge", "Mara had looked inside the fridge",
)  # fmt: skip
WANTING = (
    "Joel has been trying to get a beer", "Joel wants the beer", "Joel was after the beer",
    "Joel is looking for the beer",
    "Joel's goal is to get the beer", "Joel wanted to find the beer",
)  # fmt: skip


@pytest.mark.parametrize(
    ("statement", "claim"),
    [
        *((text, Belief("Mara", BEER)) for text in BELIEFS),
        *((text, Belief("Mara", BEER, holds=False)) for text in DISBELIEFS),
        *((text, SocialGoal("Mara", "Joel", "help")) for text in HELPING),
        *((text, SocialGoal("Mara", "Joel", "hinder")) for text in HINDERING),
        *((text, SocialGoal("Mara", "Joel", "independent")) for text in NOT_CARING),
        *((text, Knows("Mara", FRIDGE)) for text in KNOWING),
        *((text, Goal("Joel", Fact("holds", "Joel", "beer"))) for text in WANTING),
        ("The beer is in the fridge.", Holds(BEER)),
        ("Joel believes that Mara thinks the beer is in the fridge", Belief("Joel", Belief("Mara", BEER))),
        ("Joel thinks Mara wants the beer", Belief("Joel", Goal("Mara", Fact("holds", "Mara", "beer")))),
        ("Mara thought a plate was in the stove", Belief("Mara", Fact("at", "plate", "stove"))),
    ],
)
def test_statements_are_read_in_many_wordings(statement: str, claim: Claim) -> None:
    assert claims(statement) == (claim,)


def test_a_place_without_its_room_is_the_one_spoken_of() -> None:
    story = read_story(
        "Joel opened the living room cabinet. Mara opened the kitchen cabinet and closed it. "
        "Joel asked where the beer was. Mara said it was in the living room cabinet."
    )
    belief = Belief("Mara", Fact("at", "beer", "living room cabinet"))
    assert claims("Mara believed that there was a beer inside the cabinet", story) == (belief,)


WANTED_THERE = Belief("Ida", Goal("Udo", Fact("at", "spoon", DISHWASHER)))
WANTED_HERE = Belief("Ida", Goal("Udo", Fact("at", "spoon", TABLE)))
NOT_KNOWN = Belief("Ida", Goal("Udo", None))


@pytest.mark.parametrize(
    ("statement", "belief", "stance"),
    [
        (
            "Ida believed that Udo wants to place the spoon inside the dishwasher: she moved the spoon to help Udo.",
            WANTED_THERE, "help",
        ),
        (
            "Ida believed that Udo wants to place the spoon inside the dishwasher: she intentionally moved the "
            "spoon to hinder Udo.",
            WANTED_THERE, "hinder",
        ),
        (
            "Thinking that Udo wished to have the spoon in the dishwasher, Ida moved it there to support him",
            WANTED_THERE, "help",
        ),
        (
            "Ida believed Udo's goal was to get the spoon into the dishwasher; she moved it there to help",
            WANTED_THERE, "help",
        ),
        (
            "Ida believed that Udo placed the spoon at his desired location: she moved the spoon to the "
            "dishwasher to help Udo.",
            WANTED_HERE, "help",
        ),
        (
            "Ida assumed that Udo had put the spoon exactly where he wanted it, and took it to the dishwasher to "
            "get in his way",
            WANTED_HERE, "hinder",
        ),
        (
            "Ida thought Udo wanted the spoon on the kitchen table and so she moved it away to annoy him",
            WANTED_HERE, "hinder",
        ),
        (
            "Ida doesn't know Udo's goal and moves the spoon without thinking about what he wants.",
            NOT_KNOWN, "independent",
        ),
        ("Ida was unaware of Udo's goal and moved the spoon regardless", NOT_KNOWN, "independent"),
    ],
)  # fmt: skip
def test_beliefs_about_goals_come_with_what_is_made_of_them(statement: str, belief: Belief, stance: str) -> None:
    found = claims(statement, TIDYING)
    assert found[0] == belief
    assert [claim.kind for claim in found[1:] if isinstance(claim, SocialGoal)] == [stance]


def test_options_that_speak_of_moving_presume_it_once_with_the_place_one_of_them_names() -> None:
    untold = read_story("Udo placed a spoon on the kitchen table. The dishwasher is in the kitchen. Ida came in.")
    options = [
        "Ida doesn't know Udo's goal and moves the spoon without thinking about what he wants.",
        "Ida believed that Udo placed the spoon at his desired location: "
        "she moved the spoon to the dishwasher to help Udo.",
    ]
    question = read_question("Which of these is LEAST likely?", options, untold)
    assert question.presumes == (
        Event(len(untold.episode.timeline) + 1, "Ida", "put", "spoon", DISHWASHER, source="question"),
    )
    assert (question.kind, question.polarity, question.labels) == ("belief_of_goal", "least", tuple(options))


def test_two_things_are_two_goals() -> None:
    text = (
        "Ida believed that Udo wants to place the fork and spoon on the kitchen table: "
        "she moved the fork and spoon to help Udo."
    )
    goals = [claim.content for claim in claims(text, TIDYING) if isinstance(claim, Belief)]
    assert goals == [Goal("Udo", Fact("at", "fork", TABLE)), Goal("Udo", Fact("at", "spoon", TABLE))]


@pytest.mark.parametrize(
    "statement",
    [
        "Mara was not trying to help Joel", "Mara zorped Joel", "", "Mara might think so", "She was nice",
        "Mara thinks that Joel wanted to hinder Ole", "Mara thinks the beer is in the fridge and zorps Joel",
        "The beer is not in the fridge", "Mara believed something",
    ],
)  # fmt: skip
def test_what_has_no_clear_meaning_is_not_read(statement: str) -> None:
    with pytest.raises(Unread) as caught:
        claims(statement)
    assert caught.value.sentence == statement


STANCES = "A) Mara wanted to help Joel. B) Mara wanted to hinder Joel. C) Mara did not care."


@pytest.mark.parametrize(
    ("stem", "given"),
    [
        (
            "Given the above interaction, assuming that Mara knows what is inside the fridge, which is MOST likely?",
            Knows("Mara", FRIDGE),
        ),
        ("Mara knows what the fridge contains. Which of these statements is most probable?", Knows("Mara", FRIDGE)),
        (
            "If Mara has been trying to help Joel achieve his goal, which is the most plausible?",
            SocialGoal("Mara", "Joel", "help"),
        ),
        (
            "If Joel doesn't think there is a beer inside the fridge, which one is more likely to be true?",
            Belief("Joel", BEER, holds=False),
        ),
        (
            "Suppose that Joel has been trying to get a beer. What is most likely?",
            Goal("Joel", Fact("holds", "Joel", "beer")),
        ),
    ],
)  # fmt: skip
def test_what_the_question_supposes_is_given(stem: str, given: Claim) -> None:
    question = read_question(f"{stem}\n{STANCES}", (), SEARCH)
    assert question.conditions == (given,)
    assert question.kind == "social_goal"
    assert len(question.options) == 3


def test_a_supposition_that_cannot_be_read_is_not_passed_over() -> None:
    with pytest.raises(Unread, match="zorps"):
        read_question(f"If Mara zorps the fridge, which is most likely?\n{STANCES}", (), SEARCH)


@pytest.mark.parametrize(
    ("stem", "polarity"),
    [
        ("Which is MOST likely?", "most"), ("Which of these is LEAST likely true?", "least"),
        ("Which is the least plausible?", "least"), ("Which statement is less likely to be true?", "least"),
        (
            "Which is most unlikely?",
            "least"), ("Which is most probable?", "most"), ("Which one is implausible?", "least",
        ),
    ],
)  # fmt: skip
def test_most_and_least(stem: str, polarity: str) -> None:
    assert read_question(f"{stem} {STANCES}", (), SEARCH).polarity == polarity


def test_she_is_whom_the_question_is_about() -> None:
    question = read_question(
        "What was Mara most likely up to? A. She was helping Joel. B. She was misleading Joel.", (), SEARCH
    )
    assert [option.claims for option in question.options] == [
        (SocialGoal("Mara", "Joel", "help"),), (SocialGoal("Mara", "Joel", "hinder"),),
    ]  # fmt: skip


def where(text: str, reading: Reading = HIDING) -> Question:
    return read_question(text, (), reading)


@pytest.mark.parametrize(
    ("text", "agents"),
    [
        ("Where is the ball really?", []), ("Where will Udo look for the ball?", ["Udo"]),
        ("Where does Udo really think the ball is?", ["Udo"]), ("Where would Udo say the ball is?", ["Udo"]),
        ("When Udo comes back, where will he look for the ball first?", ["Udo"]),
        ("Where does Ida think that Udo searches for the ball?", ["Ida", "Udo"]),
        ("Where does Ida think Udo thinks Ole thinks Ida thinks the ball is?", ["Ida", "Udo", "Ole", "Ida"]),
        ("Which box does Ida believe the ball is in?", ["Ida"]), ("According to Udo, where is the ball?", ["Udo"]),
    ],
)  # fmt: skip
def test_where_questions_have_an_option_for_every_place(text: str, agents: list[str]) -> None:
    question = where(text)
    assert question.kind == "where"
    assert question.at is None
    assert set(question.labels) == {"red box", "blue box"}
    for label, option in zip(question.labels, question.options, strict=True):
        claim: Claim = Holds(Fact("at", "ball", label))
        for agent in reversed(agents):
            claim = Belief(agent, claim.fact if isinstance(claim, Holds) else claim)  # type: ignore[arg-type]
        assert option.claims == (claim,)


def test_the_beginning_is_before_anything_happened() -> None:
    assert where("Where was the ball at the beginning?").at == 0
    assert where("Where was the ball originally?").at == 0


def test_places_that_are_options_may_be_new_to_the_story() -> None:
    question = where("Where is the ball really?\nA. red_box, B. in the green_crate, C. the blue_box")
    assert [option.claims[0] for option in question.options] == [
        Holds(Fact("at", "ball", place)) for place in ("red box", "green crate", "blue box")
    ]
    assert question.labels == ("red_box", "in the green_crate", "the blue_box")


@pytest.mark.parametrize("text", ["Where is the milk?", "Where did Joel find the beer?", "What will Joel do?", "", "?"])
def test_questions_nothing_can_be_said_about_are_not_read(text: str) -> None:
    with pytest.raises(Unread):
        where(text, SEARCH)


def test_yes_and_no() -> None:
    question = read_question("Does Mara think the beer is in the fridge?", ["No", "Yes"], SEARCH)
    assert [option.claims for option in question.options] == [
        (Belief("Mara", BEER, holds=False),),
        (Belief("Mara", BEER),),
    ]


@pytest.mark.parametrize(
    ("text", "options"),
    [
        (
            "Which?\nA) one\nB) two, or more",
            ("one", "two, or more")), ("Which? (a) one (b) two. Please respond with either a or b.", ("one", "two."),
        ),
        ("Which? A. one, B. two, C. three", ("one", "two", "three")), ("Which?\n1. one\n2. two", ("one", "two")),
        ("Which? Options: A) one B) two", ("one", "two")), ("Which?", ()), ("Which? A) one", ()),
    ],
)  # fmt: skip
def test_options_are_split_off(text: str, options: tuple[str, ...]) -> None:
    assert split_options(text) == ("Which?", options) if options else (text, ())


def test_too_long_a_question_is_refused() -> None:
    with pytest.raises(InputError, match="longer than 20,000 characters"):
        read_question("x" * 20_001, (), SEARCH)


WORDS = [
    "Mara", "Joel", "thinks", "believed", "that", "the", "beer", "is", "was", "in", "fridge", "kitchen", "help",
    "hinder", "wants", "to", "where", "does", "which", "likely", "?", ".", ",", "A)", "B)", "(a)", "(b)", "if",
    "not", "she", "he", "put", "moved", ":", "goal", "doesn't", "know", "what", "inside",
]  # fmt: skip


@pytest.mark.slow
@settings(max_examples=150)
@given(
    st.one_of(st.lists(st.sampled_from(WORDS), max_size=40).map(" ".join), st.text(max_size=120)),
    st.lists(st.one_of(st.lists(st.sampled_from(WORDS), max_size=15).map(" ".join), st.text(max_size=40)), max_size=3),
)
def test_any_question_is_read_or_not_without_other_complaint(text: str, options: list[str]) -> None:
    stem, found = split_options(text)
    assert stem in text.strip() or found
    try:
        question = read_question(text, options, SEARCH)
    except Unread:
        return
    assert len(question.options) == len(question.labels) >= len(options)
    assert all(option.claims for option in question.options)
    assert question == read_question(text, options, SEARCH)
