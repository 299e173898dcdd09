"""The files of MuMA-ToM: a look-alike folder, and files that are damaged in many ways."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otherminds.errors import InputError
from otherminds.stories.mumatom_files import MumatomQuestion, read_mumatom, unescaped

Folder = dict[str, Any]
QUESTION = "If Tom means well, which is MOST likely?\nA) Tom is kind.\nB) Tom is not kind.\nC) Tom is asleep.\n"


def entry(**more: Any) -> dict[str, Any]:
    return {
        "description": "Tom sat down. Then he sang.",
        "filtered_description": None,
        "questions": {"1": QUESTION, "2": QUESTION.replace("kind", "tall")},
        "answers": {"1": "B) Tom is not kind.", "2": "A"},
        "labels": {"1": "social_goal", "2": "belief_of_goal"},
        "actions": ["not read"],
    } | more


def write(folder: Path, files: Folder) -> Path:
    """Values that are text or bytes are written as they are, all others as JSON."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, bytes):
            path.write_bytes(content)
        else:
            path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return folder


def graph(name: str = "episode_7") -> dict[str, Any]:
    return {name: {"10": ["tom hold cup"], "2": []}}


def whole() -> Folder:
    return {
        "questions.json": {"episode_7": entry(), "8": entry(filtered_description=r"b'Tom\nsang'")},
        "gemini_outputs.json": {"episode_7": {"action": " Tom opens a box. ", "other": 1}, "99": {"action": "x"}},
        "visual_data/episode_7/hold.json": graph(),
        "visual_data/episode_7/closeness.json": {"episode_7": {"2": ["box"]}, "8": {}},
        "visual_data/episode_7/notes.json": "not a scene graph",
    }


@pytest.mark.parametrize("inside", ["", "Files"])
def test_a_folder_is_read_with_all_there_is_of_each_episode(tmp_path: Path, inside: str) -> None:
    write(tmp_path / inside, whole())
    first, second = read_mumatom(tmp_path)
    assert (first.id, first.full, first.half) == ("episode_7", "Tom sat down. Then he sang.", None)
    assert first.video == "Tom opens a box."
    assert first.frames == {"hold": {2: (), 10: ("tom hold cup",)}, "closeness": {2: ("box",)}}
    assert list(first.frames["hold"]) == [2, 10]
    stem = "If Tom means well, which is MOST likely?"
    assert first.questions == (
        MumatomQuestion(stem, ("Tom is kind.", "Tom is not kind.", "Tom is asleep."), 1, "social_goal"),
        MumatomQuestion(stem, ("Tom is tall.", "Tom is not tall.", "Tom is asleep."), 0, "belief_of_goal"),
    )
    assert (second.id, second.half, second.video, second.frames) == ("8", "Tom\nsang", None, None)


def test_without_videos_and_scene_graphs_the_questions_are_enough(tmp_path: Path) -> None:
    (only,) = read_mumatom(write(tmp_path, {"questions.json": {"a": entry()}}))
    assert (only.video, only.frames) == (None, None)


def test_options_may_be_marked_in_several_ways(tmp_path: Path) -> None:
    for mark in ").:":
        text = f"Which?\n\n A{mark}  one thing \n B{mark} another: B) thing\n"
        one = entry(questions={"1": text}, answers={"1": f"B{mark}"}, labels={"1": "belief"})
        (source,) = read_mumatom(write(tmp_path, {"questions.json": {"a": one}}))
        assert source.questions == (MumatomQuestion("Which?", ("one thing", "another: B) thing"), 1, "belief"),)


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("as it is, \\n too", "as it is, \\n too"),
        (r"b'one\ntwo\tthree'", "one\ntwo\tthree"),
        (r"b'it\'s'", "it's"),
        ("b'she said 'no' twice'", "she said 'no' twice"),
        ('b"she said "no" twice"', 'she said "no" twice'),
        (r'b"it\"s a \\ mark"', r'it"s a \ mark'),
        (r"b'caf\xc3\xa9'", "café"),
        (r"b'\xe2\x80\x9cno\xe2\x80\x9d'", "“no”"),
        (r"b'odd \xff byte'", "odd ÿ byte"),
        (r"b'“already” plain \n'", "“already” plain \n"),
        (r"b'no such \q escape'", r"no such \q escape"),
        ("  b'around'  ", "around"),
        ("b'two\nlines'", "two\nlines"),
        ("b''", ""),
        ("b'", "b'"),
        ("""b'unlike" """, """b'unlike" """),
    ],
)
def test_text_written_as_python_bytes_is_read_as_the_text_it_was(text: str, plain: str) -> None:
    assert unescaped(text) == plain


@given(st.text())
def test_whatever_python_writes_as_bytes_is_read_back(text: str) -> None:
    raw = text.encode("utf-8", "ignore")
    assert unescaped(repr(raw)) == raw.decode("utf-8")


# Damaged files


def set_question(**more: Any) -> Callable[[Folder], None]:
    return lambda files: files["questions.json"].update(episode_7=entry(**more))


def put(name: str, content: Any) -> Callable[[Folder], None]:
    return lambda files: files.update({name: content})


def drop(name: str) -> Callable[[Folder], None]:
    return lambda files: files.pop(name) and None


def asking(text: str, answer: str = "A") -> Callable[[Folder], None]:
    return set_question(questions={"1": text}, answers={"1": answer}, labels={"1": "belief"})


GRAPH = "visual_data/episode_7/hold.json"
DAMAGE: list[tuple[Callable[[Folder], None], str, str]] = [
    (drop("questions.json"), "questions.json", "cannot be read"),
    (put("questions.json", ""), "questions.json", "is not JSON"),
    (put("questions.json", '{"a": {"description": "Tom'), "questions.json:1:23", "is not JSON"),
    (put("questions.json", {}), "questions.json", "has no episodes"),
    (put("questions.json", [entry()]), "questions.json", "the whole: "),
    (put("questions.json", "3"), "questions.json", "the whole: "),
    (put("questions.json", "[" * 200_000), "questions.json", "nested too deeply"),
    (put("questions.json", '{"a": ' + "9" * 10_000 + "}"), "questions.json", "is not JSON: a number too long"),
    (put("questions.json", '{"a":\n"caf\xe9"}'.encode("latin-1")), "questions.json:2", "not UTF-8"),
    (put("questions.json", {"a": {"description": "Tom."}}), "questions.json", "lacks `a.questions`"),
    (set_question(description=7), "questions.json", "episode_7.description"),
    (set_question(description=None), "questions.json", "episode_7.description"),
    (set_question(questions=[QUESTION]), "questions.json", "episode_7.questions"),
    (set_question(filtered_description=["x"]), "questions.json", "episode_7.filtered_description"),
    (set_question(labels={"1": "belief", "2": "hunger"}), "questions.json", "episode_7.labels.2"),
    (set_question(labels={"1": "belief"}), "questions.json", "'episode_7', question '2': needs a label"),
    (set_question(answers={"1": "A"}), "questions.json", "question '2': needs an answer"),
    (asking("Which is it?"), "questions.json", "question '1': needs options"),
    (asking("Which?\nA) only one"), "questions.json", "needs options"),
    (asking("Which?\nA) one\nC) three\nB) two"), "questions.json", "needs options"),
    (asking("Which?\nB) two\nC) three"), "questions.json", "needs options"),
    (asking("Which?\nA) one\nA) again"), "questions.json", "needs options"),
    (asking("Which?\nA) one\nB) two", "C) three"), "questions.json", "needs an answer"),
    (asking("Which?\nA) one\nB) two", "the first"), "questions.json", "needs an answer"),
    (asking("Which?\nA) one\nB) two", ""), "questions.json", "needs an answer"),
    (put("gemini_outputs.json", "{"), "gemini_outputs.json:1", "is not JSON"),
    (put("gemini_outputs.json", {"episode_7": "Tom"}), "gemini_outputs.json", "episode_7"),
    (put("gemini_outputs.json", {"episode_7": {}}), "gemini_outputs.json", "episode_7.action"),
    (put(GRAPH, ""), "hold.json", "is not JSON"),
    (put(GRAPH, "[]"), "hold.json", "the whole: "),
    (put(GRAPH, graph("episode_8")), "hold.json", "says nothing of episode 'episode_7'"),
    (put(GRAPH, {"episode_7": {"one": []}}), "hold.json", "episode_7.one"),
    (put(GRAPH, {"episode_7": {"1": "cup"}}), "hold.json", "episode_7.1"),
    (put(GRAPH, {"episode_7": [["cup"]]}), "hold.json", "episode_7"),
    (put(GRAPH, b"\xff\xfe{}"), "hold.json:1", "not UTF-8"),
]  # fmt: skip


@pytest.mark.parametrize(("damage", "file", "message"), DAMAGE)
def test_a_damaged_file_is_refused_in_one_line_that_names_it(
    tmp_path: Path, damage: Callable[[Folder], None], file: str, message: str
) -> None:
    files = whole()
    damage(files)
    with pytest.raises(InputError) as caught:
        read_mumatom(write(tmp_path, files))
    line = str(caught.value)
    assert line.startswith(str(tmp_path))
    assert file in line
    assert message in line
    assert "\n" not in line


ODD_EPISODE: list[tuple[Callable[[Folder], None], str]] = [
    (set_question(description=7), "questions.json: `episode_7.description`: "),
    (set_question(labels={"1": "belief"}), "questions.json: episode 'episode_7', question '2': needs a label"),
    (lambda files: files["questions.json"].update(episode_7=[]), "questions.json: `episode_7`: "),
    (put("gemini_outputs.json", {"episode_7": {}}), "gemini_outputs.json: lacks `episode_7.action`"),
    (put(GRAPH, ""), "visual_data/episode_7/hold.json:1:1: is not JSON"),
]


@pytest.mark.parametrize(("damage", "message"), ODD_EPISODE)
def test_an_odd_episode_among_others_is_skipped_with_its_fault(
    tmp_path: Path, damage: Callable[[Folder], None], message: str
) -> None:
    files, faults = whole(), list[InputError]()
    damage(files)
    assert [episode.id for episode in read_mumatom(write(tmp_path, files), faults)] == ["8"]
    (fault,) = map(str, faults)
    assert fault.startswith(f"{tmp_path}/{message}")
    del files["questions.json"]["8"]
    with pytest.raises(InputError, match=re.escape(message)):
        read_mumatom(write(tmp_path, files), faults)
    assert len(faults) == 1


@pytest.mark.parametrize("folder", ["nowhere", "questions.json"])
def test_a_folder_that_is_none_is_refused(tmp_path: Path, folder: str) -> None:
    write(tmp_path, {"questions.json": {"a": entry()}})
    with pytest.raises(InputError, match="cannot be read"):
        read_mumatom(tmp_path / folder)


def test_a_folder_in_place_of_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "questions.json").mkdir()
    with pytest.raises(InputError, match="cannot be read"):
        read_mumatom(tmp_path)


@pytest.mark.parametrize("name", ["../../secret", "/etc", "..", ".", "", "a/b", "a\\b", "a\nb", "a\x00b", "x" * 5000])
def test_the_name_of_an_episode_leads_to_no_file_outside_of_the_folder(tmp_path: Path, name: str) -> None:
    inside = tmp_path / "one" / "two"
    for place in ("secret", "one/two/visual_data", "one/two", "one/two/visual_data/a/b", "one/two/visual_data/a"):
        write(tmp_path / place, {"hold.json": {name: {}}})
    (source,) = read_mumatom(write(inside, {"questions.json": {name: entry()}}))
    assert (source.id, source.frames) == (name, None)


def test_a_name_with_a_line_break_leaves_the_message_on_one_line(tmp_path: Path) -> None:
    broken = {"two\nlines": entry(answers={})}
    with pytest.raises(InputError) as caught:
        read_mumatom(write(tmp_path, {"questions.json": broken}))
    assert "\n" not in str(caught.value)
