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
        (
            "Lena was lifting a log. Karl held the branch up so she could get it out.",
            "Is Karl helping Lena?",
            (),
            "yes",
        ),
        (
            "Lena was lifting a log. Karl was fishing and had no idea that she was there.",
            "Is Karl helping Lena, hindering her, or neither?",
            (),
            "neither",
        ),
        (
            "Lena wanted to cross the bridge. Karl shut the gate and would not let her through.",
            "Is Karl helping or hindering Lena?",
            (),
            "hindering",
        ),
        ("Lena wanted to cross the bridge. Karl won't let her through.", "Is Karl helping Lena?", (), "no"),
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
        ("Ruth asked for a drum. Then she changed her mind.", "What does Ruth want?", (), None),
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
        (
            "'Could I swap seats with you?' Nora asked the man by the window. She wanted to photograph the mountains.",
            "Why did Nora ask the man to swap seats?",
            ("so that she could photograph the mountains", "because she felt sick"),
            "so that she could photograph the mountains",
        ),
        (
            "The goalkeeper tied a red ribbon to the bag so that he would find it again among the others.",
            "Why did the goalkeeper tie a ribbon to the bag?",
            ("to find it again", "to give it to his wife"),
            "to find it again",
        ),
        (
            "Lola refuses to wear the yellow hat. She pulls the green one out of the drawer and puts it on.",
            "Which hat does Lola want to wear?",
            ("the yellow hat", "the green hat"),
            "the green hat",
        ),
        (
            "Lola refuses to wear the yellow hat. She pulls the green one out of the drawer and puts it on.",
            "Does Lola want to wear the yellow hat?",
            (),
            "no",
        ),
        (
            "Hank is thirsty. He walks past the bakery and goes into the dairy.",
            "What does Hank want?",
            ("something to drink", "a loaf of bread"),
            "something to drink",
        ),
        (
            "Tariq bought flowers on his way home, for it was his wife's birthday.",
            "Why did Tariq buy flowers?",
            ("because it was his wife's birthday", "because he has a garden"),
            "because it was his wife's birthday",
        ),
        (
            "Tariq bought flowers on his way home. He hoped that his wife would forgive him for the broken vase.",
            "Why did Tariq buy flowers?",
            ("so that his wife would forgive him", "so that he would have a vase"),
            "so that his wife would forgive him",
        ),
        (
            "The girl would not let go of the puppy. 'Can we keep him, Mum?' she begged.",
            "What does the girl want?",
            ("to keep the puppy", "to sell the puppy"),
            "to keep the puppy",
        ),
        (
            "At the market Hugo asked for a kilo of cherries. The seller only had plums, so he bought nothing.",
            "What did Hugo want to buy?",
            ("cherries", "plums"),
            "cherries",
        ),
        (
            "Ottilie wants her neighbour to stop smoking on the balcony. She has written him a letter.",
            "What does Ottilie want her neighbour to do?",
            ("to stop smoking on the balcony", "to write a letter"),
            "to stop smoking on the balcony",
        ),
        (
            "Rudi needed a longer ladder, so he knocked at the joiner's. The joiner's wife offered him coffee.",
            "What did Rudi need?",
            ("a ladder", "coffee"),
            "a ladder",
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
        (
            "Mr Farouk's van would not start. The girl with the toolbox gave Mr Farouk a cable. Otto ate a bun.",
            "Who helped Mr Farouk?",
            (),
            "the girl",
        ),
        (
            "Greta was looking for her ring. Anton found it on the floor and put it in her hand.",
            "Is Anton helping Greta?",
            (),
            "yes",
        ),
        (
            "Old Jonas was struggling with a trunk. A soldier carried it with him to the top.",
            "Did the soldier help Jonas?",
            (),
            "yes",
        ),
        ("Jonas was struggling with a trunk. A soldier sang with him.", "Did the soldier help Jonas?", (), None),
        ("Lea lay in bed. Her crutch stood by the wall. Max carried the crutch away.", "Is Max helping Lea?", (), "no"),
        (
            "Leo hid the pen in the piano. "
            "Ruth asked him where it was, and he said that he had seen it in the bath. She trusted him.",
            "Where does Ruth think the pen is?",
            ("in the piano", "in the bath"),
            "in the bath",
        ),
        (
            "Leo hid the pen in the piano. Ruth asked where it was, and he told her that he had seen it in the bath.",
            "Where does Leo himself think the pen is?",
            ("in the piano", "in the bath"),
            "in the piano",
        ),
        (
            "The chef had no eggs. The waiter ran to the shop. Yuki cracked one for the chef.",
            "Did the waiter help the chef?",
            (),
            None,
        ),
        (
            "The chef had no eggs. The waiter slept. Yuki cracked one for the chef.",
            "Did the waiter help the chef?",
            (),
            "no",
        ),
        (
            "Karl had a fever. The nurse did not know the ward well. She rang the doctor at once.",
            "Did the nurse help Karl?",
            (),
            None,
        ),
        (
            'Otto ate the plum. Ruth asked who had it. "Leo took it," Otto told Ruth. She had no reason to doubt him.',
            "Who does Ruth think took the plum?",
            ("Otto", "Leo"),
            "Leo",
        ),
        (
            'Otto ate the plum. "Leo took it," he told Ruth. "Or perhaps Max took it," he added. She trusted him.',
            "Who does Ruth think took the plum?",
            ("Otto", "Leo", "Max"),
            None,
        ),
        (
            "Otto lost the drill. He told Ruth that it had been lent to the joiner. Ruth believed him.",
            "Who does Ruth think has the drill?",
            ("Otto", "the joiner"),
            "the joiner",
        ),
        (
            "Otto burnt the list. He told Ruth that the wind had taken it. Ruth accepted this and wrote another one.",
            "Does Ruth think that the list was burnt?",
            (),
            "no",
        ),
        (
            "Otto burnt the list. He told Ruth that the wind had taken it. Ruth accepted it, but then she saw ashes.",
            "Does Ruth think that the list was burnt?",
            (),
            None,
        ),
        (
            "Jo was setting up a tent. Her uncle parked his van on the grass so that nothing could be put up.",
            "Is the uncle helping Jo?",
            (),
            "no",
        ),
        (
            "Jo was dragging a bench. Her uncle saw her, put down his cup and took the other end.",
            "Is the uncle helping Jo?",
            (),
            "yes",
        ),
        (
            "Jo was building a raft. Her uncle kicked the barrels away and laughed.",
            "What is the uncle doing to Jo's attempt to build a raft?",
            ("helping it", "hindering it"),
            "hindering it",
        ),
        (
            'Lea hid the rolls in the chest. "Where are they?" asked Max. "In the oven," she told Max. He believed it.',
            "Where does Max think the rolls are?",
            ("in the chest", "in the oven"),
            "in the oven",
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


@pytest.mark.parametrize(
    ("story", "question", "options", "right"),
    [
        ("Karl was carrying a sofa. Petra held the door open for the postman.", "Is Petra helping Karl?", (), None),
        (
            "Karl was baking. Petra, who did not know this, carried the eggs to the neighbour.",
            "Is Petra helping or hindering Karl?",
            ("helping", "hindering", "neither"),
            "neither",
        ),
        (
            "Karl wanted to sleep. Petra sang a song for him, loudly and badly, and he put a pillow over his head.",
            "Is Petra helping Karl?",
            (),
            None,
        ),
        (
            "Karl was learning his lines. Petra read the other part to him until he knew them all.",
            "Is Petra helping Karl?",
            (),
            "yes",
        ),
        (
            "Karl needed to catch the bus. Petra hid his shoes because she wanted him to stay.",
            "Is Petra helping Karl?",
            (),
            "no",
        ),
        ("Karl asked for the saw. Petra gave it to Otto.", "Is Petra helping Karl?", (), None),
        ("Karl thanked Petra for the jam. Then he went on digging.", "Is Petra helping Karl to dig?", (), None),
        ("Karl was pushing his car. Petra sat down on the bonnet and ate a peach.", "Is Petra helping Karl?", (), None),
        (
            "The twins were washing the dog. Their cousin sprayed them on purpose. 'Stop it!' they shouted.",
            "Is the cousin helping the twins?",
            (),
            "no",
        ),
        (
            "Karl was painting the gate. Petra painted the lower half for him. He was very grateful.",
            "Is Petra helping or hindering Karl?",
            ("helping", "hindering", "neither"),
            "helping",
        ),
        (
            "Petra meant to help Karl and cut the rope, but it was the rope that held his ladder.",
            "Is Petra helping Karl?",
            (),
            None,
        ),
        (
            "Mila looked at the red dress for a long time. Then she bought the blue one because it was cheaper.",
            "Which dress does Mila want more?",
            ("the red dress", "the blue dress"),
            None,
        ),
        (
            "Jo wanted to buy a kite, but her father wanted to buy her a drum. He asked for the drum.",
            "What does Jo want?",
            ("a kite", "a drum"),
            "a kite",
        ),
        (
            "Iris opened the window. There was smoke in the kitchen, and her eyes were watering.",
            "Why did Iris open the window?",
            ("to let the smoke out", "to water the flowers"),
            None,
        ),
        (
            "Iris opened the window to let the cat in. Smoke was rising from the chimney across the road.",
            "Why did Iris open the window?",
            ("to let the cat in", "to let the smoke out"),
            "to let the cat in",
        ),
        (
            "Samir does not want to eat the soup because it is too hot. He wants bread.",
            "What does Samir want to eat?",
            ("soup", "bread"),
            "bread",
        ),
        (
            "Ben hid behind the sofa. His brother was looking for him with a water pistol.",
            "Why did Ben hide behind the sofa?",
            ("because he did not want to get wet", "because he wanted to sleep"),
            None,
        ),
        (
            "Ulla took an umbrella. The sky was full of dark clouds.",
            "Why did Ulla take an umbrella?",
            ("because she thought it would rain", "because she wanted to sell it"),
            None,
        ),
        (
            "Ruth bought two tickets. She wanted to surprise her son, who loves trains.",
            "Why did Ruth buy two tickets?",
            ("to surprise her son", "to sell the trains"),
            "to surprise her son",
        ),
        (
            "Kai asked the waiter for the bill. The waiter brought him a cake.",
            "What did Kai want?",
            ("a cake", "the bill"),
            "the bill",
        ),
        (
            "Tilda ate the fig. She told Bruno that the crow had taken it, and Bruno believed her.",
            "Who does Bruno think took the fig?",
            ("Tilda", "the crow"),
            "the crow",
        ),
        (
            "'I love spinach,' said Tilda, and winked at Bruno. Bruno knew that she hated it.",
            "Does Tilda really love spinach?",
            (),
            None,
        ),
        (
            "Karl was looking for his hat. Petra found his hat and put it on his head. He hugged her.",
            "Is Petra helping Karl?",
            (),
            None,
        ),
        ("Karl was reading. Petra broke his pencil by accident and said sorry.", "Is Petra hindering Karl?", (), None),
        ("Nobody helped Karl with the piano. Petra watched from the stairs.", "Who helped Karl?", (), None),
        (
            "Karl dug the pond. Petra dug with him, and Otto brought them lemonade. Mia slept.",
            "Did Mia help Karl?",
            (),
            "no",
        ),
        ("Petra wanted to help Karl. She held the torch for him.", "Is Petra helping Karl?", (), "yes"),
        ("Petra pretended to help Karl. She held the rope, but she did not pull.", "Is Petra helping Karl?", (), None),
        ("Karl could not reach the bell. Petra refused to lift him.", "Is Petra helping Karl?", (), None),
        (
            "Karl, who was trying to sleep, heard Petra drilling. She did not know that he was at home.",
            "Is Petra hindering Karl?",
            (),
            "no",
        ),
        ("The guard let the thief out because he felt sorry for him.", "Did the guard help the thief?", (), None),
        (
            "Lena found a cereal box in the attic. She opened it and found old letters in it.",
            "What does Lena think is in the box?",
            ("cereal", "letters"),
            None,
        ),
        (
            "Lena filled the sugar bowl with salt. Tim watched her.",
            "What does Tim think is in the bowl?",
            ("sugar", "salt"),
            None,
        ),
        (
            "Lena filled the sugar bowl with salt while Tim was asleep. Tim came in and sat down.",
            "What does Tim think is in the bowl?",
            ("sugar", "salt"),
            "sugar",
        ),
        (
            "There is a toffee tin on the shelf. Tim thinks that pens are in the tin because Lena told him.",
            "What does Tim think is in the tin?",
            ("toffee", "pens"),
            None,
        ),
        (
            "The boss believes that Ann lost the file. In fact Bob lost it.",
            "Who does the boss think lost the file?",
            ("Ann", "Bob"),
            None,
        ),
        (
            "Bob told the boss that Ann had lost the file. The boss, who trusted Bob, was angry.",
            "Who does the boss think lost the file?",
            ("Ann", "Bob"),
            "Ann",
        ),
        (
            "Bob told the boss that Ann had lost the file. The boss trusted Ann and did not believe Bob.",
            "Who does the boss think lost the file?",
            ("Ann", "Bob"),
            None,
        ),
        (
            "Ann told the boss that Bob had found the file and that Cid had lost it. The boss believed her.",
            "Who does the boss think lost the file?",
            ("Bob", "Cid"),
            None,
        ),
        (
            "Only the captain knew that the ship was leaking. He told the mate. The cook was asleep.",
            "Does the mate know that the ship is leaking?",
            (),
            None,
        ),
        (
            "Only the captain knew that the ship was leaking. The cook was peeling potatoes.",
            "Does the cook know that the ship is leaking?",
            (),
            "no",
        ),
        ("Ann suspected nothing, but then Bob showed her the cake.", "Does Ann know about the cake?", (), "yes"),
        (
            "Mr Hill sold the barn. Mrs Hill was in Spain, and nobody rang her.",
            "Does Mrs Hill know that the barn has been sold?",
            (),
            "no",
        ),
        (
            "Mr Hill sold the barn. Mrs Hill was in Spain, and nobody rang her.",
            "Does Mr Hill know that the barn has been sold?",
            (),
            "yes",
        ),
        (
            "Ann took the wrong coat. At home she noticed it and blushed.",
            "Does Ann know that she took the wrong coat?",
            (),
            None,
        ),
        ("Ann took the wrong coat and went home.", "Does Ann know that she took the wrong coat?", (), "no"),
        (
            '"Please shut the gate, Bob," said Ann. Bob was counting sheep.',
            "Why did Bob shut the gate?",
            ("because Ann asked him", "because he was cold"),
            None,
        ),
        (
            "Ann hopes that her son will not forget the milk.",
            "What does Ann want?",
            ("that her son brings the milk", "that her son drinks the milk"),
            None,
        ),
        (
            "Ann is afraid of dogs. She crossed the street when she saw one.",
            "Does Ann want to stroke the dog?",
            (),
            None,
        ),
        (
            "Ann hid the present because her son was coming. She did not want him to see it before his birthday.",
            "Why did Ann hide the present?",
            ("so that her son would not see it", "so that her son would be sad"),
            "so that her son would not see it",
        ),
        (
            "Bob ran to the shop to buy candles. The lights had gone out.",
            "Why did Bob run to the shop?",
            ("to buy candles", "to buy lights"),
            "to buy candles",
        ),
        (
            "The baker ran out of flour. His apprentice was standing at his side and saw the empty sack.",
            "Does the apprentice know that there is no flour left?",
            (),
            "yes",
        ),
        (
            "Jomo locked the gate and put the key under the mat. His wife watched him from the kitchen window.",
            "Does Jomo's wife know where the key is?",
            (),
            "yes",
        ),
        (
            "The twins swapped places in class. Only their mother knew. Mr Gray gave Ana's homework to Eva.",
            "Does Mr Gray know that the twins have swapped places?",
            (),
            "no",
        ),
        (
            "Pim said that the chest was locked. Ada did not trust Pim and tried the lid.",
            "Does Ada believe that the chest is locked?",
            (),
            "no",
        ),
        (
            "Ruth said that she liked the soup, and she made a face behind the cook's back. The cook was pleased.",
            "Does the cook think that Ruth likes the soup?",
            (),
            None,
        ),
        (
            "Olive was counting the votes. Her brother shouted numbers so that she lost count.",
            "Is Olive's brother helping her?",
            (),
            "no",
        ),
        (
            "The tourists could not read the menu. Yuki translated it for them.",
            "Who helped the tourists?",
            ("Yuki", "the cook"),
            "Yuki",
        ),
        ("Lou was typing a letter. The cat walked across the keys.", "Did the cat hinder Lou?", (), None),
        (
            "Lou wanted the window open. Max closed it without knowing that she wanted it open.",
            "Did Max mean to hinder Lou?",
            (),
            None,
        ),
        (
            "The firemen needed water. The farmer opened the gate to his pond for them.",
            "Did the farmer help the firemen?",
            (),
            "yes",
        ),
        (
            "The farmer locked the gate to his pond so that the firemen could not get water.",
            "Did the farmer help the firemen?",
            (),
            "no",
        ),
        (
            "Two men were lifting a piano. A boy walked by with an ice cream and looked at the clouds.",
            "Was the boy helping or hindering the men?",
            ("helping", "hindering", "neither"),
            None,
        ),
        (
            "The bottle had a label with a lemon on it. Otto had poured petrol into it. Rita smelled it.",
            "What does Rita think is in the bottle?",
            ("lemonade", "petrol"),
            None,
        ),
        (
            "Eric told Mum that the dog had eaten the sausages. Dad believed Eric.",
            "Who does Mum think ate the sausages?",
            ("the dog", "Eric"),
            None,
        ),
        (
            "Anna told Bert that Carl had won. Bert told Dora that Carl had lost. Dora trusted Bert.",
            "Does Dora think that Carl has won?",
            (),
            None,
        ),
        (
            "Anna told Bert that Carl had won. Bert told Dora that Carl had lost. Dora trusted Bert.",
            "Does Bert think that Carl has lost?",
            (),
            None,
        ),
        (
            "Anna said that she would come. She did not come. Bert had believed her.",
            "Does Bert think that Anna will come?",
            (),
            None,
        ),
        (
            "Anna lied to Bert that the bus had gone. Bert trusted her and walked home.",
            "Does Anna think that the bus has gone?",
            (),
            None,
        ),
        (
            "Anna thinks that the bus has gone. Bert knows that it is late.",
            "Does Bert think that the bus has gone?",
            (),
            None,
        ),
        (
            "Anna told Bert the answer. 'Thirty,' she said. Bert wrote it down and trusted her.",
            "Does Bert think that the answer is forty?",
            (),
            None,
        ),
        (
            "Leo needs a new coat, but he has no money. He looks at the boots in the window.",
            "What does Leo need?",
            ("a coat", "boots"),
            "a coat",
        ),
        (
            "Leo asked Ida what she wanted. She asked for a pear, and he asked for an apple.",
            "What does Leo want?",
            ("a pear", "an apple"),
            "an apple",
        ),
        (
            "Leo asked Ida what she wanted. She asked for a pear, and he asked for an apple.",
            "What does Ida want?",
            ("a pear", "an apple"),
            "a pear",
        ),
        (
            "Max pretended that he wanted the cake. In fact he was waiting for the ice cream.",
            "What does Max want?",
            ("the cake", "the ice cream"),
            None,
        ),
        (
            "Max does not know that the shop is shut. He wants to buy paint and drives to town.",
            "Why does Max drive to town?",
            ("to buy paint", "because the shop is shut"),
            "to buy paint",
        ),
        (
            "Max ran out of the house because he had seen the postman. He was waiting for a parcel.",
            "Why did Max run out of the house?",
            ("because he had seen the postman", "because the house was on fire"),
            "because he had seen the postman",
        ),
        (
            "Because the roof leaked, Max put a bucket under it.",
            "Why did Max put a bucket under the roof?",
            ("because the roof leaked", "to wash the floor"),
            "because the roof leaked",
        ),
        (
            "Max put a bucket in the hall. The floor was dirty, but he had a cold and went to bed.",
            "Why did Max put a bucket in the hall?",
            ("to wash the floor", "because he had a cold"),
            None,
        ),
    ],
)
def test_what_only_looks_like_a_reason_decides_nothing(
    story: str, question: str, options: tuple[str, ...], right: str | None
) -> None:
    assert told(story, question, options) == right
