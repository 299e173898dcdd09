"""Statements about minds: what an option or a question claims that somebody believes, knows, wants or intends socially.

`StatementReader` rewords a statement, parses its clauses, and finds the people, things and places of an episode that it
speaks of. Which words mean helping, believing and so on is in the section `minds` of lexicon.toml.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from otherminds.stories import model as stories
from otherminds.stories.english.chunks import Chunker
from otherminds.stories.english.clauses import parse
from otherminds.stories.english.lexicon import lexicon, wordset
from otherminds.stories.english.phrases import Chunk, Clause, Noun, NounReader
from otherminds.stories.english.rewording import known_to, plainer
from otherminds.stories.english.sentences import LONGEST_SENTENCE, Token, find_names, plain, sentences, tokens
from otherminds.stories.english.story_state import same_object

IN = wordset("statement_in")
LONGEST_NAME = 20  # tokens in the name of a place or thing (chosen; not tuned)
P_PRESUMED = 0.5  # marks a move whose goal the statement does not give; only sorted and compared with 1
THOUGHT = re.compile(r',? "([^"]*?)[.,]?"')  # what a statement quotes
GAP = 8  # words after the head of a phrase with `*` in which its tail is looked for (chosen; not tuned)
REFUSED_WITHIN = 5  # words before a stance in which "not trying to" is looked for (chosen; not tuned)


class Unread(ValueError):  # noqa: N818  (what it says is what it is: something unread)
    """A sentence or clause of a question that could not be read; it is in `sentence`."""

    def __init__(self, sentence: str) -> None:
        super().__init__(f"cannot be read: {sentence[:200]}")
        self.sentence = sentence


# things and places of an episode


def noun_in(text: str, names: Sequence[str] = ()) -> Noun | None:
    """The noun phrase that a text consists of: "(in) the kitchen cabinet"; None if it is anything else."""
    phrase = [token for token in tokens(plain(text)) if token.text not in ".,;:!?\n" and not token.quote]
    if len(phrase) > LONGEST_NAME:
        return None
    while phrase and phrase[0].low in ("in", "inside", "on", "at", "into", "onto", "under", "it", "is", "'s"):
        phrase = phrase[1:]
    result = NounReader(phrase, names).noun_at(0, bare=True) if phrase else None
    return result[0] if result and result[1] == len(phrase) else None


def object_of(noun: Noun, episode: stories.Episode) -> str:
    """The object of the episode that a noun phrase stands for, or its own words if there is none."""
    return same_object(noun, episode.named("object")) or noun.text


def place_of(noun: Noun, episode: stories.Episode, obj: str | None = None) -> str:
    """The place (or room) of the episode that a noun phrase stands for, or its own words if there is none.

    Without a room it is the only place of that kind, or else the one spoken of (of `obj` first), or else the one
    handled last.
    """
    if noun.kind == "room":
        return noun.text
    places = [entity for entity in episode.entities if entity.kind == "place"]
    name = " ".join(part for part in (noun.ordinal, noun.room, noun.text) if part)
    if any(entity.id == name for entity in places):
        return name
    kind = lexicon().kind_of(noun.words) or noun.words[-1]
    alike = [entity for entity in places if _may_be(entity, noun, kind)]
    similar_kind = lexicon().places["like"].get(kind)
    if not alike and similar_kind:
        renamed = Noun("place", (*noun.words[: -len(kind.split())], similar_kind), 0, 0, room=noun.room)
        alike = [entity for entity in places if _may_be(entity, renamed, similar_kind)]
    contents = [utterance.content for utterance in episode.utterances if utterance.act in ("assert", "deny")]
    values = [fact.value for fact in contents if fact and obj in (None, fact.subject)]
    values += [fact.value for fact in contents if fact]
    values += [event.place for event in reversed(episode.events)]
    ranked = [entity for value in values for entity in alike if entity.id == value] if len(alike) > 1 else alike
    return (ranked or alike)[0].id if alike else name


def _may_be(entity: stories.Entity, noun: Noun, kind: str) -> bool:
    """Whether a place is of a kind and has the room, the number and the adjectives that a noun phrase gives."""
    words = entity.id.split()
    extra = set(noun.words[: len(noun.words) - len(kind.split())])
    in_room = not noun.room or entity.room in (None, noun.room) or entity.id.startswith(noun.room + " ")
    in_order = not noun.ordinal or words[0] == noun.ordinal or words[0] not in wordset("ordinals")
    of_kind = entity.id == kind or entity.id.endswith(" " + kind)
    return of_kind and in_room and in_order and extra <= set(words)


# statements


@dataclass
class ParsedStatement:
    """A statement cut into words and clauses, with the people in it; whom it is about comes first."""

    words: str
    clauses: list[Clause]
    nouns: list[Noun]
    people: list[str]

    def has(self, *lists: str) -> bool:
        """Whether it has a phrase of each of these lists of the lexicon's section `minds`."""
        return all(has(self.words, lexicon().minds[name]) for name in lists)

    @property
    def stance(self) -> stories.Stance | None:
        """The stance towards somebody else that it speaks of, if any."""
        return None if wordset("nobody_else") & set(self.words.split()) else stance_of(self.words)


@dataclass
class StatementReader:
    """Reads statements about the people and things of an episode.

    `focus` is the person that "she" stands for; `moved` collects the moves that statements take for granted.
    """

    episode: stories.Episode
    names: tuple[str, ...] = ()
    moved: list[stories.Event] = field(default_factory=list)
    focus: str | None = None

    def read(self, text: str) -> tuple[stories.Claim, ...]:
        """The claims of a statement. Raises Unread if it cannot be read."""
        text = THOUGHT.sub(r" that \1", plain(text)).strip()  # 'thinks, "It is in the box."'
        statement = self._parsed(known_to(text))
        places = [noun for noun in statement.nouns if noun.kind == "place"]
        looked = statement.has("contents", "knowing") or statement.has("looked")
        if statement.people and places and looked and not statement.has("not_knowing"):
            return (stories.Knows(statement.people[0], place_of(places[-1], self.episode)),)
        statement = self._parsed(plainer(text))
        claims = self._beliefs_about_goals(statement) or self._social_goal(statement) or self._plain_claims(statement)
        if not claims:
            raise Unread(text)
        return claims

    def chunks(self, text_tokens: Sequence[Token], text: str) -> list[Chunk]:
        """The chunks of a text cut into tokens, whose names are known from now on. Raises Unread if it is too long."""
        if len(text_tokens) > LONGEST_SENTENCE:
            raise Unread(text)
        new = find_names([text_tokens], self.episode.agents)
        self.names = tuple(dict.fromkeys((*self.episode.agents, *self.names, *new)))
        return Chunker(text_tokens, self.names).chunks()

    def _parsed(self, text: str) -> ParsedStatement:
        """The words, clauses, nouns and people of a statement, without its quotes; the first person is its subject."""
        text_tokens: list[Token] = []
        for sentence in sentences(tokens(text)):
            text_tokens += [Token(",", sentence[0].start, sentence[0].start)] if text_tokens else []
            text_tokens += [token for token in sentence if not token.quote]
        pieces = self.chunks(text_tokens, text)
        clauses = parse(pieces)
        names = list(dict.fromkeys(token.text for token in text_tokens if token.text in self.names))
        finite = [clause for clause in clauses if clause.verb and clause.verb.finite]
        subjects = (noun for clause in finite for noun in clause.subjects)
        subject = next((noun for noun in subjects if noun.text not in ("i", "we", "us", "you")), None)  # "let us say"
        first = self._person(subject, names) or (names[0] if names and text_tokens[0].text == names[0] else None)
        people = [first, *(name for name in names if name != first)] if first else []
        nouns = [piece for piece in pieces if isinstance(piece, Noun)]
        return ParsedStatement(" ".join(token.low for token in text_tokens), clauses, nouns, people)

    def _person(self, subject: Noun | None, mentioned: Sequence[str]) -> str | None:
        """The person a subject stands for; a pronoun is the focus, or else the only one not named."""
        for name in (subject.text, subject.owner) if subject else ():
            if name in self.names:
                return name
        if subject is None or subject.kind == "pronoun":
            unmentioned = [name for name in self.episode.agents if name not in mentioned]
            return self.focus or (unmentioned[0] if len(unmentioned) == 1 and mentioned else None)
        return mentioned[0] if mentioned else None

    def _other(self, people: Sequence[str]) -> str | None:
        """The second person named, or else the only one not named."""
        if len(people) > 1:
            return people[1]
        unmentioned = [name for name in self.episode.agents if name not in people]
        return unmentioned[0] if len(unmentioned) == 1 else None

    def _beliefs_about_goals(self, statement: ParsedStatement) -> tuple[stories.Claim, ...]:
        """What somebody thinks that the other wants, and the stance that goes with it; empty if nothing is said."""
        partner = self._other(statement.people)
        if partner is None or not statement.people:
            return ()
        believer = statement.people[0]
        objects = self._objects(statement.nouns)
        if statement.has("unknown_goal", "goals"):
            self._presume(believer, objects, statement, None)
            return (
                stories.Belief(believer, stories.Goal(partner, None)),
                stories.SocialGoal(believer, partner, "independent"),
            )
        if not statement.has("believing") or not objects:
            return ()
        goal_place = None
        if statement.has("desired_place", "placing"):  # where the other put the thing, or else where it was taken from
            events = [e for e in self.episode.events if e.place]
            place_put = {e.obj: e.place for e in events if e.agent == partner and e.verb in ("put", "move")}
            place_taken = {e.obj: e.place for e in events if e.agent == believer and e.verb == "grab"}
            facts = [stories.Fact("at", obj, place_put.get(obj) or place_taken.get(obj)) for obj in objects]
        else:  # the first place named after the word for wanting
            place = next((noun for noun in statement.nouns if noun.kind in ("place", "room")), None)
            goal_place = place_of(place, self.episode) if place and statement.has("goals") else None
            if not goal_place:
                return ()
            facts = [stories.Fact("at", obj, goal_place) for obj in objects]
        self._presume(believer, objects, statement, goal_place)
        claims: list[stories.Claim] = [stories.Belief(believer, stories.Goal(partner, fact)) for fact in facts]
        return (*claims, stories.SocialGoal(believer, partner, statement.stance)) if statement.stance else tuple(claims)

    def _objects(self, nouns: Sequence[Noun]) -> list[str]:
        """The things spoken of; a word that nobody knows must at least have an article."""
        objects, mentioned = self.episode.named("object"), []
        for noun in nouns:
            if noun.kind == "object" and noun.words[-1] not in wordset("abstract"):
                obj = object_of(noun, self.episode)
                mentioned += [obj] if noun.is_known or obj in objects or noun.det in ("the", "a", "an") else []
        return list(dict.fromkeys(mentioned))

    def _presume(self, mover: str, objects: Sequence[str], statement: ParsedStatement, goal_place: str | None) -> None:
        """Notes the moves that a statement takes for granted: with p = 1 if it says where to."""
        for clause in statement.clauses:
            moved_by_another = any(noun.kind == "agent" and noun.text != mover for noun in clause.subjects)
            if moved_by_another or clause.negated or not clause.means("move", "put", "grab"):
                continue
            goals = [noun for prep, noun in clause.places if prep in IN and noun.kind in ("place", "room")]
            moves_away = "away" in clause.adverbs or (clause.verb and clause.verb.particle == "away")
            place = place_of(goals[0], self.episode) if goals else None if moves_away else goal_place
            p = 1.0 if goals else P_PRESUMED
            self.moved += [stories.Event(0, mover, "put", obj, place, source="question", p=p) for obj in objects]

    def _social_goal(self, statement: ParsedStatement) -> tuple[stories.Claim, ...]:
        """That somebody helps, hinders or ignores the other; empty if nothing is said."""
        stance, partner = statement.stance, self._other(statement.people)
        thinking = any(clause.content and clause.means("think") for clause in statement.clauses)
        if stance is None or partner is None or not statement.people or (thinking and stance != "independent"):
            return ()
        return (stories.SocialGoal(statement.people[0], partner, stance),)

    def _plain_claims(self, statement: ParsedStatement) -> tuple[stories.Claim, ...]:
        """One claim a clause: beliefs, goals and facts; empty if one of them cannot be read."""
        clauses: list[Clause] = []
        for clause in statement.clauses:
            before = clauses[-1] if clauses else None
            governed = clause.link == "to" and clause.lemma == "be"
            if before and governed and before.means("think", "want") and before.objects:
                # "believed the milk to be in the fridge"
                content = [replace(clause, link="", subjects=before.objects)]
                clauses[-1] = replace(before, objects=[], content=content)
            else:
                clauses.append(clause)
        claims = [self.claim(clause) for clause in clauses]
        sure = [c for c in claims if c is not None and not (isinstance(c, stories.Belief) and not c.agent)]
        if len(sure) < len(clauses) or any(isinstance(c, stories.Holds) and statement.people for c in sure):
            return ()
        return tuple(sure)

    def claim(self, clause: Clause) -> stories.Claim | None:
        """The claim of a clause about a mind or the world; a denied fact is a belief of nobody that does not hold."""
        verb = clause.verb
        if verb is None or clause.unknown or (verb.unreal and verb.lemma != "be" and not verb.passive):
            return None
        people = (self._person(noun, ()) for noun in clause.subjects if noun.kind in ("agent", "pronoun"))
        person = next(people, None)
        if person and clause.content and verb.means("think", "see", "say", "want"):
            return _believed(person, self.claim(clause.content[0]), denied=verb.negated)
        if person and verb.means("find") and clause.places and not verb.wish:
            return _believed(person, self._fact(clause), denied=verb.negated)
        if person and (verb.wish or verb.means("want", "look")):
            return self._goal(person, clause)
        return self._fact(clause) if verb.lemma in wordset("lying") or verb.passive else None

    def _goal(self, person: str, clause: Clause) -> stories.Claim | None:
        """That somebody wants to have a thing, or wants it in a place."""
        abstract = wordset("abstract")
        nouns = [*clause.objects, *(noun for prep, noun in clause.places if prep in ("for", "seeking", "of"))]
        things = [noun for noun in nouns if noun.kind == "object" and noun.words[-1] not in abstract]
        places = [noun for prep, noun in clause.places if prep in IN and noun.kind in ("place", "room")]
        if not things or clause.negated:
            return None
        obj = object_of(things[0], self.episode)
        if not places:
            return stories.Goal(person, stories.Fact("holds", person, obj))
        puts = clause.means("put", "move", "want")
        return stories.Goal(person, stories.Fact("at", obj, place_of(places[0], self.episode, obj))) if puts else None

    def _fact(self, clause: Clause) -> stories.Claim | None:
        """The claim that a thing is in a place, or is not; None if the clause names no place or not one thing."""
        things = [noun for noun in (*clause.subjects, *clause.objects) if noun.kind == "object"]
        places = [noun for prep, noun in clause.places if prep in IN]
        if clause.lemma in ("have", "contain", "hold"):
            places = [noun for noun in clause.subjects if noun.kind == "place"]
            things = [noun for noun in clause.objects if noun.kind == "object"]
        if len(things) != 1 or not places:
            return None
        place = next((noun for noun in places if noun.kind == "place"), places[0])
        room = next((noun for noun in places if noun.kind == "room"), None)
        if room is not None and place.kind == "place":
            place.room = place.room or room.text
        obj = object_of(things[0], self.episode)
        fact = stories.Fact("at", obj, place_of(place, self.episode, obj))
        return stories.Belief("", fact, holds=False) if clause.negated or things[0].det == "no" else stories.Holds(fact)


def _believed(person: str, inner: stories.Claim | None, *, denied: bool) -> stories.Claim | None:
    """The claim that somebody believes another claim; None if that cannot be believed."""
    if isinstance(inner, stories.Holds):
        return stories.Belief(person, inner.fact, holds=not denied)
    if isinstance(inner, stories.Belief) and not inner.agent:
        return stories.Belief(person, inner.content, holds=denied)
    if isinstance(inner, (stories.Belief, stories.Goal)):
        return stories.Belief(person, inner, holds=not denied)
    return None


# phrases in words


def has(words: str, phrases: Sequence[str]) -> bool:
    """Whether one of the phrases is in the words; `*` stands for one or several words."""
    return any(_within(f" {words} ", phrase) for phrase in phrases)


def _within(padded: str, phrase: str) -> bool:
    """Whether a phrase occurs in a text padded with blanks.

    In "want * in" the star stands for up to GAP - 1 words, at least one.
    """
    head, star, tail = phrase.partition(" *")
    start = padded.find(f" {head} ")
    if not star or not tail:
        return start >= 0
    while start >= 0:
        following = padded[start + len(head) + 1 :].split()[:GAP]
        if f" {tail.strip()} " in f" {' '.join(following[1:])} ":
            return True
        start = padded.find(f" {head} ", start + 1)
    return False


def stance_of(words: str) -> stories.Stance | None:
    """The stance that words speak of: helping, hindering or not caring; None if of none, or if it is denied."""
    minds, padded = lexicon().minds, f" {words} "
    stances: tuple[stories.Stance, ...] = ("independent", "hinder", "help")
    for stance in stances:
        matching = [phrase for phrase in minds[stance] if _within(padded, phrase)]
        if matching and stance == "independent":
            return stance
        if matching:
            place, phrase = min((padded.find(f" {phrase.partition(' *')[0]} "), phrase) for phrase in matching)
            before = " ".join(padded[:place].split()[-REFUSED_WITHIN:])
            refused = not phrase.startswith(("did", "does", "not")) and has(before, minds["refusing"])
            return None if refused else stance
    return None
