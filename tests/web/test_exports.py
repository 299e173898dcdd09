"""What researchers get of a study: tidy tables that say what they hold, and an analysis that misses no message."""

from __future__ import annotations

import asyncio
import csv
import io
import json
import shutil
import subprocess
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain, repeat
from pathlib import Path
from statistics import fmean
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest
from fastapi import FastAPI

from otherminds.evaluation.tabular import read_rows
from otherminds.papers.protom.study.export import ASPECTS, read_export
from otherminds.papers.protom.study.report import sent_messages
from otherminds.papers.protom.study.scores import summarise
from otherminds.papers.protom.study.simulated import rating_shares
from otherminds.web import exports, researchers
from otherminds.web.event_log import EventLog
from otherminds.web.exports import CODEBOOK, FATES, TABLES, WRITERS, Table
from otherminds.web.lobby import Lobby
from otherminds.web.studies import Study
from web_lobbies import LEVELS, Inline, Page, opened, perform, plan, running, script, settle

Row = dict[str, Any]
Joint = Mapping[str, str]
TIDY: tuple[Table, ...] = ("rounds", "messages", "answers", "events")
STAY = {"Ana": "stay", "Ben": "stay"}
FIGURES = {"success": "success", "speedup": "speedup", "messages": "messages_to_both"} | {one: one for one in ASPECTS}
OF_MODELS = {"said", "unreadable", "tokens", "evaluated"}  # columns that only rows of language models have


# A study of three pairs, whose people answer messages, rate, fail, and leave


async def play(pages: Sequence[Page], number: int, joints: Iterator[Joint], leaves: int = 0) -> None:
    """A round from its beginning until the next one.

    leaves: how many people leave before its end, once there has been a message that is not over.
    """
    await settle(lambda: all(page.stage == "ready" for page in pages))
    for page in pages:
        page.do("ready")
    await settle(lambda: all(page.stage == "game" and page.last("frame").get("t") == 0 for page in pages))
    game = pages[0].lobby.game(pages[0].lobby.place(pages[0].one))
    assert game is not None
    while not game.ended:
        await settle(lambda: not game.facilitated or not game.t or game.t in game.thoughts)
        for i, message in enumerate(game.messages):
            reader = next((page for page in pages if page.one.id == game.people.get(message.to)), None)
            if reader and not message.reply and message.status == "running":
                reader.do("heard", advice=i, reply=("got it", "ignore")[i % 2], ms=700 + i)
        if leaves and any(message.status == "running" and message.t < game.t for message in game.messages):
            for page in pages[-leaves:]:
                page.do("leave")
            pages, leaves = pages[:-leaves], 0
            await settle(lambda: game.replaced)
        if game.ended:
            break
        await perform(pages, [next(joints)])
        await settle(lambda: game.ended or not game.over())
    for page in pages:
        await rate(page, number)
        page.do("next")


async def rate(page: Page, number: int) -> None:
    await settle(lambda: page.stage in ("questions", "reveal"))
    if page.stage == "questions":
        points = {aspect: 1 + (number + i) % 7 for i, aspect in enumerate(ASPECTS)}
        page.do("rate", ratings=points, comment="=1+1" if number % 2 else "")
    await settle(lambda: page.stage == "reveal")


async def three_pairs(path: Path) -> None:
    with opened(path) as lobby:
        study = lobby.create(plan(pairs=3, consent="Do you agree?", keep_labels=True))
        tried = lobby.join(study, "try")
        for number in (1, 2, 3):
            people = [lobby.join(study, "open", label=f"L{number}{i}", visit=f"V{number}{i}") for i in range(2)]
            pages = [Page(lobby, one) for one in people]
            for page in pages:
                page.do("consent")
            for i, trial in enumerate(study.trials(number)):
                fails = number == 2 and trial.facilitator == "none"
                joints = chain(() if fails else script(trial.level), repeat(STAY))
                await play(pages, number + i, joints, leaves=number - 1 if i == 2 else 0)
        lobby.note(
            study, "answered", {"name": "Q01", "form": "about", "trial": None, "answers": {"age": 34, "why": ""}}
        )
        trying = Page(lobby, tried)
        trying.do("consent")
        await lobby.on_disk()


class Played(NamedTuple):
    lobby: Lobby
    study: Study

    def table(self, name: Table) -> list[Row]:
        return TABLES[name](self.lobby, self.study)


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Played:
    path = tmp_path_factory.mktemp("study") / "j.sqlite"
    running(three_pairs(path))
    lobby = Lobby(EventLog(path, readonly=True), Inline(), LEVELS)
    lobby.read()
    return Played(lobby, next(iter(lobby.studies.values())))


@pytest.fixture(scope="module")
def folder(played: Played, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("export")
    with zipfile.ZipFile(io.BytesIO(exports.archive(*played))) as packed:
        packed.extractall(path)
    return path


@contextmanager
def opened_log(path: Path) -> Iterator[Lobby]:
    """A lobby in which nobody plays."""
    event_log = EventLog(path)
    lobby = Lobby(event_log, Inline(), LEVELS)
    lobby.read()
    yield lobby
    event_log.close()


# Codebooks


@pytest.mark.slow
@pytest.mark.parametrize("name", TABLES)
def test_codebooks_have_exactly_the_columns_of_tables(name: Table, played: Played, folder: Path) -> None:
    columns = {column for row in played.table(name) for column in row}
    assert columns | (OF_MODELS if name == "rows" else set()) == set(CODEBOOK[name])
    with (folder / f"{name}.codebook.csv").open(newline="") as file:
        book = list(csv.DictReader(file))
    assert [row["name"] for row in book] == list(CODEBOOK[name])
    assert all(list(row) == ["name", "type", "unit", "meaning", "values"] for row in book)
    assert all(row["type"] and row["meaning"] for row in book)
    with (folder / f"{name}.csv").open(newline="") as file:
        head = next(csv.reader(file))
    assert name == "rows" or head == list(CODEBOOK[name])


def test_codebooks_say_nothing_else() -> None:
    assert set(CODEBOOK) == {*TABLES, "readme"}
    for name in TABLES:
        assert all(set(about) <= {*exports.ABOUT_COLUMNS} - {"name"} for about in CODEBOOK[name].values())


# What is in the tables


@pytest.mark.slow
def test_rounds_are_told_person_by_person(played: Played) -> None:
    rounds = played.table("rounds")
    assert [(row["pair"], row["round"], row["person"]) for row in rounds] == [
        (pair, number, f"Q{2 * pair - 1 + i:02}") for pair in (1, 2, 3) for number in (1, 2, 3) for i in (0, 1)
    ]
    assert [row["label"] for row in rounds[:2]] == ["L10", "L11"]
    assert all(row["consented_at"] < row["finished_at"] for row in rounds)
    early = [(row["pair"], row["ended"], row["replaced"], row["partner"]) for row in rounds if row["round"] == 3]
    assert early[2:] == [
        (2, early[2][1], False, "simulated"),
        (2, early[2][1], True, "person"),
        (3, "left", True, "simulated"),
        (3, "left", True, "simulated"),
    ]
    assert {row["partner"] for row in rounds if row["round"] < 3} == {"person"}
    failed = [row for row in rounds if row["ended"] == "time"]
    assert [(row["facilitator"], row["success"], row["reached"], row["steps"]) for row in failed] == [
        ("none", False, False, row["horizon"]) for row in failed
    ]
    assert len(failed) == 2
    assert all(("decided_in_time" in row) == ("codename" in row) == (row["facilitator"] != "none") for row in rounds)
    assert all(row["seconds"] > 0 for row in rounds)
    assert all(row["messages"] >= sum(row[fate] for fate in FATES) for row in rounds)
    assert all(row["reached"] for row in rounds if row["success"])


@pytest.mark.slow
def test_messages_have_what_became_of_them(played: Played) -> None:
    rounds, messages = played.table("rounds"), played.table("messages")
    for row in rounds:
        same = [m for m in messages if (m["pair"], m["round"]) == (row["pair"], row["round"])]
        mine = [message for message in same if message["agent"] == row["agent"]]
        assert (len(same), len(mine)) == (row["messages_to_both"], row["messages"])
        assert sum(message.get("reply") == "got it" for message in mine) == row["got_it"]
        assert {message["person"] for message in mine} <= {row["person"]}
        for fate in FATES:
            assert sum(message["status"] == fate for message in mine) == row[fate]
    replied = [message for message in messages if "reply" in message]
    assert {message["reply"] for message in replied} == {"got it", "ignore"}
    assert all(700 <= message["reply_ms"] < 800 for message in replied)
    assert any("saves" in message for message in messages)


@pytest.mark.slow
def test_answers_are_long(played: Played) -> None:
    rounds, answers = played.table("rounds"), played.table("answers")
    given = {(a["person"], a.get("round"), a["question"]): a["answer"] for a in answers}
    assert len(given) == len(answers)
    for row in rounds:
        for column in (*ASPECTS, "comment"):
            assert given.get((row["person"], row["round"], column)) == row.get(column)
    assert given["Q01", None, "age"] == 34
    assert ("Q01", None, "why") not in given


@pytest.mark.slow
def test_nobody_can_take_a_place_with_an_export(played: Played, folder: Path) -> None:
    study, text = played.study, "".join(path.read_text() for path in folder.iterdir())
    secrets = [study.invitation, *(word for one in study.people.values() for word in (one.token, one.visit) if word)]
    assert not any(secret in text for secret in secrets)
    events = played.table("events")
    assert "T01" not in {row.get("person") for row in events}
    assert [row["at"] for row in events] == sorted(row["at"] for row in events)
    joined = [row for row in events if row["kind"] == "joined"]
    assert {"L10", "L21"} <= {row["detail"]["label"] for row in joined}
    steps = [row for row in events if row["kind"] == "step"]
    assert len(steps) == sum(row["steps"] for row in played.table("rounds")) / 2
    assert next(row["detail"] for row in events if row["kind"] == "created") == {"kind": "study"}
    assert all("prices" not in row["detail"]["thought"]["row"] for row in events if row["kind"] == "thought")
    left = [(row["pair"], row["round"], row["person"]) for row in events if row["kind"] == "replaced"]
    assert left == [(2, 3, "Q04"), (3, 3, "Q05"), (3, 3, "Q06")]


@pytest.mark.slow
def test_practice_and_running_rounds_are_among_the_events_alone(tmp_path: Path) -> None:
    async def practise() -> None:
        with opened(tmp_path / "j.sqlite") as lobby:
            study = lobby.create(plan(practice=True))
            page = Page(lobby, study.people["P01"])
            page.do("ready")
            await settle(lambda: page.stage == "game" and page.last("frame"))
            await perform([page], [STAY])
            await lobby.on_disk()
            events = [row for row in exports.events(lobby, study) if row.get("room") == f"{study.id}:P01"]
            assert [(row["kind"], row.get("person")) for row in events[:3]] == [
                ("opened", "P01"),
                ("act", "P01"),
                ("step", None),
            ]
            assert not any("pair" in row for row in events)
            assert not any(TABLES[name](lobby, study) for name in TABLES if name != "events")

    running(practise())


@pytest.mark.slow
def test_whoever_is_forgotten_is_in_no_table(tmp_path: Path, played: Played) -> None:
    shutil.copytree(played.lobby.event_log.path.parent, tmp_path / "copy")
    with opened_log(tmp_path / "copy" / "j.sqlite") as lobby:
        study = lobby.studies[played.study.id]
        lobby.forget(study, study.people["Q01"]).result(10)
        assert not [row for row in exports.answers(lobby, study) if row["person"] == "Q01"]
        mine = [row for row in exports.rounds(lobby, study) if row["person"] == "Q01"]
        assert mine
        assert not any({"label", "comment", *ASPECTS} & {*row} for row in mine)
        assert "L10" not in json.dumps(exports.events(lobby, study))


# Files


@pytest.mark.slow
def test_the_archive_has_everything_that_an_analysis_needs(played: Played, folder: Path) -> None:
    assert {path.name for path in folder.iterdir()} == {
        "README.txt",
        "plan.json",
        *(f"{name}.{end}" for name in TABLES for end in ("csv", "codebook.csv")),
    }
    assert read_export(folder / "rows.csv") == exports.rows(*played)
    for name in TIDY:
        assert read_rows(folder / f"{name}.csv") == played.table(name)
    assert json.loads((folder / "plan.json").read_text()) == played.study.plan.model_dump(mode="json")


@pytest.mark.slow
def test_tables_without_rows_have_columns(tmp_path: Path) -> None:
    with opened_log(tmp_path / "j.sqlite") as lobby:
        study = lobby.create(plan())
        for name in TIDY[:3]:
            head = ",".join(CODEBOOK[name]) + "\r\n"
            assert exports.exported_table(lobby, study, name, "csv").decode() == head
        assert exports.archive(lobby, study)


def asked(app: FastAPI, path: str) -> tuple[int, bytes]:
    """The status and the content of what the app answers."""
    told: list[Any] = []
    scope = {"type": "http", "method": "GET", "path": path, "query_string": b"", "headers": [], "app": app}

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Any) -> None:
        told.append(message)

    asyncio.run(app(scope, receive, send))
    return told[0]["status"], b"".join(part.get("body", b"") for part in told[1:])


@pytest.mark.slow
def test_every_table_can_be_had_in_every_form(played: Played, tmp_path: Path) -> None:
    app = FastAPI()
    app.include_router(researchers.studying)
    app.dependency_overrides[researchers.researcher] = lambda: None
    app.state.lobby = played.lobby
    app.state.settings = SimpleNamespace(look=False)
    api = f"/api/studies/{played.study.id}"
    for form in WRITERS:
        if form == "parquet":
            pytest.importorskip("pyarrow")
        for name in TABLES:
            status, content = asked(app, f"{api}/export/{name}.{form}")
            assert status == 200
            path = tmp_path / f"{name}.{form}"
            path.write_bytes(content)
            assert read_rows(path) == played.table(name)
        assert asked(app, f"{api}/export.{form}")[1] == (tmp_path / f"rows.{form}").read_bytes()
    status, content = asked(app, f"{api}/export/rounds.codebook.csv")
    assert (status, content) == (200, exports.codebook("rounds"))
    assert zipfile.is_zipfile(io.BytesIO(asked(app, f"{api}/export.zip")[1]))
    assert {asked(app, f"{api}/export/{bad}")[0] for bad in ("people.csv", "rounds.xlsx", "x.codebook.csv")} == {422}


# The table by facilitator


@pytest.fixture
def expected(played: Played) -> dict[tuple[str, str], float]:
    """The figures of the analysis, by facilitator and column."""
    summary = [row for row in summarise(played.table("rows")) if row["condition"] == "all"]
    return {(r["subject"], FIGURES[r["metric"]]): r["value"] for r in summary if r["metric"] in FIGURES}


@pytest.mark.slow
def test_rounds_give_the_figures_of_the_analysis(folder: Path, expected: dict[tuple[str, str], float]) -> None:
    with (folder / "rounds.csv").open(newline="") as file:
        rounds = [row for row in csv.DictReader(file) if row["ended"] in ("finished", "time")]
    trials = {(row["pair"], row["round"]): row for row in rounds}.values()
    alone: dict[str, list[float]] = {}
    for row in trials:
        if row["facilitator"] == "none":
            alone.setdefault(row["level"], []).append(float(row["steps"]))
    found: dict[tuple[str, str], list[float]] = {}
    for row in trials:
        values = {"success": float(row["success"] == "true"), "messages_to_both": float(row["messages_to_both"])}
        if row["level"] in alone:
            values["speedup"] = fmean(alone[row["level"]]) / float(row["steps"]) - 1
        for column, value in values.items():
            found.setdefault((row["facilitator"], column), []).append(value)
    for row in rounds:
        for aspect in ASPECTS:
            if row[aspect]:
                found.setdefault((row["facilitator"], aspect), []).append(float(row[aspect]))
    assert {key: fmean(values) for key, values in found.items()} == pytest.approx(expected)
    assert len(expected) == 3 * 3 + 2 * 4


@pytest.mark.slow
def test_rounds_and_rows_count_the_same_messages_as_ignored(played: Played) -> None:
    summary = [row for row in summarise(played.table("rows")) if row["condition"] == "all"]
    ignored = {row["subject"]: row["value"] for row in summary if row["metric"] == "ignored"}
    counted = dict.fromkeys(ignored, 0.0)
    for message in played.table("messages"):
        counted[message["facilitator"]] += message["status"] == "ignored"
    assert counted == ignored
    assert any(ignored.values())


def in_readme(language: str, folder: Path) -> str:
    code: str = CODEBOOK["readme"][language]
    assert code in (folder / "README.txt").read_text()
    assert len(code.strip().splitlines()) == 10
    return code


@pytest.mark.slow
def test_ten_lines_of_pandas_give_the_figures_of_the_analysis(
    folder: Path, expected: dict[tuple[str, str], float], monkeypatch: pytest.MonkeyPatch
) -> None:
    pandas = pytest.importorskip("pandas")
    monkeypatch.chdir(folder)
    names: dict[str, Any] = {}
    exec(in_readme("pandas", folder), names)
    cells = {(who, column): x for column, by_who in names["table"].to_dict().items() for who, x in by_who.items()}
    assert {key: x for key, x in cells.items() if not pandas.isna(x)} == pytest.approx(expected)


@pytest.mark.slow
def test_ten_lines_of_r_give_the_figures_of_the_analysis(folder: Path, expected: dict[tuple[str, str], float]) -> None:
    code = in_readme("r", folder).replace("print(", "write.csv(row.names = FALSE, na = '', ")
    if not shutil.which("Rscript"):
        pytest.skip("needs R")
    said = subprocess.run(["Rscript", "-e", code], cwd=folder, capture_output=True, text=True, check=True).stdout
    lines = list(csv.DictReader(io.StringIO(said)))
    cells = {(row["facilitator"], column): row[column] for row in lines for column in FIGURES.values()}
    assert {key: float(x) for key, x in cells.items() if x not in ("", "NaN")} == pytest.approx(expected)


# What became of messages, in the analysis


def both_asked(last: Row) -> list[Row]:
    """A trial in which both people are asked for something; Ben has just done it when Ana's message is over."""
    base = {"condition": "useful", "subject": "protom", "episode": "01-1 one", "pair": 1, "trial": 1, "level": "one"}
    decisions: list[Row] = [
        {"action": "Ana: wait", "words": "Please wait."},
        {"action": "Ben: go", "words": "Please go.", "status": "running", "statuses": {"Ana: wait": "running"}},
        {"action": "", "why": "quiet", **last},
    ]
    rows: list[Row] = []
    for t, decision in enumerate(decisions):
        rows += [{**base, "t": t, "agent": agent, "action": "stay"} for agent in ("Ana", "Ben")]
        rows.append({**base, "t": t, "agent": "facilitator", "ms": 1.0, **decision})
    rows[-1] |= {"success": True, "length": 3, "ended": "finished"}
    return rows


ENDS = {"Ana: wait": "ignored", "Ben: go": "completed"}


@pytest.mark.parametrize(
    "last", [{"status": "completed", "statuses": ENDS}, {"outcome": "completed", "outcomes": ENDS}]
)
def test_of_two_messages_that_end_at_once_both_count(last: Row) -> None:
    rows = both_asked(last)
    values = {row["metric"]: row["value"] for row in summarise(rows) if row["condition"] == "all"}
    assert (values["messages"], values["ignored"], values["ignored_share"]) == (2.0, 1.0, 0.5)
    assert [fate for *_, fate in sent_messages(rows)] == ["ignored", "completed"]
    shares = rating_shares(rows, "Ana")
    assert (shares["helpful"], shares["appropriate"]) == (0.5, 0.5)


@pytest.mark.slow
def test_messages_ignored_after_the_last_step_are_exported_as_ignored(tmp_path: Path) -> None:
    """The facilitator has had its last thought when the person clicks; then the other one leaves for good."""

    async def ignore_late() -> None:
        with opened(tmp_path / "j.sqlite") as lobby:
            study = lobby.create(plan(levels=("hatch",), facilitators=("oracle",), dropout="end"))
            pages = [Page(lobby, one) for one in list(study.people.values())]
            for page in pages:
                page.do("ready")
            await settle(lambda: all(page.last("frame").get("t") == 0 for page in pages))
            game = lobby.game(lobby.place(pages[0].one))
            assert game is not None
            for joint in script("hatch"):
                await perform(pages, [joint])
                await settle(lambda: game.t in game.thoughts)
                if any(message.status == "running" and message.t < game.t for message in game.messages):
                    break
            i, message = next((i, m) for i, m in enumerate(game.messages) if m.status == "running" and m.t < game.t)
            reader, other = sorted(pages, key=lambda page: page.one.id != game.people[message.to])
            assert exports.trial(study, study.pairs[1], 0, game)[-1]["outcomes"] == {message.address: "running"}
            reader.do("heard", advice=i, reply="ignore", ms=900)
            other.do("leave")
            await settle(lambda: game.ended)
            assert message.status == "ignored"
            last = exports.rows(lobby, study)[-1]
            assert (last["ended"], last["outcome"]) == ("left", "ignored")
            assert last["outcomes"] == {message.address: "ignored"}

    running(ignore_late())
