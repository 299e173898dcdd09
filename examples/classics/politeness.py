"""Polite speech (to inform or to be kind)

A cake deserves 0 to 3 hearts. The speaker weighs what the baker learns against how good the baker feels:
S(w | s) ∝ exp α [φ log L0(s | w) + (1 − φ) E[s | w]]. Yoon, Tessler, Goodman and Frank 2020 (first 2016).
Published: the curves in memo's notebook demo-politeness for α = 3; its code, run, gives the figures below. As there, L0
inverts a speaker who picks among words as true as they are; the paper's L0 only asks how true a word is.

Try: the words for a cake of two hearts, for φ = 0.1 to 1.
"""

import sys
from pathlib import Path

import otherminds as om

ALPHA = 3.0
TRUTH = {  # degree to which the words are true of 0 to 3 hearts
    "terrible": (1, 0.5, 0, 0),
    "not amazing": (1, 1, 1, 0),
    "not terrible": (0, 1, 1, 1),
    "amazing": (0, 0, 0.5, 1),
}
PUBLISHED = {0.9: (0.219, 0.324, 0.458, 0.000), 0.1: (0.007, 0.042, 0.950, 0.000)}  # P(words | one heart), by φ


def literal_speaker(hearts: int) -> om.Categorical[str]:
    """P(words | hearts), in proportion to how true they are."""
    return om.Categorical.of({words: truth[hearts] for words, truth in TRUTH.items()})


def literal_listener(words: str) -> om.Categorical[int]:
    """L0: P(hearts | a literal speaker says this)."""
    return om.Categorical.uniform(range(4)).update(lambda hearts: literal_speaker(hearts).log_prob(words))


def speaker(hearts: int, phi: float) -> om.Categorical[str]:
    """S: P(words | hearts, φ, the weight of being informative)."""
    heard = {words: literal_listener(words) for words in TRUTH}
    utility = {words: phi * l0.log_prob(hearts) + (1 - phi) * l0.expect(float) for words, l0 in heard.items()}
    return om.Categorical.softmax((words, ALPHA * utility[words]) for words in TRUTH)


for phi, figures in PUBLISHED.items():
    for (words, p), published in zip(speaker(1, phi), figures, strict=True):
        print(f"one heart, φ = {phi}: {words} {p:.3f} (published {published:.3f})")
axes = om.plot_posterior({f"φ = {phi}": speaker(1, phi) for phi in PUBLISHED})
om.save_picture(axes, Path(sys.argv[1] if len(sys.argv) > 1 else ".") / "politeness.svg")
