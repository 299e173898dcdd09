"""Language models in the scenarios: which agents there are, what they are asked, and what is made of that."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from commands import Run, complaint
from otherminds.errors import InputError
from otherminds.evaluation.experiment import Options
from otherminds.language.asking import Asker
from otherminds.language.prices import Price
from otherminds.language.scripted import Scripted
from otherminds.papers.hypothetical_minds import experiment as hypothetical
from otherminds.papers.hypothetical_minds.agent import HypotheticalMinds
from otherminds.papers.hypothetical_minds.experiment import (
    SMALL,
    ScenarioEntry,
    estimate,
    plan,
    rows,
    spoken_plan,
    summarise,
)
from otherminds.papers.hypothetical_minds.players import AGENTS, SWEEP, ModelAgent, all_said
from otherminds.papers.hypothetical_minds.report import report
from otherminds.papers.hypothetical_minds.reproduction import EXPERIMENTS
from otherminds.papers.hypothetical_minds.verbal.hypotheses import ABLATIONS, PUBLISHED
from otherminds.papers.hypothetical_minds.verbal.matrix_body import MatrixBody
from otherminds.papers.hypothetical_minds.verbal.scripted_models import straight
from otherminds.papers.hypothetical_minds.verbal.sentences import Hybrid
from otherminds.worlds.collaborative_cooking.map_files import cooking_asymmetric
from otherminds.worlds.in_the_matrix.map_files import in_the_matrix
from otherminds.worlds.in_the_matrix.rules import Ends
from otherminds.worlds.in_the_matrix.world import InTheMatrix
from papers.hypothetical_minds.scripted import scripted_model

Row = dict[str, Any]
STEPS = 220
WORLD = in_the_matrix("rws_repeated")


@cache
def shortened(substrate: str) -> InTheMatrix:
    world = in_the_matrix(substrate)
    return dataclasses.replace(world, rules=dataclasses.replace(world.rules, ends=Ends(STEPS, 1, 1.0, STEPS)))


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Episodes of some hundred steps instead of thousands."""
    kitchen = dataclasses.replace(cooking_asymmetric(), steps=300)
    monkeypatch.setattr(hypothetical, "in_the_matrix", shortened)
    monkeypatch.setattr(hypothetical, "cooking_asymmetric", lambda: kitchen)


def played(name: str, agent: str, model: Scripted = straight) -> list[Row]:
    return rows(ScenarioEntry(name, agent, 0, 3, model.name), model)


# Agents


@pytest.mark.parametrize("agent", AGENTS)
def test_an_agent_has_the_settings_of_its_name(agent: str) -> None:
    speaker = ModelAgent.parse(agent)
    assert speaker == ModelAgent(agent, ABLATIONS.get(agent, PUBLISHED))


def test_changes_come_after_commas() -> None:
    speaker = ModelAgent.parse("HM,scripted,mapped,estimated,alpha=0.1,top_k=3,threshold=.5,c=2")
    settings = dataclasses.replace(PUBLISHED, alpha=0.1, top_k=3, threshold=0.5, c=2.0, exact_inventory=False)
    assert speaker == ModelAgent("HM", settings, scripted=True, mapped=True)
    assert all(ModelAgent.parse(agent).agent == "HM" and ModelAgent.parse(agent) != ModelAgent("HM") for agent in SWEEP)
    assert ModelAgent.parse("HE+HR,alpha=0.5").settings.c == ABLATIONS["HE+HR"].c


@pytest.mark.parametrize(
    ("spec", "why"),
    [
        ("", "no agent ``"),
        ("hm", "no agent `hm`"),
        ("programs", "no agent `programs`"),
        ("HM,", "`` says nothing"),
        ("HM,beta=1", "`beta=1` says nothing"),
        ("HM,alpha", "could not convert"),
        ("HM,alpha=lots", "could not convert"),
        ("HM,alpha=0", "0 < alpha"),
        ("HM,alpha=nan", "0 < alpha"),
        ("HM,c=inf", "c > 0"),
        ("HM,threshold=nan", "the threshold"),
        ("HM,top_k=1.5", "invalid literal"),
        ("react,scripted", "cannot be `scripted`"),
        ("x\ny" * 99, "no agent `x y"),
    ],
)
def test_an_agent_that_makes_no_sense_is_refused_in_one_line(spec: str, why: str) -> None:
    with pytest.raises(InputError) as caught:
        ModelAgent.parse(spec)
    assert why in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1


def test_what_moves_an_agent_and_what_it_believes() -> None:
    me, asker, rng = WORLD.agents[0], Asker(straight), np.random.default_rng(0)
    mind = ModelAgent.parse("hybrid").in_matrix(WORLD, me, asker, rng)
    assert isinstance(mind, HypotheticalMinds)
    assert isinstance(mind.body, MatrixBody)
    assert all(isinstance(theory, Hybrid) for theory in mind.theories)
    moved = ModelAgent.parse("HM,scripted").in_matrix(WORLD, me, asker, rng)
    assert isinstance(moved, HypotheticalMinds)
    assert not isinstance(moved.body, MatrixBody)


# Plans


def test_a_plan_with_a_model_names_it_and_leaves_out_kitchens_for_who_cannot_cook() -> None:
    entries = plan(1, 7, ("HM", "hybrid", "HM,scripted"), model="a:b")
    assert {entry.subject for entry in entries} == {"lm:a-b:HM", "lm:a-b:hybrid", "lm:a-b:HM,scripted"}
    assert {entry.agent for entry in entries if entry.cooks} == {"HM"}
    assert len(entries) == 30 + 27 + 27
    quick = spoken_plan("quick", 2, 7, "m")
    assert [entry.scenario for entry in quick[::2]] == sorted(SMALL, key=[e.scenario for e in quick].index)
    assert {entry.agent for entry in spoken_plan("full", 1, 7, "m")} == {*AGENTS, *SWEEP}
    assert len(spoken_plan("quick", 1, 7, "m", only="rws_arena_3_documented")) == 1


def test_in_a_quick_run_programs_play_everything_and_others_some_of_each_world() -> None:
    (part,) = EXPERIMENTS["hypothetical"](Options(Path("unused"), scale="quick")).parts
    entries: Sequence[Any] = part.entries
    played = {(entry.agent, entry.scenario) for entry in entries}
    assert sum(agent == "programs" for agent, _ in played) == 30
    others = {scenario for agent, scenario in played if agent != "programs"}
    assert others == {*hypothetical.FILMED, *hypothetical.SMALL}
    assert {"bound", "uniform"} <= {agent for agent, scenario in played if scenario == "rws_arena_0"}
    alone = EXPERIMENTS["hypothetical"](Options(Path("unused"), scale="quick", agents=("uniform",))).parts[0]
    assert len(alone.entries) == 27


@pytest.mark.slow
def test_what_a_plan_will_take_is_what_a_program_would_be_asked() -> None:
    entries = plan(2, 3, ("HM,scripted",), "rws_repeated_6", straight.name)
    ahead = estimate(entries)
    once = played("rws_repeated_6", "HM,scripted")[-1]["calls"]
    assert ahead.calls == 2 * estimate(entries[:1]).calls == 2 * once
    assert ahead.usage.prompt > 100 * ahead.calls


# Episodes


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "agent"),
    [
        (name, agent)
        for name, agents in {
            "rws_repeated_1": (*AGENTS, "HM,estimated", "hybrid,scripted"),
            "pd_repeated_3": ("HM", "react", "hybrid,scripted"),
            "rws_arena_0": ("HM", "react"),
        }.items()
        for agent in agents
    ],
)
def test_an_episode_says_what_was_asked_for(name: str, agent: str) -> None:
    *meetings, last = played(name, agent)
    assert last["calls"] == sum(last["purposes"].values())
    assert last["calls"] > 0 or agent == "hybrid,scripted"
    assert last["unreadable"] == 0
    assert (last["prompt_tokens"] > 0) == (last["calls"] > 0)
    assert last["subject"] == f"lm:straight:{agent}"
    assert json.dumps([*meetings, last]) == json.dumps(played(name, agent))
    known = [row for row in meetings if "expected" in row]
    assert all(sum(row["expected"]) == pytest.approx(1.0) and len(row["expected"]) == len(row["own"]) for row in known)
    assert bool(known) == (agent not in ("react", "reflexion", "planreact") and bool(meetings))
    assert all(len(row["hypotheses"]) <= 4 for row in known)


@pytest.mark.slow
def test_each_ablation_asks_for_other_things() -> None:
    asked = {agent: set(played("rws_repeated_1", f"{agent},scripted")[-1]["purposes"]) for agent in ABLATIONS}
    assert asked["VMP"] == {"everything"}
    assert asked["MMP"] == asked["MMP+HE"] == asked["HM"] == {"hypothesis", "predict"}
    assert asked["HE+HR"] == {"strategy", "follow"}
    assert set(played("rws_repeated_1", "HM,scripted,estimated")[-1]["purposes"]) == {
        "inventory",
        "hypothesis",
        "predict",
    }
    calls = {agent: played("rws_repeated_1", f"{agent},scripted")[-1]["calls"] for agent in ("VMP", "MMP", "MMP+HE")}
    assert calls["VMP"] < calls["MMP"] < calls["MMP+HE"]


@pytest.mark.slow
def test_who_cannot_be_read_is_counted_and_no_move_is_made_for_them() -> None:
    prose = scripted_model("prose", WORLD)
    *meetings, last = played("rws_repeated_6", "HM", prose)
    assert last["unreadable"] == last["calls"] > 0
    assert not any(row.get("hypotheses") for row in meetings)
    assert set(last["purposes"]) == {"subgoals"}
    assert last["reward"] == 0.0


@pytest.mark.slow
@pytest.mark.parametrize("agent", ["HM", "VMP", "react", "reflexion"])
def test_an_episode_in_a_kitchen_says_what_was_thought(agent: str) -> None:
    *thoughts, last = played("cooking_asymmetric_0", agent)
    assert last["score"] == last["reward"] >= 100
    assert last["calls"] == sum(last["purposes"].values()) > 0
    assert bool(thoughts) == (agent in ABLATIONS)
    assert all(set(row) >= {"t", "why", "hypotheses"} for row in thoughts)
    assert "reflect" in last["purposes"] or agent == "react"


def test_all_that_was_said_is_found() -> None:
    assert all_said(object()) == ()


# Scores


def test_calls_and_dollars_are_means_over_episodes() -> None:
    about = {
        "condition": "rws_repeated_6",
        "subject": "lm:m:HM",
        "score": 1.0,
        "reward": 1.0,
        "steps": 9,
        "meetings": 0,
    }
    used = [(10, 1, 2_000_000, 100_000), (30, 0, 0, 300_000)]
    made = [
        {**about, "episode": str(i), "calls": n, "unreadable": u, "prompt_tokens": p, "written_tokens": w}
        for i, (n, u, p, w) in enumerate(used)
    ]
    free = {row["metric"]: row["value"] for row in summarise(made)}
    paid = {row["metric"]: row["value"] for row in summarise(made, Price(2.0, 10.0))}
    assert (free["calls"], free["prompt_tokens"], free["written_tokens"]) == (20.0, 1e6, 2e5)
    assert free["unreadable_share"] == pytest.approx(0.05)
    assert "dollars" not in free
    assert paid["dollars"] == pytest.approx((4.0 + 1.0 + 3.0) / 2)


@pytest.mark.slow
def test_the_report_shows_what_models_said_as_text() -> None:
    evil = "<script>alert(1)</script> always plays $rock$ \x1b[31m"
    told = Scripted("evil", lambda request: straight.write(request).replace("They always play", json.dumps(evil)[1:-1]))
    found = [row for agent in ("HM,scripted", "VMP,scripted") for row in played("rws_repeated_0", agent, told)]
    text = report(found, list(summarise(found)))
    assert "<script>alert" not in text
    assert "\x1b" not in text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text
    assert text.index("Language models") < text.index("VMP")


@pytest.mark.slow
def test_the_command_plays_a_model(tmp_path: Path, run: Run) -> None:
    model = (
        "--model",
        "otherminds.papers.hypothetical_minds.verbal.scripted_models:straight",
        "--scenario",
        "cooking_asymmetric_2",
    )
    agents = ("--agent", "HM", "--agent", "programs")
    done = run("reproduce", "hypothetical", "--quick", *model, *agents, "--out", str(tmp_path))
    assert done.code == 0
    assert "HM straight" in done.out
    assert "calls made" in done.err
    summary = json.loads((tmp_path / "summary.json").read_text("utf-8"))
    assert {row["subject"] for row in summary} == {"lm:straight:HM", "programs"}


def test_who_cannot_cook_is_not_sent_to_a_kitchen(tmp_path: Path, run: Run) -> None:
    kitchen = ("--scenario", "cooking_asymmetric_0", "--agent", "uniform", "--out", str(tmp_path))
    complaint(run("reproduce", "hypothetical", *kitchen), "none of these agents plays there")


def test_without_a_model_its_agents_are_refused(tmp_path: Path, run: Run) -> None:
    complaint(run("reproduce", "hypothetical", "--agent", "HM", "--out", str(tmp_path)), "no agent `HM`.*--model")
