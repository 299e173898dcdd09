"""Reading a story: English text becomes an episode, with a measure of how much of it could be read."""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import islice

from otherminds.errors import InputError
from otherminds.stories.english.chunks import chunks
from otherminds.stories.english.clauses import parse
from otherminds.stories.english.events.going import Agents
from otherminds.stories.english.events.handlers import (
    denies_object,
    handler_of,
    read_unreal,
    tells_absence,
    tells_state,
    tells_that_gone,
    tells_where_it_lies,
    turned_active,
)
from otherminds.stories.english.events.seeing import see
from otherminds.stories.english.events.speech import assertions, be_silent, read_quote, speak, unattributed, utter
from otherminds.stories.english.events.states import be, be_gone
from otherminds.stories.english.lexicon import lexicon, wordset
from otherminds.stories.english.phrases import Clause, Noun, VerbGroup
from otherminds.stories.english.rewording import rejoined, reworded
from otherminds.stories.english.sentences import LONGEST_SENTENCE, Token, find_names, plain, sentences, tokens
from otherminds.stories.english.story_state import Spot, StoryState
from otherminds.stories.model import Episode, Event, Happening, Reading, Source, Utterance

NOBODY = ("nobody", "noone", "neither")
NO_PERSON = ("it", "that", "this", "nothing")


def share(clause: Clause, clauses: Sequence[Clause], i: int) -> None:
    """Gives a clause a subject or an object that its neighbour has: "opened and closed the box"."""
    after = clauses[i + 1] if i + 1 < len(clauses) else None
    if i == 0 and clause.verb and not clause.verb.finite and not clause.subjects and after and after.subjects:
        clause.subjects = list(after.subjects)
    bare = clause.verb and not (clause.objects or clause.places or clause.content or clause.quotes)
    shared = after is not None and after.link == "and" and not after.subjects
    if bare and shared and after and clause.means("open", "close", "grab", "move", "put"):
        clause.objects = [noun for noun in after.objects if noun.kind != "agent"]
    if clause.antecedent is not None:
        _inherit(clause, clause.antecedent)


def _inherit(clause: Clause, antecedent: Noun) -> None:
    """Gives "who", "which" and "where" the meaning of the noun before them."""
    if clause.link == "which" and clause.subjects and not clause.objects:
        clause.objects = [antecedent]
    placing = clause.link == "where" and clause.subjects and clause.means("put", "grab", "find")
    if placing and not clause.places:
        clause.places = [("in" if antecedent.kind == "room" else "on", antecedent)]
    if clause.link in ("who", "which", "that") and not clause.subjects:
        clause.subjects = [antecedent]


def name_rooms(clause: Clause, rooms: frozenset[str]) -> None:
    """Makes rooms of nouns that only the story knows as rooms: "the lab"."""
    for noun in (*clause.subjects, *clause.objects, *(noun for _, noun in clause.places)):
        if noun.kind == "object" and noun.text in rooms:
            noun.kind = "room"
    for inner in clause.content:
        name_rooms(inner, rooms)


def agents_of(story: StoryState, clause: Clause, done: Sequence[Agents]) -> Agents | None:
    """Who does it; nobody if the subject is a thing, None if it is unclear."""
    if not clause.subjects:
        if _needs_nobody(clause):
            return ()
        return done[-1] if done else (tuple(story.subjects) or None)
    found: list[str] = []
    reply = clause.means("say") and not clause.link
    for noun in clause.subjects:
        if noun.kind not in ("agent", "pronoun", "one"):
            return ()
        if noun.words[0] in NOBODY:
            clause.verb = replace(clause.verb, negated=True) if clause.verb else None
            return tuple(story.agents)
        found += _person(story, noun, done, reply=reply)
    for name in found:
        story.of(name)
    return tuple(dict.fromkeys(found)) or (() if clause.subjects[0].words[0] in NO_PERSON else None)


def _needs_nobody(clause: Clause) -> bool:
    """Whether a clause without a subject is about nobody: "there is ...", '"...", came the answer'."""
    verb = clause.verb
    if verb is None or (verb.lemma == "be" and "there" in clause.adverbs):
        return True
    return bool(clause.quotes) and verb.lemma in ("come", "be")


def _person(story: StoryState, noun: Noun, done: Sequence[Agents], *, reply: bool) -> list[str]:
    if noun.kind == "pronoun" and done and len(done[-1]) == 1 and noun.words[0] in ("he", "she") and not reply:
        kept, story.subjects = story.subjects, list(done[-1])
        found = story.person(noun)
        story.subjects = kept
        return found
    return story.person(noun, reply=reply)


NEAR = 20


def in_order(clauses: list[Clause]) -> list[Clause]:
    """The clauses in order of time: what comes "after" something goes behind it, whichever is told first."""
    out = list(clauses)
    for i in range(1, len(out)):
        if out[i].link in ("after", "once", "upon") and out[i].verb and out[i - 1].verb:
            _lead_in(out[i], out[i - 1])
            out[i - 1], out[i] = out[i], out[i - 1]
    if len(out) > 1 and out[0].link in ("before", "until") and out[0].verb and not out[0].subjects:
        out[0].subjects = list(out[1].subjects)
        end = next((i for i in range(2, len(out)) if out[i].link not in ("", "and")), len(out))
        out.insert(end - 1, out.pop(0))
    return out


def _lead_in(first: Clause, main: Clause) -> None:
    """Gives a clause that goes in front of its main clause the subject and the place it takes from that."""
    first.subjects = first.subjects or list(main.subjects)
    place = next((noun for noun in (*main.objects, *(noun for _, noun in main.places)) if noun.kind == "place"), None)
    if place is not None:
        first.places = [(prep, place if noun.words == ("it",) else noun) for prep, noun in first.places]


def unfulfilled(story: StoryState) -> set[int]:
    """The identities of events that were only intended, and of which the rest of the story does not tell."""
    told = {id(one): place for place, (one, _) in enumerate(story.timeline)}
    handled: dict[tuple[str, str | None], list[tuple[int, str]]] = {}
    for place, (one, _) in enumerate(story.timeline):
        if isinstance(one, Event) and one.verb in ("grab", "put", "move"):
            handled.setdefault((one.agent, one.obj), []).append((place, one.verb))
    out = set()
    for event in story.tentative:
        place = told[id(event)]
        happened = _opened(event, story, place) if event.verb in ("open", "close") else _handled(event, handled, place)
        out |= set() if happened else {id(event)}
    return out


def _handled(event: Event, handled: Mapping[tuple[str, str | None], list[tuple[int, str]]], place: int) -> bool:
    """Whether somebody must have taken a thing, because it was put somewhere later, or put it down, as it was held."""
    deeds = handled.get((event.agent, event.obj), [])
    at = bisect(deeds, (place, "zzz"))
    if event.verb == "grab":
        return at < len(deeds) and deeds[at][1] != "grab"
    if event.verb in ("put", "move"):
        return at == len(deeds) and any(verb == "grab" for _, verb in deeds[: at - 1])
    return event.verb in ("walk", "enter", "leave", "wait")


def _opened(event: Event, story: StoryState, place: int) -> bool:
    """Whether somebody must have opened a place, because something was taken from it, or it was closed, next."""
    spot = story.timeline[place][1]
    later = islice(story.timeline, place + 1, place + 1 + NEAR)
    mine = [(one, where) for one, where in later if isinstance(one, Event) and one.agent == event.agent]
    return any(where is spot and one.verb in ("grab", "close", "put") for one, where in mine[:2])


def final(one: Happening, spot: Spot | None, t: int) -> Happening:
    """The happening with its time and, now that its room is known, its place."""
    if isinstance(one, Event):
        return replace(one, t=t, place=spot.id if spot else one.place, room=one.room or (spot.room if spot else None))
    if isinstance(one, Utterance):
        fact = one.content
        return replace(one, t=t, content=replace(fact, value=spot.id) if spot and fact else fact)
    return replace(one, t=t, fact=replace(one.fact, value=spot.id) if spot else one.fact)


LONGEST_STORY = 100_000
QUIET_STATES = wordset("quiet_states")
TIMES = ("after", "before", "upon", "during", "until")
ENTERED = re.compile(
    r"\b(?:re-?)?(?:enter|exit)(?:s|ed|ing)?\s+the\s+([a-z_ ]{2,30}?)(?=\s*(?:[.,;\n]|\band\b|\bwhile\b|\bthen\b|$))"
)
NUMBERED = re.compile(r"\bfrom the left\b|\b(?:two|three|four|five|six|several) \w*\s?cabinets\b")


def read_story(text: str, *, source: Source = "text", p: float = 1.0, cast: Sequence[str] = ()) -> Reading:
    """Reads a story in plain English; what could not be read is in `unread`. Raises InputError if it is too long."""
    if len(text) > LONGEST_STORY:
        raise InputError(f"the story is longer than {LONGEST_STORY:,} characters", hint="give only the story itself")
    even = plain(text)
    found = tokens(even)
    names = find_names(sentences(found), cast)
    low = even.lower()
    rooms = frozenset(words for match in ENTERED.finditer(low) if (words := _as_room(match[1])))
    reader = StoryReader(StoryState(names, source, p, _rooms(low) | rooms, numbered=bool(NUMBERED.search(low))))
    for sentence in rejoined(sentences(found, names), names):
        reader.read(sentence, text)
    return reader.reading(text)


def _as_room(words: str) -> str:
    """The room that is said to be entered or left, unless it is a thing or a place of another kind."""
    found = lexicon().canonical(words.replace("_", " ").split())
    known = lexicon().sets["things"] | lexicon().kinds | lexicon().sets["pronouns"]
    return "" if not found or found[-1] in known or len(found) > 3 else " ".join(found)


def _rooms(low: str) -> frozenset[str]:
    return frozenset(room for room in lexicon().rooms if room in low)


class StoryReader:
    """Reads sentence after sentence into a story."""

    def __init__(self, story: StoryState) -> None:
        self.story = story
        self.clauses = 0
        self.understood = 0
        self.unread: list[str] = []
        self.speaker: str | None = None
        self.spoken = 0

    def read(self, sentence: Sequence[Token], text: str) -> None:
        """Reads one sentence; if a clause of it cannot be read, the sentence is among the unread."""
        before = self.understood, self.clauses
        first, last, sentence = sentence[0], sentence[-1], reworded(sentence, self.story.names)
        if len(sentence) > LONGEST_SENTENCE or self._is_cleft(sentence):
            self.clauses += 1
        elif not (self._silence(sentence) or self._script(sentence, text)):
            self._sentence(sentence)
        if self.understood - before[0] < self.clauses - before[1]:
            self.unread.append(" ".join(text[first.start : last.end].split()))
            self.story.last_room = None

    def _is_cleft(self, sentence: Sequence[Token]) -> bool:
        """Whether it is one such as "it was not Ann who opened it" or "what she nearly did was open it": unread."""
        words = [token.low for token in sentence[:3]]
        if words[:1] == ["what"] and not any(token.quote for token in sentence) and sentence[-1].low != "?":
            return True
        if len(words) < 3 or words[:2] != ["it", "was"] or all(token.low != "who" for token in sentence):
            return False
        return words[2] in ("not", "n't") or sentence[2].text in self.story.names

    def _sentence(self, sentence: Sequence[Token]) -> None:
        """Reads the clauses of a sentence one after the other."""
        done: list[Agents] = []
        clauses = in_order(parse(chunks(sentence, self.story.names)))
        neither = any(token.low == "neither" for token in sentence)
        for i, clause in enumerate(clauses):
            name_rooms(clause, self.story.story_rooms)
            share(clause, clauses, i)
            if neither and clause.verb:
                clause.verb.negated = True
            agents = agents_of(self.story, clause, done)
            self.clauses += 1
            self.understood += agents is not None and self._clause(clause, agents, clauses[i + 1 :])
            if agents:
                done.append(agents)
                self._remember(clause, agents)
            if i and clause.link in ("when", "while", "as") and tells_absence(clauses[i - 1]) and len(done) > 1:
                self._missed(clause, done[-2])

    def _missed(self, clause: Clause, absent: Agents) -> None:
        """Who was not there when something was moved did not see it."""
        obj = self.story.last_moved
        spot = self.story.where.get(obj) if obj else None
        for agent in absent:
            if obj and spot:
                see(self.story, clause, agent, obj, spot, spot.room, sees=False)

    def _remember(self, clause: Clause, agents: Agents) -> None:
        if clause.link not in ("as", "while", "who", "that") or not self.story.subjects:
            self.story.subjects = list(agents)

    def _clause(self, clause: Clause, agents: Agents, rest: Sequence[Clause]) -> bool:
        """Reads one clause; false if it could not be read."""
        verb = clause.verb
        if verb is None:
            return self._verbless(clause)
        if (odd := self._odd(clause)) is not None:
            return odd
        if verb.passive:
            agents = turned_active(self.story, clause)
        if (quick := read_unreal(self.story, clause, agents, rest)) is not None:
            return quick
        if tells_where_it_lies(clause):
            clause.subjects = clause.subjects or clause.objects
            return be(self.story, clause, ())
        if not agents and not verb.means("contain", "feature", "be", "have") and not clause.quotes:
            return verb.passive and be(self.story, clause, ()) if tells_state(clause) else self._said_by(clause)
        if tells_that_gone(clause):
            return bool(agents) and be_gone(self.story, clause, agents)
        handler = handler_of(clause, agents)
        if clause.quotes and not agents:
            return self._said_by(clause)
        return handler is not None and handler(self.story, clause, agents)

    def _odd(self, clause: Clause) -> bool | None:
        """Reads a clause with words that are not known, or about nothing; None if it is an ordinary one."""
        if clause.unknown == ["according"] and (said := self._according(clause)) is not None:
            return said
        if set(clause.unknown) - QUIET_STATES:
            return False
        return True if denies_object(clause) else None

    def _according(self, clause: Clause) -> bool | None:
        """What is so "according to" somebody is what he says."""
        people = [name for prep, noun in clause.places if prep == "to" for name in self.story.person(noun)]
        if not people:
            return None
        rest = [(prep, noun) for prep, noun in clause.places if prep != "to"]
        said = assertions(self.story, [replace(clause, places=rest, unknown=[])])
        for one in said or ():
            utter(self.story, clause, people[0], one)
        return said is not None

    def _verbless(self, clause: Clause) -> bool:
        if clause.quotes and not clause.subjects and not clause.unknown:
            return unattributed(self.story, clause)
        if _tells_of_nothing(clause):
            nothing = VerbGroup("be", ("be",), frozenset(), clause.start, clause.end)
            return be(self.story, replace(clause, verb=nothing, adverbs=["there"]), ())
        if clause.link == "who" and clause.subjects and clause.places:
            people = [name for noun in clause.subjects for name in self.story.person(noun)]
            return bool(people) and be(self.story, clause, people)
        return not clause.unknown and (clause.link in TIMES or _tells_time(clause))

    def _said_by(self, clause: Clause) -> bool:
        """ "..." came Mary's answer."""
        nouns = [*clause.objects, *clause.subjects, *(noun for _, noun in clause.places)]
        owners = [noun.owner for noun in nouns if noun.owner in self.story.names]
        people = [name for noun in nouns if noun.kind == "agent" for name in self.story.person(noun)] + owners
        if not clause.quotes:
            return False
        if not people:
            return unattributed(self.story, clause)
        return speak(self.story, clause, people[:1])

    def _silence(self, sentence: Sequence[Token]) -> bool:
        """Whether the sentence only says that a question got no answer."""
        words = " ".join(token.low for token in sentence)
        simple = not any(token.quote or token.text in (",", "and", "but", "then") for token in sentence)
        if not simple or not any(phrase in words for phrase in lexicon().speech["silences"]):
            return False
        asker = self.story.asked[0] if self.story.asked else None
        named = [t.text for t in sentence if t.text in self.story.names and t.text != asker]
        silent = named[-1] if named else self.story.other(asker) if asker else None
        if silent is None or not self.story.pending:
            return False
        self.clauses += 1
        self.understood += be_silent(self.story, Clause(sentence[0].start, sentence[-1].end), silent)
        return True

    def _script(self, sentence: Sequence[Token], text: str) -> bool:
        """Whether the sentence is a line of a dialogue, "Mary: ...", or goes on with one; it is then read."""
        first = sentence[0].text
        labelled = len(sentence) > 2 and first in self.story.names and sentence[1].text == ":"
        going_on = self.speaker and "\n" not in text[self.spoken : sentence[0].start] and first not in self.story.names
        if not labelled and not (going_on and not any(token.quote for token in sentence)):
            self.speaker = None
            return False
        words = sentence[2:] if labelled else sentence
        spoken = words[0].text if words[0].quote else plain(text[words[0].start : words[-1].end + 1])
        said = read_quote(self.story, spoken, self.story.names)
        speaker = first if labelled else self.speaker if said is not None else None
        self.speaker, self.spoken = speaker, sentence[-1].end
        if speaker is None:
            return False
        self.story.of(speaker)
        self.clauses += 1
        self.understood += said is not None
        for one in said or ():
            utter(self.story, Clause(words[0].start, words[-1].end), speaker, one)
            self.story.subjects = [speaker] if one.act == "ask" else self.story.subjects
        return True

    def reading(self, text: str) -> Reading:
        """All that was read."""
        story = self.story
        dropped = unfulfilled(story)
        kept = [(one, spot) for one, spot in story.timeline if id(one) not in dropped]
        timeline = tuple(final(one, spot, t) for t, (one, spot) in enumerate(kept))
        init = tuple(dict.fromkeys(replace(fact, value=spot.id) if spot else fact for fact, spot in story.begins))
        episode = Episode("", tuple(story.agents), story.entities(), init, timeline)
        return Reading(episode, (), self.understood / self.clauses if self.clauses else 0.0, tuple(self.unread))


def _tells_of_nothing(clause: Clause) -> bool:
    """Whether a clause is no more than "no milk" or "nothing"."""
    one = clause.subjects[0] if len(clause.subjects) == 1 else None
    return (
        one is not None and (one.det == "no" or one.words == ("nothing",)) and not clause.unknown and not clause.places
    )


def _tells_time(clause: Clause) -> bool:
    """Whether a clause is no more than "after lunch" or "with a smile"."""
    plain_phrases = all(
        prep in (*TIMES, "with", "at", "in", "for") and noun.kind == "object" for prep, noun in clause.places
    )
    return not clause.subjects and not clause.objects and plain_phrases
