"""The commands `fit`, `compare` and `recover` on a user's own table."""

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
    (tmp_path / "mine.py").write_text(MINE)
    monkeypatch.syspath_prepend(str(tmp_path))
    sys.modules.pop("mine", None)
    return tmp_path


DATA = ("data.csv", "--game", "rps")


@pytest.mark.slow
def test_a_table_is_fitted(run: Run, here: Path) -> None:
    out = fine(run("fit", *DATA, "--mind", "wsls", "--mind", "mine:Lazy", "--page", "page.html"))
    assert "win_stay" in out
    assert "stay" in out
    page = (here / "page.html").read_text("utf-8")
    assert page.count("<svg") == 4
    assert "<image" not in page
    (found,) = json.loads(fine(run("fit", *DATA, "--mind", "wsls", "--by", "group", "--json")))
    assert [unit["unit"] for unit in found["units"]] == ["a", "b"]
    stay = found["units"][0]["parameters"]["win_stay"]
    assert stay["low"] <= stay["value"] <= stay["high"]


@pytest.mark.slow
def test_minds_are_compared(run: Run, here: Path) -> None:
    told = ("compare", *DATA, "--mind", "chance", "--mind", "wsls", "--mind", "weighted_counts")
    rows = json.loads(fine(run(*told, "--json")))
    assert {row["group"] for row in rows} == {"all", "a", "b"}
    assert sum(row["share"] for row in rows if row["group"] == "all") == pytest.approx(1.0)
    out = fine(run(*told, "--holdout", "person", "--page", "page.html"))
    assert "exceedance" in out
    page = (here / "page.html").read_text("utf-8")
    for title in ("Best minds", "ΔBIC", "Who does what", "By group", "Check of the best mind"):
        assert f"<h2>{title}</h2>" in page


@pytest.mark.slow
def test_recovery_is_shown(run: Run, here: Path) -> None:
    out = fine(run("recover", *DATA, "--mind", "chance", "--mind", "wsls", "--page", "page.html"))
    assert "Simulated by" in out
    found = json.loads(fine(run("recover", *DATA, "--mind", "wsls", "--json")))
    assert [one["parameter"] for one in found["parameters"]] == ["win_stay", "lose_shift"]
    assert (here / "page.html").read_text("utf-8").count("<svg") == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("fit data.csv", "a table needs its game"),
        ("fit nothing.csv --game rps", "there is no data set and no file `nothing.csv`"),
        ("fit data.csv --game rps --mind wls", "did you mean wsls"),
        ("fit data.csv --game rps --mind k_tom_1", "k_tom_1 cannot play rps"),
        ("fit data.csv --game rps --mind mine:Nobody", "is no mind with parameters"),
        ("fit data.csv --game rps --by heart", "there is no unit `heart`"),
        ("fit data.csv --game rps --column own=mine", "data.csv:1: there is no column `mine`"),
        ("fit data.csv --game rps --column us=mine", "there is no column `us`"),
        ("fit human-rps --game rps", "human-rps has a game and columns of its own"),
        ("fit data.csv --game rps --by all --pool", "--pool goes with --by person"),
        ("compare data.csv --game rps --holdout none", "there is no holdout `none`"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(run: Run, here: Path, arguments: str, message: str) -> None:
    complaint(run(*arguments.split()), message)


def test_a_typo_is_named_with_its_line(run: Run, here: Path) -> None:
    lines = (here / "data.csv").read_text().split("\n")
    lines[6] = lines[6].replace("rock", "rokc").replace("paper", "papper")
    (here / "data.csv").write_text("\n".join(lines))
    complaint(run("fit", *DATA), "data.csv:7: there is no action")
