"""Statements about minds: what somebody believes, knows, wants, and means to do to somebody else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from otherminds.stories.chunks import chunks
from otherminds.stories.clauses import Clause, parse
from otherminds.stories.lexicon import lexicon
from otherminds.stories.model import Belief, Claim, Episode, Event, Fact, Goal, Holds, Knows, SocialGoal, Stance
from otherminds.stories.people import find_names
from otherminds.stories.phrases import Noun
from otherminds.stories.places import object_of, place_of
from otherminds.stories.sentences import Token, plain, sentences, tokens

IN = frozenset("in inside on at into onto to within under behind upon atop beside near from".split())
REWORDED = (
    ("under the impression", "thinking"), ("of the opinion", "thinking"), ("convinced", "thinking"), ("certain", "thinking"),
    ("confident", "thinking"), ("persuaded", "thinking"), ("sure", "thinking"), ("took it", "thought"), ("takes it", "thinks"),
    ("held the belief", "thought"), ("holds the belief", "thinks"), ("had the belief", "thought"), ("has the belief", "thinks"),
    ("of the belief", "thinking"), ("of the view", "thinking"), ("figured", "thought"), ("holds", "thinks"), ("trusted", "thought"),
    ("had reason to believe", "thought"), ("knew", "thought"), ("has the idea", "thinks"), ("had the idea", "thought"),
    ("mistakenly", ""), ("wrongly", ""), ("falsely", ""), ("correctly", ""), ("genuinely", ""), ("truly", ""), ("honestly", ""),
    ("sincerely", ""), ("privately", ""), ("already", ""), ("still", ""), ("really", ""), ("actually", ""), ("in fact", ""),
)  # fmt: skip


class Unread(ValueError):
    """A sentence or clause of a question that could not be read; it is in `sentence`."""

    def __init__(self, sentence: str) -> None:
        super().__init__(f"cannot be read: {sentence[:200]}")
        self.sentence = sentence


@dataclass
class Reader:
    """Reads statements about the people and things of an episode."""

    episode: Episode
    names: tuple[str, ...] = ()
    moved: list[Event] = field(default_factory=list)
    about: str | None = None

    def read(self, text: str) -> tuple[Claim, ...]:
        """What a statement claims. Raises Unread if it cannot be read."""
        found = self._tokens(text)
        words = " ".join(token.low for token in found)
        people = self._people(found)
        for read in (self._knows_contents, self._minds_of_goals, self._social, self._plain):
            claims = read(found, words, people)
            if claims:
                return claims
        raise Unread(text.strip())

    def _tokens(self, text: str) -> list[Token]:
        found = [token for sentence in sentences(tokens(plain(text))) for token in sentence if not token.quote]
        self.read_names(found)
        return found

    def read_names(self, found: Sequence[Token]) -> None:
        """Adds the names in a text to those known."""
        self.names = tuple(dict.fromkeys((*self.episode.agents, *self.names, *find_names([found], self.episode.agents))))

    def _people(self, found: Sequence[Token]) -> list[str]:
        """The people named, in order, each once."""
        return list(dict.fromkeys(token.text for token in found if token.text in self.names))

    def _other(self, people: Sequence[str]) -> str | None:
        if len(people) > 1:
            return people[1]
        others = [name for name in self.episode.agents if name not in people]
        return others[0] if len(others) == 1 else None

    # knowing what is in a place

    def _knows_contents(self, found: Sequence[Token], words: str, people: Sequence[str]) -> tuple[Claim, ...]:
        if not people or not (has(words, CONTENTS) and has(words, KNOWING)) or has(words, DENYING):
            return ()
        places = [noun for noun in self._nouns(found) if noun.kind == "place"]
        return (Knows(people[0], place_of(places[-1], self.episode)),) if places else ()

    def _nouns(self, found: Sequence[Token]) -> list[Noun]:
        return [piece for piece in chunks(found, self.names) if isinstance(piece, Noun)]

    # what one thinks that the other wants

    def _minds_of_goals(self, found: Sequence[Token], words: str, people: Sequence[str]) -> tuple[Claim, ...]:
        other = self._other(people)
        if not people or other is None:
            return ()
        kind, minds = people[0], lexicon().minds
        nouns = self._nouns(found)
        objects = self._objects(nouns)
        if has(words, minds["unknown_goal"]) and has(words, GOALS):
            self._presume(kind, objects, nouns, words)
            return (Belief(kind, Goal(other, None)), SocialGoal(kind, other, "independent"))
        if not has(words, BELIEVING):
            return ()
        stance = stance_of(words)
        if has(words, minds["desired_place"]) and has(words, PLACING) and objects:
            facts = [Fact("at", obj, self._left_at(other, kind, obj)) for obj in objects]
        elif has(words, GOALS) and objects and (place := self._wanted_place(found)):
            facts = [Fact("at", obj, place) for obj in objects]
        else:
            return ()
        self._presume(kind, objects, nouns, words)
        claims: list[Claim] = [Belief(kind, Goal(other, fact)) for fact in facts]
        return (*claims, SocialGoal(kind, other, stance)) if stance else tuple(claims)

    def _objects(self, nouns: Sequence[Noun]) -> list[str]:
        things = [noun for noun in nouns if noun.kind == "object" and noun.words[-1] not in ABSTRACT]
        return list(dict.fromkeys(object_of(noun, self.episode) for noun in things))

    def _wanted_place(self, found: Sequence[Token]) -> str | None:
        """The place somebody is thought to want something at: the first one after the word for wanting."""
        wanting = next((i for i, token in enumerate(found) if token.low in GOAL_WORDS), 0)
        place = next((noun for noun in self._nouns(found[wanting:]) if noun.kind in ("place", "room")), None)
        return place_of(place, self.episode) if place else None

    def _left_at(self, owner: str, taker: str, obj: str) -> str | None:
        """Where somebody put a thing, or else where it was taken from."""
        events = [one for one in self.episode.timeline if isinstance(one, Event) and one.obj == obj]
        put = [one.place for one in events if one.agent == owner and one.verb in ("put", "move") and one.place]
        taken = [one.place for one in events if one.agent == taker and one.verb == "grab" and one.place]
        return (put or taken or [None])[-1]

    def _presume(self, mover: str, objects: Sequence[str], nouns: Sequence[Noun], words: str) -> None:
        """Notes that the statement takes for granted that things were moved, and where to if it says so."""
        if not has(words, MOVING):
            return
        places = [noun for noun in nouns if noun.kind == "place"]
        explicit = bool(places) and (" to the " in words or " into the " in words or " onto the " in words) and has(words, lexicon().minds["desired_place"])
        place = place_of(places[-1], self.episode) if places else None
        for obj in objects:
            event = Event(0, mover, "put", obj, place, source="question", p=1.0 if explicit else 0.5)
            self.moved.append(event)

    # helping and hindering

    def _social(self, found: Sequence[Token], words: str, people: Sequence[str]) -> tuple[Claim, ...]:
        stance = stance_of(words)
        other = self._other(people)
        if stance is None or not people or other is None:
            return ()
        return (SocialGoal(people[0], other, stance),)

    # beliefs, goals and facts

    def _plain(self, found: Sequence[Token], words: str, people: Sequence[str]) -> tuple[Claim, ...]:
        clauses = parse(chunks(self._reworded(found), self.names))
        claims = [claim for clause in clauses if (claim := self.claim(clause)) is not None]
        return tuple(claims)

    def _reworded(self, found: Sequence[Token]) -> list[Token]:
        """The tokens with other ways to say "thinks" replaced by it."""
        out = list(found)
        for phrase, word in REWORDED:
            size = len(phrase.split())
            for i in range(len(out) - size, -1, -1):
                if " ".join(token.low for token in out[i : i + size]) == phrase:
                    middle = [Token(word, out[i].start, out[i + size - 1].end)] if word else []
                    out[i : i + size] = middle
        return out

    def claim(self, clause: Clause) -> Claim | None:
        """What a clause claims about a mind or the world."""
        verb = clause.verb
        if verb is None:
            return None
        person = next((noun.text for noun in clause.subjects if noun.kind == "agent"), None)
        if person and clause.content and verb.means("think", "see", "say"):
            inner = self.claim(clause.content[0])
            return self._believed(person, inner, denied=verb.negated)
        if person and (verb.wish or verb.means("want", "look", "ask")):
            return self._goal(person, clause)
        if person and (verb.means("find") or verb.lemma == "expect"):
            return self._goal(person, clause) if not clause.places else self._believed(person, self._fact(clause), denied=verb.negated)
        if verb.lemma in ("be", "have", "lie", "sit", "rest", "contain", "hold", "remain") or verb.passive:
            return self._fact(clause)
        return None

    def _believed(self, person: str, inner: Claim | None, *, denied: bool) -> Claim | None:
        if isinstance(inner, Holds):
            return Belief(person, inner.fact, holds=not denied)
        if isinstance(inner, Belief) and isinstance(inner.content, Fact) and inner.agent == "":
            return Belief(person, inner.content, holds=inner.holds == (not denied))
        if isinstance(inner, (Belief, Goal)):
            return Belief(person, inner, holds=not denied)
        return None

    def _goal(self, person: str, clause: Clause) -> Claim | None:
        nouns = [*clause.objects, *(noun for prep, noun in clause.places if prep in ("for", "seeking", "of"))]
        things = [noun for noun in nouns if noun.kind == "object" and noun.words[-1] not in ABSTRACT]
        places = [noun for prep, noun in clause.places if prep in IN and noun.kind in ("place", "room")]
        if not things or (clause.verb and clause.verb.negated):
            return None
        obj = object_of(things[0], self.episode)
        if places and clause.means("put", "move"):
            return Goal(person, Fact("at", obj, place_of(places[0], self.episode, obj)))
        return Goal(person, Fact("holds", person, obj)) if not places else None

    def _fact(self, clause: Clause) -> Claim | None:
        """A thing at a place; denied, it is a belief of nobody that does not hold."""
        verb = clause.verb
        assert verb is not None
        nouns = [*clause.subjects, *clause.objects]
        things = [noun for noun in nouns if noun.kind in ("object", "one") or noun.words[0] in ("it", "them")]
        places = [noun for prep, noun in clause.places if prep in IN]
        if verb.lemma in ("have", "contain", "hold"):
            places = [noun for noun in clause.subjects if noun.kind == "place"]
            things = list(clause.objects)
        if not things or not places or clause.unknown:
            return None
        place = next((noun for noun in places if noun.kind == "place"), places[0])
        room = next((noun for noun in places if noun.kind == "room"), None)
        if room is not None and place.kind == "place":
            place.room = place.room or room.text
        obj = self.about if things[0].kind in ("one", "pronoun") and self.about else object_of(things[0], self.episode)
        fact = Fact("at", obj, place_of(place, self.episode, obj))
        denied = verb.negated or any(noun.det == "no" for noun in things)
        return Belief("", fact, holds=False) if denied else Holds(fact)


def stance_of(words: str) -> Stance | None:
    """Whether words speak of helping, hindering, or not caring."""
    minds = lexicon().minds
    stances: tuple[Stance, ...] = ("independent", "hinder", "help")
    for stance in stances:
        if has(words, minds[stance]):
            return None if stance != "independent" and _refused(words, minds[stance]) else stance
    return None


def _refused(words: str, phrases: Sequence[str]) -> bool:
    """Whether it is said that somebody does not mean to: "was not trying to help"."""
    head = words
    for phrase in phrases:
        place = f" {words} ".find(f" {phrase.split(' *')[0]} ")
        if place >= 0:
            head = words[: max(place, 0)]
            break
    return any(f" {no} " in f" {head} " for no in ("not trying", "n't trying", "not want to", "n't want to", "not intend", "n't intend", "no intention", "no wish", "refused", "never meant", "not mean", "n't mean", "not wish", "n't wish"))


def has(words: str, phrases: Sequence[str]) -> bool:
    """Whether one of the phrases is in the words; `*` stands for one to four words."""
    padded = f" {words} "
    return any(_within(padded, phrase) for phrase in phrases)


def _within(padded: str, phrase: str) -> bool:
    head, star, tail = phrase.partition(" *")
    place = padded.find(f" {head} ")
    if place < 0 or not star:
        return place >= 0
    if not tail:
        return True
    after = padded[place + len(head) + 1 :].split()[:8]
    following = " ".join(after)
    return f" {tail.strip()} " in f" {' '.join(following.split()[1:])} "


CONTENTS = ("what is", "what was", "what 's", "what lies", "what lay", "contents of", "contents", "what the", "what sits", "what can be found", "what are", "what has been", "what things", "content of")
KNOWING = ("knows", "knew", "know", "aware of", "aware", "familiar with", "has seen", "had seen", "saw", "informed about", "known", "knowing", "knowledge of", "seen", "sure")
DENYING = ("not know", "n't know", "unaware", "no idea", "not aware", "ignorant", "not seen", "n't seen")
GOALS = ("goal", "goals", "wants", "wanted", "want", "wanting", "wishes", "wished", "wish", "aim", "aims", "intention", "intentions", "desires", "desired", "plan", "plans", "intends", "intended", "preference", "preferences", "would like", "purpose", "objective", "hoped", "hopes", "after", "trying", "meant to", "means to", "needs", "needed", "was up to", "had in mind", "planned", "preferred", "prefers", "would rather", "liked", "aimed", "looking to", "supposed to", "should be", "belonged")
GOAL_WORDS = frozenset(word for phrase in GOALS for word in phrase.split() if word not in ("would", "to", "in", "was", "had", "up", "after", "be"))
BELIEVING = ("believed", "believes", "believe", "believing", "thought", "thinks", "think", "thinking", "assumed", "assumes", "supposed", "supposes", "felt", "feels", "reckoned", "guessed", "figured", "convinced", "sure", "certain", "impression", "suspected", "knew", "knows", "understood", "took it", "aware", "judged", "saw", "realized", "realised", "inferred", "concluded", "considered", "opinion", "presumed", "presumes", "mind", "expected", "imagined", "view", "confident", "gathered", "belief", "recognized", "persuaded")
MOVING = ("moved", "moves", "move", "moving", "put", "puts", "placed", "places", "took", "takes", "carried", "carries", "brought", "brings", "transferred", "shifted", "relocated", "relocates", "relocating", "taking", "putting", "placing", "carrying", "removed", "set", "left", "bringing")
PLACING = ("placed", "put", "left", "laid", "set", "stored", "places", "is", "was", "had", "moved", "stood", "sat", "lay")
ABSTRACT = frozenset("room goal goals aim intention desire location place spot information plan statement idea what hand way preference purpose objective belief mind wish interaction thinking position want impression story sake effort".split())
