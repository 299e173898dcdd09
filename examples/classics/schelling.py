"""Meeting without a word (Schelling's coordination game)

Alice and Bob want to meet, in one of two bars, of which one is a little more popular. Each goes where the other is
thought to go: A_d(b) ∝ p(b) B_{d−1}(b), B_d(b) ∝ p(b) A_d(b), B_0 = p. Schelling 1960, chapter 3.
Published: what memo's notebook demo-schelling prints, at depths 1 to 9: P(Alice goes to the popular bar), and P(they
meet), as Alice believes, whose Bob thinks one step less deeply, and as it is.

Try: bars that are equally popular, and no depth of thought helps them.
"""

import sys
from pathlib import Path

import otherminds as om

popular = om.Categorical.of({"Alibi": 0.55, "Bristol": 0.45})
PUBLISHED = {1: (0.599, 0.510, 0.529), 2: (0.691, 0.556, 0.588), 3: (0.769, 0.625, 0.663), 9: (0.974, 0.943, 0.953)}


def follow(other: om.Categorical[str]) -> om.Categorical[str]:
    """P(bar) in proportion to how popular it is, and how probable it is that the other is there."""
    return popular.update(other.log_prob)


def alice(depth: int) -> om.Categorical[str]:
    """P(Alice's bar | she thinks of a Bob of one depth less)."""
    return follow(bob(depth - 1))


def bob(depth: int) -> om.Categorical[str]:
    """P(Bob's bar | he thinks of an Alice of the same depth; at 0, of the bars only)."""
    return follow(alice(depth)) if depth else popular


for depth, published in PUBLISHED.items():
    believed, meeting = (alice(depth).expect(bob(level).prob) for level in (depth - 1, depth))
    figures = (alice(depth).prob("Alibi"), believed, meeting)
    print(f"depth {depth}:", *(f"{p:.3f} (published {q:.3f})" for p, q in zip(figures, published, strict=True)))
axes = om.plot_posterior([alice(depth) for depth in range(1, 10)], start=1)
axes.set(xlabel="depth", ylabel="P(Alice's bar)")
om.save_picture(axes, Path(sys.argv[1] if len(sys.argv) > 1 else ".") / "schelling.svg")
