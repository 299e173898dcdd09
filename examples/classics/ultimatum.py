"""The ultimatum game (inequity aversion)

One player offers a share of a sum; the other takes it, or both get nothing. A player with less than the other suffers
envy times the difference, one with more guilt times (Fehr and Schmidt 1999, Quarterly Journal of Economics 114).
Published: the paper's equation, by which offers from envy / (1 + 2 envy) on are taken; and for selfish players that
err (beta = 50, offers k / 99), mode 0.081 and mean 0.087 from memo's demo-ultimatum.ipynb (its code, run here).

Try: less guilt than 0.6: down to which guilt does the proposer offer half?
"""

import sys
from bisect import bisect_left
from pathlib import Path

import otherminds as om

OFFERS, BETA = [k / 99 for k in range(100)], 50.0


def utility(own: float, other: float, envy: float, guilt: float) -> float:
    """U = x - envy max(y - x, 0) - guilt max(x - y, 0)."""
    return own - envy * max(other - own, 0.0) - guilt * max(own - other, 0.0)


def p_accept(offer: float, envy: float) -> float:
    """P(the responder takes it), who has no guilt."""
    gain = utility(offer, 1.0 - offer, envy, 0.0)
    return om.Categorical.softmax([(True, BETA * gain), (False, 0.0)]).prob(True)


def proposal(envy: float, guilt: float) -> om.Categorical[float]:
    """P(offer) of a proposer with this guilt, who knows the responder's envy."""
    value = {offer: p_accept(offer, envy) * utility(1.0 - offer, offer, 0.0, guilt) for offer in OFFERS}
    return om.Categorical.boltzmann(((offer, -gain) for offer, gain in value.items()), beta=BETA)


selfish = proposal(0.0, 0.0)
print(f"selfish: mode {selfish.mode:.3f}, mean {selfish.expect(float):.3f} (published 0.081, 0.087)")
for envy in (0.0, 0.5, 1.0, 4.0):
    least = bisect_left(range(10**6), 0.5, key=lambda k, envy=envy: p_accept(k / 10**6, envy)) / 10**6
    print(f"envy {envy}: takes {least:.3f} (published {envy / (1 + 2 * envy):.3f}), is offered", end=" ")
    print(f"{proposal(envy, 0.0).mode:.2f}, by a proposer with guilt 0.6: {proposal(envy, 0.6).mode:.2f}")
axes = om.plot_posterior({f"envy {envy}": proposal(envy, 0.0) for envy in (0.0, 1.0)})
axes.set(xticks=range(0, 100, 25), xticklabels=[f"{OFFERS[k]:.2f}" for k in range(0, 100, 25)], xlabel="offer")
om.save_picture(axes, Path(sys.argv[1] if len(sys.argv) > 1 else ".") / "ultimatum.svg")
