"""What a trained policy sees, and that it plays as its network says."""

from __future__ import annotations

import math
import subprocess
import sys
from importlib import resources

import numpy as np
import pytest

from odd_matrix_worlds import any_state, joint, odd
from otherminds.errors import InputError
from otherminds.papers.hypothetical_minds.ppo import MeetingMemory, Network, Senses, Trained, shipped, shipped_for
from otherminds.worlds.avatars import ACTIONS, OUTSIDE
from otherminds.worlds.in_the_matrix.map_files import SUBSTRATES, in_the_matrix
from otherminds.worlds.in_the_matrix.rules import NOWHERE, MatrixState
from otherminds.worlds.in_the_matrix.world import PLAYER, RESOURCE, WALL, InTheMatrix, MatrixView, sighting


def world_of(name: str) -> InTheMatrix:
    return odd() if name == "odd" else in_the_matrix(name)


def mind_in(world: InTheMatrix, agent: str, network: Network | None = None) -> Trained:
    return Trained.initial(world, agent, network or blank_network(world))


def blank_network(world: InTheMatrix) -> Network:
    return Network(((np.zeros((Senses.of(world).width, 8), np.float32), np.zeros(8, np.float32)),))


def features(mind: Trained) -> list[float]:
    assert mind.views is not None
    found: list[float] = mind.senses.features(mind.views, mind.memory).tolist()
    return found


# What it sees


def by_hand(world: InTheMatrix, view: MatrixView) -> list[float]:
    """The features of a first view, cell by cell."""
    rows, columns = world.rules.field.shape
    kinds, reach = len(world.rules.resources), world.rules.field.reach
    window = list(view.window) or [OUTSIDE] * (rows * columns)
    del window[reach.forward * columns + reach.left]
    found: list[float] = []
    for code in window:
        who = sighting(code)
        found.append(code in (OUTSIDE, WALL))
        found += [code == RESOURCE + kind for kind in range(kinds)]
        found += [who is not None and who.look == look for look in range(3)]
        found += [(0, -1), (1, 0), (0, 1), (-1, 0)][who.facing] if who else (0, 0)
    total = sum(view.inventory)
    found += [count / total for count in view.inventory]
    found += [math.log(total / kinds), view.ready_to_shoot, view.frozen, *[0] * (kinds + 2)]
    return [float(number) for number in found]


@pytest.mark.slow
@pytest.mark.parametrize("name", [*SUBSTRATES, "odd"])
def test_features_are_what_the_window_shows(name: str) -> None:
    world, rng = world_of(name), np.random.default_rng(2)
    for state in (any_state(world, rng) for _ in range(20)):
        for agent in world.agents:
            view = world.observe(state, agent)
            assert features(mind_in(world, agent).observe(view)) == pytest.approx(by_hand(world, view))


def test_who_it_is_and_where_does_not_matter() -> None:
    """Only what is seen does: not one's number, nor the cell, nor what a partner held."""
    world = in_the_matrix("pd_repeated")
    view = world.observe(any_state(world, np.random.default_rng(3))._replace(t=0), world.agents[0])
    other = view._replace(cell=view.cell + 1, facing=(view.facing + 1) % 4, met=((2, 1), (1, 2)))
    swapped = view._replace(window=tuple(code ^ 16 if code >= PLAYER else code for code in view.window))
    for seen in (other, swapped):
        assert features(mind_in(world, world.agents[1]).observe(seen)) == features(
            mind_in(world, world.agents[0]).observe(view)
        )


def steps_of(world: InTheMatrix, state: MatrixState, count: int, rng: np.random.Generator) -> list[MatrixState]:
    states = [state]
    for acts in joint(count, world.rules.players, rng).tolist():
        chosen = {agent: ACTIONS[act] for agent, act in zip(world.agents, acts, strict=True)}
        states.append(world.step(states[-1], chosen, rng))
        if states[-1].ended:
            break
    return states


@pytest.mark.parametrize("seed", range(8))
def test_the_last_meeting_is_remembered_as_it_was(seed: int) -> None:
    world, met = odd(ends="ends: 400 100 0 400"), list[MatrixState]()
    rng, i = np.random.default_rng(seed), seed % 3
    mind, held, told = mind_in(world, world.agents[i]), None, [0.0] * 4
    for state in steps_of(world, world.start(rng), 400, rng):
        mind = mind.observe(world.observe(state, world.agents[i]))
        if (meeting := state.met[i]) is not None:
            held = meeting[0]
        elif held is not None and state.cells[i] == NOWHERE:
            told = [1.0, *(count / sum(held) for count in held), state.rewards[i] / 7]
            held, met = None, [*met, state]
        assert mind.memory.meeting.tolist() == pytest.approx(told)
    assert len(met) > 3


@pytest.mark.slow
@pytest.mark.parametrize("name", [*SUBSTRATES, "odd"])
def test_a_batch_is_seen_as_its_worlds_are(name: str) -> None:
    pytest.importorskip("numba", reason="needs Numba: the extra `fast`")
    from benchmarks.evidence.ppo_rollouts import seen_in
    from otherminds.worlds.in_the_matrix.batch import pack, step, unpack

    world, rng, n = world_of(name), np.random.default_rng(4), 11
    batch, senses = pack(world, [any_state(world, rng) for _ in range(n)]), Senses.of(world)
    memory = senses.blank((n, world.rules.players))
    minds = [[mind_in(world, agent) for agent in world.agents] for _ in range(n)]
    over = 0
    for _ in range(30):
        seen = seen_in(batch)
        over += int(((seen.rewards != 0) & (memory.dead == 0)).sum())
        memory = senses.remember(memory, seen)
        found = senses.features(seen, memory)
        for i, row in enumerate(minds):
            state = unpack(batch, i)
            minds[i] = [mind.observe(world.observe(state, a)) for mind, a in zip(row, world.agents, strict=True)]
            assert found[i].tolist() == [features(mind) for mind in minds[i]]
        step(batch, joint(n, world.rules.players, rng), rng, restart=True)
    assert over > 3


def test_a_new_episode_begins_without_a_past() -> None:
    world = in_the_matrix("pd_repeated")
    senses, view = Senses.of(world), world.observe(world.start(np.random.default_rng(0)), world.agents[0])
    old = MeetingMemory(np.array([1, 4], np.float32), np.array(False), np.ones(4, np.float32))
    fresh = senses.remember(old, senses.seen(view))
    assert (fresh.inventories.tolist(), fresh.meeting.tolist()) == ([1, 1], [0] * 4)


def test_who_sees_the_whole_map_is_refused() -> None:
    world = in_the_matrix("pd_repeated")
    with pytest.raises(InputError, match="a window only"):
        Senses.of(InTheMatrix(world.rules, world.agents, frozenset(world.agents)))


# What it does


def test_a_tiny_network_by_hand() -> None:
    """One inner number, tanh(2 · ready to shoot), which speaks for going forward."""
    world = odd()
    width = Senses.of(world).width
    first, last = np.zeros((width, 1), np.float32), np.zeros((1, 8), np.float32)
    first[width - 6], last[0, ACTIONS.index("forward")] = 2, 3
    network = Network(((first, np.zeros(1, np.float32)), (last, np.zeros(8, np.float32))))
    view = world.observe(world.start(np.random.default_rng(0)), world.agents[0])
    for ready in (1.0, 0.5, 0.0):
        weight = math.exp(3 * math.tanh(2 * ready))
        chances = mind_in(world, world.agents[0], network).observe(view._replace(ready_to_shoot=ready)).act()
        assert chances.support == ACTIONS
        assert chances.prob("forward") == pytest.approx(weight / (weight + 7), rel=1e-6)
        assert chances.prob("noop") == pytest.approx(1 / (weight + 7), rel=1e-6)


def test_before_it_sees_anything_it_does_anything() -> None:
    mind = mind_in(odd(), odd().agents[0])
    assert mind.act().probs == pytest.approx([1 / 8] * 8)


def test_a_mind_is_immutable() -> None:
    world = odd()
    mind = mind_in(world, world.agents[0]).observe(world.observe(world.start(np.random.default_rng(1)), "player_0"))
    before = features(mind)
    mind.observe(world.observe(world.start(np.random.default_rng(2)), "player_0"))
    assert features(mind) == before


def test_an_agent_that_does_not_play_is_refused() -> None:
    with pytest.raises(InputError, match="there is no agent `Zoe`"):
        mind_in(odd(), "Zoe")


# What is shipped


def played(world: InTheMatrix, minds: dict[str, Trained], steps: int, rng: np.random.Generator) -> tuple[float, int]:
    """What the first player gets in so many steps, and how often it meets somebody; who has no mind acts at random."""
    state, reward, meetings = world.start(rng), 0.0, 0
    for _ in range(steps):
        minds = {agent: mind.observe(world.observe(state, agent)) for agent, mind in minds.items()}
        acts = {agent: ACTIONS[rng.integers(8)] for agent in world.agents}
        state = world.step(state, acts | {agent: mind.act().sample(rng) for agent, mind in minds.items()}, rng)
        reward, meetings = reward + state.rewards[0], meetings + (state.met[0] is not None)
    return reward, meetings


@pytest.mark.slow
@pytest.mark.parametrize("name", SUBSTRATES)
def test_shipped_networks_are_small_and_play_the_same_every_time(name: str) -> None:
    file = resources.files("otherminds.papers.hypothetical_minds").joinpath("weights", f"ppo-{name}.npz")
    assert len(file.read_bytes()) <= 300_000
    world = in_the_matrix(name)
    minds = {agent: mind_in(world, agent, shipped(name)) for agent in world.agents}
    assert played(world, minds, 60, np.random.default_rng(6)) == played(world, minds, 60, np.random.default_rng(6))


@pytest.mark.slow
def test_it_does_better_with_itself_than_at_random() -> None:
    world = in_the_matrix("pd_repeated")
    minds = {agent: mind_in(world, agent, shipped("pd_repeated")) for agent in world.agents}
    reward, meetings = played(world, minds, 400, np.random.default_rng(7))
    assert meetings >= 4
    assert reward > 2 * max(1.0, played(world, {}, 400, np.random.default_rng(7))[0])


@pytest.mark.slow
def test_it_plays_without_pytorch_and_numba() -> None:
    code = (
        "import sys; sys.modules['torch'] = sys.modules['numba'] = None\n"
        "from otherminds.papers.hypothetical_minds.ppo import shipped; print(len(shipped('pd_repeated').layers))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "3"


def test_the_network_of_a_world_is_found() -> None:
    assert [shipped_for(in_the_matrix(name)) for name in SUBSTRATES] == [shipped(name) for name in SUBSTRATES]
    with pytest.raises(InputError, match="no network is shipped for this world"):
        shipped_for(odd())


def test_a_network_for_no_world_is_refused() -> None:
    with pytest.raises(InputError, match="no matrix world `chess`"):
        shipped("chess")
