"""Guess two thirds of the average (level-k reasoning)

Every player names a number from 0 to 100; the one nearest to 2/3 of the mean wins. A level-k player takes all others
for level k - 1, and level 0 names any number. Nagel 1995, American Economic Review 85: level k names 50 (2/3)^k.
Published: that formula; and for players that err, p(n) ∝ exp(-|n - 2/3 E|) over whole numbers, the means from memo's
demo-23.ipynb (its code, run here).

Try: P = 1/2, or players that err more (beta = 0.1): do they still go down to 0?
"""

import sys
from pathlib import Path

import otherminds as om

P = 2 / 3
NAGEL = (50.0, 33.33, 22.22, 14.81, 9.88)
MEMO = (50.0, 33.32, 22.20, 14.81, 9.89)


def guess(level: int) -> om.Categorical[float]:
    """P(number) of a player that never errs: P times the mean of what it expects."""
    return om.Categorical.uniform(range(101) if level == 0 else [P * guess(level - 1).expect(float)])


def noisy_guess(level: int, beta: float = 1.0) -> om.Categorical[int]:
    """P(number) of a player that errs, and expects others to err."""
    if level == 0:
        return om.Categorical.uniform(range(101))
    target = P * noisy_guess(level - 1, beta).expect(float)
    return om.Categorical.boltzmann(((n, abs(n - target)) for n in range(101)), beta=beta)


for k, published in enumerate(zip(NAGEL, MEMO, strict=True)):
    means = [play(k).expect(float) for play in (guess, noisy_guess)]
    print(
        f"level {k}:",
        *(f"{mean:5.2f} (published {figure:5.2f})" for mean, figure in zip(means, published, strict=True)),
    )
axes = om.plot_posterior({f"level {k}": noisy_guess(k).condition(lambda n: n < 50) for k in range(4)})
axes.set_xticks(range(0, 50, 10))
om.save_picture(axes, Path(sys.argv[1] if len(sys.argv) > 1 else ".") / "beauty_contest.svg")
