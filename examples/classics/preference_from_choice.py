"""What a choice says of a preference (inverse decision-making)

She takes the best of n toys, each worth N(0, 1) to her. The more toys she leaves, the more she likes the one she
takes: P(u | chosen) ∝ P(u) P(another is worse)^(n - 1), the limit without noise of Lucas et al. 2014, PLoS ONE 9:
e92160, and Jern, Lucas and Kemp 2017. The closed forms: ∫ u n φ(u) Φ(u)^(n - 1) du, which is 1/√π for n = 2 and
3/(2√π) for n = 3.

Try: two choices of the same toy, out of two and out of four: multiply what each of them says.
"""

import sys
from functools import cache
from math import log
from pathlib import Path

import otherminds as om

UTILITIES = [k / 50 for k in range(-250, 251)]
INTEGRALS = (0.0, 0.5642, 0.8463, 1.0294, 1.1630)
PRIOR = om.Categorical.softmax((u, -u * u / 2) for u in UTILITIES)


@cache
def p_worse(utility: float) -> float:
    """P(another toy is worse); of two that are equally good she takes any."""
    return PRIOR.expect(lambda other: (other < utility) + 0.5 * (other == utility))


def after_choice(toys: int) -> om.Categorical[float]:
    """P(utility | chosen out of so many)."""
    return PRIOR.update(lambda u: (toys - 1) * log(p_worse(u)))


for toys, integral in enumerate(INTEGRALS, 1):
    print(f"out of {toys}: utility {abs(after_choice(toys).expect(float)):.4f} (integral {integral:.4f})")
rounded = {f"out of {n}": after_choice(n).map(lambda u: round(u)) for n in (1, 2, 5)}
axes = om.plot_posterior({name: utility.condition(lambda u: abs(u) < 4) for name, utility in rounded.items()})
om.save_picture(axes, Path(sys.argv[1] if len(sys.argv) > 1 else ".") / "preference_from_choice.svg")
