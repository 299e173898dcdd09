"""False belief (Sally and Anne): the ball is in the box, and Sally will look for it in the basket.

A belief about a belief is a mind inside a mind: Anne knows where Sally will look, as she saw her leave.
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt

from otherminds.reports.plots import BLUE, LOOK, SOFT
from otherminds.stories.beliefs.nested_beliefs import believed_place
from otherminds.stories.beliefs.perspectives import SALLY_ANNE
from otherminds.stories.english.reading import read_story

STORY = (
    "Sally and Anne are in the playroom. Sally puts the ball in the basket. Sally leaves the playroom. "
    "Anne moves the ball from the basket to the box. Sally comes back to the playroom."
)
CHAINS = {"It is": (), "Anne thinks it is": ("Anne",), "Sally thinks it is": ("Sally",)}
CHAINS["Anne thinks that Sally thinks it is"] = ("Anne", "Sally")
COLOURS = {"basket": BLUE, "box": "#d55e00", None: SOFT}

episode = read_story(STORY).episode
told = ["Sally puts it\nin the basket", "Sally leaves", "Anne moves it\nto the box", "Sally comes\nback"]
plt.rcParams.update(LOOK)
figure, axes = plt.subplots(figsize=(6.4, 2.4))
for row, (words, chain) in enumerate(CHAINS.items()):
    times = [event.t for event in episode.timeline]
    places = [believed_place(episode, chain, "ball", t, SALLY_ANNE) for t in times]
    for column, place in enumerate(places):
        axes.barh(row, 0.94, left=column, height=0.8, color=COLOURS[place])
        axes.text(column + 0.47, row, place, color="white", ha="center", va="center")
    print(f"{words}: {places[-1]}")
axes.set(yticks=range(len(CHAINS)), yticklabels=CHAINS, xticks=[t + 0.47 for t in range(4)], xticklabels=told)
axes.invert_yaxis()
axes.tick_params(length=0)
axes.spines[:].set_visible(False)
folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
figure.savefig(folder / "false_belief.svg", metadata={"Date": None})
