"""Three hundred hostile texts through everything of the web app and of a study that takes text: it stays text."""

from __future__ import annotations

import asyncio
import csv
import html
import io
import json
import re
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote, urlsplit

import pytest
from rich.console import Console

from commands import Run, fine
from otherminds.cli.levels import load_level
from otherminds.errors import InputError
from otherminds.evaluation.tabular import read_rows, write_jsonl
from otherminds.files.text import printable
from otherminds.papers.protom.study import report as study_report
from otherminds.papers.protom.study import scores as study_scores
from otherminds.papers.protom.study.export import ASPECTS, read_export
from otherminds.reports.terminal import tables as terminal
from otherminds.web import connections, exports, server
from otherminds.web.event_log import EventLog
from otherminds.web.games import RefusedError
from otherminds.web.guard import COOKIE, Limits, TokenBuckets
from otherminds.web.lobby import Lobby
from otherminds.web.progression import note
from otherminds.web.settings import ServerSettings
from otherminds.web.thinking import T
from payloads import DEED, HALVES, LINES, MARK, PAYLOADS, WHOLE, hostile_export, kitchen, map_, shown, together
from viewer import Outline
from web_lobbies import LEVELS, Inline, Page, opened, people, plan, quick, running, settle
from web_seats import Seat, serving

__all__ = ["quick"]

ORIGIN = "http://127.0.0.1:1"
SECRET = "a secret of sixteen characters"
PLAIN = ("TRUE", "null", "NaN")
NUMBER = re.compile(r"-?\d+(\.\d+)?(e[-+]?\d+)?")
PLAN = {"levels": ["hatch"], "facilitators": ["none"], "pairs": 1, "partner": "simulated"}
Data = dict[str, Any]


class Answer(NamedTuple):
    """What the app answers."""

    status: int
    headers: dict[str, str]
    content: bytes

    @property
    def data(self) -> Any:
        """The JSON of the answer, which no browser takes for anything else."""
        assert self.headers["content-type"] == "application/json"
        assert self.headers["x-content-type-options"] == "nosniff"
        assert "script-src 'self'" in self.headers["content-security-policy"]
        return json.loads(self.content)


class Here(Inline):
    """Does in this process what takes long."""

    async def call(self, work: Callable[..., T], *args: Any) -> T:
        return work(*args)


class App:
    """The whole app in this process, guard and all, asked without a network."""

    def __init__(self, folder: Path) -> None:
        settings = ServerSettings(folder / "j.sqlite", frozenset({ORIGIN}), LEVELS, secret=SECRET, rate=1e9, burst=1e9)
        self.guard = server.application(settings)
        self.cookie = settings.keys.enter(SECRET)
        self.runner = asyncio.Runner()
        self.life = self.guard.app.router.lifespan_context(self.guard.app)
        self.run(self.life.__aenter__())
        limits: Limits = self.guard.app.state.limits
        limits.games = limits.joins = limits.guesses = TokenBuckets(1e9, 1e9)
        self.lobby: Lobby = self.guard.app.state.lobby

    def run(self, work: Any) -> Any:
        return self.runner.run(work)

    def close(self) -> None:
        self.run(self.life.__aexit__(None, None, None))
        self.runner.close()

    def _scope(self, kind: str, path: str, method: str = "GET", query: str = "") -> Data:
        given = {"host": urlsplit(ORIGIN).netloc, "origin": ORIGIN, "cookie": f"{COOKIE}={self.cookie}"}
        headers = [(name.encode(), value.encode()) for name, value in given.items()]
        return {
            "type": kind,
            "method": method,
            "path": path,
            "raw_path": quote(path).encode(),
            "root_path": "",
            "query_string": query.encode(),
            "headers": [*headers, *([(b"content-type", b"application/json")] if kind == "http" else [])],
            "client": ("127.0.0.1", 1),
            "server": ("127.0.0.1", 1),
            "scheme": "http" if kind == "http" else "ws",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
        }

    def ask(self, path: str, body: object = None, method: str = "", query: str = "") -> Answer:
        content = b"" if body is None else json.dumps(body).encode()
        told: list[Data] = []

        async def receive() -> Data:
            return {"type": "http.request", "body": content, "more_body": False}

        async def send(message: Data) -> None:
            told.append(message)

        how = method or ("GET" if body is None else "POST")
        self.run(self.guard(self._scope("http", path, how, query), receive, send))
        headers = {name.decode(): value.decode() for name, value in told[0]["headers"]}
        return Answer(told[0]["status"], headers, b"".join(part.get("body", b"") for part in told[1:]))

    async def talk(self, link: str, tab: str, texts: list[str]) -> list[Data]:
        """Open a page in a tab, say these one after the other, and hear everything until it is closed."""
        coming: asyncio.Queue[Data] = asyncio.Queue()
        told: list[Data] = []
        answered = asyncio.Event()

        async def send(message: Data) -> None:
            told.append(message)
            answered.set()

        coming.put_nowait({"type": "websocket.connect"})
        scope = self._scope("websocket", f"{link}/ws", query=f"tab={spelt(tab)}")
        work = asyncio.create_task(self.guard(scope, coming.get, send))
        for text in texts:
            coming.put_nowait({"type": "websocket.receive", "text": text})
        expected = len(texts)
        while not work.done() and sum(m["type"] in ("ack", "refused") for m in heard(told)) < expected:
            answered.clear()
            await asyncio.wait([work, asyncio.create_task(answered.wait())], return_when=asyncio.FIRST_COMPLETED)
        coming.put_nowait({"type": "websocket.disconnect", "code": 1000})
        await work
        return told


def heard(told: list[Data]) -> list[Data]:
    return [json.loads(message["text"]) for message in told if message["type"] == "websocket.send"]


def spelt(text: str) -> str:
    """A text in an address."""
    return quote(text.encode("utf-8", "surrogatepass"), safe="")


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(server, "ThinkingProcesses", Here)
        patch.setattr(connections, "BURST", 1e9)
        patch.setattr(connections, "WAITING", 10_000)
        found = App(tmp_path_factory.mktemp("app"))
        yield found
        found.close()


def test_there_are_three_hundred_and_no_two_alike() -> None:
    assert len(PAYLOADS) == len(set(PAYLOADS)) == 300
    assert sum(DEED in text for text in PAYLOADS) > 80
    assert sorted("".join(together("", 500))) == sorted("".join(WHOLE))


# What researchers give


@pytest.mark.slow
def test_titles_and_consents_come_back_as_they_were(app: App) -> None:
    made = {}
    for text in PAYLOADS:
        answer = app.ask("/api/studies", {**PLAN, "title": text, "consent": text})
        assert answer.status == (422 if text in HALVES else 200)
        if answer.status == 200:
            made[answer.data["id"]] = text
    assert {one["id"]: one["title"] for one in app.ask("/api/studies").data} == made
    assert list(made.values()) == list(WHOLE)
    for study, text in made.items():
        found = app.ask(f"/api/studies/{study}").data
        assert (found["title"], found["plan"]["consent"]) == (text, text)


@pytest.mark.slow
def test_only_web_pages_are_handed_off_to(app: App) -> None:
    taken = []
    for text in PAYLOADS:
        answer = app.ask("/api/studies", {**PLAN, "hand_off": text})
        assert answer.status in (200, 422)
        if answer.status == 200:
            address = app.lobby.studies[answer.data["id"]].plan.hand_off
            assert re.match("https?://[^/]", address)
            assert address.isprintable()
            assert address == text.strip()
            taken.append(text)
    assert len(taken) >= 4
    assert app.ask("/api/studies", {**PLAN, "hand_off": " HTTPS://survey.example/{code} "}).status == 200
    assert app.ask("/api/studies", {**PLAN, "hand_off": "https:evil.example"}).status == 422


@pytest.mark.slow
def test_refusals_are_one_line_of_json(app: App) -> None:
    for i, text in enumerate(PAYLOADS):
        bodies = {**PLAN, "levels": [text]}, {**PLAN, "facilitators": [text]}, {**PLAN, text: text}, [text]
        one_line(app.ask("/api/studies", bodies[i % 4]), 422)
        one_line(app.ask("/api/enter", {"key": text}), 422 if text in HALVES else 403)
        one_line(app.ask("/api/play", {"level": text, "seat": text}), 422)


def one_line(answer: Answer, status: int) -> None:
    assert answer.status == status
    assert isinstance(detail := answer.data["detail"], str)
    assert detail.isprintable()


@pytest.mark.slow
def test_nothing_is_found_under_a_hostile_name(app: App) -> None:
    paths = "/api/studies/{}", "/api/studies/{}/export.csv", "/api/watch/{}", "/episodes/{}", "/api/join/{}"
    study = app.ask("/api/studies", PLAN).data["id"]
    for i, text in enumerate(LINES):
        answer = app.ask(paths[i % 5].format(text.replace("/", "")))
        assert answer.status == 404
        assert MARK not in answer.data["detail"]
        assert app.ask(f"/pages/{text}").status == 404
        name = text.rstrip("/")
        assert app.ask(f"/api/studies/{study}/rooms/{name}").status == 404
        assert app.ask(f"/api/studies/{study}/participants/{name}", method="DELETE").status in (404, 405)


# What participants give


@pytest.mark.slow
def test_labels_are_printable_or_not_kept(app: App) -> None:
    large = {**PLAN, "pairs": 15}
    kept, not_kept = (app.ask("/api/studies", {**large, "keep_labels": keep}).data["id"] for keep in (True, False))
    expected = []
    for text in PAYLOADS:
        for study in (kept, not_kept):
            answer = app.ask(f"/join/{app.lobby.studies[study].invitation}", {}, query=f"pid={spelt(text)}")
            decoded = text.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
            label = "".join(c for c in decoded if c.isprintable())[:100]
            if study == kept and label and label in expected:
                assert answer.status == 409
            else:
                assert answer.status == 200
                assert re.fullmatch(r"/p/[\w-]{32}", answer.data["link"])
        expected.append(label)
    found = [one["label"] for one in app.ask(f"/api/studies/{kept}").data["links"] if one["kind"] == "open"]
    assert found == [label for i, label in enumerate(expected) if not label or label not in expected[:i]]
    assert not any(one["label"] for one in app.ask(f"/api/studies/{not_kept}").data["links"])


@pytest.mark.slow
def test_hostile_messages_are_refused_without_an_echo(app: App) -> None:
    study = app.lobby.create(plan(levels=("hatch",), facilitators=("protom",), partner="simulated"))
    (one,) = study.people.values()
    texts = [json.dumps({"n": 1, "do": "ready"})]
    bodies: list[Data] = [
        body
        for text in PAYLOADS
        for body in (
            {"do": text},
            {"do": "act", "action": text, "t": 0},
            {"do": "act", "action": "up", "t": text},
            {"do": "heard", "advice": text, "reply": text},
            {"do": {text: text}},
        )
    ]
    texts += [json.dumps({**body, "n": n}) for n, body in enumerate(bodies, 2)]
    texts += [json.dumps({"n": text, "do": "act"}) for text in PAYLOADS] + [*WHOLE]
    texts.append(json.dumps({"n": len(texts) + 1, "do": "act", "action": "up", "t": 0}))
    told = heard(app.run(app.talk(f"/p/{one.token}", "tab", texts)))
    assert {message["n"] for message in told if message["type"] == "ack"} == {1, len(texts)}
    refused = [message["why"] for message in told if message["type"] == "refused"]
    assert len(refused) == len(texts) - 2
    assert all(why.isprintable() and MARK not in why for why in set(refused))


@pytest.mark.slow
def test_the_name_of_a_tab_is_never_told(app: App) -> None:
    study = app.lobby.create(plan(partner="simulated", consent="Do you agree?"))
    (one,) = study.people.values()
    for text in PAYLOADS:
        told = app.run(app.talk(f"/p/{one.token}", text, ["?"]))
        decoded = text.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
        if len(decoded) > 100:
            assert [message["type"] for message in told] == ["websocket.close"]
        else:
            assert "agree" in told[1]["text"]
            assert MARK not in json.dumps(told)


def test_comments_are_kept_or_refused_and_the_event_log_goes_on(tmp_path: Path) -> None:
    async def with_two() -> None:
        with opened(tmp_path / "j.sqlite") as lobby:
            study = lobby.create(plan(levels=("hatch",), facilitators=("random",)))
            ana, ben = people(lobby, study)
            for page in (ana, ben):
                page.do("ready")
            await settle(lambda: ana.seen >= 0 and ben.seen >= 0)
            for page in (ana, ben):
                page.do("act", action="stay", t=0)
            await settle(lambda: ana.seen == 1)
            next(iter(lobby.rooms.values()))._end("time")
            rate(ana, ben)
            for page in (ana, ben):
                page.do("next")
            for text in WHOLE:
                note(lobby, ana.one, "rated", trial=0, ratings={}, comment=text).result(10)
            assert exports.rows(lobby, study)[-1]["comments"] == {"Ana": "fine", "Ben": WHOLE[0]}
            kept = [e.body["comment"] for e in lobby.event_log.events(study.id) if e.kind == "rated"]
            assert kept == ["fine", WHOLE[0], *WHOLE]

    running(with_two())


def rate(ana: Page, ben: Page) -> None:
    """Halves of characters are refused, and what is said after them is taken."""
    ratings = dict.fromkeys(ASPECTS, 7)
    for text in HALVES:
        with pytest.raises(RefusedError, match="Unicode"):
            ana.do("rate", ratings=ratings, comment=text)
    for text in PAYLOADS:
        with pytest.raises(RefusedError):
            ana.do("rate", ratings={**ratings, text: 1})
        with pytest.raises(RefusedError):
            ana.do("rate", ratings={**ratings, "clear": text})
    ana.do("rate", ratings=ratings, comment="fine")
    ben.do("rate", ratings=ratings, comment=WHOLE[0])


def test_what_cannot_be_written_ends_the_event_log_and_is_told(tmp_path: Path) -> None:
    told: list[str] = []
    event_log = EventLog(tmp_path / "j.sqlite", told.append)
    _, written = event_log.append("x", "rated", {"comment": "\ud800"})
    with pytest.raises(InputError, match="cannot be written"):
        written.result(10)
    event_log.close()
    assert len(told) == 1
    assert told[0].isprintable()


# What levels and episodes are called


@pytest.mark.slow
@pytest.mark.parametrize("write", [kitchen, map_])
def test_of_a_level_only_its_name_and_class_can_be_hostile(write: Callable[..., str], tmp_path: Path) -> None:
    path = tmp_path / "level.txt"
    for text in LINES:
        path.write_text(write(name=text, kind=text), "utf-8", newline="")
        level = load_level(str(path))
        assert (level.name, level.kind) == (text.strip(), text.strip())
        path.write_text(write(agents=f"{text}, Ben"), "utf-8", newline="")
        if text in PLAIN:
            assert load_level(str(path)).world.agents == (text, "Ben")
            continue
        with pytest.raises(InputError, match=r"level\.txt:\d+: .*(agent|name)") as refused:
            load_level(str(path))
        assert str(refused.value).isprintable()


@pytest.mark.slow
def test_hostile_episodes_are_not_played(app: App) -> None:
    wish = {"world": "overcooked", "level": "hatch", "facilitator": "none", "seed": 1}
    for i, text in enumerate(PAYLOADS):
        changed = ("world", "level", "facilitator", "seed", text)[i % 5]
        answer = app.ask("/api/watch", {**wish, changed: text})
        if answer.status != 200:
            one_line(answer, 422)
            continue
        app.run(asyncio.sleep(0))
        state = app.ask(f"/api/watch/{answer.data['id']}").data
        assert state["state"] == "failed"
        assert state["message"].isprintable()
        one_line(app.ask(f"/episodes/{answer.data['id']}"), 422)


# What is exported


def table() -> list[Data]:
    return [{"words": text, text: text, "nested": {text: [text]}, "t": i, "x": -0.5} for i, text in enumerate(WHOLE)]


@pytest.mark.parametrize("form", exports.WRITERS)
def test_exports_come_back_exactly(form: str, tmp_path: Path) -> None:
    if form == "parquet":
        pytest.importorskip("pyarrow")
    path = tmp_path / f"rows.{form}"
    path.write_bytes(exports.exported(table(), form))
    assert read_rows(path) == table()
    for text in HALVES:
        with pytest.raises(InputError, match="cannot be written as JSON"):
            exports.exported([{"words": text}], form)


@pytest.mark.slow
def test_no_cell_of_a_spreadsheet_is_a_formula() -> None:
    text = exports.exported(table(), "csv").decode()
    cells = [cell for line in csv.reader(io.StringIO(text, newline="")) for cell in line]
    risky = [cell for cell in cells if cell.startswith(("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠"))]
    assert set(risky) == {"-0.5"}
    assert NUMBER.fullmatch(risky[0])
    assert len([cell for cell in cells if cell[1:] in WHOLE and cell[0] == "'"]) > 2 * 20


# What is worked out from exports


@pytest.mark.slow
def test_reports_hold_every_text_and_no_markup_of_it(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Hostile texts and tame ones make the same elements with the same attributes, and no other links."""
    rows, tame = hostile_export(), hostile_export([f"text {i}" for i in range(len(WHOLE))])
    write_jsonl(tmp_path / "export.jsonl", rows)
    assert read_export(tmp_path / "export.jsonl") == rows
    monkeypatch.chdir(tmp_path)
    said = fine(run("reproduce", "study", "--data", "export.jsonl", "--out", "out"))
    assert all(c.isprintable() or c == "\n" for c in said)
    assert "Report: out/report.html" in said
    markup = (tmp_path / "out" / "report.html").read_text("utf-8")
    assert not [text for text in WHOLE if html.escape(printable(text)) not in markup]
    assert all(c.isprintable() or c == "\n" for c in markup)
    plain = study_report.report(tame, study_scores.summarise(tame))
    made, expected = ({(tag, name) for tag, names in Outline(m).tags for name in ["", *names]} for m in (markup, plain))
    assert made == expected


@pytest.mark.slow
@pytest.mark.parametrize("screen", [False, True])
def test_terminals_see_neither_controls_nor_markings(screen: bool) -> None:
    figures = {"experiment": "study", "condition": "all", "metric": "success", "value": 1, "low": 1, "high": 1}
    said = io.StringIO()
    console = Console(file=said, width=10**6, force_terminal=screen, color_system=None, legacy_windows=False)
    console.print(terminal.results([{**figures, "subject": text} for text in WHOLE]))
    assert all(c.isprintable() or c == "\n" for c in said.getvalue())
    there = shown(said.getvalue())
    assert [text for text in WHOLE if shown(text) not in there] == []


# What the server says on its own terminal


@pytest.mark.slow
def test_the_log_of_a_server_is_clean(tmp_path: Path) -> None:
    files = []
    for i, name in enumerate(together(" ", 1000, LINES)):
        files.append(tmp_path / f"{i}.txt")
        files[-1].write_text(kitchen(name=name, kind="useful"), "utf-8", newline="")
    with serving(tmp_path, *(part for file in files for part in ("--level", str(file)))) as found:
        for text in together(" ", 180):
            assert found.status("/api/studies", {**PLAN, "title": text}) == 200
            assert found.status("/api/studies", {**PLAN, text: text}) == 422
            assert found.status(f"/join/{spelt(text)}?pid={spelt(text)}", {}) in (307, 404, 429)
        link = found.ask("/api/play", {"level": "hatch", "seat": "Ana", "facilitator": "none"})["link"]
        with Seat(found, link) as seat:
            seat.until("game")
            for text in together(" ", 1900)[:20]:
                assert seat.do(text)["type"] == "refused"
        for text in WHOLE[::10]:
            with socket.create_connection(("127.0.0.1", found.port)) as line:
                line.sendall(f"GET /{text} HTTP/1.1\r\nHost: {text}\r\nX-{text}: {text}\r\n\r\n".encode())
                line.recv(100)
        assert found.status("/api/studies") == 200
    log = found.store.with_suffix(".log").read_text("utf-8")
    assert log
    assert all(c.isprintable() or c == "\n" for c in log)
    assert "Traceback" not in log
    assert MARK not in log
