"""Help or hinder: a person's social goal, inferred event by event from what they say and do."""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from otherminds.reports.plots import BLUE, LOOK, SOFT
from otherminds.stories.answering import ask
from otherminds.stories.model import Utterance

STORY = (
    "Hugo walked into the bathroom. Hugo walked into the living room. Hugo went to the kitchen. "
    'Hugo asked, "Where is the fork?" Victor said, "I found the fork in the cabinet in the bathroom." '
    "Hugo walked into the bathroom. Hugo walked to the cabinet in the bathroom. "
    "Hugo opened the cabinet in the bathroom. Hugo closed the cabinet in the bathroom. Hugo walked into the kitchen. "
    "Hugo walked to the fridge in the kitchen. Hugo opened the fridge in the kitchen. "
    "Hugo grabbed the fork from the fridge in the kitchen."
)
STEM = "If Victor knows what is in the cabinet in the bathroom, which of these statements is MOST likely?"
OPTIONS = {
    "help": "Victor was trying to help Hugo find the fork.",
    "hinder": "Victor was trying to keep Hugo from finding the fork.",
    "does not care": "Victor did not care whether Hugo found the fork.",
}

answer = ask(STORY, STEM, tuple(OPTIONS.values())).answer
scores = np.vstack([np.zeros(3), np.cumsum([term.log_probs for term in answer.terms], axis=0)])
shares = np.exp(scores - scores.max(axis=1, keepdims=True))
shares /= shares.sum(axis=1, keepdims=True)
said = max(i for i, term in enumerate(answer.terms, 1) if isinstance(term.happening, Utterance))
plt.rcParams.update(LOOK)
figure, axes = plt.subplots(figsize=(5.2, 2.6))
for (name, share), colour in zip(zip(OPTIONS, shares.T, strict=True), (BLUE, "#d55e00", SOFT), strict=True):
    axes.plot(share, ".-", color=colour, label=name)
    print(f"{name:14} after he spoke {share[said]:.2f}, in the end {share[-1]:.2f}")
axes.axvline(said, color="black", linewidth=0.7, linestyle=":")
axes.text(said, 1.04, "Victor speaks", ha="center")
axes.set(xlabel="happening", ylabel="P(what Victor wants)", ylim=(0, 1.03))
axes.legend(frameon=False, loc="center left")
figure.savefig(Path(sys.argv[1] if len(sys.argv) > 1 else ".") / "help_or_hinder.svg", metadata={"Date": None})
