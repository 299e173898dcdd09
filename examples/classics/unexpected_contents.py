"""Unexpected contents (beliefs of a friend, and one's own that are past)

A child opens a Smarties tube and finds pencils. What does a friend believe who has not looked, and what did the child
believe before? Perner, Leekam and Wimmer 1987; Gopnik and Astington 1988 for the question about oneself.
Published: the task's right answers (no model's figure). A child that answers from what it knows itself errs twice.

Try: answer from one's own knowledge only now and then, by mixing both ways of answering with `bind`.
"""

import sys
from pathlib import Path

import otherminds as om

P_LABEL = 0.95  # probability that a Smarties tube holds Smarties; chosen: above 0.5 the answers are the same
tube = om.Categorical.of({"Smarties": P_LABEL, "pencils": 1 - P_LABEL})
PUBLISHED = {"the child now": "pencils", "the child before": "Smarties", "the friend": "Smarties"}


def belief(looked: bool) -> om.Categorical[str]:
    """P(contents | the label, and what is inside if the agent has looked)."""
    return tube.condition(lambda contents: contents == "pencils" or not looked)


beliefs = {agent: belief(looked=agent == "the child now") for agent in PUBLISHED}
for agent, answer in PUBLISHED.items():
    mode, own = beliefs[agent].mode, belief(looked=True).mode
    print(f"{agent}: {mode} ({beliefs[agent].prob(mode):.2f}), published {answer}; from own knowledge: {own}")
axes = om.plot_posterior(beliefs)
om.save_picture(axes, Path(sys.argv[1] if len(sys.argv) > 1 else ".") / "unexpected_contents.svg")
