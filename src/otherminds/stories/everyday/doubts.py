"""Clauses that may decide an answer and were not understood. While there is one, no answer is given.

A clause may matter if it names the thing asked about or a place where that has been, or if somebody asked about acts in
it or may perceive or be told something. Such a clause must have been read as an event or an observation, without a word
left over, or be of a kind that is known to change neither where things are nor what anybody believes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from otherminds.stories import model as stories
from otherminds.stories.everyday.clauses import Clause, inside
from otherminds.stories.everyday.events import ELSE, MIND, MISSED, REPLY, SAID_OF_ELSE, TOLD_AGAIN, TRUST
from otherminds.stories.everyday.questions import Judge, Query
from otherminds.stories.everyday.reading import LACKS, Sentence
from otherminds.stories.everyday.scene import Happened, Read, Scene, singulars
from otherminds.stories.everyday.words import cue, is_in, vocabulary, words_of
from otherminds.worlds.household.nested_belief import MoveEvent, StatementEvent

WHOLE = words_of("whole")
QUOTED = words_of("quoted") | words_of("telling_place")
HANDED = frozenset(["passed", "passes", "handed", "hands", "relayed"])
PERSONAL = frozenset(["he", "she", "they", "him", "her", "them"])
BESIDE = frozenset(["for", "with", "beside", "past", "near", "behind"])
MOVES = ("put", "move", "take", "hand", "swap", "lose")
SAFE = ("idle", "busy", "want", "ask", "think", "sleep", "wake", "stay", "go", "come", "leave")
WANTED = "is only wanted"
UNTOLD = (
    WANTED,
    "is only asked",
    "was not said",
    "did not happen",
    "is not said to have happened",
    "is told in another clause",
)


UNDERSTOOD = (SAID_OF_ELSE.reason, REPLY.reason, MISSED.reason, TOLD_AGAIN.reason)


class Doubts:
    """What of a story was not understood and may matter to a question, in one reading of it."""

    def __init__(self, scene: Scene, query: Query, judge: Judge) -> None:
        self.scene, self.query, self.judge = scene, query, judge
        self.minds = set(judge.chain)
        self.about = [one for one in scene.log if one.event.obj == judge.thing]
        moves = [one for one in self.about if isinstance(one.event, MoveEvent)]
        self.last = max((one.clause for one in moves if one.verb != "believe"), default=0)
        self.heads = {word for one in self.about if one.place for word in one.place.words[-1:]}
        self.logged = {one.clause for one in self.about}
        # what is told before the thing has a place moves it nowhere
        self.begins = 0 if query.early else min((one.clause for one in moves), default=0)
        # what somebody may have learned before they last put the thing somewhere, or saw it, no longer matters
        own = [one.clause for one in moves if judge.chain[1:] == () and one.actor in self.minds]
        if not judge.chain and not query.early:  # where it was put before it was last put somewhere
            own = [one.clause for one in moves[-1:] if one.verb != "believe"]
        self.settled = max(own, default=0)
        # their belief is not so, or older than this clause: whatever they perceive after it may have changed it
        self.stale, self.known_at, self.by_word = False, 0, False
        self.movers = {one.actor for one in moves} - self.minds
        self.outdated = 0  # the first clause by which their belief is no longer so
        if judge.chain and judge.thing is not None:
            now, held = scene.where((), judge.thing), scene.where(judge.chain, judge.thing)
            self.stale = held is None or now is None or not held.fits(now)
            known = max(scene.reaching(judge.chain, judge.thing), default=-1)
            missed = [one.clause for one in scene.log[known + 1 :] if one in moves and one.verb != "believe"]
            self.outdated = (min(missed, default=0) if known >= 0 else 0) if self.stale else len(scene.read) + 1
        if len(judge.chain) == 1 and judge.thing is not None:
            reached = [one for one in self.about if one.event.reaches(judge.chain[0])]
            self.known_at = max((one.clause for one in reached), default=0)
            self.by_word = bool(reached) and isinstance(reached[-1].event, StatementEvent)

    def first(self, accounts: Sequence[stories.ClauseAccount], sentences: Sequence[Sentence]) -> str | None:
        """The first clause, or quote, that may decide the answer and was not understood; None if there is none."""
        read = self.scene.read
        return (
            self._unidentified()
            or self._unread(accounts)
            or self._senses()
            or self._attention()
            or next((self._text(one) for one in self.scene.log if self._moves_container(one)), None)
            or next((one.text for one in read if one.number >= self.settled and self._matters(one)), None)
            or self._unheard(sentences)
        )

    def _text(self, happened: Happened) -> str:
        return next((one.text for one in self.scene.read if one.number == happened.clause), happened.event.obj)

    def _unidentified(self) -> str | None:
        """The thing or person asked about, if there may be another of the same name."""
        scene = self.scene
        if self.judge.thing in scene.twins:
            return f"which {self.judge.thing} is meant"
        if self.about and self.about[-1].place and self.about[-1].place.words == ("place",):
            return self._text(self.about[-1])  # "in its place": where that was, the story may not tell
        for who in self.judge.chain:  # "another nurse", "the first nurse"
            mine = scene.people[who]
            same = any(one is not mine and one.roles & mine.roles for one in scene.people.values())
            if same and not mine.names and not mine.traits:
                return f"who is meant by {who}"
        return None

    def _attention(self) -> str | None:
        """What somebody was attending to, if they are taken to have seen a move only because they were there."""
        moved = any(isinstance(one.event, MoveEvent) and one.actor not in self.minds for one in self.about)
        if len(self.judge.chain) != 1 or self.stale or not moved:
            return None
        own = [one for one in self.scene.read if set(one.people) & self.minds]
        verbs = [one.clause.verb for one in own if one.clause.means("see", "know", "wake")]
        learns = any(not verb.negated and not verb.perfect for verb in verbs)
        told = {one.event.obj for one in self.scene.log if isinstance(one.event, StatementEvent)}
        if learns or self.judge.thing in told:
            return None
        return next((one.text for one in own if cue("blind").search(one.text)), None)

    def _unread(self, accounts: Sequence[stories.ClauseAccount]) -> str | None:
        """The first unread clause that may bear on the question, by the things and people that it names."""
        topics, places = self.query.topics, self.scene.places.values()
        quotable = topics | QUOTED | {word for place in places for word in place.words[-1:]}
        read = self.scene.read
        by_others = {one.text for one in read if self._by_others(one)}
        settled = [one.text for one in read if one.number in self.judge.evidence or one.number < self.settled]
        settled += [one.text for one in read if self._before_all(one) or self._own_words(one)]
        for account in accounts:
            if account.outcome != "unread" or any(account.text.startswith(text) for text in settled):
                continue
            words = set(re.findall(r"[a-z]+", account.text.lower()))
            quote = account.text.partition('"')[2].lower()
            named = topics | {"it", "them"} | self.query.minds | {word + "s" for word in self.query.minds}
            named |= PERSONAL if account.reason == "unknown verb" else set()
            said = any(isinstance(one.event, StatementEvent) for one in self.scene.log)
            if account.reason == LACKS:
                return account.text
            if account.reason == MIND.reason and not (self.minds or (words & HANDED and words & named)):
                continue  # it changes what somebody knows, not where things are, unless "it" is "passed on"
            if account.reason == MIND.reason or (account.reason == TRUST.reason and said):
                return account.text
            if account.reason == TRUST.reason:
                continue
            if account.text in by_others:
                continue
            if words & named or set(re.findall(r"[a-z]+", quote)) & quotable:
                return account.text
            placed = any(is_in(word, "at", "telling_place") for word in re.findall(r"[a-z]+", quote))
            if self.minds and quote and not self.stale and not placed and account.reason != MIND.reason:
                continue  # whoever is right is misled only by another place
            if self.minds and quote and len(re.findall(r"[a-z]+", quote)) == 1:
                return account.text  # "Upstairs!"
            no_verb = account.reason == "has no verb"
            if (quote and no_verb) or (words & self.heads and (no_verb or not self.minds)):
                return account.text
        return None

    def _senses(self) -> str | None:
        """A clause in which an eye or an ear perceives something: it may be theirs."""
        blind = cue("blind")
        subjects = ((one, one.clause.subject) for one in self.scene.read if not blind.search(one.text))
        found = (one.text for one, noun in subjects if noun and is_in(noun.head, "senses") and one.clause.lemma != "be")
        return next(found, None) if self.query.minds else None

    def _before_all(self, one: Read) -> bool:
        """Whether a deed, of words or of hands, is told before the thing is anywhere."""
        parts = (one.clause, *inside(one.clause))
        told = any(part.means("say", "ask") or (one.named and part.means("see", "know")) for part in parts)
        return one.number < self.begins and (not told or self._own_words(one)) and not one.clause.unknown

    def _own_words(self, one: Read) -> bool:
        """Whether somebody whose belief is asked about says something: it is no news to them."""
        told = one.clause.means("say") and one.clause.verb.form == "finite"
        plain = told and not (one.clause.verb.passive or one.clause.content)
        if len(self.judge.chain) != 1 or one.people[:1] != self.judge.chain or not (one.clause.quotes or plain):
            return False
        return not any(self.judge.reader.bears(quote, on_thing=False) for quote in one.clause.quotes)

    def _by_others(self, one: Read) -> bool:
        """Whether a clause tells what others do; that changes nobody's belief who has no part in it."""
        clause, subject = one.clause, one.clause.subject
        known = one.people or (subject is not None and subject.words and not is_in(subject.head, "signs"))
        alone = self.minds and not self.minds & one.concerned and not clause.unknown and not clause.quotes
        return bool(known and alone) and (one.number < self.last or not one.named)

    def _moves_container(self, one: Happened) -> bool:
        """Whether what the thing is in is moved after it."""
        words = self.scene.things[one.event.obj].words if one.event.obj in self.scene.things else ()
        moved = isinstance(one.event, MoveEvent) and one.verb not in ("believe", "initial")
        now = self.scene.where((), self.judge.thing) if self.judge.thing is not None else None
        holds = now is not None and bool({*words[-1:]} & {*now.words[-1:]})
        return moved and one.clause > self.last and holds and not self.query.early

    def _matters(self, one: Read) -> bool:
        """Whether something is left over in a clause by which somebody may learn, or a thing may be moved."""
        clause, chain = one.clause, self.judge.chain
        concerned, acts = self.minds & one.concerned, bool(self.minds & set(one.people))
        denied, without = clause.verb.negated, one.outcome == "no effect"
        if one.number in self.logged and not denied and cue("alternatives").search(clause.words):
            return True  # "on the desk or on the shelf"
        if one.number in self.judge.evidence or one.reason in UNDERSTOOD or self._own_words(one):
            return False
        if clause.verb.modal in ("will", "shall") and not clause.quotes:
            return False  # it has not happened
        late = one.number > self.last and one.number not in self.logged
        minds = any(inner.means("see", "know", "think", "say", "sleep") for inner in inside(clause))
        plain = not (minds or one.named or clause.quotes or clause.unknown or denied or _of_words(clause))
        if chain and one.number < self.outdated and plain:
            return False  # whoever is right cannot learn better
        faces = acts and self.stale and is_in(clause.lemma, "greets") and self.movers & {*one.concerned}
        if late and not denied and faces:
            return True  # "waved to him"
        if late and not denied and acts and len(chain) == 1 and self.stale and self._may_have_learned(one):
            return True
        words = _of_words(clause) and not denied and one.reason != "no message"
        if self.by_word and one.number > self.known_at and words and not acts:
            return True  # "later she confessed", "the wind carried her words away"
        told = one.outcome == "observation" or one.reason == WANTED or clause.means("say")
        if late and acts and one.named and not told and any(inner.means("see") for inner in inside(clause)):
            return True  # "came back in time to see it"
        elsewhere = one.reason == "is told in another clause"
        if late and len(concerned) > 1 and clause.means("ask", "say") and not denied and not elsewhere:
            return True  # what one of them asks the other may show what they know
        if late and self._of_place(clause):
            return True  # "the shelf was empty"
        if not self.minds and one.named and _may_be_so(one):
            return True  # "he says he has moved it", "he may have moved it"
        goes = bool(one.people) and clause.means("go", "come", "leave")
        if one.named and clause.means(*MOVES) and not goes and one.number not in self.logged and one.outcome == "event":
            return True  # "he moved everything"
        if (acts or one.named) and not denied and one.reason != "no message" and _requests(clause, by_asked=acts):
            return True  # whoever asks for something may take it to be done
        if concerned and clause.verb.form == "inf" and clause.means("say"):
            return True  # "ran after her to tell her"
        supposed = clause.means("think") and not clause.means("know", "see") and not self.minds & {*one.people}
        if self.minds & one.mental and without and one.reason not in UNTOLD and not supposed:
            return True  # "saw that she did not believe him"
        if one.reason == ELSE.reason:
            return acts and any({*noun.words} & self.heads for part in (clause, *inside(clause)) for noun in part.nouns)
        if one.outcome == "unread" or one.reason in UNTOLD:
            return False
        if (one.named or concerned) and clause.unknown:
            return True
        if one.number in self.logged:
            return self._on_orders(clause)
        ordinary = clause.means(*SAFE) or clause.lemma == "be" or one.reason == WANTED
        if late and without and clause.lemma != "be" and self._is_thing(clause):
            return True  # "the ball sang"
        over = any(prep in ("over", "on", "round", "around") and noun.pronoun == "it" for prep, noun in clause.places)
        if one.named and (not self.minds or concerned) and without and not ordinary and not (over and clause.objects):
            return True
        notices = clause.means("see", "know") and not denied and {*chain[:-1]} & {*one.people}
        if notices and chain[-1] in one.concerned and not any(inner.means(*MOVES) for inner in inside(clause)):
            return True  # one of them notices the other
        if len(concerned) > 1 and one.number > self.last and without and not denied:
            return True  # what passes between two people may show one what the other knows
        after = next((part for part in self.scene.read if part.number == one.number + 1), one)
        sees_next = after.sentence == one.sentence and after.people == one.people and after.clause.means("see")
        if sees_next and clause.means("come") and after.outcome == "observation":
            return False  # "had come back and saw everything"
        alone = len(chain) == 1 or len(concerned) > 1
        if concerned and _may_inform(one, acts, late=one.number > self.last, hints=alone and self.stale):
            return True
        # at the place, they may see that the thing is there, or gone
        return acts and self._at(clause) and one.outcome != "observation" and not denied and not clause.verb.modal

    def _is_thing(self, clause: Clause) -> bool:
        """Whether the thing asked about does something itself."""
        subject = clause.subject
        named = subject is not None and bool(singulars(subject.words) & self.query.topics)
        return named and not clause.verb.passive and not clause.verb.negated

    def _may_have_learned(self, one: Read) -> bool:
        """Whether somebody asked about, whose belief is not so, does what whoever has learned better may do."""
        clause = one.clause
        nothing = (ELSE.reason, "attends to something else", "no message", "is not said to have happened")
        if clause.means("see", "know") and one.reason not in nothing:
            return True
        asks = clause.means("ask") and not clause.verb.passive and one.reason != "no message"
        if asks and one.number > self.known_at:
            return True  # they ask for it where it was
        plans = clause.words.endswith((" of", " about"))  # "was thinking of" selling it
        if (clause.means("think") and one.outcome == "no effect" and not plans) or clause.lemma in ("agree", "arrange"):
            return True
        if clause.lemma == "be" and any(is_in(word, "moods") for noun in clause.objects for word in noun.words):
            return True
        wanted = one.reason == WANTED or clause.means("want", "ask", "look", "think")
        return one.named and one.outcome == "no effect" and not wanted

    def _of_place(self, clause: Clause) -> bool:
        """Whether a clause says something of a place where the thing has been, or takes something from it."""
        subject = clause.subject
        if clause.lemma == "be" and cue("covered").search(clause.words):
            return False
        if subject is not None and {*subject.words[-1:]} & self.heads and not is_in(clause.lemma, "searching"):
            return True
        taken = any(prep in ("from", "off") and {*noun.words[-1:]} & self.heads for prep, noun in clause.places)
        return taken and not self.minds and not clause.verb.negated

    def _at(self, clause: Clause) -> bool:
        """Whether a clause, or one in it, names a place where the thing has been."""
        nouns = (noun for one in (clause, *inside(clause)) for noun in one.nouns)
        return any({*noun.words[-1:]} & self.heads for noun in nouns if noun is not clause.subject)

    def _on_orders(self, clause: Clause) -> bool:
        """Whether a phrase before a deed names somebody asked about: "on her orders, he moved it"."""
        setting = [noun for prep, noun in clause.setting if noun.head != "absence" and prep not in ("behind", "during")]
        phrases = [part for noun in setting for part in (noun, noun.owner) if part is not None]
        named = {who for noun in phrases for who in self.scene.may_be(noun)}
        own = self.minds & {*self.scene.may_be(clause.subject)} if clause.subject is not None else set()
        return bool(self.minds & named) and not own and not clause.means("see", "know", "say")

    def _unheard(self, sentences: Sequence[Sentence]) -> str | None:
        """A quote that may tell where the thing is but was not read so, or words of which it is open who hears them."""
        for speaker, unheard in self.scene.vague if self.judge.chain else ():
            if (speaker,) != self.judge.chain:
                return unheard
        said = {one.sentence for one in self.scene.log if one.verb in ("say", "announce")}
        said |= {one.sentence for one in self.scene.read if one.reason == REPLY.reason or self._own_words(one)}
        for n, sentence in enumerate(sentences):
            for quote in sentence.quotes if n not in said else ():
                words = set(re.findall(r"[a-z]+", quote.lower()))
                placed = any(is_in(word, "at") for word in words) and "?" not in quote
                if placed and words & (self.query.topics | QUOTED | {"s"}):
                    return f'"{quote}"'
        return None


def _of_words(clause: Clause) -> bool:
    """Whether a clause tells of something said, or of what becomes of words."""
    rings = clause.lemma == "ring" and clause.subject is not None and clause.subject.head in ("bell", "phone")
    nouns = [noun for noun in clause.nouns if not any(noun is one for _, one in clause.setting)]  # not "in truth"
    signs = any(is_in(noun.head, "signs") for noun in nouns)
    return signs or (clause.means("say") and clause.link != "wh" and not rings)


def _may_be_so(one: Read) -> bool:
    """Whether a clause says that somebody claims to have moved something, or may have."""
    clause = one.clause
    if clause.verb.modal in ("may", "might", "must", "could") and clause.verb.perfect:
        return clause.means(*MOVES)
    moved = [inner for inner in inside(clause) if inner.means(*MOVES) and not inner.verb.passive]
    return clause.means("say") and any(part.subject is not None and part.subject.pronoun for part in moved)


def _requests(clause: Clause, *, by_asked: bool) -> bool:
    """Whether somebody wants another to do something: "asked him to move it", "as she had asked"."""
    if any(inner.link == "to" and inner.means(*MOVES) for inner in clause.content):
        return clause.means("ask", "say") or (clause.means("want") and bool(clause.objects))
    if by_asked and clause.means("say") and clause.words.endswith(" to"):
        return True  # "as she had told him to"
    asks = clause.means("ask") and clause.verb.form != "ing" and not clause.quotes and not clause.content
    return by_asked and asks and not any(prep in ("about", "for", "after") for prep, _ in clause.places)


def _may_inform(one: Read, acts: bool, *, late: bool, hints: bool) -> bool:
    """Whether somebody asked about, who is in a clause, may learn something by it that was not read."""
    clause, without = one.clause, one.outcome == "no effect"
    about = clause.subject.pronoun if clause.subject is not None else ""
    schemes = any(is_in(noun.head, "schemes") for noun in clause.objects)
    if late and schemes and clause.lemma == "be" and about in ("it", "that", "this"):
        return True  # "it was her own idea"
    if not acts:
        meant = clause.means("want") and any(inner.words.endswith(" but") for inner in inside(clause))
        tells = any(inner.means("say") and not inner.verb.negated for inner in inside(clause)) and not meant
        others = [noun for noun in clause.objects if noun.name or noun.pronoun or vocabulary().person(noun.head)]
        apart = any(prep in BESIDE for prep, _ in clause.places) and not others  # "she sat with him"
        ordinary = clause.means(*SAFE) or clause.lemma == "be"
        return (tells and one.outcome != "observation" and not clause.verb.negated) or (
            without and not ordinary and not apart
        )
    past = clause.verb.perfect and not {"has", "have", "'s", "'ve"} & {*clause.words.split()}
    indoors = clause.lemma == "go_back" and {"inside", "indoors", "upstairs", "downstairs"} & {*clause.adverbs}
    if past and not indoors and clause.means("come") and not clause.link and late:
        return True  # it is open whether they had come back before
    if clause.means("say") and clause.verb.passive and not clause.verb.negated and one.outcome != "event":
        return True  # but not "was called away"
    if without and not clause.means(*SAFE, "say") and clause.lemma != "be":
        told = clause.quotes or any(inner.link != "to" for inner in clause.content)
        return bool(told or any(noun.pronoun in WHOLE for noun in clause.objects if noun.pronoun))
    return late and hints and is_in(clause.lemma, "hints") and not clause.verb.negated
