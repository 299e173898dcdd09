"""The command `meet`: own agents, players and models in scenarios, repeated games and clue games."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from commands import Run, complaint, fine, without_estimate
from otherminds.evaluation.tasks import Task
from otherminds.reproduce.meet import clue_game_names, meet_clue_partner, meet_partner, meet_scenario
from otherminds.worlds.repeated_games.partners import partner
from otherminds.worlds.repeated_games.payoff_files import find_game

AGENTS = """
from dataclasses import dataclass
from otherminds import Categorical
from otherminds.language.model import Reply, Scores, Usage
from otherminds.worlds.avatars import ACTIONS
from otherminds.worlds.in_the_matrix.bots import ABLE, MatrixBot
from otherminds.worlds.in_the_matrix.strategies import Aim, specialist


@dataclass(frozen=True)
class Still:
    acts: tuple = ("noop",)
    breaks: bool = False

    def observe(self, view):
        return self

    def act(self):
        return 1 / 0 if self.breaks else Categorical.uniform(self.acts)


class Certain(Still):
    def act(self):
        return "noop"


class Prophet(Still):
    def predict(self):
        return 1


still, dancer, breaker, certain = Still(), Still(("dance",)), Still(breaks=True), Certain()
mute, prophet = Still((None,)), Prophet((-1,))
nothing, number = lambda world, agent, rng: None, 3


def paper(world, agent, rng):
    return MatrixBot.initial(world, agent, specialist(Aim(1, 5)), rng, ABLE)


def wanderer(world, agent, rng):
    return Still(ACTIONS)


@dataclass(frozen=True)
class Listener:
    world: object
    signal: object = None

    def observe(self, view):
        return Listener(self.world, view.signal)

    def act(self):
        return Categorical.uniform([-1] if self.signal is None else [1])


def listener(world, agent, rng):
    return Listener(world)


class Model:
    name = identity = "first"

    def complete(self, request):
        options = request.prompt[-1].text.split("with one of option ")[1].split(" in place of")[0].split(", option ")
        return Reply(f"Answer: option {options[0]}", usage=Usage(9, 0, 3))

    def score(self, request):
        return Scores(tuple(-1.0 for _ in request.texts), tuple(1 for _ in request.texts), usage=Usage(9, 0, 1))


model = Model()
"""
MODEL = "agents_met:model"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "agents_met.py").write_text(AGENTS)
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "filed_agents.py").write_text(AGENTS)
    return tmp_path


@pytest.mark.slow
def test_an_agent_of_ones_own_is_scored_beside_the_reference(run: Run, here: Path) -> None:
    met = json.loads(fine(run("meet", "rws-rock", "--agent", "agents_met:paper", "--episodes", "1", "--json")))
    assert (met["name"], met["partner"], met["agent"], met["seed"]) == (
        "rws_repeated_6",
        "always rock",
        "agents_met:paper",
        42,
    )
    assert met["regret"]["value"] == pytest.approx(met["reference"]["value"] - met["score"]["value"])
    assert met["score"]["value"] > 40
    assert met["loss by choice"]["value"] == 0  # paper is the best response to rock
    assert "no bound" in met["reference"]["meaning"]


@pytest.mark.slow
def test_the_reference_loses_nothing_to_itself(here: Path) -> None:
    by_name = {m.name: m.estimate for m in meet_scenario("rws-rock", "bound", episodes=1, seed=7).measures}
    assert by_name["regret"].value == 0
    assert by_name["score"].value == by_name["reference"].value > 50


@pytest.mark.slow
def test_who_holds_still_meets_nobody_and_earns_nothing(run: Run, here: Path) -> None:
    met = json.loads(fine(run("meet", "pd-grim", "--agent", "agents_met:still", "--episodes", "1", "--json")))
    assert met["score"]["value"] == met["meetings"]["value"] == 0
    assert "loss by choice" not in met
    assert met["regret"]["value"] == met["reference"]["value"] > 0


@pytest.mark.slow
def test_a_file_in_another_folder_has_agents_too_and_episodes_make_an_interval(run: Run, here: Path) -> None:
    told = ("meet", "cook-idle", "--agent", "sub/filed_agents.py:wanderer", "--episodes", "3", "--json")
    met = json.loads(fine(run(*told)))
    assert met["name"] == "cooking_asymmetric_2"
    assert met["regret"]["low"] < met["regret"]["value"] < met["regret"]["high"]
    assert met["regret"]["value"] == pytest.approx(met["reference"]["value"] - met["score"]["value"])
    assert met["regret"]["n"] == 3


def test_without_a_name_all_scenarios_are_listed(run: Run) -> None:
    listed = json.loads(fine(run("meet", "--json")))
    assert len(listed) == 31
    assert {"scenario": "rws-rock", "id": "rws_repeated_6", "what is met": "always rock"} in listed
    partners = json.loads(fine(run("meet", "--game", "rps", "--json")))
    assert {"partner": "tft"} in partners or len(partners) > 3


def test_a_player_meets_a_partner_beside_the_exact_optimum(run: Run) -> None:
    told = ("meet", "tft", "--game", "ipd", "--agent", "rmax", "--rounds", "20", "--episodes", "3", "--json")
    met = json.loads(fine(run(*told)))
    optimum = Task(find_game("ipd"), partner("tft", find_game("ipd")), 20).optimum / 20
    assert met["bound"]["value"] == met["bound"]["low"] == pytest.approx(optimum)
    assert met["score"]["value"] == pytest.approx(optimum - met["regret"]["value"])
    assert "in expectation" in met["bound"]["meaning"]


@pytest.mark.slow
def test_a_page_shows_the_first_episode_step_by_step(run: Run, here: Path) -> None:
    fine(run("meet", "rws-rock", "--agent", "agents_met:paper", "--episodes", "1", "--out", "film.html"))
    page = (here / "film.html").read_text()
    assert "data-replay" in page
    assert "agents_met:paper meets rws_repeated_6: always rock" in page
    told = ("meet", "tft", "--game", "ipd", "--rounds", "7", "--episodes", "1", "--out", "rounds.html")
    fine(run(*told))
    assert re.search(r"<td[^>]*>7</td>", (here / "rounds.html").read_text())


@pytest.mark.slow
def test_a_language_model_takes_part_in_a_scenario(run: Run, here: Path) -> None:
    model = "otherminds.papers.hypothetical_minds.verbal.scripted_models:straight"
    told = ("meet", "cook-idle", "--agent", model, "--episodes", "1", "--json")
    result = run(*told)
    assert "straight: " in result.err
    met = json.loads(fine(without_estimate(result)))
    assert met["score"]["value"] > 0


@pytest.mark.parametrize(
    ("told", "words"),
    [
        (("rws-rok",), "no scenario `rws-rok` (did you mean rws-rock?)"),
        (("tft",), "tft is a partner of repeated games (add the game: meet tft --game ipd)"),
        (("tfd", "--game", "ipd"), "did you mean tft"),
        (("rws-rock", "--agent", "lastplay"), "did you mean last_play?"),
        (("cook-idle", "--agent", "ppo"), "no agent `ppo`"),
        (("rws-rock", "--strategy", "cot"), "--strategy has no meaning here (`check` and `bench` ask"),
        (("rws-rock", "--agent", "agents_met:nobody"), "`agents_met` has no `nobody`"),
        (("rws-rock", "--agent", "agents_met:number"), "agents_met:number is no agent"),
        (("rws-rock", "--agent", "agents_met:nothing"), "agents_met:nothing returns no mind"),
        (("rws-rock", "--agent", "agents_met:dancer"), "agents_met:dancer does `dance` (one of noop, forward"),
        (("rws-rock", "--agent", "agents_met:breaker"), "agents_met:breaker broke: ZeroDivisionError"),
        (("rws-rock", "--agent", "agents_met:certain"), "agents_met:certain acts by `noop` (return a distribution"),
        (("2-9", "--game", "tiny-hanabi"), "there is no partner `2-9` (did you mean 2-2 or 2-1?)"),
        (("tft", "--game", "taboo"), "`otherminds meet --game taboo` lists them"),
        (("2-0", "--game", "wavelenght"), "did you mean wavelength?"),
        (("2-0", "--game", "tiny-hanabi", "--agent", "bayes"), "no agent `bayes` (did you mean bayesian?)"),
        (("2-0", "--game", "tiny-hanabi", "--strategy", "qa"), "--strategy has no meaning here"),
        (("2-0", "--game", "tiny-hanabi", "--agent", "agents_met:nothing"), "agents_met:nothing returns no mind"),
        (("2-0", "--game", "tiny-hanabi", "--agent", "agents_met:number"), "agents_met:number is no agent"),
        (("2-0", "--game", "tiny-hanabi", "--agent", "agents_met:breaker"), "agents_met:breaker broke: ZeroDivision"),
        (("2-0", "--game", "tiny-hanabi", "--agent", "agents_met:dancer"), "`dance` is not allowed now (one of -1)"),
        (("2-0", "--game", "tiny-hanabi", "--agent", "agents_met:certain"), "agents_met:certain acts by `noop`"),
        (("2-0", "--game", "tiny-hanabi", "--agent", "agents_met:mute"), "agents_met:mute does `None`"),
        (("2-0", "--game", "tiny-hanabi", "--agent", "agents_met:prophet"), "agents_met:prophet predicts `1` (return"),
        (("2-0", "--game", "tiny-hanabi", "--agent", MODEL, "--strategy", "cot3"), "`cot3` is for repeated games only"),
        (("2-0", "--game", "tiny-hanabi", "--agent", MODEL, "--names", "neutral"), "--names has no meaning here"),
        (("2-0", "--game", "tiny-hanabi", "--agent", MODEL, "--shuffle", "payoffs"), "there is no shuffle of a clue"),
        (("2-0", "--game", "tiny-hanabi", "--agent", MODEL, "--shuffle", "labels"), "has no names to shuffle"),
        (("tft", "--game", "ipd", "--agent", MODEL, "--strategy", "qa", "--strategy", "lm"), "with one strategy"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(told: tuple[str, ...], words: str, run: Run, here: Path) -> None:
    complaint(run("meet", *told, "--episodes", "1"), re.escape(words))


@pytest.mark.slow
def test_the_optimum_bounds_a_player_that_knows_its_partner() -> None:
    met = meet_partner("always-defect", "ipd", "bayes", rounds=10, episodes=2, seed=0)
    by_name = {measure.name: measure.estimate for measure in met.measures}
    assert by_name["score"].value <= by_name["bound"].value + 1e-9


# Clue games


def test_partners_of_clue_games_are_listed(run: Run) -> None:
    assert set(clue_game_names()) == {"tiny-hanabi", "wavelength", "taboo", "codenames", "hanabi"}
    listed = json.loads(fine(run("meet", "--game", "tiny-hanabi", "--json")))
    assert listed == [{"partner": f"{a}-{b}"} for a in range(3) for b in range(3)]
    assert 'otherminds meet "slope 0.6 offset -0.2" --game wavelength' in fine(run("meet", "--game", "wavelength"))


@pytest.mark.slow
@pytest.mark.parametrize("game", list(clue_game_names()))
def test_the_bound_is_what_the_informed_player_expects(game: str, run: Run) -> None:
    partner = json.loads(fine(run("meet", "--game", game, "--json")))[-1]["partner"]
    told = ("meet", partner, "--game", game, "--agent", "informed", "--episodes", "6", "--rounds", "4", "--json")
    met = json.loads(fine(run(*told)))
    assert met["bound"]["value"] == met["bound"]["low"] == met["bound"]["high"]
    assert met["regret"]["value"] == pytest.approx(met["bound"]["value"] - met["score"]["value"])
    assert met["regret"]["low"] <= 0.2  # of chance, as the bound is an expectation
    assert {"lost, %", "unreadable, %"}.isdisjoint(met)


def test_a_listener_of_ones_own_earns_what_the_table_says(run: Run, here: Path) -> None:
    """It always answers 1, and signaller 1-1 always signals 1: 8 a deal, by the table of payoffs."""
    told = ("meet", "1-1", "--game", "tiny-hanabi", "--agent", "agents_met:listener", "--episodes", "2", "--json")
    met = json.loads(fine(run(*told, "--rounds", "5")))
    assert met["score"]["value"] == met["bound"]["value"] == 8.0
    assert met["regret"] == met["regret"] | {"value": 0.0, "low": 0.0, "high": 0.0}
    assert "predicted, %" not in met  # it does not predict


@pytest.mark.slow
def test_a_model_plays_clue_games_and_repeated_games(run: Run, here: Path) -> None:
    """It chooses the first option of the list: action 0, which pays 4 with signaller 1-1, by the table."""
    told = ("meet", "1-1", "--game", "tiny-hanabi", "--agent", MODEL, "--episodes", "2", "--rounds", "5", "--json")
    met = json.loads(fine(without_estimate(run(*told))))
    assert met["score"]["value"] == 4.0
    assert met["regret"]["value"] == 4.0
    assert met["lost, %"]["value"] == met["unreadable, %"]["value"] == 0.0
    told = ("meet", "always-defect", "--game", "ipd", "--agent", MODEL, "--episodes", "2", "--rounds", "5", "--json")
    met = json.loads(fine(without_estimate(run(*told, "--names", "canonical"))))
    assert met["regret"]["value"] == pytest.approx(met["bound"]["value"] - met["score"]["value"])
    assert met["lost, %"]["value"] == 0.0


def test_a_page_tells_the_turns_of_the_first_episode(run: Run, here: Path) -> None:
    told = ("meet", "2-0", "--game", "tiny-hanabi", "--agent", "informed", "--rounds", "3", "--out", "deals.html")
    fine(run(*told, "--episodes", "2"))
    page = (here / "deals.html").read_text()
    assert page.count("; the signal was ") == 3
    assert "informed meets 2-0: a partner in tiny-hanabi" in page


def test_episodes_are_those_of_the_seed() -> None:
    first, again, other = (
        meet_clue_partner("2-0", "tiny-hanabi", "blind", rounds=3, episodes=2, seed=seed).rows for seed in (1, 1, 2)
    )
    assert first == again != other
