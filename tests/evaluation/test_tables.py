"""Tables of what people did: forms and columns that are read, and which line of a bad table is named."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from otherminds.errors import InputError
from otherminds.evaluation.choices import Choices
from otherminds.evaluation.tables import Reading, choices_of, read_choices, task_named
from otherminds.papers.people.datasets import RPS
from otherminds.worlds.bandits.rules import Bandit
from otherminds.worlds.repeated_games.payoff_files import find_game
from otherminds.worlds.repeated_games.players.habits import MISSED

HEAD = "person,group,round,own,other"
LINES = ["ana,x,1,rock,paper", "ana,x,2,none,r", "ana,x,3,<NA>,rock", "ana,x,4,P,Scissors", "ben,y,1,rock,rock"]


def read(path: Path, lines: list[str], head: str = HEAD) -> Choices:
    path.write_text("\n".join([head, *lines]) + "\n")
    return read_choices(path, lambda _: RPS)


def told(text: str, game: Any = None, columns: dict[str, str] | None = None, **options: Any) -> Reading:
    return choices_of(Path("data.csv"), game, columns, text=text, **options)


def test_missed_moves_are_kept_and_unrecorded_rows_are_not(tmp_path: Path) -> None:
    found = read(tmp_path / "data.csv", LINES)
    assert found.people == ("ana", "ben")
    assert found.groups == ("x", "y")
    assert found.own.tolist() == [[0, MISSED, 1], [0, MISSED, MISSED]]
    assert found.theirs.tolist()[0] == [1, 0, 2]
    assert found.number.tolist() == [[1, 2, 4], [1, -1, -1]]
    assert found.scored.sum() == 3
    assert found.earned.tolist() == [[-1.0, 0.0, -1.0], [0.0, 0.0, 0.0]]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("ana,x,5,rok,paper", r"data.csv:7: there is no action `rok` \(did you mean rock\?\)"),
        ("ana,x,4,rock,paper", "data.csv:7: round 4 of person ana comes after round 4"),
        ("ana,x,two,rock,paper", "data.csv:7: round `two` is no whole number"),
        ("ana,x,5.5,rock,paper", "data.csv:7: round `5.5` is no whole number"),
        ("ana,x,-1,rock,paper", "data.csv:7: round -1 is not between 0 and"),
        ("ana,y,5,rock,paper", "data.csv:7: person ana is in group `y`, and in `x` in line 2"),
        (",x,5,rock,paper", "data.csv:7: there is no person"),
        ("ana,x,5,rock", "data.csv:7: 4 cells instead of 5"),
        ('ana,x,5,"rock,paper', "data.csv:7: this is no CSV"),
        ("ana,x,5,1,paper", r"data.csv:7: there is no action `1` \(say what numbers mean in `own`: --values"),
        ("ana,x,5,rock,1", "data.csv:7: there is no action `1`"),
    ],
)
def test_an_error_names_its_line(tmp_path: Path, line: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read(tmp_path / "data.csv", [*LINES, line])


def test_a_missing_column_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"data.csv:1: there is no column `own`"):
        read(tmp_path / "data.csv", LINES, "person,group,round,mine,other")


def test_parquet_holds_the_same(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    columns = {"person": ["1", "1", "1"], "round": [1.0, 2.0, 3.0], "own": ["c", "d", None], "other": ["d", "d", "c"]}
    parquet.write_table(pyarrow.table(columns), tmp_path / "data.parquet")
    found = read_choices(tmp_path / "data.parquet", lambda _: find_game("ipd"))
    assert found.own.tolist() == [[0, 1, MISSED]]
    (tmp_path / "data.parquet").write_bytes(b"PAR1")
    with pytest.raises(InputError, match=r"data.parquet: this is no Parquet file"):
        read_choices(tmp_path / "data.parquet", find_game("ipd"))


# Tables in the shapes in which data are published


def test_a_repeated_dilemma_with_matches() -> None:
    """As of Dal Bó and Fréchette: cooperation is 0 or 1, in columns of that name."""
    table = (
        "session,id,supergame,round,coop,ocoop,delta\n7,1,1,1,1,1,.5\n7,1,1,2,1,0,.5\n7,1,2,1,0,0,.5\n7,2,1,1,1,1,.5"
    )
    choices = told(table, "ipd").choices
    assert choices.own.tolist() == [[0, 0], [1, MISSED], [0, MISSED]]
    assert choices.theirs.tolist() == [[0, 1], [1, 0], [0, 0]]
    assert choices.person.tolist() == [0, 0, 1]
    assert choices.covariates == {"session": ("7", "7"), "delta": (".5", ".5")}


def test_a_noisy_dilemma() -> None:
    """What was chosen is scored, what was carried out is seen."""
    table = "subject,treatment,period,intended,actual,other_intended,other_actual\ns,lo,1,C,C,C,D\ns,lo,2,D,C,D,D\n"
    choices = told(table, "ipd").choices
    assert choices.own.tolist() == [[0, 1]]
    assert choices.done.tolist() == [[0, 0]]
    assert choices.theirs.tolist() == [[1, 1]]
    assert choices.groups == ("lo",)
    table += "s,lo,3,timeout,D,C,C\ns,lo,4,none,NA,C,C\ns,lo,5,C,NA,C,C\n"
    found = told(table, "ipd")
    assert found.choices.own.tolist() == [[0, 1, MISSED, MISSED]]
    assert found.choices.done.tolist() == [[0, 0, 1, MISSED]]
    assert found.skipped == {"without a recorded `actual`": 1}


def test_rock_paper_scissors_of_a_bot() -> None:
    head = "Participant ID\tTrial\tplayer move\tbot_move\trt\n"
    table = head + "3\t1\trock\tpaper\t.4\n3\t2\t-\tpaper\t\n3\t3\tsc\trock\t.6\n"
    choices = told(table, RPS).choices
    assert choices.own.tolist() == [[0, MISSED, 2]]
    assert choices.covariates == {}


@pytest.mark.parametrize("coding", ["reward", "win"])
def test_a_two_armed_bandit(coding: str) -> None:
    words = {"1": "win", "0": "loss", "": ""} if coding == "win" else {"1": "1", "0": "0.0", "": ""}
    rows = [("a", "left", "1"), ("a", "right", "0"), ("a", "timeout", ""), ("b", "right", "1")]
    lines = [f"{who},{arm},{words[reward]},60" for who, arm, reward in rows]
    choices = told("\n".join([f"sub,choice,{coding},age", *lines])).choices
    assert choices.games == (Bandit("bandit", ("left", "right"), 0.0, 1.0),) * 2
    assert choices.own.tolist() == [[0, 1, MISSED], [1, MISSED, MISSED]]
    assert choices.rewards is not None
    assert choices.rewards.tolist() == [[1.0, 0.0, 0.0], [1.0, 0.0, 0.0]]
    assert choices.number.tolist() == [[1, 2, 3], [1, -1, -1]]
    assert choices.covariates == {"age": ("60", "60")}


def test_a_four_armed_bandit() -> None:
    """Arms are sorted as numbers, and new in each block; the score is left alone where there is a payoff."""
    arms = [10, 2, 9, 1, 2, 10]
    lines = [f"{i},1,{1 + i // 3},{i % 3},{float(arm)},{arm * 10},{i}" for i, arm in enumerate(arms)]
    choices = told("\n".join([",subj,block,trial,chosen_arm,payoff,score", *lines])).choices
    assert choices.games[0] == Bandit("bandit", ("1", "2", "9", "10"), 10.0, 100.0)
    assert choices.own.tolist() == [[3, 1, 2], [0, 1, 3]]
    again = told("\n".join([",subj,block,trial,chosen_arm,payoff,score", *lines]), "bandit").choices
    assert (again.own == choices.own).all()


ULTIMATUM = "id,round,offer,response\n1,1,5,accept\n1,2,1,reject\n1,3,2,\n2,1,5,1\n2,2,5,0\n"


def test_an_ultimatum_game() -> None:
    choices = told(ULTIMATUM, "ultimatum:10").choices
    assert choices.games[0].actions == (("reject", "accept"),)
    assert choices.own.tolist() == [[1, 0, MISSED], [1, 0, MISSED]]
    assert choices.divisions is not None
    assert choices.divisions[0, 1].tolist() == [[[1, 0, 0]], [[1, 1, 9]]]
    assert (choices.divisions[1, 2] == 0.0).all(), "after the end nothing is possible"
    assert choices.earned.tolist() == [[5.0, 0.0, 0.0], [5.0, 0.0, 0.0]]
    proposers = told(ULTIMATUM, "ultimatum:10:proposer").choices
    assert proposers.games[0].actions == (tuple(map(str, range(11))),)
    assert proposers.own.tolist() == [[5, 1, 2], [5, 5, MISSED]]
    assert proposers.divisions is not None
    assert proposers.divisions[0, 0, 5].tolist() == [[0.6, 5, 5], [0.4, 0, 0]]
    assert proposers.divisions[0, 0, 1, :, 0].tolist() == pytest.approx([1 / 3, 2 / 3])
    assert proposers.divisions[0, 0, 2, :, 0].tolist() == [0.5, 0.5]


def test_pies_of_different_sizes() -> None:
    table = "pid;pie;offer;accepted\n1;2,5;1,5;yes\n1;5;5;no\n"
    choices = told(table).choices
    assert choices.divisions is not None
    assert choices.divisions[0, :, 1, 0].tolist() == [[1, 1.5, 1], [1, 5, 0]]
    proposers = told(table, "ultimatum:proposer").choices
    assert proposers.games[0].actions == (("0", "0.5", "1", "1.5", "2", "2.5", "3", "3.5", "4", "4.5", "5"),)
    assert proposers.own.tolist() == [[3, 10]]
    assert proposers.divisions is not None
    assert proposers.divisions[0, 0, 5].tolist() == [pytest.approx([1 / 3, 0, 2.5]), pytest.approx([2 / 3, 0, 0])]
    assert (proposers.divisions[0, 0, 6:, :, 0] == 0.0).all()


TRUST = "subject,amount_sent,sent_back\n1,10,15\n1,0,\n2,5,0\n"


def test_a_trust_game() -> None:
    investors = told(TRUST, "trust:10x3").choices
    assert investors.games[0].actions == (("0", "5", "10"),)
    assert investors.own.tolist() == [[2, 0], [1, MISSED]]
    assert investors.divisions is not None
    assert investors.divisions[0, 0, 2].tolist() == [[0.5, 0, 30], [0.5, 15, 15]]
    trustees = told(TRUST, "trust:10x3:trustee").choices
    assert trustees.own.tolist() == [[3, MISSED], [0, MISSED]]
    assert trustees.divisions is not None
    assert trustees.divisions[1, 0, :, 0, 0].tolist() == [1, 1, 1, 1, 0, 0, 0]
    assert trustees.divisions[1, 0, 3].tolist() == [[1, 0, 20]]


def test_a_dictator_game() -> None:
    choices = told("id,endowment,given\n1,10,5\n2,10,0\n").choices
    assert choices.games[0].actions == (("0", "5", "10"),)
    assert choices.own.tolist() == [[1], [0]]
    assert choices.earned.tolist() == [[5.0], [10.0]]


@pytest.mark.parametrize("lines", [False, True])
def test_jspsych_in_json(lines: bool) -> None:
    trials: list[dict[str, Any]] = [
        {"trial_type": "instructions", "rt": 812, "subject": "x", "trial_index": 0, "view_history": [{"page": 1}]},
        {"trial_type": "call-function", "subject": "x", "trial_index": 1, "response": None},
        {"trial_type": "game", "trial_index": 1, "response": "C", "partner": "d"},
        {"trial_type": "game", "rt": 1, "subject": "x", "trial_index": 2, "response": {"Q0": "C"}, "partner": "d"},
        {"trial_type": "game", "rt": None, "subject": "x", "trial_index": 4, "response": None, "partner": "c"},
    ]
    text = "\n".join(map(json.dumps, trials)) if lines else json.dumps(trials, indent=1)
    found = told(text, "ipd")
    assert found.choices.own.tolist() == [[0, MISSED]]
    assert found.choices.number.tolist() == [[2, 4]]
    assert found.choices.covariates == {"trial_type": ("game",)}
    assert found.skipped == {"that are no trials": 3}
    trials[-1]["partner"] = "x"
    text = "\n".join(map(json.dumps, trials)) if lines else json.dumps(trials, indent=1)
    line = 5 if lines else 1 + text[: text.rindex("{")].count("\n")
    with pytest.raises(InputError, match=rf"data.csv:{line}: there is no action `x`"):
        told(text, "ipd")


def test_semicolons_and_rounds_from_0() -> None:
    choices = told("\ufeffperson;round;choice;points\r\nana;0;A;1,5\r\n;;;\r\nana;1;B;-2\r\n").choices
    assert choices.number.tolist() == [[0, 1]]
    assert choices.games[0] == Bandit("bandit", ("A", "B"), -2.0, 1.5)


def test_tables_of_pandas_and_r() -> None:
    rows = '"1","a",1.0,"rock","paper"\n"2","a",2.0,NA,"rock"\n"3","a",3.0,"paper",NA\n'
    found = told('"","subject","round","own","other"\n' + rows, "rps")
    assert found.choices.number.tolist() == [[1]]
    assert found.skipped == {"without a recorded `own`": 1, "without a recorded `other`": 1}
    unnamed = told('"subject","round","own","other"\n' + rows, "rps", missing=["NA"])
    assert unnamed.choices.own.tolist() == [[0, MISSED]]
    assert unnamed.skipped == {"without a recorded `other`": 1}


@pytest.mark.parametrize(
    "text",
    [
        "sep=;\nsubject;choice;reward\na;1;0\na;2;1\n",
        '"subject" "choice" "reward"\n"1" "a" 1 0\n"2" "a" 2 1\n',
        "subjID\tchoice\tgain\tloss\na\t1\t1\t-1\na\t2\t1\t0\n",
        "player_id,subject,choice,reward\nx,a,1,0\ny,a,2,1\n",
        '{"subject": {"0": "a", "1": "a"}, "choice": {"0": 1, "1": 2}, "reward": {"0": 0, "1": 1}}',
        '{"subject": ["a", "a"], "choice": [1, 2], "reward": [0, 1]}',
        '{"data": [{"subject": "a", "choice": 1, "reward": 0}, {"subject": "a", "choice": 2, "reward": 1}]}',
        '[{"subject": "a", "choice": 1, "reward": 0}]\n[{"subject": "a", "choice": 2, "reward": 1}]\n',
        '[{"rt": 5, "data": {"subject": "a", "choice": 1, "reward": 0}},\n'
        '{"rt": 4, "data": {"subject": "a", "choice": 2, "reward": 1}}]',
        "participant.code,app.1.player.choice,app.1.player.payoff,app.2.player.choice,app.2.player.payoff,"
        "intro.1.player.age\na,1,0,2,1,33\n",
    ],
)
def test_forms_in_which_tables_are_published(text: str) -> None:
    choices = told(text).choices
    assert choices.people == ("a",)
    assert choices.own.tolist() == [[0, 1]]
    assert choices.rewards is not None
    assert choices.rewards.tolist() == [[0.0, 1.0]]


def test_unicode_of_spreadsheets(tmp_path: Path) -> None:
    path = tmp_path / "data.txt"
    path.write_bytes("subject\tchoice\treward\r\nZoé\t1\t0\r\nZoé\t2\t1\r\n".encode("utf-16"))
    assert read_choices(path).people == ("Zoé",)
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(InputError, match=r"data.txt: is not UTF-16 text"):
        read_choices(path)


# What the caller says


TWO = "person,round,own,other\nzoë,1,rock,paper\n"


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (TWO.encode("latin-1"), r"data.csv:2: is not UTF-8 text \(it looks like Latin-1: save it as UTF-8\)"),
        (TWO.replace("o", "’").encode("cp1252"), r"data.csv:1: .*\(it looks like Windows-1252: save it as UTF-8\)"),
        (TWO.replace("zoë", "Иван").encode("koi8-r"), r"data.csv:2: is not UTF-8 text \(save it as UTF-8\)$"),
        (bytes(range(256)), r"data.csv:2: is not UTF-8 text$"),
        (b"# nothing\n# else\n", r"data.csv: it has no header$"),
        (b"# two\n# lines\n" + TWO.replace("rock", "rokc").encode(), r"data.csv:4: there is no action `rokc`"),
    ],
)
def test_what_a_file_is_instead_of_a_table_is_said(tmp_path: Path, raw: bytes, message: str) -> None:
    (tmp_path / "data.csv").write_bytes(raw)
    with pytest.raises(InputError, match=message):
        read_choices(tmp_path / "data.csv", RPS)


@pytest.mark.parametrize(
    "text",
    [
        f"# my study, 2026\n\n# rounds of all\n{TWO}",
        f"# my study\r\n{TWO}".replace("\n", "\r\n"),
        f"sep=,\n# my study\n{TWO}",
        f"# {TWO}",
        "#,person,round,own,other\n1,zoë,1,rock,paper\n",
    ],
)
def test_comments_before_the_header_are_left_out(text: str) -> None:
    assert told(text, RPS).choices.people == ("zoë",)


def test_rows_of_a_study_are_not_taken_for_choices() -> None:
    rows = "schema,experiment,subject,t,action,reward\n1,study,protom,1,up,-1\n1,study,protom,2,left,-1\n"
    with pytest.raises(InputError, match=r"data.csv:1: these are the rows of a run or a study, .*reproduce study"):
        told(rows)
    assert told(rows, columns={"person": "subject", "round": "t"}).choices.people == ("protom",)


def test_numbers_stand_for_actions_that_are_named() -> None:
    table = "person,own,other\nana,1,2.0\nana,2,1\n"
    assert told(table, "ipd", values={"1": "coop", "2": "d"}).choices.own.tolist() == [[0, 1]]
    with pytest.raises(InputError, match=r"in `own`: --values 1=Cooperate,2=Defect"):
        told(table, "ipd")
    labelled = told("who,key,reward\nana,f,1\nana,j,0\n", None, {"person": "who"}, values={"f": "left", "j": "none"})
    assert labelled.choices.games[0].actions == (("left", "none"),)


def test_conditions_divide_people() -> None:
    table = "person,condition,own,other\nana,high,c,c\nana,low,d,c\nana,high,c,d\nben,low,c,c\n"
    choices = told(table, "ipd").choices
    assert choices.people == ("ana/high", "ana/low", "ben/low")
    assert choices.groups == ("high", "low", "low")
    assert choices.own.tolist() == [[0, 0], [1, MISSED], [0, MISSED]]
    treated = table.replace("condition", "treatment")
    with pytest.raises(InputError, match=r"data.csv:3: person ana is in group .* --columns condition=treatment"):
        told(treated, "ipd")
    assert told(treated, "ipd", {"condition": "treatment"}).choices.people == choices.people


def test_a_column_of_games() -> None:
    table = "person,game,own,other\nana,ipd,c,d\nana,ordinal-001,up,left\n"
    assert [game.name for game in told(table).choices.games] == ["ipd", "ordinal-001"]
    counted = told("person,game,own,other\nana,1,c,d\nana,2,c,d\n", "ipd").choices
    assert len(counted.games) == 2


def test_a_bandit_given_has_arms_that_nobody_chose(tmp_path: Path) -> None:
    (tmp_path / "data.csv").write_text("person,own,reward\nana,b,1\nana,a,3\n")
    bandit = Bandit("mine", ("a", "b", "c"), 0.0, 5.0)
    choices = read_choices(tmp_path / "data.csv", bandit)
    assert choices.games == (bandit,)
    assert choices.own.tolist() == [[1, 0]]
    assert choices_of(tmp_path / "data.csv").choices.games[0].shape == (2,)


@pytest.mark.parametrize("name", ["ultimatum:10:trustee", "dictator:10x3", "bandit:4", "ipdd", "trust:tenx3"])
def test_a_task_that_is_none(name: str) -> None:
    with pytest.raises(InputError):
        task_named(name)


MALFORMED = [
    ("", "data.csv: it is empty", "ipd"),
    ("person,own,other\n", "data.csv: there are no choices in it", "ipd"),
    ("person,own,other\na,NA,c\n", "there are no choices in it .rows left out: 1 without a recorded `own`", "ipd"),
    ("person,own,own\na,c,c\n", "data.csv:1: the column `own` comes twice", "ipd"),
    ("person,choice,action,other\na,c,c,c\n", "data.csv:1: `choice` and `action` could both be own", "ipd"),
    ("own,other\nc,c\n", "data.csv:1: there is no column `person`", "ipd"),
    ("\n\nperson,own\na,c\n", "data.csv:3: there is no column `other`", "ipd"),
    ("person,own,other\na,c,c\n", "data.csv: a table needs its game", None),
    ("person,game,own,other\na,ipd,c,c\na,chess,c,c\n", "data.csv: a table needs its game", None),
    ("person,own\na,c\n", "data.csv:1: what people did is not clear", None),
    ('person,own,other\n"a\nb",c,c\na,x,c\n', "data.csv:4: there is no action `x`", "ipd"),
    ("person,own,reward\na,x,1\na,y,many\n", "data.csv:3: reward `many` is no number", None),
    ("person,own,reward\na,x,1\na,y,1e999\n", "data.csv:3: reward `1e999` is no number", None),
    ("person,own,reward\na,x,1\na,x,1\n", "data.csv: `own` has 1 different arms", None),
    ("person,own,reward\n" + "".join(f"a,k{i},1\n" for i in range(51)), "`own` has 51 different arms", None),
    ("person,offer,accepted\na,5,yes\n", "data.csv:2: there is no pie of more than 0", None),
    ("person,offer,accepted\na,5,yes\na,11,yes\n", "data.csv:3: 11 is more than the pie of 10", "ultimatum:10"),
    ("person,offer,accepted\na,5,yes\na,-1,yes\n", "data.csv:3: offer -1 is not between 0 and", "ultimatum:10"),
    ("person,offer,accepted\na,5,yes\na,1,maybe\n", "data.csv:3: there is no answer `maybe`", "ultimatum:10"),
    (
        "person,offer,accepted\na,.01,yes\na,5,y\n",
        "data.csv: amounts of up to 10 in steps of 0.01",
        "ultimatum:10:proposer",
    ),
    ("person,sent,returned\na,5,16\n", "data.csv:2: 16 is more than the 15 that were received", "trust:10"),
    ("person,sent,returned\na,0,\n", "data.csv: nobody returned anything", "trust:10"),
    ("person,sent,returned,factor\na,5,1,2.5\n", "data.csv:2: multiplier 2.5 is no whole number", "trust:10"),
    ("person,given\na,x\n", "data.csv:2: given `x` is no number", "dictator:10"),
    ("person,own,other\na,c\n", "data.csv:2: 2 cells instead of 3", "ipd"),
    ('[{"person": 1},\n 7]', "data.csv:2: is not a row: a JSON object", "ipd"),
    ('{"person": 1}\n{"person": }', "data.csv:2:12: is not JSON", "ipd"),
    ("subject,choice,gain,loss\na,1,1,0\na,2,x,0\n", "data.csv:3: gain `x` is no number", None),
    ('{"person": ["a", "b"], "own": ["c"]}', "data.csv: its columns do not have the same rows", "ipd"),
    ('[{"person": 1}]\n[{"person": }]', "data.csv:2:13: is not JSON", "ipd"),
    ('[{"person": NaN}]', "data.csv:1: is not JSON: NaN", "ipd"),
    ('{"person": 1}\n{"a": ' + "[" * 300 + "]" * 300 + "}", "data.csv:2: is nested too deeply", "ipd"),
]


@pytest.mark.parametrize(("text", "message", "game"), MALFORMED)
def test_what_is_wrong_is_said_in_one_line(text: str, message: str, game: str | None) -> None:
    with pytest.raises(InputError, match=message) as caught:
        told(text, game)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"own": "mine"}, r"data.csv:1: there is no column `mine`"),
        ({"own": ""}, r"data.csv:1: there is no column ``"),
        ({"us": "own"}, r"there is no column `us`"),
        ({"game": "own"}, r"a table has one game, or a column of games"),
    ],
)
def test_a_column_that_is_none(columns: dict[str, str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        told("person,own,other,\na,c,c,\n", "ipd", columns)


def test_parts_that_a_mind_needs_fit_together() -> None:
    choices = told(ULTIMATUM, "ultimatum:10:proposer").choices
    assert choices.divisions is not None
    assert choices.divisions.shape == (2, 3, 11, 2, 3)
    possible = choices.divisions[choices.played][..., 0].sum(axis=-1)
    assert np.allclose(possible, 1.0)
    assert choices.subset([1]).own.tolist() == [[5, 5]]


@pytest.mark.parametrize(
    "head",
    [
        "participant.code|subsession.round_number|player.choice|player.partner_choice",
        "Subj_ID|trial_index|KEY|Opponent",
        "prolific pid|period|human|botMove",
    ],
)
def test_names_are_guessed(head: str) -> None:
    assert told(f"{head}\ra|1|c|d\r", "ipd").choices.theirs.tolist() == [[1]]


def test_a_table_may_not_fill_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = "person,own,other\n" + "".join(f"p{i},c,c\n" for i in range(9)) + "p0,c,c\n" * 9
    assert told(lines, "ipd").choices.own.shape == (9, 10)
    monkeypatch.setattr("otherminds.evaluation.tables.MOST_CELLS", 80)
    monkeypatch.setattr("otherminds.files.tables.MOST_CELLS", 80)
    with pytest.raises(InputError, match="makes arrays of more than 80 numbers"):
        told(lines, "ipd")
    with pytest.raises(InputError, match="has more than"):
        told("\n".join(f'{{"column{i}": 1}}' for i in range(9)), "ipd")


OTREE = """participant.code,player.decision,player.payoff,group.id_in_subsession,subsession.round_number,session.code
a,C,10,1,1,s
b,D,10,1,1,s
c,D,10,1,1,t
d,D,10,1,1,t
a,D,10,1,2,s
b,C,10,1,2,s
c,C,10,1,2,t
"""


def test_the_other_of_a_pair_is_another_row() -> None:
    found = told(OTREE, find_game("ipd"))
    assert found.choices.people == ("a", "b", "c", "d")
    assert found.choices.own.tolist() == [[0, 1], [1, 0], [1, MISSED], [1, MISSED]]
    assert found.choices.theirs.tolist()[:2] == [[1, 0], [0, 1]]
    assert dict(found.skipped) == {"without a recorded `other`": 1}, "d left"
    with pytest.raises(InputError, match="a table needs its game"):  # and is no bandit, though there are payoffs
        told(OTREE)


def test_who_plays_in_a_pair_sees_what_the_other_carried_out() -> None:
    lines = ["x,1,a,C,D", "x,1,b,C,C", "x,2,a,D,D", "x,2,b,D,C"]
    found = told("\n".join(["couple,round,person,own,executed", *lines]), find_game("ipd"), {"pair": "couple"})
    assert found.choices.theirs.tolist() == [[0, 0], [1, 1]]


def test_three_people_are_no_pair() -> None:
    lines = ["1,1,a,C,1", "1,1,b,C,0", "1,1,c,D,1"]
    text = "\n".join(["pair,round,person,own,reward", *lines])
    assert told(text).choices.rewards is not None, "all who do a task are in one group of oTree"
    with pytest.raises(InputError, match=r"data\.csv:4: pair `1` has more than two people in a round"):
        told(text, find_game("ipd"), {"pair": "pair"})
    with pytest.raises(InputError, match=r"there is no column `pears`"):
        told(text, find_game("ipd"), {"pair": "pears"})


def test_without_rounds_the_rows_of_a_pair_are_in_order_and_have_to_be_as_many() -> None:
    lines = ["pair,person,own", "1,a,C", "1,b,D", "1,a,D", "1,b,C", "1,a,D", "1,b,D"]
    found = told("\n".join(lines), "ipd").choices
    assert found.own.tolist() == [[0, 1, 1], [1, 0, 1]]
    assert found.theirs.tolist() == [[1, 0, 1], [0, 1, 1]]
    with pytest.raises(InputError, match=r"data\.csv:2: a has 3 rows, the other in the pair has 2"):
        told("\n".join(lines[:-1]), "ipd")


def test_a_bandit_that_is_named_has_no_pairs() -> None:
    lines = ["pair,person,own,reward", "1,a,x,1", "1,b,y,0", "1,a,y,1"]
    assert told("\n".join(lines), "bandit").choices.rewards is not None
