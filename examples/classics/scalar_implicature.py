"""Some, so not all (scalar implicature)

"Some apples are red" is true if all are. But a speaker who wants to be understood would have said "all". The rational
speech acts of Frank and Goodman 2012, S(u | n) ∝ L0(n | u)^α, L(n | u) ∝ S(u | n), for the apples of Goodman and
Stuhlmüller 2013. Published: memo's demo-scalar, run for three instead of 10,000, gives 0.444, 0.444, 0.111. By hand,
for N apples and α = 1, P(all | some) = 1 / N², where the literal listener has 1 / N.

Try: a more careful speaker (ALPHA = 4), and "some" hardly ever means "all".
"""

import sys
from pathlib import Path

import otherminds as om

N, ALPHA = 3, 1.0
IS_TRUE = {"none": lambda n: n == 0, "some": lambda n: n > 0, "all": lambda n: n == N}
PUBLISHED = (0.0, 0.444, 0.444, 0.111)  # P(n are red | "some")


def literal_listener(utterance: str) -> om.Categorical[int]:
    """L0: P(number of red apples | what was said is true)."""
    return om.Categorical.uniform(range(N + 1)).condition(IS_TRUE[utterance])


def speaker(n: int) -> om.Categorical[str]:
    """S: P(utterance | number of red apples)."""
    return om.Categorical.softmax((u, ALPHA * literal_listener(u).log_prob(n)) for u in IS_TRUE)


def listener(utterance: str) -> om.Categorical[int]:
    """L: P(number of red apples | the speaker chose this utterance)."""
    return om.Categorical.uniform(range(N + 1)).update(lambda n: speaker(n).log_prob(utterance))


beliefs = {"pragmatic": listener("some"), "literal": literal_listener("some")}
for n, published in enumerate(PUBLISHED):
    pragmatic, literal = (belief.prob(n) for belief in beliefs.values())
    print(f"P({n} are red | some) = {pragmatic:.3f} (published {published:.3f}), literally {literal:.3f}")
axes = om.plot_posterior(beliefs)
axes.set(xlabel="red apples")
om.save_picture(axes, Path(sys.argv[1] if len(sys.argv) > 1 else ".") / "scalar_implicature.svg")
