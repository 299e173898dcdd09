"""Statements about minds: what somebody believes, knows, wants, and means to do to somebody else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from otherminds.stories.english.chunks import chunks
from otherminds.stories.english.clauses import parse
from otherminds.stories.english.lexicon import lexicon, wordset
from otherminds.stories.english.phrases import Clause, Noun, Nouns
from otherminds.stories.english.rewording import has, known_to, plainer, stance_of
from otherminds.stories.english.sentences import LONGEST_SENTENCE, Token, find_names, plain, sentences, tokens
from otherminds.stories.model import (
    Belief,
    Claim,
    Entity,
    Episode,
    Event,
    Fact,
    Goal,
    Holds,
    Knows,
    SocialGoal,
    Utterance,
)

LONGEST_NAME = 20


def noun_in(text: str, names: Sequence[str] = ()) -> Noun | None:
    """The noun phrase a text consists of: "(in) the kitchen cabinet"."""
    found = [token for token in tokens(plain(text)) if token.text not in ".,;:!?\n" and not token.quote]
    if len(found) > LONGEST_NAME:
        return None
    while found and found[0].low in ("in", "inside", "on", "at", "into", "onto", "under", "it", "is", "'s"):
        found = found[1:]
    reader = Nouns(found, names)
    if not found:
        return None
    result = reader.at(0, bare=True)
    return result[0] if result and result[1] == len(found) else None


def object_of(noun: Noun, episode: Episode) -> str:
    """The object of the episode a noun phrase stands for, or its own words if there is none."""
    objects = [entity.id for entity in episode.entities if entity.kind == "object"]
    text = noun.text
    if text in objects:
        return text
    head, extra = noun.words[-1], set(noun.words[:-1])
    alike = [
        one
        for one in objects
        if one.split()[-1] == head and (set(one.split()[:-1]) <= extra or extra <= set(one.split()))
    ]
    return alike[0] if len(alike) == 1 else text


def place_of(noun: Noun, episode: Episode, obj: str | None = None) -> str:
    """The place (or room) of the episode a noun phrase stands for, or its own words if there is none.

    Without a room it is the only place of that kind, or else the one somebody spoke of, or else the last one handled.
    """
    if noun.kind == "room":
        return noun.text
    places = [entity for entity in episode.entities if entity.kind == "place"]
    name = " ".join([*([noun.ordinal] if noun.ordinal else []), *([noun.room] if noun.room else []), noun.text])
    ids = {entity.id for entity in places}
    if name in ids:
        return name
    kind = lexicon().kind_of(noun.words) or noun.words[-1]
    alike = [entity for entity in places if _fits(entity, noun, kind)]
    other = lexicon().places["like"].get(kind)
    if not alike and other:
        alike = [
            entity
            for entity in places
            if _fits(entity, Noun("place", (*noun.words[: -len(kind.split())], other), 0, 0, room=noun.room), other)
        ]
    if len(alike) > 1:
        alike = _spoken(alike, episode, obj) or _handled(alike, episode) or alike
    return alike[0].id if alike else name


def _fits(entity: Entity, noun: Noun, kind: str) -> bool:
    words = entity.id.split()
    if entity.id != kind and not entity.id.endswith(" " + kind):
        return False
    extra = set(noun.words[: len(noun.words) - len(kind.split())])
    room_fits = not noun.room or entity.room in (None, noun.room) or entity.id.startswith(noun.room + " ")
    return (
        room_fits and extra <= set(words) and (not noun.ordinal or words[0] == noun.ordinal or words[0] not in ORDINALS)
    )


ORDINALS = wordset("ordinals")


def _spoken(alike: Sequence[Entity], episode: Episode, obj: str | None) -> list[Entity]:
    said = [
        one.content.value
        for one in episode.timeline
        if isinstance(one, Utterance)
        and one.content
        and one.act in ("assert", "deny")
        and obj in (None, one.content.subject)
    ]
    said += [
        one.content.value
        for one in episode.timeline
        if isinstance(one, Utterance) and one.content and one.act in ("assert", "deny")
    ]
    return [entity for value in said for entity in alike if entity.id == value]


def _handled(alike: Sequence[Entity], episode: Episode) -> list[Entity]:
    handled = [one.place for one in episode.timeline if isinstance(one, Event)]
    return [entity for value in reversed(handled) for entity in alike if entity.id == value]


IN = wordset("statement_in")
LYING = wordset("lying")
NOBODY = frozenset(("nobody", "noone", "himself", "herself"))


class Unread(ValueError):  # noqa: N818  (what it says is what it is: something unread)
    """A sentence or clause of a question that could not be read; it is in `sentence`."""

    def __init__(self, sentence: str) -> None:
        super().__init__(f"cannot be read: {sentence[:200]}")
        self.sentence = sentence


@dataclass
class Statement:
    """A statement cut into words and clauses, and the people in it: whom it is about comes first."""

    words: str
    clauses: list[Clause]
    nouns: list[Noun]
    people: list[str]


@dataclass
class StatementReader:
    """Reads statements about the people and things of an episode; `focus` is whom "she" stands for."""

    episode: Episode
    names: tuple[str, ...] = ()
    moved: list[Event] = field(default_factory=list)
    focus: str | None = None

    def read(self, text: str) -> tuple[Claim, ...]:
        """What a statement claims. Raises Unread if it cannot be read."""
        claims = self._knows_contents(self._statement(known_to(plain(text).strip())))
        if claims:
            return claims
        one = self._statement(plainer(plain(text).strip()))
        for read in (self._minds_of_goals, self._social, self._plain):
            claims = read(one)
            if claims:
                return claims
        raise Unread(text.strip())

    def _statement(self, text: str) -> Statement:
        found: list[Token] = []
        for sentence in sentences(tokens(text)):
            found += [Token(",", sentence[0].start, sentence[0].start)] if found else []
            found += [token for token in sentence if not token.quote]
        if len(found) > LONGEST_SENTENCE:
            raise Unread(text)
        self.read_names(found)
        pieces = chunks(found, self.names)
        clauses = parse(pieces)
        nouns = [piece for piece in pieces if isinstance(piece, Noun)]
        words = " ".join(token.low for token in found)
        return Statement(words, clauses, nouns, self._people(found, clauses))

    def read_names(self, found: Sequence[Token]) -> None:
        """Adds the names in a text to those known."""
        new = find_names([found], self.episode.agents)
        self.names = tuple(dict.fromkeys((*self.episode.agents, *self.names, *new)))

    def _people(self, found: Sequence[Token], clauses: Sequence[Clause]) -> list[str]:
        """The people named, each once; the subject comes first, or whom the question is about if it is "she"."""
        named = list(dict.fromkeys(token.text for token in found if token.text in self.names))
        subject = next(
            (noun for clause in clauses if clause.verb and clause.verb.finite for noun in clause.subjects), None
        )
        first = self._who(subject, named) or (named[0] if named and found[0].text == named[0] else None)
        return [first, *(name for name in named if name != first)] if first else []

    def _who(self, subject: Noun | None, named: Sequence[str]) -> str | None:
        if subject is not None and subject.text in self.names:
            return subject.text
        if subject is not None and subject.owner in self.names:
            return subject.owner
        if subject is None or subject.kind == "pronoun":
            others = [name for name in self.episode.agents if name not in named]
            return self.focus if self.focus else others[0] if len(others) == 1 and named else None
        return named[0] if named else None

    def _other(self, people: Sequence[str]) -> str | None:
        if len(people) > 1:
            return people[1]
        others = [name for name in self.episode.agents if name not in people]
        return others[0] if len(others) == 1 else None

    # knowing what is in a place

    def _knows_contents(self, one: Statement) -> tuple[Claim, ...]:
        minds = lexicon().minds
        told = (has(one.words, minds["contents"]) and has(one.words, minds["knowing"])) or has(
            one.words, minds["looked"]
        )
        if not one.people or not told or has(one.words, minds["not_knowing"]):
            return ()
        places = [noun for noun in one.nouns if noun.kind == "place"]
        return (Knows(one.people[0], place_of(places[-1], self.episode)),) if places else ()

    # what one thinks that the other wants

    def _minds_of_goals(self, one: Statement) -> tuple[Claim, ...]:
        other, minds = self._other(one.people), lexicon().minds
        if other is None or not one.people:
            return ()
        who, objects = one.people[0], self._objects(one.nouns)
        if has(one.words, minds["unknown_goal"]) and has(one.words, minds["goals"]):
            self._presume(who, objects, one, None)
            return (Belief(who, Goal(other, None)), SocialGoal(who, other, "independent"))
        if not has(one.words, minds["believing"]) or not objects:
            return ()
        wanted = None
        if has(one.words, minds["desired_place"]) and has(one.words, minds["placing"]):
            facts = [Fact("at", obj, self._left_at(other, who, obj)) for obj in objects]
        elif has(one.words, minds["goals"]) and (wanted := self._wanted_place(one)):
            facts = [Fact("at", obj, wanted) for obj in objects]
        else:
            return ()
        self._presume(who, objects, one, wanted)
        stance = None if NOBODY & set(one.words.split()) else stance_of(one.words)
        claims: list[Claim] = [Belief(who, Goal(other, fact)) for fact in facts]
        return (*claims, SocialGoal(who, other, stance)) if stance else tuple(claims)

    def _objects(self, nouns: Sequence[Noun]) -> list[str]:
        """The things spoken of; a word that nobody knows must at least have an article."""
        objects = {entity.id for entity in self.episode.entities if entity.kind == "object"}
        found = []
        for noun in nouns:
            if noun.kind == "object" and noun.words[-1] not in lexicon().sets_of_minds["abstract"]:
                obj = object_of(noun, self.episode)
                found += [obj] if noun.known or obj in objects or noun.det in ("the", "a", "an") else []
        return list(dict.fromkeys(found))

    def _wanted_place(self, one: Statement) -> str | None:
        """The place somebody is thought to want something at: the first one named after the word for wanting."""
        place = next((noun for noun in one.nouns if noun.kind in ("place", "room")), None)
        return place_of(place, self.episode) if place else None

    def _left_at(self, owner: str, taker: str, obj: str) -> str | None:
        """Where somebody put a thing, or else where it was taken from."""
        events = [one for one in self.episode.timeline if isinstance(one, Event) and one.obj == obj]
        put = [one.place for one in events if one.agent == owner and one.verb in ("put", "move") and one.place]
        taken = [one.place for one in events if one.agent == taker and one.verb == "grab" and one.place]
        known = put or taken
        return known[-1] if known else None

    def _presume(self, mover: str, objects: Sequence[str], one: Statement, wanted: str | None) -> None:
        """Notes that the statement takes for granted that things were moved; surely to a place it says."""
        moves = [
            clause
            for clause in one.clauses
            if clause.means("move", "put", "grab") and not (clause.verb and clause.verb.negated)
        ]
        for clause in moves:
            if any(noun.kind == "agent" and noun.text != mover for noun in clause.subjects):
                continue
            goals = [noun for prep, noun in clause.places if prep in IN and noun.kind in ("place", "room")]
            away = "away" in clause.adverbs or (clause.verb and clause.verb.particle == "away")
            place = place_of(goals[0], self.episode) if goals else None if away else wanted
            for obj in objects:
                self.moved.append(Event(0, mover, "put", obj, place, source="question", p=1.0 if goals else 0.5))

    # helping and hindering

    def _social(self, one: Statement) -> tuple[Claim, ...]:
        stance = None if NOBODY & set(one.words.split()) else stance_of(one.words)
        other = self._other(one.people)
        thinking = any(clause.content and clause.means("think") for clause in one.clauses)
        if stance is None or other is None or not one.people or (thinking and stance != "independent"):
            return ()
        return (SocialGoal(one.people[0], other, stance),)

    # beliefs, goals and facts

    def _plain(self, one: Statement) -> tuple[Claim, ...]:
        clauses = _merged(one.clauses)
        claims = [self.claim(clause) for clause in clauses]
        sure = [claim for claim in claims if claim is not None and not (isinstance(claim, Belief) and not claim.agent)]
        if len(sure) < len(clauses) or any(isinstance(claim, Holds) and one.people for claim in sure):
            return ()
        return tuple(sure)

    def claim(self, clause: Clause) -> Claim | None:
        """What a clause claims about a mind or the world; a denied fact is a belief of nobody that does not hold."""
        verb = clause.verb
        if verb is None or clause.unknown or (verb.unreal and verb.lemma != "be" and not verb.passive):
            return None
        person = next((self._who(noun, ()) for noun in clause.subjects if noun.kind in ("agent", "pronoun")), None)
        if person and clause.content and verb.means("think", "see", "say", "want"):
            return _believed(person, self.claim(clause.content[0]), denied=verb.negated)
        if person and verb.means("find") and clause.places and not verb.wish:
            return _believed(person, self._fact(clause), denied=verb.negated)
        if person and (verb.wish or verb.means("want", "look")):
            return self._goal(person, clause)
        return self._fact(clause) if verb.lemma in LYING or verb.passive else None

    def _goal(self, person: str, clause: Clause) -> Claim | None:
        abstract = lexicon().sets_of_minds["abstract"]
        nouns = [*clause.objects, *(noun for prep, noun in clause.places if prep in ("for", "seeking", "of"))]
        things = [noun for noun in nouns if noun.kind == "object" and noun.words[-1] not in abstract]
        places = [noun for prep, noun in clause.places if prep in IN and noun.kind in ("place", "room")]
        if not things or (clause.verb and clause.verb.negated):
            return None
        obj = object_of(things[0], self.episode)
        if not places:
            return Goal(person, Fact("holds", person, obj))
        put = clause.means("put", "move", "want")
        return Goal(person, Fact("at", obj, place_of(places[0], self.episode, obj))) if put else None

    def _fact(self, clause: Clause) -> Claim | None:
        verb = clause.verb
        assert verb is not None
        things = [noun for noun in (*clause.subjects, *clause.objects) if noun.kind == "object"]
        places = [noun for prep, noun in clause.places if prep in IN]
        if verb.lemma in ("have", "contain", "hold"):
            places = [noun for noun in clause.subjects if noun.kind == "place"]
            things = [noun for noun in clause.objects if noun.kind == "object"]
        if len(things) != 1 or not places:
            return None
        place = next((noun for noun in places if noun.kind == "place"), places[0])
        room = next((noun for noun in places if noun.kind == "room"), None)
        if room is not None and place.kind == "place":
            place.room = place.room or room.text
        obj = object_of(things[0], self.episode)
        fact = Fact("at", obj, place_of(place, self.episode, obj))
        return Belief("", fact, holds=False) if verb.negated or things[0].det == "no" else Holds(fact)


def _believed(person: str, inner: Claim | None, *, denied: bool) -> Claim | None:
    if isinstance(inner, Holds):
        return Belief(person, inner.fact, holds=not denied)
    if isinstance(inner, Belief) and not inner.agent:
        return Belief(person, inner.content, holds=denied)
    if isinstance(inner, (Belief, Goal)):
        return Belief(person, inner, holds=not denied)
    return None


def _merged(clauses: Sequence[Clause]) -> list[Clause]:
    """The clauses, "believed the milk to be in the fridge" made "believed that the milk is in the fridge"."""
    out: list[Clause] = []
    for clause in clauses:
        before = out[-1] if out else None
        if (
            before
            and clause.link == "to"
            and clause.verb
            and clause.verb.lemma == "be"
            and before.means("think", "want")
            and before.objects
        ):
            out[-1] = replace(before, objects=[], content=[replace(clause, link="", subjects=before.objects)])
        else:
            out.append(clause)
    return out
