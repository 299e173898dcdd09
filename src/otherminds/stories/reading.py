"""Reading a story: English text becomes an episode, with a measure of how much of it could be read."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from otherminds.errors import InputError
from otherminds.stories.acts import Agents
from otherminds.stories.chunks import chunks
from otherminds.stories.clauses import parse
from otherminds.stories.lexicon import lexicon
from otherminds.stories.looking import see
from otherminds.stories.model import Episode, Reading, Source
from otherminds.stories.people import find_names
from otherminds.stories.phrases import Clause, Noun, Quote, VerbGroup
from otherminds.stories.quotes import read_quote
from otherminds.stories.scene import Scene
from otherminds.stories.senses import handler_of, tells_absence, tells_state, tells_where_it_lies, turned_active
from otherminds.stories.sentences import LONGEST_SENTENCE, Token, plain, sentences, tokens
from otherminds.stories.speech import be_silent, speak, unattributed, utter
from otherminds.stories.states import be, want
from otherminds.stories.timing import final, in_order, unfulfilled

LONGEST = 100_000
UNREAL_LINKS = frozenset(("if", "unless", "lest", "whether", "how", "why", "what"))
IDLE_LINKS = frozenset(("without", "instead", "against", "like", "than", "from", "of", "for", "with", "in", "about"))


def read_story(text: str, *, source: Source = "text", p: float = 1.0, cast: Sequence[str] = ()) -> Reading:
    """Reads a story in plain English; what could not be read is in `unread`. Raises InputError if it is too long."""
    if len(text) > LONGEST:
        raise InputError(f"the story is longer than {LONGEST:,} characters", hint="give only the story itself")
    even = plain(text)
    found = tokens(even)
    names = find_names(sentences(found), cast)
    low = even.lower()
    scene = Scene(
        names,
        source,
        p,
        _rooms(low),
        numbered="from the left" in low
        or bool(re.search(r"\b(four|three|five|six|two|several) \w*\s?cabinets\b", low)),
    )
    reader = Reader(scene)
    for sentence in sentences(found, names):
        reader.read(sentence, text)
    return reader.reading(text)


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
        if len(sentence) > LONGEST_SENTENCE:
            return self._skip(sentence, text)
        if self._silence(sentence) or self._script(sentence, text):
            return
        words = [token.low for token in sentence]
        cleft = (
            words[:2] == ["it", "was"]
            and len(words) > 2
            and (words[2] in ("not", "n't") or sentence[2].text in self.scene.names)
        )
        if cleft and "who" in words:
            return self._skip(sentence, text)
        done: list[Agents] = []
        clauses = in_order(parse(chunks(sentence, self.scene.names)))
        for i, clause in enumerate(clauses):
            self._prepare(clause, clauses, i)
            if "neither" in words and clause.verb:
                clause.verb.negated = True
            agents = self._agents(clause, done)
            self.clauses += 1
            self.understood += agents is not None and self._clause(clause, agents, clauses[i + 1 :])
            if agents:
                done.append(agents)
                self._remember(clause, agents)
            if i and clause.link in ("when", "while", "as") and tells_absence(clauses[i - 1]) and len(done) > 1:
                self._missed(clause, done[-2])
        if self.understood - before[0] < self.clauses - before[1]:
            self.unread.append(" ".join(text[sentence[0].start : sentence[-1].end].split()))
            self.scene.last_room = None

    def _skip(self, sentence: Sequence[Token], text: str) -> None:
        self.clauses += 1
        self.unread.append(" ".join(text[sentence[0].start : sentence[-1].end].split()))

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

    def _prepare(self, clause: Clause, clauses: Sequence[Clause], i: int) -> None:
        """Shares a subject or an object with a neighbour that has it: "opened and closed the box"."""
        after = clauses[i + 1] if i + 1 < len(clauses) else None
        if i == 0 and clause.verb and not clause.verb.finite and not clause.subjects and after and after.subjects:
            clause.subjects = list(after.subjects)
        bare = clause.verb and not (clause.objects or clause.places or clause.content or clause.quotes)
        if (
            bare
            and clause.means("open", "close", "grab", "move", "put")
            and after
            and after.link == "and"
            and not after.subjects
        ):
            clause.objects = [noun for noun in after.objects if noun.kind != "agent"]
        if clause.link == "which" and clause.antecedent and clause.subjects and not clause.objects:
            clause.objects = [clause.antecedent]
        if (
            clause.link == "where"
            and clause.antecedent
            and clause.subjects
            and clause.means("put", "grab", "find")
            and not clause.places
        ):
            clause.places = [("in" if clause.antecedent.kind == "room" else "on", clause.antecedent)]
        if clause.link in ("who", "which", "that") and clause.antecedent and not clause.subjects:
            clause.subjects = [clause.antecedent]

    def _agents(self, clause: Clause, done: Sequence[Agents]) -> Agents | None:
        """Who does it; nobody if the subject is a thing, None if it is unclear."""
        if not clause.subjects:
            if (
                clause.verb is None
                or (clause.verb.lemma == "be" and "there" in clause.adverbs)
                or (clause.quotes and clause.verb.lemma in ("come", "be"))
            ):
                return ()
            return done[-1] if done else (tuple(self.scene.subjects) or None)
        found: list[str] = []
        reply = clause.means("say") and not clause.link
        for noun in clause.subjects:
            if noun.kind not in ("agent", "pronoun", "one"):
                return ()
            if noun.words[0] in ("nobody", "noone", "neither"):
                clause.verb = replace(clause.verb, negated=True) if clause.verb else None
                return tuple(self.scene.agents)
            found += self._person(noun, done, reply=reply)
        for name in found:
            self.scene.of(name)
        return tuple(dict.fromkeys(found)) or (
            () if clause.subjects[0].words[0] in ("it", "that", "this", "nothing") else None
        )

    def _person(self, noun: Noun, done: Sequence[Agents], *, reply: bool) -> list[str]:
        if noun.kind == "pronoun" and done and len(done[-1]) == 1 and noun.words[0] in ("he", "she") and not reply:
            kept, self.scene.subjects = self.scene.subjects, list(done[-1])
            found = self.scene.person(noun)
            self.scene.subjects = kept
            return found
        return self.scene.person(noun, reply=reply)

    def _clause(self, clause: Clause, agents: Agents, rest: Sequence[Clause]) -> bool:
        """Reads one clause; false if it could not be read."""
        verb = clause.verb
        if verb is None:
            return self._verbless(clause)
        if clause.unknown and not verb.means("stay", "find"):
            return False
        if verb.passive:
            agents = turned_active(self.scene, clause)
        if (quick := self._unreal(clause, agents, rest)) is not None:
            return quick
        if tells_where_it_lies(clause):
            clause.subjects = clause.subjects or clause.objects
            return be(self.scene, clause, ())
        if not agents and not verb.means("contain", "feature", "be", "have") and not clause.quotes:
            return verb.passive and be(self.scene, clause, ()) if tells_state(clause) else self._said_by(clause)
        if (
            verb.lemma == "go"
            and verb.tags >= {"pp"}
            and "past" not in verb.tags
            and not clause.places
            and not verb.perfect
        ):
            return bool(agents)
        handler = handler_of(clause, agents)
        if clause.quotes and not agents:
            return self._said_by(clause)
        return handler is not None and handler(self.scene, clause, agents)

    def _unreal(self, clause: Clause, agents: Agents, rest: Sequence[Clause]) -> bool | None:
        """What is only wished, possible, denied or supposed is no event; None if the clause tells of something real."""
        verb = clause.verb
        assert verb is not None
        if clause.link in UNREAL_LINKS:
            return False
        if verb.wish:
            return (
                want(self.scene, clause, agents)
                if verb.means("find", "grab", "look") and verb.lemma != "leave" and not verb.negated
                else False
            )
        if clause.link in IDLE_LINKS and not verb.means("find", "see"):
            return be_silent(self.scene, clause, agents[0]) if verb.means("say") and agents else True
        if verb.unreal and not verb.means("find", "see"):
            return False
        if verb.about_to and any(one.link in ("but", "when", "until") for one in rest):
            return True
        if verb.negated or clause.link in IDLE_LINKS:
            return self._denied(clause, agents)
        return None

    def _denied(self, clause: Clause, agents: Agents) -> bool | None:
        """What did not happen; not finding and not answering tell something all the same."""
        if clause.means("find", "see", "say", "ask", "be", "think"):
            return None if agents or clause.means("be") else False
        return True

    def _verbless(self, clause: Clause) -> bool:
        if clause.quotes and not clause.subjects and not clause.unknown:
            return unattributed(self.scene, clause)
        nothing_there = bool(clause.subjects) and (
            clause.subjects[0].det == "no" or clause.subjects[0].words == ("nothing",)
        )
        if len(clause.subjects) == 1 and nothing_there and not clause.unknown and not clause.places:
            nothing = VerbGroup("be", ("be",), frozenset(), clause.start, clause.end)
            return be(self.scene, replace(clause, verb=nothing, adverbs=["there"]), ())
        if clause.link == "who" and clause.subjects and clause.places:
            people = [name for noun in clause.subjects for name in self.scene.person(noun)]
            return bool(people) and be(self.scene, clause, people)
        if clause.link in ("after", "before", "upon", "during", "until") and not clause.unknown:
            return True
        return (
            not clause.subjects
            and not clause.unknown
            and not clause.objects
            and all(
                p in ("after", "before", "during", "with", "at", "in", "for", "upon") and n.kind == "object"
                for p, n in clause.places
            )
        )

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
        if any(token.quote for token in sentence) or not any(
            phrase in words for phrase in lexicon().speech["silences"]
        ):
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
        clause = Clause(words[0].start, words[-1].end, quotes=[Quote(spoken, words[0].start, words[-1].end)])
        speaker = first if labelled else self.speaker
        assert speaker is not None
        self.scene.of(speaker)
        said = read_quote(self.scene, spoken, self.scene.names)
        if said is None and not labelled:
            self.speaker = None
            return False
        self.clauses += 1
        self.understood += said is not None
        for one in said or ():
            utter(self.scene, clause, speaker, one)
        if said is None:
            self.unread.append(" ".join(text[sentence[0].start : sentence[-1].end].split()))
        self.speaker, self.spoken = speaker, sentence[-1].end
        return True

    def reading(self, text: str) -> Reading:
        """All that was read."""
        scene = self.scene
        dropped = unfulfilled(scene)
        kept = [(one, spot) for one, spot in scene.timeline if not any(one is other for other in dropped)]
        timeline = tuple(final(one, spot, t) for t, (one, spot) in enumerate(kept))
        init = tuple(dict.fromkeys(replace(fact, value=spot.id) if spot else fact for fact, spot in scene.begins))
        episode = Episode("", tuple(scene.agents), scene.entities(), init, timeline)
        return Reading(episode, (), self.understood / self.clauses if self.clauses else 0.0, tuple(self.unread))
