"""What reads a clause: the function for the sense of its verb, unless the clause tells of nothing real.

To add a verb, add it to a sense in lexicon.toml. To add a sense, add a section there and its function to HANDLERS.
"""

from __future__ import annotations

from collections.abc import Sequence

from otherminds.stories.english.events.going import Agents, Handler, Told, follow, leave, set_out, walk
from otherminds.stories.english.events.handling import grab, move, open_, put
from otherminds.stories.english.events.seeing import find, look, note_last_moved, perceive
from otherminds.stories.english.events.speech import be_silent, direct, shrug, speak
from otherminds.stories.english.events.states import be, contain, feature, noise, stay, want
from otherminds.stories.english.lexicon import wordset
from otherminds.stories.english.phrases import Clause, Noun
from otherminds.stories.english.story_state import StoryState
from otherminds.stories.model import Event

HANDLERS: dict[str, Handler] = {
    "walk": walk, "approach": walk, "arrive": walk, "enter": walk, "return": walk, "leave": leave, "follow": follow,
    "open": open_, "close": open_, "grab": grab, "put": put, "move": move, "look": look, "find": find,
    "see": perceive, "think": perceive, "say": speak, "ask": speak, "suggest": speak, "direct": direct, "stay": stay,
    "contain": contain, "feature": feature, "noise": noise, "silence": be_silent, "shrug": shrug, "be": be,
    "have": contain, "want": want, "begin": set_out,
}  # fmt: skip


def handler_of(clause: Clause, agents: Agents) -> Handler | None:
    """What reads a clause, by the sense of its verb that fits the rest of it; None if no sense is known."""
    verb = clause.verb
    assert verb is not None
    if clause.quotes or clause.content:
        for sense in ("say", "ask", "see", "think", "find", "suggest"):
            if sense in verb.senses:
                sought = not clause.content or clause.content[0].link == "what"
                return HANDLERS["see" if sense == "find" and not sought else sense]
    kinds = [noun.kind for noun in clause.objects]
    if verb.lemma == "leave":
        things = all(kind in ("object", "pronoun", "one", "vague", "place") for kind in kinds)
        return HANDLERS["put" if kinds and things else "leave"]
    if verb.lemma == "find" and any(noun.words[-1] in wordset("spaces") for noun in clause.objects):
        return HANDLERS["look"]  # "found a spot for it on the shelf"
    if verb.lemma == "return" and {"object", "pronoun", "vague"} & set(kinds):
        return HANDLERS["put"]
    senses = [sense for sense in verb.senses if sense in HANDLERS]
    if len(senses) > 1:
        senses = [sense for sense in senses if _fits(sense, clause, agents)] or senses
    return HANDLERS[senses[0]] if senses else None


def _fits(sense: str, clause: Clause, agents: Agents) -> bool:
    """Whether a clause has what a sense of its verb needs."""
    if sense in ("say", "ask", "think"):
        return bool(clause.quotes or clause.content)
    if sense in ("contain", "feature"):
        return not agents
    things = any(noun.kind in ("object", "vague") or noun.words[0] in ("it", "them") for noun in clause.objects)
    if sense in wordset("intransitive") and things:
        return False
    return bool(agents) and (bool(clause.objects) or sense not in ("put", "grab", "move"))


def read_unreal(story: StoryState, clause: Clause, agents: Agents, later_clauses: Sequence[Clause]) -> Told | None:
    """Reads what is only wished, possible, denied or supposed; `rest` are the clauses that follow.

    False if it cannot be read, None if the clause tells of something real.
    """
    verb = clause.verb
    assert verb is not None
    told_in = {noun.words[-1] for prep, noun in clause.places if prep == "in"}
    if clause.link in wordset("unreal_links") or told_in & wordset("fictions"):
        return False
    if verb.wish:
        seeking = verb.means("find", "grab", "look") and verb.lemma != "leave" and not verb.negated
        return "is only wished" if seeking and want(story, clause, agents) else False
    is_idle = clause.link in wordset("idle_links")
    if is_idle and not verb.means("find", "see"):
        return be_silent(story, clause, agents[:1]) if verb.means("say") else "did not happen"
    if verb.unreal and (verb.passive or not verb.means("find", "see")):
        return False
    if verb.about_to and any(later_clause.link in ("but", "when", "until") for later_clause in later_clauses):
        return "did not happen"
    if not verb.negated and not is_idle:
        return None
    if verb.lemma == "look" and verb.means("noise") and agents and story.last_moved:  # "did not look up from the page"
        return note_last_moved(story, clause, agents, sees=False) or "did not happen"
    if not clause.means(*wordset("told_if_denied")):
        lacks_verb = verb.lemma == "do" and any(noun.kind == "object" for noun in clause.objects)  # "did not the milk"
        return False if lacks_verb else "did not happen"
    return None if agents or clause.means("be") else False


def tells_where_it_lies(clause: Clause) -> bool:
    """Whether a clause tells where a thing lies: "on the desk lay the book"."""
    verb = clause.verb
    if verb is None or verb.lemma not in ("lay", "lie", "sit", "stand", "rest", "wait", "hang"):
        return False
    if clause.subjects:
        return clause.subjects[0].kind in ("object", "place")
    fronted = any(noun.end < verb.start for _, noun in clause.places)
    return fronted and bool(clause.objects) and clause.objects[0].kind == "object"


def _unnamed_agent(story: StoryState, clause: Clause) -> list[str]:
    """Who did what a passive clause tells without naming anybody: whoever the story tells of, if that fits.

    Things that are put somewhere must be in that person's hands: "the milk is kept in the fridge" is nobody's deed.
    """
    if clause.means("put", "move"):
        return _holders(story, clause.subjects)
    if len(story.subjects) != 1 or not clause.means("open", "close", "grab"):
        return []
    return list(story.subjects) if story.events_of(story.subjects[0]) else []


def _holders(story: StoryState, nouns: Sequence[Noun]) -> list[str]:
    """The one person who took all these things last and has put none of them anywhere; empty if there is none."""
    holders: set[str] = set()
    for noun in nouns:
        if noun.kind not in ("object", "one", "pronoun"):
            return []
        obj = story.thing(noun, None)
        deeds = (event for event, _ in reversed(story.timeline) if isinstance(event, Event) and event.obj == obj)
        last = next(deeds, None)
        if obj is None or last is None or last.verb not in ("grab", "move"):
            return []
        holders.add(last.agent)
    return list(holders) if len(holders) == 1 else []


def carried_by(story: StoryState, clause: Clause) -> Agents:
    """Who carries the things that "go" or "come" somewhere, as "the milk went into the fridge"; empty if none do.

    The clause then says that this person puts them there.
    """
    if clause.means("enter") and not clause.places:
        clause.adverbs.append("inside")
    goal = any(prep in wordset("in") for prep, _ in clause.places) or wordset("here") & set(clause.adverbs)
    holders = _holders(story, clause.subjects) if goal and not clause.objects else []
    if holders:
        clause.objects, clause.subjects = clause.subjects, []
    return holders


def turned_active(story: StoryState, clause: Clause) -> Agents:
    """Turns a passive clause into an active one; returns the agents named after "by", or else who told a hearer."""
    agents = [name for prep, noun in clause.places if prep == "by" for name in story.person(noun)]
    clause.places = [(prep, noun) for prep, noun in clause.places if prep != "by"]
    agents = agents or _unnamed_agent(story, clause)
    if clause.means("say", "ask"):
        hearers = [name for noun in clause.subjects for name in story.person(noun)]
        teller = story.other(hearers[0]) if len(hearers) == 1 else None
        agents = agents or ([teller] if teller else [])
    if agents:
        clause.objects = [*clause.subjects, *clause.objects]
        clause.subjects = []
    return tuple(agents)
