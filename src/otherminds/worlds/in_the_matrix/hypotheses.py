"""What an agent may infer about a partner in a matrix world: its strategy, and the inventory it held.

Interactions are the rounds of a repeated game, in which a player plays the kind that it holds most of, and strategies
are the machines that play it. `library` lists strategies with prior probabilities; `partner_inventory` runs the payoff
backward.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import combinations, pairwise, permutations, product
from math import comb, log
from typing import NamedTuple

from otherminds.distribution import Categorical
from otherminds.planning.best_response import clairvoyant, commitment
from otherminds.worlds.in_the_matrix import strategies
from otherminds.worlds.in_the_matrix.rules import Rules
from otherminds.worlds.in_the_matrix.strategies import Aim, Inventory, Strategy, StrategyState
from otherminds.worlds.repeated_games.machines import Machine, build, reactive
from otherminds.worlds.repeated_games.players.bayesian_lookahead import HypothesisSet
from otherminds.worlds.repeated_games.rules import Game

MARGIN = 5  # lead of the played kind that players are assumed to gather; that of most of Melting Pot's bots
MARGINS = range(1, 13)  # leads that an agent chooses from; with more it gains next to nothing
SEEN = 0.15  # probability that a partner that watches has seen a pick-up; chosen on development seeds
OWN_SHARE = 0.5  # among many, the share of what it has seen that was the agent's own; chosen on development seeds


def typical_inventory(kind: int, kinds: int, margin: int = MARGIN) -> Inventory:
    """The inventory of a player that gathered one kind until it leads by a margin."""
    return tuple(1 + margin * (k == kind) for k in range(kinds))


def meeting_game(rules: Rules, margin: int = MARGIN) -> Game:
    """The game of one interaction between players with one kind in the lead: R[a, b] = xᵀAy for their inventories."""
    kinds = range(len(rules.resources))
    inventories = [typical_inventory(kind, len(kinds), margin) for kind in kinds]
    payoffs = tuple(rules.reward(inventories[a], inventories[b]) for a in kinds for b in kinds)
    names = rules.resources
    return Game("meeting " + " ".join(names), ("me", "partner"), (names, names), payoffs)


class Pace(NamedTuple):
    """How fast a player is, in steps: to gather one more resource, and for all else from one meeting to the next."""

    gather: float = 3.0
    meet: float = 45.0


EXPECTED_PACE = Pace()
"""The pace that an agent expects of itself before it has moved; read off development episodes."""


def chosen_margin(
    rules: Rules, kind: int, theirs: Categorical[int], *, pace: Pace = EXPECTED_PACE, watched: float = 0.0
) -> int:
    """The lead of a kind that pays best in the long run: argmax_m E[R | m] / (steps of a meeting with lead m).

    `theirs` is what the partner plays if it does not watch, `watched` the probability that it does. The partner
    gathers MARGIN, no faster than the agent; to be ready before it saves only half of the time.
    """
    kinds = len(rules.resources)
    inventories = [typical_inventory(play, kinds) for play in range(kinds)]

    def rewards_per_step(margin: int) -> float:
        """Expected reward per step if the agent always gathers this lead."""
        own = typical_inventory(kind, kinds, margin)
        p_seen = watched * seeing(rules, margin)
        plays = [(1.0 - p_seen) * theirs.prob(play) + p_seen * (play == counters(rules)[kind]) for play in range(kinds)]
        pay = sum(p * rules.reward(own, inventory)[0] for p, inventory in zip(plays, inventories, strict=True))
        return pay / (pace.meet + pace.gather * (margin + max(margin, MARGIN)) / 2)

    return max(MARGINS, key=rewards_per_step)


def seeing(rules: Rules, lead: int) -> float:
    """P(a partner that watches answers this kind), given its lead; among many it may answer another's."""
    return float(1.0 - (1.0 - SEEN) ** lead) * (1.0 if rules.players == 2 else OWN_SHARE)


@lru_cache(maxsize=8)
def counters(rules: Rules) -> tuple[int, ...]:
    """The partner's best reply to each kind."""
    return tuple(meeting_game(rules).payoff(1).argmax(axis=0).tolist())


def machine_of(name: str, strategy: Strategy, game: Game) -> Machine:
    """A strategy as a machine, whose states are the beliefs about the strategy's state that its plays allow."""
    kinds = len(game.actions[1])

    def law(states: Categorical[StrategyState]) -> tuple[float, ...]:
        return tuple(sum(p for state, p in states if state.aim.kind == kind) for kind in range(kinds))

    def follow(states: Categorical[StrategyState], own: int, theirs: int) -> Categorical[StrategyState]:
        if law(states)[own] > 0.0:
            states = states.condition(lambda state: state.aim.kind == own)
        own_inventory, their_inventory = typical_inventory(own, kinds), typical_inventory(theirs, kinds)
        return _canonical(states.bind(lambda state: strategy.update(state, own_inventory, their_inventory)))

    return build(name, game, _canonical(strategy.start()), law, follow)


def _canonical(states: Categorical[StrategyState]) -> Categorical[StrategyState]:
    """A canonical form of a distribution, so that equal ones are the same state of a machine."""
    ordered = sorted((pair for pair in states if pair[1] > 1e-9), key=lambda pair: repr(pair[0]))
    return Categorical.softmax([(state, log(round(p, 9))) for state, p in ordered])


NOISE = 0.08
"""Probability that a partner plays another kind than its strategy says, as if hit before it was ready; chosen."""
HORIZON = 40
"""Interactions to plan for: about as many as an episode with one partner has."""
DEPTH = 2
"""Interactions of look-ahead, after which the value of a known partner is assumed; chosen for speed."""
TREMBLE = 0.15
"""Probability of a slip of noisy strategies: that of Melting Pot's noisy tit-for-tat bots."""
TABLES = 256
"""Most reply tables to enumerate as habits; beyond it only the cyclic ones are. Bounds time; not tuned."""
TIMES = {1: "once", 2: "twice", 3: "thrice"}
MOSTLY = 0.8
"""Probability that a partner keeps to its habit: enough to show in a few plays, less than for a strategy; chosen."""


def named_strategies(rules: Rules) -> Iterator[tuple[str, Strategy]]:
    """All strategies considered for a partner, with names."""
    names = rules.resources
    aims = tuple(Aim(kind, MARGIN) for kind in range(len(names)))
    for name, aim in zip(names, aims, strict=True):
        yield f"always {name}", strategies.specialist(aim)
    for (a, b), n in product(permutations(aims, 2), TIMES):
        yield f"{names[a.kind]} {TIMES[n]}, then {names[b.kind]}", strategies.flip(a, b, n)
    yield from _reply_strategies(aims, names)
    if len(aims) == 2:
        yield from _dilemma_strategies(*aims)


def _reply_strategies(aims: tuple[Aim, ...], names: tuple[str, ...]) -> Iterator[tuple[str, Strategy]]:
    """Strategies that answer the partner's last play, or go on from their own, by a rotation of the kinds."""
    n = len(aims)
    for shift in range(n):
        replies = tuple(aims[(kind + shift) % n] for kind in range(n))
        name = "copies" if shift == 0 else " ".join(f"{names[k]}→{names[(k + shift) % n]}" for k in range(n))
        yield f"answers the last play: {name}", strategies.CounterPrevious(replies)
        if shift:
            for opening in aims:
                yield f"goes on from {names[opening.kind]}: {name}", strategies.FollowUp(opening, replies)


def _dilemma_strategies(c: Aim, d: Aim) -> Iterator[tuple[str, Strategy]]:
    """Strategies of the prisoner's dilemma: the first kind cooperates, the second defects."""
    noisy = ((0.0, ""), (TREMBLE, ", noisily"))
    reciprocators = [(f"tit for tat{how}", strategies.TitForTat(c, d, p)) for p, how in noisy]
    yield from reciprocators
    for n in (1, 2, 3):
        yield f"grim after {n}", strategies.Grim(c, d, n)
    for n, (name, reformed) in product((1, 2, 3, 4), reciprocators):
        yield f"{name} once punished {n} times", strategies.Corrigible(n, reformed)


def _habits(game: Game) -> Iterator[Machine]:
    """Partners without a plan: they mostly play one kind, or a reply to the last play of either player.

    There is one for each table of replies (only rotations of the kinds if there are more than TABLES), and one that
    plays at random.
    """
    names = game.actions[1]
    n = len(names)
    p_else = (1 - MOSTLY) / (n - 1)
    usual_laws = tuple(tuple(MOSTLY if kind == usual else p_else for kind in range(n)) for usual in range(n))
    anything = (1 / n,) * n
    yield Machine("anything", (anything,), (((0,) * n,) * n,))
    for name, law in zip(names, usual_laws, strict=True):
        yield Machine(f"mostly {name}", (law,), (((0,) * n,) * n,))
    onward = (tuple((own + 1,) * n for own in range(n)),) * (n + 1)
    rotations = (tuple((kind + shift) % n for kind in range(n)) for shift in range(n))
    for table in product(range(n), repeat=n) if n**n <= TABLES else rotations:
        if len(set(table)) > 1:
            rule = " ".join(f"{name}→{names[reply]}" for name, reply in zip(names, table, strict=True))
            replies = [usual_laws[reply] for reply in table]
            yield reactive(f"mostly answers the last play: {rule}", game, anything, replies)
            yield Machine(f"mostly goes on: {rule}", (anything, *replies), onward)


def library(rules: Rules, *, without: Iterable[str] = ()) -> HypothesisSet:
    """The hypotheses about a partner with their prior: P(m) ∝ 2^−states, and half as much for habits.

    Simpler strategies are more probable a priori. Habits, which fit anything loosely, are there so that a wrong
    strategy is not believed for want of an alternative. `without` names hypotheses to leave out; some of them are the
    strategies of Melting Pot's bots. Raises ValueError if none is left.
    """
    game = meeting_game(rules)
    excluded = set(without)
    hypotheses = [(machine, weight) for machine, weight in _weighted_hypotheses(rules) if machine.name not in excluded]
    if not hypotheses:
        raise ValueError("no hypothesis is left")
    total = sum(weight for _, weight in hypotheses)
    prior = tuple(weight / total for _, weight in hypotheses)
    # as if the partner were known from then on: where a test costs goodwill, that would put it off forever
    replies_differ = len(set(counters(rules))) > 1
    leaf, depth = (clairvoyant, DEPTH) if replies_differ else (commitment, 1)
    return HypothesisSet(game, tuple(machine for machine, _ in hypotheses), prior, NOISE, HORIZON, leaf, depth)


@lru_cache(maxsize=8)
def _weighted_hypotheses(rules: Rules) -> tuple[tuple[Machine, float], ...]:
    """All hypotheses with their weights; kept, as every player of every episode asks for them."""
    game = meeting_game(rules)
    machines = [machine_of(name, strategy, game) for name, strategy in named_strategies(rules)]
    habits = [(machine, 2.0 ** -(len(machine.outputs) + 1)) for machine in _habits(game)]
    return (*((machine, 2.0 ** -len(machine.outputs)) for machine in machines), *habits)


MOST = 14
"""Most resources a partner is assumed to have gathered; fewer if there are many kinds. Chosen; not tuned."""
MANY = 20_000
"""Most inventories to enumerate; bounds time."""
IMPURE = 0.3
"""Factor on the prior weight of an inventory for each resource outside its majority kind; chosen; not tuned."""
LARGE = 0.9
"""Factor on the prior weight of an inventory for each gathered resource; chosen; not tuned."""
SAME = 1e-9
"""Rewards that differ by less are equal: rounding of sums."""


def partner_inventory(
    rules: Rules, own: Inventory, reward: float, *, zapped: bool | None = None
) -> Categorical[Inventory]:
    """P(partner's inventory y | own inventory, own reward): the prior restricted to inventories that pay this reward.

    Small and pure inventories are more probable: P(y) ∝ LARGE^(resources gathered) · IMPURE^(those of other kinds than
    the most frequent). `zapped` says whether the agent was the column player, None if unknown. If no inventory pays
    exactly the reward, those that come nearest are taken.
    """
    kinds = len(own)
    scored = []
    for theirs, weight in _weighted_inventories(kinds):
        payoffs = []
        if zapped is not True:
            payoffs.append(rules.reward(own, theirs)[0])
        if zapped is not False:
            payoffs.append(rules.reward(theirs, own)[1])
        scored.append((min(abs(payoff - reward) for payoff in payoffs), theirs, weight))
    nearest = min(error for error, _, _ in scored)
    limit = max(nearest, SAME) + SAME
    return Categorical.from_scores((theirs, weight) for error, theirs, weight in scored if error <= limit)


def partner_play(inventory: Categorical[Inventory]) -> Categorical[int | None]:
    """P(kind the partner played), where None is a tie."""
    return inventory.map(strategies.play_of)


@lru_cache(maxsize=8)
def _weighted_inventories(kinds: int) -> tuple[tuple[Inventory, float], ...]:
    """All inventories that a partner may hold, with the logarithms of their prior weights."""
    inventories = []
    limit = max(m for m in range(1, MOST + 1) if m == 1 or comb(m + kinds, kinds) <= MANY)
    for bars in combinations(range(limit + kinds), kinds):  # stars and bars: all counts with a sum of at most `limit`
        gathered = [bar - before - 1 for before, bar in pairwise((-1, *bars))]
        total, most = sum(gathered), max(gathered)
        if total:
            log_weight = total * log(LARGE) + (total - most) * log(IMPURE)
            inventories.append((tuple(1 + count for count in gathered), log_weight))
    return tuple(inventories)
