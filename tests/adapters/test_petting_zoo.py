"""Every world as an environment of PettingZoo: its own tests pass, and nothing of the world is lost or changed."""

from __future__ import annotations

import copy
import importlib
import pkgutil
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import otherminds.worlds
from clue_game_worlds import CLUE_GAMES
from households import home_from, household
from otherminds.adapters.petting_zoo import parallel_env
from otherminds.errors import InputError
from otherminds.world import World, rollout
from otherminds.worlds.collaborative_cooking.map_files import cooking_asymmetric
from otherminds.worlds.doors_keys_gems.level_files import bundled_levels
from otherminds.worlds.doors_keys_gems.rules import GROUND, DoorsKeysGems
from otherminds.worlds.food_trucks.level_files import bundled_food_trucks
from otherminds.worlds.household.rules import WAIT, Act, Household
from otherminds.worlds.in_the_matrix.map_files import in_the_matrix, parse_matrix_world
from otherminds.worlds.in_the_matrix.view_arrays import ViewArrays, views_of
from otherminds.worlds.in_the_matrix.world import InTheMatrix
from otherminds.worlds.map_file import level_texts
from otherminds.worlds.overcooked import level_files as kitchen_files
from otherminds.worlds.overcooked.kitchen import PARTS, RECIPES, KitchenLayout
from otherminds.worlds.overcooked.level_files import parse_kitchen
from otherminds.worlds.overcooked.rules import Overcooked
from otherminds.worlds.repeated_games.payoff_files import find_game
from otherminds.worlds.repeated_games.rules import Game, RepeatedGame
from otherminds.worlds.text_grid import parse_text_grid

pytest.importorskip("pettingzoo")

from gymnasium import spaces
from gymnasium.utils.env_checker import data_equivalence
from gymnasium.utils.passive_env_checker import check_obs, check_space
from pettingzoo.test import parallel_api_test, parallel_seed_test

from otherminds.adapters.parallel import AgentInterface, interface, maybe, record

AnyWorld = World[Any, Any, Any]

GRID = """\
#######
#A...@#
#.##..#
#####B#
#######
"""

CORRIDOR = """\
WWWWW
WnrnW
WpWaW
WWWWW

players: 2
kinds: r rock, p paper, s scissors
payoffs: 0 -10 10, 10 0 -10, -10 10 0
window: 2 1 3 1
regrowth: 2 0.5
frozen: 2
respawn: 5
restock: yes
ends: 300 10 0.5 400
"""


def level() -> DoorsKeysGems:
    return bundled_levels()[0].world


def kitchen() -> Overcooked:
    text, path = level_texts(kitchen_files.LEVELS / "twenty-one")[0]
    return parse_kitchen(text, path).world


def corridor() -> InTheMatrix:
    return parse_matrix_world(CORRIDOR, Path("corridor.txt"))


def overseen() -> InTheMatrix:
    world = corridor()
    return replace(world, all_seeing=frozenset(world.agents[:1]))


def home() -> Household:
    where = home_from("kitchen: +fridge, table | bedroom: desk")
    return household(where, {"Ana": "kitchen", "Ben": "bedroom"}, {"apple": "fridge", "book": "desk"})


WORLDS: dict[str, Callable[[], AnyWorld]] = {
    "level": level,
    "level by turns": lambda: replace(level(), turns="alternating"),
    "kitchen": kitchen,
    "prisoners": lambda: RepeatedGame(find_game("ipd"), 30),
    "three": lambda: RepeatedGame(Game("three", ("a", "b", "c"), (("x", "y"),) * 3, ((1.0, -2.0, 0.1),) * 8), 30),
    "home": home,
    "rws_repeated": lambda: in_the_matrix("rws_repeated"),
    "pd_repeated": lambda: in_the_matrix("pd_repeated"),
    "rws_arena": lambda: in_the_matrix("rws_arena"),
    "corridor": corridor,
    "overseen": overseen,
    "cooking": cooking_asymmetric,
    "food trucks": lambda: bundled_food_trucks()[0].world,
    "text grid": lambda: parse_text_grid(GRID, Path("grid.txt")).world,
}
CHANCY: tuple[str, ...] = ("rws_repeated", "pd_repeated", "rws_arena", "corridor", "cooking", "food trucks")
MASKED: tuple[str, ...] = ("level", "level by turns", "home", "food trucks", "text grid")
WORLDS |= CLUE_GAMES
CHANCY, MASKED = (*CLUE_GAMES, *CHANCY), (*MASKED, *CLUE_GAMES)
DRAWN = ("level", "kitchen", "rws_repeated", "cooking")
PICTURED = (*DRAWN, "text grid")

every_world = pytest.mark.parametrize("name", WORLDS)


def env_of(world: AnyWorld | str, **options: Any) -> Any:
    """An environment, looked into freely."""
    return parallel_env(WORLDS[world]() if isinstance(world, str) else world, **options)


class Turn(NamedTuple):
    """One step of an environment, and the state of the world before and after it."""

    before: Any
    joint: dict[str, Any]
    after: Any
    given: tuple[dict[str, Any], ...]


def play(env: Any, *, seed: int = 0, at_most: int = 300) -> Iterator[Turn]:
    """An episode in which everybody does anything that the world itself allows."""
    rng = np.random.default_rng(seed)
    env.reset(seed=seed)
    while env.agents and at_most:
        before = env.world_state
        allowed = {agent: env.world.actions(before, agent) for agent in env.agents}
        joint = {agent: actions[rng.integers(len(actions))] for agent, actions in allowed.items()}
        given = env.step({agent: env.actions[agent].index(action) for agent, action in joint.items()})
        yield Turn(before, joint, env.world_state, given)
        at_most -= 1


def core(observed: Any) -> Any:
    """An observation without the mask."""
    return observed["observation"] if "action_mask" in observed else observed


def flat(space: spaces.Space[Any], value: Any) -> bytes:
    found = spaces.flatten(space, value)
    assert isinstance(found, np.ndarray)
    return found.tobytes()


def worlds_there_are() -> set[type]:
    parts = [name for name in vars(World) if not name.startswith("_")]
    found = set()
    modules = list(pkgutil.walk_packages(otherminds.worlds.__path__, "otherminds.worlds."))
    for module in (one for one in modules if not one.name.endswith("kernels")):
        for thing in vars(importlib.import_module(module.name)).values():
            if isinstance(thing, type) and thing.__module__ == module.name:
                fields = getattr(thing, "__dataclass_fields__", {})
                is_protocol = getattr(thing, "_is_protocol", False)
                if not is_protocol and all(hasattr(thing, part) or part in fields for part in parts):
                    found.add(thing)
    return found


def test_every_world_of_the_library_is_an_environment() -> None:
    there_are = worlds_there_are()
    assert there_are
    assert {type(make()) for make in WORLDS.values()} == there_are


# What PettingZoo asks for


@every_world
@pytest.mark.parametrize("steps", [None, 7])
def test_pettingzoos_test_of_the_interface_passes(name: str, steps: int | None) -> None:
    parallel_api_test(env_of(name, steps=steps), num_cycles=80)


@every_world
def test_pettingzoos_test_of_seeds_passes(name: str) -> None:
    parallel_seed_test(lambda: env_of(name), num_cycles=50)


@pytest.mark.slow
@every_world
def test_the_seed_decides_everything(name: str) -> None:
    """PettingZoo's own test stops after one step, so this one goes on."""
    one, other = (list(play(env_of(name, steps=60), seed=5)) for _ in range(2))
    for mine, yours in zip(one, other, strict=True):
        assert mine.after == yours.after
        assert data_equivalence(mine.given, yours.given)


@pytest.mark.parametrize("name", CHANCY)
def test_another_seed_is_another_episode(name: str) -> None:
    env = env_of(name)
    starts = [env.reset(seed=seed) and env.world_state for seed in (1, 2, 3, 1)]
    assert starts[0] == starts[3]
    assert len(set(starts)) > 1


def test_without_a_seed_the_random_numbers_go_on() -> None:
    world = in_the_matrix("rws_repeated")
    env, rng = env_of(world), np.random.default_rng(3)
    env.reset(seed=3)
    assert env.world_state == world.start(rng)
    env.reset()
    assert env.world_state == world.start(rng)


# What happens is what happens in the world


@dataclass(frozen=True)
class Sure:
    """Surely one thing, without a random number."""

    value: Any

    def log_prob(self, x: Any, /) -> float:
        return 0.0 if x == self.value else -np.inf

    def sample(self, rng: np.random.Generator, /) -> Any:
        return self.value


@dataclass(frozen=True)
class Script:
    """Does what it is told, and checks that it sees what it should."""

    acts: tuple[Any, ...]
    sights: tuple[Any, ...]
    seen: int = 0

    def observe(self, obs: Any, /) -> Script:
        assert obs == self.sights[self.seen]
        return replace(self, seen=self.seen + 1)

    def act(self) -> Sure:
        return Sure(self.acts[self.seen - 1])


@pytest.mark.slow
@every_world
def test_an_episode_is_a_rollout_of_the_world(name: str) -> None:
    world = WORLDS[name]()
    turns = list(play(env_of(world), seed=11))
    states = [turns[0].before, *(turn.after for turn in turns)]
    minds = {
        agent: Script(
            tuple(turn.joint[agent] for turn in turns), tuple(world.observe(state, agent) for state in states)
        )
        for agent in world.agents
    }
    steps = list(rollout(world, minds, steps=len(turns), rng=np.random.default_rng(11)))
    assert [(step.state, step.joint, step.after) for step in steps] == [
        (turn.before, turn.joint, turn.after) for turn in turns
    ]
    for turn in turns:
        _, rewards, terminated, truncated, _ = turn.given
        assert rewards == world.reward(turn.before, turn.joint, turn.after)
        assert terminated == dict.fromkeys(world.agents, world.done(turn.after))
        assert truncated == dict.fromkeys(world.agents, False)


@pytest.mark.parametrize("name", ["prisoners", "corridor"])
def test_an_episode_ends_when_the_world_does(name: str) -> None:
    env = env_of(name)
    turns = list(play(env, at_most=1000))
    assert [env.world.done(turn.after) for turn in turns] == [False] * (len(turns) - 1) + [True]
    assert not env.agents


@every_world
def test_an_episode_is_truncated_after_so_many_steps(name: str) -> None:
    env = env_of(name, steps=5)
    for seed in (0, 1):
        *_, (_, _, _, (*_, terminated, truncated, _)) = turns = list(play(env, seed=seed))
        assert len(turns) == 5
        assert truncated == dict.fromkeys(env.possible_agents, True)
        assert terminated == dict.fromkeys(env.possible_agents, False)
        assert not env.agents


def test_an_end_at_the_last_step_is_no_truncation() -> None:
    *_, last = play(env_of(RepeatedGame(find_game("ipd"), 4), steps=4))
    assert last.given[2:4] == ({"you": True, "partner": True}, {"you": False, "partner": False})


def test_nobody_acts_in_a_world_that_is_over_before_it_begins() -> None:
    world = level()
    env = env_of(replace(world, goals=(-1,) * len(world.agents)))
    seen, _ = env.reset(seed=0)
    assert set(seen) == set(world.agents)
    assert env.agents == []


# Actions


@pytest.mark.slow
@every_world
def test_masks_are_what_the_world_allows(name: str) -> None:
    env = env_of(name)
    for turn in play(env):
        for agent, seen in turn.given[0].items():
            allowed = set(env.world.actions(turn.after, agent))
            mask = seen["action_mask"] if name in MASKED else np.ones(len(env.actions[agent]), np.int8)
            assert {action for action, may in zip(env.actions[agent], mask, strict=True) if may} == allowed
            assert mask.shape == (env.action_space(agent).n,)
            infos = turn.given[4][agent]
            assert data_equivalence(infos, {"action_mask": mask} if name in MASKED else {})


@every_world
def test_actions_are_listed_once(name: str) -> None:
    env = env_of(name)
    for agent in env.possible_agents:
        assert len(set(env.actions[agent])) == len(env.actions[agent]) == env.action_space(agent).n


@pytest.mark.parametrize("name", MASKED)
def test_what_is_sampled_is_legal(name: str) -> None:
    env = env_of(name, steps=100)
    drawn = set()
    env.reset(seed=0)
    for k, agent in enumerate(env.agents):
        env.action_space(agent).seed(k)
    while env.agents:
        joint = {agent: env.action_space(agent).sample() for agent in env.agents}
        drawn |= set(joint.values())
        env.step(joint)
    assert len(drawn) > 2


@every_world
def test_illegal_actions_are_refused_by_name_and_change_nothing(name: str) -> None:
    env = env_of(name)
    env.reset(seed=0)
    state, refused = env.world_state, 0
    for agent in env.agents:
        joint = {who: env.actions[who].index(env.world.actions(state, who)[0]) for who in env.agents}
        for number, action in enumerate(env.actions[agent]):
            if action not in env.world.actions(state, agent):
                with pytest.raises(ValueError) as error:
                    env.step(joint | {agent: number})
                refused += 1
                assert f"{agent} cannot do action {number} now, {action}" in str(error.value)
    assert bool(refused) == (name in MASKED)
    assert env.world_state == state


@pytest.mark.parametrize("number", [-1, 2, 0.5, None, "0", np.int64(2), np.array([0, 1])])
def test_what_is_no_action_is_refused(number: Any) -> None:
    env = env_of("prisoners")
    env.reset(seed=0)
    with pytest.raises(ValueError, match=r"partner has no action .*: they are the numbers from 0 to 1"):
        env.step({"you": 0, "partner": number})


@pytest.mark.parametrize("number", [1, np.int64(1), np.uint8(1), np.array(1)])
def test_numbers_of_any_kind_are_actions(number: Any) -> None:
    env = env_of("prisoners")
    env.reset(seed=0)
    env.step({"you": 0, "partner": number})
    assert env.world_state.joint == (0, 1)


def test_everybody_must_act_and_nobody_else() -> None:
    env = env_of("prisoners", steps=1)
    with pytest.raises(ValueError, match="begin an episode with `reset`"):
        env.step({"you": 0, "partner": 0})
    env.reset(seed=0)
    with pytest.raises(ValueError, match="partner has no action"):
        env.step({"you": 0})
    with pytest.raises(ValueError, match="there is no agent called 'Eve'"):
        env.step({"you": 0, "partner": 0, "Eve": 0})
    env.step({"you": 0, "partner": 0})
    with pytest.raises(ValueError, match="begin an episode with `reset`"):
        env.step({"you": 0, "partner": 0})


# What is observed


@pytest.mark.slow
@every_world
def test_observations_lie_in_their_spaces_and_leave_nothing_out(name: str) -> None:
    """Two observations are written the same way if and only if they are the same."""
    env = env_of(name)
    written: dict[Any, bytes] = {}
    read: dict[tuple[str, bytes], Any] = {}
    for seed in range(2):
        for turn in play(env, seed=seed, at_most=200):
            for agent, seen in turn.given[0].items():
                space, view = env.observation_space(agent), env.world.observe(turn.after, agent)
                assert seen in space
                assert core(seen).keys() == view._asdict().keys()
                text = flat(space["observation"] if name in MASKED else space, core(seen))
                assert written.setdefault((agent, view), text) == text
                assert read.setdefault((agent, text), view) == view


@every_world
def test_the_first_observation_lies_in_its_space_too(name: str) -> None:
    env = env_of(name)
    for seed in range(3):
        seen, _ = env.reset(seed=seed)
        assert all(seen[agent] in env.observation_space(agent) for agent in env.agents)


@every_world
def test_samples_of_spaces_lie_in_them(name: str) -> None:
    env = env_of(name)
    for agent in env.possible_agents:
        assert env.observation_space(agent).sample() in env.observation_space(agent)


@pytest.mark.parametrize("name", MASKED)
def test_a_learner_may_write_to_what_it_is_given(name: str) -> None:
    env = env_of(name)
    seen, infos = env.reset(seed=0)
    for agent in env.agents:
        kept = env.action_space(agent).legal.copy()
        seen[agent]["action_mask"][:] = 0
        infos[agent]["action_mask"][:] = 0
        assert (env.action_space(agent).legal == kept).all()


def test_spaces_are_no_larger_than_they_must_be() -> None:
    env = env_of("level")
    assert env.observation_space(env.possible_agents[0])["observation"]["turn"].n == len(env.possible_agents)


def test_a_window_is_a_picture_of_codes_and_the_dead_see_nothing() -> None:
    env, found = env_of(corridor()), set()
    for turn in play(env, at_most=400):
        for i, agent in enumerate(env.possible_agents):
            seen, view = turn.given[0][agent], env.world.observe(turn.after, agent)
            assert seen["window"].dtype == np.int16
            assert seen["window"].shape == (5, 4)
            assert seen["window"].ravel().tolist() == list(view.window or (-1,) * 20)
            dead = turn.after.cells[i] == -1
            assert seen["cell"].tolist() == ([-1, -1] if dead else list(env.world.rules.field.grid.xy(view.cell)))
            assert seen["met"].tolist() == [list(held) for held in view.met or [(-1,) * 3] * 2]
            assert seen["reward"][0] == np.float32(view.reward)
            found |= {(dead, view.met is not None, view.reward != 0)}
    assert {(True, False, True), (False, True, False), (False, False, False)} <= found


def test_who_sees_everything_has_a_window_on_everything() -> None:
    env = env_of(overseen())
    shapes = [env.observation_space(agent)["window"].shape for agent in env.possible_agents]
    assert shapes == [(4, 5), (5, 4)]


def test_a_round_of_a_repeated_game_in_numbers() -> None:
    env = env_of("prisoners")
    seen, _ = env.reset(seed=0)
    assert seen["you"] == {"own": 0, "theirs": 0, "payoff": np.zeros(1)}
    seen, rewards, *_ = env.step({"you": 1, "partner": 0})
    assert seen["you"] == {"own": 2, "theirs": 1, "payoff": np.array([rewards["you"]])}
    assert seen["partner"] == {"own": 1, "theirs": 2, "payoff": np.array([rewards["partner"]])}


def test_a_home_in_numbers() -> None:
    env = env_of(home())
    env.reset(seed=0)
    acts = {agent: {act: number for number, act in enumerate(env.actions[agent])} for agent in env.agents}
    for act in (Act("walk", None, "fridge"), Act("open", None, "fridge"), Act("grab", "apple", "fridge")):
        seen, *_ = env.step({"Ana": acts["Ana"][act], "Ben": acts["Ben"][WAIT]})
    assert plain(seen["Ana"]["observation"]) == {
        "me": {"room": 0, "at": 1, "holds": [1, 0]},
        "places": [1, 1, 0],
        "things": {"apple": 0, "book": 0},
        "opened": [1, 0, 0],
        "last": {"Ana": acts["Ana"][act] + 1, "Ben": acts["Ben"][WAIT] + 1},
    }
    assert plain(seen["Ben"]["observation"]) == {
        "me": {"room": 1, "at": 0, "holds": [0, 0]},
        "places": [0, 0, 1],
        "things": {"apple": 0, "book": 3},
        "opened": [0, 0, 0],
        "last": {"Ana": 0, "Ben": acts["Ben"][WAIT] + 1},
    }


def test_a_level_in_numbers() -> None:
    env = env_of(level())
    seen, _ = env.reset(seed=0)
    world, found = env.world, plain(core(seen[env.agents[0]]))
    assert found == {
        "cells": [list(world.grid.xy(cell)) for cell in world.cells],
        "items": [GROUND] * len(world.items),
        "locked": [1] * len(world.doors),
        "turn": 0,
    }


def test_things_in_a_kitchen_are_counted_part_by_part() -> None:
    world = kitchen()
    env = env_of(world)
    seen, _ = env.reset(seed=0)
    view = world.observe(env.world_state, world.agents[0])
    for lying, counts in zip(view.on, seen[world.agents[0]]["on"].tolist(), strict=True):
        if lying == -1:
            assert counts == [-1] * 7
        else:
            assert sum(count * part for count, part in zip(counts, PARTS.values(), strict=True)) == lying
    assert -1 in view.on
    assert max(view.on) > 0


def test_every_dish_that_can_be_delivered_has_its_place() -> None:
    """Nothing is delivered at the first stations, all there can be at the next, and the last one is not seen."""
    world = kitchen()
    world = replace(world, layout=KitchenLayout((*world.layout.rows, "***".ljust(len(world.layout.rows[0]), "#"))))
    most, dish = sum(world.stock.values()) // 2, RECIPES["Salad"]
    view = world.observe(world.initial, world.agents[0])
    stations = len(world.layout.deliveries)
    view = view._replace(delivered=((),) * (stations - 2) + ((dish,) * most, None))
    code = interface(world, world.agents[0]).observation_code
    found = code.write(view)["delivered"]
    assert code.write(view) in code.space
    assert found.shape == (stations, most, 7)
    assert (found[:-2] == 0).all()
    assert found[-2].tolist() == [[0, 0, 0, 1, 1, 0, 1]] * most
    assert (found[-1] == -1).all()


def test_locked_doors_are_told_one_by_one() -> None:
    world = next(level.world for level in bundled_levels() if len(level.world.doors) > 1)
    code = interface(world, world.agents[0]).observation_code
    found = code.write(world.initial._replace(locked=0b10))["locked"]
    assert found.tolist() == [0, 1, *[0] * (len(world.doors) - 2)]


def test_everybody_may_deliver_a_soup_in_the_same_step() -> None:
    world = cooking_asymmetric()
    view = world.observe(world.start(np.random.default_rng(0)), world.agents[0])
    code = interface(world, world.agents[0]).observation_code
    for soups, possible in ((1, True), (2, True), (3, False)):
        written = code.write(view._replace(reward=20.0 * soups))
        assert written["reward"].tolist() == [20.0 * soups]
        assert (written in code.space) == possible


def plain(value: Any) -> Any:
    """Arrays as lists, all the way down."""
    return {key: plain(part) for key, part in value.items()} if isinstance(value, dict) else value.tolist()


# All agents at once


@pytest.mark.slow
@pytest.mark.parametrize("name", ["rws_repeated", "pd_repeated", "rws_arena", "corridor", "overseen"])
def test_all_players_written_in_one_pass_see_what_each_sees(name: str) -> None:
    """Field by field, with the types of numbers: against the observation of one agent, written by its code."""
    env, dead = env_of(name), 0
    views = views_of(env.world)
    codes = {agent: interface(env.world, agent).observation_code for agent in env.possible_agents}
    for turn in play(env, seed=3, at_most=400):
        for i, (agent, *fields) in enumerate(zip(codes, *views(turn.after), strict=True)):
            expected = codes[agent].write(env.world.observe(turn.after, agent))
            assert data_equivalence(dict(zip(ViewArrays._fields, fields, strict=True)), expected), agent
            assert data_equivalence(turn.given[0][agent], expected), agent
            dead += turn.after.cells[i] == -1
    assert dead or name in ("rws_repeated", "pd_repeated")


def test_a_learner_may_write_to_what_it_sees_in_an_arena() -> None:
    env = env_of("rws_arena")
    first, _ = env.reset(seed=0)
    twin, _ = env_of("rws_arena").reset(seed=0)
    for array in first[env.agents[0]].values():
        if isinstance(array, np.ndarray):
            array[:] = 7
    for agent in env.agents[1:]:
        assert data_equivalence(first[agent], twin[agent])
    env.reset(seed=0)
    assert data_equivalence(env.reset(seed=0)[0], twin)


@every_world
def test_a_flat_observation_is_one_array_and_leaves_nothing_out(name: str) -> None:
    env, deep = env_of(name, flat=True), env_of(name)
    for turn in play(env, at_most=20):
        for agent, seen in turn.given[0].items():
            space, inner = env.observation_space(agent), deep.observation_space(agent)
            inner = inner["observation"] if name in MASKED else inner
            assert isinstance(space, spaces.Box)
            assert seen in space
            code = interface(env.world, agent).observation_code
            expected = code.write(env.world.observe(turn.after, agent))
            assert flat(inner, spaces.unflatten(inner, seen)) == flat(inner, expected) == seen.tobytes()
            assert ("action_mask" in turn.given[4][agent]) == (name in MASKED)


@pytest.mark.parametrize("name", ["level", "kitchen", "home", "rws_arena", "cooking", "prisoners"])
def test_pettingzoos_test_of_the_interface_passes_for_flat_observations(name: str) -> None:
    parallel_api_test(env_of(name, flat=True, steps=40), num_cycles=80)


@every_world
def test_the_state_is_what_all_agents_see_together(name: str) -> None:
    env = env_of(name)
    flattened = env_of(name, flat=True)
    assert isinstance(env.state_space, spaces.Box)
    for turn in play(env, at_most=10):
        state = env.state()
        assert state in env.state_space
        flattened.world_state = turn.after
        assert state.tolist() == np.concatenate([*flattened._observations()[0].values()]).tolist()


@every_world
def test_gymnasium_finds_nothing_wrong_with_the_spaces(name: str) -> None:
    def check_bounds(box: spaces.Box) -> None:
        assert box.low.shape == box.high.shape == box.shape
        assert (box.low <= box.high).all()

    env = env_of(name)
    for agent in env.possible_agents:
        check_space(env.observation_space(agent), "observation", check_bounds)
        check_space(env.action_space(agent), "action", check_bounds)
        for turn in play(env, at_most=3):
            check_obs(turn.given[0][agent], env.observation_space(agent), "step")


# The rest


@every_world
def test_maps_are_drawn_as_text_where_there_are_any(name: str) -> None:
    world = WORLDS[name]()
    if name in (*DRAWN, "level by turns", "pd_repeated", "rws_arena", "corridor", "overseen"):
        env = env_of(world, render_mode="ansi")
        env.reset(seed=0)
        assert len(env.render().splitlines()) > 2
        assert env.metadata["render_modes"] == ["ansi", "rgb_array"]
    else:
        with pytest.raises(InputError, match="no render mode `ansi`"):
            env_of(world, render_mode="ansi")
    quiet = env_of(world)
    quiet.reset(seed=0)
    assert quiet.render() is None


@pytest.mark.slow
@pytest.mark.parametrize("name", PICTURED)
def test_a_picture_shows_what_changes(name: str) -> None:
    env = env_of(name, render_mode="rgb_array")
    pictures = []
    for turn in play(env, at_most=12):
        pictures.append(env.render())
        assert pictures[-1].dtype == np.uint8
        assert pictures[-1].shape == (*pictures[0].shape[:2], 3)
        assert len(np.unique(pictures[-1].reshape(-1, 3), axis=0)) > 3, turn.after
    assert any((picture != pictures[0]).any() for picture in pictures)


def test_what_is_asked_for_must_make_sense() -> None:
    with pytest.raises(InputError, match=r"no render mode `human`.*one of ansi, rgb_array"):
        env_of(level(), render_mode="human")
    with pytest.raises(InputError, match="at least 1 step, not 0"):
        env_of(level(), steps=0)


def test_a_copy_goes_its_own_way() -> None:
    env = env_of(in_the_matrix("rws_repeated"))
    env.reset(seed=0)
    twin = copy.deepcopy(env)
    joint = dict.fromkeys(env.agents, 1)
    assert data_equivalence(env.step(joint), twin.step(joint))
    env.step(joint)
    assert (env.world_state.t, twin.world_state.t) == (2, 1)


class Told(NamedTuple):
    """What is seen in a world of one's own."""

    word: str | None


@dataclass(frozen=True)
class Parrot:
    """A world of one's own: everybody hears what the first one says."""

    agents: tuple[str, ...] = ("Polly", "Jack")

    def start(self, rng: np.random.Generator, /) -> Told:
        return Told(None)

    def actions(self, state: Told, agent: str) -> tuple[str, ...]:
        return ("yes", "no")

    def step(self, state: Told, joint: Mapping[str, str], rng: np.random.Generator, /) -> Told:
        return Told(joint["Polly"])

    def observe(self, state: Told, agent: str) -> Told:
        return state

    def reward(self, state: Told, joint: Mapping[str, str], after: Told) -> dict[str, float]:
        return dict.fromkeys(self.agents, 1.0)

    def done(self, state: Told) -> bool:
        return False


@dataclass(frozen=True)
class Cockatoo(Parrot):
    """A world that is known."""


def test_a_world_of_ones_own_needs_spaces() -> None:
    with pytest.raises(InputError, match=r"no spaces for worlds of type Parrot .*interface.register"):
        env_of(Parrot())
    words = ("yes", "no")
    interface.register(Cockatoo, lambda world, agent: AgentInterface(words, True, record(word=maybe(words))))
    env = env_of(Cockatoo())
    parallel_api_test(env, num_cycles=20)
    env.reset(seed=0)
    assert env.step({"Polly": 1, "Jack": 0})[0]["Jack"] == {"word": 2}


def test_without_pettingzoo_one_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pettingzoo", None)
    monkeypatch.delitem(sys.modules, "otherminds.adapters.parallel", raising=False)
    with pytest.raises(InputError) as error:
        env_of(level())
    assert "pip install -e '.[pettingzoo]'" in str(error.value)
    assert "\n" not in str(error.value)
