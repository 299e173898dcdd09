"""One server for a store; what is answered is on disk, and what belongs together is written together."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from commands import Run, complaint
from otherminds.cli.lists import bundled
from otherminds.errors import InputError
from otherminds.web.event_log import EventLog
from otherminds.web.lobby import Lobby
from otherminds.web.studies import StudyPlan
from otherminds.web.thinking import ThinkingProcesses
from web_seats import PATIENCE, Seat, Server, free_port, serving

PLAN = StudyPlan(levels=("hatch",), facilitators=("none",), pairs=40)


def kept(store: Path, kind: str) -> int:
    """The events of this kind that are on disk."""
    with closing(sqlite3.connect(store)) as base:
        (count,) = base.execute("select count(*) from events where kind = ?", (kind,)).fetchone()
    return int(count)


@pytest.mark.slow
def test_a_second_server_is_refused_and_the_first_lives(tmp_path: Path, run: Run) -> None:
    with serving(tmp_path) as first:
        study = first.study()
        told = run("serve", "--store", str(first.store), "--port", str(free_port()))
        complaint(told, r"another server keeps its studies there \(--store chooses another file, --look")
        with Seat(first, first.links(study)[0]) as ana:
            ana.until("lobby")
        first.kill()
        assert first.start().links(study), "a lock does not outlive its server"


@pytest.mark.slow
def test_of_two_servers_that_start_at_once_one_has_the_store(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "otherminds", "serve", "--store", str(tmp_path / "store.sqlite"), "--port"]
    with (tmp_path / "log").open("wb") as log:
        servers = [subprocess.Popen([*command, str(free_port())], stdout=log, stderr=log) for _ in range(2)]
        until = time.monotonic() + PATIENCE
        while all(server.poll() is None for server in servers) and time.monotonic() < until:
            time.sleep(0.05)
        ended = [server.poll() is not None for server in servers]
        for server in servers:
            server.kill()
            server.wait()
    assert sorted(ended) == [False, True]
    assert "another server keeps its studies there" in " ".join((tmp_path / "log").read_text().split())


@pytest.mark.slow
def test_a_server_starts_on_a_store_that_another_one_looks_at(tmp_path: Path) -> None:
    with serving(tmp_path) as first:
        study = first.study()
        looker = Server(first.store, "--look").start()
        try:
            first.kill()
            assert first.start().links(study) == looker.links(study)
        finally:
            looker.kill()


@pytest.mark.slow
def test_a_server_that_looks_shows_what_happens_and_changes_nothing(tmp_path: Path) -> None:
    with serving(tmp_path) as first:
        study = first.study()
        looker = Server(first.store, "--look").start()
        try:
            assert looker.links(study) == first.links(study)
            more = first.study()
            assert looker.links(more), "it reads what is new"
            assert looker.status("/api/studies", PLAN.model_dump(mode="json")) == 422
            assert looker.status(f"/api/studies/{study}/close", {}, "POST") == 422
            assert looker.status("/api/play", {"level": "hatch", "seat": "Ana"}) in (404, 405)
            assert looker.status(f"/api/studies/{study}/participants/P01", method="DELETE") == 422
        finally:
            looker.kill()
        assert first.ask(f"/api/studies/{study}")["state"] == "open"


def lobby(store: Path) -> Lobby:
    levels = {level.name: level for several in bundled().values() for level in several}
    return Lobby(EventLog(store), ThinkingProcesses(), levels)


def test_a_study_is_written_as_a_whole(tmp_path: Path) -> None:
    store = tmp_path / "store.sqlite"
    one = lobby(store)
    one.create(PLAN)
    one.event_log.close()
    assert kept(store, "joined") == 80
    with closing(EventLog(store)) as log:
        with log.together():
            log.append("a", "created", {})
            log.append("a", "joined", {})
        log.written().result(5)
        log.append("b", "created", {"x": "\ud800"})  # no text that can be stored
        with pytest.raises(InputError):
            log.written().result(5)
    assert kept(store, "created") == 2, "what was appended before stays"


def test_who_joins_again_is_the_same(tmp_path: Path) -> None:
    one = lobby(tmp_path / "store.sqlite")
    study = one.create(PLAN)
    first = one.join(study, "open", "label", visit="v" * 24)
    assert one.join(study, "open", "", visit="v" * 24) is first
    assert one.join(study, "open", "", visit="w" * 24) is not first
    assert one.join(study, "open") is not one.join(study, "open")
    one.event_log.close()
    again = lobby(tmp_path / "store.sqlite")
    again.read()
    assert again.join(again.studies[study.id], "open", visit="v" * 24).name == first.name
    again.event_log.close()


def test_places_are_held_for_those_who_begin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one = lobby(tmp_path / "store.sqlite")
    study = one.create(PLAN)
    people = [one.join(study, "open") for _ in range(3)]
    assert study.places_held() == 3
    one.note(study, "consented", {"name": people[0].name})
    monkeypatch.setattr("otherminds.web.studies.HOLD", -1.0)
    assert study.places_held() == 1
    one.event_log.close()
