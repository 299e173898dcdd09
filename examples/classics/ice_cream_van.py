"""The ice-cream van (a belief about a belief)

John and Mary hear that the van stays in the park, and Mary goes home. John is told that it drives to the church, and so
is Mary, but John does not know that. Where does John think that Mary goes for ice cream? Perner and Wimmer 1985.
Published: the story's right answer, the park (no model's figure); both know that the van is at the church.

Try: let John overhear what Mary is told (add "John" to the last event), and he thinks that she goes to the church.
"""

import sys
from math import log
from pathlib import Path

import otherminds as om

EVENTS = (("park", {"John", "Mary"}), ("church", {"John"}), ("church", {"Mary"}))  # the van's place, who hears of it
P_RUMOUR = 0.1  # probability, in one's own eyes, that the other has heard all that oneself has heard; chosen
PUBLISHED = {("John",): "church", ("Mary",): "church", ("John", "Mary"): "park", ("Mary", "John"): "park"}


def believed_place(chain: tuple[str, ...]) -> om.Categorical[str]:
    """P(place of the van), as the first of the chain thinks that the second thinks, from what all of them heard."""
    own = [place for place, hearers in EVENTS if chain[0] in hearers]
    shared = [place for place, hearers in EVENTS if hearers.issuperset(chain)]
    return om.Categorical.from_scores([(shared[-1], log(1 - P_RUMOUR)), (own[-1], log(P_RUMOUR))])


beliefs = {" thinks that ".join(chain): believed_place(chain) for chain in PUBLISHED}
for (name, belief), answer in zip(beliefs.items(), PUBLISHED.values(), strict=True):
    print(f"{name} thinks that it is at the {belief.mode} ({belief.prob(belief.mode):.2f}), published {answer}")
axes = om.plot_posterior(beliefs)
om.save_picture(axes, Path(sys.argv[1] if len(sys.argv) > 1 else ".") / "ice_cream_van.svg")
