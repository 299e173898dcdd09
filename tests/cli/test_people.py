"""The commands `fit`, `compare`, `recover` and `score` on a user's own table."""

from __future__ import annotations

import json
import random
import sys
from pathlib import Path

import pytest

from commands import Run, complaint, fine

MINE = '''"""A mind of the user's."""
from dataclasses import dataclass
from math import log
from otherminds import Categorical

@dataclass(frozen=True)
class Lazy:
    game: object
    stay: float
    last: int = 0
    PARAMETERS = (("stay", 0.0, 1.0, (0.2, 0.8)),)

    def observe(self, outcome):
        return self if outcome is None else Lazy(self.game, self.stay, max(outcome.own, 0))

    def act(self):
        size = len(self.game.payoff())
        shift = (1 - self.stay) / (size - 1)
        return Categorical.from_scores((a, log(self.stay if a == self.last else shift)) for a in range(size))

class Listing(Lazy):
    def act(self):
        return [1.0, 0.0, 0.0]

class Raising(Lazy):
    def act(self):
        raise RuntimeError("tired")

class Backwards(Lazy):
    PARAMETERS = (("stay", 1.0, 0.0, (0.2, 0.8)),)

class Twice(Lazy):
    PARAMETERS = 2 * Lazy.PARAMETERS
'''


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    rng = random.Random(1)
    lines = ["person,group,round,own,other"]
    lines += [
        f"p{n},{'ab'[n % 2]},{t},{rng.choice(['rock', 'rock', 'paper'])},{rng.choice(['rock', 'scissors'])}"
        for n in range(4)
        for t in range(1, 16)
    ]
    (tmp_path / "data.csv").write_text("\n".join(lines))
    (tmp_path / "alone.csv").write_text("\n".join(line for line in lines if line[:2] in ("pe", "p0", "p1")))
    (tmp_path / "once.csv").write_text("\n".join(line for line in lines if line.split(",")[2] in ("round", "1")))
    (tmp_path / "missed.csv").write_text("person,round,own,other\np0,1,none,rock\np0,2,none,rock")
    (tmp_path / "mine.py").write_text(MINE)
    monkeypatch.syspath_prepend(str(tmp_path))
    sys.modules.pop("mine", None)
    return tmp_path


DATA = ("data.csv", "--game", "rps")
WSLS = (*DATA, "--mind", "wsls")


@pytest.mark.slow
def test_a_table_is_fitted(run: Run, here: Path) -> None:
    out = fine(run("fit", *WSLS, "--mind", "mine:Lazy", "--page", "page.html"))
    assert "win_stay" in out
    assert "Median [quartiles]" in out
    page = (here / "page.html").read_text("utf-8")
    assert "meet partners that react as those in the data did" in page
    assert page.count("<figure>") == 5  # three parameters, and a check of both minds
    assert "<image" not in page
    (found,) = json.loads(fine(run("fit", *WSLS, "--by", "group", "--json")))
    assert [unit["unit"] for unit in found["units"]] == ["a", "b"]
    assert all(0.0 < unit["agreement"] <= 1.0 for unit in found["units"])
    stay = found["units"][0]["parameters"]["win_stay"]
    assert stay["low"] <= stay["value"] <= stay["high"]


@pytest.mark.slow
def test_effects_and_predictions_are_shown(run: Run, here: Path) -> None:
    told = ("fit", *WSLS, "--effect", "group", "--holdout", "rounds", "--partner", "tft")
    (found,) = json.loads(fine(run(*told, "--json")))
    assert [(effect["parameter"], effect["of"]) for effect in found["effects"]] == [
        ("win_stay", "b against a"),
        ("lose_shift", "b against a"),
    ]
    assert found["held_out"]["low"] <= found["held_out"]["per_choice"] <= found["held_out"]["high"]
    assert "evidence" in fine(run(*told, "--page", "page.html"))
    page = (here / "page.html").read_text("utf-8")
    assert "nats a choice, chance −1.099" in page
    assert "who meet tft" in page


@pytest.mark.slow
def test_without_partners_who_react_there_is_no_check(run: Run, here: Path) -> None:
    fine(run("fit", *WSLS, "--partner", "replayed", "--page", "page.html"))
    page = (here / "page.html").read_text("utf-8")
    assert "there is no check by simulated people" in page.partition("</header>")[0]
    assert page.count("<figure>") == 2


@pytest.mark.slow
def test_columns_and_codes_are_named(run: Run, here: Path) -> None:
    table = (here / "data.csv").read_text()
    for word, code in (("rock", "1"), ("paper", "2"), ("scissors", "3"), ("own", "mine")):
        table = table.replace(word, code)
    (here / "coded.csv").write_text(table)
    codes = ("--columns", "own=mine", "--values", "1=rock,2=paper,3=scissors")
    coded = fine(run("fit", "coded.csv", "--game", "rps", "--mind", "wsls", "--json", *codes))
    assert json.loads(coded) == json.loads(fine(run("fit", *WSLS, "--json")))


@pytest.mark.slow
def test_minds_are_compared(run: Run, here: Path) -> None:
    told = ("compare", *WSLS, "--mind", "chance", "--mind", "weighted_counts")
    rows = json.loads(fine(run(*told, "--json")))
    assert {row["group"] for row in rows} == {"all", "a", "b"}
    assert sum(row["share"] for row in rows if row["group"] == "all") == pytest.approx(1.0)
    out = fine(run(*told, "--holdout", "person", "--page", "page.html"))
    assert "Exceedance" in out
    assert "computed from the held-out log likelihoods" in " ".join(out.split())
    page = (here / "page.html").read_text("utf-8")
    for title in ("Best minds", "ΔBIC", "Who does what", "By group", "Check of the best mind"):
        assert f"<h2>{title}</h2>" in page


@pytest.mark.slow
def test_recovery_is_shown(run: Run, here: Path) -> None:
    out = fine(run("recover", *DATA, "--mind", "chance", "--mind", "wsls", "--page", "page.html"))
    assert out.startswith("Simulated people meet partners that react")
    assert "Simulated by" in out
    assert (here / "page.html").read_text("utf-8").count("<figure>") == 2
    found = json.loads(fine(run("recover", *WSLS, "--partner", "replayed", "--json")))
    assert found["partners"].startswith("replayed partners, who do not react")
    assert [one["parameter"] for one in found["parameters"]] == ["win_stay", "lose_shift"]


@pytest.mark.slow
def test_power_is_shown(run: Run, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("otherminds.evaluation.model_comparison.SIMULATIONS", 2)
    out = fine(run("recover", *WSLS, "--effect", "group", "--page", "page.html"))
    assert "Interval covers" in out
    assert "simulated 2 times" in (here / "page.html").read_text("utf-8")


@pytest.mark.slow
def test_new_people_are_predicted(run: Run, here: Path) -> None:
    (here / "fitted.json").write_text(fine(run("fit", *WSLS, "--json")))
    (here / "new.csv").write_text((here / "data.csv").read_text().replace("p1,", "q1,"))
    (found,) = json.loads(fine(run("score", "fitted.json", "new.csv", "--game", "rps", "--json")))
    assert (found["people"], found["known"]) == (4, 3)
    out = fine(run("score", "fitted.json", "new.csv", "--game", "rps", "--page", "page.html"))
    assert "Of 4 people 3 had been fitted" in " ".join(out.split())
    assert (here / "page.html").read_text("utf-8").count("<figure>") == 1
    complaint(run("score", "data.csv", "new.csv", "--game", "rps"), "these are no fits")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("game", "columns", "options", "mind", "meet"),
    [
        ("bandit", "choice,reward", ("x,0", "y,1"), "rescorla_wagner", "arms that pay what they paid in the data"),
        ("ultimatum:10", "offer,response", ("1,reject", "5,accept"), "inequity_aversion", "the same offers"),
    ],
)
def test_bandits_and_offers_are_fitted(
    run: Run, here: Path, game: str, columns: str, options: tuple[str, str], mind: str, meet: str
) -> None:
    rng = random.Random(1)
    lines = [f"p{n},{'ab'[n % 2]},{t},{rng.choice(options)}" for n in range(4) for t in range(1, 13)]
    (here / "other.csv").write_text("\n".join([f"person,group,trial,{columns}", *lines]))
    out = fine(run("fit", "other.csv", "--game", game, "--page", "page.html"))
    assert "Median [quartiles]" in out
    assert f"who meet {meet}" in (here / "page.html").read_text("utf-8")
    found = json.loads(fine(run("recover", "other.csv", "--game", game, "--mind", mind, "--json")))
    assert found["partners"] == meet


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("fit data.csv", "a table needs its game"),
        ("fit nothing.csv --game rps", "there is no data set and no file `nothing.csv`"),
        ("fit data.csv --game rps --mind wls", "did you mean wsls"),
        ("fit data.csv --game rps --mind k_tom_1", "k_tom_1 cannot play rps"),
        ("fit data.csv --game rps --mind mine:Nobody", "`mine` has no `Nobody`"),
        ("fit data.csv --game rps --mind mine:Listing", "mine:Listing broke: AttributeError"),
        ("fit data.csv --game rps --mind mine:Raising", "mine.py:27: mine:Raising broke: RuntimeError: tired"),
        ("compare data.csv --game rps --mind mine:Raising", "mine.py:27: mine:Raising broke: RuntimeError: tired"),
        ("fit data.csv --game rps --mind mine:Backwards", "stay is not between a low and a high value: 1.0 and 0.0"),
        ("fit data.csv --game rps --mind mine:Twice", "two parameters with the same name"),
        ("fit alone.csv --game rps --holdout person", "group `a` has one person, whom no others predict"),
        ("fit once.csv --game rps --holdout rounds", "nobody made a choice in the rounds that are held out"),
        ("compare once.csv --game rps --mind wsls", "nobody made a choice in the rounds that are held out"),
        ("fit missed.csv --game rps", "missed.csv: there are no choices in it .all of them were missed"),
        ("score nothing.json data.csv --game rps", "nothing.json: cannot be read: No such file"),
        ("fit data.csv --game rps --by heart", "there is no unit `heart`"),
        ("fit data.csv --game rps --columns own=mine", "data.csv:1: there is no column `mine`"),
        ("fit data.csv --game rps --columns us=mine", "there is no column `us`"),
        ("fit data.csv --game rps --columns own", "--columns `own` is no pair"),
        ("fit data.csv --game rps --partner nobody", "unknown partner `nobody`"),
        ("fit data.csv --game rps --effect sex", "there is no column `sex` of people"),
        ("fit data.csv --game rps --by all --effect group", "--effect goes with --by person"),
        ("fit data.csv --game rps --holdout none", "there is no holdout `none`"),
        ("fit human-rps --game rps", "human-rps has a game and columns of its own"),
        ("fit data.csv --game rps --by all --pool", "--pool goes with --by person"),
        ("compare data.csv --game rps --holdout none", "there is no holdout `none`"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(run: Run, here: Path, arguments: str, message: str) -> None:
    complaint(run(*arguments.split()), message)


def test_a_mind_without_parameters_has_no_effects(run: Run, here: Path) -> None:
    told = ("fit", *DATA, "--mind", "chance", "--effect", "group", "--json")
    (found,) = json.loads(fine(run(*told)))
    assert "effects" not in found
    assert found["units"][0]["parameters"] == {}


def test_a_typo_is_named_with_its_line(run: Run, here: Path) -> None:
    lines = (here / "data.csv").read_text().split("\n")
    lines[6] = lines[6].replace("rock", "rokc").replace("paper", "papper")
    (here / "data.csv").write_text("\n".join(lines))
    complaint(run("fit", *DATA), "data.csv:7: there is no action")
