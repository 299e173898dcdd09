"""Which sense of its verb a clause has, and what reads it."""

from __future__ import annotations

from collections.abc import Sequence

from otherminds.stories.english.events.going import Act, Agents, follow, leave, walk
from otherminds.stories.english.events.handling import grab, move, open_, put
from otherminds.stories.english.events.seeing import find, look, perceive
from otherminds.stories.english.events.speech import be_silent, direct, shrug, speak
from otherminds.stories.english.events.states import be, contain, feature, hush, noise, stay, want
from otherminds.stories.english.lexicon import wordset
from otherminds.stories.english.phrases import Clause
from otherminds.stories.english.story_state import StoryState

UNREAL_LINKS = frozenset(("if", "unless", "lest", "whether", "how", "why", "what"))
IDLE_LINKS = frozenset(("without", "instead", "against", "like", "than", "from", "of", "for", "with", "in", "about"))


def read_unreal(story: StoryState, clause: Clause, agents: Agents, rest: Sequence[Clause]) -> bool | None:
    """Reads what is not real (false: it could not be read); None if the clause tells of something real."""
    verb = clause.verb
    assert verb is not None
    if clause.link in UNREAL_LINKS:
        return False
    if verb.wish:
        seeking = verb.means("find", "grab", "look") and verb.lemma != "leave" and not verb.negated
        return seeking and want(story, clause, agents)
    idle = clause.link in IDLE_LINKS
    if idle and not verb.means("find", "see"):
        return be_silent(story, clause, agents[0]) if verb.means("say") and agents else True
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


INTRANSITIVE = wordset("intransitive")
HANDLERS: dict[str, Act] = {
    "walk": walk, "approach": walk, "arrive": walk, "enter": walk, "return": walk, "leave": leave, "follow": follow,
    "open": open_, "close": open_, "grab": grab, "put": put, "move": move, "look": look, "find": find,
    "see": perceive, "think": perceive, "say": speak, "ask": speak, "suggest": speak, "direct": direct, "stay": stay,
    "contain": contain, "feature": feature, "noise": noise, "silence": hush, "shrug": shrug, "be": be, "have": contain,
    "want": want,
}  # fmt: skip


def handler_of(clause: Clause, agents: Agents) -> Act | None:
    """What reads a clause, by the sense of its verb that fits the rest of it."""
    verb = clause.verb
    assert verb is not None
    if clause.quotes or clause.content:
        for sense in ("say", "ask", "see", "think", "find", "suggest"):
            if sense in verb.senses:
                sought = not clause.content or clause.content[0].link == "what"
                return find if sense == "find" and sought else HANDLERS["see" if sense == "find" else sense]
    if verb.lemma == "leave":
        things = [noun for noun in clause.objects if noun.kind in ("object", "pronoun", "one", "vague", "place")]
        return put if things and len(things) == len(clause.objects) else leave
    if (
        verb.lemma == "return"
        and clause.objects
        and any(noun.kind in ("object", "pronoun", "vague") for noun in clause.objects)
    ):
        return put
    senses = [sense for sense in verb.senses if sense in HANDLERS]
    if len(senses) > 1:
        senses = [sense for sense in senses if _fits(sense, clause, agents)] or senses
    return HANDLERS[senses[0]] if senses else None


def _fits(sense: str, clause: Clause, agents: Agents) -> bool:
    if sense in ("say", "ask", "think"):
        return bool(clause.quotes or clause.content)
    if sense == "contain":
        return not agents
    if sense in INTRANSITIVE and any(
        noun.kind in ("object", "vague") or noun.words[0] in ("it", "them") for noun in clause.objects
    ):
        return False
    if sense in ("put", "grab", "move"):
        return bool(clause.objects) and bool(agents)
    return bool(agents) if sense != "feature" else not agents


def tells_state(clause: Clause) -> bool:
    """Whether a passive tells how things stand: "the milk is kept in the fridge"."""
    return clause.means("put", "find", "stay", "see") or (
        clause.verb is not None and clause.verb.lemma in ("keep", "situate", "locate", "seat")
    )


def tells_where_it_lies(clause: Clause) -> bool:
    """Whether a clause tells where a thing lies: "on the desk lay the book"."""
    verb = clause.verb
    if verb is None or verb.lemma not in ("lay", "lie", "sit", "stand", "rest"):
        return False
    if clause.subjects:
        return clause.subjects[0].kind in ("object", "place")
    fronted = any(noun.end < verb.start for _, noun in clause.places)
    return fronted and bool(clause.objects) and clause.objects[0].kind == "object"


def denies_object(clause: Clause) -> bool:
    """Whether somebody takes, puts or opens nothing at all."""
    nothing = any(noun.det == "no" or noun.words[0] in ("nothing", "none", "neither") for noun in clause.objects)
    return nothing and clause.means("open", "close", "grab", "put", "move")


def tells_that_gone(clause: Clause) -> bool:
    """Whether a clause says no more than that somebody is gone."""
    verb = clause.verb
    return verb is not None and verb.lemma == "go" and not clause.places and verb.tags == {"pp"}


def tells_absence(clause: Clause) -> bool:
    """Whether a clause says that somebody was not there."""
    return clause.verb is not None and clause.verb.lemma == "be" and clause.verb.negated


def turned_active(story: StoryState, clause: Clause) -> Agents:
    """Turns a passive clause round; who did it is after "by"."""
    doers = [name for prep, noun in clause.places if prep == "by" for name in story.person(noun)]
    clause.places = [(prep, noun) for prep, noun in clause.places if prep != "by"]
    if clause.means("say", "ask"):
        hearers = [name for noun in clause.subjects for name in story.person(noun)]
        other = story.other(hearers[0]) if len(hearers) == 1 else None
        doers = doers or ([other] if other else [])
    if doers:
        clause.objects = [*clause.subjects, *clause.objects]
        clause.subjects = []
    return tuple(doers)
