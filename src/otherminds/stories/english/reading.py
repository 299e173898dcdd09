"""Reading a story: English text becomes an episode, with a measure of how much of it could be read."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from otherminds.errors import InputError
from otherminds.stories.english.chunks import chunks
from otherminds.stories.english.clauses import parse
from otherminds.stories.english.events.going import Agents
from otherminds.stories.english.events.looking import see
from otherminds.stories.english.events.quotes import assertions, read_quote
from otherminds.stories.english.events.speech import be_silent, speak, unattributed, utter
from otherminds.stories.english.events.states import be, be_gone
from otherminds.stories.english.lexicon import lexicon, wordset
from otherminds.stories.english.people import find_names
from otherminds.stories.english.phrases import Clause, VerbGroup
from otherminds.stories.english.rewording import rejoined, reworded
from otherminds.stories.english.scene import Scene
from otherminds.stories.english.senses import (
    denies_object,
    handler_of,
    tells_absence,
    tells_state,
    tells_that_gone,
    tells_where_it_lies,
    turned_active,
)
from otherminds.stories.english.sentences import LONGEST_SENTENCE, Token, plain, sentences, tokens
from otherminds.stories.english.subjects import agents_of, name_rooms, share
from otherminds.stories.english.timing import final, in_order, unfulfilled
from otherminds.stories.english.unreal import read_unreal
from otherminds.stories.model import Episode, Reading, Source

LONGEST = 100_000
QUIET_STATES = wordset("quiet_states")
TIMES = ("after", "before", "upon", "during", "until")
ENTERED = re.compile(
    r"\b(?:re-?)?(?:enter|exit)(?:s|ed|ing)?\s+the\s+([a-z_ ]{2,30}?)(?=\s*(?:[.,;\n]|\band\b|\bwhile\b|\bthen\b|$))"
)
NUMBERED = re.compile(r"\bfrom the left\b|\b(?:two|three|four|five|six|several) \w*\s?cabinets\b")


def read_story(text: str, *, source: Source = "text", p: float = 1.0, cast: Sequence[str] = ()) -> Reading:
    """Reads a story in plain English; what could not be read is in `unread`. Raises InputError if it is too long."""
    if len(text) > LONGEST:
        raise InputError(f"the story is longer than {LONGEST:,} characters", hint="give only the story itself")
    even = plain(text)
    found = tokens(even)
    names = find_names(sentences(found), cast)
    low = even.lower()
    rooms = frozenset(words for match in ENTERED.finditer(low) if (words := _as_room(match[1])))
    reader = Reader(Scene(names, source, p, _rooms(low) | rooms, numbered=bool(NUMBERED.search(low))))
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


class Reader:
    """Reads sentence after sentence into a scene."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self.clauses = 0
        self.understood = 0
        self.unread: list[str] = []
        self.speaker: str | None = None
        self.spoken = 0

    def read(self, sentence: Sequence[Token], text: str) -> None:
        """Reads one sentence; if a clause of it cannot be read, the sentence is among the unread."""
        before = self.understood, self.clauses
        first, last, sentence = sentence[0], sentence[-1], reworded(sentence, self.scene.names)
        if len(sentence) > LONGEST_SENTENCE or self._is_cleft(sentence):
            self.clauses += 1
        elif not (self._silence(sentence) or self._script(sentence, text)):
            self._sentence(sentence)
        if self.understood - before[0] < self.clauses - before[1]:
            self.unread.append(" ".join(text[first.start : last.end].split()))
            self.scene.last_room = None

    def _is_cleft(self, sentence: Sequence[Token]) -> bool:
        """Whether it is one such as "it was not Ann who opened it" or "what she nearly did was open it": unread."""
        words = [token.low for token in sentence[:3]]
        if words[:1] == ["what"] and not any(token.quote for token in sentence) and sentence[-1].low != "?":
            return True
        if len(words) < 3 or words[:2] != ["it", "was"] or all(token.low != "who" for token in sentence):
            return False
        return words[2] in ("not", "n't") or sentence[2].text in self.scene.names

    def _sentence(self, sentence: Sequence[Token]) -> None:
        """Reads the clauses of a sentence one after the other."""
        done: list[Agents] = []
        clauses = in_order(parse(chunks(sentence, self.scene.names)))
        neither = any(token.low == "neither" for token in sentence)
        for i, clause in enumerate(clauses):
            name_rooms(clause, self.scene.story_rooms)
            share(clause, clauses, i)
            if neither and clause.verb:
                clause.verb.negated = True
            agents = agents_of(self.scene, clause, done)
            self.clauses += 1
            self.understood += agents is not None and self._clause(clause, agents, clauses[i + 1 :])
            if agents:
                done.append(agents)
                self._remember(clause, agents)
            if i and clause.link in ("when", "while", "as") and tells_absence(clauses[i - 1]) and len(done) > 1:
                self._missed(clause, done[-2])

    def _missed(self, clause: Clause, absent: Agents) -> None:
        """Who was not there when something was moved did not see it."""
        obj = self.scene.last_moved
        spot = self.scene.where.get(obj) if obj else None
        for agent in absent:
            if obj and spot:
                see(self.scene, clause, agent, obj, spot, spot.room, sees=False)

    def _remember(self, clause: Clause, agents: Agents) -> None:
        if clause.link not in ("as", "while", "who", "that") or not self.scene.subjects:
            self.scene.subjects = list(agents)

    def _clause(self, clause: Clause, agents: Agents, rest: Sequence[Clause]) -> bool:
        """Reads one clause; false if it could not be read."""
        verb = clause.verb
        if verb is None:
            return self._verbless(clause)
        if (odd := self._odd(clause)) is not None:
            return odd
        if verb.passive:
            agents = turned_active(self.scene, clause)
        if (quick := read_unreal(self.scene, clause, agents, rest)) is not None:
            return quick
        if tells_where_it_lies(clause):
            clause.subjects = clause.subjects or clause.objects
            return be(self.scene, clause, ())
        if not agents and not verb.means("contain", "feature", "be", "have") and not clause.quotes:
            return verb.passive and be(self.scene, clause, ()) if tells_state(clause) else self._said_by(clause)
        if tells_that_gone(clause):
            return bool(agents) and be_gone(self.scene, clause, agents)
        handler = handler_of(clause, agents)
        if clause.quotes and not agents:
            return self._said_by(clause)
        return handler is not None and handler(self.scene, clause, agents)

    def _odd(self, clause: Clause) -> bool | None:
        """Reads a clause with words that are not known, or about nothing; None if it is an ordinary one."""
        if clause.unknown == ["according"] and (said := self._according(clause)) is not None:
            return said
        if set(clause.unknown) - QUIET_STATES:
            return False
        return True if denies_object(clause) else None

    def _according(self, clause: Clause) -> bool | None:
        """What is so "according to" somebody is what he says."""
        people = [name for prep, noun in clause.places if prep == "to" for name in self.scene.person(noun)]
        if not people:
            return None
        rest = [(prep, noun) for prep, noun in clause.places if prep != "to"]
        said = assertions(self.scene, [replace(clause, places=rest, unknown=[])])
        for one in said or ():
            utter(self.scene, clause, people[0], one)
        return said is not None

    def _verbless(self, clause: Clause) -> bool:
        if clause.quotes and not clause.subjects and not clause.unknown:
            return unattributed(self.scene, clause)
        if _tells_of_nothing(clause):
            nothing = VerbGroup("be", ("be",), frozenset(), clause.start, clause.end)
            return be(self.scene, replace(clause, verb=nothing, adverbs=["there"]), ())
        if clause.link == "who" and clause.subjects and clause.places:
            people = [name for noun in clause.subjects for name in self.scene.person(noun)]
            return bool(people) and be(self.scene, clause, people)
        return not clause.unknown and (clause.link in TIMES or _tells_time(clause))

    def _said_by(self, clause: Clause) -> bool:
        """ "..." came Mary's answer."""
        nouns = [*clause.objects, *clause.subjects, *(noun for _, noun in clause.places)]
        owners = [noun.owner for noun in nouns if noun.owner in self.scene.names]
        people = [name for noun in nouns if noun.kind == "agent" for name in self.scene.person(noun)] + owners
        if not clause.quotes:
            return False
        if not people:
            return unattributed(self.scene, clause)
        return speak(self.scene, clause, people[:1])

    def _silence(self, sentence: Sequence[Token]) -> bool:
        """Whether the sentence only says that a question got no answer."""
        words = " ".join(token.low for token in sentence)
        simple = not any(token.quote or token.text in (",", "and", "but", "then") for token in sentence)
        if not simple or not any(phrase in words for phrase in lexicon().speech["silences"]):
            return False
        asker = self.scene.asked[0] if self.scene.asked else None
        named = [t.text for t in sentence if t.text in self.scene.names and t.text != asker]
        silent = named[-1] if named else self.scene.other(asker) if asker else None
        if silent is None or not self.scene.pending:
            return False
        self.clauses += 1
        self.understood += be_silent(self.scene, Clause(sentence[0].start, sentence[-1].end), silent)
        return True

    def _script(self, sentence: Sequence[Token], text: str) -> bool:
        """Whether the sentence is a line of a dialogue, "Mary: ...", or goes on with one; it is then read."""
        first = sentence[0].text
        labelled = len(sentence) > 2 and first in self.scene.names and sentence[1].text == ":"
        going_on = self.speaker and "\n" not in text[self.spoken : sentence[0].start] and first not in self.scene.names
        if not labelled and not (going_on and not any(token.quote for token in sentence)):
            self.speaker = None
            return False
        words = sentence[2:] if labelled else sentence
        spoken = words[0].text if words[0].quote else plain(text[words[0].start : words[-1].end + 1])
        said = read_quote(self.scene, spoken, self.scene.names)
        speaker = first if labelled else self.speaker if said is not None else None
        self.speaker, self.spoken = speaker, sentence[-1].end
        if speaker is None:
            return False
        self.scene.of(speaker)
        self.clauses += 1
        self.understood += said is not None
        for one in said or ():
            utter(self.scene, Clause(words[0].start, words[-1].end), speaker, one)
            self.scene.subjects = [speaker] if one.act == "ask" else self.scene.subjects
        return True

    def reading(self, text: str) -> Reading:
        """All that was read."""
        scene = self.scene
        dropped = unfulfilled(scene)
        kept = [(one, spot) for one, spot in scene.timeline if id(one) not in dropped]
        timeline = tuple(final(one, spot, t) for t, (one, spot) in enumerate(kept))
        init = tuple(dict.fromkeys(replace(fact, value=spot.id) if spot else fact for fact, spot in scene.begins))
        episode = Episode("", tuple(scene.agents), scene.entities(), init, timeline)
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
