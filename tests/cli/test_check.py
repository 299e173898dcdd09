"""`otherminds check`: verdicts as exit codes and files, hostile agents shown as text, one line for what is wrong."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

import own_agents
from commands import Result, Run, complaint, fine, without_estimate
from otherminds.evaluation import asking
from otherminds.files.text import printable
from otherminds.language.scripted import Scripted
from otherminds.papers.functional import check
from otherminds.reports import literal_functional_plots
from otherminds.reports.page import number
from otherminds.worlds.repeated_games.payoff_files import find_game
from run_files import RESULTS, episodes_in, rows_in

GAME = """\
name = "chicken"
agents = ["you", "they"]
actions = ["Swerve", "Straight"]
payoffs = [
  [[3, 3], [1, 4]],
  [[4, 1], [0, 0]],
]
"""
LARGER = GAME.replace("[4, 1]", "[9, 1]")
THREE = """\
name = "three"
agents = ["you", "one", "other"]
actions = ["x"]
payoffs = [[[[1, 2, 3]]]]
"""
QUICK = ("--game", "ipd", "--rounds", "4")
MIXER = ("check", "--agent", "scripted:nash_mixer", *QUICK)
HOSTILE = "</td></testcase>]]><script>alert(1)</script>\"'& [red]$x^{ %s"
UNSEEN = "\x1b[31m\x1b]0;mine\x07\x00\u202e\u2028\ud800"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "chicken.toml").write_text(GAME)
    (tmp_path / "larger.toml").write_text(LARGER)
    (tmp_path / "three.toml").write_text(THREE)
    (tmp_path / "broken.toml").write_text("name =")
    (tmp_path / "prose.jsonl").write_text("once\n")
    (tmp_path / "halved.py").write_text("def answer(:\n")
    (tmp_path / "leaving.py").write_text("raise SystemExit(5)\n")
    return tmp_path


class Page(HTMLParser):
    """The tags of a page, where it would fetch something from, its titles, and what is in each of its sections."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.markup = path.read_text("utf-8")
        self.tags: list[str] = []
        self.sources: list[str] = []
        self.text: dict[str, str] = {}
        self.title, self.heading = "", False
        self.feed(self.markup)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        fetching = {"src", "srcset", "data", "action", "poster", "href", "xlink:href"}
        self.sources += [value or "" for name, value in attrs if name in fetching]
        if tag == "h2":
            self.title, self.heading = "", True

    def handle_endtag(self, tag: str) -> None:
        self.heading = self.heading and tag != "h2"

    def handle_data(self, data: str) -> None:
        if self.heading:
            self.title += data
        else:
            self.text[self.title] = self.text.get(self.title, "") + data + "|"


# Verdicts


def test_help_fits_the_terminal_and_shows_an_example(run: Run) -> None:
    text = fine(run("check", "--help"))
    assert "Example: otherminds check" in text
    assert max(map(len, text.splitlines())) <= 80


@pytest.mark.slow
@pytest.mark.parametrize(("most", "code"), [("0.3", 4), ("2.5", 0)])
def test_the_exit_code_is_the_verdict(most: str, code: int, run: Run, here: Path) -> None:
    result = run(*MIXER, "--max-regret", most, "--out", "out", "--junit", "reports/junit.xml")
    assert (result.code, result.err) == (code, "")
    assert max(map(len, result.out.splitlines())) <= 80
    line = next(line for line in result.out.splitlines() if line.startswith("nash_mixer"))
    assert (" open " in line) == (code == 4)
    assert (" passes " in line) == (code == 0)
    summary = json.loads((here / "out" / "summary.json").read_text("utf-8"))
    lost = next(r["value"] for r in summary if (r["subject"], r["metric"]) == ("nash_mixer", "relative_regret"))
    assert f" {lost:.2f} " in line
    assert f"nash_mixer {'is open: too few rounds' if code else 'passes: plays like a player'}" in result.out
    assert not re.search("^tabular (passes|fails|is open):", result.out, re.MULTILINE)
    suites = ElementTree.parse(here / "reports" / "junit.xml").getroot()
    assert [(suite.get("failures"), suite.get("errors")) for suite in suites] == [("0", "1" if code else "0")]
    page = Page(here / "out" / "report.html")
    assert f"may lose {most}." in page.text["Verdict"]
    head = "4 rounds with each partner, once; seed 42; nash_mixer asked by the strategy qa; names of actions neutral;"
    assert f"Games: ipd; {head} shuffled: none; begun on 20" in " ".join(page.markup.split())


@pytest.mark.slow
def test_who_is_given_twice_is_judged_once_and_nobody_else_is(run: Run, here: Path) -> None:
    result = run("check", *("--agent", "perfect") * 2, *QUICK, "--out", "out", "--junit", "junit.xml")
    assert "perfect passes: plays like a player" in fine(result)
    assert result.out.count(": plays") == 1
    assert [suite.get("name") for suite in ElementTree.parse(here / "junit.xml").getroot()] == ["perfect"]


@pytest.mark.slow
def test_one_of_several_that_fails_is_enough(run: Run, here: Path) -> None:
    agents = ("--agent", "perfect", "--agent", "own_agents:stubborn")
    how = ("--game", "rps", "--rounds", "30", "--out", "out", "--junit", "junit.xml")
    result = run("check", *agents, "--agent", "random", *how)
    assert (result.code, result.err) == (1, "")
    suites = ElementTree.parse(here / "junit.xml").getroot()
    assert [suite.get("name") for suite in suites] == ["perfect", "own_agents.stubborn", "random"]
    assert [suite.get("failures") for suite in suites] == ["0", "0", "1"]
    assert [suite.get("errors") for suite in suites] == ["0", "1", "0"]
    for suite in suites:
        (case,) = suite.findall("testcase")
        failure = case.find("failure")
        assert (failure is not None) == (suite.get("failures") == "1")
        assert re.search(r"it loses \d\.\d\d .* and may lose 0\.5; its wrong", case.findtext("system-out", ""))
        assert failure is None or re.match(r"breaks at \w+: .*it loses", failure.get("message", ""))


@pytest.mark.slow
def test_the_tour_judges_nobody(run: Run, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def stand_in(spec: str) -> Scripted:
        asked.append(spec)
        return Scripted("smollm2", lambda _request: "Answer", lambda _prompt, text: -float(len(text)))

    monkeypatch.setattr(asking, "find_model", stand_in)
    out = fine(run("check", *QUICK, "--junit", "junit.xml"))
    assert asked == ["embedded"]
    table = out.partition("Losses are shares")[0]
    names = [line.split()[0] for line in table.splitlines() if re.match(r"\w+ +\w+ +\d", line)]
    assert names == ["bayes", "tabular", "random", "smollm2"]
    assert not re.search(r"^\w+: (plays|knows|does)", out, re.MULTILINE)
    assert "smollm2: " in out  # what it was asked
    assert list(ElementTree.parse(here / "junit.xml").getroot()) == []
    (folder,) = (here / "runs").iterdir()
    assert re.fullmatch(r"check-\d{8}-\d{6}", folder.name)
    assert f"Report: runs/{folder.name}/report.html" in out
    page = Page(folder / "report.html")
    assert "Verdict" not in page.text
    assert "smollm2" in page.text["Scores"]
    assert {row["strategy"] for row in rows_in(folder) if row["subject"] == "smollm2"} == {"lm"}


@pytest.mark.slow
def test_games_and_partners_of_ones_own(run: Run, here: Path) -> None:
    own = ("--game", "chicken.toml", "--partner", "tft~0.1", "--partner", "always-swerve")
    fine(run("check", "--agent", "own_agents:explorer", *own, "--max-regret", "9", "--out", "out"))
    played = rows_in(here / "out")
    assert {row["condition"] for row in played} == {"chicken/tft~0.1", "chicken/always Swerve"}
    own_rows = [row for row in played if row["subject"] == "own_agents.explorer"]
    assert len(own_rows) == 2 * 30
    payoffs = ((3, 1), (4, 0))
    assert all(row["reward"] == payoffs[row["action"]][row["observed"]] for row in own_rows)
    partners = Page(here / "out" / "report.html").text["Partner by partner"]
    assert "chicken: tft~0.1" in partners
    complaint(run("check", "--agent", "perfect", "--game", "larger.toml", *own[2:], "--out", "out"), "another game")


@pytest.mark.slow
def test_partners_from_a_file_of_machines(run: Run, here: Path) -> None:
    machine = '{"states": 2, "output": ["C", "D"], "next": [[0, 1], [1, 1]]}'
    (here / "mine.json").write_text(f'{{"machines": {{"grudge": {machine}}}}}')
    told = ("check", "--agent", "perfect", "--game", "ipd", "--machines", "mine.json", "--rounds", "5", "--out", "out")
    done = run(*told)
    assert (done.code, done.err) == (4, "")
    assert "one partner is too few to say" in " ".join(done.out.split())
    assert {row["condition"] for row in rows_in(here / "out")} == {"ipd/grudge"}
    assert run("resume", "out").code == 4
    complaint(run(*told, "--partner", "gruge", "--out", "other"), "did you mean grudge")


@pytest.mark.slow
def test_wrong_options_are_refused_before_anything_slow_is_imported(here: Path) -> None:
    wrong = {
        ("smollm2",): "did you mean embedded:smollm2",
        ("rmx",): "did you mean rmax",
        ("embedded:smolm2",): "did you mean smollm2",
        ("openai:x@localhost:1",): "begins with http",
        ("openai:x@http://localhost:1/v1", "--budget", "1"): "--price",
        ("openai:x",): "nobody has said what x costs",
    }
    code = "import sys; from otherminds.cli.app import app\ntry: app(sys.argv[1:], standalone_mode=False)\n"
    code += "except ValueError as error: print(error, *{'matplotlib', 'pandas', 'scipy'} & {*sys.modules})"
    for agent, told in wrong.items():
        command = [sys.executable, "-c", code, "check", "--agent", *agent]
        said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        assert told in said
        assert said.endswith(")\n")


# The report


@pytest.mark.slow
def test_the_report_says_what_the_files_say(run: Run, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn, draw = list[float](), literal_functional_plots.known_and_lost

    def known_and_lost(points: Any, most: float) -> Any:
        drawn.append(most)
        return draw(points, most)

    monkeypatch.setattr(literal_functional_plots, "known_and_lost", known_and_lost)
    agents = ("--agent", "scripted:echo", "--agent", "own_agents:counted")
    result = run("check", *agents, "--game", "rps", "--rounds", "5", "--max-regret", "0.1", "--out", "out")
    assert (result.code, result.err) == (1, "")
    page = Page(here / "out" / "report.html")
    parts = ["Verdict", "Scores", "Beside reference players", "Told what the partner does"]
    parts += ["Partner by partner", "Worst episodes", "Calls"]
    assert [title for title in page.text if title] == parts
    found: dict[tuple[str, str], dict[str, Any]] = {
        (row["subject"], row["metric"]): row for row in json.loads((here / "out" / "summary.json").read_text("utf-8"))
    }
    for name in ("echo", "counted", "bayes", "tabular", "random"):
        lost, literal = (found[name, metric] for metric in ("relative_regret", "relative_tom_regret"))
        cells = [f"{number(one['value'])} [{number(one['low'])}, {number(one['high'])}]" for one in (lost, literal)]
        assert re.search(rf"\|{name}\|[^|]+\|{re.escape('|'.join(cells))}\|", page.text["Scores"])
        assert (f"|{name}|" in page.text["Told what the partner does"]) == ((name, "relative_regret_oracle") in found)
    assert "Below the line at 0.1" in page.text["Scores"]
    assert drawn == [0.1]
    assert "counted: " in page.text["Calls"]


@pytest.mark.slow
def test_the_worst_episodes_are_told_round_by_round(run: Run, here: Path) -> None:
    run("check", "--agent", "scripted:echo", "--game", "rps", "--rounds", "14", "--out", "out")
    text = Page(here / "out" / "report.html").text["Worst episodes"]
    titles = re.findall(r"echo with ([^|]*) in rps: lost ([\d.]+), the first 12 of 14 rounds", text)
    # scissors lose against rock, and against whoever answers them
    assert titles == [("always Rock", "2.00"), ("tft", titles[1][1]), ("always Scissors", "1.00")]
    names = find_game("rps").actions[0]
    first = [row for row in rows_in(here / "out") if (row["subject"], row["partner"]) == ("echo", "always Rock")]
    for row in first[:12]:
        said = [said["text"] for said in row["said"]]
        did = [names[row[part]] for part in ("predicted", "observed", "action")]
        line = "|".join([str(row["t"] + 1), *did, number(row["reward"]), " · ".join(said)])
        assert f"|{line}|" in text
    assert "|13|" not in text


@pytest.mark.slow
@pytest.mark.parametrize("wild", [HOSTILE, UNSEEN, "x" * 50_000, HOSTILE * 1_000], ids=["tags", "signs", "a", "b"])
def test_replies_are_shown_as_text_and_not_at_length(
    wild: str, run: Run, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pages, outs = [], []
    for name, reply in (("tame", "tame"), ("wild", wild)):
        monkeypatch.setattr(own_agents, "answer", lambda _prompt, reply=reply: reply)
        result = run("check", "--agent", "own_agents:answer", *QUICK, "--out", name)
        assert (result.code, result.err) == (1, "")
        pages.append(Page(here / name / "report.html"))
        outs.append(result.out)
    assert pages[0].tags == pages[1].tags
    assert "script" not in pages[1].tags
    assert all(source.startswith("#") for source in pages[1].sources)
    assert "default-src 'none'" in pages[1].markup
    assert all(c.isprintable() or c == "\n" for c in pages[1].markup)
    shown = " ".join(wild.split())[:40].encode("utf-8", "replace").decode()
    assert printable(shown) in pages[1].text["Worst episodes"]
    cells = pages[1].text["Worst episodes"].replace(" · ", "|").split("|")
    assert max(map(len, cells[3:])) < 150
    assert (here / "wild" / "rows.jsonl").stat().st_size < 200_000
    assert all(c.isprintable() or c == "\n" for c in outs[1])
    assert "fails: in 100% of the rounds no move could be read" in outs[1]


@pytest.mark.slow
@pytest.mark.parametrize("name", [HOSTILE, "[bold]x[/bold] [/]", "=1+1 ;ø🤔 ../../etc", "n" * 200])
def test_names_of_models_are_shown_as_text(name: str, run: Run, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(own_agents, "counted", own_agents.Counted(name))
    result = run("check", "--agent", "own_agents:counted", *QUICK, "--max-regret", "0", "--out", "out", "--junit", "x")
    assert (result.code, result.err) == (4, "")
    assert name[:10] in result.out
    told = result.out.partition("Losses are shares")[0]
    assert re.search(rf"^{re.escape(name[:5])}.* open +\d\.\d\d \[.*\]  +\d\.\d\d +\S+ +0% *$", told, re.MULTILINE)
    page = Page(here / "out" / "report.html")
    assert "script" not in page.tags
    assert name in page.text["Verdict"]
    (suite,) = ElementTree.parse(here / "x").getroot()
    assert suite.get("name") == name
    assert [case.get("classname") for case in suite] == [f"otherminds.check.{name}"]
    assert {path.name for path in (here / "out").iterdir()} == {"run.db", "run.lock", *RESULTS}
    assert len({path.parent for path in here.rglob("run.db")}) == 1


# What is wrong


OWN = "--agent own_agents:counted"
NONE = "--agent perfect"
WRONG = {
    "--agent nobody": "unknown player `nobody`",
    "--agent perfect --agent nobody": "unknown player",
    "--agent scripted:": "there is no scripted player ``",
    "--agent scripted:nobody": "there is no scripted player `nobody`",
    "--agent k_tom_9": "unknown player",
    "--agent k_tom_0 --game rps": "k_tom_0 cannot play rps",
    "--agent bayes_library --game rps": "cannot play rps",
    "--agent openai:": "names no language model",
    "--agent openai:x@nowhere": "begins with http",
    "--agent openai:x@http://u:p@h/v1": "no user and no password",
    "--agent embedded:nobody": "there is no model `nobody`",
    "--agent embedded:nobody.gguf": "there is no such file",
    "--agent embedded:prose.jsonl": "there is no model",
    "--agent nowhere:x": "`nowhere` cannot be imported",
    "--agent own_agents:nobody": "has no `nobody`",
    "--agent own_agents:": "unknown player",
    "--agent :x": "cannot be imported",
    "--agent ..:x": "cannot be imported",
    "--agent halved:answer": r"cannot be imported: SyntaxError.*halved.py, line 1",
    "--agent leaving:answer": r"leaving.py:1: .*cannot be imported: SystemExit: 5",
    "--agent own_agents:number": "neither a language model nor a function",
    "--agent own_agents:Counted": "own_agents.Counted is a class",
    "--agent own_agents:Copycat": "own_agents.Copycat is a class",
    "--agent own_agents:nameless": "without a name and an identity",
    "--agent own_agents:broken": r"own_agents.py:\d+: .*ZeroDivisionError: \d+ characters are too many",
    "--agent own_agents:quiet": "not with text",
    "--agent own_agents:undecided": "TypeError",
    "--agent own_agents:silent": "AttributeError",
    "--agent own_agents:outside": "-1 as action, no action of",
    "--agent own_agents:lazy": "KeyError",
    "--agent perfect --agent scripted:perfect": "two agents are called perfect",
    "--agent \x1b[2J:x": "cannot be imported",
    "--agent": "requires an argument",
    f"{NONE} --partner nobody": "unknown partner",
    f"{NONE} --partner tft~2": "not a noise",
    f"{NONE} --partner grim --game rps": "grim cannot play rps",
    f"{NONE} --partner random --game rps": "random play loses nothing",
    f"{NONE} --game nowhere": "no bundled game `nowhere`",
    f"{NONE} --game nowhere.toml": "cannot be read",
    f"{NONE} --game broken.toml": r"broken.toml:1",
    f"{NONE} --game three.toml": "three has 3 agents",
    f"{NONE} --game chicken.toml --game larger.toml": "same name",
    "--agent bayes --game big.toml": "too large to be solved",
    f"{OWN} --strategy nothing": "no prompting strategy `nothing`",
    f"{OWN} --strategy qa --strategy cot": "one strategy and one set of names",
    f"{OWN} --strategy qa+oracle": "a check does so by itself",
    f"{OWN} --strategy lm": "cannot tell how probable",
    f"{NONE} --strategy nothing": "no prompting strategy",
    f"{OWN} --names nothing": "no set of names `nothing`",
    f"{NONE} --names nothing": "no set of names",
    f"{OWN} --names neutral --names nonsense": "one strategy and one set of names",
    f"{OWN} --names initials --game alike.toml": "the same first letter",
    f"{OWN} --shuffle nothing": "no shuffle `nothing`",
    f"{NONE} --shuffle nothing": "no shuffle",
    f"{OWN} --price nothing": "is no price",
    f"{OWN} --price 1/-1": "is no price",
    f"{NONE} --price nothing": "is no price",
    f"{OWN} --budget 3": "the price is unknown",
    f"{OWN} --price 1/1 --budget -1": "budget",
    f"{OWN} --price 1/1 --budget nan": "budget",
    f"{OWN} --price 1/1 --budget inf": "budget",
    f"{OWN} --price 1/1 --budget much": "budget",
    f"{OWN} --replay nowhere.jsonl": "cannot be read",
    f"{OWN} --replay prose.jsonl": r"prose.jsonl:1: is not JSON",
    f"{OWN} --replay .": r"run.db: cannot be read",
    f"{OWN} --replay empty.jsonl": "no record of the call",
    f"{NONE} --max-regret nan": "max-regret",
    f"{NONE} --max-regret inf": "max-regret",
    f"{NONE} --max-regret -0.1": "max-regret",
    f"{NONE} --rounds 0": "rounds",
    f"{NONE} --rounds 1001": "rounds",
    f"{NONE} --episodes 0": "episodes",
    f"{NONE} --seed -1": "seed",
    f"{NONE} --at-once 0": "at-once",
    f"{NONE} --out prose.jsonl": "prose.jsonl: cannot be written",
    f"{NONE} --junit .": "cannot be written",
    f"{NONE} --junit prose.jsonl/junit.xml": "cannot be written",
    f"{NONE} perfect": "unexpected",
}


def without_calls(result: Result) -> Result:
    """Without the line about what was asked before it went wrong."""
    return result._replace(err=re.sub(r"^[^\n]*: \d+ calls made, [^\n]*\n(?=otherminds: )", "", result.err))


def test_what_it_will_cost_is_told_before_and_what_is_too_much_is_not_spent(run: Run, here: Path) -> None:
    result = run(*f"check {OWN} --price 1000/1000 --budget 0 --game ipd --rounds 3 --out out".split())
    assert (result.code, result.out) == (2, "")
    told, complaint = " ".join(result.err.split()).split("otherminds: ")
    calls = re.match(
        r"counted: (\d+) calls, about [\d,]+ tokens of prompts and at most .*, about \$\d+\.\d\d; more", told
    )
    assert calls is not None
    assert int(calls[1]) == 3 * 2 * 3  # partners, questions, rounds
    assert "has no room for a call" in complaint


@pytest.mark.slow
@pytest.mark.parametrize("arguments", WRONG)
def test_what_is_wrong_is_told_in_one_line(arguments: str, run: Run, here: Path) -> None:
    big = [[[int(a == b), 0] for b in range(4)] for a in range(4)]
    (here / "big.toml").write_text(
        f'name = "big"\nagents = ["a", "b"]\nactions = ["a", "b", "c", "d"]\npayoffs = {big}'
    )
    (here / "alike.toml").write_text(GAME.replace("Swerve", "Stay"))
    (here / "empty.jsonl").write_text("")
    wanted = () if "--game" in arguments else ("--game", "ipd")
    rounds = () if "--rounds" in arguments else ("--rounds", "3")
    out = () if "--out" in arguments else ("--out", "out")
    complaint(without_calls(run("check", *wanted, *rounds, *out, *arguments.split(" "))), WRONG[arguments])
    assert not (here / "out" / "report.html").exists()


def test_a_place_for_verdicts_that_cannot_be_written_is_told_before_anybody_plays(
    run: Run, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = own_agents.Counted()
    monkeypatch.setattr(own_agents, "counted", model)
    complaint(run("check", *OWN.split(), *QUICK, "--junit", "chicken.toml/x"), "cannot be written")
    assert model.asked == 0


@pytest.mark.slow
def test_a_check_that_could_not_be_done_leaves_no_verdict(run: Run, here: Path) -> None:
    fine(run("check", "--agent", "perfect", *QUICK, "--out", "one", "--junit", "junit.xml"))
    complaint(run("check", "--agent", "own_agents:broken", *QUICK, "--out", "two", "--junit", "junit.xml"), "broke")
    assert list(ElementTree.parse(here / "junit.xml").getroot()) == []


@pytest.mark.slow
def test_a_budget_that_ran_out_can_be_raised(run: Run, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    command = ("check", *OWN.split(), *QUICK, "--max-regret", "9", "--price", "1000/1000", "--at-once", "1")
    for options in (("--budget", "4", "--out", "out"), ("--budget", "900", "--out", "out"), ("--out", "whole")):
        model = own_agents.Counted()
        monkeypatch.setattr(own_agents, "counted", model)
        result = run(*command, *options)
        asked.append(model.asked)
        if len(asked) == 1:
            result = without_estimate(result)
            assert result.err.startswith(f"counted: {asked[0]} calls made, 0 answered from the record, ")
            complaint(without_calls(result), r"the budget of \$4 has no room for a call")
            assert episodes_in(here / "out")
        else:
            assert "counted: " in fine(without_estimate(result))
    assert asked[0] + asked[1] == asked[2]
    assert (here / "out" / "rows.jsonl").read_bytes() == (here / "whole" / "rows.jsonl").read_bytes()
    assert f"{asked[1]} calls made, {2 * asked[0]} answered" not in result.out


@pytest.mark.slow
def test_a_check_that_was_interrupted_goes_on(run: Run, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Impatient(own_agents.Counted):
        def complete(self, request: Any) -> Any:
            if self.asked >= self.most:
                raise KeyboardInterrupt
            return super().complete(request)

    asked = []
    command = ("check", *OWN.split(), *QUICK, "--max-regret", "9", "--at-once", "1")
    for most, folder, code in ((13, "out", 3), (99, "out", 0), (99, "whole", 0)):
        model = Impatient(most=most)
        monkeypatch.setattr(own_agents, "counted", model)
        result = run(*command, "--out", folder)
        assert result.code == code
        assert result.err.startswith(f"counted: {most} calls made, " if code else "")
        assert len(result.err.splitlines()) == 2 * (code > 0)
        asked.append(model.asked)
    assert asked[0] == 13
    assert asked[0] + asked[1] == asked[2]
    assert (here / "out" / "rows.jsonl").read_bytes() == (here / "whole" / "rows.jsonl").read_bytes()


def test_the_agents_that_are_always_there_can_be_had_by_name() -> None:
    assert set(check.BESIDE) <= set(check.TOUR)
