"""Sally and Anne (a false belief)

Sally puts her marble into the box and leaves; now and then Anne moves it to the basket. The child knows what happened,
and what Sally saw of it. Baron-Cohen, Leslie and Frith 1985, after Wimmer and Perner 1983.
Published: the table that memo's notebook demo-sally-anne prints; 0.99 for the box if Sally saw nothing.

Try: let Anne move the marble half of the time (P_MOVED = 0.5), and Sally may as well toss a coin.
"""

import sys
from pathlib import Path

import otherminds as om

P_MOVED = 0.01  # probability that Anne moves the marble, as Sally knows her; that of memo's notebook
PUBLISHED = {"nothing": 0.99, "it stay": 1.00, "it move": 0.00}  # P(Sally looks in the box), by what she saw
PLACE = {"it stay": "box", "it move": "basket"}
anne = om.Categorical.of({"it stay": 1 - P_MOVED, "it move": P_MOVED})


def believed_place(saw: str) -> om.Categorical[str]:
    """P(place of the marble | what the agent saw happen to it)."""
    return anne.condition(lambda event: saw in ("nothing", event)).map(PLACE.__getitem__)


print(f"The child, who saw it move, believes that it is in the {believed_place('it move').mode}.")
for saw, published in PUBLISHED.items():
    p_box = believed_place(saw).prob("box")
    print(f"If Sally saw {saw}, she looks in the box: {p_box:.2f} (published {published:.2f})")
beliefs = {"the child": believed_place("it move"), "Sally": believed_place("nothing")}
axes = om.plot_posterior(beliefs)
om.save_picture(axes, Path(sys.argv[1] if len(sys.argv) > 1 else ".") / "sally_anne.svg")
