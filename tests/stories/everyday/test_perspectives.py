"""Who sees, hears and knows what in stories about anything, by the words that tell of it; and what keeps it open."""

from __future__ import annotations

import pytest

from otherminds.stories.everyday.answering import answer
from otherminds.stories.everyday.reading import sentences_of

PUT = "Greta placed the flask in the incubator. "
APART = PUT + "When Sven came in, Greta was at lunch. Sven moved the flask to the fridge. "
LOOK = "Where will Greta look for the flask?"
NOW = "Where is the flask now?"
BOTH = "Greta and Sven put the flask in the incubator. When Sven had gone, Greta moved it to the fridge. "
MODEL = "Where does Greta think Sven will look for the flask?"


def told(story: str, question: str, options: tuple[str, ...] = ()) -> str | None:
    _, asked, found = answer(story, question, options)
    return None if found.option is None or asked is None else asked.labels[found.option]


@pytest.mark.parametrize(
    ("more", "right"),
    [
        ("", "in the incubator"),
        ("Unknown to Greta, Sven saw her through the glass door.", "in the incubator"),
        ("Sven had been peering through the keyhole and saw it, but Greta never noticed.", "in the incubator"),
        ("She is sure that Sven saw nothing.", "in the incubator"),
        ("Greta knew that nobody had told Sven.", "in the incubator"),
        ("Greta knows that Sven saw none of this and that nobody has rung him.", "in the incubator"),
        ("Greta could hear him snoring.", "in the incubator"),
        ("Little did Greta know that Sven had seen her.", "in the incubator"),
        ("Sven saw her in the mirror.", "in the incubator"),
        ("Sven saw it, and Greta saw him.", "to the fridge"),
        ("She rang Sven and told him that it was in the fridge.", "in the fridge"),
        ("'It is in the fridge,' she told Sven. 'All right,' he said.", "in the fridge"),
        ("She sent Sven a photo of the flask in the fridge.", "in the fridge"),
        ("Sven had come back for his hat and saw it all, but Greta did not notice him watching.", "in the incubator"),
        ("Sven saw her do it, but she had her back to him and had no idea.", "in the incubator"),
        ("Greta is sure that Sven has read it.", None),
        ("Sven came back, and Greta saw that he knew.", None),
        ("Sven smiled at her.", None),
        ("Greta wondered whether Sven had seen it.", None),
    ],
)
def test_what_one_takes_another_to_know(more: str, right: str | None) -> None:
    assert told(BOTH + more, MODEL) == right


@pytest.mark.parametrize(
    ("more", "right"),
    [
        ("", "in the incubator"),
        ("'I need my flask,' Greta said.", "in the incubator"),  # what she says is no news to her
        ("'Good morning!' said Sven.", "in the incubator"),
        ("The sun was shining, and a bell was ringing somewhere.", "in the incubator"),
        ("Greta had to find the flask.", "in the incubator"),
        ("Greta and Sven were to meet at four.", "in the incubator"),
        ("'It is raining,' said Greta, and she said so to Sven.", "in the incubator"),
        ("Greta has just come in.", "in the incubator"),
        ("Sven thought that she had seen him.", "in the incubator"),  # what he thinks does not show it to her
        ("Sven told Olga, and Olga passed it on to Greta.", "to the fridge"),
        ("Sven wrote this on a slip of paper. Greta read the slip.", "to the fridge"),
        ("When Greta came home, Sven said, 'The flask is in the fridge.'", "in the fridge"),
        ("Greta happened to see it in the fridge.", "in the fridge"),
        ("Sven told the dishwasher about it.", "in the incubator"),
        ("'The flask is not where it was,' said Sven.", None),
        ("'I saw that!' Greta said.", None),
        ("'Upstairs!' Sven called.", None),
        ("Sven sent her a message saying where it was.", None),
        ("Greta had come back by then.", None),
    ],
)
def test_only_what_reaches_somebody_changes_their_belief(more: str, right: str | None) -> None:
    assert told(APART + more, LOOK) == right


@pytest.mark.parametrize(
    ("story", "question", "right"),
    [
        # names after a noun for both, and participles between subject and verb
        ("Two cooks, Ann and Bo, keep a pan on the hook. Bo took it to the oven.", "Where is the pan now?", "to the oven"),  # noqa: E501
        ("Bo, worried that it might rust, moved the pan to the attic.", "Where is the pan now?", "to the attic"),
        ("Bo, with Ann looking on, took the pan from the hook and put it in the oven.", "Where does Ann think the pan is?", "in the oven"),  # noqa: E501
        # nouns that look like verbs
        ("Ann put the ear drops in the press. Bo took the ear drops to the coat stand.", "Where are the ear drops now?", "to the coat stand"),  # noqa: E501
        ("Ann left the watering can by the pond.", "Where is the watering can?", "by the pond"),
        ("Dad hid the Christmas presents in the attic.", "Where are the presents?", "in the attic"),
        # the present perfect is later than the past, the past perfect need not be
        ("Ann left the pan on the hook, but Bo has put it in the oven.", "Where is the pan now?", "in the oven"),
        # a clause of place may tell a move
        ("Bo took the pan to the barn, where he dropped it into the well.", "Where is the pan now?", "in the well"),
        ("Bo took the pan to the barn, where Ann kept the goats.", "Where is the pan now?", "to the barn"),
        # what is asked for is done if somebody does "so"
        ("Ann put the pan on the hook. 'May I put the pan in the oven?' asked Tom. Ann watched him do it.", "Where does Ann think the pan is?", "in the oven"),  # noqa: E501
        ("Ann put the pan on the hook. 'May I put the pan in the oven?' asked Tom. Ann said no.", "Where is the pan now?", "on the hook"),  # noqa: E501
        # nothing is done that is only talked about, and things do nothing themselves
        ("Ann put the pan on the hook. Bo talked of putting it in the oven.", "Where is the pan now?", "on the hook"),
        ("Ann put the pan on the hook. The rope transferred the pan to the pond.", "Where is the pan now?", None),
        # what is announced is done, if nothing is known that speaks against it
        ("'I am putting the pan on the hook,' said Ann.", "Where does Ann think the pan is?", "on the hook"),
        ("Ann put the pan on the hook. 'I have put the pan in the oven,' said Ann.", "Where does Ann think the pan is?", "on the hook"),  # noqa: E501
        ("Ann put the pan on the hook. Then she left. Bo put it in the oven. It has been there ever since.", "Where is the pan now?", "in the oven"),  # noqa: E501
        ("Bo took the pan from the hook to the oven.", "Where was the pan before Bo moved it?", "at the hook"),
        ("Ann put a pan on the hook. Bo moved it to the oven.", "Who moved the pan?", "Bo"),
    ],
)  # fmt: skip
def test_places_by_the_form_of_the_sentence(story: str, question: str, right: str | None) -> None:
    assert told(story, question) == right


@pytest.mark.parametrize(
    ("story", "right"),
    [
        ("Ann put the pan on the hook while Tom was there. Tom was out when she moved it to the oven.", "on the hook"),
        ("Ann put the pan on the hook while Tom was up there.", None),
        ("Ann put the pan on the hook, and Tom held the lamp for her.", "on the hook"),
        ("Ann put the pan on the hook. Then Tom left. Ann moved the pan to the oven.", "on the hook"),
        ("Ann hid the pan in the oven. Then Tom left.", None),
        ("Tom was at work when Ann carried the pan from the hook to the oven.", "at the hook"),
        ("Ann carried the pan to the oven. Tom was walking beside her.", "to the oven"),
        (
            "Ann put the pan on the hook. Through the window, Tom could see her. She put the pan in the oven.",
            "in the oven",
        ),
        ("A guest called Tom put the pan on the hook. Ann put it in the oven. She told me about it.", None),
        ("Ann put the pan on the hook. Tom smiled at her as she did it.", "on the hook"),
        ("With Tom holding the lamp, Ann put the pan on the hook.", "on the hook"),
        ("Ann put the pan on the hook. Tom was standing right there.", "on the hook"),
        (
            "Tom put the pan across two chairs. Ann moved it to the oven. Tom spent the day in court.",
            "across two chairs",
        ),
        ("Tom puts the pan on the hook. Ann moves it to the oven. Tom is at school.", "on the hook"),
        ("Tom put the pan on the hook. Ann put it in the oven. Tom heard drumming from the oven.", None),
        ("Tom put the pan on the hook. Ann put it in the oven. Tom found them in the kitchen.", None),
        ("Ann told Tom that she would put the pan in the oven. In truth, she had put it on the hook.", "in the oven"),
    ],
)
def test_who_is_there_sees_it(story: str, right: str | None) -> None:
    assert told(story, "Where does Tom think the pan is?") == right


@pytest.mark.parametrize(
    ("more", "right"),
    [("", None), ("Anna thinks that Paul was asleep.", "no"), ("Anna saw him, too.", "yes")],
)
def test_one_may_take_another_not_to_have_seen_it(more: str, right: str | None) -> None:
    story = "From behind the door, Paul saw Anna slip the ticket under the lamp. "
    assert told(story + more, "Does Anna think that Paul knows the ticket is under the lamp?") == right


@pytest.mark.parametrize(
    ("question", "options", "right"),
    [
        ("Who knows that the pan is in the oven?", ("Ann and Cleo", "only Bo", "nobody"), "Ann and Cleo"),
        ("Who was told that the pan is in the oven?", ("Bo", "Cleo"), "Cleo"),
        ("Has Bo been told that the pan is in the oven?", (), "no"),
        ("Who does not know that the pan is in the oven?", (), "Bo"),
        ("Who doesn't know where the pan is?", ("Ann", "Bo", "Cleo"), "Bo"),
        ("Which of the three does not know where the pan is?", (), "Bo"),
        ("Of these three people, who does not know where the pan is?", (), "Bo"),
        ("Besides Ann, who knows where the pan is?", (), "Cleo"),
        ("Who, apart from Ann, knows that the pan is in the oven?", (), "Cleo"),
        ("Who knows that the pan is in the oven, apart from Cleo?", (), "Ann"),
        ("Who does not know where the pan is, Bo or Cleo?", (), "Bo"),
    ],
)
def test_questions_about_who(question: str, options: tuple[str, ...], right: str) -> None:
    story = (
        "Bo put the pan on the hook and went out. Ann moved the pan to the oven. "
        "Ann told Cleo that the pan was in the oven. Nobody told Bo."
    )
    assert told(story, question, options) == right


@pytest.mark.parametrize(
    ("story", "question", "right"),
    [
        # whoever did it, perceived it or was told knows it; whoever is said to have missed it does not
        ("Ola broke the vase. Pia saw it. Tom was told nothing.", "Does Pia know that the vase is broken?", "yes"),
        ("Ola broke the vase. Pia saw it. Tom was told nothing.", "Does Tom know that the vase is broken?", "no"),
        ("Ola broke the vase. Pia saw it. Tom was told nothing.", "Does Ola know that the vase is broken?", "yes"),
        ("Ola broke the vase while Tom was asleep.", "Does Tom know that the vase is broken?", "no"),
        ("Ola broke the vase while Tom was asleep. Later she told him about it.", "Does Tom know of the vase?", "yes"),
        ("Ola broke the vase. Tom was told nothing. Then Pia whispered something.", "Does Tom know that?", None),
    ],
)
def test_access_decides_who_knows_of_it(story: str, question: str, right: str | None) -> None:
    assert told(story, question) == right


def test_names_in_a_list_are_of_as_many_people() -> None:
    story = "Ida, Bea and Tom share a flat. Bea broke the lamp in the hall. Ida saw it. Tom slept and was told nothing."
    assert told(story, "Who does not know that the lamp is broken?") == "Tom"


@pytest.mark.parametrize(
    ("more", "right"),
    [
        ("Sven was away while Greta moved it to the fridge. She told him so.", "no"),  # to know of it is not to see it
        ("Sven watched Greta as she moved it to the fridge.", "yes"),
        ("Sven watched until Greta had moved it to the fridge.", "yes"),
    ],
)
def test_to_see_a_move_is_more_than_to_know_of_it(more: str, right: str) -> None:
    assert told(PUT + more, "Did Sven see Greta move the flask?") == right


def test_what_is_overheard_is_said_by_whoever_says_it() -> None:
    more = "She left. Sven moved the flask to the fridge. She heard Sven say to Olga, 'The flask is in the fridge.'"
    assert told(PUT + more, LOOK) == "in the fridge"


def test_a_quote_that_nobody_is_said_to_speak_keeps_an_answer_open() -> None:
    more = "She left. Sven moved the flask to the fridge. The first thing she saw was his note: 'It is in the fridge.'"
    assert told(PUT + more, LOOK) is None


def test_they_who_told_somebody_are_somebody_else() -> None:
    more = "Greta left. Olga moved the flask to the fridge. In the evening she told Greta that it was in the fridge."
    assert told(PUT + more, LOOK) == "in the fridge"


@pytest.mark.parametrize(
    ("text", "clauses"),
    [
        ("Only then did she leave.", ["then she did leave"]),
        ("Greta did not leave until Sven came.", ["greta did leave", "after sven came"]),
        ("Only Greta did not see it.", ["only greta did not see it"]),  # "only" is about her
    ],
)
def test_turned_sentences_are_put_in_the_usual_order(text: str, clauses: list[str]) -> None:
    assert [one.words for one in sentences_of(PUT + text)[0][-1].clauses] == clauses


THERE, MOVED = "Greta put the flask in the cupboard. ", "Sven moved it to the fridge."


@pytest.mark.parametrize(
    ("story", "right"),
    [
        ("Greta saw the flask in the cupboard and left. " + MOVED, "in the cupboard"),
        (THERE + "The man next to her moved it to the fridge while she slept.", "in the cupboard"),
        (THERE + "Greta went for a walk. During her walk Sven moved it to the fridge.", "in the cupboard"),
        (THERE + "Greta was in the room. " + MOVED + " She saw and heard nothing of this.", "in the cupboard"),
        (THERE + "Greta was reading. " + MOVED + " She does not once look up.", "in the cupboard"),
        (THERE + "Greta was called away. " + MOVED, "in the cupboard"),
        (THERE + "She had her back to Sven, yet in the mirror she saw him put it in the fridge.", "in the fridge"),
        (THERE + "She saw Sven move it from there to the box and, later, from the box to the fridge.", None),
        (THERE + "Greta left. Sven moved everything to the fridge.", "in the cupboard"),
        (
            "Grandma " + THERE + "While she was at church, the girl next door took it away.",
            "in the cupboard",
        ),
    ],
)
def test_who_perceives_a_move(story: str, right: str | None) -> None:
    assert told(story, LOOK) == right


@pytest.mark.parametrize(
    ("story", "question", "right"),
    [
        ("Greta thinks that the flask is in the cupboard, and Sven that it is in the fridge.", NOW, None),
        (THERE + "Nobody has touched it since she put it there.", NOW, "in the cupboard"),
        (THERE + "It has stayed where Greta put it.", NOW, "in the cupboard"),
        ("At noon the flask was in the cupboard. " + MOVED, "Where was the flask at noon?", "in the cupboard"),
        (THERE + MOVED, "Where was the flask on Tuesday?", None),
        (THERE + MOVED, "Where was the flask when the bell rang?", None),
        (THERE + "The thief stole it while Sven watched.", "Who knows that the thief stole the flask?", None),
        (THERE + "Greta left. Will Sven move it to the fridge?", "Will Sven move the flask to the fridge?", None),
        (
            THERE + "Sven told her that it was in the fridge. She was certain that he was making it up.",
            "Does Greta believe that the flask is in the fridge?",
            "no",
        ),
        (
            "'It is in the fridge,' Sven told her. Greta laughed. 'I don't believe you,' she said. "
            "She had put the flask in the cupboard.",
            "Does Greta believe that the flask is in the fridge?",
            None,
        ),
        (THERE + "Sven took it to the fridge, and there it has stayed.", NOW, "to the fridge"),
    ],
)
def test_where_a_thing_is_at_what_time(story: str, question: str, right: str | None) -> None:
    assert told(story, question) == right
