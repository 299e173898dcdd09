"""What somebody wants, why they do it, whom they help, and what is a lie: answered only if the story says so."""

from __future__ import annotations

import pytest

from otherminds.stories.answering import ask

BOTH = ("helping", "hindering")
DOING = ("He is helping Mina.", "He is hindering Mina.", "He is doing neither.")
NEITHER = ("he helps her", "he hinders her", "neither")


def told(story: str, question: str, options: tuple[str, ...] = ()) -> str | None:
    found = ask(story, question, options)
    return None if found.answer.option is None or found.question is None else found.question.labels[found.answer.option]


@pytest.mark.parametrize(
    ("story", "question", "options", "right"),
    [
        (
            "Ines could not open the gate. Bo lifted the latch for her and stepped aside.",
            "Is Bo helping Ines?",
            (),
            "yes",
        ),
        ("Pim wanted to read. Ole switched off the lamp on purpose.", "Is Ole helping Pim?", (), "no"),
        ("The cook asked for the ladle. The boy handed it to the cook.", "Did the boy help the cook?", (), "yes"),
        (
            "Ada was sweeping leaves. Each time she finished a pile, Sten kicked it apart and giggled.",
            "Is Sten helping Ada or hindering her?",
            BOTH,
            "hindering",
        ),
        (
            "Otto was painting the ceiling. Vera held the ladder until he was down again.",
            "Did Vera help Otto?",
            (),
            "yes",
        ),
        (
            "Otto was painting the ceiling. Vera held the ladder until he was down again. Ruth ate an apple.",
            "Who helped Otto?",
            ("Vera", "Ruth"),
            "Vera",
        ),
        (
            "Mina was looking for her glove. Jorge put it behind the stove so that she could not find it.",
            "What is Jorge doing?",
            DOING,
            DOING[1],
        ),
        ("Lena was mending a sail. Karl sewed one corner for her.", "Was Karl helpful to Lena?", (), "yes"),
        (
            'Lena was mending a sail. Karl threaded the needle. "Bless you, Karl," she said.',
            "Is Karl helping Lena?",
            (),
            "yes",
        ),
        ("Otto was washing the car. Vera carried the sponge away.", "Is Vera helping Otto?", (), None),
        ("Otto needed the sponge. Vera carried the sponge away.", "Is Vera helping Otto?", (), "no"),
        (
            "Lena was mending a sail. Karl was fishing and did not notice her.",
            "Did Karl help or hinder Lena?",
            NEITHER,
            "neither",
        ),
        ("Ada was sweeping the yard. Sten walked past with his dog.", "Is Sten helping Ada?", (), None),
        ("Ada was sweeping the yard. Sten thanked her for the tea.", "Is Sten helping Ada?", (), None),
        (
            "Ada was planting beans. Sten meant well and watered them for her, but it was the wrong bottle.",
            "Is Sten helping Ada?",
            (),
            None,
        ),
        ("Ada was waiting for Sten. Sten looked for her in the market.", "Is Sten helping Ada?", (), None),
        ("Ada was cooking. Sten set a trap for her.", "Is Sten helping Ada?", (), "no"),
        (
            "Ada was singing. Otto ate an egg. Leo held the score for her, and she thanked Leo.",
            "Did Otto help Ada?",
            (),
            "no",
        ),
    ],
)
def test_help_is_what_brings_what_is_wanted_nearer(
    story: str, question: str, options: tuple[str, ...], right: str | None
) -> None:
    assert told(story, question, options) == right


@pytest.mark.parametrize(
    ("story", "question", "options", "right"),
    [
        (
            "Ana shivered in the wind. She wrapped the blanket round her shoulders. Her aunt was reading.",
            "Why did Ana wrap the blanket round her shoulders?",
            ("to keep warm", "to go to sleep", "to annoy her aunt"),
            "to keep warm",
        ),
        (
            "Leo bought a red kite. He ran up the hill to fly it. His friend was ill.",
            "Why did Leo run up the hill?",
            ("to fly the kite", "to see his friend"),
            "to fly the kite",
        ),
        (
            "Mia walked past the cakes and pointed at the melon.",
            "What does Mia want?",
            ("a cake", "the melon"),
            "the melon",
        ),
        ("Mia walked past the cakes and pointed at the melon.", "What does Mia want?", (), "the melon"),
        ("Kofi did not want to swim. He sat on the towel.", "Does Kofi want to swim?", (), "no"),
        ("Kofi wanted to swim in the lake. His sister did not.", "Does Kofi want to swim?", (), "yes"),
        (
            "Olga closed the shutters because the sun hurt her eyes. Her cat was asleep.",
            "Why did Olga close the shutters?",
            ("because the sun hurt her eyes", "because the cat was asleep"),
            "because the sun hurt her eyes",
        ),
        (
            'Per hid the matches on the top shelf. "I do not want the twins to burn themselves," he said to his wife.',
            "Why did Per hide the matches?",
            ("so that the twins would not burn themselves", "so that his wife could light the fire"),
            "so that the twins would not burn themselves",
        ),
        ("Ruth was saving up for a drum. Her brother bought a hat.", "What does Ruth want to buy?", (), "a drum"),
        (
            'Tom stood before the two doors and said, "Please let me try the green one."',
            "Which door does Tom want to open?",
            ("the red door", "the green door"),
            "the green door",
        ),
        ("Tom wants to sell his boat. His sister wants to keep it.", "Does Tom want to keep the boat?", (), None),
        (
            "Rosa painted the door. It was Monday.",
            "Why did Rosa paint the door?",
            ("because she likes red", "because she sells doors"),
            None,
        ),
        ("Ivo looked for his sister's drum in the attic.", "Does Ivo want to play the drum?", (), None),
        (
            "Ben's brother wanted the last plum. Ben took the pear.",
            "What does Ben want?",
            ("the plum", "the pear"),
            None,
        ),
        (
            "Eva had drunk the milk. Then she went to the stairs.",
            "What does Eva want?",
            ("to drink the milk", "to sleep"),
            None,
        ),
        (
            "Ida said that the soup was cold. Max asked for the salt and for the pepper.",
            "What does Max want?",
            (),
            None,
        ),
        (
            "Ida fed the hens. The fox watched her from the hedge.",
            "Why did Ida feed the hens?",
            ("to sell them", "to please the fox", "to make them fat"),
            None,
        ),
        ("Finn asked if the shop had lamps. He bought a rope.", "What does Finn want?", ("a lamp", "a rope"), None),
        (
            "Kurt waved to the waiter. The waiter was carrying a cake.",
            "What does Kurt want?",
            ("to eat the cake", "to pay"),
            None,
        ),
        (
            "Uma wanted to go home. Then she saw the band and changed her mind. She wanted to dance.",
            "What does Uma want?",
            ("to go home", "to dance"),
            None,
        ),
    ],
)
def test_what_is_wanted_is_what_words_and_deeds_aim_at(
    story: str, question: str, options: tuple[str, ...], right: str | None
) -> None:
    assert told(story, question, options) == right


@pytest.mark.parametrize(
    ("story", "question", "options", "right"),
    [
        (
            "Leo told Mina that the bridge was closed. Mina believed him.",
            "Does Mina think that the bridge is closed?",
            (),
            "yes",
        ),
        (
            "Leo told Mina that the bridge was closed. Mina had seen cars on the bridge, and she did not believe him.",
            "Does Mina think that the bridge is closed?",
            (),
            "no",
        ),
        (
            "Leo told Mina that the soup was hot. Mina trusted him.",
            "Does Mina think that the soup is not hot?",
            (),
            "no",
        ),
        (
            "Leo ate the plum. He told his aunt that the parrot had eaten it. His aunt believed him.",
            "Who does his aunt think ate the plum?",
            ("Leo", "the parrot"),
            "the parrot",
        ),
        (
            "Leo ate the plum. He told his aunt that the parrot had eaten it.",
            "Who does his aunt think ate the plum?",
            ("Leo", "the parrot"),
            None,
        ),
        (
            "Leo ate the plum. He told his aunt that the parrot had eaten it. His aunt did not believe him.",
            "Who does his aunt think ate the plum?",
            ("Leo", "the parrot"),
            None,
        ),
        (
            "On the table is a tea tin. Ruth has filled it with coins. Otto comes in and sees the tin.",
            "What does Otto think is in the tin?",
            ("tea", "coins"),
            "tea",
        ),
        (
            "On the table is a tea tin. Ruth has filled it with coins. Otto opened the tin and closed it again.",
            "What does Otto think is in the tin?",
            ("tea", "coins"),
            None,
        ),
        (
            "On the table is a jar with a picture of honey on it. Ruth put paint in the jar. Otto came in later.",
            "What does Otto think is in the jar?",
            ("honey", "paint"),
            "honey",
        ),
        (
            "On the table is a jar with a picture of honey on it. Ruth put paint in the jar. She told Otto about it.",
            "What does Otto think is in the jar?",
            ("honey", "paint"),
            None,
        ),
        (
            'Nora dropped the cake. "What a success," she said and rolled her eyes.',
            "Does Nora really think that the cake is a success?",
            (),
            "no",
        ),
        (
            'Nora dropped the cake. "The cake is a success," she said.',
            "Does Nora think that the cake is a success?",
            (),
            None,
        ),
        (
            'Nora looked at the clock. "The train is early," said Nora with a wink. Leo laughed.',
            "Did Nora want Leo to believe that the train was early?",
            (),
            "no",
        ),
        (
            "The chest belongs to Captain Hale. Only the cook knows that. Ida sat down on the chest.",
            "Does Ida know that the chest belongs to Captain Hale?",
            (),
            "no",
        ),
        (
            "The chest belongs to Captain Hale. Only the cook knows that.",
            "Does the cook know that the chest belongs to Captain Hale?",
            (),
            "yes",
        ),
        (
            "Only the cook knows the way. Ida saw the chest fall from the cart.",
            "Does Ida know that the chest fell from the cart?",
            (),
            "yes",
        ),
        (
            "Ida found the bill in the drawer. She read it twice. Leo told her nothing.",
            "How does Ida know the price?",
            ("She read it.", "Leo told her."),
            "She read it.",
        ),
        (
            "Leo told Ida the price. Ida had not read the bill.",
            "How does Ida know the price?",
            ("She read it.", "Leo told her."),
            "Leo told her.",
        ),
        ("Leo told Max the price.", "How does Ida know the price?", ("She read it.", "Leo told her."), None),
    ],
)
def test_what_is_told_is_believed_by_whoever_trusts_it(
    story: str, question: str, options: tuple[str, ...], right: str | None
) -> None:
    assert told(story, question, options) == right


@pytest.mark.parametrize(
    ("story", "question", "options", "right"),
    [
        (
            "Nils wanted a rest in the shade. His workmate Olga saw him struggling and took the other end of the beam.",
            "Did Olga help Nils?",
            (),
            "yes",
        ),
        ("Nils saw Olga struggling and went home.", "Did Nils hinder Olga?", (), None),
        (
            "Old Bert could not find his hat. Maria told him that it was on the hook.",
            "Who helped Bert find his hat?",
            ("Maria", "nobody"),
            "Maria",
        ),
        (
            "Old Bert could not find his hat. Maria lied that it was on the hook.",
            "Who helped Bert find his hat?",
            ("Maria", "nobody"),
            None,
        ),
        (
            "Ruth was painting. The doctor, Dr Lopez, moved the chair so that Ruth could stand on it.",
            "Who helped Ruth?",
            (),
            "the doctor, Dr Lopez",
        ),
        (
            "Ruth was painting. Otto ate a pie. Bert moved the chair so that Ruth could stand on it.",
            "Did Otto help Ruth?",
            (),
            "no",
        ),
        (
            "Leo had put a slice of pie in the bin. He told Ruth that it was in the oven. Ruth believed every word.",
            "Where does Ruth think the pie is?",
            ("in the bin", "in the oven"),
            "in the oven",
        ),
        (
            "Leo had put the pie in the bin. He told Ruth that it was in the oven. Ruth thanked him and smiled.",
            "Where does Ruth think the pie is?",
            ("in the bin", "in the oven"),
            "in the oven",
        ),
        (
            "Leo had put the pie in the bin. He told Ruth that it was in the oven. "
            "Ruth thanked him, but she had seen him throw it away.",
            "Where does Ruth think the pie is?",
            ("in the bin", "in the oven"),
            None,
        ),
        (
            "Leo hid the pie in the bin. He told Ruth that it was in the oven.",
            "Where does Leo himself think the pie is?",
            ("in the bin", "in the oven"),
            "in the bin",
        ),
        (
            "Leo told Ruth that the kettle was full. Ruth always believed him.",
            "What does Ruth think about the kettle?",
            ("that it is full", "that it is lost"),
            "that it is full",
        ),
        (
            "Leo told Ruth that the kettle was full. Ruth did not believe him.",
            "What does Ruth think about the kettle?",
            ("that it is full", "that it is lost"),
            None,
        ),
    ],
)
def test_who_helped_and_what_is_trusted(story: str, question: str, options: tuple[str, ...], right: str | None) -> None:
    assert told(story, question, options) == right


@pytest.mark.parametrize(
    ("story", "question", "options", "right"),
    [
        (
            'Hugo broke the jug. "It was the wind," he told Ida. He hoped that nobody would find out.',
            "Is Hugo lying?",
            (),
            "yes",
        ),
        (
            'Hugo broke the jug. "It was the wind," he told Ida. He hoped that nobody would find out.',
            "Did Hugo tell the truth?",
            (),
            "no",
        ),
        (
            'Hugo knew that the mill was shut. "Go to the baker, he has plenty of flour," he told Ida.',
            "Is Hugo lying?",
            (),
            None,
        ),
        (
            'Ida asked whether the mill was open. Hugo knew that it was shut. "It opens at nine," he said.',
            "Is Hugo lying?",
            (),
            "yes",
        ),
        ('Hugo knew that the mill was shut. "The mill is shut," he said to Ida.', "Is Hugo lying?", (), None),
        (
            'Hugo thought that the mill was shut. "The mill is shut," he said to Ida. He was wrong.',
            "Is Hugo lying?",
            (),
            "no",
        ),
        ('"The mill is shut," said Hugo. Ida turned round.', "Is Hugo lying?", (), None),
        (
            'The wasps had come back. Ida put a net over the pears. "I do not want the wasps to get in," '
            "she told Otto. Otto was eating a warm pie.",
            "Why did Ida put a net over the pears?",
            ("to keep the wasps out", "to keep the pie warm"),
            "to keep the wasps out",
        ),
        (
            "Ida asked the drummer to stop for an hour. Then she lay down in the hammock.",
            "Why did Ida ask the drummer to stop?",
            ("because she wanted to sleep", "because she wanted to dance"),
            None,
        ),
        (
            "Her fingers were numb. Ida went to the stove and held them over it.",
            "Why did Ida go to the stove?",
            ("to warm her fingers", "to cook an egg"),
            "to warm her fingers",
        ),
        (
            'Max asked Ida whether she had fed the goat. "Yes, it has had its hay," she said. Max believed her.',
            "Does Max believe that the goat has been fed?",
            (),
            "yes",
        ),
        (
            'Max asked Ida whether she had fed the goat. "No," said Ida. Max trusted her.',
            "Does Max believe that the goat has been fed?",
            (),
            "no",
        ),
        (
            "Ole put the map in the desk and sailed off. Pia moved the map to the trunk. Ole has had no letter either.",
            "Does Ole know that the map is in the trunk?",
            (),
            "no",
        ),
    ],
)
def test_lies_and_stated_reasons(story: str, question: str, options: tuple[str, ...], right: str | None) -> None:
    assert told(story, question, options) == right
