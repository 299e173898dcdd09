"""Three doors (the Monty Hall problem)

Behind one of three doors is a prize. Alice points at door 0, and Monty opens another door without it: he knows where it
is, and what he does tells something about what he knows. Selvin 1975.
Published: 1/3 for her door, 0 and 2/3 for the others, printed by memo's notebook demo-monty. If Monty opens one of the
other doors by chance, and the prize happens not to be there, staying is as good as switching: 1/2 (by hand).

Try: a Monty who opens door 1 whenever he can, and look at both doors that he may open.
"""

import sys
from pathlib import Path

import otherminds as om

PICKED, OPENED = 0, 1
FIGURES = {"knows": ("published", (0.333, 0.000, 0.667)), "guesses": ("by hand", (0.500, 0.000, 0.500))}
prize = om.Categorical.uniform(range(3))


def monty(door_with_prize: int, knows: bool) -> om.Categorical[int]:
    """P(door that Monty opens | where the prize is, if he knows it)."""
    return om.Categorical.uniform({0, 1, 2} - {PICKED, door_with_prize if knows else PICKED})


def alice(knows: bool) -> om.Categorical[int]:
    """P(door with the prize | the door that Monty opened has none), for an Alice who knows what he knows."""
    cases = prize.joint(lambda door: monty(door, knows))
    return cases.condition(lambda case: case[1] == OPENED != case[0]).map(lambda case: case[0])


beliefs = {f"Monty {how}": alice(how == "knows") for how in FIGURES}
for (name, belief), (source, figures) in zip(beliefs.items(), FIGURES.values(), strict=True):
    for door, figure in enumerate(figures):
        print(f"{name}: P(prize behind door {door}) = {belief.prob(door):.3f} ({source} {figure:.3f})")
axes = om.plot_posterior(beliefs)
axes.set(xlabel="door with the prize")
om.save_picture(axes, Path(sys.argv[1] if len(sys.argv) > 1 else ".") / "monty_hall.svg")
