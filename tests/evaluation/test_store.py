"""Runs are on disk episode by episode, whatever happens, and come out the same however often they were interrupted."""

from __future__ import annotations

import resource
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from fake_models import ANSWER, Fake, dead, fails
from otherminds.errors import InputError
from otherminds.evaluation.runs import digest, exported_calls, exported_rows, look, merge, runs_in
from otherminds.evaluation.store import Key, Row, Store, UnfinishedError, key
from otherminds.files.database import VERSION, connect
from otherminds.files.text import write_whole
from otherminds.language.ledger import Recorded
from otherminds.language.model import Request
from otherminds.language.prices import Price
from run_files import alter, damage, episodes_in, interrupted, read, rows_in

RUN = "protom-dkg seed 42"


class Entry(NamedTuple):
    key: Key


ORDER = [Entry(("useful", who, name)) for name in ("one", "two", "three") for who in ("none", "protom")]
KEYS = [entry.key for entry in ORDER]


def episode(about: Key, ms: float = 0.5) -> list[Row]:
    """Three rows; names and words are not plain ASCII, and one number was measured."""
    base = dict(zip(("condition", "subject", "episode"), about, strict=True)) | {"schema": 1, "ms": ms}
    rows: list[Row] = [{**base, "t": t, "agent": "Béla", "action": "unlock 門"} for t in range(3)]
    rows[-1] |= {"success": True, "length": 3, "words": "schön, 愛 🗝 \u2028\x85\x00", "value": 0.1 + 0.2}
    return rows


def begun(folder: Path, *done: Key, run: str = RUN, about: str = "") -> Path:
    """A run of which some episodes are finished, in this order."""
    with Store(folder, run, about) as store:
        store.todo(ORDER)
        for one in done:
            store.add(episode(one))
    return folder


# Episodes


def test_episodes_are_there_as_soon_as_they_are_added(tmp_path: Path) -> None:
    with Store(tmp_path / "deep" / "down", RUN) as store:
        assert store.todo(ORDER) == ORDER
        assert store.done() == set()
        store.add(episode(KEYS[3]), episode(KEYS[1]))
        assert read(store.path, "select count(*) from episodes") == [(2,)]
        assert store.done() == {KEYS[3], KEYS[1]}
        assert store.todo(ORDER) == [ORDER[0], ORDER[2], *ORDER[4:]]
        assert store.found([KEYS[3]]) == [{**row, "run": RUN} for row in episode(KEYS[3])]
        assert [key(row) for row in store.found()][::3] == [KEYS[1], KEYS[3]]


def test_several_episodes_are_kept_all_or_none(tmp_path: Path) -> None:
    with Store(begun(tmp_path, KEYS[0]), RUN) as store:
        with fails([f"{store.path}: cannot be used: UNIQUE constraint"]):
            store.add(episode(KEYS[1]), episode(KEYS[0]))
        assert store.done() == {KEYS[0]}
        store.add()
        assert store.done() == {KEYS[0]}


def test_a_run_has_no_rows_before_all_are_finished(tmp_path: Path) -> None:
    with Store(begun(tmp_path, *KEYS[1:]), RUN) as store:
        store.plan(ORDER)
        said = [f"{tmp_path}: 1 of 6 episodes are missing", rf"\(`otherminds resume {tmp_path}` plays them\)"]
        with fails(said, UnfinishedError) as caught:
            store.all()
        assert caught.value.failed == 0
        store.add(episode(KEYS[0]))
        assert [key(row) for row in store.all()][::3] == KEYS
        assert [row["t"] for row in store.all()] == [0, 1, 2] * 6
        assert store.all(KEYS[::-2]) == [{**row, "run": RUN} for about in KEYS[::-2] for row in episode(about)]


def test_rows_are_written_in_the_order_of_the_plan_and_without_what_was_measured(tmp_path: Path) -> None:
    for folder, order, ms in ((tmp_path / "f", KEYS, 0.5), (tmp_path / "b", KEYS[::-1], 0.25)):
        with Store(folder, RUN) as store:
            store.todo(ORDER)
            for about in order:
                store.add(episode(about, ms))
            store.write_rows()
            assert {row["ms"] for row in store.all()} == {ms}
    assert (tmp_path / "f" / "rows.jsonl").read_bytes() == (tmp_path / "b" / "rows.jsonl").read_bytes()
    without = [{name: value for name, value in row.items() if name != "ms"} for k in KEYS for row in episode(k)]
    assert rows_in(tmp_path / "f") == [{**row, "run": RUN} for row in without]
    assert "愛" in (tmp_path / "f" / "rows.jsonl").read_text("utf-8")


def test_half_a_character_is_kept_as_it_can_be(tmp_path: Path) -> None:
    with Store(tmp_path, RUN) as store:
        store.add([{**episode(KEYS[0])[0], "words": "\ud83e"}])
        store.fail(ORDER[1], "\ud83e")
        store.plan(ORDER[:1])
        store.write_rows()
    assert len(rows_in(tmp_path)) == 1
    assert look(tmp_path).failures == {KEYS[1]: "\\ud83e"}


def test_what_is_no_longer_planned_is_kept_and_left_out(tmp_path: Path) -> None:
    with Store(begun(tmp_path, *KEYS), RUN) as store:
        assert store.todo(ORDER[2:4]) == []
        assert store.order() == KEYS[2:4]
        assert [key(row) for row in store.all()][::3] == KEYS[2:4]
        assert store.done() == set(KEYS)
        assert store.todo(ORDER) == []
        assert store.order() == [*KEYS[2:4], *KEYS[:2], *KEYS[4:]]


def test_a_plan_may_come_in_parts(tmp_path: Path) -> None:
    with Store(begun(tmp_path), RUN) as store:
        for part in (ORDER[:2], ORDER[2:], ORDER[1:3]):
            store.todo(part)
        assert store.order() == KEYS


def test_replacing_forgets_what_was_there(tmp_path: Path) -> None:
    with Store(begun(tmp_path, KEYS[0]), RUN) as store:
        store.replace([*episode(KEYS[3]), *episode(KEYS[2])])
        assert (store.order(), store.done()) == ([KEYS[3], KEYS[2]], {KEYS[3], KEYS[2]})
        assert store.all() == [{**row, "run": RUN} for about in (KEYS[3], KEYS[2]) for row in episode(about)]


def test_failures_are_remembered_until_they_are_made_good(tmp_path: Path) -> None:
    with Store(begun(tmp_path, *KEYS[2:]), RUN) as store:
        store.plan(ORDER)
        store.fail(ORDER[0], "no answer")
        store.fail(ORDER[1], "too late")
        store.fail(ORDER[1], "much too late")
        with fails(["2 of 6 episodes are missing; 2 failed, such as: "], UnfinishedError) as caught:
            store.all()
        assert caught.value.failed == 2
        assert look(tmp_path).failures == {KEYS[0]: "no answer", KEYS[1]: "much too late"}
        store.add(episode(KEYS[0]))
        assert look(tmp_path).failures == {KEYS[1]: "much too late"}


def test_nothing_is_played_in_a_frozen_run(tmp_path: Path) -> None:
    with Store(begun(tmp_path, *KEYS[1:]), RUN, frozen=True) as store:
        assert store.todo(ORDER[1:]) == []
        with fails(["episodes are missing"], UnfinishedError):
            store.todo(ORDER)


# Shards


@pytest.mark.parametrize("of", [1, 2, 3, 7])
def test_shards_are_disjoint_and_together_all_there_is(tmp_path: Path, of: int) -> None:
    met = list[Key]()
    for number in range(1, of + 1):
        with Store(tmp_path / f"{number}", RUN) as store:
            for part in (ORDER[:3], ORDER[3:]):
                for entry in store.todo(part, (number, of)):
                    met.append(entry.key)
                    store.add(episode(entry.key, ms=number))
            assert store.order() == KEYS
            assert abs(len(store.done()) - len(KEYS) / of) < 1
    assert sorted(met) == sorted(KEYS)
    merge([tmp_path / f"{number}" for number in range(of, 0, -1)], tmp_path / "all")
    with Store(tmp_path / "all", RUN) as store:
        assert store.todo(ORDER) == []
        store.write_rows()
    with Store(begun(tmp_path / "whole", *KEYS), RUN) as store:
        store.write_rows()
    assert (tmp_path / "all" / "rows.jsonl").read_bytes() == (tmp_path / "whole" / "rows.jsonl").read_bytes()


def test_shards_that_overlap_have_to_agree_but_for_what_was_measured(tmp_path: Path) -> None:
    one, other = begun(tmp_path / "one", *KEYS[:4]), begun(tmp_path / "other", *KEYS[4:])
    with Store(other, RUN) as store:
        store.add(episode(KEYS[0], ms=9.0))
    merge([one, other], tmp_path / "all")
    assert exported_rows(tmp_path / "all") == [row for about in KEYS for row in episode(about)]
    with Store(other, RUN) as store:
        store.add([{**row, "action": "stay"} for row in episode(KEYS[1])])
    with fails([f"{other}: the episode {' '.join(KEYS[1])} came out differently"]):
        merge([one, other], tmp_path / "again")


@pytest.mark.parametrize("what", ["run", "version"])
def test_shards_of_different_runs_are_not_put_together(tmp_path: Path, what: str) -> None:
    one, other = begun(tmp_path / "one", KEYS[0]), begun(tmp_path / "other", KEYS[1])
    alter(other / "run.db", f"update about set value = 'another' where name = '{what}'")
    with fails([f"{other}: is of another run than {one}"]):
        merge([one, other], tmp_path / "all")
    assert not (tmp_path / "all").exists()


def test_what_was_asked_in_any_shard_is_on_record_afterwards(tmp_path: Path) -> None:
    for name, prompts in (("one", ("a", "both")), ("other", ("b", "both"))):
        with Store(begun(tmp_path / name, *KEYS), RUN) as store:
            recorded = Recorded(Fake(), store.database, price=Price(1e6, 1e6))
            for prompt in prompts:
                recorded.complete(Request(prompt))
    merge([tmp_path / "one", tmp_path / "other"], tmp_path / "all")
    run = look(tmp_path / "all")
    assert (run.answered.calls, run.uncertain) == (3, ())
    replay = Recorded(Fake(dead), tmp_path / "all" / "run.db", replay=True)
    assert [replay.complete(Request(prompt)) for prompt in ("a", "b", "both")] == [ANSWER] * 3
    assert b"".join(exported_calls(tmp_path / "all")).count(b"\n") == 3


def test_shards_are_only_put_together_in_a_new_place(tmp_path: Path) -> None:
    one, other = begun(tmp_path / "one", KEYS[0]), begun(tmp_path / "other", KEYS[1])
    begun(tmp_path / "taken", run="something else")
    with fails(["run.db: belongs to another run"]):
        merge([one, other], tmp_path / "taken")
    with fails([f"{tmp_path / 'none'}: holds no run"]):
        merge([one, tmp_path / "none"], tmp_path / "all")


# What there is to tell


def test_a_run_tells_how_far_it_is(tmp_path: Path) -> None:
    folder = begun(tmp_path / "a" / "b", *KEYS[:2], about="so and so")
    with Store(folder, RUN, "so and so") as store:
        store.plan(ORDER)
        recorded = Recorded(Fake(), store.database, price=Price(1e6, 1e6))
        recorded.complete(Request("x"))
        run = look(folder)
        assert run.running
        assert run.state == "running"
    run = look(folder)
    assert (run.name, run.about, run.planned, run.finished, run.failures) == (RUN, "so and so", 6, 2, {})
    assert (run.answered, run.uncertain, run.dollars, run.running) == ((1, 12, 4, 16.0), (), 16.0, False)
    assert (run.state, bool(run.version), run.begun[:2]) == ("unfinished", True, "20")
    with Store(folder, RUN) as store:
        store.plan(ORDER)
        store.add(*map(episode, KEYS[2:]))
    assert look(folder).state == "without report"
    (folder / "report.html").touch()
    assert look(folder).state == "finished"
    assert runs_in(tmp_path) == [folder]
    assert exported_rows(folder) == [row for about in KEYS for row in episode(about)]


def test_looking_changes_nothing(tmp_path: Path) -> None:
    begun(tmp_path, *KEYS)
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    look(tmp_path), digest(tmp_path), exported_rows(tmp_path), list(exported_calls(tmp_path))
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_where_there_is_no_run_it_is_said(tmp_path: Path) -> None:
    for call in (look, digest, exported_rows, lambda folder: list(exported_calls(folder))):
        with fails([f"{tmp_path}: holds no run: there is no run.db"]):
            call(tmp_path)
    connect(tmp_path / "run.db").close()
    with fails([f"{tmp_path}/run.db: holds no run yet"]):
        look(tmp_path)
    assert runs_in(tmp_path / "nowhere") == []


# What is refused


def test_the_folder_of_another_run_is_refused_and_left_alone(tmp_path: Path) -> None:
    begun(tmp_path, KEYS[0], run="protom-dkg seed 7")
    before = (tmp_path / "run.db").read_bytes()
    with fails([rf"run\.db: belongs to another run than {RUN} \(choose another folder"]):
        Store(tmp_path, RUN)
    assert (tmp_path / "run.db").read_bytes() == before


def test_a_run_is_for_one_program_at_a_time(tmp_path: Path) -> None:
    with Store(tmp_path, RUN):
        with fails([f"{tmp_path}: another program is at work on this run"]):
            Store(tmp_path, RUN)
        with fails(["another program is at work"]):
            merge([begun(tmp_path / "shard")], tmp_path)
    with Store(tmp_path, RUN):
        pass


DAMAGED = {
    "a letter": "update episodes set rows = replace(rows, 'unlock', 'unlack')",
    "a digit": "update episodes set rows = replace(rows, '\"t\":1', '\"t\":7')",
    "a row less": "update episodes set rows = json_remove(rows, '$[1]')",
    "the sum": "update episodes set checksum = checksum + 1",
    "no rows": "update episodes set rows = ''",
    "no episode": "delete from episodes",
    "bytes": "update episodes set rows = cast(rows as blob)",
    "a number": "update episodes set rows = 7",
    "another name": "update episodes set episode = 'five'",
    "changed names": "update episodes set subject = case subject when 'none' then 'protom' else 'none' end",
}


@pytest.mark.parametrize("change", DAMAGED)
def test_rows_that_were_damaged_are_never_read(tmp_path: Path, change: str) -> None:
    with Store(begun(tmp_path, KEYS[0]), RUN) as store:
        store.todo(ORDER[:1])
    assert damage(tmp_path / "run.db", DAMAGED[change]) == 1
    for attempt in (look, digest, exported_rows, lambda folder: Store(folder, RUN)):
        with fails([r"run\.db: is damaged: .*episodes.*--salvage OUT"]):
            attempt(tmp_path)


def test_a_call_that_is_none_has_no_digest(tmp_path: Path) -> None:
    with Store(begun(tmp_path), RUN) as store:
        Recorded(Fake(), store.database).complete(Request("x"))
    for line in ("{}", "[]", "7", '{"response": ' + "[" * 100_000):
        alter(tmp_path / "run.db", "update calls set line = ?", [(line,)])
        with fails([r"run\.db: the record of call .* cannot be read"]):
            digest(tmp_path)


def test_files_that_are_no_run_are_refused_and_left_alone(tmp_path: Path) -> None:
    whole = (begun(tmp_path / "run", *KEYS) / "run.db").read_bytes()
    newer = begun(tmp_path / "newer", KEYS[0]) / "run.db"
    damage(newer, f"pragma user_version = {VERSION + 1}")
    contents = {"text": b"once\n", "cut": whole[:4096], "half": whole[: len(whole) // 2], "newer": newer.read_bytes()}
    for name, content in contents.items():
        folder = tmp_path / f"odd {name}"
        folder.mkdir()
        (folder / "run.db").write_bytes(content)
        for attempt in (lambda folder=folder: Store(folder, RUN), lambda folder=folder: look(folder)):
            with fails([rf"odd {name}/run\.db: (cannot be used|is damaged|was written by another)"]):
                attempt()
        assert (folder / "run.db").read_bytes() == content


def test_what_cannot_be_written_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for folder in (tmp_path / "file", tmp_path / "file" / "below"):
        with fails([f"{folder}: cannot be written"]):
            Store(folder, RUN)
    (tmp_path / "run.db").mkdir()
    with fails([r"run\.db: cannot be used"]):
        Store(tmp_path, RUN)
    (tmp_path / "rows.jsonl").mkdir()
    with Store(begun(tmp_path / "run", *KEYS), RUN) as store:
        (tmp_path / "run" / "rows.jsonl").mkdir()
        with fails([r"rows\.jsonl: cannot be written"]):
            store.write_rows()


def test_a_full_disk_loses_nothing_that_was_there(tmp_path: Path) -> None:
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    with Store(begun(tmp_path, *KEYS[:3]), RUN) as store:
        store.plan(ORDER)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, limits[1]))
        try:
            with fails([r"run\.db: cannot be used: .*\(what was recorded before is kept\)"]):
                store.add([{**episode(KEYS[3])[0], "words": "x" * 500_000}])
            with fails([r"big: cannot be written: File too large"]):
                write_whole(tmp_path / "big", [b"x" * 500_000])
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        assert store.done() == set(KEYS[:3])
        store.add(*map(episode, KEYS[3:]))
        assert len(store.all()) == 18
    digest(tmp_path)
    assert not (tmp_path / "big").exists()


def test_a_file_is_replaced_whole_or_not_at_all(tmp_path: Path) -> None:
    def parts() -> Iterator[bytes]:
        yield b"new"
        raise ZeroDivisionError

    write_whole(tmp_path / "deep" / "file", [b"old", b"er"])
    with pytest.raises(ZeroDivisionError):
        write_whole(tmp_path / "deep" / "file", parts())
    assert [file.read_bytes() for file in (tmp_path / "deep").iterdir()] == [b"older"]


def test_nothing_is_written_where_a_link_leads(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("mine")
    for name in ("file", "file.new"):
        (tmp_path / name).symlink_to(tmp_path / "mine")
    write_whole(tmp_path / "file", [b"new"])
    assert (tmp_path / "mine").read_text() == "mine"
    assert [path.read_text() for path in tmp_path.glob("file*") if not path.is_symlink()] == ["new"]


def test_an_interrupted_copy_is_what_it_is_said_to_be(tmp_path: Path) -> None:
    """A test of what tests rest on."""
    again = interrupted(begun(tmp_path / "one", *KEYS), tmp_path / "two", KEYS[:2])
    assert set(episodes_in(again)) == set(KEYS[2:])


def test_a_run_that_failed_before_anything_was_planned_leaves_nothing(tmp_path: Path) -> None:
    def fail(folder: Path) -> None:
        with Store(folder, "a run"):
            raise InputError("no such agent")

    with pytest.raises(InputError, match="no such agent"):
        fail(tmp_path / "new")
    assert not list(tmp_path.iterdir())
    kept = begun(tmp_path / "old", *KEYS)
    before = sorted(path.name for path in kept.iterdir())
    with pytest.raises(InputError):
        fail(kept)
    assert sorted(path.name for path in kept.iterdir()) == before
