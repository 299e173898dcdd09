"""Goals and subgoals (what explains a detour)

She walks on an open field to A or B. A straight walk needs no other explanation; after a detour she probably had
something to do where she turned. Baker, Saxe and Tenenbaum 2009, Cognition 113: in their model M3 she may go to a
subgoal first, any cell of the field. P(move | plan) ∝ exp(-BETA steps to go). Published: the equation only. By it a
straight walk rules out no subgoal on its way, and all of them are equally probable.

Try: BETA = 0.5, a walk that is half at random: is the detour still worth an explanation?
"""

import sys
from itertools import pairwise, product
from pathlib import Path

import otherminds as om

BETA = 2.5  # chosen
FIELD = list(product(range(9), range(5)))
A, B = (8, 0), (8, 4)
Cell = tuple[int, int]
Plan = tuple[Cell, ...]  # the stops: the goal, after the subgoal if there is one
# as often without a subgoal as with any of them
PRIOR: om.Categorical[Plan] = om.Categorical.uniform([(A,), (B,)] * len(FIELD) + list(product(FIELD, (A, B))))


def steps(cell: Cell, stops: Plan) -> int:
    """The length of the way through all stops."""
    return sum(abs(x - u) + abs(y - v) for (x, y), (u, v) in pairwise([cell, *stops]))


def policy(cell: Cell, stops: Plan) -> om.Categorical[Cell]:
    """P(next cell) of an agent with these stops left."""
    near = [(cell[0] + dx, cell[1] + dy) for dx, dy in ((1, 0), (-1, 0), (0, 1), (0, -1))]
    return om.Categorical.boltzmann(((after, steps(after, stops)) for after in near if after in FIELD), beta=BETA)


def log_likelihood(plan: Plan, path: list[Cell]) -> float:
    """log P(path | plan): the subgoal is left out once she has been there."""
    turn = path.index(plan[0]) if plan[0] in path else len(path)
    left = [plan if t < turn else plan[-1:] for t in range(len(path))]
    return sum(policy(cell, left[t]).log_prob(path[t + 1]) for t, cell in enumerate(path[:-1]))


def posterior(path: list[Cell]) -> om.Categorical[Plan]:
    """P(plan | path)."""
    return PRIOR.update(lambda plan: log_likelihood(plan, path))


straight = [(x, 0) for x in range(8)]
detour = [(0, y) for y in range(5)] + [(1, y) for y in range(4, -1, -1)] + [(2, 0), (3, 0), (4, 0)]
for name, path in {"straight": straight, "detour": detour}.items():
    plans = posterior(path)
    stop = plans.condition(lambda plan: len(plan) == 2).map(lambda plan: plan[0])
    to_a, detours = (plans.expect(fact) for fact in (lambda plan: plan[-1] == A, lambda plan: len(plan) == 2))
    print(f"{name}: P(goes to A) {to_a:.2f}, P(subgoal) {detours:.2f}, P(it is {stop.mode}) {stop.prob(stop.mode):.2f}")
axes = om.plot_posterior([posterior(detour[:t]).map(lambda plan: "AB"[plan[-1] == B]) for t in range(1, len(detour))])
om.save_picture(axes, Path(sys.argv[1] if len(sys.argv) > 1 else ".") / "maze_subgoals.svg")
