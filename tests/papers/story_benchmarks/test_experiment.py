"""The benchmarks of stories in one table, on tiny stories of our own in the authors' formats."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from otherminds.errors import InputError
from otherminds.evaluation.asking import Asking
from otherminds.evaluation.store import lasting
from otherminds.language.scripted import Scripted
from otherminds.papers.story_benchmarks import experiment
from otherminds.papers.story_benchmarks.experiment import (
    FAILED,
    FILES,
    READER,
    SHORTCUTS,
    benchmark_of,
    best,
    condition_of,
    judged,
    last_place,
    plan,
    read_folder,
    rows,
    sample,
    summarise,
)
from otherminds.papers.story_benchmarks.report import report
from otherminds.reports.terminal import tables
from otherminds.reproduce import run
from otherminds.reproduce.run import Options, names, reproduce
from otherminds.stories.beliefs.belief_files import Item, read_items
from paths import SHARED

DEV = SHARED / "tom-benchmarks-dev"
MOVED = (
    "1 {0} entered the attic.\n2 {1} entered the attic.\n3 The {2} is in the blue_jar.\n4 The blue_jar is in the attic."
)
MOVED += "\n5 {0} exited the attic.\n6 {1} moved the {2} to the red_sack."
ASKED = [
    ("memory", "Where was the {2} at the beginning?", "blue_jar"),
    ("reality", "Where is the {2} really?", "red_sack"),
]
ASKED += [
    ("first_order_0_tom", "Where will {0} look for the {2}?", "blue_jar"),
    ("second_order_1_tom", "Where does {1} think that {0} searches for the {2}?", "blue_jar"),
]
CAST = [("Ida", "Olaf", "comb"), ("Rut", "Sven", "plum"), ("Ulla", "Nils", "whistle")]


def lines(*found: dict[str, Any]) -> str:
    return "".join(json.dumps(row) + "\n" for row in found)


def tomi() -> str:
    return lines(
        *(
            {
                "story": MOVED.format(*who),
                "question": asked.format(*who),
                "answer": answer,
                "question_type": kind,
                "story_type": "false_belief",
                "containers": ["blue_jar", "red_sack"],
            }
            for who in CAST
            for kind, asked, answer in ASKED
        )
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Files of five benchmarks."""
    data = tmp_path / "data"
    for inner in ("opentom", "tombench", "fantom"):
        (data / inner).mkdir(parents=True)
    (data / "tomi_balanced.jsonl").write_text(tomi())
    story = {
        "narrative": "Ida put the comb in the jar.",
        "plot_info": {"original_place": "jar", "move_to_place": "sack"},
    }
    (data / "opentom/meta_data.json").write_text(json.dumps({"7": story}))
    asked = {"question": "From Ida's perspective, is the comb where it was?", "answer": "Yes", "type": "location-fo"}
    (data / "opentom/location_cg_fo.json").write_text(json.dumps({"7": [asked]}))
    row = {
        "STORY": "Ida hums <b>loudly</b>.",
        "QUESTION": "What does Ida want?",
        "OPTION-A": "A boat",
        "OPTION-B": "<script>a boat</script>",
        "OPTION-C": float("nan"),
        "OPTION-D": float("nan"),
        "答案\nANSWER": "B",
    }
    (data / "tombench/Hinting Task Test.jsonl").write_text(lines(row))
    (data / "tombench/False Belief Task.jsonl").write_text(lines(row, row))
    (data / "fantom/accessible_short_context_first-order.csv").write_text(
        "context,question,answer_choices,gt_answer\n"
        "Ida: Hello!,What does Olaf believe?,\"['Ida came', 'nothing']\",Ida came\n"
    )
    return data


def item(story: str, options: tuple[str, ...], gold: str, group: str = "ToMi memory") -> Item:
    return Item("1", story, "Where is it?", options, gold, 1, group)


def test_a_folder_has_the_benchmarks_whose_files_are_there(folder: Path) -> None:
    found, missing, faults = read_folder(folder)
    assert faults == dict.fromkeys(found, ())
    assert {name: len(items) for name, items in found.items()} == {"tomi": 12, "opentom": 1, "tombench": 3, "fantom": 1}
    assert set(missing) == {
        "mmtom-qa.jsonl",
        "hi-tom.json",
        *FILES["bigtom"],
        *(name for name in FILES["opentom"] if "cg_fo" not in name),
        *(name for name in FILES["fantom"] if name != "fantom/accessible_short_context_first-order.csv"),
        "mumatom*/questions.json",
    }
    assert [one.group for one in found["tombench"]] == ["ToMBench False Belief Task"] * 2 + [
        "ToMBench Hinting Task Test"
    ]


def test_a_folder_without_any_benchmark_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"has none of the benchmarks' files \(--data DIR"):
        read_folder(tmp_path)
    with pytest.raises(InputError, match="needs the benchmarks' files"):
        reproduce("stories", Options(tmp_path / "out"))


NO_QUESTION = '{"story": "1 Ida hums.", "containers": ["a", "b"], "question_type": "memory", "answer": "a"}\n'


@pytest.mark.slow
def test_a_row_that_cannot_be_read_is_counted_and_named(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with (folder / "tomi_balanced.jsonl").open("a") as file:
        file.write(NO_QUESTION * 3 + "<b>\n")
    odd = {"STORY": "Ida hums.", "QUESTION": "Why?", "OPTION-A": "a", "OPTION-B": "b", "答案\nANSWER": "E"}
    with (folder / "tombench/Hinting Task Test.jsonl").open("a") as file:
        file.write(lines(odd))
    results = reproduce("stories", Options(tmp_path / "out", data=folder, scale="quick"))
    assert len(results.rows) == 17
    message = capsys.readouterr().err.splitlines()[1]
    assert message.startswith(f"In {folder}, 5 rows that cannot be read are left out: tomi_balanced.jsonl:13: lacks `q")
    assert message.endswith("tomi_balanced.jsonl:15: lacks `question`; and 2 more")
    skipped = {row["condition"]: (row["value"], row["n"]) for row in results.summary if row["metric"] == "skipped"}
    assert skipped == {"tomi/all": (4, 16), "opentom/all": (0, 1), "tombench/all": (1, 4), "fantom/all": (0, 1)}
    for words in ("5 rows cannot be read", "Task Test.jsonl:2: `答案\\x0aANSWER`: Input", "jsonl:16:1: is not JSON"):
        assert words in results.report
    assert str(tmp_path) not in results.report


def test_a_file_of_which_no_row_can_be_read_is_refused(folder: Path, tmp_path: Path) -> None:
    path = folder / "tomi_balanced.jsonl"
    path.write_text(NO_QUESTION * 2)
    with pytest.raises(InputError) as error:
        reproduce("stories", Options(tmp_path / "out", data=folder))
    assert str(error.value) == f"{path}:1: lacks `question`"
    assert not (tmp_path / "out").exists()
    path.write_text("1 Ida hums.\n2 Does Ida hum?\tyes\n")
    with pytest.raises(InputError, match=r"balanced\.jsonl:2: the question has no choices \(--data DIR"):
        read_folder(folder)


def test_an_odd_episode_of_mumatom_is_counted(folder: Path) -> None:
    entry = {"description": "Ida hums.", "questions": {"1": "Who?\nA) Ida\nB) Olaf"}, "labels": {"1": "belief"}}
    (folder / "mumatom").mkdir()
    (folder / "mumatom/questions.json").write_text(json.dumps({"a": entry | {"answers": {"1": "A"}}, "b": entry}))
    contents = read_folder(folder)
    assert len(contents.questions["mumatom"]) == 1
    assert contents.faults["mumatom"] == ("mumatom/questions.json: lacks `b.answers`",)


@pytest.mark.parametrize(
    ("benchmark", "group", "condition"),
    [
        ("tomi", "ToMi first_order_1_no_tom", "tomi/order 1"),
        ("tomi", "ToMi reality", "tomi/order 0"),
        ("tomi", "ToMi", "tomi/questions"),
        ("tombench", "ToMBench all", "tombench/questions"),
        ("hi_tom", "Hi-ToM order 3 with deception", "hi_tom/order 3"),
        ("bigtom", "BigToM forward action, true belief", "bigtom/forward action, true belief"),
        ("opentom", "OpenToM location fine, second order", "opentom/location fine, order 2"),
        ("mumatom", "MuMA-ToM social_goal", "mumatom/social goal"),
    ],
)
def test_types_of_questions(benchmark: str, group: str, condition: str) -> None:
    assert condition_of(benchmark, item("", ("a", "b"), "a", group)) == condition


def test_what_shortcuts_are_worth() -> None:
    told = item(
        "It was in the red_box. Then in the blue box, not the tin.", ("red box", "blue box", "attic"), "blue box"
    )
    assert best(told, last_place(told)) == 1.0
    assert best(told, len) == 1.0
    level = item("Nothing of either.", ("sack", "tins", "jar"), "tins")
    assert best(level, last_place(level)) == pytest.approx(1 / 3)
    assert best(level, len) == 0.5


def test_the_usual_answer_is_that_of_other_stories() -> None:
    """An answer does not vote for itself, nor for another question about its story."""
    found = [item(f"Story {n}.", ("yes", "no"), gold) for n, gold in enumerate(("yes", "yes", "no", "Yes."))]
    assert [entry.majority for entry in plan({"tomi": tuple(found[:3])}, 1)] == [0.5, 0.5, 0.0]
    alone = plan({"tomi": (found[0], found[0])}, 1)
    assert [entry.majority for entry in alone] == [0.5, 0.5]


def test_a_part_of_each_type_is_evenly_spread(folder: Path) -> None:
    entries = plan(read_folder(folder)[0], 1, 2)
    assert [entry.item.line for entry in entries if entry.condition == "tomi/memory"] == [1, 9]
    assert len({entry.key for entry in entries}) == len(entries) == 8 + 1 + 3 + 1


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_beliefs_are_answered_in_whatever_order_the_options_come(folder: Path, seed: int) -> None:
    found = [row for entry in plan(read_folder(folder)[0], seed) for row in rows(entry)]
    assert {row["correct"] for row in found if row["condition"].startswith("tomi/")} == {True}
    assert {json.dumps(row["audit"]) for row in found if row["condition"].startswith("tomi/")} == {'{"ToMi": "agrees"}'}
    assert {row["action"] for row in found if row["condition"].startswith(("tombench/", "fantom/"))} == {None}
    assert all("abstained" in row for row in found if row["action"] is None)


def test_a_story_on_which_the_reader_fails_is_not_answered(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise KeyError("nobody")

    monkeypatch.setattr(experiment, "answer_benchmark", fail)
    monkeypatch.setattr(experiment, "judge", fail)
    entry = plan(read_folder(folder)[0], 1)[0]
    (row,) = rows(entry)
    assert (row["action"], row["abstained"], row["audit"]) == (
        None,
        f"{FAILED}: KeyError('nobody')",
        {"ToMi": "unread"},
    )
    found = {one["metric"]: one["value"] for one in summarise([row]) if one["condition"] == "tomi/all"}
    assert (found["failed"], found["abstained"], "accuracy_answered" in found) == (1, 1, False)


def answered(story: int, action: int | None, *, gold: int = 0, audit: str = "agrees", **more: Any) -> dict[str, Any]:
    row = {"condition": "tomi/memory", "subject": "symbolic", "episode": str(story), "story": str(story), "line": story}
    told = {"action": action, "gold": gold, "correct": action == gold, "ms": 5.0, "audit": {"ToMi": audit}, "p": 1.0}
    guessing = 0.5 if action is None else float(action == gold)
    return row | told | {"guessing": guessing} | dict.fromkeys(SHORTCUTS, 0.5) | more


def test_counts_and_accuracy() -> None:
    found = [answered(1, 0), answered(2, 1, audit="contradicts"), answered(3, None, audit="unread", longest=1.0)]
    table = {(r["condition"], r["subject"], r["metric"]): r for r in summarise(found)}
    told = {metric: table["tomi/memory", "symbolic", metric]["value"] for _, who, metric in table if who == "symbolic"}
    assert told | {"accuracy_guessing": 0.5} == told
    assert [told[name] for name in ("questions", "right", "wrong", "abstained")] == [3, 1, 1, 1]
    assert [told[name] for name in ("confirmed", "contradicted", "failed")] == [1, 1, 0]
    assert (told["answered"], told["accuracy_answered"], told["decision_ms"]) == (pytest.approx(2 / 3), 0.5, 5.0)
    assert table["tomi/all", "longest", "accuracy"]["value"] == pytest.approx(2 / 3)
    assert table["tomi/all", "longest", "accuracy_answered"]["value"] == 0.5
    assert table["tomi/all", "symbolic", "accuracy_answered"]["n"] == 3


def test_a_label_is_wrong_only_by_the_rules_that_the_others_follow() -> None:
    pairs = [("agrees", "contradicts")] * 2 + [("contradicts", "agrees"), ("contradicts", "unread")]
    found = [answered(n, 0) | {"audit": dict(zip("ab", pair, strict=True))} for n, pair in enumerate(pairs)]
    assert list(judged(found).values()) == ["agrees", "agrees", "contradicts", "contradicts"]
    assert list(judged(found[1:3]).values()) == ["agrees", "agrees"]


def test_the_terminal_shows_the_best_shortcut(capsys: pytest.CaptureFixture[str]) -> None:
    found = [answered(1, 0, longest=0.75), answered(2, None, audit="contradicts", abstained=f"{FAILED}: KeyError")]
    Console(width=100).print(tables.results(list(summarise(found))))
    shown = capsys.readouterr().out
    assert re.search(r"memory +2 +1 +0 +1 +1 +100 \[100, 100\] +long 62 *$", shown, re.MULTILINE)
    assert "failed on 1 questions" in " ".join(shown.split())


@pytest.mark.slow
def test_the_report_escapes_what_files_say() -> None:
    wrong = answered(1, 1, chosen="<script>x</script>", label="<b>", audit="contradicts", because=["<i>moves</i>"])
    page = report([wrong], list(summarise([wrong])), ["<img>.json"], ["tomi.jsonl:1: <hr> is missing"])
    assert "&lt;script&gt;x" in page
    assert not any(mark in page for mark in ("<script>x", "<b>", "<i>moves", "<img>", "<hr>"))
    titles = [section.title for section in page.sections]
    assert titles[0] == "A story, and how it is answered"
    assert titles[-2:] == ["Rows that cannot be read", "Files that are missing"]
    assert "AutoToM with GPT-4o 88.3 %" in page


def test_the_page_begins_with_a_story_that_is_answered() -> None:
    page = report([answered(1, 0)], list(summarise([answered(1, 0)])))
    first = page.sections[0].body
    assert re.search(r"<strong>A\) in the basket</strong></td><td class=number>1\.00<", first)
    for words in (
        "Sally puts the marble in the basket.",
        "Sally is in the kitchen.",
        "Anne moves the marble to the box",
    ):
        assert words in first
    tables = [body for _, body in page.sections[1:] if "<table" in body]
    assert all(">n</th>" in body for body in tables)


@pytest.mark.slow
def test_the_same_rows_on_any_number_of_workers_and_after_an_interruption(folder: Path, tmp_path: Path) -> None:
    one = reproduce("stories", Options(tmp_path / "one", data=folder, scale="full"))
    two = reproduce("stories", Options(tmp_path / "two", data=folder, scale="full", jobs=2))
    assert [*map(lasting, one.rows)] == [*map(lasting, two.rows)]
    assert len(one.rows) == 17
    again = reproduce("stories", Options(tmp_path / "one", data=folder, scale="full"))
    assert again.rows == one.rows
    assert again.report == one.report
    with pytest.raises(InputError, match="belongs to another run"):
        reproduce("stories", Options(tmp_path / "one", data=folder, scale="full", seed=7))


def test_all_experiments_with_such_a_folder_are_this_one(folder: Path, tmp_path: Path) -> None:
    assert names("all", folder) == ("stories",)
    assert "stories" not in names("all", None)
    assert "stories" not in names("all", tmp_path)


@pytest.mark.skipif(not DEV.is_dir(), reason="needs the benchmarks' files, which may not be shipped")
@pytest.mark.slow
def test_the_authors_files_are_read() -> None:
    found, missing, faults = read_folder(DEV)
    assert not any(faults.values())
    assert {name: len(items) for name, items in found.items()} == {
        "mmtom_qa": 214,
        "tomi": 298,
        "hi_tom": 325,
        "bigtom": 348,
        "opentom": 3887,
        "tombench": 713,
        "fantom": 211,
    }
    assert missing == ["mumatom*/questions.json"]
    entries = plan(found, 1)
    assert len({entry.key for entry in entries}) == len(entries)
    assert len(read_items(DEV / "hi-tom.json")) == 325


# Language models


def test_a_language_model_is_asked_about_a_few_questions_of_each_set(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(run.ASKED, "quick", 3)
    asked = Scripted("first", lambda _request: "Answer: option A")
    monkeypatch.setattr(Asking, "find", lambda _asking: asked)
    options = Options(tmp_path / "out", scale="quick", data=folder, asking=Asking("own:first"))
    results = reproduce("stories", options)
    mine = [row for row in results.rows if row["subject"] == "lm:first"]
    by_set = Counter(map(benchmark_of, mine))
    assert set(by_set) == set(map(benchmark_of, results.rows))
    assert max(by_set.values()) == by_set["tomi"] == 3
    read = {(row["condition"], row["episode"]): row for row in results.rows if row["subject"] == READER}
    assert all((row["condition"], row["episode"]) in read for row in mine)
    entries = {(entry.key[0], entry.key[2]): entry for entry in plan(read_folder(folder).questions, options.seed, 10)}
    for row in mine:
        question = entries[row["condition"], row["episode"]]
        assert row["correct"] == (question.options[0] == question.item.gold)
    accuracy = next(r for r in results.summary if (r["condition"], r["subject"]) == ("tomi/all", "lm:first"))
    assert accuracy["value"] == pytest.approx(sum(r["correct"] for r in mine if benchmark_of(r) == "tomi") / 3)
    assert "Asked here, right of the readable answers: first " in (tmp_path / "out/report.html").read_text()


def test_questions_for_models_are_drawn_by_the_seed(folder: Path) -> None:
    entries = plan(read_folder(folder).questions, 1)
    drawn = [[entry.key for entry in sample(entries, 4, seed)] for seed in (1, 1, 2)]
    assert drawn[0] == drawn[1] != drawn[2]
