"""What the clauses of a story do to its scene: things are moved, people come and go, see, tell, and want."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from otherminds.stories.english.lexicon import singular, wordset
from otherminds.stories.english.sentences import plain, tokens
from otherminds.stories.everyday.chunks import Chunker, Noun, VerbGroup
from otherminds.stories.everyday.clauses import Clause, inside, parse
from otherminds.stories.everyday.scene import GONE, Happened, Place, Read, Scene, singulars
from otherminds.stories.everyday.words import cue, is_in, vocabulary, words_of
from otherminds.stories.model import Outcome
from otherminds.worlds.household.nested_belief import MoveEvent, StatementEvent

BACKGROUND = ("while", "when", "as", "after", "because", "since", "once", "whilst", "although", "though", "if")
WHOLE = words_of("whole")
NOTES = words_of("notes")
NEARBY = words_of("nearby")
PATHS = words_of("paths")
VAGUE = words_of("vague")
LASTING = frozenset(["since", "still", "now"])
HEARING = ("hear", "overhear", "catch")
GUIDING = ("lead", "guide", "bring", "take", "drag", "pull")  # whoever does so shows somebody what is there
BODY = words_of("body")
ELSEWHERE = Place("", (), frozenset(), "somewhere else")
GOALS = words_of("goals")


@dataclass
class Effect:
    """What a clause does to the scene: its outcome, and the reason if it has none."""

    outcome: Outcome
    reason: str = ""


EMPTY = frozenset(
    (
        "an activity that moves nothing and shows nothing",
        "says what something is like",
        "says nothing of where a thing is",
        "knows something else",
    )
)
WANTED = Effect("no effect", "is only wanted")
MISSED = Effect("observation", "takes others to have missed it")
SAID_OF_ELSE = Effect("no effect", "is said of something else")
REPLY = Effect("observation", "answers what was told")
NO_EFFECT = Effect("no effect", "an activity that moves nothing and shows nothing")
ELSE = Effect("no effect", "perceives or learns something else")
UNREAD = Effect("unread")
TOLD_AGAIN = Effect("no effect", "is told again")
TRUST = Effect("unread", "whether somebody is believed")
MIND = Effect("unread", "what somebody perceives or is told")  # of somebody asked about: it always matters


@lru_cache(maxsize=64)
def clauses_of(quote: str, names: frozenset[str]) -> tuple[Clause, ...]:
    """The clauses of what somebody says."""
    return tuple(parse(tokens(plain(quote)), names))


class ClauseReader:
    """Reads the clauses of a story, one after the other, into a scene."""

    def __init__(self, scene: Scene, names: frozenset[str]) -> None:
        self.scene, self.names = scene, names
        self.notes: list[tuple[str, str, Place]] = []  # what a note says that nobody has read yet: writer, thing, place
        self.asker = ""
        self.askers = set[str]()  # all who have asked something
        self.glances: set[str] = set()
        self.distracted: set[str] = set()  # those who attend to something else while something happens in this sentence
        self.last_said: tuple[str, list[str]] | None = None  # who spoke last, and to whom
        self.met: list[str] = []  # who has acted in this sentence so far
        self.faced: list[str] = []  # to whom
        self.following: list[Clause] = []  # the clauses after this one in its sentence
        self.present = False  # whether the last move was told in the present tense
        self.weather = False
        self.text = ""  # of the sentence
        self.overlaps = False  # whether the sentence says that it is told of the same moment as the one before
        self.hidden = False  # whether what is read now is told to be unknown to others
        self.proposed: tuple[Clause, int] | None = None  # the move that somebody asked for last, and in which sentence
        self.asked_for = ""  # the thing somebody asked for last

    def sentence(self, clauses: Sequence[Clause], text: str) -> list[tuple[Clause, Effect]]:
        """Reads the clauses of one sentence, what lies in the background first; tells what became of each."""
        self.text = text.lower()
        self.overlaps = cue("overlap").search(text.lower()) is not None
        self.met, self.faced = [], []
        top = [one for one in clauses if one.parent is None]
        told: list[tuple[Clause, Effect]] = []
        ordered = self._in_order(top)
        self.hidden = cue("hidden").search(" ".join(one.words for one in clauses)) is not None
        for n, one in enumerate(ordered):
            self.following = ordered[n + 1 :]
            cleft = told and told[-1][0].asked == "what" and one.lemma == "be" and one.content
            if cleft:  # "what he does not know is that ...": it is so
                self.hidden = told[-1][0].means("know")
                told += [(inner, self.read_clause(inner)) for inner in one.content]
            else:
                told.append((one, self.read_clause(one)))
        for one in clauses:
            if one.parent is not None:
                told.append((one, Effect("no effect", "is told in another clause")))
        self.scene.sentence += 1
        self.hidden = False
        for who in self.distracted:
            self.scene.people[who].watching = False  # "she left it there while she dozed": she dozes on
        self.distracted.clear()
        for who in self.glances:  # they watched what this sentence tells
            self.scene.people[who].watching = None
        self.glances.clear()
        return told

    def _in_order(self, top: Sequence[Clause]) -> list[Clause]:
        """Clauses in the order of time: "X while Y" and "X after Y" begin with Y; pronouns at the front stay there."""
        out = list[Clause]()
        top = list(top)
        for n, one in enumerate(top[:-1]):  # "before she left, she ...": what stands first happens last
            if one.link == "before" and n == 0 and top[1].link != "before":
                self._resolve_first(one)
                for noun in one.objects:
                    self.scene.thing(noun)  # so that "it" may be that
                end = next((k for k in range(2, len(top)) if not top[k].verb.perfect), len(top))
                top[:end] = [*top[1:end], one]
        if len(top) > 1 and top[0].link in ("when", "while") and top[0].lemma != "be" and not top[1].link:
            is_there = top[1].lemma in ("be", "be_back") and top[1].places and top[1].subject
            if is_there and self.scene.is_person(is_there):  # "when Ann opened it, Bob was in the room"
                top[0], top[1] = top[1], top[0]
        for one in top:
            last = out[-1] if out else None
            moved = (
                one.link in BACKGROUND
                and not one.forward
                and last is not None
                and not last.means("see", "know")
                and last.lemma not in ("be", "be_back")
            )
            moved = moved and not (last and last.verb.progressive and one.link == "when")
            if moved:
                back = next((n for n in range(len(out)) if out[n].link not in BACKGROUND), len(out))
                if not (one.verb.progressive or one.lemma == "be" or one.means("see", "sleep", "stay")):
                    back = len(out) - 1
                if back < len(out):
                    self._resolve_first(out[back])
                out.insert(back, one)
            else:
                out.append(one)
        return out

    def _resolve_first(self, clause: Clause) -> None:
        """Mention the people of a clause that stands first in the text but is read later."""
        self.scene.person(clause.subject)

    def read_clause(self, clause: Clause) -> Effect:
        """Reads one clause."""
        scene = self.scene
        scene.clause += 1
        self.weather = is_in(clause.lemma, "weather")  # "it" is nothing then
        for noun in (clause.subject, *(clause.objects if clause.lemma == "be" else ())):
            if noun is not None and noun.owner is not None and noun.owner.name and not scene.is_person(noun):
                scene.person(noun.owner)  # "Farid's car would not start", "it was Farid's turn": he is in the story
        number, people = scene.clause, self._subjects(clause)
        told = self._tell(clause, people)
        idle = told.outcome == "fact" or told.reason in EMPTY
        if idle and any(map(self.bears, clause.quotes)):
            told = UNREAD  # "the first thing she saw was his note: ..."
        self.met += people
        self.faced += [who for noun in clause.objects if scene.is_person(noun) for who in scene.may_be(noun)]
        nouns = [noun for one in (clause, *inside(clause)) for noun in one.nouns]
        if clause.lemma == "be":  # "it was her idea"
            nouns += [noun.owner for noun in clause.objects if noun.owner is not None]
        things = [noun for noun in clause.objects if noun.pronoun == "them" and self._may_be_topic(noun)]
        things = things if told.outcome in ("event", "observation") else []
        named_here = (one for noun in nouns if noun not in things for one in scene.may_be(noun))
        concerned = frozenset(named_here) | frozenset(people)
        self.weather = is_in(clause.lemma, "weather")
        acting = bool(people) and clause.lemma != "be" and not clause.means("lie") and not clause.verb.passive
        named = any(
            self._may_be_topic(noun)
            for noun in nouns
            if not (acting and noun is clause.subject and noun.pronoun)  # "they smiled": no thing does
        )
        subjects = [one.subject for one in inside(clause) if one.means("think", "know", "see") and one.subject]
        mental = [one for noun in subjects for one in scene.may_be(noun)]
        hearers = frozenset(self._hearers(clause, people) if clause.means("say") or clause.quotes else ())
        away = frozenset(who for who, one in scene.people.items() if one.here is False or one.watching is False)
        scene.read.append(
            Read(
                clause, told.outcome, told.reason, tuple(people), named, concerned, number,
                hearers, away, frozenset(mental), scene.sentence,
            )
        )  # fmt: skip
        return told

    def _may_be_topic(self, noun: Noun) -> bool:
        """Whether a noun phrase may stand for the thing asked about."""
        if noun.parts:
            return any(self._may_be_topic(part) for part in noun.parts)
        if noun.pronoun == "it" and self.weather:
            return False
        if noun.pronoun in ("it", "they", "them", "both", "all", "everything", "one"):
            thing = self.scene.thing(noun)
            several = noun.pronoun in ("both", "all", "everything")
            words = self.scene.things[thing].words if thing is not None else ()
            return several or bool(singulars(words) & self.scene.topics)
        if {*noun.words} & VAGUE:
            return True
        return bool(singulars(noun.words) & self.scene.topics) and not self.scene.is_person(noun)

    def _tell(self, clause: Clause, people: list[str]) -> Effect:
        scene, words = self.scene, clause.words
        happens = clause.means("put", "move", "take", "lose") and not (clause.verb.perfect or clause.verb.passive)
        if (
            (clause.link == "where" and not happens)
            or clause.link in ("if", "unless", "so that", "lest", "about")
            or clause.verb.form == "inf"
        ):
            return Effect("no effect", "is not said to have happened")
        if clause.verb.modal and not (clause.verb.modal in ("could", "can") and clause.means("see")):
            if clause.verb.negated and clause.means("see"):
                return self._see(clause, people) or UNREAD
            if clause.verb.negated and clause.means("miss") and people:  # "could hardly have missed it"
                scene.seen_by(people)
                return Effect("observation")
            if clause.means("see", "miss", "know") and any(scene.matters(who) for who in people):
                return MIND
            return Effect("no effect", "is not said to have happened")
        if {"nearly", "almost"} & {*clause.adverbs}:
            return Effect("no effect", "is not said to have happened")
        if clause.link == "that" and clause.parent is None:
            return UNREAD  # of a verb that is not known to tell something: "dreamed that"
        self._mention(clause)
        for _, noun in (*clause.setting, *clause.places):  # "in Ann's absence"
            if noun.head == "absence" and noun.owner is not None and (missing := scene.person(noun.owner)):
                scene.people[missing].here, scene.people[missing].room = False, frozenset()
        if is_in(clause.lemma, "implicatives") and clause.content and clause.content[0].link == "to" and people:
            inner = clause.content[0]  # "happened to see it"
            negated = clause.verb.negated or inner.verb.negated
            done = replace(inner.verb, form="finite", negated=negated, perfect=clause.verb.perfect)
            return self._tell(replace(inner, verb=done, subject=clause.subject, link=clause.link), people)
        bare = clause.lemma == "be" and not clause.objects and not clause.places
        if bare and clause.content and clause.content[0].link == "to":
            return WANTED  # "they were to meet at four"
        if clause.lemma == "have" and clause.content and clause.content[0].link == "to" and not clause.objects:
            return self._want(clause, people) or NO_EFFECT  # "had to find it"
        if (proposed := self._as_proposed(clause, people)) is not None:
            return proposed
        self._propose(clause)
        told = self._takes_to_miss(clause, people) or self._cue(clause, words, people) or self._by_verb(clause, people)
        self._background(clause, people)
        if told.outcome == "no effect" and told.reason in EMPTY:
            told = self._open(clause, people) or told
        if (
            clause.subject is not None
            and clause.subject.pronoun in ("everyone", "everybody")
            and (clause.lemma == "be" or clause.means("stay", "see"))
        ):
            for who in people:
                scene.people[who].watching = True
                self.glances.add(who)
        for who in people:
            if who in scene.subjects:
                scene.subjects.remove(who)
            if clause.link not in (*BACKGROUND, "who"):
                scene.subjects.append(who)
            elif clause.link in BACKGROUND:
                scene.subjects.insert(0, who)
        return told

    def _open(self, clause: Clause, people: list[str]) -> Effect | None:
        """Why a clause that was taken to have no effect may have one after all: by it somebody may learn something."""
        inner = [clause, *inside(clause)]
        signs = any(is_in(noun.head, "signs") for one in inner for noun in one.nouns if noun is not clause.subject)
        own = [
            one for one in inner if one.verb.form == "inf" and (one.lemma == "find" or not one.means("see", "know"))
        ]  # "turned to answer him"
        learns = signs or any(one.means("see", "say", "know") for one in inner if one not in own)
        others = [noun for noun in clause.nouns if noun is not clause.subject and self.scene.is_person(noun)]
        hearers = [who for noun in others if (who := self.scene.person(noun, exclude=people))]
        speaks = clause.means("say") and not clause.verb.passive and not signs
        concerned = hearers if speaks else [*people, *hearers]
        if learns and (any(self.scene.matters(who) for who in concerned) or self._names_thing(clause)):
            return None if self._of_else(clause) else MIND
        if self._places_thing(clause) or (clause.unknown and self._names_thing(clause)):
            return UNREAD
        return None

    def _of_else(self, clause: Clause) -> bool:
        """Whether what is seen, known or said is clearly something else than where the thing asked about is."""
        scene = self.scene
        inner = inside(clause)
        nouns = [noun for one in (clause, *inner) for noun in one.nouns if noun is not clause.subject]
        nouns = [noun for noun in nouns if not scene.is_person(noun) and not is_in(noun.head, "times")]
        heads = {word for place in scene.places.values() for word in place.words[-1:]}
        vague = any(
            noun.pronoun in WHOLE
            or noun.pronoun in ("something", "anything", "nothing")
            or {*noun.words} & (WHOLE | {"something", "anything", "nothing"})
            or is_in(noun.head, "signs", "changes")
            or {*noun.words[-1:]} & heads
            or self._may_be_topic(noun)
            for noun in nouns
        )
        minds = any(one.means("think", "know", "see", "say") for one in inner)
        return bool(nouns) and not (vague or minds or clause.quotes or clause.unknown)

    def _names_thing(self, clause: Clause) -> bool:
        """Whether a clause names a thing that is asked about."""
        nouns = [noun for noun in (clause.subject, *clause.objects, *(noun for _, noun in clause.places)) if noun]
        return any(singulars(noun.words) & self.scene.topics for noun in nouns)

    def _places_thing(self, clause: Clause) -> bool:
        """Whether a clause names a thing that is asked about, together with a place."""
        topics = self.scene.topics
        if clause.lemma in ("write", "read", "rain", "snow", "pour", "get", "ask") or (
            clause.subject and clause.subject.pronoun == "it" and not clause.objects
        ):
            return False
        nouns = [noun for noun in (clause.subject, *clause.objects) if noun is not None]
        named = any(
            noun.pronoun in ("it", "them") or (noun.words and (not topics or singulars(noun.words) & topics))
            for noun in nouns
            if not self.scene.is_person(noun)
        )
        return named and self.scene.place(clause.places) is not None

    def _subjects(self, clause: Clause) -> list[str]:
        noun = clause.subject
        if noun is None:
            return []
        if noun.owner is not None and noun.head in BODY:  # "Ann's eyes were on the road"
            return [one for one in [self.scene.person(noun.owner)] if one]
        if noun.pronoun == "it" and clause.means("go", "leave", "come", "see", "know", "want"):
            return [
                one
                for one in reversed(self.scene.recent)
                if self.scene.people[one].roles & vocabulary().sets["animals"]
            ][:1]
        if is_in(noun.head, "collectives") and clause.means("put", "move", "take", "say", "lose"):
            return [self.scene._known_person(noun) or self.scene._new_person(noun)]
        if is_in(noun.head, "groups") and noun.head in self.scene.asked_roles:
            return [self.scene._known_person(noun) or self.scene._new_person(noun)]
        if is_in(noun.head, "groups") and clause.means("see", "know", "want", "think"):
            return []  # a crowd that need not include those who are named
        if noun.pronoun in ("he", "she"):  # "she told Ann": she is not Ann
            named = [who for one in clause.objects if one.name and (who := self.scene.person(one, create=False))]
            return [one for one in [self.scene.person(noun, exclude=named)] if one]
        if noun.pronoun or noun.parts or self.scene.is_person(noun) or is_in(noun.head, "groups"):
            return self.scene.persons(noun)
        animate = (
            clause.means("know", "think", "say", "ask", "want", "see")
            and clause.lemma not in ("ring", "announce", "call", "lie")
            and not (clause.lemma == "catch" and not clause.objects)  # "the engine caught"
            and not is_in(noun.head, "signs")  # "a letter said so"
        ) or (clause.means("put", "take") and any(one.det or one.pronoun for one in clause.objects))
        if (
            animate
            and not clause.verb.passive
            and clause.lemma != "be"
            and noun.head
            and (noun.name or noun.det)
            and self.scene.thing(noun, create=False) is None
        ):
            one = self.scene._known_person(noun) or self.scene._new_person(noun)
            self.scene._mention(one)
            return [one]
        return []

    def _by_verb(self, clause: Clause, people: list[str]) -> Effect:
        verbs: list[tuple[tuple[str, ...], Callable[[Clause, list[str]], Effect | None]]] = [
            (("swap",), self._swap),
            (("hand",), self._hand),
            (("put", "move", "take", "lose"), self._move),
            (("leave", "come", "go"), self._go),
            (("see", "miss"), self._see),
            (("say",), self._say),
            (("ask",), self._ask),
            (("know",), self._know),
            (("think",), self._think),
            (("want",), self._want),
            (("look",), self._look),
            (("sleep", "wake"), self._sleep),
            (("stay", "lie"), self._stay),
        ]
        if clause.lemma == "lie" and (clause.places or clause.adverbs) and not clause.quotes:
            return self._stay(clause, people) or UNREAD
        if people and clause.lemma in HEARING and (clause.quotes or any(one.quotes for one in clause.content)):
            return self._hear(clause, people)
        if clause.verb.progressive and clause.means("look") and not clause.verb.negated:
            at = [noun for prep, noun in clause.places if prep == "at" and self.scene.is_person(noun)]
            if at and any(self.scene.matters(who) for who in people):
                return MIND  # "was looking straight at her"
        if clause.quotes and people and not clause.means("ask", "think"):
            return self._say(clause, people) or UNREAD
        if clause.verb.passive and clause.means("see", "find") and not people and clause.places:
            return self._be(clause, people)  # "the watch was found in the mud"
        if (
            clause.lemma == "be"
            and clause.verb.negated
            and people
            and clause.content
            and clause.content[0].lemma == "know"
        ):
            return (
                self._know(replace(clause.content[0], verb=clause.verb), people) or UNREAD
            )  # "he was not to know that"
        if clause.lemma == "be":
            return self._be(clause, people)
        away = {"away", "out", "off"} & {*clause.adverbs} and not clause.verb.negated
        for noun in (
            clause.objects if away and clause.lemma in ("call", "send", "drag", "lead", "summon", "take") else ()
        ):
            if self.scene.is_person(noun) and (called := self.scene.person(noun, exclude=people)):
                self.scene.people[called].here, self.scene.people[called].room = False, frozenset()
                return Effect("event")  # "her mother called her away"
        if clause.verb.passive and people and away and clause.means("move", "take"):
            for who in people:  # "he was wheeled off to the ward"
                self.scene.people[who].here, self.scene.people[who].room = False, frozenset()
            return Effect("event")
        if people and clause.beside and not clause.verb.negated and not clause.means("sleep"):
            for who in people:  # "with Ann holding the lamp"
                self.scene.people[who].watching = True
                self.glances.add(who)
            return Effect("observation")
        if (
            people
            and clause.verb.progressive
            and clause.link in ("while", "whilst")
            and (
                not clause.means("see", "stay", "put", "move", "take", "hand", "swap")
                or is_in(clause.lemma, "fetching")
            )
            and clause.lemma not in ("help", "hold")
        ):
            for who in people:
                self._inattentive(who, clause)
            return Effect("observation", "attends to something else")
        papers = any(is_in(noun.head, "signs", "papers") or noun.pronoun == "it" for noun in clause.objects)
        if clause.lemma == "read" and self.notes and people and papers and not clause.verb.negated:
            return self._read_note(people)
        if people and is_in(clause.lemma, "hints") and cue("doing").search(self.text):
            self.scene.seen_by(people)  # "she smiled at him as he did it"
            return Effect("observation")
        moved = self._moved_in(clause) if clause.lemma in ("help", "let") else None
        helped = [noun for noun in clause.objects if self.scene.is_person(noun)]
        aided = [noun for prep, noun in clause.places if prep == "for" and self.scene.is_person(noun)]
        if clause.lemma == "hold" and aided and people and not clause.verb.negated:  # "while Ann held the lamp for him"
            if clause.link in BACKGROUND:
                for who in people:
                    self.scene.people[who].watching = True
                    self.glances.add(who)
                return Effect("observation")
            helped = aided
        if clause.lemma in ("help", "hold") and helped and not clause.content and people and not clause.verb.negated:
            for one in self.scene.latest():  # "and Ann helped him"
                if one.sentence >= self.scene.sentence - 1 and one.actor == self.scene.person(
                    helped[0], exclude=people
                ):
                    for who in people:
                        self.scene.notices(who, one, sees=True)
            return Effect("observation")
        known = moved is not None and (moved.link == "to" or not moved.places) and bool(self.scene.latest())
        if known and people and not clause.verb.negated:
            self.scene.seen_by(people)  # "he helped to carry it"
            return Effect("observation")
        if moved is not None and people and not clause.verb.negated:
            told = self.read_clause(moved)
            self.scene.seen_by(people if told.outcome == "event" else ())
            return told
        if not vocabulary().knows(clause.lemma):
            return Effect("unread", "unknown verb")
        shown = [noun for noun in clause.objects if is_in(noun.head, "pictures") and self._may_be_topic(noun)]
        if shown and people and clause.means("hand", "say", "move") and not clause.verb.negated:
            return self._show(clause, people, shown[0])
        if any({*noun.words} & NOTES for noun in clause.objects) and clause.lemma in (
            "send",
            "give",
            "pass",
            "hand",
            "text",
            "write",
            "leave",
        ):
            to = [noun for noun in clause.objects if self.scene.is_person(noun)]
            to += [noun for prep, noun in clause.places if prep in ("to", "for") and self.scene.is_person(noun)]
            said = any(one.means("say") for one in self.following) or any(one.means("say") for one in clause.content)
            if to and not said:
                asked = self.scene.person(to[0], exclude=people)
                last = self.scene.log[-1] if self.scene.log else None
                if last is not None and last.verb == "say" and last.event.reaches(asked or ""):
                    return REPLY  # of which it was told what it says
                return MIND if asked and self.scene.matters(asked) else NO_EFFECT
        for senses, read in verbs:
            if clause.means(*senses):
                read_as = read(clause, people)
                if read_as is not None:
                    return read_as
        if (
            people
            and clause.link in ("while", "as", "when", "whilst")
            and not clause.means("see", "hand")
            and clause.lemma not in ("help", "hold")
            and (clause.verb.progressive or clause.link in ("while", "whilst"))
        ):
            for who in people:
                self._inattentive(who, clause)
            return Effect("observation", "attends to something else")
        if (
            clause.lemma in ("have", "get")
            and people
            and self._objects(clause)
            and (place := self.scene.place(clause.places))
        ):
            thing = self.scene.thing(self._objects(clause)[0])
            if thing is not None and not clause.verb.negated and self.scene.where((), thing) is None:
                self._moved(clause, people[0], thing, place)
                return Effect("fact")
        if (
            self._objects(clause)
            and not clause.verb.negated
            and any(prep in ("into", "onto", "to") for prep, _ in clause.places)
        ):
            carried = self._move(clause, people)  # any verb with a thing and a goal moves it: "knocked it to the floor"
            if carried is not None:
                return carried
        if (
            not people
            and not self._objects(clause)
            and clause.subject is not None
            and clause.places
            and not clause.verb.negated
            and clause.subject.pronoun not in ("he", "she", "i", "we", "you")
        ):
            return self._be(clause, people)  # a thing is or goes somewhere by itself: "it swims in the pond"
        things = [scene_thing for noun in self._objects(clause) if (scene_thing := self.scene.thing(noun))]
        placed = (
            self.scene.place([one for one in clause.places if one[0] not in ("at", "with", "for", "from")]) is not None
        )
        topical = (bool(things) and not self.scene.topics) or any(
            {*singulars(self.scene.things[one].words)} & self.scene.topics for one in things
        )
        known = any(self.scene.where((), one) is not None for one in things)
        if (
            topical
            and (
                placed
                or (known and not clause.means("idle", "busy", "want", "think", "stay", "wake", "look", "ask", "know"))
            )
            and clause.lemma not in ("have", "do", "let", "be")
        ):
            return UNREAD
        return NO_EFFECT

    # who perceives what

    def _inattentive(self, who: str, clause: Clause) -> None:
        near = [one for prep, one in clause.places if prep in ("beside", "with", "near", "opposite")]
        if any(self.scene.is_person(one) for one in near):
            return  # whoever is beside others may see what they do
        self.scene.people[who].watching = False
        if clause.link in ("while", "whilst", "as"):
            self.distracted.add(who)
        place = self.scene.place(list(clause.places))
        if (
            place is not None
            and not place.holder
            and not set(place.words) & (NEARBY | wordset("kinds") | self.scene.here)
        ):
            self.scene.people[who].here, self.scene.people[who].room = False, frozenset(place.words)

    def _mention(self, clause: Clause) -> None:
        """Note the things that a clause mentions and what is inside it, so that "it" can stand for them later."""
        for one in inside(clause):
            if one.subject is not None and one.subject.name:
                self.scene.person(one.subject)
        for one in clause.content:
            if one.link == "to":
                self._mention(one)
                for noun in one.objects:
                    self.scene.person(noun)
        for prep, noun in (*clause.places, *clause.setting):  # "asleep, with the book next to him"
            if prep == "with" and singulars(noun.words) & self.scene.topics and not self.scene.is_person(noun):
                self.scene.thing(noun)
        if (
            clause.lemma == "be"
            or (clause.means("put", "move", "take", "swap", "see", "hand", "lose") and clause.link != "to")
            or clause.means("go", "leave", "come")
        ):
            return
        preps = ("with", "for") if clause.means("ask") else ("with",)
        bare = [clause.subject] if clause.subject is not None and not clause.places else []
        for noun in [*bare, *clause.objects, *(noun for prep, noun in clause.places if prep in preps)]:
            if (
                noun.words
                and noun.det
                and not noun.parts
                and not is_in(noun.head, "times", "no_places", "groups")
                and not self.scene.is_person(noun)
            ):
                self.scene.thing(noun)

    def _background(self, clause: Clause, people: Sequence[str]) -> None:
        """What is told of somebody's state held already during the last move told, unless it says "then" or "now"."""
        scene = self.scene
        present = {"is", "are", "'s", "has", "have", "now", "just"} & {*clause.words.split()}
        present = set() if self.present or (clause.verb.perfect and "since" in clause.words.split()) else present
        now = clause.words.startswith("then ") or (clause.verb.form == "finite" and bool(present))
        if clause.means("see", "know", "say", "think") and not clause.means("busy"):
            return
        recent = [one for one in self.scene.latest() if one.sentence >= self.scene.sentence - 1]
        moving = clause.means("see", "look", "stay", "go", "come", "leave")
        doing = clause.verb.progressive and clause.link in ("", "who") and not moving
        if doing and recent and not now and clause.lemma not in ("help", "hold"):
            for who in people:  # what somebody was doing when a thing was moved is told because they missed it
                if recent[-1].actor != who and self.scene.people[who].watching is None:
                    self.scene.people[who].watching = False
        if (
            clause.verb.progressive
            or clause.lemma in ("be", "spend", "sleep", "stand", "sit", "lie", "stay", "remain", "wait")
            or clause.verb.perfect
        ):
            then = any(one.link in ("when", "while", "as") for one in self.following)  # "was out when she moved it"
            latest = [] if now or then or (clause.link in BACKGROUND and clause.link != "as") else self.scene.latest()
            back = 2 if clause.means("sleep") else 1
            missing = {who for who in people if scene.people[who].watching is False or scene.people[who].here is False}
            for n, read in enumerate(scene.read if not now else ()):
                if read.sentence >= scene.sentence - back and not missing & set(read.people):
                    scene.read[n] = replace(read, away=read.away | missing)
            for one in latest:
                if one.sentence >= self.scene.sentence - back:
                    for who in people:
                        if self.scene.people[who].watching is False or self.scene.people[who].here is False:
                            self.scene.notices(who, one, sees=False)

    def _cue(self, clause: Clause, words: str, people: list[str]) -> Effect | None:
        """Reads phrases about who perceives nothing: "with his back turned", "was away", "nobody saw it"."""
        scene = self.scene
        noun = clause.subject
        if cue("relayed").search(words.removesuffix(" but")):
            return self._relay(clause, people) or MIND
        if self.overlaps and any(scene.matters(who) for who in people):
            return MIND  # "just then Ann came in"
        nobody = noun is not None and noun.pronoun in ("nobody", "no-one", "noone")
        if nobody and clause.means("see", "know"):
            inner = inside(clause)
            told_of = any(self._may_be_topic(noun) for one in inner for noun in one.nouns)
            put = [place for one in inner if (place := scene.place(one.places)) is not None]
            if told_of and any(
                not (one.place and one.place.fits(place)) for place in put for one in scene.latest()[-1:]
            ):
                return UNREAD  # "nobody knows how it got into the attic"
            for one in scene.latest():
                for who in list(scene.people):
                    scene.notices(who, one, sees=False)
            return Effect("observation")
        apart = any(prep == "to" and not scene.is_person(one) for prep, one in clause.places)  # "to the radio"
        if clause.lemma in ("listen", "eavesdrop") and not apart and any(scene.matters(who) for who in people):
            heard = scene.log[-1] if scene.log and scene.log[-1].sentence >= scene.sentence - 1 else None
            heeds = heard is not None and heard.verb == "say" and all(heard.event.reaches(who) for who in people)
            return Effect("observation") if heeds and not clause.verb.negated else MIND
        if self._no_message(clause, nobody):
            if clause.lemma in HEARING and clause.verb.negated:
                self._miss_words(people)
            silent = () if clause.lemma in ("hear", "get", "have", "find") else people  # they may know it themselves
            named = [met for noun in clause.objects if scene.is_person(noun) and (met := scene.person(noun))]
            for who in {*people, *named, *(one for noun in clause.nouns for one in scene.may_be(noun))} - {*silent}:
                scene.unaware(who)
            return Effect("observation", "no message")
        if nobody:
            return Effect("no effect", "did not happen")
        if cue("believed").search(words) and not clause.verb.negated and not cue("distrust").search(words):
            return Effect("observation", "believes it")
        if cue("distrust").search(words) and not cue("trusted").search(words):
            if clause.verb.negated and clause.lemma in ("believe", "trust"):
                return None
            return TRUST
        if clause.lemma == "be" and clause.feels and clause.content and people:
            read = self._know if is_in(clause.objects[-1].head, "aware") else self._think
            return read(clause, people)
        if clause.lemma == "call" and clause.verb.passive and {"away", "out"} & {*words.split()}:
            for who in people:
                scene.people[who].here, scene.people[who].room = False, frozenset()
            return Effect("event")
        if (
            clause.means("put", "move", "take", "say", "hand", "swap") and clause.lemma not in ("turn", "stand")
        ) or not people:
            return None
        if cue("alone").search(words):  # "although he believed himself alone"
            self.hidden = True
            for one in scene.latest():
                for who in people:
                    scene.watched_unawares(who, one)
            return Effect("observation")
        if cue("unaware").search(words) and (not clause.verb.negated or "nothing" in words):
            for one in scene.latest():
                for who in people:
                    scene.notices(who, one, sees=False)
                    scene.watched_unawares(who, one)
            for who in people:
                scene.people[who].watching = False
            return Effect("observation")
        seeing = clause.means("see", "look", "know", "think", "go", "leave", "come") and not clause.verb.negated
        stands = clause.lemma in ("be", "stand", "sit") and not clause.verb.negated
        if stands and cue("beside").search(words):
            for one in scene.latest() if clause.link not in BACKGROUND else ():
                for who in people if one.sentence >= scene.sentence - 1 else ():
                    scene.notices(who, one, sees=True)
            for who in people if clause.link in BACKGROUND else ():
                scene.people[who].watching = True
                self.glances.add(who)
            return Effect("observation")
        if re.search(r"\balone\b", words) and clause.lemma in ("be", "stay"):
            for who, person in scene.people.items():
                if who not in people:
                    person.here, person.room = False, frozenset()
            return Effect("event")
        blind = cue("blind").search(words)
        if blind and clause.verb.negated and not re.search(r"not|n't|never|without|no ", blind[0]):
            return MIND  # "was not asleep"
        seen = (one for one in self.following if one.means("see") and not one.verb.negated)
        for noun in (noun for prep, noun in clause.places if blind and prep == "to" and noun.name):
            scene.person(noun)  # "had her back to Ann"
        mirrored = any({*people} <= {*scene.may_be(one.subject)} for one in seen if one.subject is not None)
        if mirrored and blind and "back" in blind[0]:
            return Effect("observation")  # "had his back to her, yet in the mirror he saw her take it"
        if blind and not (seeing and not clause.verb.progressive):
            for who in people:
                scene.people[who].watching = False
                for one in scene.latest() if re.search(r"\bback to\b", words) else ():
                    scene.watched_unawares(who, one)  # "saw her do it, but she had her back to him"
            return Effect("observation", "attends to something else")
        spent = clause.lemma == "spend" and scene.place(clause.places) is not None  # "spent the day in court"
        if spent or (
            (clause.lemma in ("be", "stay", "remain", "have") or clause.verb.progressive or clause.verb.passive)
            and cue("away").search(words)
            and not clause.means("go", "leave", "come", "see")
        ):
            for who in people:
                scene.people[who].here = bool(clause.verb.negated)
                scene.people[who].room = frozenset()
                self._to_room(who, clause, False)
            return Effect("event")
        return None

    def _relay(self, clause: Clause, people: list[str]) -> Effect | None:
        """Reads that somebody passes on what they were told: "passed it on to her"."""
        scene = self.scene
        to = [who for prep, noun in clause.places if prep == "to" and (who := scene.person(noun, exclude=people))]
        heard = [
            one
            for one in scene.log
            if isinstance(one.event, StatementEvent) and people and people[0] in one.event.hearers
        ]
        if clause.lemma not in ("pass", "pass_on", "relay") or clause.verb.negated or not to or not heard:
            return None
        if heard[-1].place is not None:
            scene.told(people[0], heard[-1].event.obj, heard[-1].place, to)
        return Effect("event")

    def _propose(self, clause: Clause) -> None:
        """Note a move that is asked for or offered: "asked whether she might move it", "May I put it there?"."""
        asks = clause.means("ask", "say", "want")
        said = [one for quote in clause.quotes for one in clauses_of(quote, self.names)]
        offered = any(quote.rstrip().endswith("?") for quote in clause.quotes)
        for one in (*(inside(clause) if asks else ()), *said, *([clause] if clause.link == "if" else ())):
            if (
                (one.verb.modal or one.verb.form == "inf" or (offered and one in said))
                and one.means("put", "move", "take")
                and self._objects(one)
            ):
                self.proposed = one, self.scene.sentence

    def _as_proposed(self, clause: Clause, people: list[str]) -> Effect | None:
        """Reads that somebody does what was proposed: "and she did so", "he watched her do it"."""
        if self.proposed is None or self.proposed[1] < self.scene.sentence - 2:
            return None
        deeds = [one for one in (clause, *clause.content) if one.lemma == "do" and one.subject is not None]
        so = [one for one in deeds if "so" in one.adverbs or any(noun.pronoun in WHOLE for noun in one.objects)]
        latest = self.scene.latest()
        if not so or clause.verb.negated or (latest and latest[-1].sentence >= self.proposed[1]):
            return None
        move, self.proposed = self.proposed[0], None
        verb = replace(move.verb, form="finite", modal="", perfect=False)
        told = self._tell(replace(move, subject=so[0].subject, verb=verb, link=""), self.scene.persons(so[0].subject))
        if told.outcome == "event" and so[0] is not clause:
            self.scene.seen_by(people)
            return Effect("observation")
        return told

    def _takes_to_miss(self, clause: Clause, people: list[str]) -> Effect | None:
        """Reads that people think or know that others did not see what happened: "is sure that Ann was asleep"."""
        scene = self.scene
        minds = clause.means("think", "know", "see") or clause.feels
        unsaid = all(one.means("say") and one.subject and one.subject.pronoun == "nobody" for one in inside(clause)[1:])
        if not people or not minds or clause.verb.negated or clause.asked or not clause.content or not unsaid:
            return None
        inner = clause.content[0]
        denied = inner.verb.negated or (inner.subject is not None and inner.subject.pronoun == "nobody")
        if denied and inner.means("say", "ask", "hand"):
            return MISSED
        others = scene.persons(inner.subject)
        if inner.subject is not None and inner.subject.pronoun == "nobody":
            others = [who for who in scene.people if who not in people]
        if inner.link in ("to", "what") or not others or {*others} & {*people}:
            return None  # "could see what she was doing"
        reads = inner.lemma == "read" and inner.verb.perfect  # "is sure that she has read it"
        if reads:
            return MIND
        occupied = inner.means("sleep", "busy") or inner.verb.progressive or bool(cue("blind").search(inner.words))
        occupied = occupied or (inner.lemma in ("be", "have") and bool(cue("away").search(inner.words)))
        if inner.means("see", "know", "say", "come", "look", "go", "put", "move", "take") and not denied:
            return None
        misses = denied and (inner.means("see", "know") or (inner.lemma in ("be", "wake") and "awake" in inner.words))
        if not misses and (denied or not occupied):
            return None
        for one in scene.latest():
            for who in others:
                if clause.means("see", "know") and not clause.means("think") and misses:
                    scene.notices(who, one, sees=False)
                scene.overlooked(who, one)
        return MISSED

    def _no_message(self, clause: Clause, nobody: bool) -> bool:
        """Whether a clause says that somebody is told nothing: "nobody rang her", "he left no note"."""
        if clause.quotes or not (clause.means("say", "ask", "hand") or is_in(clause.lemma, "telling")):
            return False
        nothing = any(
            noun.pronoun in ("nothing", "nobody", "anything", "anyone", "anybody")
            or noun.words[-1:] in (("nothing",), ("nobody",), ("anything",), ("anyone",))
            or (noun.det in ("no", "any") and is_in(noun.head, "signs", "chances"))
            for noun in (*clause.objects, *(noun for _, noun in clause.places))
        )
        if clause.lemma == "have" and cue("unaware").search(clause.words):
            return False  # "had no idea"
        if clause.lemma in ("leave", "have", "get", "find"):
            return nothing and (clause.verb.negated or any(noun.det == "no" for noun in clause.objects))
        return nobody or nothing or (clause.verb.negated and clause.lemma not in ("hear", "be"))

    def _miss_words(self, people: Sequence[str]) -> bool:
        """Note that people have not heard what was just said; False if nothing was."""
        for said in self.scene.log[-1:-3:-1]:  # the words, and perhaps a deed after them
            if isinstance(said.event, StatementEvent):
                said.event = replace(said.event, hearers=said.event.hearers - set(people))
                return True
        return False

    def _to_room(self, who: str, clause: Clause, here: bool | None) -> None:
        """Note where somebody is now: elsewhere, unless the phrases of the clause name where the story happens."""
        scene, person = self.scene, self.scene.people[who]
        person.room = frozenset()
        phrases = [(prep, noun) for prep, noun in clause.places if prep not in ("from", "for", "with", "out")]
        phrases += [
            ("to", noun)
            for noun in clause.objects
            if not scene.is_person(noun) and clause.lemma in ("enter", "reach", "re-enter")
        ]
        place = scene.place(phrases)
        near = place is not None and bool(set(place.words[-1:]) & (NEARBY | wordset("kinds")))
        if place is not None and not place.holder and not near:
            person.room = frozenset(place.words) | place.around
            if person.room & scene.here:
                person.room, here = frozenset(), True
            elif here is None:
                here = False
        elif near:
            here = True if here is None else here
        person.here = False if here is None else here
        person.watching = None
        hidden = place is not None and (place.side == "behind" or any(is_in(word, "lookouts") for word in place.words))
        person.apart = hidden

    # moves

    def _objects(self, clause: Clause) -> list[Noun]:
        scene = self.scene
        if clause.verb.passive:
            return [clause.subject] if clause.subject and not scene.is_person(clause.subject) else []
        found = [part for noun in clause.objects for part in (noun.parts or [noun])]
        return [
            one
            for one in found
            if not scene.is_person(one) and (one.words or one.pronoun in ("it", "them", "both", "one"))
        ]

    def _actor(self, clause: Clause, people: list[str]) -> str:
        if clause.verb.passive:
            agent = next((noun for prep, noun in clause.places if prep == "by" and self.scene.is_person(noun)), None)
            return self.scene.person(agent) or ""
        return people[0] if people else ""

    def _move(self, clause: Clause, people: list[str]) -> Effect | None:
        """Reads that somebody puts, moves, takes or uses up a thing; None if the verb means something else here."""
        scene = self.scene
        objects = self._objects(clause)
        if max(Counter(prep for prep, _ in clause.places if prep in ("from", "to")).values(), default=0) > 1:
            return UNREAD  # "from the box to the shelf and, later, from the shelf to the bin"
        again = clause.link == "since" or (clause.link in ("where", "wh") and not self.proposed)
        again &= clause.means("put") and not scene.place(clause.places)
        if again and any(one.actor in people for one in scene.log):
            return TOLD_AGAIN  # "nobody has touched it since she put it away"
        if any(noun.text.lower() == "everything" for noun in clause.objects) and clause.means("put", "move"):
            moved = dict.fromkeys(one.event.obj for one in scene.log if one.event.obj in scene.things)
            objects = [Noun(scene.things[key].words, key, 0, 0) for key in moved]
        if (
            clause.lemma == "get"
            and not {"out", "down"} & {*clause.adverbs}
            and not any(prep in ("to", "into", "from", "off") for prep, _ in clause.places)
        ):
            return None
        goals = [
            (prep, noun)
            for prep, noun in clause.places
            if (
                prep not in (*PATHS, "for", "with", "of")
                or (clause.means("put") and prep in ("across", "along", "over", "round", "around"))
            )
            and not (prep == "by" and scene.is_person(noun))
        ]
        if clause.means("take", "move") and not clause.means("put") and not clause.verb.passive:
            first = next(
                (
                    n
                    for n, (prep, _) in enumerate(goals)
                    if prep in GOALS and (prep not in ("in", "on", "at", "by") or n)
                ),
                None,
            )
            only = [prep for prep, _ in goals if prep in ("to", "into", "onto", "behind", "under", "inside")]
            if clause.means("take") and not only and clause.lemma != "get":
                goals = []
            elif first is not None and only:
                goals = goals[next(n for n, (prep, _) in enumerate(goals) if prep in only) :]
        place = scene.place(goals)
        with_ = [noun for prep, noun in clause.places if prep == "with" and scene.is_person(noun)]
        if place is None and with_ and clause.means("put") and (holder := scene.person(with_[0])):
            place = Place("", (), frozenset(), f"with {with_[0].text}", holder)  # "left it with the butcher"
        if place is None and "there" in clause.adverbs:
            place = scene.last_place or next((one.place for one in reversed(scene.log) if one.place), None)
        shown = [noun for noun in clause.objects if scene.is_person(noun)] if clause.lemma in GUIDING else []
        if shown and not objects and place is not None and (led := scene.person(shown[0], exclude=people)):
            for there in list(scene.things):  # "led him to the bowl"
                if (now := scene.where((), there)) is not None and now.fits(replace(place, side="")):
                    scene.believes(led, there, now)
            return Effect("observation")
        if (
            place is None
            and {"in", "inside"} & {*clause.adverbs}
            and clause.means("put")
            and scene.last_place is not None
        ):
            place = scene.last_place  # "it would be safer in the box, so she dropped it in"
        if not objects:
            return None
        if " and back" in clause.words or (len([one for one in objects if one.words]) > 1 and len(goals) > 1):
            return UNREAD  # "took it to the attic and back", "put the jar on the shelf and the lid in the drawer"
        if clause.lemma in ("leave", "enter", "return", "pass") and place is None:
            return None
        if clause.verb.negated:
            return Effect("no effect", "did not happen")
        if not scene.log:
            scene.here |= {word for prep, noun in clause.setting if scene.is_place(prep, noun) for word in noun.words}
        actor = self._actor(clause, people)
        source = scene.place(
            [(self._side(prep, noun), noun) for prep, noun in clause.places if prep in ("from", "off")]
        )
        for noun in objects if source else ():
            thing = scene.thing(noun)
            if source and thing is not None:
                self._starts_at(thing, source, place)
        they = clause.subject is not None and clause.subject.pronoun in ("they", "someone", "somebody")
        if not actor and not clause.verb.passive and not they:
            return self._moves_itself(clause, place)
        if not place and clause.lemma.endswith("_back") and self._may_be_from_here(objects, actor):
            return UNREAD
        if not place:
            place = self._unplaced(clause, actor)
            if place is None:
                return None
        if actor:
            person = scene.people[actor]
            if person.here is None or (person.here is False and not person.room):
                person.here = True
            if person.watching is False and not clause.verb.perfect:
                person.watching = None
        if not scene.log and not place.holder:
            scene.here |= set(place.around)
        for noun in objects:
            thing = scene.thing(noun)
            if thing is not None:
                so_far = "there" in clause.adverbs and not clause.words.endswith("and there")
                now = scene.where((), thing) if so_far else None
                if now is not None and not now.holder and now.words and not now.fits(place):  # "on the shelf there"
                    around = place.around | {*now.words}
                    place = replace(place, around=around, text=f"{place.text} {now.text}")
                self._moved(clause, actor, thing, place)
        return Effect("event")

    def _starts_at(self, thing: str, source: Place, goal: Place | None) -> None:
        """Notes where a thing was before it was moved from there, if the story has told only where it is now."""
        scene, now = self.scene, self.scene.where((), thing)
        if now is None:
            scene.moved(thing, source, "", frozenset(scene.people), verb="initial")
            return
        told = [one for one in scene.log if one.event.obj == thing]
        if len(told) == 1 and told[0].verb == "initial" and goal is not None and now.fits(goal):
            told[0].event, told[0].place = replace(told[0].event, place=source.key), source
            scene.places.setdefault(source.key, source)  # "it is in the box now; it was put there from the shelf"

    def _may_be_from_here(self, objects: Sequence[Noun], actor: str) -> bool:
        """Whether it is open to where something is put back, as somebody else moved it last."""
        thing = self.scene.thing(objects[0])
        moves = [one for one in self.scene.log if one.event.obj == thing and isinstance(one.event, MoveEvent)]
        moves = [one for one in moves if one.verb not in ("initial", "believe")]
        return bool(moves) and moves[-1].actor not in ("", actor)

    @staticmethod
    def _side(prep: str, noun: Noun) -> str:
        return "on" if prep == "off" else "at"

    def _unplaced(self, clause: Clause, actor: str) -> Place | None:
        """Where a thing is that is taken, moved or used up without word of where to; None if the verb moves nothing."""
        if clause.lemma.endswith("_back") and actor and clause.objects:  # to where it was
            thing = self.scene.thing(clause.objects[0])
            return self._before_taken(thing) if thing else None
        if clause.means("lose") and not clause.means("put"):
            return Place("", (), frozenset(), GONE)
        last = self.scene.log[-1] if self.scene.log else None
        thing = self.scene.thing(self._objects(clause)[0])
        if last is not None and last.verb == "say" and last.actor == actor and last.event.obj == thing:
            return last.place  # "I am taking it to the attic," said Ann, and carried it up
        if (
            clause.means("take", "move")
            and actor
            and not clause.verb.passive
            and not {"away", "out"} & {*clause.adverbs}
        ):
            return Place("", (), frozenset(), f"with {actor}", actor)
        if clause.means("take", "move") or clause.lemma in ("hide", "hide_away", "put_away"):
            return ELSEWHERE
        if any(prep in ("from", "off") for prep, _ in clause.places):
            return ELSEWHERE  # "threw it out of the window"
        return None

    def _before_taken(self, thing: str) -> Place | None:
        """Where a thing was last, in nobody's hands, before it came to where it is now."""
        now = self.scene.where((), thing)
        been = (
            one.place
            for one in reversed(self.scene.log)
            if one.event.obj == thing and one.place and not one.place.holder and isinstance(one.event, MoveEvent)
        )
        return next((place for place in been if now is None or not place.fits(now)), None)

    def _moves_itself(self, clause: Clause, place: Place | None) -> Effect | None:
        """Reads that a thing or force moves a thing: "the wind blew it into the ditch"."""
        scene, objects = self.scene, self._objects(clause)
        thing = scene.thing(objects[0]) if objects else None
        if place is None or thing is None or clause.subject is None or clause.subject.pronoun:
            return None if place is None else UNREAD
        if not is_in(clause.lemma, "forces"):
            return UNREAD  # things do not put things anywhere: who does was not read
        scene.moved(thing, place, "", scene.witnesses("", frozenset()), verb=clause.lemma)
        return Effect("event")

    def _moved(self, clause: Clause, actor: str, thing: str, place: Place) -> None:
        """Log a move with its witnesses. What is told in the past perfect for the first time was so at the start."""
        scene = self.scene
        words = frozenset({*place.words, *place.around})
        before_that = clause.verb.perfect and not {"has", "have", "'ve"} & {*clause.words.split()}
        earlier = [n for n, one in enumerate(scene.log) if one.event.obj == thing and isinstance(one.event, MoveEvent)]
        if before_that and earlier:  # "Ann had left it there. Ben had already moved it": told in order
            number = scene.log[earlier[-1]].clause
            before_that = not any(one.number == number and one.clause.verb.perfect for one in scene.read)
        before = (
            before_that and clause.means("put") and not clause.means("move") and len(earlier) == 1 and not clause.link
        )
        by = scene.witnesses(actor, words) | (frozenset() if clause.verb.passive else frozenset(self._subjects(clause)))
        if clause.verb.perfect:  # "where is it?" asked Ann; he had hidden it
            by -= self.askers - {actor}
            said = scene.log[-1] if scene.log else None
            if said is not None and isinstance(said.event, StatementEvent) and said.event.obj == thing:
                by -= said.event.hearers - {actor}  # "he said that it was there; in fact, she had taken it"
        for prep, noun in (*clause.places, *clause.setting):  # "in front of her", "before her eyes", "under her nose"
            seer = noun.owner if noun.owner is not None and noun.head in BODY else noun
            faces = prep == "before" or (prep == "under" and seer is not noun)
            if faces and scene.is_person(seer) and (who := scene.person(seer, exclude=[actor])):
                by |= {who}
        for prep, noun in clause.places:  # "behind him, she ..."
            if prep == "behind" and noun.pronoun and (who := scene.person(noun, exclude=[actor])):
                by -= {who}
        if (
            before_that
            and not before
            and earlier
            and scene.log[earlier[-1]].clause != scene.clause
            and clause.link not in ("after", "when", "once", "as", "because", "since")
            and (there := scene.log[earlier[-1]].place) is not None
            and not place.fits(there)
        ):
            before = scene.fork.choose(0.5, 0.5) == 1  # told in the past perfect: before or after what was told last
            earlier = earlier[-1:]
        if before and scene.log[earlier[0]].actor != actor:
            event = MoveEvent(thing, place.key, by, frozenset({"\0"}))
            scene.log.insert(earlier[0], Happened(event, scene.clause, actor, clause.lemma, -1, place))
            scene.places.setdefault(place.key, place)
            return
        if cue("unseen").search(clause.words) or {"secretly", "quietly", "unseen", "unnoticed"} & {*clause.adverbs}:
            by = frozenset({actor, *(one for one in by if one and scene.people[one].watching)})
        if place.holder:
            by |= {place.holder}
        eyed = {who for who, (other, when) in scene.eyed.items() if other == actor and when >= scene.sentence - 2}
        last = scene.log[earlier[-1]] if earlier else None
        if last is not None and actor and actor not in last.missed and not last.event.reaches(actor):
            scene.notices(actor, last, sees=True, openly=False)  # whoever takes it from there knows who put it there
        scene.moved(thing, place, actor, by - {""}, frozenset(eyed) - by, verb=clause.lemma)
        forms = vocabulary().forms
        tags = [
            forms[word].get(clause.verb.lemma.split("_")[0], frozenset())
            for word in clause.words.split()
            if word in forms
        ]
        self.present = any("s" in one and "past" not in one for one in tags)

    def _swap(self, clause: Clause, people: list[str]) -> Effect | None:
        """Reads that somebody exchanges one thing for another: each is then where the other was."""
        scene = self.scene
        objects = self._objects(clause)
        other = next((noun for prep, noun in clause.places if prep in ("for", "with", "by")), None)
        if not objects or not people:
            return None
        one = scene.thing(objects[0])
        two = scene.thing(objects[1] if len(objects) > 1 else other) if other or len(objects) > 1 else None
        if one is None or two is None:
            return None if clause.means("move", "put") and clause.places else UNREAD
        if clause.lemma == "substitute":
            one, two = two, one
        first, second = scene.where((), one), scene.where((), two)
        by = scene.witnesses(people[0], frozenset())
        if first is not None:
            scene.moved(two, first, people[0], by, verb="swap")
        scene.moved(
            one, second or Place("", (), frozenset(), f"with {people[0]}", people[0]), people[0], by, verb="swap"
        )
        scene._focus(one)
        return Effect("event")

    def _hand(self, clause: Clause, people: list[str]) -> Effect | None:
        """Reads that somebody gives a thing to somebody."""
        scene = self.scene
        to = [noun for noun in clause.objects if scene.is_person(noun)]
        to += [noun for prep, noun in clause.places if prep == "to" and scene.is_person(noun)]
        objects = self._objects(clause)
        who = scene.person(to[0], exclude=people) if to else None
        if (
            not objects
            or not people
            or who is None
            or (clause.lemma in ("send", "give", "pass") and {*objects[0].words} & NOTES)
        ):
            return None
        thing = scene.thing(objects[0])
        if thing is not None and not clause.verb.negated:
            holder = Place("", (), frozenset(), f"with {who}", who)
            scene.moved(thing, holder, people[0], scene.witnesses(people[0], frozenset()) | {who}, verb=clause.lemma)
        return Effect("event")

    # going

    def _go(self, clause: Clause, people: list[str]) -> Effect | None:
        """Reads that people go, leave or come back."""
        scene = self.scene
        if not people:
            if clause.subject is not None and clause.places:
                return self._be(clause, people)
            return None
        if clause.verb.negated:
            return Effect("no effect", "did not happen")
        if self._beside_actor(clause, people):
            return Effect("observation")
        for who in people:
            inside_again = clause.lemma == "go_back" and {"inside", "indoors", "upstairs", "downstairs"} & {
                *clause.adverbs
            }
            if clause.means("leave") or inside_again:
                self._to_room(who, clause, None)
                if scene.people[who].here and not {"in", "inside", "back"} & {*clause.adverbs}:
                    scene.people[who].here = bool(scene.place(clause.places))
                then = clause.link not in ("before", "while") and (bool(clause.link) or not clause.verb.perfect)
                if scene.people[who].here is False and then:
                    scene.left(who)
            elif clause.means("come"):
                scene.people[who].room = frozenset()
                self._to_room(who, clause, True if not clause.places and not clause.objects else None)
                if not scene.people[who].room or clause.lemma in ("return", "come_back", "be_back"):
                    scene.people[who].here, scene.people[who].room = True, frozenset()
            else:
                self._to_room(who, clause, None)
        return Effect("event")

    def _sleep(self, clause: Clause, people: list[str]) -> Effect | None:
        for who in people:
            person = self.scene.people[who]
            if clause.verb.negated and clause.means("wake"):  # "did not look round"
                person.watching = False
                for one in self.scene.latest():
                    self.scene.watched_unawares(who, one)
                continue
            until = any(prep in ("until", "till") for prep, _ in (*clause.places, *clause.setting))
            person.watching = None if clause.means("wake") or until else False
            if clause.link in ("while", "whilst", "as") and clause.means("sleep"):
                self.distracted.add(who)
            if clause.lemma.startswith(("look", "turn")) and person.here is False:
                person.here = None  # they may see it from where they are
        return Effect("event") if people else None

    def _stay(self, clause: Clause, people: list[str]) -> Effect | None:
        """Reads that somebody stays, or that a thing lies somewhere."""
        if clause.means("lie") and not people and (clause.places or "there" in clause.adverbs):
            return self._be(clause, people)
        if not people:
            return None
        if (
            clause.lemma in ("stay", "remain", "stay_behind", "remain_behind", "wait", "hide")
            and not clause.verb.negated
        ):
            for who in people:
                self.scene.people[who].here = (
                    True if self.scene.people[who].here is None else self.scene.people[who].here
                )
            return Effect("event")
        return self._be(clause, people) if clause.places else NO_EFFECT

    def _beside_actor(self, clause: Clause, people: list[str]) -> bool:
        """Reads that somebody is beside the person who has just moved a thing: they see it."""
        scene = self.scene
        near = [noun for prep, noun in clause.places if prep in ("beside", "with", "near", "by", "next")]
        near = [noun for noun in near if scene.is_person(noun)]
        latest = [one for one in scene.latest() if one.sentence >= scene.sentence - 1]
        other = scene.person(near[0], exclude=people) if near else None
        rests = clause.means("stay", "lie") or clause.lemma == "be"
        rests |= clause.means("go") and any(prep == "beside" for prep, _ in clause.places)  # "walked beside her"
        if other is None or not latest or latest[-1].actor != other or not rests:
            return False
        for one in latest:
            for who in people:
                scene.notices(who, one, sees=True)
        return True

    def _be(self, clause: Clause, people: list[str]) -> Effect:
        """Reads where people or things are."""
        scene = self.scene
        if people and any(is_in(noun.head, "signs") for _, noun in clause.places):
            return MIND if any(scene.matters(who) for who in people) else NO_EFFECT
        if people and not clause.verb.negated and self._beside_actor(clause, people):
            return Effect("observation")
        if people:
            if clause.places and scene.place(clause.places):
                for who in people:
                    if clause.verb.negated:
                        scene.people[who].here, scene.people[who].room = False, frozenset()
                    else:
                        self._to_room(who, clause, None)
                return Effect("event")
            if clause.verb.negated and {"there", "here", "in", "around", "present"} & {*clause.words.split()}:
                for who in people:
                    scene.people[who].here, scene.people[who].room = False, frozenset()
                return Effect("event")
            if cue("present").search(clause.words) and clause.link in BACKGROUND:
                for who in people:  # "while Ann was there"
                    if scene.people[who].here is False and "there" in clause.words.split():
                        continue  # where she went
                    scene.people[who].here = scene.people[who].watching = True
                    self.glances.add(who)
                return Effect("event")
            for who in people:
                for role in clause.objects:
                    scene.people[who].roles |= {word for word in role.words if vocabulary().person(word)}
            bare = not (clause.objects or clause.places or clause.adverbs or clause.content)
            if clause.verb.negated and bare and clause.subject is not None and clause.subject.pronoun:
                return MIND  # "She wasn't."
            return Effect("no effect", "says what somebody is or feels")
        dummy = clause.subject is None or clause.subject.pronoun in ("there", "this", "that")
        noun = next(iter(clause.objects), None) if dummy else clause.subject
        place = scene.place(clause.places)
        if noun is None or place is None or clause.verb.negated:
            there = (
                clause.adverbs
                and clause.subject is not None
                and {*clause.adverbs} <= {"there", "still", "ever", "since", "now"}
            )
            known = (
                scene.thing(noun, create=False) if there and noun is not None and not scene.is_person(noun) else None
            )
            if known is not None and not clause.verb.negated and scene.where((), known) is not None:
                return Effect("fact")  # "it has been there ever since"
            if clause.objects and clause.subject is not None and clause.subject.pronoun == "it":
                return Effect("no effect", "says what something is like")  # "it was too hot there"
            somewhere = {"there", "here", "gone", "away", "missing", "anywhere", "nowhere"} & {*clause.words.split()}
            if (clause.verb.negated or somewhere) and self._may_be_topic(noun or Noun((), "", 0, 0)):
                scene.thing(noun)
                return UNREAD
            return Effect("no effect", "says what something is like")
        thing = scene.thing(noun)
        of_mind = clause.link == "who" and any(map(scene.is_person, clause.objects)) and noun.pronoun == "it"
        if thing is None or of_mind:
            return UNREAD  # "Ann thinks that it is here, and Ben that it is there"
        if clause.objects and clause.subject is not None and not clause.means("lie"):
            return Effect("no effect", "says what something is like")
        now, told_words = scene.where((), thing), {*clause.words.split()}
        if now is None:
            said = any(
                one.event.obj == thing for one in scene.log
            )  # "in fact it is ...", after what was said or believed
            scene.moved(thing, place, "", frozenset() if said else frozenset(scene.people), verb="initial")
            scene.here |= set(place.around) if len(scene.log) == 1 else set()
        elif clause.verb.perfect and not now.fits(place) and clause.lemma == "be" and not LASTING & told_words:
            # "it had been there before", but not "it has been there ever since"
            first = next(n for n, one in enumerate(scene.log) if one.event.obj == thing)
            scene.log.insert(
                first,
                Happened(
                    MoveEvent(thing, place.key, frozenset(scene.people), frozenset({"\0"})),
                    scene.clause,
                    "",
                    "initial",
                    -1,
                    place,
                ),
            )
        elif not now.fits(place) and not cue("early").search(clause.words):
            if "there" in told_words:  # "it hangs there above the fire": still in the same place
                place = replace(place, around=place.around | {*now.words} | now.around)
                scene.places[place.key] = place
            scene.moved(thing, place, "", frozenset(), verb="be")
        return Effect("fact")

    # minds

    def _content(self, clause: Clause) -> tuple[str, Place] | None:
        """The thing and place of "that the ball is in the box", told in another clause."""
        scene = self.scene
        for one in clause.content:
            if one.verb.negated or (one.verb.modal and one.verb.modal not in ("would", "will", "shall", "must")):
                continue
            if one.means("see", "know") and one.content and not one.asked:
                return self._content(one)  # "I saw him put it there"
            finds = one.lemma in ("find", "get", "collect") and one.verb.modal
            goes = one.means("go") and one.subject is not None and not scene.is_person(one.subject)
            sights = clause.means("say") and one.means("see") and bool(one.objects) and not one.content
            moves = one.means("lie", "put", "move", "take")
            if one.lemma == "be" or moves or finds or sights or goes or one.verb.progressive:
                called = all(scene.is_person(noun) for noun in one.objects)  # "it is in the chart room, sir"
                if one.lemma == "be" and not called and one.subject and one.subject.pronoun != "there":
                    continue
                objects = [] if one.lemma == "be" or one.verb.passive else self._objects(one)
                noun = objects[0] if objects else one.subject or next(iter(one.objects), None)
                if noun is None:
                    continue
                if (
                    scene.is_person(noun)
                    and (place := scene.place(one.places))
                    and (one.lemma == "be" or one.means("stay"))
                ):
                    who = scene.person(noun)
                    if who is not None and not place.holder:
                        return who, place
                if scene.is_person(noun):
                    continue
                place = scene.place(
                    [
                        phrase
                        for phrase in one.places
                        if not (phrase[0] == "by" and scene.is_person(phrase[1])) and phrase[0] != "from"
                    ]
                )
                thing = scene.thing(noun)
                if place is not None and thing is not None:
                    return thing, place
        return None

    def _moves_in(self, clause: Clause) -> list[Clause]:
        """The clauses in its content that tell of a move: "saw him put it there"."""
        senses = ("put", "move", "take", "swap", "hand")
        return [
            one
            for one in clause.content
            if one.asked in ("", "how")
            and self._objects(one)
            and (one.means(*senses) or any(prep in ("into", "onto") for prep, _ in one.places))
        ]

    def _moved_in(self, clause: Clause) -> Clause | None:
        return next(iter(self._moves_in(clause)), None)

    def _where_asked(self, clause: Clause) -> str | None:
        """The thing of "where the ball was" in its content."""
        one = next((one for one in clause.content if one.asked == "where"), None)
        if one is None:
            return None
        objects = [] if one.lemma == "be" or one.verb.passive else self._objects(one)
        noun = objects[0] if objects else one.subject
        return self.scene.thing(noun, create=clause.means("ask")) if noun else None

    def _place_of(self, clause: Clause, who: str, thing: str) -> Place | None:
        """The place that "where the ball is" or "where she left it" stands for, if somebody knows or says it."""
        scene = self.scene
        one = next((one for one in clause.content if one.asked == "where"), None)
        if one is not None and one.means("put", "move") and not one.verb.passive and one.subject is not None:
            actor = scene.person(one.subject)
            fits = [
                told.place
                for told in scene.log
                if told.event.obj == thing and told.actor == actor and told.verb not in ("say", "believe")
            ]
            return fits[-1] if fits else None
        return scene.where((who,), thing) or scene.where((), thing) if clause.means("say") else scene.where((), thing)

    def _see(self, clause: Clause, people: list[str]) -> Effect | None:
        """Reads that people see, or miss, a move, a thing, or where it is."""
        scene = self.scene
        if not people and clause.subject is not None and clause.subject.pronoun in ("everyone", "everybody"):
            moved = self._moved_in(clause)
            return self.read_clause(moved) if moved is not None else None
        if not people or clause.verb.passive:
            return None
        misses = clause.verb.negated != clause.means("miss")  # "had not missed a thing"
        if any(one.lemma == "happen" and one.subject and one.subject.pronoun == "it" for one in clause.content):
            clause = replace(clause, content=[])  # "saw it happen"
        if misses and any(one.means("see", "look") for one in clause.content) and clause.means("know"):
            return self._know(clause, people)
        after = (
            self.following[:1] if clause.words.endswith(" and") and not clause.objects and not clause.content else []
        )
        misses |= any(one.means("see") and one.verb.negated for one in after)  # "has seen and heard nothing"
        openly = not self.hidden and not any(
            prep in ("from", "through", "behind", "over") or is_in(noun.head, "mediums")
            for prep, noun in (*clause.places, *clause.setting)
        )
        if openly and not misses and len(people) == 1 and scene.people[people[0]].apart and scene.matters(*people):
            openly = scene.fork.choose(0.5, 0.5) == 0  # it is open whether they are noticed
        moves = self._moves_in(clause)
        if any(one.verb.negated for one in moves):
            return UNREAD
        during = self.following[0] if self.following and not (moves or misses) else None
        if during is not None and during.link in ("as", "while", "until") and during.means("put", "move", "take"):
            for who in people:  # "watched her as she moved it"
                scene.people[who].here = scene.people[who].watching = True
                self.glances.add(who)
            return Effect("observation")
        told = [self._see_move(moved, people, misses, openly) for moved in moves]
        if moves:
            return Effect("observation") if any(told) or misses else UNREAD
        asked = self._where_asked(clause)
        if asked is not None and not misses:  # "she saw where it was"
            for who in people:
                if (now := self._place_of(clause, who, asked)) is not None:
                    scene.believes(who, asked, now)
            return Effect("observation")
        if misses and clause.lemma in HEARING and self._miss_words(people):
            return Effect("observation")
        missed = [*clause.objects, *(one.subject for one in clause.content if one.subject is not None)]
        for noun in missed if misses and not moves else ():  # "he did not notice her", "... her looking"
            if scene.is_person(noun) and (other := scene.person(noun, exclude=people)):
                for one in scene.latest():
                    if one.actor in people:
                        scene.overlooked(other, one)
                return Effect("observation")
        met = clause.objects[0] if clause.objects and not clause.content else None
        if clause.lemma == "find" and met is not None and (scene.is_person(met) or is_in(met.pronoun, "anybody")):
            scene.person(met, exclude=people)
            return ELSE  # "found him in the kitchen"
        for noun in clause.objects:  # "she saw his face at the window"
            seen = noun.owner if noun.head in BODY else noun if scene.is_person(noun) else None
            if seen is not None and not misses and (other := scene.person(seen, exclude=people)):
                scene.spotted |= {(who, other): scene.sentence for who in people}
                if clause.lemma in ("see", "watch") and (
                    clause.verb.modal or clause.verb.progressive
                ):  # "he could see her from there": what she does next
                    scene.eyed |= dict.fromkeys(people, (other, scene.sentence))
                for one in scene.latest():  # whom the actor sees no longer watches unnoticed
                    if one.actor in people and isinstance(one.event, MoveEvent) and other in one.event.unseen:
                        seers = one.event.by | {other}
                        one.event = replace(one.event, by=seers, unseen=one.event.unseen - {other})
        if not misses and (sight := self._moving(clause)) is not None:
            for who in people:
                if (now := scene.where((), sight)) is not None:
                    scene.believes(who, sight, now)
            return Effect("observation")
        if (known := self._content(clause)) is not None and not misses:
            truth = scene.where((), known[0])
            if truth is not None and not truth.fits(known[1]):
                return MIND  # what is seen is so, but it was not told
            for who in people:
                scene.believes(who, *known, true=truth is None)
            return Effect("observation")
        place = scene.place([one for one in clause.places if not is_in(one[1].head, "mediums")])
        inside_of = [prep for prep, _ in clause.places if prep in ("in", "on", "inside", "under", "behind", "at")]
        finds = clause.lemma in ("find", "discover", "spot")
        thing = next(
            (
                scene.thing(
                    noun,
                    create=finds
                    or noun.det in ("a", "an", "some")
                    or (place is not None and bool(inside_of) and self._may_be_topic(noun)),
                )
                for noun in clause.objects
                if noun.words and not scene.is_person(noun) and not {*noun.words} & WHOLE
            ),
            None,
        )
        if thing is None and place is not None and not misses and not place.holder:
            sighted = next((noun for noun in clause.objects if noun.pronoun in ("it", "them")), None)
            thing = scene.thing(sighted)  # "saw it on the shelf"
            if thing is not None and (now := scene.where((), thing)) is not None and not now.fits(place):
                if clause.lemma in ("find", "discover"):
                    return MIND  # what was found there was not told to be there
                thing = None  # "watched it from the window"
            if thing is not None:
                unknown = scene.where((), thing) is None
                for who in people:
                    scene.believes(who, thing, place, true=unknown)
                return Effect("observation")
        whole = any(
            noun.pronoun in WHOLE
            or {*noun.words} & WHOLE
            or scene.is_person(noun)
            or {"thing", "swap", "move", "switch", "exchange", "scene"} & {*noun.words}
            for noun in clause.objects
        ) or bool(clause.content)
        if thing is not None and not misses and not whole:
            if {*self.scene.things[thing].words} & NOTES:
                return self._read_note(people)
            for who in people:
                now = place or scene.where((), thing)
                if now is not None and not (clause.verb.perfect and place is None):
                    scene.believes(who, thing, now, true=place is not None and scene.where((), thing) is None)
            return Effect("observation")
        if clause.content and not any(
            one.lemma in ("do", "happen", "go", "fall", "roll", "land", "drop")
            or one.means("put", "move", "take", "swap")
            for one in clause.content
        ):
            matters = any(scene.matters(who) for who in people) and not self._of_else(clause)
            return MIND if matters else ELSE
        people_in = [noun for noun in clause.objects if noun.pronoun or scene.is_person(noun)]
        if not misses and clause.verb.progressive and clause.objects and not people_in and self._of_else(clause):
            for who in people:  # "was watching a match on television"
                self._inattentive(who, clause)
                for one in scene.latest():
                    if one.sentence >= scene.sentence - 1:
                        scene.notices(who, one, sees=False)
            return Effect("observation", "attends to something else")
        if not misses and clause.objects and not whole and not any(noun.pronoun for noun in clause.objects):
            matters = any(scene.matters(who) for who in people) and not self._of_else(clause)
            return MIND if matters else ELSE  # "could see the bench"
        senses = clause.lemma in ("hear", "overhear", "find", "feel") and not (clause.objects or clause.content)
        if senses and not misses:
            return MIND if any(scene.matters(who) for who in people) else ELSE  # "heard drumming in the cellar"
        latest = scene.latest()
        for one in latest:
            for who in people:
                returned = who in one.missed and scene.people[who].here and not clause.verb.perfect
                if returned and not misses and clause.lemma != "watch" and one.place is not None:
                    scene.believes(who, one.event.obj, one.place)  # they see what has come of it
                    continue
                shown = openly and scene.people[who].here is not False
                if (
                    shown
                    and not misses
                    and who in one.missed
                    and one.actor in scene.people
                    and scene.matters(one.actor)
                ):
                    shown = scene.fork.choose(0.5, 0.5) == 0  # they were not watching, as far as the actor could see
                scene.notices(who, one, sees=not misses, openly=shown)
                if misses:
                    scene.watched_unawares(who, one)
        if not misses:
            for who in people:
                if not clause.objects and not clause.content:
                    scene.people[who].watching = True
                    if not clause.verb.progressive or clause.link:
                        self.glances.add(who)
                    if scene.people[who].here is False and clause.places:
                        scene.people[who].here = True
        elif not latest or not (whole or thing):
            for who in people:
                if not clause.objects:
                    scene.people[who].watching = False
        return Effect("observation")

    def _moving(self, clause: Clause) -> str | None:
        """The thing that is seen to go somewhere: "saw the goat trot into the grass"."""
        for one in clause.content:
            goes = one.means("go", "leave") and (one.places or one.adverbs) and not one.verb.negated
            if goes and one.subject is not None:
                return self.scene.thing(one.subject, create=False)
        return None

    def _see_move(self, moved: Clause, people: list[str], misses: bool, openly: bool) -> bool:
        """Note who sees a move; one that the story has not told yet happens now. False if there is none."""
        scene = self.scene
        thing = scene.thing(self._objects(moved)[0])
        subject = moved.subject if moved.subject and not moved.verb.passive else None
        actor = scene.person(subject, exclude=people) or scene.person(subject)
        place = scene.place([one for one in moved.places if one[0] not in PATHS])
        fits = [
            one
            for one in scene.log
            if isinstance(one.event, MoveEvent) and one.event.obj == thing and one.verb not in ("believe", "initial")
        ]
        fits = [
            one
            for one in fits
            if (actor in (None, one.actor)) and (place is None or one.place is None or place.fits(one.place))
        ]
        last = fits[-1:]
        if not last and thing is not None and self.read_clause(moved).outcome == "event":
            last = scene.latest(thing)[-1:]
        for one in last:
            for who in people:
                scene.notices(who, one, sees=not misses, openly=openly)
        return bool(last)

    def _know(self, clause: Clause, people: list[str]) -> Effect | None:
        """Reads that people know, learn or do not know where a thing is, or that it was moved."""
        scene = self.scene
        if not people:
            return None
        about = (
            clause.content
            and not (self._content(clause) or self._where_asked(clause) or self._moved_in(clause))
            and not any(one.lemma in ("be", "do", "happen", "watch", "see") for one in clause.content)
        )
        if about and any(scene.matters(who) for who in people):
            watched = any(one.means("see", "know", "say") for one in inside(clause))
            return ELSE if self._of_else(clause) or (clause.verb.negated and not watched) else MIND
        what = next((one for one in clause.content if one.lemma == "do" and one.verb.perfect), None)
        if clause.verb.negated and what is not None:
            clause = replace(clause, content=[])  # "knew nothing of what he had done"
        if clause.verb.negated or clause.lemma == "forget":
            thing = self._where_asked(clause)
            moves = self._moves_in(clause)
            for moved in moves:
                self._see_move(moved, people, True, True)
            if moves:
                return Effect("observation")
            watches = next((one for one in clause.content if one.means("see", "look") and not one.verb.negated), None)
            if watches is not None and (watchers := scene.persons(watches.subject)):  # "did not know that she saw it"
                self.hidden = True
                return self._see(replace(watches, verb=replace(watches.verb, lemma="see")), watchers) or UNREAD
            for one in scene.latest(thing):
                for who in people:
                    scene.notices(who, one, sees=False)
                    scene.watched_unawares(who, one)
            return Effect("observation")
        known = self._content(clause)
        thing = self._where_asked(clause)
        moves = self._moves_in(clause)
        if moves:
            for moved in moves:
                self._see_move(moved, people, False, False)
        elif known is not None:
            for who in people:
                scene.believes(who, *known, true=scene.where((), known[0]) is None)
        elif thing is not None:
            for who in people:
                if (now := self._place_of(clause, who, thing)) is not None:
                    scene.believes(who, thing, now)
        elif any(noun.pronoun in WHOLE for noun in clause.objects) or any(noun.pronoun for _, noun in clause.places):
            for one in scene.latest():
                for who in people:
                    scene.notices(who, one, sees=True, openly=False)
        else:
            return Effect("no effect", "knows something else")
        return Effect("observation")

    def _think(self, clause: Clause, people: list[str]) -> Effect | None:
        """Reads what people believe."""
        scene = self.scene
        if not people:
            return None
        if clause.verb.passive:  # "was supposed to be in bed"
            return Effect("no effect", "is not said to have happened")
        if clause.verb.negated and clause.lemma in ("believe", "trust"):
            for said in reversed(scene.log):
                if isinstance(said.event, StatementEvent):
                    said.event = replace(said.event, trusting=said.event.trusting - set(people))
                    return Effect("observation")
        known = self._content(clause)
        before = clause.verb.perfect and any(one.event.obj == known[0] for one in scene.log) if known else False
        of_mind = any(one.means("see", "know") and one.subject is not clause.subject for one in clause.content)
        if (before or of_mind) and any(scene.matters(who) for who in people):
            return MIND
        if known is not None and not clause.verb.negated:
            if clause.verb.lemma + "s" in clause.words.split():
                scene.pinned |= set(people)  # "she thinks", at the end of the story
            for who in people:
                scene.believes(who, *known)
            return Effect("observation")
        if clause.lemma in ("believe", "trust") and clause.objects and not clause.content and not clause.verb.negated:
            for said in reversed(scene.log):
                if isinstance(said.event, StatementEvent) and said.actor not in people:
                    heard = frozenset(people)
                    said.event = replace(
                        said.event, hearers=said.event.hearers | heard, trusting=said.event.trusting | heard
                    )
                    return Effect("observation")
        for one in clause.content:
            other, deeper = scene.person(one.subject, exclude=people), self._content(one)
            if one.means("think", "know") and other and deeper and not one.verb.negated:
                scene.stated[(people[0], other), deeper[0]] = deeper[1]
                return Effect("observation")
        return (
            Effect("no effect", "is thought, and of nothing that is asked")
            if not clause.content or not clause.verb.negated
            else UNREAD
        )

    def _want(self, clause: Clause, people: list[str]) -> Effect | None:
        """Reads what people want, in the words of the story."""
        wish = next((one for one in clause.content if one.link == "to"), None)
        wished = wish.words if wish else next((noun.text for noun in clause.objects), "")
        if wish is not None:
            self.scene.place(wish.places)
        for who in people:
            if wished and not clause.verb.negated:
                self.scene.wants.setdefault(who, []).append(wished.strip(" ,."))
        return WANTED if people else None

    def _look(self, clause: Clause, people: list[str]) -> Effect | None:
        """Reads that somebody looks into a place: they see what is there."""
        scene = self.scene
        place = scene.place(clause.places) or scene.place([("in", noun) for noun in clause.objects if noun.words])
        if clause.content and clause.content[0].link in ("that", "wh") and people:  # "checked that it was there"
            return self._know(clause, people)
        if not people or clause.verb.negated:
            return NO_EFFECT
        spied = [noun for prep, noun in clause.places if prep in ("on", "at") and scene.is_person(noun)]
        if clause.lemma in ("spy", "peek", "peep") and spied:
            self.hidden = True
            return self._see(replace(clause, verb=replace(clause.verb, lemma="watch"), objects=spied), people)
        if any(one.means("see") and not one.verb.negated for one in self.following[:1]) and clause.words.endswith(
            "and"
        ):
            return NO_EFFECT  # "looked through the window and saw"
        bare = place is None and not clause.objects and clause.verb.progressive
        if bare and scene.latest() and any(scene.matters(who) for who in people):
            return MIND  # "had been looking over her shoulder"
        peeps = any(prep in ("through", "over", "round", "around") for prep, _ in clause.places)
        if peeps and any(scene.matters(who) for who in people):
            return MIND  # what they see from there is open
        for thing in scene.things:
            gone = place is not None and any(
                (held := scene.where((who,), thing)) and held.fits(place) for who in people if scene.matters(who)
            )
            now = scene.where((), thing)
            if place is not None and gone and now is not None and not now.fits(place):
                return MIND  # they see that it is not there
        for thing in list(scene.things):
            now = scene.where((), thing)
            if place is not None and now is not None and now.fits(place):
                for who in people:
                    scene.believes(who, thing, now)
        return Effect("observation") if place else NO_EFFECT

    def _ask(self, clause: Clause, people: list[str]) -> Effect | None:
        self.asker = people[0] if people else ""
        self._ask_in(clause.quotes)
        seeks = self._where_asked(clause) or clause.quotes or cue("seeking").search(self.text)
        for who in people if seeks else ():
            self.scene.unaware(who)  # whoever asks where a thing is has not seen it
            self.askers.add(who)
        self.asked_for = self._where_asked(clause) or self.asked_for
        for noun in clause.objects:
            self.scene.person(noun, exclude=people)
        return Effect("no effect", "is only asked")

    def _say(self, clause: Clause, people: list[str]) -> Effect | None:
        """Reads that somebody tells others where a thing is."""
        scene = self.scene
        if clause.verb.passive:
            return (
                self._is_told(clause)
                if clause.subject is not None and not clause.verb.negated
                else Effect("no effect", "was not said")
            )
        if not people:
            return None
        if clause.verb.negated and not clause.quotes:
            return Effect("no effect", "was not said")
        speaker = people[0]
        before = scene.read[-1].clause if scene.read and scene.read[-1].sentence == scene.sentence else None
        if clause.link == "ing" and before is not None and any(is_in(noun.head, "signs") for noun in before.objects):
            return MIND  # "sent her a message saying where it was": it may not reach her
        inner = next((one for one in clause.content if one.link == "to" and one.means("say")), None)
        bids = clause.lemma in ("tell", "remind", "warn")
        if inner is not None and not clause.quotes and not bids:  # "rang him to say that ..."
            return self._say(replace(inner, objects=[*clause.objects, *inner.objects], subject=clause.subject), people)
        if any({"lie", "fib", "tale", "untruth"} & {*noun.words} for noun in clause.nouns):
            return MIND
        hearers = self._hearers(clause, people)
        if not hearers and any(noun.pronoun in ("me", "us") for noun in clause.nouns):
            return Effect("no effect", "is told to others, or something else")
        if clause.lemma == "show" and (shown := self._objects(clause)) and (place := scene.place(clause.places)):
            thing = scene.thing(shown[-1])  # "showed the guests the ring in its box"
            if thing is not None and scene.where((), thing) is None:
                scene.moved(thing, place, "", frozenset({speaker, *hearers}), verb="initial")
                return Effect("fact")
        heard = [one for one in hearers if one != speaker]
        note = any({*noun.words} & NOTES for noun in clause.objects) or (clause.lemma == "write" and not hearers)
        sure = bool(heard) or note
        if not sure:
            about = [one for one, who in scene.people.items() if one != speaker and who.gender != "group"]
            asker = [self.asker] if self.asker and self.asker != speaker else []
            alone = about if len(about) == 1 and scene.people[about[0]].here is not False else []
            about = [*self.faced, *(who for who in self.met if scene.people[who].here is not False)]
            met = list(dict.fromkeys(who for who in about if who != speaker))
            alone = met if len(met) == 1 and not asker else alone  # "when Ann came home, Ben said"
            heard = asker or alone or [one for one in reversed(scene.recent) if one != speaker][:1]
            sure = bool(asker or alone)
        known = set(scene.things)
        told = self._content(clause) or self._quoted(clause)
        new = told is not None and told[0] not in known and clause.quotes and any(scene.matters(who) for who in heard)
        words = scene.things[told[0]].words if told is not None and told[0] in scene.things else ()
        if new and not singulars(words) & scene.topics:
            return MIND  # "I put the little one in the pen": perhaps the thing asked about, by another name
        self.last_said = speaker, heard
        for quote in clause.quotes if told is None else ():  # so that "it" may be what was spoken of
            for noun in (noun for one in clauses_of(quote, self.names) for noun in one.nouns):
                if singulars(noun.words) & scene.topics and not scene.is_person(noun):
                    scene.thing(noun)
        if clause.quotes and clause.quotes[-1].rstrip().endswith("?"):
            return self._ask(clause, people)
        if told is None:
            told = self._known_to_all(clause, speaker)
        relays = any(cue("relayed").search(one.words) for one in self.following[:1])
        if told is None and not clause.quotes and (relays or any(one.means("say") for one in self.following[:1])):
            return Effect("no effect", "is told in another clause")  # "rang him and told him that ..."
        if told is None and clause.quotes:
            if self._replies(clause, speaker):
                scene.vague = [one for one in scene.vague if one[0] != scene.log[-1].actor]  # it was heard
                return REPLY
            if not (clause.content or any(self.bears(quote) for quote in clause.quotes)):
                return SAID_OF_ELSE
        if told is None:
            matter = [noun for noun in clause.objects[1:] if not is_in(noun.head, "times")]  # not "the moment she came"
            open_ended = clause.quotes or (
                not clause.content and any(scene.matters(who) for who in heard) and hearers and not matter
            )
            return UNREAD if open_ended else Effect("no effect", "says nothing of where a thing is")
        if not sure or (any(noun.pronoun == "them" for noun in clause.objects) and len(hearers) < 2):
            scene.vague.append((speaker, clause.words))
        if clause.quotes and scene.where((speaker,), told[0]) is None and not self._announces(clause):
            scene.believes(speaker, *told)  # who says so believes it
        if clause.quotes and scene.where((), told[0]) is None and self._announces(clause):
            by = {speaker, *heard} if sure and heard else scene.witnesses(speaker, frozenset())
            scene.moved(*told, speaker, frozenset(by), verb="announce")  # "I am putting it in the safe," said Ann
        elif note and not hearers:
            self.notes.append((speaker, *told))
        else:
            said = [one for quote in clause.quotes for one in clauses_of(quote, self.names)]
            reports = any(one.means("put", "move", "take") and not one.verb.modal for one in (*inside(clause), *said))
            scene.told(speaker, *told, heard, news=reports)
        return Effect("event")

    def _hear(self, clause: Clause, people: list[str]) -> Effect:
        """Reads that people hear, unnoticed, what somebody says to others: "she heard him say to Ann, '...'"."""
        says = next((one for one in clause.content if one.means("say", "ask")), None)
        noun = says.subject if says is not None else next(iter(clause.objects), None)
        speaker = self.scene.person(noun, exclude=people) if noun is not None and self.scene.is_person(noun) else None
        if speaker is None or clause.verb.negated:
            return MIND
        before = len(self.scene.log)
        quotes = clause.quotes or (says.quotes if says is not None else [])
        said = replace(says or clause, subject=noun, quotes=quotes, verb=replace(clause.verb, form="finite"))
        told = self._say(said, [speaker]) or UNREAD
        for one in self.scene.log[before:]:
            if one.verb == "say" and one.place is not None:
                for who in people:
                    self.scene.believes(who, one.event.obj, one.place)
        return told

    def _show(self, clause: Clause, people: list[str], picture: Noun) -> Effect:
        """Reads that somebody shows or sends a picture of a thing: they who get it see where it is."""
        scene = self.scene
        to = self._hearers(clause, people)
        words = tuple(word for word in picture.words if not is_in(word, "pictures"))
        thing = scene.thing(Noun(words, picture.text, 0, 0), create=False) if words else None
        places = [(prep, noun) for prep, noun in clause.places if prep != "to" or not scene.is_person(noun)]
        place = scene.place(places) or (scene.where((), thing) if thing else None)
        if not to or thing is None or place is None:
            return MIND
        scene.told(people[0], thing, place, to)
        return Effect("event")

    def _hearers(self, clause: Clause, people: list[str]) -> list[str]:
        """Those whom a clause names as hearers: its objects, "to her", or by name in what is said."""
        scene, found = self.scene, list[str | None]()
        for noun in (*clause.objects, *(noun for prep, noun in clause.places if prep == "to")):
            hears = noun is clause.objects[0] if clause.objects else False
            hears = (
                hears
                and clause.lemma in ("tell", "inform", "remind", "warn", "assure")
                and bool(noun.det or noun.owner)
            )
            if (
                hears
                and noun.words
                and not is_in(noun.head, "signs", "changes", "groups")
                and not {*noun.words} & WHOLE
            ):
                found.append(scene._known_person(noun) or scene._new_person(noun))
            elif scene.is_person(noun):
                found.append(scene.person(noun, exclude=people))
            elif noun.parts or is_in(noun.head, "groups") or noun.pronoun in ("everyone", "everybody", "them"):
                found += [who for who in scene.persons(noun) if scene.people[who].here is not False]
        if not found:
            said = (re.match(r"(\w+),|.*, (\w+)[.!?]?$", quote.strip(" ,")) for quote in clause.quotes)
            named = {one.lower() for match in said if match for one in match.groups() if one}
            found += [who for who, one in scene.people.items() if {name.lower() for name in one.names} & named]
        return [one for one in found if one]

    def _known_to_all(self, clause: Clause, speaker: str) -> tuple[str, Place] | None:
        """What "where it was", "that he had moved it", "everything" or "the truth" tells: what the speaker knows."""
        scene = self.scene
        if (asked := self._where_asked(clause)) is not None:
            where = self._place_of(clause, speaker, asked)
            return (asked, where) if where else None
        moved = self._moved_in(clause)
        latest = scene.latest()[-1:]
        bare = not (clause.content or clause.quotes or [noun for noun in clause.objects if not scene.is_person(noun)])
        bare = bare and not clause.verb.modal and clause.lemma in ("tell", "inform", "let_know")
        bare = bare and (clause.verb.form == "finite" or clause.lemma == "let_know")
        bare = bare and bool(latest) and latest[0].sentence >= scene.sentence - 2  # "she met him and told him"
        if moved is None and not bare and not self._tells_all(clause):
            return None
        logged = [one.event.obj for one in reversed(scene.log)]
        topical = [one for one in logged if one in scene.things and singulars(scene.things[one].words) & scene.topics]
        topic = scene.thing(self._objects(moved)[0]) if moved else next(iter(topical or logged), None)
        where = scene.where((speaker,), topic) or scene.where((), topic) if topic else None
        return (topic, where) if topic and where else None

    def _tells_all(self, clause: Clause) -> bool:
        about = [noun for prep, noun in clause.places if prep in ("about", "of")]
        about += [noun for noun in clause.objects if not self.scene.is_person(noun)]
        what = any(one.asked == "what" for one in clause.content)
        return (
            what
            or "so" in clause.adverbs
            or any(
                noun.pronoun in WHOLE
                or {*noun.words} & WHOLE
                or {"move", "swap", "switch", "change", "truth", "news"} & {*noun.words}
                or self._may_be_topic(noun)
                for noun in about
            )
        )

    def _is_told(self, clause: Clause) -> Effect | None:
        told = self._content(clause)
        people = self.scene.persons(clause.subject)
        bidden = [one for one in clause.content if one.link == "to"]
        if told is None and bidden and not any(one.means("put", "move", "take", "hand") for one in bidden):
            return Effect("no effect", "is only asked")  # "had been told to wait"
        if not people or told is None:
            matters = any(self.scene.matters(who) for who in people) and not self._of_else(clause)
            return MIND if matters else Effect("no effect", "is told to others, or something else")
        by = next(
            (self.scene.person(noun) for prep, noun in clause.places if prep == "by" and self.scene.is_person(noun)),
            None,
        )
        for who in people:
            if by:
                self.scene.told(by, *told, [who])
            else:
                self.scene.believes(who, *told)
        return Effect("observation")

    def _quoted(self, clause: Clause) -> tuple[str, Place] | None:
        """The thing and place that quotes name: "They are in the pantry"; None if they name none, or two places."""
        found = list[tuple[str, Place]]()
        for quote in clause.quotes:
            for part in re.split(r"[.!?;]", quote):
                clauses = clauses_of(part, self.names)
                if not clauses and self.asked_for and (place := self.phrase(part)) is not None:
                    found.append((self.asked_for, place))
                for one in clauses:
                    if one.subject is not None and one.subject.pronoun in ("it", "they") and self.asked_for:
                        if not one.verb.negated and (place := self.scene.place(one.places)) is not None:
                            found.append((self.asked_for, place))
                    elif (told := self._content(Clause(one.verb, content=[one]))) is not None:
                        found.append(told)
        same = bool(found) and all(thing == found[0][0] and place.fits(found[0][1]) for thing, place in found)
        return found[0] if same else None

    def _ask_in(self, quotes: Sequence[str]) -> None:
        """Note the thing that quotes ask for: "Where is my cup?", "Have you seen it?"."""
        for quote in quotes:
            for one in clauses_of(quote, self.names):
                nouns = [noun for noun in (*one.objects, one.subject) if noun is not None]
                nouns = [noun for noun in nouns if noun.words or noun.pronoun in ("it", "they", "them")]
                things = [thing for noun in nouns if (thing := self.scene.thing(noun))]
                if things and (one.asked == "where" or one.means("see", "take", "put", "move")):
                    self.asked_for = things[0]

    def phrase(self, text: str) -> Place | None:
        """The place of a phrase without a verb: "in the pantry"; None if it is none."""
        places, prep = list[tuple[str, Noun]](), ""
        for chunk in Chunker(tokens(plain(text)), self.names).chunks():
            if chunk.kind == "prep":
                prep = chunk.word
            elif chunk.noun is not None:
                places.append((prep or "in", chunk.noun))
            elif chunk.kind not in ("comma", "adverb"):
                return None  # "not in the pantry"
        place = self.scene.place(places)
        if place is not None and not prep:  # "Stairwell!"
            return next(
                (one for one in self.scene.places.values() if one.words[-1:] == place.words[-1:] and one is not place),
                None,
            )
        return place

    def bears(self, quote: str, *, on_thing: bool = True) -> bool:
        """Whether a quote may tell of the thing asked about, if that counts, of its places, or of who knows what."""
        scene, senses = self.scene, vocabulary().senses
        heads = {word for place in scene.places.values() for word in place.words[-1:]}
        words = [token.low for token in tokens(plain(quote)) if token.text not in ".!?,;"]
        if not words:
            return False
        lone = len(words) == 1 and not vocabulary().person(words[0])
        if on_thing and (lone or (self.askers and not clauses_of(quote, self.names))):
            return True  # "Upstairs!"; "The third shelf," as an answer
        for word, after in zip(words, [*words[1:], ""], strict=True):
            one = singular(word)
            if on_thing and (one in scene.topics or is_in(word, "quoted")):
                return True
            if on_thing and is_in(word, "pointing") and not after.isalpha():
                return True
            if one == "word" and "not" in words:
                continue  # "not a word to anybody"
            if is_in(one, "signs", "telling_place") or any(
                one == head or (one[2:] and head.endswith(one)) for head in heads
            ):
                return True
            if any(
                senses.get(lemma, frozenset()) & {"see", "know", "say"} for lemma in vocabulary().forms.get(word, ())
            ):
                return True
        return False

    def _announces(self, clause: Clause) -> bool:
        """Whether somebody says that they put something somewhere themselves."""
        said = [one for quote in clause.quotes for one in clauses_of(quote, self.names)]
        puts = [one for one in said if one.means("put") and one.subject is not None and one.subject.pronoun == "i"]
        return any(not one.verb.negated and one.verb.modal in ("", "will", "shall") for one in puts)

    def _replies(self, clause: Clause, speaker: str) -> bool:
        """Whether a quote answers what its speaker has just been told, without denying it."""
        last = self.scene.log[-1] if self.scene.log else None
        if last is None or not isinstance(last.event, StatementEvent) or last.sentence < self.scene.sentence - 1:
            return False
        words = {token.low for quote in clause.quotes for token in tokens(plain(quote))}
        return speaker in last.event.hearers and not any(word == "?" or is_in(word, "denials") for word in words)

    def lone_quote(self, quotes: Sequence[str]) -> bool:
        """Reads a sentence that is only a quote, as spoken by whoever spoke last; False if it says nothing."""
        if not any(self.bears(quote) for quote in quotes):
            return True
        if self.last_said is None:
            return False
        speaker, heard = self.last_said
        told = self._quoted(Clause(VerbGroup("say", "finite", 0, 0), quotes=list(quotes)))
        if told is not None and (
            not self.scene.topics
            or told[0] not in self.scene.things
            or singulars(self.scene.things[told[0]].words) & self.scene.topics
        ):
            self.scene.told(speaker, *told, heard)
            return True
        return False

    def _read_note(self, people: list[str]) -> Effect:
        for who in people:
            for writer, thing, place in self.notes:
                self.scene.told(writer, thing, place, [who])
        return Effect("observation")
