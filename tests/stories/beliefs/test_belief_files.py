"""Benchmark files: every item with its label and line, and one clear line for every file that is none."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from otherminds.errors import InputError
from otherminds.stories.beliefs.belief_files import LARGEST, Format, Item, plain, read_items

TOMI = """1 Oskar entered the wine_cellar.
2 The celery is in the green_bucket.
3 Oskar dislikes the hat
4 Oskar moved the celery to the red_box.
5 Where will Oskar look for the celery?\tred_box\t1 4
1 The pear is in the blue_crate.
2 Where was the pear at the beginning?\tblue_crate\t1
"""
HI_TOM: dict[str, Any] = {
    "prompting_type": "MC",
    "deception": True,
    "story_length": 1,
    "question_order": 2,
    "sample_id": 7,
    "story": "Read the following story and answer it\n1 Ada and Bo entered the hut.\n2 The egg is in the red_box.\n***",
    "question": "Where does Ada think Bo thinks the egg is?",
    "choices": "A. red_box, B. blue_box",
    "answer": "red_box",
}
ROW: dict[str, Any] = {
    "story": "Ann puts her cup on the shelf.",
    "question": "Where is the cup?",
    "answer": "the shelf",
}
SCENARIO = [
    "Ann fills the jar with salt. Ann believes that the jar contains salt. A guest swaps the salt for sugar.",
    "Ann sees the guest swap it.",
    "Ann does not see the guest swap it.",
    "Ann refills the jar.",
    "Ann salts the soup from the jar.",
    "Does Ann believe the jar contains salt or sugar?",
    "Does Ann want salt?",
    "What will Ann do?",
    "Ann believes the jar contains sugar.",
    "Ann wants salt.",
    "Ann will refill the jar.",
    "Ann believes the jar contains salt.",
    "Ann wants salt.",
    "Ann will salt the soup.",
    "A bird sings.",
    "Ann hears the bird.",
    "Ann does not hear the bird.",
    "auto",
    "0",
]
TOMI_ROW: dict[str, Any] = {
    "story": "1 Oskar entered the wine_cellar.\n2 The celery is in the green_bucket.",
    "question": "Where will Oskar look for the celery?",
    "answer": "green_bucket",
    "story_type": "true_belief",
    "question_type": "first_order_0_no_tom",
    "containers": ["red_box", "green_bucket"],
}
TOMBENCH: dict[str, Any] = {
    "能力\nABILITY": "Belief: Location false beliefs",
    "序号\nINDEX": 3,
    "故事": "…",
    "STORY": 'Ann puts her cup on the shelf. Bo says: "NaN, NaN".',
    "QUESTION": "Where will Ann look for the cup?",
    "OPTION-A": "On the shelf",
    "OPTION-B": "On the stove",
    "OPTION-C": float("nan"),
    "OPTION-D": float("nan"),
    "答案\nANSWER": "B",
}
OPENTOM_STORIES: dict[str, Any] = {
    "12": {
        "narrative": "Ann and Bo saw the pear in the bowl. Ann left. Bo moved the pear to the attic shelf.",
        "plot_info": {"original_place": "bowl", "move_to_place": "a attic shelf", "mover": "Bo"},
    }
}
OPENTOM: list[dict[str, str]] = [
    {"question": "From narrator's perspective, where is pear?", "answer": "attic shelf", "type": "location-fo"},
    {"question": "From Ann's perspective, where is the pear precisely?", "answer": "bowl", "type": "location-fo"},
    {"question": "From Ann's perspective, is the pear where it was?", "answer": "Yes", "type": "location-so"},
    {
        "question": "From Bo's perspective, how does bowl's fullness change?",
        "answer": "less full",
        "type": "multihop-fo",
    },
    {"question": "As Ann, what is your attitude towards Bo's action?", "answer": "neutral", "type": "attitude"},
    {"question": "From Bo's perspective, where is the pear precisely?", "answer": "roof", "type": "location-so"},
]
FANTOM = """context,question,answer_choices,gt_answer
"Ann: I bought a boat.
Bo: Oh!",What does Bo think?,"['Bo doesn\\'t know, as he left', ""Bo thinks it is Ann's.\\xa0""]",Bo thinks it is Ann's.
"Ann: The boat leaks.",What does Bo believe?,"['that it leaks', 'that it floats']",that it floats
"""
CONDITION = "Ann fills the jar. A guest swaps it.;Does Ann believe it?;Ann believes it.;Ann does not believe it.\n"
Write = Callable[[str | bytes], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write(content: str | bytes) -> Path:
        path = tmp_path / "items"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def rows(*changes: dict[str, Any]) -> str:
    return "\n".join(json.dumps(ROW | change) for change in changes) + "\n"


def hi_tom(**changes: Any) -> str:
    return json.dumps({"data": [HI_TOM, HI_TOM | changes]}, indent=2)


def test_reads_numbered_stories_with_their_questions(write: Write) -> None:
    first, second = read_items(write(TOMI))
    assert first.story.splitlines()[2] == "Oskar dislikes the hat."
    assert first.story.count("\n") == 3
    assert (first.question, first.gold, first.line) == ("Where will Oskar look for the celery?", "red_box", 5)
    assert (first.options, first.group) == ((), "ToMi")
    assert (second.story, second.gold, second.line) == ("The pear is in the blue_crate.", "blue_crate", 7)
    assert first.id != second.id


def test_the_kinds_of_questions_are_in_a_file_beside(tmp_path: Path) -> None:
    (tmp_path / "set.txt").write_text(TOMI)
    (tmp_path / "set.trace").write_text("enter,move,first_order_0_tom,true_belief\nmemory,true_belief\n")
    assert [item.group for item in read_items(tmp_path / "set.txt")] == ["ToMi first_order_0_tom", "ToMi memory"]
    (tmp_path / "set.trace").write_text("memory,true_belief\n")
    with pytest.raises(InputError, match=r"set\.trace: has 1 lines for 2 questions"):
        read_items(tmp_path / "set.txt")


def test_questions_may_stand_between_the_lines_of_a_story(write: Write) -> None:
    text = TOMI.replace("1 The pear", "6 The pear").replace("2 Where was", "7 Where was")
    first, second = read_items(write(text))
    assert second.story == first.story + "\nThe pear is in the blue_crate."


def test_reads_one_object_with_a_list(write: Write) -> None:
    first, second = read_items(write(hi_tom(question_order=4, deception=False, answer="B")))
    assert first.story == "Ada and Bo entered the hut.\nThe egg is in the red_box."
    assert (first.options, first.gold, first.group) == (
        ("red_box", "blue_box"),
        "red_box",
        "Hi-ToM order 2 with deception",
    )
    assert (second.gold, second.group) == ("blue_box", "Hi-ToM order 4")
    assert (first.line, second.line) == (3, 14)


def test_reads_rows_with_what_they_may_have(write: Write) -> None:
    found = read_items(
        write(
            rows(
                {}, {"id": 7, "order": 2}, {"options": ["The shelf.", "a box"]}, {"choices": "shelf, box", "more": None}
            )
        )
    )
    assert found[0] == Item("1", ROW["story"], ROW["question"], (), "the shelf", 1, "")
    assert (found[1].id, found[1].group, found[1].line) == ("7", "order 2", 2)
    assert (found[2].options, found[2].gold) == (("The shelf.", "a box"), "The shelf.")
    assert (found[3].options, found[3].gold) == (("shelf", "box"), "shelf")


def test_reads_scenarios_as_four_questions_each(write: Write) -> None:
    found = read_items(write(";".join(SCENARIO) + "\n" + ";".join(SCENARIO[:16]) + "\n"))
    assert len(found) == 8
    assert [item.story.splitlines()[1] for item in found[:4]] == SCENARIO[1:5]
    assert [item.gold for item in found[:4]] == [SCENARIO[8], SCENARIO[11]] * 2
    assert {item.options for item in found} == {(SCENARIO[8], SCENARIO[11])}
    assert [item.line for item in found] == [1] * 4 + [2] * 4
    assert {item.group for item in found} == {"BigToM forward belief", "BigToM backward belief"}


def test_a_file_of_one_condition_says_which_in_its_name(tmp_path: Path) -> None:
    path = tmp_path / "0_forward_action_false_belief_stories.csv"
    path.write_text(CONDITION * 2)
    _, second = read_items(path)
    assert (second.group, second.scenario, second.line) == ("BigToM forward action, false belief", "2", 2)
    assert (second.gold, second.options) == (
        "Ann believes it.",
        ("Ann believes it.", "Ann does not believe it."),
    )
    path.rename(tmp_path / "stories.csv")
    assert {item.group for item in read_items(tmp_path / "stories.csv")} == {"BigToM"}


def test_reads_numbered_stories_in_rows(write: Write) -> None:
    (item,) = read_items(write(json.dumps(TOMI_ROW)))
    assert item.story == "Oskar entered the wine_cellar.\nThe celery is in the green_bucket."
    assert (item.options, item.gold) == (("red_box", "green_bucket"), "green_bucket")
    assert item.group == "ToMi first_order_0_no_tom"


def test_reads_options_in_columns_some_of_which_are_missing(tmp_path: Path) -> None:
    path = tmp_path / "Odd Task.jsonl"
    path.write_text(
        f"{json.dumps(TOMBENCH)}\n{json.dumps(TOMBENCH | {'OPTION-C': 'At home', 'OPTION-D': 'At home'})}\n"
    )
    first, second = read_items(path)
    assert (first.options, first.gold) == (("On the shelf", "On the stove"), "On the stove")
    assert '"NaN, NaN"' in first.story
    assert second.options == ("On the shelf", "On the stove", "At home")
    assert {first.group, second.group} == {"ToMBench Odd Task"}


def opentom(folder: Path, questions: Any, stories: Any = OPENTOM_STORIES, indent: int | None = None) -> Path:
    (folder / "meta_data.json").write_text(json.dumps(stories))
    path = folder / "questions.json"
    path.write_text(json.dumps({"12": questions}, indent=indent))
    return path


@pytest.mark.parametrize("indent", [None, 1])
def test_reads_questions_with_their_stories_in_a_file_beside(tmp_path: Path, indent: int | None) -> None:
    found = read_items(opentom(tmp_path, OPENTOM, indent=indent))
    assert [item.group.removeprefix("OpenToM ") for item in found] == [
        "location fine, narrator",
        "location fine, first order",
        "location coarse, second order",
        "multihop, first order",
        "attitude",
        "location fine, second order",
    ]
    assert [item.gold for item in found] == ["a attic shelf", *(row["answer"] for row in OPENTOM[1:])]
    assert [len(item.options) for item in found] == [2, 2, 2, 3, 3, 3]
    assert {item.story for item in found} == {OPENTOM_STORIES["12"]["narrative"]}
    assert [item.line for item in found] == ([1] * 6 if indent is None else [3, 8, 13, 18, 23, 28])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"answer": "fuller", "type": "multihop-so"}, ":3: `fuller` is no answer to a question of type multihop-so"),
        ({"type": "colour"}, ":3: `type`: String should match"),
        ({"answer": 3}, ":3: `answer`: Input should be a valid string"),
    ],
)
def test_a_wrong_question_of_a_story_has_its_line(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    path = opentom(tmp_path, [OPENTOM[0] | change], indent=1)
    with pytest.raises(InputError) as error:
        read_items(path)
    assert str(error.value).startswith(f"{path}{message}")


def test_a_story_must_be_in_the_file_beside(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"questions\.json:1: meta_data\.json has no story `12`"):
        read_items(opentom(tmp_path, OPENTOM, {"13": OPENTOM_STORIES["12"]}))
    with pytest.raises(InputError, match=r"meta_data\.json: lacks `12.narrative`"):
        read_items(opentom(tmp_path, OPENTOM, {"12": {"plot_info": {}}}))
    (tmp_path / "meta_data.json").unlink()
    with pytest.raises(InputError, match=r"meta_data\.json: cannot be read"):
        read_items(tmp_path / "questions.json")


def test_reads_conversations_with_quoted_choices(tmp_path: Path) -> None:
    path = tmp_path / "inaccessible_short_context_first-order.csv"
    path.write_text(FANTOM)
    first, second = read_items(path)
    assert first.options == ("Bo doesn't know, as he left", "Bo thinks it is Ann's.")
    assert first.gold == first.options[1]
    assert first.story == "Ann: I bought a boat.\nBo: Oh!"
    assert {first.group, second.group} == {"FANToM inaccessible, first order"}
    assert (first.line, second.line) == (2, 4)


def test_a_format_may_be_named(write: Write) -> None:
    assert read_items(write(TOMI), "tomi") == read_items(write(TOMI))
    with pytest.raises(InputError, match="is not JSON"):
        read_items(write(TOMI), "jsonl")


@pytest.mark.parametrize(
    ("text", "alike"),
    [("the green_bucket", "Green bucket."), ("A drawer", "drawer"), ('"the"', "the"), ("an attic", "attic")],
)
def test_what_makes_no_difference_to_an_answer(text: str, alike: str) -> None:
    assert plain(text) == plain(alike)


DEEP = '{"story": ' + "[" * 100_000 + "]" * 100_000 + "}"
BAD: list[tuple[str, str | bytes, str]] = [
    ("empty", "", ": is empty (ToMi has numbered lines"),
    ("blank", " \n \n", ": is empty"),
    ("binary", b"\x89PNG\r\n\x1a\n\xff\xd8", ":1: is not UTF-8 text"),
    ("NUL", '{"story": "a"}\n{"st\0ry"', ":2: holds a NUL byte"),
    ("too large", b"1 A entered the hall.\n" * 1_000_000, ": is larger than 20,000,000 bytes"),
    ("prose", "Once upon a time there was a benchmark.\n", ":1: is in none of the formats tomi, hi_tom"),
    ("truncated row", rows({}) + '{"story": "Ann put', ":2:11: is not JSON: Unterminated string"),
    ("truncated list", hi_tom()[:-40], " is not JSON: "),
    ("deep nesting", DEEP, ":1: is nested too deeply"),
    ("no object", rows({}) + "[1, 2]\n", ":2: the whole: "),
    ("missing key", rows({}) + '{"story": "a", "question": "b"}', ":2: lacks `answer`"),
    ("wrong type", rows({"answer": 3}), ":1: `answer`: Input should be a valid string"),
    ("ToMi order", json.dumps(TOMI_ROW | {"question_type": 1}), ":1: `question_type`: Input should be a valid string"),
    ("ToMi containers", json.dumps(TOMI_ROW | {"containers": []}), ":1: `containers`: List should have at least 2"),
    ("ToMi answer", json.dumps(TOMI_ROW | {"answer": "attic"}), ":1: the answer `attic` is not among the choices"),
    ("ToMBench letter", json.dumps(TOMBENCH | {"答案\nANSWER": "E"}), "Input should be 'A', 'B', 'C' or 'D'"),
    ("ToMBench gap", json.dumps(TOMBENCH | {"答案\nANSWER": "C"}), ":1: the answer `C` is not among the choices"),
    ("ToMBench option", json.dumps(TOMBENCH | {"OPTION-B": None}), ":1: `OPTION-B`: Input should be a valid string"),
    ("FANToM columns", FANTOM + "a,b,c\n", ":5: needs 4 columns that are not empty"),
    ("FANToM choices", FANTOM + "a,b,__import__('os'),c\n", ":5: `answer_choices` is not a list of two texts"),
    ("FANToM answer", FANTOM + "a,b,\"['c', 'd']\",e\n", ":5: the answer `e` is not among the choices"),
    ("FANToM quote", FANTOM + 'a,b,"c', ":5: is not CSV: unexpected end of data"),
    ("BigToM gap", CONDITION + "a;b;c;\n", ":2: column 4 is empty"),
    ("BigToM answers", CONDITION + "a;b;c;c\n", ":2: the same choice is there twice"),
    ("wrong option", rows({"options": ["box", 4]}), ":1: `options.1`: Input should be a valid string"),
    ("empty story", rows({"story": "  "}), ":1: `story`: String should have at least 1 character"),
    (
        "huge number",
        '{"story": "a", "question": "b", "answer": "c", "id": ' + "9" * 5000 + "}",
        ":1: is not JSON: a number too long",
    ),
    (
        "not a number",
        '{"story": "a", "question": "b", "answer": "c", "order": NaN}',
        ":1: is not JSON: NaN",
    ),
    (
        "a key twice",
        '{"story": "a", "story": "b", "question": "b", "answer": "c"}',
        ":1: `story` is given twice",
    ),
    (
        "no choice",
        rows({}, {"options": ["box", "bag"]}),
        ":2: the answer `the shelf` is not among the choices (there is",
    ),
    ("no letter", rows({"answer": "D", "options": ["box", "bag"]}), ":1: the answer `D` is not among the choices"),
    ("a choice twice", rows({"options": ["shelf", "the shelf"]}), ":1: the same choice is there twice"),
    ("Hi-ToM type", hi_tom(question_order="2"), ":14: `question_order`: Input should be a valid integer"),
    ("Hi-ToM answer", hi_tom(answer="green_box"), ":14: the answer `green_box` is not among the choices"),
    ("Hi-ToM no list", '{"data": {}}', ":1: `data`: "),
    ("Hi-ToM nothing", '{"data": []}', ":1: `data`: List should have at least 1 item"),
    (
        "a line is missing",
        TOMI.replace("3 Oskar dislikes the hat\n", ""),
        ":3: the story that begins on line 1 breaks off",
    ),
    ("a line without number", TOMI.replace("3 Oskar", "Oskar"), ":3: the story that begins on line 1 breaks off"),
    ("no question", TOMI + "1 Eva entered the hall.\n", ":8: the story that begins on line 8 ends without a question"),
    ("next story", "1 Eva entered the hall.\n" + TOMI, ":1: the story that begins on line 1 ends without a question"),
    ("no answer", TOMI.replace("\tblue_crate\t1", ""), ":7: the question has no answer (question, tab, answer)"),
    ("a question alone", "1 Where is it?\tbox\t1\n", ":1: the question has no story (question, tab, answer)"),
    ("columns", ";".join(SCENARIO) + "\na;b;c\n", ":2: has 3 columns, not 14 to 19"),
    ("more columns", ";".join([*SCENARIO, "0"]), ":1: has 20 columns, not 14 to 19"),
    ("an empty column", ";".join([*SCENARIO[:11], " ", *SCENARIO[12:]]), ":1: column 12 is empty"),
    ("an open quote", ";".join(SCENARIO) + '\n"' + ";".join(SCENARIO), ":2: is not CSV: "),
    ("control characters", rows({"answer": "\x1b[31m", "options": ["a", "b"]}), r"\x1b[31m"),
]


@pytest.mark.parametrize(("content", "message"), [case[1:] for case in BAD], ids=[case[0] for case in BAD])
def test_what_is_wrong_is_told_in_one_line(write: Write, content: str | bytes, message: str) -> None:
    path = write(content)
    with pytest.raises(InputError) as error:
        read_items(path)
    assert message in str(error.value)
    assert str(error.value).startswith(str(path))
    assert str(error.value).isprintable()
    assert len(str(error.value)) < 400 + len(str(path))


def mmtom(answer: str = "b") -> str:
    question = "Ann opens the fridge. Question: Where is the jam? (a) The shelf. (b) The box. Please respond with one."
    return json.dumps({"question": question, "answer": answer, "question_type": 1.1, "episode": 3})


COLUMNS = ";".join(SCENARIO)
FANTOM_ROWS = FANTOM.removeprefix("context,question,answer_choices,gt_answer\n")
ODD_ROWS: dict[str, tuple[Format, str, str, list[str]]] = {
    "jsonl": ("jsonl", rows({}), '{"story": "Ann\n', [":1:11: is not JSON"]),
    "jsonl, no object": ("jsonl", rows({}), "7\n", [":1: the whole: "]),
    "ToMi rows": ("tomi", json.dumps(TOMI_ROW) + "\n", json.dumps(TOMI_ROW | {"answer": "roof"}) + "\n",
                  [":1: the answer `roof` is not among the choices"]),
    "ToMBench label": ("tombench", json.dumps(TOMBENCH) + "\n", json.dumps(TOMBENCH | {"答案\nANSWER": "E"}) + "\n",
                       [":1: `答案\\x0aANSWER`: Input should be 'A', 'B', 'C' or 'D'"]),
    "ToMBench field": ("tombench", json.dumps(TOMBENCH) + "\n", "{}\n", [":1: lacks `STORY`"]),
    "MMToM-QA": ("mmtom_qa", mmtom() + "\n", mmtom("c") + "\n", [":1: the answer `c` is not among the choices"]),
    "ToMi": ("tomi", TOMI, "1 Eva left.\n3 Where is Eva?\thall\n", [":2: the story that begins on line 1 breaks off"]),
    "ToMi, no question": ("tomi", TOMI, "1 Eva left.\n", [":1: the story that begins on line 1 ends without a"]),
    "BigToM scenario": ("bigtom", COLUMNS + "\n", COLUMNS + ";0\n", [":1: has 20 columns"]),
    "BigToM condition": ("bigtom", CONDITION, "a;b;c;c\n", [":1: the same choice is there twice"]),
    "FANToM": ("fantom", FANTOM_ROWS, "a,b,\"['c', 'd']\",e\n", [":2: the answer `e` is not among the choices"]),
}  # fmt: skip
"""Format, a part of a file that can be read, a row that cannot, and its faults where the odd row comes first."""


@pytest.mark.parametrize("name", ODD_ROWS)
def test_an_odd_row_among_good_ones_is_skipped_with_its_fault(write: Write, name: str) -> None:
    form, good, odd, messages = ODD_ROWS[name]
    header = "context,question,answer_choices,gt_answer\n" if form == "fantom" else ""
    expected = read_items(write(header + good), form)
    for content in (odd + good + good, good + odd + good, good + good + odd):
        faults = list[InputError]()
        items = read_items(path := write(header + content), form, faults)
        assert [item.gold for item in items] == [item.gold for item in expected * 2]
        assert len(faults) == len(messages)
        with pytest.raises(InputError) as first:
            read_items(path, form)
        assert str(first.value) == str(faults[0])
    faults = []
    read_items(path := write(header + odd + good), form, faults)
    assert [str(fault).removeprefix(str(path))[: len(m)] for fault, m in zip(faults, messages, strict=True)] == messages


@pytest.mark.parametrize("name", ODD_ROWS)
def test_a_file_of_odd_rows_alone_is_refused_with_the_first_of_them(write: Write, name: str) -> None:
    form, _, odd, messages = ODD_ROWS[name]
    header = "context,question,answer_choices,gt_answer\n" if form == "fantom" else ""
    faults = list[InputError]()
    with pytest.raises(InputError) as error:
        read_items(path := write(header + odd * 3), form, faults)
    assert str(error.value).startswith(f"{path}{messages[0]}")
    assert faults == []


@pytest.mark.parametrize("odd", ["text", None, [1, "a"], HI_TOM | {"answer": "roof"}, {"story": [[], {}]}])
@pytest.mark.parametrize("indent", [None, 1])
def test_odd_entries_of_a_list_are_skipped_with_their_lines(write: Write, odd: Any, indent: int | None) -> None:
    faults, text = list[InputError](), json.dumps({"data": [odd, HI_TOM, odd, HI_TOM]}, indent=indent)
    items = read_items(path := write(text), "hi_tom", faults)
    lines = [int(str(fault).removeprefix(f"{path}:").partition(":")[0]) for fault in faults]
    size, whole = (json.dumps(entry, indent=1).count("\n") + 1 for entry in (odd, HI_TOM))
    assert lines == ([1, 1] if indent is None else [3, 3 + size + whole])
    assert [item.line for item in items] == ([1, 1] if indent is None else [3 + size, 3 + size + whole + size])
    with pytest.raises(InputError):
        read_items(write(json.dumps({"data": [odd, odd]})), "hi_tom", faults)


def test_odd_questions_and_stories_of_opentom_are_skipped(tmp_path: Path) -> None:
    stories = OPENTOM_STORIES | {"13": {"narrative": "Ann left."}, "14": 3}
    questions = {
        "9": "none",
        "12": [OPENTOM[0], {"question": "?"}, "?", OPENTOM[1]],
        "13": OPENTOM[:1],
        "14": OPENTOM[:1],
    }
    path, faults = opentom(tmp_path, [], stories), list[InputError]()
    path.write_text(json.dumps(questions | {"15": OPENTOM[:1]}, indent=1))
    assert [(item.id, item.line) for item in read_items(path, "opentom", faults)] == [("12-1", 4), ("12-4", 13)]
    places = [str(fault).removeprefix(f"{tmp_path}/") for fault in faults]
    expected = ["questions.json:1: ", "questions.json:9: lacks `answer`", "questions.json:12: the whole: ",
                "meta_data.json: lacks `13.plot_info`", "meta_data.json: `14`: ",
                "questions.json:34: meta_data.json has no story `15`"]  # fmt: skip
    assert [place[: len(start)] for place, start in zip(places, expected, strict=True)] == expected


def test_rows_after_a_stray_quote_are_not_read(write: Write) -> None:
    """Where a quote is never closed, the rows after it cannot be told apart."""
    faults = list[InputError]()
    items = read_items(path := write(FANTOM + 'a,"b"c,d,e\n' + FANTOM_ROWS), "fantom", faults)
    assert len(items) == 2
    (fault,) = map(str, faults)
    assert fault.startswith(f"{path}:5: is not CSV: ")
    assert fault.endswith("(from here on nothing is read)")


def test_a_story_that_breaks_off_keeps_the_kinds_of_the_others(tmp_path: Path) -> None:
    (tmp_path / "set.txt").write_text("1 Eva left.\n3 Where is Eva?\thall\n" + TOMI)
    (tmp_path / "set.trace").write_text("a,first,x\nb,second,x\nc,third,x\n")
    faults = list[InputError]()
    assert [item.group for item in read_items(tmp_path / "set.txt", None, faults)] == ["ToMi second", "ToMi third"]
    assert len(faults) == 1


def test_there_is_no_such_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read: No such file"):
        read_items(tmp_path / "none.txt")
    with pytest.raises(InputError, match="cannot be read: Is a directory"):
        read_items(tmp_path)
    assert LARGEST == 20_000_000


@pytest.mark.parametrize("format_name", ["tomi", "hi_tom", "bigtom", "jsonl"])
def test_cut_anywhere_a_file_is_read_or_refused(write: Write, format_name: Format) -> None:
    whole = {"tomi": TOMI, "hi_tom": hi_tom(), "bigtom": ";".join(SCENARIO), "jsonl": rows({}, {"order": 1})}[
        format_name
    ]
    for end in range(0, len(whole), 5):
        path = write(whole[:end])
        for named in (None, format_name):
            try:
                found = read_items(path, named)
            except InputError as error:
                message = str(error)
            else:
                message = str(path) if all(item.gold for item in found) else "an item without a label"
            assert message.startswith(str(path))
