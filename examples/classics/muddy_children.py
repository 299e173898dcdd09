"""The muddy children (common knowledge)

Each child sees the other faces, not its own. Father says that somebody is muddy, and asks again and again who knows
whether they are. Nobody answers, and from that they learn. Fagin, Halpern, Moses and Vardi 1995, section 1.1.
Published: the puzzle's answer; k muddy children know when father asks for the k-th time, and not before.

Try: let father say that two are muddy: replace `any` by `lambda faces: sum(faces) > 1`, and count from two children.
"""

import sys
from itertools import product
from pathlib import Path

import otherminds as om

CHILDREN = 5
Faces = tuple[bool, ...]
start = om.Categorical.uniform(product((False, True), repeat=CHILDREN)).condition(any)


def own_face(child: int, faces: Faces, common: om.Categorical[Faces]) -> om.Categorical[bool]:
    """P(the child is muddy | the other faces, and what is common knowledge)."""
    others = {other for other in range(CHILDREN) if other != child}
    return common.condition(lambda seen: all(seen[i] == faces[i] for i in others)).map(lambda seen: seen[child])


def beliefs(faces: Faces, common: om.Categorical[Faces]) -> list[om.Categorical[bool]]:
    """P(the first child is muddy) for that child, each time that father asks, until it knows."""
    belief = own_face(0, faces, common)
    if len(belief) == 1:
        return [belief]
    silence = common.condition(lambda f: all(len(own_face(child, f, common)) > 1 for child in range(CHILDREN)))
    return [belief, *beliefs(faces, silence)]


for k in range(1, CHILDREN + 1):
    p_muddy = [belief.prob(True) for belief in beliefs((True,) * k + (False,) * (CHILDREN - k), start)]
    print(f"{k} muddy: P(I am muddy) = {p_muddy}, so they know at question {len(p_muddy)} (published {k})")
everybody = beliefs((True,) * CHILDREN, start)
axes = om.plot_posterior([belief.map(lambda muddy: "muddy" if muddy else "clean") for belief in everybody])
axes.set(xlabel="questions answered by nobody")
om.save_picture(axes, Path(sys.argv[1] if len(sys.argv) > 1 else ".") / "muddy_children.svg")
