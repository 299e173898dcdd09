"""Stories on the command line: what is asked, audited and invented, and one line for whatever is wrong."""

from __future__ import annotations

import json
import pkgutil
import re
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from PIL import Image

from commands import Result, Run, complaint, fine
from otherminds.cli import app as cli
from paths import ROOT

pytestmark = pytest.mark.slow

Row = dict[str, Any]

DOCS = ROOT / "docs" / "systems" / "stories.md"
SALLY = (
    "Sally is in the kitchen. Anne is in the kitchen. The ball is in the basket. Sally leaves the kitchen. "
    "Anne moves the ball to the box."
)
WHERE = "Where will Sally look for the ball?"
ASKED = 'Zoe asked, "Where is the milk?" Jonas answered, "The milk is in the fridge in the kitchen." '
FOUND = "Zoe walked to the kitchen. Zoe opened the fridge. Zoe grabbed the milk from the fridge."
WHY = (
    "If Jonas knows what is in the fridge in the kitchen, which of these is {} likely?\n"
    "A) Jonas was trying to keep Zoe from finding the milk.\n"
    "B) Jonas was trying to help Zoe find the milk.\n"
    "C) Jonas did not care whether Zoe found the milk."
)


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An own folder with a story in it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sally.txt").write_text(f"{SALLY}\n\n{WHERE}\n")
    return tmp_path


def put(name: str, *rows: Any) -> str:
    Path(name).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return name


def flat(shown: str) -> str:
    """The text in one line."""
    return " ".join(shown.split())


def asked_about(run: Run, *arguments: str) -> Row:
    """The only answer, as data."""
    (found,) = json.loads(fine(run("ask", *arguments, "--json")))
    keys = {
        "answer",
        "option",
        "posterior",
        "abstained",
        "advice",
        "leaning",
        "unless",
        "because",
        "coverage",
        "unread",
    }
    assert set(found) == keys
    assert (found["option"] is None) == (found["answer"] is None) == (found["abstained"] is not None)
    return dict(found)


# ask


def test_an_answer_is_told_with_its_reasons(run: Run) -> None:
    lines = [line.rstrip() for line in fine(run("ask", "sally.txt")).splitlines()]
    assert lines == [
        "answer  A) basket",
        "",
        f"A)  basket  100.0%  {'█' * 20}",
        "B)  box     0.0%",
        "",
        "because",
        *sorted(lines[6:8], key=lambda line: "Sally" not in line),
        "Together these rule out every answer but A.",
        "",
        "All of the story was read.",
        "",
    ]
    assert set(lines[6:8]) == {"  · Sally leaves the kitchen.", "  · Anne moves the ball to the box."}


def test_an_answer_as_data(run: Run) -> None:
    found = asked_about(run, "sally.txt")
    assert (found["answer"], found["option"], found["coverage"], found["unread"]) == ("basket", 0, 1.0, [])
    assert found["posterior"] == [{"option": "basket", "p": 1.0}, {"option": "box", "p": 0.0}]
    assert set(found["because"]) == {"Sally leaves the kitchen.", "Anne moves the ball to the box."}


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Where is the ball?", "box"),
        ("Where was the ball at the beginning?", "basket"),
        ("Where does Anne think that the ball is?", "box"),
        ("Where does Anne think that Sally thinks that the ball is?", "basket"),
        ("Where will Sally look for the ball? A) in the box B) in the basket", "in the basket"),
    ],
)
def test_another_question_than_that_of_the_file(run: Run, question: str, answer: str) -> None:
    assert asked_about(run, "sally.txt", "--question", question)["answer"] == answer


@pytest.mark.parametrize(("which", "option"), [("MOST", 1), ("LEAST", 0)])
def test_what_somebody_means_to_another(run: Run, here: Path, which: str, option: int) -> None:
    (here / "milk.txt").write_text(ASKED + FOUND)
    found = asked_about(run, "milk.txt", "--question", WHY.format(which))
    assert found["option"] == option
    posterior = {row["option"]: row["p"] for row in found["posterior"]}
    assert list(posterior) == [line[3:] for line in WHY.splitlines()[1:]]
    assert sum(posterior.values()) == pytest.approx(1.0)
    best = (max if which == "MOST" else min)(posterior, key=lambda label: posterior[label])
    assert found["answer"] == best
    shown = fine(run("ask", "milk.txt", "--question", WHY.format(which)))
    assert ("the least likely was asked for" in shown) == (which == "LEAST")
    assert re.search(
        r"Zoe takes the milk from the kitchen fridge. That speaks for B, with odds of up to [\d,]+ to 1.", flat(shown)
    )
    percents = [float(p) for p in re.findall(r"^[ABC]\) .* ([\d.]+)%", shown, re.MULTILINE)]
    assert sum(percents) == pytest.approx(100.0, abs=0.2)


def test_stories_are_read_from_all_kinds_of_files(run: Run) -> None:
    rows: list[Row] = [{"id": 1, "story": SALLY, "question": WHERE, "options": ["box", "basket", "shelf"]}]
    assert asked_about(run, put("one.json", *rows))["option"] == 1
    assert asked_about(run, put("one.jsonl", *rows))["option"] == 1
    rows += [{"id": "x", "story": SALLY, "question": "Where is the ball?"}]
    assert asked_about(run, put("two.jsonl", *rows), "--id", "1")["answer"] == "basket"
    assert asked_about(run, put("two.jsonl", *rows), "--id", "x")["answer"] == "box"


def in_data(**more: Any) -> Row:
    """The story as data, with somebody and somewhere of any name."""
    who, where, other = more.get("who", "Sally"), more.get("where", "basket"), more.get("other", "box")
    at = [{"predicate": "at", "subject": "ball", "value": place} for place in (where, other)]
    inside = [{"predicate": "in_room", "subject": name, "value": "kitchen"} for name in (who, "Anne")]
    places = [{"id": name, "kind": "place", "room": "kitchen", "relation": "in"} for name in (where, other)]
    return {
        "episode": {
            "id": "e",
            "agents": [who, "Anne"],
            "entities": [*places, {"id": "ball", "kind": "object"}, {"id": "kitchen", "kind": "room"}],
            "init": [at[0], *inside],
            "timeline": [
                {"type": "event", "t": 0, "agent": who, "verb": "leave", "room": "kitchen"},
                {"type": "event", "t": 1, "agent": "Anne", "verb": "move", "obj": "ball", "place": other},
            ],
        },
        "question": {
            "id": "q",
            "options": [{"claims": [{"type": "belief", "agent": who, "content": fact}]} for fact in at],
            "labels": more.get("labels", [where, other]),
        },
    }


def test_a_story_and_a_question_as_data(run: Run) -> None:
    assert asked_about(run, put("data.json", in_data()))["answer"] == "basket"
    in_words = {**in_data(), "question": "Where is the ball?"}
    assert asked_about(run, put("data.json", in_words))["answer"] == "box"
    assert asked_about(run, put("data.json", in_data(labels=[])))["option"] == 0


def test_options_that_are_told_alike_keep_their_probabilities(run: Run) -> None:
    found = asked_about(run, put("data.json", in_data(labels=["there", "there"])))
    assert len(found["posterior"]) == 2


UNREAD = "Zorp blitzed the quux in a manner. Frob gnarled the ball. "
NO_ANSWER = {
    "question": (SALLY, "Why is the sky blue?", "could not read the question “Why is the sky blue"),
    "empty question": (SALLY, "", "could not read the question"),
    "one option": (SALLY, "Which is true? A) The ball is in the box.", "could not read the question"),
    "coverage": (UNREAD + SALLY.partition(". ")[0] + ".", "Where is the ball?", "could not read “Zorp blitzed"),
    "tie": (ASKED, WHY.format("MOST").replace("keep Zoe from finding", "help Zoe find"), "."),
    "the thing": (SALLY + " The ball quuxed blithely.", WHERE, "could not read “The ball quuxed blithely.”"),
    "a quotation": (SALLY + ' Anne: "Zorp!"', WHERE, 'could not read “Anne: .*Zorp'),
    "too many places": (SALLY, "Where is the ball? " + " ".join(f"{c}) box {c}" for c in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"),
                        "."),
}  # fmt: skip


@pytest.mark.parametrize("between", [" ", "\n"])
@pytest.mark.parametrize("marks", ["ABCDE", "abcde", [str(n) for n in range(1, 13)], [str(n) for n in range(1, 201)]])
def test_only_what_is_offered_is_chosen(run: Run, marks: Sequence[str], between: str) -> None:
    """The box is the third option, however the options are marked."""
    options = [f"{mark}) {'box' if n == 2 else 'basket'}" for n, mark in enumerate(marks)]
    found = run("ask", "sally.txt", "--question", between.join(["Where is the ball?", *options]), "--json")
    if found.code:
        complaint(found, "options")
    else:
        assert json.loads(found.out)[0]["option"] in (2, None)


@pytest.mark.parametrize("name", NO_ANSWER)
def test_no_answer_but_the_reason(run: Run, here: Path, name: str) -> None:
    story, question, said = NO_ANSWER[name]
    (here / "s.txt").write_text(story)
    found = asked_about(run, "s.txt", "--question", question)
    assert found["option"] is None
    assert re.search(said, found["abstained"])
    shown = fine(run("ask", "s.txt", "--question", question))
    assert shown.startswith("cannot tell: ")
    assert found["advice"]
    assert "--model NAME" in found["advice"]
    assert found["advice"][:40] in flat(shown)
    assert "█" not in shown
    assert not re.search(r"^answer ", shown, re.MULTILINE)
    assert re.search(r"^(All|\d+%) of the story was read", shown, re.MULTILINE)


def a_row(story: str, question: str) -> tuple[str, ...]:
    """The arguments by which a row of a file is asked about, of which not all has to be in the controlled form."""
    return put("rows.jsonl", {"id": "a", "story": story, "question": question}), "--id", "a"


def test_what_does_not_matter_may_stay_unread_in_a_row_of_a_file(run: Run) -> None:
    row = a_row(SALLY + " Zorp blitzed the quux.", WHERE)
    found = asked_about(run, *row)
    assert found["answer"] == "basket"
    assert found["coverage"] == pytest.approx(5 / 6)
    assert found["unread"] == ["Zorp blitzed the quux"]
    shown = fine(run("ask", *row))
    assert "83% of the story was read; not this: Zorp blitzed the quux" in shown


def test_the_answer_is_shown_that_holds_if_the_unread_clause_changes_nothing(run: Run) -> None:
    row = a_row(f"{SALLY} Sally zorped through the keyhole.", f"{WHERE} A) box B) basket")
    found = asked_about(run, *row)
    assert (found["answer"], found["leaning"]) == (None, "basket")
    assert "If that changes nothing, it is B) basket." in fine(run("ask", *row))


def test_the_clause_is_shown_that_may_change_what_somebody_wants(run: Run) -> None:
    story = (
        "Ann and Ben are in the kitchen. Ann asked Ben where the milk was. Ben said that the milk was in the fridge. "
    )
    story += "Ann went to the fridge, opened it and took the milk. Ben zorped Ann that the milk was in the box."
    row = a_row(story, "Which is most likely? A) Ben has been trying to help Ann B) Ben has been trying to hinder Ann")
    found = asked_about(run, *row)
    assert (found["option"], found["unless"]) == (0, "that the milk was in the box")
    shown = fine(run("ask", *row))
    assert "It may be otherwise, as this was not read: that the milk was in the box" in shown


def test_what_was_not_read_is_shown_in_a_line_or_two(run: Run, here: Path) -> None:
    (here / "s.txt").write_text("zorp " * 18_000 + ".")
    assert len(fine(run("ask", "s.txt", "--question", WHERE)).splitlines()) < 20


NAMES = ("[bold]Sally[/bold]", "[/]", "Sal\x1b[31mly", "\x07", "Sally\nAnne", "\u202eyllaS", "<b>&amp;", "安娜")


@pytest.mark.parametrize("name", NAMES)
def test_names_are_shown_as_they_are_whatever_they_are(run: Run, name: str) -> None:
    path = put("data.json", in_data(who=name, where=f"{name} chest", other=f"{name} trunk"))
    assert asked_about(run, path)["answer"] == f"{name} chest"
    shown = fine(run("ask", path))
    assert all(c.isprintable() or c == "\n" for c in shown)
    assert re.search(r"^answer  A\) .*chest$", shown, re.MULTILINE)
    if name.isprintable():
        assert f"{name} leaves the kitchen." in shown
        assert f"A)  {name} chest  100.0%" in shown


@pytest.mark.parametrize("name", NAMES)
def test_text_is_shown_as_it_is_whatever_it_is(run: Run, here: Path, name: str) -> None:
    (here / "s.txt").write_text(f"{name} zorped the quux. {name} frobbed.")
    shown = fine(run("ask", "s.txt", "--question", f"Where does {name} think the quux is?"))
    assert all(c.isprintable() or c == "\n" for c in shown)
    assert shown.startswith("cannot tell: ")
    assert "[/bold]" in shown or name != "[bold]Sally[/bold]"


def test_pronounced_likelihoods_do_not_hide_behind_letters_used_twice(run: Run) -> None:
    """With more options than letters, each still has a name of its own."""
    data = in_data(labels=[])
    options = [{"claims": [{"type": "holds", "fact": {"predicate": "at", "subject": "ball", "value": f"p{i}"}}]}
               for i in range(29)]  # fmt: skip
    data["question"] = {"id": "q", "options": [*options, {"claims": [
        {"type": "holds", "fact": {"predicate": "at", "subject": "ball", "value": "box"}}]}]}  # fmt: skip
    shown = fine(run("ask", put("data.json", data)))
    marks = re.findall(r"^(\S+)\)  ", shown, re.MULTILINE)
    assert len(marks) == len(set(marks)) == 30


# What cannot be asked


def deep(depth: int) -> str:
    claim = '{"type": "belief", "agent": "A", "content": ' * depth + '{"type": "goal", "agent": "A"}' + "}" * depth
    episode = '{"id": "e", "agents": ["A"]}'
    return (
        f'{{"episode": {episode}, "question": {{"id": "q", "options": [{{"claims": [{claim}]}}, {{"claims": []}}]}}}}'
    )


def with_event(**more: Any) -> str:
    data = in_data()
    data["episode"]["timeline"][1] |= more
    return json.dumps(data)


def with_row(**more: Any) -> str:
    return json.dumps({"story": SALLY, "question": WHERE} | more)


def twice() -> str:
    data = in_data()
    data["episode"]["entities"] *= 2
    return json.dumps(data)


ONE = ("--question", WHERE)
BAD_STORIES: dict[str, tuple[str, str | bytes | None, tuple[str, ...], str]] = {
    "missing": ("none.txt", None, (), "none.txt: cannot be read"),
    "folder": (".", None, ONE, "cannot be read: .*directory"),
    "empty": ("s.txt", "", ONE, "s.txt: is empty"),
    "blank": ("s.json", " \n\t", ONE, "s.json: is empty"),
    "binary": ("s.txt", bytes(range(256)), ONE, "is not UTF-8"),
    "latin-1": ("s.txt", SALLY.replace("Sally", "Zoë").encode("latin-1"), ONE, "s.txt:1: is not UTF-8"),
    "utf-16": ("s.txt", SALLY.encode("utf-16"), ONE, "is not UTF-8"),
    "huge": ("s.txt", b"Ann sings. " * 2_300_000, ONE, "larger than 20,000,000 bytes"),
    "long": ("s.txt", "Ann sings. " * 10_000, ONE, "longer than 100,000 characters"),
    "long in JSON": ("s.json", with_row(story="x" * 100_001), (), "s.json:1: `story`.*100000"),
    "no question": ("s.txt", SALLY, (), "has no question .*--question"),
    "no question in JSON": ("s.json", json.dumps({"story": SALLY}), (), "has no question"),
    "truncated": ("s.json", with_row()[:-20], (), "s.json:1:.* is not JSON"),
    "no JSON": ("s.json", SALLY, (), "s.json:1:1: is not JSON"),
    "list": ("s.json", f"[{with_row()}]", (), "s.json:1: "),
    "number": ("s.json", "17", (), "s.json:1: "),
    "null": ("s.json", "null", (), "s.json:1: "),
    "nothing told": ("s.json", '{"question": "Who?"}', (), "needs `story`, in words, or `episode`"),
    "story of numbers": ("s.json", with_row(story=[1]), (), "`story`"),
    "question of numbers": ("s.json", with_row(question=3), (), "question"),
    "options in one": ("s.json", with_row(options="box, basket"), (), "`options`"),
    "options of numbers": ("s.json", with_row(options=["box", 1]), (), "options.1"),
    "200 options": ("s.json", with_row(options=[f"box {n}" for n in range(200)]), (), "options.*26"),
    "unknown verb": ("s.json", with_event(verb="blitz"), (), r"s.json:1: episode.timeline.1|timeline.1.event.verb"),
    "p above 1": ("s.json", with_event(p=1.5), (), "timeline.1.p: 1.5 is not a probability"),
    "p of words": ("s.json", with_event(p="sure"), (), "timeline.1.event.p"),
    "time backwards": ("s.json", with_event(t=-1), (), "timeline.1.t: is before"),
    "time too great": ("s.json", with_event(t="@").replace('"@"', "9" * 5000), (), "number too long"),
    "time without end": ("s.json", with_event(t="@").replace('"@"', "1e999"), (), "s.json:1: "),
    "twice": ("s.json", twice(), (), "'basket' is there twice"),
    "deep beliefs": ("s.json", deep(300), (), "nested|recursion"),
    "very deep beliefs": ("s.json", deep(10_000), (), "nested|recursion"),
    "deep brackets": ("s.json", "[" * 10_000, (), "s.json"),
    "half a surrogate": ("s.json", with_row(story="\ud800"), (), "s.json:1: "),
    "several": ("s.jsonl", f"{with_row()}\n{with_row()}\n", (), "has 2 stories .*--id"),
    "unknown id": ("s.jsonl", with_row(id="a"), ("--id", "b"), "has no story with the id 'b'"),
    "evil id": ("s.jsonl", with_row(id="a"), ("--id", "\x1b[31m\n[bold]"), "has no story with the id"),
    "bad line": ("s.jsonl", f"{with_row(id=1)}\n{{\n", ("--id", "2"), "s.jsonl:2:.* is not JSON"),
    "long question": ("s.txt", SALLY, ("--question", "x" * 20_001), "longer than 20,000 characters"),
    "model": ("s.txt", SALLY, (*ONE, "--model", "nonsense"), "names no language model"),
    "model on data": ("s.json", with_event(), ("--model", "nonsense"), "nonsense"),
    "id in a text": ("s.txt", SALLY, (*ONE, "--id", "7"), "--id|no story with the id"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD_STORIES)
@pytest.mark.parametrize("as_data", [(), ("--json",)])
def test_what_cannot_be_asked_is_told_in_one_line(run: Run, name: str, as_data: tuple[str, ...]) -> None:
    path, content, arguments, said = BAD_STORIES[name]
    if content is not None:
        Path(path).write_bytes(content if isinstance(content, bytes) else content.encode("utf-8", "surrogatepass"))
    complaint(run("ask", path, *arguments, *as_data), said)


# A model that reads

READER = """
import json
import pathlib

def read(prompt):
    pathlib.Path("asked").touch()
    claims = {one: {"minds": ["Sally"], "value": one, "so": True} for one in ("basket", "box")}
    answers = [{"answer": one, "claims": [claim]} for one, claim in claims.items()]
    told = [{"sentence": sentence, "does": "is", "value": value, "who": who, "to": [], "unnoticed": []}
            for sentence, value, who in ((2, "basket", ["Sally", "Anne"]), (4, "box", ["Anne"]))]
    return json.dumps({"about": "where the ball is", "values": ["basket", "box"], "people": ["Sally", "Anne"],
                       "answers": answers, "after": 4, "told": told})

def chatter(prompt):
    pathlib.Path("asked").touch()
    return "The answer is A, of course."

def broken(prompt):
    raise OSError("no line")

def dumb(prompt):
    return 7
"""
ODD = (
    "Whiling in a kitchen, Sally plus Anne. Its basket: lodging for the ball. Kitchen farewelled, vamoosed Sally. "
    "Transplanted, by Anne, boxwards to a box, that ball."
)


@pytest.fixture
def models(here: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A module of models in the folder, that no other test finds."""
    monkeypatch.setattr(sys, "path", [str(here), *sys.path])
    (here / "own_story_readers.py").write_text(READER)
    yield
    sys.modules.pop("own_story_readers", None)


@pytest.mark.usefixtures("models")
def test_a_model_reads_what_the_built_in_reader_cannot(run: Run, here: Path) -> None:
    (here / "odd.txt").write_text(f"{ODD}\n\n{WHERE}")
    assert asked_about(run, "odd.txt")["option"] is None
    found = asked_about(run, "odd.txt", "--model", "own_story_readers:read")
    assert (found["answer"], found["coverage"]) == ("basket", 1.0)
    assert (here / "asked").exists()


@pytest.mark.usefixtures("models")
def test_a_model_is_asked_about_a_question_that_cannot_be_read(run: Run, here: Path) -> None:
    question = "Whereabouts of ball, quoth Sally's noggin? A) basket B) box"
    assert asked_about(run, "sally.txt", "--question", question)["option"] is None
    asked_about(run, "sally.txt", "--question", question, "--model", "own_story_readers:chatter")
    assert (here / "asked").exists()
    (here / "asked").unlink()


def test_an_embedded_model_is_refused_before_it_is_asked(run: Run) -> None:
    complaint(run("ask", "sally.txt", "--model", "embedded:smollm2"), "too small to read stories")


@pytest.mark.usefixtures("models")
def test_a_model_is_not_asked_without_need_and_never_answers(run: Run, here: Path) -> None:
    assert asked_about(run, "sally.txt", "--model", "own_story_readers:read")["answer"] == "basket"
    assert not (here / "asked").exists()
    (here / "odd.txt").write_text(f"{ODD}\n\n{WHERE} A) basket B) box")
    assert asked_about(run, "odd.txt", "--model", "own_story_readers:chatter")["option"] is None


@pytest.mark.usefixtures("models")
@pytest.mark.parametrize(("name", "said"), [("broken", "broke: OSError: no line"), ("dumb", "int"), ("nobody", "no")])
def test_a_model_that_breaks_is_told_in_one_line(run: Run, here: Path, name: str, said: str) -> None:
    (here / "odd.txt").write_text(f"{ODD}\n\n{WHERE}")
    complaint(run("ask", "odd.txt", "--model", f"own_story_readers:{name}"), said)


# audit

PEOPLE = (("Ann", "Bob"), ("Cleo", "Dan"), ("Eve", "Finn"))
THINGS = ("keys", "scarf", "letter", "apple")


def item(number: int, right: bool, **more: Any) -> Row:
    """A story in which something is moved behind somebody's back, or before their eyes; who moved it knows."""
    (one, two), thing = PEOPLE[number % 3], THINGS[number % 4]
    start = f"{one} and {two} are in the kitchen. The {thing} is in the drawer. "
    leaves, moves = f"{one} leaves the kitchen. ", f"{two} moves the {thing} to the crate. "
    kind = number % 3
    story = start + (moves + leaves if kind == 2 else leaves + moves)
    question = f"Where does {two if kind == 1 else one} think the {thing} is?"
    truth, wrong = ("drawer", "crate") if kind == 0 else ("crate", "drawer")
    return {"id": f"n{number}", "story": story, "question": question, "answer": truth if right else wrong} | more


def judged(result: Result) -> list[Row]:
    """The verdicts of an audit; the exit code says whether a label is contradicted."""
    found: list[Row] = json.loads(result.out)
    assert (result.code, result.err) == (int(any(one["outcome"] == "contradicts" for one in found)), "")
    return found


WRONG = (3, 4, 8, 13)


def planted(**more: Any) -> list[Row]:
    return [item(n, n not in WRONG, **more) for n in range(16)]


@pytest.mark.parametrize("more", [{}, {"options": ["crate", "drawer"]}, {"choices": ["drawer", "crate", "shelf"]}])
def test_wrong_labels_are_found_and_no_others(run: Run, more: Row) -> None:
    verdicts = judged(run("audit", put("items.jsonl", *planted(**more)), "--json"))
    assert [one["id"] for one in verdicts] == [f"n{n}" for n in range(16)]
    assert [one["line"] for one in verdicts] == list(range(1, 17))
    assert [n for n, one in enumerate(verdicts) if one["outcome"] == "contradicts"] == list(WRONG)
    assert {one["outcome"] for one in verdicts} == {"agrees", "contradicts"}
    for one in (verdicts[n] for n in WRONG):
        assert {one["label"], one["ours"]} == {"drawer", "crate"}
        assert one["because"]


def test_wrong_labels_are_listed(run: Run) -> None:
    rows = [*planted(), item(16, True) | {"id": 16, "question": "Zorp?"}]
    result = run("audit", put("items.jsonl", *rows))
    assert (result.code, result.err) == (1, "")
    lines = result.out.splitlines()
    assert lines[0] == "17 labels: 12 agree, 4 contradict, 0 abstain, 1 unread"
    named = [line.split(", ")[0] for line in lines if line.startswith("n")]
    assert named == [f"n{n}" for n in WRONG]
    assert f"n3, line 4   {item(3, False)['answer']}" in re.sub(" +", lambda m: m[0][:3], "\n".join(lines))


def test_labels_are_judged_by_letters_and_words_alike(run: Run) -> None:
    rows = [item(0, True, options=["the crate", "the drawer"], answer=answer) for answer in ("B", "b)", "Drawer.", "A")]
    found = judged(run("audit", put("i.jsonl", *rows), "--json"))
    assert [one["outcome"] for one in found] == ["agrees", "agrees", "agrees", "contradicts"]


def test_labels_of_what_is_least_likely_are_judged(run: Run) -> None:
    question = "If Jonas was trying to hinder Zoe, which is LEAST likely?"
    options = [f"Jonas believed that there was a {thing} in the fridge in the kitchen."
               for thing in ("cup", "milk", "pen")]  # fmt: skip
    rows = [{"story": ASKED + FOUND, "question": question, "options": options, "answer": gold} for gold in "AB"]
    found = judged(run("audit", put("i.jsonl", *rows), "--json"))
    assert [one["outcome"] for one in found] == ["contradicts", "agrees"]


@pytest.mark.parametrize("sentence", ["The spoon zorped blithely.", 'Sarah: "Zorp the quux!"'])
def test_labels_about_minds_are_not_flagged_if_a_sentence_that_may_decide_was_not_read(run: Run, sentence: str) -> None:
    row = {
        "story": f"{MOVED} {sentence}",
        "question": BELIEVED.partition("\n")[0],
        "options": [line[3:] for line in BELIEVED.splitlines()[1:]],
    }
    rows = [{**row, "answer": "A"}, {**row, "answer": "A", "story": MOVED}]
    found = judged(run("audit", put("i.jsonl", *rows), "--json"))
    assert [one["outcome"] for one in found] == ["unread", "contradicts"]


def test_what_is_missing_is_counted_and_never_flagged(run: Run) -> None:
    rows = [item(n, False) for n in range(4)]
    rows[1]["story"] = "Zorp blitzed the quux. " * 3
    rows[2]["story"] += " Then the letter went zorp somehow."
    rows[3]["question"] = "Zorp?"
    found = judged(run("audit", put("i.jsonl", *rows), "--json"))
    assert [one["outcome"] for one in found] == ["contradicts", "unread", "unread", "unread"]
    assert all(one["why"] for one in found[1:])


def test_rows_that_cannot_be_read_are_counted_and_named(run: Run, here: Path) -> None:
    good = [json.dumps(item(number, number != 3)) for number in (0, 3)]
    (here / "i.jsonl").write_text("\n".join([good[0], "[]", '{"story": "Zoë', *["{}"] * 1200, good[1]]) + "\n", "utf-8")
    result = run("audit", "i.jsonl")
    assert (result.code, result.err) == (1, "")
    lines = " ".join(result.out.split())
    assert lines.startswith("2 labels: 1 agrees, 1 contradicts, 0 abstain, 0 unread 1,202 rows that cannot be read are")
    for words in ("left out: i.jsonl:2: ", "; i.jsonl:3:11: is not JSON", "; i.jsonl:4: lacks `story`; and 1,199 more"):
        assert words in lines
    verdicts = judged(run("audit", "i.jsonl", "--json"))
    assert [row["outcome"] for row in verdicts] == ["agrees", "contradicts", *["malformed"] * 1202]
    assert verdicts[3] | {"label": None, "why": verdicts[3]["why"]} == verdicts[3]
    assert verdicts[3]["why"].startswith("i.jsonl:3:11: is not JSON")
    assert {frozenset(row) for row in verdicts} == {frozenset(verdicts[0])}


HI_TOM = {
    "data": [
        {
            "prompting_type": "MC", "deception": False, "story_length": 1, "question_order": 1, "sample_id": 1,
            "story": "1 Ada, Bo and Cy entered the hut.\n2 The egg is in the red_box.\n3 Ada exited the hut.\n"
            "4 Bo moved the egg to the blue_box.\n5 Bo exited the hut.",
            "question": "Where does Ada really think the egg is?", "choices": "A. red_box, B. blue_box",
            "answer": answer,
        }
        for answer in ("red_box", "blue_box")
    ]
}  # fmt: skip
TOMI = "".join(
    "1 Oskar entered the hut.\n2 Ida entered the hut.\n3 The pear is in the crate.\n4 Oskar exited the hut.\n"
    f"5 Ida moved the pear to the box.\n6 Where will Oskar look for the pear?\t{answer}\t1\n"
    for answer in ("crate", "box")
)
BIGTOM = [
    "Ann fills the jar with salt. Ann believes that the jar contains salt. A guest swaps the salt for sugar.",
    "Ann sees the guest swap it.", "Ann does not see the guest swap it.", "Ann refills the jar.",
    "Ann salts the soup from the jar.", "Does Ann believe the jar contains salt or sugar?", "Does Ann want salt?",
    "What will Ann do?", "Ann believes the jar contains sugar.", "Ann wants salt.", "Ann will refill the jar.",
    "Ann believes the jar contains salt.", "Ann wants salt.", "Ann will salt the soup.", "A bird sings.",
    "Ann hears the bird.", "Ann does not hear the bird.", "auto", "0",
]  # fmt: skip
MOVED = (
    "Mark walked to the kitchen. Mark grabbed a spoon from the cabinet. Mark placed the spoon on the kitchen table. "
    "Mark walked to the bathroom. Sarah walked to the kitchen. Sarah grabbed the spoon from the kitchen table. "
    "Sarah opened the dishwasher. Sarah put the spoon inside the dishwasher."
)
BELIEVED = (
    "Based on the actions, which is MOST likely?\n"
    "A) Sarah believed that Mark wants to place the spoon inside the dishwasher: she moved it to hinder Mark.\n"
    "B) Sarah believed that Mark placed the spoon at his desired location: she moved it to hinder Mark.\n"
    "C) Sarah believed that Mark placed the spoon at his desired location: she moved it to help Mark."
)
MUMATOM = {
    "7": {
        "description": MOVED,
        "questions": {"1": BELIEVED, "2": BELIEVED},
        "answers": {"1": "B", "2": "A"},
        "labels": {"1": "belief_of_goal", "2": "belief_of_goal"},
    }
}
FORMATS = {"tomi": TOMI, "hi_tom": json.dumps(HI_TOM, indent=1), "bigtom": ";".join(BIGTOM)}


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("told", [True, False])
def test_benchmarks_are_known_by_their_look_or_by_name(run: Run, here: Path, form: str, told: bool) -> None:
    (here / "file").write_text(FORMATS[form])
    outcomes = [one["outcome"] for one in judged(run("audit", "file", *(("--format", form) if told else ()), "--json"))]
    if form == "bigtom":
        assert outcomes[:2] == ["agrees", "agrees"]
        assert len(outcomes) == 4
        assert "contradicts" not in outcomes
    else:
        assert outcomes == ["agrees", "contradicts"]


def test_contradictions_are_written_with_what_decides_them(run: Run, here: Path) -> None:
    (here / "file").write_text(TOMI)
    run("audit", "file", "--proofs", "proofs.jsonl")
    (line,) = (here / "proofs.jsonl").read_text("utf-8").splitlines()
    assert json.loads(line) == {
        "id": "7-12",
        "line": 12,
        "outcome": "contradicts",
        "label": "box",
        "ours": "crate",
        "because": ["Oskar enters the hut.", "Oskar leaves the hut.", "Ida moves the pear to the box."],
        "why": "",
        "question": "Where will Oskar look for the pear?",
        "conventions": ["ToMi"],
    }
    complaint(run("audit", "file", "--proofs", "."), ". ")


@pytest.mark.parametrize("arguments", [("questions.json",), ("questions.json", "--format", "mumatom"), (".",)])
def test_a_folder_of_mumatom_is_audited(run: Run, here: Path, arguments: tuple[str, ...]) -> None:
    put("questions.json", MUMATOM)
    found = judged(run("audit", *arguments, "--json"))
    assert [(one["id"], one["outcome"]) for one in found] == [("7 Q1", "agrees"), ("7 Q2", "contradicts")]


def test_an_odd_episode_of_mumatom_is_counted_and_named(run: Run) -> None:
    put("questions.json", MUMATOM | {"8": MUMATOM["7"] | {"answers": {}}, "9": 3})
    assert "2 rows that cannot be read are left out: questions.json: episode '8'" in run("audit", ".").out
    outcomes = [row["outcome"] for row in judged(run("audit", ".", "--json"))]
    assert outcomes == ["agrees", "contradicts", "malformed", "malformed"]


def test_the_file_that_is_named_is_the_one_that_is_audited(run: Run) -> None:
    put("questions.json", MUMATOM)
    put("others.json", {"8": MUMATOM["7"]})
    result = run("audit", "others.json", "--format", "mumatom", "--json")
    assert result.code == 2 or '"8 Q1"' in result.out


def test_documented_formats_are_accepted(run: Run) -> None:
    documented = re.search(r"--format ([a-z_ |]+)\]", DOCS.read_text("utf-8"))
    assert documented
    for form in documented[1].split(" | "):
        complaint(run("audit", "none", "--format", form), "cannot be read")


def test_the_help_names_the_formats_that_there_are(run: Run) -> None:
    told = " ".join(re.sub("[│\n]", " ", fine(run("audit", "--help"))).split())
    named = re.search(r"FORMAT (.*?); default", told)
    assert named
    for form in re.split(r", | or ", named[1]):
        complaint(run("audit", "none", "--format", form), "cannot be read")


BAD_ITEMS: dict[str, tuple[str, str | bytes | None, tuple[str, ...], str]] = {
    "missing": ("none", None, (), "none: cannot be read"),
    "folder": (".", None, (), "questions.json: cannot be read"),
    "empty": ("i", "", (), "i: is empty"),
    "binary": ("i", bytes(range(256)), (), "NUL|UTF-8"),
    "NUL": ("i", "1 Ann\0 sings.", (), "NUL"),
    "latin-1": ("i", json.dumps(item(0, True)).replace("Ann", "Zoë").encode("latin-1"), (), "i:1: is not UTF-8"),
    "huge": ("i", b"1 Ann sings.\n" * 2_000_000, (), "larger than 20,000,000 bytes"),
    "prose": ("i", SALLY, (), "i:1: is in none of the formats"),
    "unknown format": ("i", json.dumps(item(0, True)), ("--format", "xml"), "no format `xml` .*tomi"),
    "wrong format": ("i", json.dumps(item(0, True)), ("--format", "tomi"), "i:1: "),
    "truncated": ("i", json.dumps(item(1, True))[:-9], (), "i:1:.* is not JSON"),
    "a list": ("i", '{}\n["x"]', (), "i:1: lacks `story`"),
    "no answer": ("i", json.dumps({"story": SALLY, "question": WHERE}), (), "i:1: lacks `answer`"),
    "story of numbers": ("i", json.dumps(item(0, True, story=7)), (), "i:1: `story`"),
    "empty story": ("i", json.dumps(item(0, True, story=" ")), (), "i:1: `story`"),
    "not an option": ("i", json.dumps(item(0, True, options=["box", "shelf"])), (), "not among the choices"),
    "option twice": ("i", json.dumps(item(0, True, options=["drawer", "the drawer"])), (), "there twice"),
    "key twice": ("i", '{"story": "a", "story": "b", "question": "c", "answer": "d"}', (), "i:1: .*`story`"),
    "deep": ("i", '{"story": ' + "[" * 10_000, (), "nested too deeply|is not JSON"),
    "long number": ("i", '{"story": ' + "9" * 10_000 + "}", (), "i:1: "),
    "half a surrogate": ("i", json.dumps(item(0, True, question="\ud800")), (), "i:1: "),
    "tomi breaks off": ("i", "1 Ann entered the hut.\n3 Ann sat.\n", (), "i:2: .*breaks off"),
    "bigtom columns": ("i", ";" * 40, (), "i:1: has 41 columns"),
    "mumatom": ("questions.json", '{"7": {}}', (), "questions.json: .*7.description"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD_ITEMS)
@pytest.mark.parametrize("as_data", [(), ("--json",)])
def test_what_cannot_be_audited_is_told_in_one_line(run: Run, name: str, as_data: tuple[str, ...]) -> None:
    path, content, arguments, said = BAD_ITEMS[name]
    if content is not None:
        Path(path).write_bytes(content if isinstance(content, bytes) else content.encode("utf-8", "surrogatepass"))
    complaint(run("audit", path, *arguments, *as_data), said)


@pytest.mark.parametrize("name", NAMES)
def test_what_a_file_says_is_shown_as_it_is_in_an_audit(run: Run, name: str) -> None:
    shown = run("audit", put("i.jsonl", item(0, False, id=name), item(1, True))).out
    assert shown.startswith("2 labels: 1 agrees, 1 contradicts")
    assert all(c.isprintable() or c == "\n" for c in shown)
    assert name in shown or not name.isprintable() or len(name) > 15


# generate stories


def main(*arguments: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["otherminds", *arguments])
        with pytest.raises(SystemExit) as ended:
            cli.main()
    assert not ended.value.code


@pytest.fixture(scope="module")
def sets(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folders of stories: `short` by one process, with pictures, and `long` by two."""
    folder = tmp_path_factory.mktemp("sets")
    common = ("generate", "stories", "--seed", "3", "--out")
    main(*common, str(folder / "short"), "--n", "31", "--boards", "3", "--videos", "2")
    main(*common, str(folder / "long"), "--n", "62", "--jobs", "2")
    return folder


def stories(folder: Path) -> list[Row]:
    return [json.loads(line) for line in (folder / "stories.jsonl").read_text("utf-8").splitlines()]


def test_stories_of_a_seed_are_the_same_whatever_their_number_and_that_of_processes(sets: Path) -> None:
    short, long = ((sets / name / "stories.jsonl").read_bytes().splitlines() for name in ("short", "long"))
    assert (len(short), len(long)) == (31, 62)
    assert short == long[:31]
    assert len({line.split(b'"story": ')[1] for line in long}) == 62


def test_rows_have_what_is_documented_and_agree_with_themselves(sets: Path) -> None:
    documented = re.search(r"one story per line:\s+`([^`]+)`", DOCS.read_text("utf-8"))
    assert documented
    for row in stories(sets / "long"):
        assert list(row) == documented[1].replace("\n", " ").split(", ")
        assert row["answer"] == row["options"]["ABC".index(row["letter"])]
        assert row["margin"] >= 3.0
        assert len(set(row["options"])) == 3
        assert row["episode"]["id"] == row["id"]
        assert row["question"]
        assert row["story"]
    assert len({row["id"] for row in stories(sets / "long")}) == 62


def test_each_option_of_a_group_is_right_once(sets: Path) -> None:
    groups = defaultdict(list)
    for row in stories(sets / "long"):
        groups[row["group"]].append(row)
    assert [len(group) for group in groups.values()] == [3] * 20 + [2]
    for group in list(groups.values())[:-1]:
        assert {row["letter"] for row in group} == {"A", "B", "C"}
        assert len({(row["question"], *row["options"], row["cell"], row["phrasing"]) for row in group}) == 1
        assert {row["answer"] for row in group} == set(group[0]["options"])
        assert len({row["story"] for row in group}) == 3
    letters = [group[0]["letter"] for group in groups.values()]
    assert len(set(letters)) == 3


def test_storyboards_and_videos_are_of_the_first_stories(sets: Path) -> None:
    ids = [row["id"] for row in stories(sets / "short")]
    expected = {"stories.jsonl", *(f"{one}.{end}" for one in ids[:3] for end in ("svg", "png"))}
    assert {path.name for path in (sets / "short").iterdir()} == expected | {f"{one}.gif" for one in ids[:2]}
    for one in ids[:3]:
        assert ElementTree.parse(sets / "short" / f"{one}.svg").getroot().tag.endswith("svg")
        Image.open(sets / "short" / f"{one}.png").verify()
    with Image.open(sets / "short" / f"{ids[0]}.gif") as film:
        assert getattr(film, "n_frames", 1) > 1


def test_other_seeds_tell_other_stories(run: Run) -> None:
    for seed in ("3", "4"):
        out = fine(run("generate", "stories", "--n", "3", "--seed", seed, "--out", seed))
        assert out == f"3 stories in {Path(seed) / 'stories.jsonl'}\n"
    assert not {row["story"] for row in stories(Path("3"))} & {row["story"] for row in stories(Path("4"))}


def test_stories_are_told_as_is_wished(run: Run) -> None:
    fine(run("generate", "stories", "--n", "9", "--out", "one", "--phrasing", "present"))
    assert {row["phrasing"] for row in stories(Path("one"))} == {"present"}
    fine(run("generate", "stories", "--n", "9", "--out", "two", "--phrasing", "present", "--phrasing", "plain"))
    assert {row["phrasing"] for row in stories(Path("two"))} == {"present", "plain"}


def test_generated_stories_can_be_asked_about(run: Run, sets: Path) -> None:
    path = str(sets / "long" / "stories.jsonl")
    rows = [row for row in stories(sets / "long") if row["phrasing"] == "present"][:6]
    assert [asked_about(run, path, "--id", row["id"])["answer"] for row in rows] == [row["answer"] for row in rows]


def test_no_generated_story_is_answered_wrongly_from_its_data(run: Run, sets: Path) -> None:
    for row in stories(sets / "long")[::5]:
        data = {"episode": row["episode"], "question": row["asked"]}
        found = asked_about(run, put("data.json", data))
        assert found["option"] in (None, "ABC".index(row["letter"]))


def test_right_answers_by_construction_are_never_contradicted(run: Run, sets: Path) -> None:
    chosen = [row for row in stories(sets / "long") if row["phrasing"] == "flowing"]
    found = judged(run("audit", put("i.jsonl", *chosen), "--json"))
    assert len(found) == len(chosen) > 5
    assert [one["id"] for one in found if one["outcome"] == "contradicts"] == []
    assert any(one["outcome"] == "agrees" for one in found)


BAD_SETS: list[tuple[tuple[str, ...], str]] = [
    (("--n", "0"), "--n"),
    (("--n", "1000001"), "--n"),
    (("--n", "many"), "--n"),
    (("--seed", "-1"), "--seed"),
    (("--jobs", "0"), "--jobs"),
    (("--boards", "-1"), "--boards"),
    (("--videos", "x"), "--videos"),
    (("--phrasing", "poem"), "no phrasing `poem` .*plain"),
    (("--phrasing", "plain", "--phrasing", "[bold]\x1b"), "no phrasing"),
    (("--out", "sally.txt", "--n", "3"), "sally.txt: cannot be written"),
    (("--out", "sally.txt/x", "--n", "3"), "cannot be written"),
]


@pytest.mark.parametrize(("arguments", "said"), BAD_SETS)
def test_what_cannot_be_generated_is_told_in_one_line(run: Run, arguments: tuple[str, ...], said: str) -> None:
    complaint(run("generate", "stories", *arguments), said)
    assert "Sally" in Path("sally.txt").read_text()


def test_a_set_is_not_lost_to_a_mistake(run: Run) -> None:
    fine(run("generate", "stories", "--n", "3"))
    before = Path("stories/stories.jsonl").read_bytes()
    complaint(run("generate", "stories", "--n", "3", "--phrasing", "poem"), "no phrasing")
    assert Path("stories/stories.jsonl").read_bytes() == before


def test_nothing_is_begun_that_cannot_be_done(run: Run) -> None:
    complaint(run("generate", "stories", "--n", "3", "--phrasing", "poem"), "no phrasing")
    assert not Path("stories").exists()


# Help and documentation


@pytest.mark.parametrize("command", ["ask", "audit", "generate stories"])
def test_help_fits_the_terminal_and_shows_an_example(run: Run, command: str) -> None:
    text = fine(run(*command.split(), "--help"))
    assert f"Example: otherminds {command}" in text
    assert max(map(len, text.splitlines())) <= 80


@pytest.mark.parametrize("command", ["ask", "audit", "generate stories", "reproduce"])
def test_documented_options_exist(run: Run, command: str) -> None:
    lines = re.findall(rf"^ +otherminds {command} (.*)$", DOCS.read_text("utf-8"), re.MULTILINE)
    assert lines
    told = fine(run(*command.split(), "--help"))
    for option in {option for line in lines for option in re.findall(r"--[a-z]+", line)}:
        assert re.search(rf"{option}\b", told)


def test_the_help_of_reproduce_names_the_experiment(run: Run) -> None:
    assert "mumatom" in fine(run("reproduce", "--help"))


def test_documented_names_exist() -> None:
    names = set(re.findall(r"`(otherminds(?:\.\w+)+)", DOCS.read_text("utf-8")))
    assert names
    for name in names:
        assert pkgutil.resolve_name(name)


def test_the_documented_question_is_answered(run: Run, here: Path) -> None:
    command = re.search(r"^ +otherminds ask story.txt --question \"(.*?)\"", DOCS.read_text("utf-8"), re.MULTILINE)
    assert command
    (here / "story.txt").write_text(SALLY)
    assert fine(run("ask", "story.txt", "--question", command[1])).startswith("answer  A) basket")
