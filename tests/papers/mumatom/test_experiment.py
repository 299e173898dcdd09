"""MuMA-ToM and invented stories as experiment: rows, scores, shortcuts, language models, and going on after stops."""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from html.parser import HTMLParser
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

from commands import Run, complaint, fine
from otherminds.papers.mumatom import experiment as invented
from otherminds.papers.mumatom import experiment as mumatom
from otherminds.papers.mumatom import report as mumatom_report
from otherminds.papers.mumatom.reproduction import EXPERIMENTS, STORIES
from otherminds.reports.page import at_two_widths, safe
from otherminds.reports.results import figures
from otherminds.reproduce import run as reproduce
from otherminds.reproduce.run import Options
from otherminds.stories.invented.telling import phrasings
from otherminds.stories.mumatom_files import read_mumatom
from paths import ROOT
from run_files import RESULTS, copied, episodes_in, interrupted, results, rows_in, summary_in

pytestmark = pytest.mark.slow

Row = dict[str, Any]

TRACKS = ("full_text", "text_video", "text_scene", "text_video_scene")
SHORTCUTS = ("question_only", "no_video", "place_prior")
KINDS = ("belief", "social_goal", "belief_of_goal")
METRICS = {"accuracy", "answered", "accuracy_answered", "accuracy_guessing"}
COLUMNS = {
    "schema", "experiment", "condition", "subject", "seed", "episode", "t", "kind", "action", "gold", "correct", "run",
}  # fmt: skip
FEW, ENOUGH = 12, 18

# Four episodes of our own in the layout of the benchmark


def talk(helper: str, asker: str, thing: str, claim: str, *, found: bool) -> tuple[str, str, str]:
    """All of a conversation, what a video model saw of it, and where the helper says that the thing is."""
    ending = (
        f"{asker} opened the {claim} and grabbed the {thing} from the {claim}."
        if found
        else f"{asker} opened the {claim} and closed the {claim}. {asker} walked to the bedroom."
    )
    story = (
        f'{asker} walked to the kitchen. {asker} asked, "Where is the {thing}?" '
        f'{helper} answered, "I found a {thing} inside the {claim}." {asker} walked to the {claim}. {ending}'
    )
    video = f"{asker} walks to the kitchen. {asker} talks. {asker} walks to the {claim}, opens it" + (
        " and grabs some object from it." if found else ". She closes it and walks to the bedroom."
    )
    return story, video, f"inside the {claim}"


def conversation(helper: str, asker: str, thing: str, claim: str, *, found: bool) -> tuple[Row, str]:
    story, video, inside = talk(helper, asker, thing, claim, found=found)
    believes = [f"When giving information, {helper} believed that there was a {one} {inside}"
                for one in (thing, "magazine", "candle")]  # fmt: skip
    aims = [
        f"When giving information, {helper} has been trying to help {asker} find the {thing}",
        f"When giving information, {helper} has been trying to prevent {asker} from finding the {thing}",
        f"When giving information, {helper} was indifferent towards {asker}'s goals",
    ]
    helping = f"if {helper} has been trying to help {asker} achieve her goal"
    knowing = f"assuming that {helper} knows what is {inside}"
    return {
        "description": story,
        "filtered_description": None,
        "questions": {
            "1": worded(f"{helping}, which of the following statements is MOST likely true?", believes),
            "2": worded(f"{knowing}, which of the following statements is MOST likely true?", aims),
            "3": worded(f"{knowing}, which of the following statements is LEAST likely true?", aims[::-1]),
        },
        "answers": {"1": "A)", "2": "A)" if found else "B)", "3": "B)" if found else "C)"},
        "labels": {"1": "belief", "2": "social_goal", "3": "social_goal"},
    }, video


def worded(stem: str, options: Sequence[str]) -> str:
    return "\n".join(
        [f"Given the above interaction, {stem}", *(f"{x}) {o}" for x, o in zip("ABC", options, strict=True))]
    )


def moving(first: str, second: str, thing: str) -> tuple[Row, str]:
    half = (
        f"{first} walked to the kitchen. {first} grabbed a {thing} from the cabinet. "
        f"{first} placed the {thing} on the kitchen table. {first} walked to the bathroom."
    )
    rest = (
        f"{second} walked to the kitchen. {second} grabbed the {thing} from the kitchen table. "
        f"{second} opened the dishwasher. {second} put the {thing} inside the dishwasher."
    )
    options = [
        f"{second} believed that {first} wants to place the {thing} inside the dishwasher: "
        f"she intentionally moved the {thing} to hinder {first}.",
        f"{second} believed that {first} placed the {thing} at his desired location: "
        f"she intentionally moved the {thing} to hinder {first}.",
        f"{second} believed that {first} placed the {thing} at his desired location: "
        f"she moved the {thing} to help {first}.",
    ]
    stem = "based on the actions of the agents, which of the following statements is MOST likely?"
    return {
        "description": f"b'{half} {rest}'",
        "filtered_description": half,
        "questions": {"1": worded(stem, options), "2": worded(stem, options[1:] + options[:1])},
        "answers": {"1": "B)", "2": "A) ..."},
        "labels": {"1": "belief_of_goal", "2": "belief_of_goal"},
    }, rest.replace("walked", "walks").replace("grabbed", "grabs").replace("opened", "opens").replace("put", "puts")


def scene(name: str, thing: str, place: str) -> dict[str, Any]:
    """The scene graph of a video in which a thing is taken from a place."""
    return {
        "hold": {name: {"0": [], "5": [f"The character is holding a {thing} "]}},
        "inside": {name: {"0": [], "4": [f"A {thing} is inside the {place}"]}},
        "on": {name: {"0": []}},
        "opened": {name: {"3": [place], "4": [place]}},
        "closeness": {name: {"5": [thing, place]}},
    }


def look_alike(
    folder: Path, *, videos: bool = True, graphs: bool = True, more: Mapping[str, tuple[Row, str]] | None = None
) -> Path:
    episodes = {
        "201": conversation("Paul", "Rita", "teapot", "fridge", found=True),
        "202": conversation("Otto", "Nina", "lamp", "microwave", found=True),
        "203": moving("Hugh", "Vera", "spoon"),
        "204": moving("Fred", "Gwen", "plate"),
    } | dict(more or {})
    folder.mkdir(exist_ok=True)
    put(folder / "questions.json", {name: row for name, (row, _) in episodes.items()})
    if videos:
        put(folder / "gemini_outputs.json", {name: {"action": video} for name, (_, video) in episodes.items()})
    for name, thing, place in (("201", "teapot", "fridge"), ("202", "lamp", "microwave")) if graphs else ():
        for relation, facts in scene(name, thing, place).items():
            put(folder / "visual_data" / name / f"{relation}.json", facts)
    return folder


def put(path: Path, content: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content), encoding="utf-8")


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An own folder, and fewer invented stories than usual."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(STORIES, "quick", FEW)
    monkeypatch.setattr(invented, "phrasings", lambda: ["plain"])
    leave_undrawn(monkeypatch)
    return tmp_path


def leave_undrawn(patch: pytest.MonkeyPatch) -> None:
    """Figures are made, but not drawn, which would take most of the time."""
    patch.setattr(mumatom_report, "at_two_widths", lambda draw, wide, caption="": safe(caption))


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run on the look-alike by two processes."""
    folder = tmp_path_factory.mktemp("ran")
    data = look_alike(folder / "data")
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(STORIES, "quick", FEW)
        patch.setattr(invented, "phrasings", lambda: ["plain"])
        leave_undrawn(patch)
        reproduce.reproduce("mumatom", Options(folder / "out", 1, "quick", 2, data))
    return folder


def value(summary: Sequence[Row], condition: str, subject: str, metric: str) -> float:
    (row,) = (r for r in summary if (r["condition"], r["subject"], r["metric"]) == (condition, subject, metric))
    return float(row["value"])


# Rows and scores


@pytest.mark.slow
def test_rows_are_decisions_by_the_contract(ran: Path) -> None:
    rows = rows_in(ran / "out")
    assert all(set(row) >= COLUMNS for row in rows)
    assert {row["experiment"] for row in rows} == {"mumatom"}
    assert {(row["schema"], row["seed"]) for row in rows} == {(1, 1)}
    counts = Counter((row["condition"], row["subject"]) for row in rows)
    invented = {key: n for key, n in counts.items() if key[0].startswith("invented/")}
    assert {key: n for key, n in counts.items() if key not in invented} == {
        **{(track, "symbolic"): 10 for track in TRACKS},
        **{("full_text", name): 10 for name in ("question_only", "no_video")},
    }
    assert invented.pop(("invented/plain", "question_only")) == 4 * FEW
    assert set(invented.values()) == {FEW}
    assert {subject for _, subject in invented} == {"symbolic"}
    for _, found in groupby(rows, key=lambda row: (row["condition"], row["subject"], row["episode"])):
        decisions = list(found)
        assert [row["t"] for row in decisions] == list(range(len(decisions)))
        assert ["accuracy" in row for row in decisions] == [False] * (len(decisions) - 1) + [True]
        assert decisions[-1]["accuracy"] == sum(row["correct"] for row in decisions) / len(decisions)


def test_decisions_agree_with_themselves(ran: Path) -> None:
    for row in rows_in(ran / "out"):
        assert row["correct"] == (row["action"] == row["gold"])
        assert row["action"] is None or row["action"] in range(3)
        if row["condition"] in TRACKS:
            assert sum(row["posterior"]) == pytest.approx(1.0, abs=1e-5)
            assert row["p_true"] == pytest.approx(row["posterior"][row["gold"]], abs=1e-6)
            assert row["best"] == row["gold"]
            assert row["kind"] in KINDS
            if row["subject"] == "symbolic":
                assert (row["action"] is None) == bool(row.get("abstained"))
            else:
                assert row["action"] is not None


def test_the_summary_is_what_the_rows_say(ran: Path) -> None:
    rows, summary = rows_in(ran / "out"), summary_in(ran / "out")
    for track in TRACKS:
        for subject in ("symbolic", "question_only", "no_video"):
            told = track if subject == "symbolic" else "full_text"
            mine = [row for row in rows if (row["condition"], row["subject"]) == (told, subject)]
            for kind in ("all", *KINDS):
                chosen = [row for row in mine if kind in ("all", row["kind"])]
                answered = [row for row in chosen if row["action"] is not None]
                right = sum(row["correct"] for row in chosen)
                where = (f"{track}/{kind}", subject)
                assert value(summary, *where, "accuracy") == pytest.approx(right / len(chosen))
                guessing = sum(row["guessing"] for row in chosen)
                assert value(summary, *where, "accuracy_guessing") == pytest.approx(guessing / len(chosen))
                assert value(summary, *where, "answered") == pytest.approx(len(answered) / len(chosen))
                if answered:
                    assert value(summary, *where, "accuracy_answered") == pytest.approx(right / len(answered))


def test_the_summary_is_spelt_by_the_contract(ran: Path) -> None:
    summary = summary_in(ran / "out")
    keys = [(row["condition"], row["subject"], row["metric"]) for row in summary]
    assert len(keys) == len(set(keys))
    benchmark = {key for key in keys if not key[0].startswith("invented/")}
    assert {condition for condition, _, _ in benchmark} == {f"{t}/{k}" for t in TRACKS for k in (*KINDS, "all")}
    assert {subject for _, subject, _ in benchmark} == {"symbolic", *SHORTCUTS}
    assert {metric for _, _, metric in benchmark} == METRICS
    for track in TRACKS:
        assert {s for c, s, _ in benchmark if c == f"{track}/all"} == {"symbolic", *SHORTCUTS}
    for row in summary:
        assert {"experiment", "condition", "subject", "metric", "value", "low", "high"} <= set(row)
        assert 0.0 <= row["low"] <= row["value"] <= row["high"] <= 1.0
    for one in (*figures().published, *figures().target):
        if one.experiment == "mumatom":
            track, _, kind = one.condition.partition("/")
            assert (track in TRACKS, kind in (*KINDS, "all"), one.metric) == (True, True, "accuracy")
            key = {
                "experiment": one.experiment,
                "condition": one.condition,
                "subject": one.subject,
                "metric": one.metric,
            }
            beside = [row for row in summary if key.items() <= row.items()]
            assert all("published" in row for row in beside) or not hasattr(one, "value")


def test_the_whole_story_answers_all_and_shortcuts_guess_beside_it(ran: Path) -> None:
    summary = summary_in(ran / "out")
    assert value(summary, "full_text/all", "symbolic", "accuracy") == 1.0
    for track in TRACKS:
        for name in SHORTCUTS:
            assert value(summary, f"{track}/all", name, "answered") == 1.0
            assert value(summary, f"{track}/all", name, "accuracy") == value(summary, "full_text/all", name, "accuracy")


def test_a_shortcut_is_shown_less_than_the_solver(ran: Path) -> None:
    """Without the video nothing tells what somebody means who speaks; without a story, nothing is read."""
    rows = {(r["subject"], r["episode"], r["t"]): r for r in rows_in(ran / "out") if r["condition"] == "full_text"}
    for (subject, episode, t), row in rows.items():
        if subject == "question_only" and row["kind"] == "belief":
            assert len(set(row["posterior"])) == 1
            assert row["p_true"] < rows["no_video", episode, t]["p_true"]
        if subject == "no_video" and row["kind"] == "social_goal":
            assert row["p_true"] < rows["symbolic", episode, t]["p_true"] or row["gold"] != 0


def test_what_the_other_episodes_give_away_is_no_more_than_that(here: Path) -> None:
    """Of three conversations about a fridge, two were meant to help, so the third is taken to be meant so, too."""
    more = {
        "301": conversation("Cora", "Dora", "vase", "fridge", found=True),
        "302": conversation("Jack", "Kate", "book", "fridge", found=False),
    }
    sources = read_mumatom(look_alike(here / "data", videos=False, graphs=False, more=more))
    shown = [row for entry in mumatom.plan(sources, 0) if entry.subject == "no_video" for row in mumatom.rows(entry)]
    prior = {(row["episode"], row["t"]): row for row in mumatom.place_prior(shown, sources)}
    assert len(prior) == len(shown)
    assert [prior["302", t]["action"] for t in (1, 2)] == [0, 1]  # to help is likely; to hinder is least so
    assert {row["subject"] for row in prior.values()} == {"place_prior"}
    for row in shown:
        if row["kind"] != "social_goal":
            assert prior[row["episode"], row["t"]]["action"] == row["action"]


def test_what_an_episode_gives_away_itself_is_not_used(here: Path) -> None:
    sources = read_mumatom(look_alike(here / "data", videos=False, graphs=False))
    for seed in range(6):
        plan = [entry for entry in mumatom.plan(sources, seed) if entry.subject == "no_video"]
        shown = [row for entry in plan for row in mumatom.rows(entry)]
        assert [row["action"] for row in mumatom.place_prior(shown, sources)] == [row["action"] for row in shown]


# What there is data for


@pytest.mark.parametrize(
    ("videos", "graphs", "tracks"),
    [
        (False, False, ["full_text"]),
        (True, False, ["full_text", "text_video"]),
        (False, True, ["full_text", "text_scene"]),
        (True, True, list(TRACKS)),
    ],
)
def test_stories_are_told_in_the_ways_there_is_data_for(
    here: Path, videos: bool, graphs: bool, tracks: list[str]
) -> None:
    data = look_alike(here / "data", videos=videos, graphs=graphs)
    plan = mumatom.plan(read_mumatom(data), 0)
    assert list(dict.fromkeys(entry.track for entry in plan if entry.subject == "symbolic")) == tracks
    assert len({entry.key for entry in plan}) == len(plan) == 4 * (len(tracks) + 2)


def test_the_text_half_does_not_tell_what_the_video_shows(here: Path) -> None:
    first, _, third, _ = read_mumatom(look_alike(here / "data"))
    assert mumatom.spoken_half(first) == "Rita: Where is the teapot?\nPaul: I found a teapot inside the fridge."
    said = mumatom.text_half(first).episode.timeline
    assert [happening.type for happening in said] == ["utterance", "utterance"]
    assert mumatom.spoken_half(third).endswith("Hugh walked to the bathroom.")
    assert {getattr(one, "agent", "") for one in mumatom.text_half(third).episode.timeline} == {"Hugh"}
    for track, sources in (("full_text", {"text"}), ("text_video", {"text", "video"})):
        assert {happening.source for happening in mumatom.read(first, track).episode.timeline} == sources
    both = mumatom.read(first, "text_video_scene").episode.timeline
    assert {happening.source for happening in both} == {"text", "video", "scene_graph"}
    assert {getattr(one, "agent", "") for one in mumatom.read(third, "text_video").episode.timeline} == {"Hugh", "Vera"}


# On the command line


@pytest.mark.slow
def test_without_data_only_invented_stories_are_asked_about(
    run: Run, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(STORIES, "quick", ENOUGH)
    monkeypatch.setattr(invented, "phrasings", phrasings)
    result = run("reproduce", "mumatom", "--quick", "--out", "out", "--check")
    assert (result.code, result.err) == (0, "")
    assert {path.name for path in (here / "out").iterdir()} == {"run.db", "run.lock", *RESULTS}
    summary = summary_in(here / "out")
    conditions = {row["condition"] for row in summary}
    assert conditions
    assert all(condition.startswith("invented/") for condition in conditions)
    for condition in conditions:
        assert value(summary, condition, "symbolic", "accuracy") <= value(summary, condition, "symbolic", "answered")
        assert condition.removeprefix("invented/") in result.out
    answered = [row for row in rows_in(here / "out") if row["subject"] == "symbolic" and row["action"] is not None]
    assert sum(row["correct"] for row in answered) >= 0.95 * len(answered)
    assert value(summary, "invented/plain", "symbolic", "accuracy_answered") == 1.0
    assert value(summary, "invented/plain", "symbolic", "answered") >= 0.6
    assert value(summary, "invented/plain", "question_only", "answered") == 1.0
    assert 0.15 < value(summary, "invented/plain", "question_only", "accuracy") < 0.52
    assert result.out.endswith(f"Report: {Path('out') / 'report.html'}\n")


def test_all_of_the_table_fits_the_terminal(run: Run) -> None:
    out = fine(run("reproduce", "mumatom", "--quick", "--out", "out"))
    assert max(map(len, out.splitlines())) <= 80
    assert "…" not in out
    for heading in ("right answers, %", "all", "question only"):
        assert heading in " ".join(out.split())


def test_a_run_with_data_is_shown_beside_its_shortcuts(run: Run, here: Path, ran: Path) -> None:
    copied(ran / "out", here / "out")
    result = run(
        "reproduce", "mumatom", "--quick", "--seed", "1", "--out", "out", "--data", str(ran / "data"), "--check"
    )
    missed = re.findall(r"^MISSED  (\S+)", result.out, re.MULTILINE)
    assert result.code == (1 if missed else 0)
    assert result.err == ""
    assert len(re.findall(r"^(?:met   |MISSED)  ", result.out, re.MULTILINE)) == 3
    words = " ".join(result.out.split())
    assert all(name.replace("_", " ") in words for name in SHORTCUTS)
    assert "met full_text/all" in words


@pytest.mark.slow
def test_the_number_of_processes_makes_no_difference(run: Run, here: Path, ran: Path) -> None:
    fine(run("reproduce", "mumatom", "--quick", "--seed", "1", "--out", "out", "--data", str(ran / "data")))
    assert results(here / "out") == results(ran / "out")


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.2, 0.97])
def test_an_interrupted_run_goes_on_where_it_stopped(here: Path, ran: Path, share: float) -> None:
    order = episodes_in(ran / "out")
    interrupted(ran / "out", here / "out", order[int(share * len(order)) :])
    reproduce.reproduce("mumatom", Options(here / "out", 1, "quick", 1, ran / "data"))
    assert results(here / "out") == results(ran / "out")


def test_what_was_answered_is_not_answered_again(here: Path, ran: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def never(_: Any) -> list[Row]:
        raise AssertionError("answered again")

    copied(ran / "out", here / "out")
    monkeypatch.setattr(mumatom, "rows", never)
    monkeypatch.setattr(invented, "rows", never)
    reproduce.reproduce("mumatom", Options(here / "out", 1, "quick", 1, ran / "data"))
    assert results(here / "out") == results(ran / "out")


def test_another_run_is_not_mixed_with_this_one(run: Run, here: Path, ran: Path) -> None:
    copied(ran / "out", here / "out")
    complaint(run("reproduce", "mumatom", "--quick", "--seed", "2", "--out", "out"), "another run")
    complaint(run("reproduce", "mumatom", "--seed", "1", "--out", "out"), "another run")


def test_another_benchmark_is_not_mixed_with_this_one(here: Path, ran: Path) -> None:
    """The same episodes with other labels have other scores."""
    copied(ran / "out", here / "out")
    data = look_alike(here / "other")
    questions = json.loads((data / "questions.json").read_text())
    for row in questions.values():
        row["answers"] = dict.fromkeys(row["answers"], "C)")
    put(data / "questions.json", questions)
    try:
        reproduce.reproduce("mumatom", Options(here / "out", 1, "quick", 1, data))
    except ValueError:
        return
    assert value(summary_in(here / "out"), "full_text/all", "symbolic", "accuracy") < 0.5


BAD: dict[str, tuple[tuple[str, ...], str]] = {
    "missing folder": (("--data", "none"), "none.*questions.json: cannot be read"),
    "empty folder": (("--data", "."), "questions.json: cannot be read"),
    "a file": (("--data", "file"), "cannot be read"),
    "damaged": (("--data", "damaged"), "damaged.*questions.json:1:.* is not JSON"),
    "binary": (("--data", "binary"), "not UTF-8"),
    "huge": (("--data", "huge"), "larger than"),
    "other form": (("--data", "form"), "questions.json: "),
    "quick and full": (("--full",), "--quick and --full"),
    "LIMP without data": (("--model", "json:dumps", "--agent", "limp"), "--data DIR"),
    "model": (("--data", "data", "--model", "nonsense"), "names no language model"),
    "out": (("--out", "file"), "cannot be written"),
    "seed": (("--seed", "-1"), "--seed"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_cannot_be_reproduced_is_told_in_one_line(run: Run, here: Path, name: str) -> None:
    look_alike(here / "data")
    (here / "file").write_text("no results")
    for folder, content in (("damaged", b'{"201": {'), ("binary", bytes(range(256))), ("form", b"[1]")):
        (here / folder).mkdir()
        (here / folder / "questions.json").write_bytes(content)
    (here / "huge").mkdir()
    with (here / "huge" / "questions.json").open("wb") as file:
        file.truncate(50_000_001)
    arguments, said = BAD[name]
    out = () if "--out" in arguments else ("--out", "out")
    complaint(run("reproduce", "mumatom", "--quick", *out, *arguments), said)
    assert not (here / "out" / "summary.json").exists()


def test_the_experiment_is_one_of_those_that_there_are(run: Run) -> None:
    complaint(run("reproduce", "mumtom"), "there is no experiment `mumtom` .*mumatom")
    assert "mumatom" in reproduce.names("all", None)


@pytest.mark.parametrize("name", ["dkg-human", "mumatom"])
def test_data_of_one_experiment_are_not_taken_for_those_of_another(here: Path, name: str) -> None:
    """With all experiments and one folder of data, only those run that the folder can be for."""
    folder = look_alike(here / "data")
    chosen = reproduce.names("all", folder)
    assert not {"dkg-human", "mumatom"} <= set(chosen)


# The report


class Texts(HTMLParser):
    """The tags of a page, and its text."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: Counter[str] = Counter()
        self.text = ""

    def handle_starttag(self, tag: str, attrs: Sequence[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1

    def handle_data(self, data: str) -> None:
        self.text += data


def page_of(folder: Path) -> Texts:
    page = Texts()
    page.feed((folder / "report.html").read_text("utf-8"))
    return page


def test_the_report_has_all_there_is(ran: Path) -> None:
    page = page_of(ran / "out")
    assert [
        name for name in ("MuMA-ToM", "Shortcuts", "Invented stories", "What went wrong") if name not in page.text
    ] == []
    for words in ("text + video text + scene graph", "the question alone", "no video", "published"):
        assert words in page.text
    assert page.tags["script"] == 0


def test_the_page_begins_with_a_story_that_is_answered() -> None:
    """The invented stories alone make a page, too, after one of them that is read and answered."""
    invented = [mumatom.InventedEntry("plain", 3, 1)]
    rows = [row for entry in invented for row in mumatom.invented_rows(entry)]
    page = mumatom_report.report([], list(mumatom.summarise_invented(rows)), ["questions.json: lacks `a.<b>`"])
    first, second, last = page.sections
    assert (first.title, last.title) == ("A story, and how it is answered", "Episodes that cannot be read")
    assert "<strong>C) Pavel was trying to keep Maya from finding the milk.</strong>" in first.body
    assert "Maya takes the milk from the bedroom desk." in first.body
    assert re.search(r"<td[^>]*>ours</td><td data-head=\"n\" class=number>1</td>", second.body)
    assert "lacks `a.&lt;b&gt;`" in last.body


def test_the_figures_of_the_held_out_episodes_on_the_page_are_the_stored_ones() -> None:
    rows = json.loads((ROOT / "docs/stored/mumatom-heldout.json").read_text("utf-8"))
    scores = {(row["condition"], row["subject"]): row for row in rows if row["metric"] == "accuracy"}
    for track, subject in (
        ("text_video", "symbolic"),
        ("full_text", "symbolic"),
        ("text_video_scene", "symbolic"),
        ("text_video", "place_prior"),
    ):
        value, low, high = (100 * scores[f"{track}/all", subject][column] for column in ("value", "low", "high"))
        assert f"{value:.1f} % [{low:.0f}, {high:.0f}]" in mumatom_report.WORDS["split"]
    assert f"On the {scores['text_video/all', 'symbolic']['n']} others" in mumatom_report.WORDS["split"]


def test_an_odd_episode_is_left_out_and_named(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = look_alike(here / "data", videos=False, graphs=False)
    questions = json.loads((data / "questions.json").read_text("utf-8"))
    (data / "questions.json").write_text(json.dumps(questions | {"odd": {"description": "Ida hums."}}))
    begun = EXPERIMENTS["mumatom"](Options(here / "out", data=data))
    assert "1 row that cannot be read is left out" in capsys.readouterr().err
    assert {entry.key[2] for entry in begun.parts[0].entries} == set(questions)


@pytest.mark.slow
def test_names_in_the_data_stay_text_in_the_report(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mumatom_report, "at_two_widths", at_two_widths)
    evil = "<script>alert('x')</script>&lt;b&gt;\x1b[31m"
    wrong, video = conversation("Paul", "Rita", "teapot", "fridge", found=True)
    wrong["answers"] = {"1": "C)", "2": "B)", "3": "A)"}
    data = look_alike(here / "data", more={evil: (wrong, video)})
    reproduce.reproduce("mumatom", Options(here / "out", 1, "quick", 1, data))
    page = page_of(here / "out")
    assert page.tags["script"] == 0
    assert page.tags["svg"] >= 1
    assert "<script>alert('x')</script>&lt;b&gt;" in page.text


# Language models

LIMP = """
import json
import math
import re

from otherminds.language.scripted import Scripted, text_of


def write(request):
    text = text_of(request)
    fields = tuple(json.loads(request.schema)["properties"])
    asker, helper = ("Rita", "Paul") if "Paul" in text else ("Nina", "Otto")
    thing, place = ("teapot", "fridge") if "Paul" in text else ("lamp", "microwave")
    if fields == ("main", "others"):
        reply = {"main": helper, "others": [asker]}
    elif fields == ("steps",):
        mine = f"List what {helper} does" in text
        words = f"I found a {thing} inside the {place}." if mine else f"Where is the {thing}?"
        reply = {"steps": [{"line": 2 if mine else 1, "kind": "utterance", "text": words}]}
    elif fields == ("objects",):
        reply = {"objects": [thing]}
    elif fields == ("name",):
        reply = {"name": asker}
    elif fields == ("actions",):
        reply = {"actions": [{"after": 2, "agent": asker, "verb": "grab", "rest": f"the {thing}"}]}
    elif fields == ("facts",):
        reply = {"facts": [f"There is a {thing} inside the {place}."]}
    elif fields == ("choice",):
        numbers = dict(re.findall(r"^([A-C])\\) (0\\.\\d+)$", text, re.MULTILINE))
        reply = {"choice": max(numbers, key=numbers.get)}
    else:
        options = dict(re.findall(r"^([A-C])\\) (.*)$", text, re.MULTILINE))
        reply = {x: {"belief": o, "social_goal": o, "believed_goal": f"the {thing}"} for x, o in options.items()}
    return json.dumps(reply)


def weigh(prompt, text):
    odd = 0.9 if "help" in prompt.split("Social goal")[-1] else 0.2
    return math.log(odd if text == " A" else 1.0 - odd)


model = Scripted("limper", write, weigh)


def nonsense(prompt):
    return "I would rather not."
"""


@pytest.fixture
def limp(here: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A module of models in the folder, that no other test finds, and the two conversations of the look-alike."""
    monkeypatch.setattr(sys, "path", [str(here), *sys.path])
    (here / "own_limp.py").write_text(LIMP)
    monkeypatch.setitem(STORIES, "quick", 3)
    data = look_alike(here / "data")
    questions = json.loads((data / "questions.json").read_text())
    put(data / "questions.json", {name: questions[name] for name in ("201", "202")})
    yield data
    sys.modules.pop("own_limp", None)


def reproduced(run: Run, data: Path, *more: str, model: str = "own_limp:model") -> str:
    result = run("reproduce", "mumatom", "--quick", "--out", "out", "--data", str(data), "--model", model, *more)
    assert result.code == 0, result.err
    return result.err


@pytest.mark.slow
@pytest.mark.parametrize("faithful", [False, True])
def test_limp_is_asked_in_both_variants(run: Run, here: Path, limp: Path, faithful: bool) -> None:
    reproduced(run, limp, "--episodes", "2")
    name = "limp_faithful:limper" if faithful else "limp:limper"
    rows = [row for row in rows_in(here / "out") if row["subject"] == name]
    assert [(row["condition"], row["episode"], row["t"]) for row in rows] == [
        ("text_video", episode, t) for episode in ("201", "202") for t in range(3)
    ]
    # what the questions of an episode share is asked once; each question, its options and a judgement of each
    assert [row["calls"] for row in rows][1:3] == [4 + faithful, 4 + faithful]
    assert rows[0]["calls"] == 5 + rows[1]["calls"]
    assert all((row["unreadable"] == 0 and row["action"] in (0, 1, 2)) or row.get("abstained") for row in rows)
    assert any(row["action"] is not None for row in rows)
    summary = summary_in(here / "out")
    assert {r["condition"] for r in summary if r["subject"] == name} == {
        f"text_video/{kind}" for kind in ("all", "belief", "social_goal")
    }
    assert "limper" in page_of(here / "out").text


@pytest.mark.slow
def test_calls_are_told_and_kept(run: Run, here: Path, limp: Path) -> None:
    told = reproduced(run, limp)
    rows = [row for row in rows_in(here / "out") if row["subject"].startswith("limp")]
    found = re.search(r"limper: (\d+) calls made, (\d+) answered\s+from\s+the\s+record", told)
    assert found
    assert sum(map(int, found.groups())) == sum(row["calls"] for row in rows)
    assert 0 < int(found[2]) < int(found[1])
    before = results(here / "out")
    again = reproduced(run, limp)
    assert not re.search(r"limper: [1-9]\d* calls made", again)
    assert results(here / "out") == before


def test_what_limp_will_take_is_told_before(run: Run, limp: Path) -> None:
    told = " ".join(reproduced(run, limp).split())
    found = re.search(r"limper: ([\d,]+) calls, about ([\d,]+) tokens of prompts and at most ([\d,]+) of replies", told)
    assert found
    calls, prompts, written = (int(number.replace(",", "")) for number in found.groups())
    made = sum(int(number) for number in re.findall(r"(\d+) (?:calls made|answered from)", told))
    assert made <= calls < 3 * made
    assert prompts > calls
    assert written > 0


@pytest.mark.slow
def test_a_run_is_replayed_from_its_record(run: Run, here: Path, limp: Path) -> None:
    reproduced(run, limp)
    (here / "out").rename(here / "first")
    told = reproduced(run, limp, "--replay", "first")
    assert "limper: 0 calls made" in told
    assert results(here / "out") == results(here / "first")


@pytest.mark.slow
def test_as_many_episodes_are_asked_about_as_is_wished(run: Run, here: Path, limp: Path) -> None:
    reproduced(run, limp, "--episodes", "1")
    asked = Counter(row["subject"] for row in rows_in(here / "out") if row["subject"].startswith("limp"))
    assert asked == {"limp:limper": 3, "limp_faithful:limper": 3}


def test_replies_that_cannot_be_read_are_no_answers(run: Run, here: Path, limp: Path) -> None:
    reproduced(run, limp, "--episodes", "2", model="own_limp:nonsense")
    rows = [row for row in rows_in(here / "out") if row["subject"].startswith("limp")]
    assert len(rows) == 12
    assert all(row["action"] is None and row["abstained"] and not row["correct"] for row in rows)
    assert sum(row["unreadable"] for row in rows) == sum(row["calls"] for row in rows) > 0
    summary = summary_in(here / "out")
    assert value(summary, "text_video/all", "limp:own_limp:nonsense", "answered") == 0.0
    assert value(summary, "text_video/all", "limp:own_limp:nonsense", "accuracy") == 0.0
