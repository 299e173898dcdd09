"""What is only wished, possible, denied or supposed, and is no event."""

from __future__ import annotations

from collections.abc import Sequence

from otherminds.stories.english.events.going import Agents
from otherminds.stories.english.events.speech import be_silent
from otherminds.stories.english.events.states import want
from otherminds.stories.english.phrases import Clause
from otherminds.stories.english.scene import Scene

UNREAL_LINKS = frozenset(("if", "unless", "lest", "whether", "how", "why", "what"))
IDLE_LINKS = frozenset(("without", "instead", "against", "like", "than", "from", "of", "for", "with", "in", "about"))


def read_unreal(scene: Scene, clause: Clause, agents: Agents, rest: Sequence[Clause]) -> bool | None:
    """Reads what is not real (false: it could not be read); None if the clause tells of something real."""
    verb = clause.verb
    assert verb is not None
    if clause.link in UNREAL_LINKS:
        return False
    if verb.wish:
        seeking = verb.means("find", "grab", "look") and verb.lemma != "leave" and not verb.negated
        return seeking and want(scene, clause, agents)
    idle = clause.link in IDLE_LINKS
    if idle and not verb.means("find", "see"):
        return be_silent(scene, clause, agents[0]) if verb.means("say") and agents else True
    if verb.unreal and (verb.passive or not verb.means("find", "see")):
        return False
    if verb.about_to and any(one.link in ("but", "when", "until") for one in rest):
        return True
    return _denied(clause, agents) if verb.negated or idle else None


def _denied(clause: Clause, agents: Agents) -> bool | None:
    """What did not happen; not finding and not answering tell something all the same."""
    if clause.means("find", "see", "say", "ask", "be", "think"):
        return None if agents or clause.means("be") else False
    return True
