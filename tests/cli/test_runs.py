"""`otherminds runs`, `resume`, `report`, `export` and `merge`: what is said of runs on disk, and going on with them."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import own_agents
from commands import Run, complaint, fine, without_estimate
from endpoint_server import serve
from otherminds.errors import InputError
from otherminds.evaluation import experiment as playing
from otherminds.evaluation.how_begun import trusted
from otherminds.evaluation.progress import shown
from otherminds.evaluation.runs import exported_rows
from otherminds.evaluation.store import Store
from otherminds.evaluation.tabular import read_rows
from otherminds.papers.protom.experiment import PlannedEpisode
from otherminds.papers.protom.levels.level_sets import Design
from otherminds.reproduce.run import Options, reproduce
from otherminds.worlds.doors_keys_gems.level_files import bundled_levels
from run_files import RESULTS, alter, copied, damage, episodes_in, interrupted, read, results, same_results

pytestmark = pytest.mark.slow

NAME = "protom-dkg"
FEW = [level for level in bundled_levels() if level.name in ("own-key", "purple-gate", "locked-in")]
CHECK = ("check", "--agent", "own_agents:counted", "--game", "ipd", "--rounds", "4", "--max-regret", "9")
TRUSTED = ("--model", "own_agents:counted")


@pytest.fixture(scope="module", autouse=True)
def few() -> Iterator[None]:
    """Three levels instead of twenty."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Design, "bundled", lambda _: list(FEW))
        yield


@pytest.fixture(scope="module")
def done(few: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("done") / "run"
    reproduce(NAME, Options(folder))
    return folder


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def fresh(monkeypatch: pytest.MonkeyPatch, most: float = float("inf")) -> own_agents.Counted:
    model = own_agents.Counted(most=most)
    monkeypatch.setattr(own_agents, "counted", model)
    return model


def about(folder: Path, change: Callable[[dict[str, Any]], Any] | None = None) -> dict[str, Any]:
    """What a run says of itself, which can be changed."""
    ((text,),) = read(folder / "run.db", "select value from about where name = 'about'")
    found: dict[str, Any] = json.loads(text)
    if change:
        change(found)
        alter(folder / "run.db", "update about set value = ? where name = 'about'", [(json.dumps(found),)])
    return found


@pytest.mark.parametrize("command", ["runs", "resume", "report", "export", "merge"])
def test_help_fits_the_terminal_and_shows_an_example(run: Run, command: str) -> None:
    text = fine(run(command, "--help"))
    assert f"Example: otherminds {command}" in text
    assert max(map(len, text.splitlines())) <= 80


# runs


def test_runs_are_listed_with_how_far_they_are(
    run: Run, here: Path, done: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert fine(run("runs")) == "There are no runs in runs.\n"
    interrupted(done, here / "runs" / "half", episodes_in(done)[:5])
    copied(done, here / "runs" / "deep" / "whole")
    monkeypatch.setenv("COLUMNS", "120")
    lines = [line.split() for line in fine(run("runs")).splitlines()]
    assert ["half", "unfinished", "7/12"] in lines
    assert ["deep/whole", "without", "report", "12/12"] in lines
    assert lines.count([NAME, "seed", "42"]) == 2
    assert run("runs").out == run("runs", "runs").out


def test_one_run_is_told_with_what_failed_and_what_is_uncertain(
    run: Run, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fresh(monkeypatch, most=10)
    run(*CHECK, "--price", "1000/1000", "--at-once", "1", "--out", "out")
    alter(here / "out" / "run.db", "update calls set state = 'lost', cost = 2.5 where n = 1")
    told = " ".join(fine(run("runs", "out")).split())
    assert re.match(r"check 4 rounds seed 42 both: unfinished, begun 20\S+ by otherminds \d", told)
    assert re.search(r"1/\d episodes, 9 calls to models answered, \$\d+\.\d+ spent", told)
    assert re.search(r"2 episodes failed the last time: ipd/\S+ \S+ counted 0: counted has had enough", told)
    listed = fine(run("runs", ".")).splitlines()
    assert "check of own_agents:counted in ipd: 4 rounds, seed 42" in " ".join("\n".join(listed[3:]).split())
    assert max(map(len, listed)) <= 80
    assert listed[1].split()[-3:] == ["calls", "uncertain", "spent"]
    assert re.search(r" unfinished +1/\d +9 +1 +\$\d", "\n".join(listed))
    assert "1 calls have no answer on record, and may have to be paid for:" in told
    assert "(up to $2.5000, sent 20" in told
    assert re.search("nothing is damaged; digest [0-9a-f]{64}$", told)


def test_a_run_that_is_under_way_says_so(run: Run, here: Path) -> None:
    with Store(here / "runs" / "now", "x"):
        assert " running " in fine(run("runs"))
        assert "x: running, begun" in fine(run("runs", "runs/now"))
        complaint(run("resume", "runs/now"), "does not say how it was begun")


def test_a_run_that_is_damaged_is_told_and_the_others_all_the_same(run: Run, here: Path, done: Path) -> None:
    copied(done, here / "runs" / "fine")
    copied(done, here / "runs" / "odd")
    damage(here / "runs" / "odd" / "run.db", "update episodes set rows = replace(rows, 'up', 'down') where rowid = 3")
    (here / "runs" / "text").mkdir()
    (here / "runs" / "text" / "run.db").write_text("once\n")
    complaint(run("runs", "runs/odd"), "runs/odd/run.db: is damaged: a row of episodes does not verify")
    listed = run("runs")
    assert (listed.code, listed.err) == (1, "")
    assert "\n fine " in listed.out
    assert "runs/text/run.db: cannot be used: file is not a database\n" in listed.out
    complaint(run("runs", "runs/text"), "cannot be used")
    for command in (("report",), ("export", "rows.csv"), ("export", "calls.jsonl", "--what", "calls"), ("resume",)):
        complaint(run(command[0], "runs/odd", *command[1:]), "is damaged.*otherminds runs runs/odd --salvage OUT")
    complaint(run("merge", "all", "runs/fine", "runs/odd"), "is damaged")
    assert not (here / "all").exists()
    assert not (here / "rows.csv").exists()


HOSTILE = "\x1b[31m\x1b]0;mine\x07[bold]x[/bold]\u202e"


def test_what_a_run_says_of_itself_cannot_take_over_the_terminal(run: Run, here: Path, done: Path) -> None:
    copied(done, here / "runs" / "one")
    alter(here / "runs" / "one" / "run.db", "update about set value = value || ?", [(HOSTILE,)])
    alter(here / "runs" / "one" / "run.db", "insert into failures values (?, ?, ?, ?, ?, 0)", [(HOSTILE,) * 5])
    sent = "insert into calls (key, model, place, sent, state, cost, checksum) values (?, ?, ?, ?, 'sent', 1.0, 0)"
    alter(here / "runs" / "one" / "run.db", sent, [(HOSTILE,) * 4])
    for command in (("runs",), ("runs", "runs/one"), ("resume", "runs/one")):
        result = run(*command)
        assert all(c.isprintable() or c == "\n" for c in result.out + result.err)
        assert "Traceback" not in result.err


# resume and report


@pytest.mark.slow
def test_a_run_is_resumed_by_its_folder_alone(run: Run, here: Path, done: Path) -> None:
    moved = interrupted(done, here / "elsewhere", episodes_in(done)[1::2])
    out = fine(run("resume", "elsewhere"))
    assert "Report: elsewhere/report.html" in out
    assert same_results(moved, done)


@pytest.mark.slow
def test_a_finished_run_is_reported_again_to_the_same_bytes(
    run: Run, here: Path, done: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(playing, "run", None)
    copied(done, here / "copy")
    for command in ("report", "resume"):
        assert "Report: copy/report.html" in fine(run(command, "copy"))
        assert results(here / "copy") == results(done)
        for name in RESULTS:
            (here / "copy" / name).unlink()


def test_an_unfinished_run_has_no_report(run: Run, here: Path, done: Path) -> None:
    interrupted(done, here / "half", episodes_in(done)[:2])
    before = set(episodes_in(here / "half"))
    complaint(
        run("report", "half"), r"^otherminds: half: 2 of 12 episodes are missing \(`otherminds resume half` plays"
    )
    assert set(episodes_in(here / "half")) == before
    assert {path.name for path in (here / "half").iterdir()} == {"run.db", "run.lock"}
    assert "unfinished 10/12" in " ".join(fine(run("runs", ".")).split())


@pytest.mark.slow
def test_a_check_is_resumed_by_who_trusts_its_agents(run: Run, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = fresh(monkeypatch)
    fine(without_estimate(run(*CHECK, "--out", "whole")))
    first = fresh(monkeypatch, most=10)
    assert run(*CHECK, "--at-once", "1", "--out", "out").code == 2
    second = fresh(monkeypatch)
    for command in ("resume", "report"):
        said = r"this run asks own_agents:counted \(if you trust that, add --model own_agents:counted\)"
        complaint(run(command, "out"), said)
        complaint(run(command, "out", "--model", "own_agents:answer"), said)
    assert second.asked == 0
    complaint(run("report", "out", *TRUSTED), r"\d of \d+ episodes are missing")
    assert "counted: " in fine(without_estimate(run("resume", "out", *TRUSTED)))
    assert min(first.asked, 10) + second.asked == whole.asked
    assert results(here / "out") == results(here / "whole")
    assert "Report: out/report.html" in fine(run("report", "out", *TRUSTED))
    assert results(here / "out") == results(here / "whole")
    assert min(first.asked, 10) + second.asked == whole.asked


@pytest.mark.slow
def test_a_check_is_resumed_with_more_money(run: Run, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = fresh(monkeypatch)
    fine(without_estimate(run(*CHECK, "--price", "1000/1000", "--out", "whole")))
    first = fresh(monkeypatch)
    stopped = run(*CHECK, "--price", "1000/1000", "--budget", "4", "--at-once", "1", "--out", "out").err
    assert "has no room" in stopped
    second = fresh(monkeypatch)
    assert "has no room" in run("resume", "out", *TRUSTED).err
    assert second.asked == 0
    (printed,) = re.findall(r"`otherminds (resume out --model own_agents:counted --budget [\d.]+)` goes on", stopped)
    assert float(printed.rpartition(" ")[2]) > 4
    run(*printed.split())
    assert second.asked > 0
    fine(without_estimate(run("resume", "out", *TRUSTED, "--budget", "900", "--at-once", "1")))
    assert first.asked + second.asked == whole.asked
    assert results(here / "out") == results(here / "whole")


def test_a_run_that_asks_a_server_is_resumed_by_who_names_it(
    run: Run, here: Path, done: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = fresh(monkeypatch)
    with serve(model) as server:
        spec = f"openai:counted@{server.url}"
        run(CHECK[0], "--agent", spec, *CHECK[3:], "--out", "out")
        heard = len(server.heard)
        complaint(run("resume", "out"), rf"this run asks {re.escape(spec)}")
        complaint(run("resume", "out", *TRUSTED), rf"this run asks {re.escape(spec)}")
        assert "counted: 0 calls made" in fine(run("resume", "out", "--model", spec))
        assert len(server.heard) == heard > 0


def test_a_model_that_is_paid_is_asked_again_by_who_names_it(tmp_path: Path) -> None:
    for spec in ("openai:gpt-4o", "openai:local@http://localhost:1/v1", "gpt-4o", "ollama:llama3", "groq/llama"):
        paid = [spec]
        with pytest.raises(InputError, match=f"this run asks {paid[0]}"):
            trusted(paid, [], tmp_path, asks=True)
        trusted(paid, paid, tmp_path, asks=True)
        trusted(paid, [], tmp_path, asks=False)
    for spec in ("own:code", "llama3:latest", "http://localhost:1", "ollama"):  # these would be asked for their models
        with pytest.raises(InputError, match=f"this run asks {spec}"):
            trusted([spec], [], tmp_path, asks=False)
    trusted(["rmax", "tft~0.1", "embedded", "smollm2", "embedded:mine.gguf"], [], tmp_path, asks=True)


def asks(spec: str, **more: Any) -> Callable[[dict[str, Any]], Any]:
    return lambda found: found["options"].update(asking={"model": spec, **more})


UNSOUND: dict[str, tuple[Callable[[dict[str, Any]], Any], str]] = {
    "another command": (lambda found: found.update(command="rm"), "does not say how it was begun"),
    "no command": (lambda found: found.pop("command"), "does not say how it was begun"),
    "more": (lambda found: found.update(more=1), "does not say how it was begun"),
    "no options": (lambda found: found.update(options=[]), "does not say how it was begun"),
    "another experiment": (lambda found: found.update(name="nonsense"), "there is no experiment `nonsense`"),
    "another run": (lambda found: found["options"].update(seed=7), f"belongs to another run than {NAME} seed 7"),
    "seed in words": (lambda found: found["options"].update(seed="many"), "cannot be resumed: `seed`: "),
    "another check": (lambda found: found.update(command="check"), "cannot be resumed: `asking`: "),
    "an unknown scale": (lambda found: found["options"].update(scale="huge"), "cannot be resumed: `scale`: "),
    "no jobs": (lambda found: found["options"].update(jobs=0), "cannot be resumed: `jobs`: "),
    "a million jobs": (lambda found: found["options"].update(jobs=10**6), "cannot be resumed: `jobs`: "),
    "a shard of none": (lambda found: found["options"].update(shard=[1, 0]), r"cannot be resumed: `shard.1`: "),
    "a million threads": (asks("embedded", at_once=10**6), r"cannot be resumed: `asking.at_once`: "),
    "code": (asks("os:system"), "this run asks os:system"),
    "an address": (asks("openai:x@http://127.0.0.1:1/v1"), "this run asks openai:x@http"),
    "a file": (asks("embedded:/etc/passwd"), "passwd"),
}


@pytest.mark.slow
def test_a_run_chooses_no_cluster(run: Run, here: Path, done: Path) -> None:
    """There, whatever it is sent is run."""
    about(
        interrupted(done, here / "odd", episodes_in(done)[:1]), lambda found: found["options"].update(engine="ray=x:1")
    )
    fine(run("resume", "odd"))


@pytest.mark.parametrize("name", UNSOUND)
@pytest.mark.parametrize("command", ["resume", "report"])
def test_what_a_run_says_of_itself_is_not_believed(command: str, name: str, run: Run, here: Path, done: Path) -> None:
    change, said = UNSOUND[name]
    about(interrupted(done, here / "odd", episodes_in(done)[:1]), change)
    nobody_is_asked = (command, name) == ("report", "an address")  # so an address needs no trust
    complaint(run(command, "odd"), "belongs to another run" if nobody_is_asked else said)
    assert len(episodes_in(here / "odd")) == 11


def test_rows_of_something_else_make_no_report(run: Run, here: Path, done: Path) -> None:
    copied(done, here / "odd")
    alter(here / "odd" / "run.db", "update episodes set rows = replace(rows, '\"t\":', '\"u\":')")
    complaint(run("report", "odd"), "odd: its rows make no report: KeyError: 't'")
    complaint(run("merge", "all", "odd"), "all: its rows make no report: KeyError: 't'")


@pytest.mark.parametrize("text", ["", "{}", "[]", "null", "7", "nonsense", '{"command": "check"}', "[" * 100_000])
def test_a_run_that_does_not_say_how_it_was_begun_is_not_resumed(run: Run, here: Path, done: Path, text: str) -> None:
    copied(done, here / "odd")
    alter(here / "odd" / "run.db", "update about set value = ? where name = 'about'", [(text,)])
    complaint(run("resume", "odd"), "does not say how it was begun .*repeat the command that began it")


def test_where_there_is_no_run_it_is_said(run: Run, here: Path) -> None:
    (here / "file").write_text("")
    for folder in ("nowhere", ".", "file"):
        for command in (("resume",), ("report",)):
            complaint(run(*command, folder), "holds no run")
        complaint(run("export", folder, "rows.csv"), "holds no run")
        complaint(run("merge", "all", folder), "holds no run")


def test_a_run_tells_what_began_it(done: Path) -> None:
    told = about(done)
    assert (told["command"], told["name"]) == ("reproduce", NAME)
    assert "out" not in told["options"]
    assert "frozen" not in told["options"]


def test_a_folder_of_checks_gets_a_report_for_each(run: Run, here: Path) -> None:
    for name in ("one", "two"):
        run("check", "--agent", "random", *CHECK[3:7], "--max-regret", "0.1", "--out", f"runs/{name}")
        (here / "runs" / name / "report.html").unlink()
    told = fine(run("report", "runs"))
    assert "2 runs of check: each has its own report.\n" in told
    assert {page.parent.name for page in (here / "runs").rglob("report.html")} == {"one", "two"}


# export


@pytest.mark.parametrize("file", ["x.jsonl", "x.csv", "x.parquet"])
def test_rows_are_exported_in_every_form(run: Run, here: Path, done: Path, file: str) -> None:
    assert fine(run("export", str(done), file)) == f"Written: {file}\n"
    rows = exported_rows(done)
    assert [{k: v for k, v in row.items() if v is not None} for row in read_rows(here / file)] == rows
    assert any(row["ms"] > 0 for row in rows if row["agent"] == "facilitator")
    assert len({(row["condition"], row["subject"], row["episode"]) for row in rows}) == 12


@pytest.mark.slow
def test_calls_are_exported_to_be_replayed(run: Run, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = fresh(monkeypatch)
    fine(without_estimate(run(*CHECK, "--out", "one")))
    assert fine(run("export", "one", "calls.jsonl", "--what", "calls")) == "Written: calls.jsonl\n"
    assert len((here / "calls.jsonl").read_text("utf-8").splitlines()) == model.asked
    silent = fresh(monkeypatch, most=0)
    for record in ("calls.jsonl", "one", "one/run.db"):
        assert f"counted: 0 calls made, {model.asked} answered" in " ".join(
            fine(
                without_estimate(run(*CHECK, "--out", f"again {record.replace('/', ' ')}", "--replay", record))
            ).split()
        )
    assert silent.asked == 0
    for folder in here.glob("again*"):
        assert (folder / "rows.jsonl").read_bytes() == (here / "one" / "rows.jsonl").read_bytes()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("rows.txt",), r"rows.txt: is no file to export to \(its name ends in .jsonl, .csv, .parquet\)"),
        (("rows",), "is no file to export to"),
        (("calls.csv", "--what", "calls"), r"is no file to export to \(its name ends in .jsonl\)"),
        (("rows.csv", "--what", "all"), "--what"),
        (("file/rows.csv",), "cannot be written"),
        (("file/calls.jsonl", "--what", "calls"), "cannot be written"),
    ],
)
def test_what_cannot_be_exported_is_told(
    run: Run, here: Path, done: Path, arguments: tuple[str, ...], said: str
) -> None:
    (here / "file").write_text("")
    complaint(run("export", str(done), *arguments), said)


# Shards


@pytest.mark.slow
def test_shards_that_are_put_together_are_the_whole_run(run: Run, here: Path, done: Path) -> None:
    for number in (2, 3, 1):
        out = fine(run("reproduce", NAME, "--shard", f"{number}/3", "--out", f"shard-{number}"))
        assert (
            out
            == f"Shard {number} of 3 is played: shard-{number}; `otherminds merge OUT SHARD...` puts them together\n"
        )
        assert len(episodes_in(here / f"shard-{number}")) == 4
        assert not (here / f"shard-{number}" / "report.html").exists()
    assert "unfinished 4/12" in " ".join(fine(run("runs", ".")).split())
    assert "Report: all/report.html" in fine(run("merge", "all", "shard-3", "shard-1", "shard-2"))
    assert same_results(here / "all", done)
    assert "finished 12/12" in " ".join(fine(run("runs", ".")).split())


def test_a_shard_is_resumed_as_a_shard(run: Run, here: Path) -> None:
    fine(run("reproduce", NAME, "--shard", "2/3", "--out", "shard"))
    whole = sorted(episodes_in(here / "shard"))
    interrupted(here / "shard", here / "again", whole[:2])
    assert "Shard 2 of 3 is played: again" in fine(run("resume", "again"))
    assert sorted(episodes_in(here / "again")) == whole


@pytest.mark.slow
def test_a_run_that_lacks_a_shard_is_completed_by_resuming(run: Run, here: Path, done: Path) -> None:
    for number in (1, 2):
        fine(run("reproduce", NAME, "--shard", f"{number}/3", "--out", f"shard-{number}"))
    complaint(run("merge", "all", "shard-1", "shard-2"), r"all: 4 of 12 episodes are missing \(`otherminds resume all`")
    fine(run("resume", "all"))
    assert same_results(here / "all", done)


@pytest.mark.slow
def test_shards_with_a_language_model_are_the_whole_run(run: Run, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = fresh(monkeypatch)
    command = ("reproduce", "functional", "--quick", "--model", "own_agents:counted")
    small(monkeypatch)
    assert run(*command, "--out", "whole").code == 0
    asked, model.asked = model.asked, 0
    for number in (1, 2):
        assert run(*command, "--shard", f"{number}/2", "--out", f"shard-{number}").code == 0
    complaint(run("merge", "none", "shard-1", "shard-2"), "this run asks own_agents:counted")
    fine(run("merge", "all", "shard-1", "shard-2", *TRUSTED))
    assert results(here / "all") == results(here / "whole")
    assert model.asked == asked > 0


def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hardly anybody plays, and not for long."""
    from otherminds.papers.functional import card_and_word_games, model_episodes
    from otherminds.papers.functional import experiment as functional
    from otherminds.papers.functional import reproduction as runs

    def plan(_scale: str, seed: int, _machines: str = "") -> list[functional.GameEntry]:
        return [functional.GameEntry(cell, "fictitious_play", 0, 0, seed) for cell in functional.CELLS]

    monkeypatch.setattr(functional, "plan", plan)
    monkeypatch.setattr(card_and_word_games, "plan", lambda _seed: [])
    monkeypatch.setattr(runs, "solve_ahead", lambda _game, _rounds: None)
    monkeypatch.setattr(functional, "HORIZON", 5)
    for module in (functional, model_episodes):  # what is cached would stay short
        monkeypatch.setattr(module, "tasks", module.tasks.__wrapped__)


def test_shards_of_different_runs_are_not_put_together(run: Run, here: Path, done: Path) -> None:
    fine(run("reproduce", NAME, "--seed", "7", "--shard", "1/3", "--out", "other"))
    complaint(run("merge", "all", str(done), "other"), rf"other: is of another run than {done}")
    assert not (here / "all").exists()


@pytest.mark.parametrize("text", ["0/3", "4/3", "1", "1/0", "-1/3", "a/b", "1/3/3", "1 / 3", "1/9999999", "²/3"])
def test_what_is_no_shard_is_told(run: Run, here: Path, text: str) -> None:
    result = run("reproduce", NAME, "--shard", text, "--out", "out")
    complaint(result, f"`{text}` is no shard|--shard")
    assert not (here / "out").exists()


# Progress


def test_where_there_is_no_terminal_a_line_now_and_then_tells_how_far_it_is(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    monkeypatch.setenv("COLUMNS", "200")
    for _ in shown(range(10), 20, "[b]Playing[/]", size=lambda _: 2, tell=lambda: "7 calls"):
        now[0] += 12.0
    lines = capsys.readouterr().err.splitlines()
    assert lines == [
        "[b]Playing[/]: 6 of 20, about 1.4 min left, 7 calls",
        "[b]Playing[/]: 12 of 20, about 0.8 min left, 7 calls",
        "[b]Playing[/]: 18 of 20, about 0.2 min left, 7 calls",
    ]
    list(shown(range(10), 20, "quick"))
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("arguments", [("rows.jsonl",), ("rows.csv",), ("calls.jsonl", "--what", "calls")])
def test_an_unfinished_run_is_not_exported(run: Run, here: Path, arguments: tuple[str, ...]) -> None:
    with Store(here / "half", "protom-dkg seed 1") as kept:
        kept.plan([PlannedEpisode(bundled_levels()[0], "none", "useful", 1)])
    complaint(run("export", "half", *arguments), r"half: is unfinished: 0 of 1 episodes")
    assert not (here / arguments[0]).exists()
