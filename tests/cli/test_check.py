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
from otherminds.papers.people.experiment import standing
from otherminds.reports import literal_functional_plots
from otherminds.reports.page import interval, number
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
        if tag in ("h2", "h3"):
            self.title, self.heading = "", True

    def handle_endtag(self, tag: str) -> None:
        self.heading = self.heading and tag not in ("h2", "h3")

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


VERDICTS = {
    "0.3": (1, "fails", "it does not act on its predictions", ("1", "0")),
    "0.9": (4, "is open", "its loss may be on either side of the limit", ("0", "1")),
    "2.5": (0, "passes", "it acts on what it predicts, as far as the limit asks", ("0", "0")),
}


@pytest.mark.slow
@pytest.mark.parametrize("most", VERDICTS)
def test_the_exit_code_is_the_verdict(most: str, run: Run, here: Path) -> None:
    code, verb, why, counts = VERDICTS[most]
    result = run(*MIXER, "--max-regret", most, "--out", "out", "--junit", "reports/junit.xml")
    assert (result.code, result.err) == (code, "")
    assert max(map(len, result.out.splitlines())) <= 80
    line = next(line for line in result.out.splitlines() if line.startswith("nash_mixer"))
    assert f" {verb.removeprefix('is ')} " in line
    summary = json.loads((here / "out" / "summary.json").read_text("utf-8"))
    loss = next(r["value"] for r in summary if (r["subject"], r["metric"]) == ("nash_mixer", "relative_regret"))
    assert f" {loss:.2f} [" in line
    words = " ".join(result.out.split())
    assert f"nash_mixer {verb}: {why}. It loses {loss:.2f} [" in words
    assert f"; the limit is {most}. " in words
    assert ("more pass" in words) == (code == 4)
    assert "With 3 other partners like these, it would lose " in words
    assert not re.search("^tabular (passes|fails|is open):", result.out, re.MULTILINE)
    suites = ElementTree.parse(here / "reports" / "junit.xml").getroot()
    assert [(suite.get("failures"), suite.get("errors")) for suite in suites] == [counts]
    page = Page(here / "out" / "report.html")
    assert f"nash_mixer {verb}|: {why}. " in page.text["Verdict"]
    how = "4 rounds with each partner, in 5 passes at most; seed 42; nash_mixer asked by the strategy qa;"
    assert (
        f"Games: ipd; {how} names of actions neutral; shuffled: both; begun on 20" in page.text["How this was measured"]
    )


@pytest.mark.slow
@pytest.mark.parametrize("spec", ["scripted:format_breaker", "scripted:nash_mixer"])
def test_verdicts_as_json(spec: str, run: Run, here: Path) -> None:
    result = run("check", "--agent", spec, *QUICK, "--max-regret", "2.5", "--json", "--out", "out")
    measured = spec == "scripted:nash_mixer"
    assert result.code == (0 if measured else 4)
    # NaN is no JSON
    verdict = json.loads(result.out, parse_constant=lambda name: pytest.fail(name))["verdicts"][0]
    assert verdict["agent"] == spec.partition(":")[2]
    assert (verdict["result"], verdict["passed"]) == (("passes", True) if measured else ("not measured", None))
    assert verdict["passes"] == (3 if measured else 1)
    assert (verdict["loss"] is None) == (verdict["loss_over_partners"] is None) == (not measured)
    text = (here / "out" / "summary.json").read_text("utf-8")
    json.loads(text, parse_constant=lambda name: pytest.fail(name))


@pytest.mark.slow
def test_one_pass_leaves_the_verdict_open_and_more_go_on_from_it(run: Run, here: Path) -> None:
    command = ("check", "--agent", "perfect", *QUICK, "--out", "out")
    once = run(*command, "--passes", "1")
    assert (once.code, once.err) == (4, "")
    assert "One pass cannot decide" in " ".join(once.out.split())
    assert len(rows_in(here / "out")) == 4 * 3 * 4  # agents, partners, rounds
    assert "perfect passes: it acts" in fine(run(*command))
    assert len(rows_in(here / "out")) == sum(row["value"] for row in passes_in(here / "out")) * 3 * 4


def passes_in(folder: Path) -> list[dict[str, Any]]:
    summary = json.loads((folder / "summary.json").read_text("utf-8"))
    return [row for row in summary if row["metric"] == "passes"]


@pytest.mark.slow
def test_an_agent_given_twice_is_judged_once_and_nobody_else_is(run: Run, here: Path) -> None:
    result = run("check", *("--agent", "perfect") * 2, *QUICK, "--out", "out", "--junit", "junit.xml")
    assert "perfect passes: it acts on what it predicts" in fine(result)
    assert result.out.count(": it acts") == 1
    assert [suite.get("name") for suite in ElementTree.parse(here / "junit.xml").getroot()] == ["perfect"]


@pytest.mark.slow
def test_one_of_several_that_fails_is_enough(run: Run, here: Path) -> None:
    agents = ("--agent", "perfect", "--agent", "own_agents:stubborn")
    how = ("--game", "rps", "--rounds", "30", "--out", "out", "--junit", "junit.xml")
    result = without_estimate(run("check", *agents, "--agent", "scripted:format_breaker", *how))
    assert (result.code, result.err) == (1, "")
    suites = ElementTree.parse(here / "junit.xml").getroot()
    assert [suite.get("name") for suite in suites] == ["perfect", "own_agents.stubborn", "format_breaker"]
    assert [suite.get("failures") for suite in suites] == ["0", "1", "0"]
    assert [suite.get("errors") for suite in suites] == ["0", "0", "1"]
    cases = [suite.find("testcase") for suite in suites]
    texts = ["" if case is None else case.findtext("system-out", "") for case in cases]
    assert [text.rpartition("; ")[2] for text in texts] == ["3 passes", "3 passes", "1 pass"]
    assert re.match(r"it always names the same option, .* It loses \d\.\d\d .* the limit is 0\.5\.", texts[1])
    messages = {element.tag: element.get("message", "") for element in suites.iter() if "message" in element.attrib}
    assert re.match(r"breaks at predicting: it always names the same option.*It loses", messages["failure"])
    assert re.match("in 100 % of the rounds no move could be read", messages["error"])


@pytest.mark.slow
def test_the_tour_judges_nobody(run: Run, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def stand_in(spec: str) -> Scripted:
        asked.append(spec)
        return Scripted("smollm2", lambda _request: "Answer", lambda _prompt, text: -float(len(text)))

    monkeypatch.setattr(asking, "find_model", stand_in)
    out = fine(without_estimate(run("check", *QUICK, "--junit", "junit.xml")))
    assert asked == ["embedded"]
    table = out.partition("Losses are shares")[0]
    names = [
        line.split()[0] for line in table.splitlines() if re.match(r"\w+ +(passes|fails|open|not measured) +", line)
    ]
    assert names == ["bayes_simplicity", "tabular", "random", "smollm2"]
    assert not re.search(r"^\w+ (passes|fails|is open|was not)", out, re.MULTILINE)
    assert "smollm2: " in out  # what it was asked
    assert list(ElementTree.parse(here / "junit.xml").getroot()) == []
    (folder,) = (here / "runs").iterdir()
    assert re.fullmatch(r"check-\d{8}-\d{6}", folder.name)
    assert f"Report: runs/{folder.name}/report.html" in out
    page = Page(folder / "report.html")
    assert "Verdict" not in page.text
    assert "smollm2" in page.text["All scores"]
    assert "people, with other partners" in page.text["What is lost"]
    assert {row["strategy"] for row in rows_in(folder) if row["subject"] == "smollm2"} == {"lm"}


@pytest.mark.slow
def test_games_and_partners_of_ones_own(run: Run, here: Path) -> None:
    own = ("--game", "chicken.toml", "--partner", "tft~0.1", "--partner", "always-swerve")
    fine(run("check", "--agent", "own_agents:explorer", *own, "--max-regret", "9", "--out", "out"))
    played = rows_in(here / "out")
    assert {row["condition"] for row in played} == {"chicken/tft~0.1", "chicken/always Swerve"}
    own_rows = [row for row in played if row["subject"] == "own_agents.explorer"]
    (passes,) = (row["value"] for row in passes_in(here / "out") if row["subject"] == "own_agents.explorer")
    assert len(own_rows) == passes * 2 * 30
    payoffs = ((3, 1), (4, 0))
    assert all(row["reward"] == payoffs[row["action"]][row["observed"]] for row in own_rows)
    partners = Page(here / "out" / "report.html").text["Partner by partner"]
    assert "chicken: tft~0.1" in partners
    complaint(run("check", "--agent", "perfect", "--game", "larger.toml", *own[2:], "--out", "out"), "another game")


@pytest.mark.slow
def test_partners_from_a_file_of_machines(run: Run, here: Path) -> None:
    machine = '{"states": 2, "output": ["C", "D"], "next": [[0, 1], [1, 1]]}'
    (here / "mine.json").write_text(f'{{"machines": {{"grudge": {machine}}}}}')
    command = ("check", "--agent", "perfect", "--game", "ipd", "--machines", "mine.json", "--rounds", "5")
    out = fine(run(*command, "--out", "out"))
    assert "perfect passes: it acts" in out
    assert "With other partners" not in out
    assert {row["condition"] for row in rows_in(here / "out")} == {"ipd/grudge"}
    page = (here / "out" / "report.html").read_bytes()
    assert run("resume", "out").code == 0
    assert (here / "out" / "report.html").read_bytes() == page
    complaint(run(*command, "--partner", "gruge", "--out", "other"), "did you mean grudge")


@pytest.mark.slow
def test_wrong_options_are_refused_before_anything_slow_is_imported(here: Path) -> None:
    wrong = {
        ("smolm2",): "did you mean embedded:smollm2",
        ("rmx",): "did you mean rmax",
        ("embedded:smolm2",): "did you mean embedded:smollm2",
        ("openai:x@localhost:1",): "begins with http",
        ("openai:x@http://localhost:1/v1",): "no server answers",
        ("openai:x", "--replay", "y", "--budget", "1"): "--price",
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
    drawn, draw = list[Any](), literal_functional_plots.losses

    def losses(bars: Any, *about: Any) -> Any:
        drawn.append((bars, *about))
        return draw(bars, *about)

    monkeypatch.setattr(literal_functional_plots, "losses", losses)
    agents = ("--agent", "scripted:echo", "--agent", "own_agents:counted")
    how = ("--game", "rps", "--rounds", "5", "--max-regret", "0.1", "--out", "out")
    result = without_estimate(run("check", *agents, *how))
    assert (result.code, result.err) == (1, "")
    page = Page(here / "out" / "report.html")
    parts = ["Verdict", "More", "All scores", "Habits", "Beside reference players", "Told what the partner does"]
    parts += ["Partner by partner", "Worst episodes", "Calls", "How this was measured"]
    assert [title for title in page.text if title] == parts
    summary: dict[tuple[str, str], dict[str, Any]] = {
        (row["subject"], row["metric"]): row for row in json.loads((here / "out" / "summary.json").read_text("utf-8"))
    }
    names = ("echo", "counted", "bayes_simplicity", "tabular", "random")
    for name in names:
        loss, unused, literal, passes = (
            summary[name, metric]
            for metric in ("relative_regret", "relative_regret_predicted", "relative_tom_regret", "passes")
        )
        spread = [interval(row["value"], row["low"], row["high"]) for row in (loss, literal)]
        cells = [str(passes["value"]), spread[0], number(unused["value"]), spread[1]]
        assert re.search(rf"\|{name}\|[^|]+\|{re.escape('|'.join(cells))}\|", page.text["All scores"])
        has_rungs = (name, "relative_regret_oracle") in summary
        assert (f"|{name}|" in page.text["Told what the partner does"]) == has_rungs
        assert f"|{name}|" in page.text["Partner by partner"]
    assert "It always does the same|habit: 100 % of " in page.text["Habits"]
    for bars, limit, _, people in drawn:
        assert [(bar.agent, bar.verdict) for bar in bars] == [*zip(names, ("fails", "fails", "", "", ""), strict=True)]
        assert [bar.loss.value for bar in bars] == pytest.approx(
            [summary[name, "relative_regret"]["value"] for name in names]
        )
        assert (limit, people) == (0.1, standing())
    assert "counted: " in page.text["Calls"]


@pytest.mark.slow
def test_the_worst_episodes_are_shown_round_by_round(run: Run, here: Path) -> None:
    run("check", "--agent", "scripted:echo", "--game", "rps", "--rounds", "14", "--out", "out")
    text = Page(here / "out" / "report.html").text["Worst episodes"]
    titles = re.findall(r"echo with ([^|]*) in rps: lost ([\d.]+), the first 12 of 14 rounds", text)
    # scissors lose against rock, and against the best reply to them
    assert titles == [("always Rock", "2.00"), ("tft", titles[1][1]), ("always Scissors", "1.00")]
    names = find_game("rps").actions[0]
    first = [row for row in rows_in(here / "out") if (row["subject"], row["partner"]) == ("echo", "always Rock")]
    for row in first[:12]:
        replies = [reply["text"] for reply in row["said"]]
        moves = [names[row[part]] for part in ("predicted", "observed", "action")]
        line = "|".join([str(row["t"] + 1), *moves, number(row["reward"]), " · ".join(replies)])
        assert f"|{line}|" in text
    assert "|13|" not in text


@pytest.mark.slow
@pytest.mark.parametrize("wild", [HOSTILE, UNSEEN, "x" * 50_000, HOSTILE * 100], ids=["tags", "signs", "a", "b"])
def test_replies_are_shown_as_text_and_not_at_length(
    wild: str, run: Run, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pages, outs = [], []
    for name, reply in (("tame", "tame"), ("wild", wild)):
        monkeypatch.setattr(own_agents, "answer", lambda _prompt, reply=reply: reply)
        result = without_estimate(run("check", "--agent", "own_agents:answer", *QUICK, "--out", name))
        assert (result.code, result.err) == (4, "")
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
    words = " ".join(outs[1].split())
    assert "own_agents.answer was not measured: in 100 % of the rounds no move could be read (of its replies: " in words
    assert "no move in 4 of 4 rounds" in pages[1].text["Worst episodes"]


@pytest.mark.slow
@pytest.mark.parametrize("name", [HOSTILE, "[bold]x[/bold] [/]", "=1+1 ;ø🤔 ../../etc", "n" * 200])
def test_names_of_models_are_shown_as_text(name: str, run: Run, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(own_agents, "counted", own_agents.Counted(name))
    how = (*QUICK, "--max-regret", "0", "--out", "out", "--junit", "x")
    result = without_estimate(run("check", "--agent", "own_agents:counted", *how))
    assert (result.code, result.err) == (1, "")
    assert name[:10] in result.out
    table = result.out.partition("Losses are shares")[0]
    assert re.search(rf"^{re.escape(name[:5])}.* fails +(\d\.\d\d +){{3}}0 % *$", table, re.MULTILINE)
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
    "--agent bayes_simplicity --game big.toml": "too large to be solved",
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
    f"{NONE} --passes 0": "passes",
    f"{NONE} --passes 101": "passes",
    f"{NONE} --episodes 2": "episodes",
    f"{NONE} --seed -1": "seed",
    f"{NONE} --at-once 0": "at-once",
    f"{NONE} --out prose.jsonl": "prose.jsonl: cannot be written",
    f"{NONE} --junit .": "cannot be written",
    f"{NONE} --junit prose.jsonl/junit.xml": "cannot be written",
    f"{NONE} perfect": "unexpected",
}


def without_calls(result: Result) -> Result:
    """Without the lines about what will be asked, and what was asked before it went wrong."""
    result = without_estimate(result)
    return result._replace(err=re.sub(r"^[^\n]*: \d+ calls made, [^\n]*\n(?=otherminds: )", "", result.err))


def test_what_it_will_cost_is_told_before_and_what_is_too_much_is_not_spent(run: Run, here: Path) -> None:
    result = run(*f"check {OWN} --price 1000/1000 --budget 0 --game ipd --rounds 3 --out out".split())
    assert (result.code, result.out) == (2, "")
    told, complaint = " ".join(result.err.split()).split("otherminds: ")
    calls = re.match(
        r"counted: (\d+) calls, about [\d,]+ tokens of prompts and at most .*, about \$\d+\.\d\d; more", told
    )
    assert calls is not None
    assert int(calls[1]) == 3 * 3 * 2 * 3  # passes, partners, questions, rounds
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
    broken = run("check", "--agent", "own_agents:broken", *QUICK, "--out", "two", "--junit", "junit.xml")
    complaint(without_calls(broken), "broke")
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
        result = without_estimate(run(*command, "--out", folder))
        assert result.code == code
        assert result.err.startswith(f"counted: {most} calls made, " if code else "")
        assert len(result.err.splitlines()) == 2 * (code > 0)
        asked.append(model.asked)
    assert asked[0] == 13
    assert asked[0] + asked[1] == asked[2]
    assert (here / "out" / "rows.jsonl").read_bytes() == (here / "whole" / "rows.jsonl").read_bytes()


def test_the_agents_that_are_always_there_can_be_had_by_name() -> None:
    assert set(check.BESIDE) <= set(check.TOUR)
