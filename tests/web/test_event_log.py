"""The event log: in order, once, on disk, and honest when it cannot be."""

from __future__ import annotations

import sqlite3
import threading
from contextlib import closing
from pathlib import Path

import pytest

from otherminds.errors import InputError
from otherminds.web.event_log import SCHEMA, EventLog


def test_events_are_kept_in_order_and_read_back(tmp_path: Path) -> None:
    event_log = EventLog(tmp_path / "j.sqlite")
    for k in range(50):
        event_log.append("a" if k % 2 else "b", "happened", {"k": k, "text": "ü\x00\ud7ff</script>"})
    event_log.close()
    again = EventLog(tmp_path / "j.sqlite")
    events = again.events("a")
    assert [event.seq for event in events] == list(range(1, 26))
    assert [event.body["k"] for event in events] == list(range(1, 50, 2))
    event, written = again.append("a", "more", {})
    written.result(10)
    assert event.seq == 26
    assert [event.stream for event in again.beginnings("happened")] == ["b", "a"]
    assert again.having("more") == {"a"}
    again.close()


def test_what_is_acknowledged_is_on_disk(tmp_path: Path) -> None:
    event_log = EventLog(tmp_path / "j.sqlite")
    for k in range(20):
        _, written = event_log.append("a", "happened", {"k": k})
        written.result(10)
        with closing(sqlite3.connect(tmp_path / "j.sqlite")) as other, other:
            assert other.execute("select count(*) from events").fetchone() == (k + 1,)
    with closing(sqlite3.connect(tmp_path / "j.sqlite")) as other, other:
        assert other.execute("pragma journal_mode").fetchone() == ("wal",)
    event_log.close()


def test_nobody_does_the_same_twice(tmp_path: Path) -> None:
    problems: list[str] = []
    event_log = EventLog(tmp_path / "j.sqlite", problems.append)
    event_log.append("a", "did", {}, "P01", 1)[1].result(10)
    assert event_log.last_actions() == {"P01": 1}
    _, twice = event_log.append("a", "did", {}, "P01", 1)
    with pytest.raises(InputError, match="cannot be written"):
        twice.result(10)
    assert len(problems) == 1


def test_many_writers_and_one_order(tmp_path: Path) -> None:
    event_log = EventLog(tmp_path / "j.sqlite")
    threads = [
        threading.Thread(target=lambda k=k: [event_log.append(f"s{k}", "x", {}) for _ in range(200)]) for k in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    event_log.close()
    again = EventLog(tmp_path / "j.sqlite")
    assert [len(again.events(f"s{k}")) for k in range(4)] == [200] * 4
    again.close()


def test_a_full_disk_ends_the_event_log_and_is_told(tmp_path: Path) -> None:
    problems: list[str] = []
    event_log = EventLog(tmp_path / "j.sqlite", problems.append)
    event_log.append("a", "x", {})[1].result(10)
    with closing(sqlite3.connect(tmp_path / "j.sqlite")) as other, other:
        other.execute("create trigger full before insert on events begin select raise(abort, 'disk is full'); end")
        other.commit()
    _, written = event_log.append("a", "x", {})
    with pytest.raises(InputError, match="disk is full"):
        written.result(10)
    assert problems == [f"{tmp_path / 'j.sqlite'}: cannot be written: disk is full"]


@pytest.mark.parametrize(
    "content", [b"not a database at all, and long enough to be one" * 30, b"SQLite format 3\x00" + b"\xff" * 200]
)
def test_other_files_are_refused_in_one_line(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "j.sqlite").write_bytes(content)
    with pytest.raises(InputError, match=r"j\.sqlite: cannot be used: "):
        EventLog(tmp_path / "j.sqlite")


def test_a_folder_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(InputError, match="cannot be used"):
        EventLog(tmp_path / "file" / "j.sqlite")


def test_a_study_that_would_run_something_or_is_of_an_earlier_version_is_refused(tmp_path: Path) -> None:
    EventLog(tmp_path / "new.db").close()
    with closing(sqlite3.connect(tmp_path / "new.db")) as base, base:
        base.execute("create trigger mine after insert on events begin delete from events; end")
    with pytest.raises(InputError, match=r"new\.db: is damaged: its tables are not those of this version: mine$"):
        EventLog(tmp_path / "new.db")
    with closing(sqlite3.connect(tmp_path / "old.db")) as base, base:
        base.execute(SCHEMA.replace("create table", "create table if not exists"))
    with pytest.raises(InputError, match=r"old\.db: was written by another program or version of otherminds \(read"):
        EventLog(tmp_path / "old.db")
