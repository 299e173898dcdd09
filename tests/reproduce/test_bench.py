"""The benchmark of a language model: every part counts, none costs another, limits hold over all, nothing is lost."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Mapping
from functools import cache, partial
from pathlib import Path
from typing import Any

import pytest

from commands import Run, complaint
from endpoint_server import serve
from otherminds.evaluation.runs import look
from otherminds.language.scripted import Scripted
from otherminds.papers.functional import card_and_word_games, check_page
from otherminds.papers.functional.check import CheckOptions
from otherminds.papers.mumatom import experiment, reproduction
from otherminds.papers.mumatom import report as mumatom_report
from otherminds.reports.page import number, safe
from otherminds.reproduce import bench, bench_page
from otherminds.reproduce.bench_page import CHECK, CLUES, FACILITATION, MUMATOM, SETS, STORIES
from run_files import results, rows_in, summary_in

pytestmark = pytest.mark.slow

Row = dict[str, Any]
INVENTED_ROWS = cache(experiment.invented_rows)
MODELS = '''\
import json
import re

from otherminds.language.model import ModelError
from otherminds.language.scripted import Scripted, text_of

asked, most = [], 1000


def answer(prompt):
    """Plays one option, says nothing as a facilitator, and takes the second option of questions."""
    asked.append(prompt)
    if len(asked) > most:
        raise KeyboardInterrupt
    if '"choice": ...' in prompt:
        names = re.findall(r'"([^"]+)": \\.\\.\\.', re.search(r'"goals": \\{(.*?)\\}', prompt)[1])
        goal = re.search(r"It is one of: (.*?)\\.", prompt)[1].split(", ")[0]
        return json.dumps({"goals": dict.fromkeys(names, goal), "reason": "Wait.", "choice": 0})
    if "Read this story" in prompt:
        return "Answer: option B"
    clue_game = "option J" not in prompt and re.search("with one of option (.*?)(, option| in place)", prompt)
    return f"Answer: option {clue_game[1] if clue_game else 'J'}"


def mute(prompt):
    return "I would rather not."


def dead(request):
    raise ModelError("there is no answer")


def shy(request):
    """Answers nothing but questions about stories."""
    if "Read this story" not in text_of(request):
        raise ModelError("it does not play")
    return "B"


no_player, nobody = Scripted("shy", shy), Scripted("nobody", dead)
'''


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with models, in which the parts of the benchmark are small."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    (tmp_path / "own_models.py").write_text(MODELS)
    small_check = partial(CheckOptions, games=("ipd",), partners=("always-cooperate", "always-defect"), rounds=4)
    monkeypatch.setattr(bench, "CheckOptions", small_check)
    for page in (bench_page, check_page, mumatom_report):  # drawing would take most of the time
        monkeypatch.setattr(page, "at_two_widths", lambda draw, wide, caption="": safe(caption))
    monkeypatch.setattr(experiment, "invented_rows", lambda entry: [dict(row) for row in INVENTED_ROWS(entry)])
    monkeypatch.setattr(card_and_word_games, "SHORT_ROUNDS", 2)
    monkeypatch.setattr(bench, "LEVELS", ("keys-to-spare", "purple-gate"))
    monkeypatch.setattr(bench, "MUMATOM_EPISODES", 2)
    for stories in (reproduction.STORIES, reproduction.MODEL_STORIES):
        monkeypatch.setitem(stories, "quick", 6)
    yield tmp_path
    sys.modules.pop("own_models", None)


def measured(folder: Path) -> Mapping[tuple[str, str], Row]:
    return {(row["part"], row["metric"]): row for row in summary_in(folder)}


def page(folder: Path) -> str:
    return (folder / "report.html").read_text("utf-8")


def text(folder: Path) -> str:
    return " ".join(re.sub("<[^>]*>", " ", page(folder)).split())


def test_every_part_is_measured_and_stands_beside_known_players_and_people(run: Run, here: Path) -> None:
    result = run("bench", "--model", "own_models:answer", "--out", "out")
    assert result.code == 0, result.err
    rows = measured(here / "out")
    assert [(row["part"], row["metric"]) for row in summary_in(here / "out")] == [
        (CHECK, "relative_regret"),
        (CHECK, "relative_regret_predicted"),
        (CHECK, "relative_tom_regret"),
        *[(CLUES, "predicted"), (CLUES, "regret")] * 2,
        (FACILITATION, "speedup"),
        (FACILITATION, "saved"),
        (FACILITATION, "needless"),
        (STORIES, "accuracy"),
    ]
    loss, speedup = rows[CHECK, "relative_regret"], rows[FACILITATION, "speedup"]
    needless, right = rows[FACILITATION, "needless"], rows[STORIES, "accuracy"]
    assert loss["people"]["low"] < loss["people"]["high"]
    assert loss["players"]["Bayesian"]["value"] < loss["players"]["random play"]["value"]
    assert (speedup["value"], speedup["n"], needless["value"], needless["n"]) == (0.0, 2, 0.0, 1)
    assert speedup["players"]["oracle"]["value"] > 0.0
    assert right["value"] == pytest.approx(1 / 3)
    assert right["players"]["exact rules"]["value"] == 1.0
    assert not any("people" in row for row in rows.values() if row is not loss)
    for row in rows.values():
        assert row["measured"]
        assert f"{row['measure']} {number(row['value'])}" in text(here / "out")
    for words in (
        "Games with unknown partners",
        "Games of clues",
        "Help for two people",
        "Invented stories",
        "own_models.answer ",
    ):
        assert words in text(here / "out")


def test_the_picture_places_the_model_between_no_understanding_and_the_best(run: Run, here: Path) -> None:
    assert run("bench", "--model", "own_models:answer", "--out", "out").code == 0
    rows, tasks = summary_in(here / "out"), bench_page.places_of(summary_in(here / "out"))
    names = ["Games with unknown partners", "Tiny Hanabi", "Wavelength", "Help for two people", "Invented stories"]
    assert [*tasks] == names
    loss, misled = (next(r["value"] for r in rows if r["metric"] == m) for m in ("relative_regret", "regret"))
    egocentric = next(row["players"]["egocentric"]["value"] for row in rows if row["metric"] == "regret")
    acts = {task: marks[1][0] for task, marks in tasks.items() if marks[1]}
    assert acts["Games with unknown partners"] == pytest.approx(1 - loss)
    assert acts["Tiny Hanabi"] == pytest.approx(1 - misled / egocentric)
    assert acts["Help for two people"] == 0.0
    understands, acted = tasks["Invented stories"]
    assert acted is None
    assert understands is not None
    assert understands[0] == pytest.approx(0.0)


def test_what_it_takes_is_told_first_in_one_line(run: Run, here: Path) -> None:
    first, *_ = run("bench", "--model", "own_models:answer", "--out", "out").err.splitlines()
    counts = re.fullmatch(
        r"own_models:answer, all parts: (\d+) calls \(check (\d+), clues (\d+), facilitation (\d+), stories (\d+)\), "
        r"about [\d,]+ tokens of prompts and at most [\d,]+ of replies, nothing to pay; more if .*",
        first,
    )
    assert counts
    total, *parts = map(int, counts.groups())
    assert total == sum(parts) == 48 + 16 + parts[2] + 6
    made = {row["subject"] for row in rows_in(here / "out" / STORIES) if "replies" in row}
    assert made == {"lm:own_models-answer"}


def test_the_same_command_goes_on_where_it_was_interrupted(run: Run, here: Path) -> None:
    assert run("bench", "--model", "own_models:answer", "--out", "whole").code == 0
    command = ("bench", "--model", "own_models:answer", "--out", "out")
    (here / "own_models.py").write_text(MODELS.replace("1000", "30"))
    sys.modules.pop("own_models", None)
    broken = run(*command)
    assert broken.code == 3
    assert broken.err.splitlines()[-1] == "otherminds: interrupted; the same command with --out out goes on"
    assert not (here / "out" / "report.html").exists()
    (here / "own_models.py").write_text(MODELS)
    sys.modules.pop("own_models", None)
    assert run(*command).code == 0
    assert summary_in(here / "out") == summary_in(here / "whole")
    for part in (CHECK, STORIES):
        assert (here / "out" / part / "rows.jsonl").read_bytes() == (here / "whole" / part / "rows.jsonl").read_bytes()
    before = (here / "out" / "summary.json").read_bytes(), page(here / "out")
    again = run(*command)
    assert again.err == "own_models:answer, all parts: everything is on record\n"
    assert ((here / "out" / "summary.json").read_bytes(), page(here / "out")) == before


def test_another_benchmark_does_not_go_on_in_the_same_folder(run: Run, here: Path) -> None:
    command = ("bench", "--model", "own_models:answer", "--out", "out")
    assert run(*command).code == 0
    before = page(here / "out")
    for more in (("--seed", "7"), ("--names", "nonsense"), ("--shuffle", "none"), ("--max-tokens", "99")):
        complaint(run(*command, *more), "belongs to another benchmark than `bench own_models:answer seed .*--out")
    assert page(here / "out") == before


def test_a_part_that_fails_is_told_and_costs_no_other(run: Run, here: Path) -> None:
    result = run("bench", "--model", "own_models:no_player", "--out", "out")
    assert result.code == 4
    rows = measured(here / "out")
    assert {part for (part, _), row in rows.items() if row["measured"]} == {STORIES}
    assert rows[STORIES, "accuracy"]["value"] == pytest.approx(1 / 3)
    assert "it does not play" in rows[CHECK, "relative_regret"]["why"]
    assert "value" not in rows[CHECK, "relative_regret"]
    assert "Not measured: Games with unknown partners: " in result.out
    assert "What was not measured Games with unknown partners: " in text(here / "out")


def test_a_reply_that_cannot_be_read_is_no_wrong_answer(run: Run, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(reproduction.MODEL_STORIES, "quick", 12)
    monkeypatch.setattr(bench_page, "UNMEASURED", 0.5)
    right = 'return "Answer: option B"'
    assert right in MODELS
    silent = 'return "Answer: option B" if len(re.findall("walked", prompt)) % 2 else "?"'
    (here / "own_models.py").write_text(MODELS.replace(right, silent))
    run("bench", "--model", "own_models:answer", "--out", "out")
    answers = [row for row in rows_in(here / "out" / STORIES) if "replies" in row]
    read = [row for row in answers if row["action"] is not None]
    assert 0 < len(read) < len(answers)
    value = measured(here / "out")[STORIES, "accuracy"]["value"]
    assert value == pytest.approx(sum(row["correct"] for row in read) / len(read))


def test_a_model_that_never_answers_is_an_error(run: Run, here: Path) -> None:
    result = run("bench", "--model", "own_models:nobody", "--out", "out")
    assert result.code == 2
    assert "there is no answer" in result.err.splitlines()[-1]
    assert not (here / "out" / "report.html").exists()


def test_a_model_that_cannot_be_read_is_not_measured(run: Run, here: Path) -> None:
    result = run("bench", "--model", "own_models:mute", "--out", "out", "--json")
    assert result.code == 4
    report = json.loads(result.out)
    assert {*report["not_measured"]} == {CHECK, CLUES, FACILITATION, STORIES}
    assert report["verdict"]["result"] == "not measured"
    assert not any("value" in row or row["measured"] for row in report["measures"])
    assert text(here / "out").count("not measured") >= len(report["measures"])
    assert "to 100% of the questions no reply could be read" in text(here / "out")


def test_a_server_is_measured_within_the_limits_of_all_parts_together(run: Run, here: Path) -> None:
    sys.modules.pop("own_models", None)
    namespace: dict[str, Any] = {}
    exec(MODELS, namespace)
    model = Scripted("scripted", lambda request: namespace["answer"](namespace["text_of"](request)))
    with serve(model) as server:
        command = ("bench", "--model", f"any@{server.url}", "--at-once", "1", "--out", "out")
        limited = run(*command, "--most-calls", "55")
        assert limited.code == 2
        assert "price unknown: " in limited.err.splitlines()[0]
        last = limited.err.splitlines()[-1]
        assert last.startswith("otherminds: the limit on calls is reached")
        assert last.endswith("; the same command with --out out goes on")
        assert len(server.heard) == 55
        assert measured(here / "out")[CHECK, "relative_regret"]["measured"]
        why = measured(here / "out")[STORIES, "accuracy"]["why"]
        assert why == "a limit on money or calls was reached before"
        done = run(*command, "--price", "1/1", "--budget", "1", "--json")
        assert done.code == 0, done.err
        report = json.loads(done.out)
        assert sum(part["calls"] for part in report["calls"].values()) == len(server.heard)
        assert not report["not_measured"]
        assert re.search(r"about \$0\.\d\d; more if", done.err.splitlines()[0])


def test_a_budget_is_for_all_parts_together(run: Run, here: Path) -> None:
    namespace: dict[str, Any] = {}
    exec(MODELS, namespace)
    model = Scripted("scripted", lambda request: namespace["answer"](namespace["text_of"](request)))
    with serve(model) as server:
        price = ("--price", "1000/1000", "--at-once", "1")  # a dollar for a thousand tokens
        whole = run("bench", "--model", f"any@{server.url}", "--out", "whole", *price, "--json")
        dollars = [part["dollars"] for part in json.loads(whole.out)["calls"].values()]
        budget = dollars[0] + dollars[1] / 2
        result = run("bench", "--model", f"any@{server.url}", "--out", "out", *price, "--budget", f"{budget:.2f}")
    assert result.code == 2
    assert "the budget of" in result.err.splitlines()[-1]
    spent = sum(look(here / "out" / part).dollars for part in (CHECK, CLUES))
    assert dollars[0] <= spent <= budget


def test_a_replay_of_the_folder_asks_nothing(run: Run, here: Path) -> None:
    assert run("bench", "--model", "own_models:answer", "--out", "first").code == 0
    (here / "own_models.py").write_text(MODELS.replace("asked.append(prompt)", "raise AssertionError"))
    sys.modules.pop("own_models", None)
    result = run("bench", "--model", "own_models:answer", "--out", "again", "--replay", "first")
    assert result.code == 0, result.err
    assert summary_in(here / "again") == summary_in(here / "first")
    assert results(here / "again" / STORIES) == results(here / "first" / STORIES)


def test_a_report_of_the_folder_is_one_of_its_parts_and_leaves_the_page(run: Run, here: Path) -> None:
    assert run("bench", "--model", "own_models:answer", "--out", "out").code == 0
    before, part = page(here / "out"), page(here / "out" / FACILITATION)
    (here / "out" / FACILITATION / "report.html").unlink()
    assert run("report", "out", "--model", "own_models:answer").code == 0
    assert page(here / "out") == before
    assert page(here / "out" / FACILITATION) == part


# Public sets


def mumatom_files(folder: Path) -> Path:
    """Two episodes of our own in the format of MuMA-ToM."""
    half = "Hugh walked to the kitchen. Hugh grabbed a spoon from the cabinet. Hugh placed the spoon on the table."
    video = "Vera walks to the kitchen. Vera grabs the spoon from the table. Vera puts the spoon inside the sink."
    beliefs = (f"Vera believed that Hugh wants to place the spoon {place}" for place in ("here", "there", "away"))
    options = "\n".join(f"{letter}) {belief}" for letter, belief in zip("ABC", beliefs, strict=True))
    episode = {
        "description": f"{half} {video}",
        "filtered_description": half,
        "questions": {"1": f"Which of the following statements is MOST likely?\n{options}"},
        "answers": {"1": "B)"},
        "labels": {"1": "belief_of_goal"},
    }
    folder.mkdir()
    (folder / "questions.json").write_text(json.dumps({"201": episode, "202": episode}))
    (folder / "gemini_outputs.json").write_text(json.dumps({name: {"action": video} for name in ("201", "202")}))
    return folder


def test_mumatom_is_asked_about_if_its_files_are_there(run: Run, here: Path) -> None:
    data = mumatom_files(here / "data")
    result = run("bench", "--model", "own_models:answer", "--out", "out", "--data", str(data))
    assert result.code == 0, result.err
    row = measured(here / "out")[MUMATOM, "accuracy"]
    assert (row["condition"], row["n"]) == ("text_video/all", 2)
    assert row["people"] == {"value": 0.935}
    assert row["published"]["LIMP with GPT-4o"] == 0.766
    assert "people 0.94; LIMP with GPT-4o 0.77; Gemini 1.5 Pro 0.56" in text(here / "out")


def test_other_public_sets_are_asked_about_beside_exact_rules_and_published_figures(run: Run, here: Path) -> None:
    story = "1 Ida entered the attic.\n2 The comb is in the jar.\n3 The jar is in the attic."
    about = {"story": story, "question": "Where is the comb really?", "answer": "jar", "question_type": "reality"}
    (here / "data").mkdir()
    (here / "data" / "tomi_balanced.jsonl").write_text(json.dumps(about | {"containers": ["jar", "sack"]}) + "\n")
    result = run("bench", "--model", "own_models:answer", "--out", "out", "--data", "data")
    assert result.code == 0, result.err
    row = measured(here / "out")[SETS, "accuracy"]
    assert (row["measure"], row["condition"], row["n"]) == ("ToMi right", "tomi/all", 1)
    assert row["players"]["exact rules"]["value"] == 1.0
    assert row["players"]["guessing"]["value"] == 0.5
    assert row["published"]["AutoToM with GPT-4o"] == 0.883


def test_a_folder_without_public_sets_is_refused_before_anything_is_written(run: Run, here: Path) -> None:
    (here / "data").mkdir()
    result = run("bench", "--model", "own_models:answer", "--out", "out", "--data", "data")
    assert result.code == 2
    assert "holds none of the public sets" in result.err
    assert not (here / "out").exists()
