"""The prosecutor and the judge (Bayesian persuasion)

Three defendants in ten are guilty. The prosecutor chooses a test, and its result is told, whatever it is; the judge
knows the test, and convicts if guilt is no less probable than innocence. Kamenica and Gentzkow 2011.
Published: 60 % are convicted, by a test that exonerates 4/7 of the innocent and incriminates all of the guilty; memo's
notebook demo-persuasion prints 0.575 and 1.000 for the best of 101 × 101 tests.

Try: a judge who wants to be surer (REQUIRED = 0.9), and only a third are convicted.
"""

import sys
from itertools import product
from pathlib import Path

import otherminds as om

REQUIRED = 0.5
defendant = om.Categorical.of({"innocent": 0.7, "guilty": 0.3})
GRID = [0.5 + step / 200 for step in range(101)]


def cases(test: tuple[float, float]) -> om.Categorical[tuple[str, bool]]:
    """P(guilty or innocent, incriminated), for a test with P(exonerated | innocent) and P(incriminated | guilty)."""
    p_incriminated = {"innocent": 1 - test[0], "guilty": test[1]}
    return defendant.joint(
        lambda state: om.Categorical.of({True: p_incriminated[state], False: 1 - p_incriminated[state]})
    )


def judge(result: bool, known: om.Categorical[tuple[str, bool]]) -> om.Categorical[str]:
    """P(guilty or innocent | result of the test)."""
    return known.condition(lambda case: case[1] == result).map(lambda case: case[0])


def convicted(test: tuple[float, float]) -> float:
    """P(conviction | test), up to rounding errors of the judge's."""
    known = cases(test)
    return known.map(lambda case: case[1]).expect(lambda result: judge(result, known).prob("guilty") > REQUIRED - 1e-12)


best = max(product(GRID, repeat=2), key=convicted)
for name, test, published in (("best on the grid", best, 0.575), ("Kamenica and Gentzkow's", (4 / 7, 1.0), 0.571)):
    print(f"{name}: {test[0]:.3f}, {test[1]:.3f} (published {published}, 1.000)", end=", ")
    print(f"convicts {convicted(test):.2f} (published 0.60)")
beliefs = {"before": defendant, "incriminated": judge(True, cases(best)), "exonerated": judge(False, cases(best))}
axes = om.plot_posterior(beliefs)
om.save_picture(axes, Path(sys.argv[1] if len(sys.argv) > 1 else ".") / "persuasion.svg")
