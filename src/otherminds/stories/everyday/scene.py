"""The state of a story while it is read: its people, things and places, who perceives what, and the events so far."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import TypeVar

from otherminds.stories.beliefs.perspectives import REALITY
from otherminds.stories.english.lexicon import singular
from otherminds.stories.everyday.chunks import Noun
from otherminds.stories.everyday.clauses import Clause
from otherminds.stories.everyday.words import is_in, vocabulary, words_of
from otherminds.stories.model import Outcome
from otherminds.worlds.household.nested_belief import MoveEvent, NestedBelief, StatementEvent

READINGS = 40  # of a story, most probable first; the rest counts as not known; bounds the time of an answer (chosen)
SEES_IF_PRESENT = 0.15  # probability that a present person sees an event that the story does not say they saw (chosen)
SEES_IF_UNPLACED = 0.15  # the same of a person whose whereabouts are not told (chosen)
FIRST_CHOICE = 0.75  # probability that a pronoun stands for the likelier of two people (chosen)
SAME_SUBJECT = 0.88  # the same if the pronoun is a subject and the likelier person was the last one (chosen)
GONE = "gone"  # the place of a thing that was eaten or destroyed
YOUNG = words_of("young")
SIDES = {
    "in": "in", "inside": "in", "into": "in", "within": "in", "on": "on", "onto": "on", "upon": "on", "atop": "on",
    "under": "under", "underneath": "under", "beneath": "under", "below": "under", "behind": "behind", "beside": "by",
    "by": "by", "near": "by", "next": "by", "above": "above", "over": "above", "against": "by", "between": "between",
}  # fmt: skip
T = TypeVar("T")


class Fork:
    """The choices of one reading of a story, where its words leave several open; `weight` is its probability."""

    def __init__(self, path: Sequence[int]) -> None:
        self.path, self.taken, self.weight = path, list[int](), 1.0
        self.others: list[tuple[float, tuple[int, ...]]] = []

    def choose(self, *weights: float) -> int:
        """The number of the choice that this reading makes. Weights are probabilities, the likeliest first."""
        n = len(self.taken)
        one = self.path[n] if n < len(self.path) else 0
        if n >= len(self.path):
            before = tuple(self.taken)
            self.others += [(self.weight * weight, (*before, k)) for k, weight in enumerate(weights) if k]
        self.taken.append(one)
        self.weight *= weights[one]
        return one


def readings(read: Callable[[Fork], T], most: int = READINGS) -> Iterator[tuple[T, float]]:
    """The results of reading under each combination of choices, with its probability, roughly the likeliest first."""
    queue: list[tuple[float, tuple[int, ...]]] = [(-1.0, ())]
    for _ in range(most):
        if not queue:
            return
        fork = Fork(heapq.heappop(queue)[1])
        result = read(fork)
        for weight, path in fork.others:
            heapq.heappush(queue, (-weight, path))
        yield result, fork.weight


@dataclass(frozen=True)
class Place:
    """Where a thing is: which side of what ("on", "the hook by the wings"), or a person that has it."""

    side: str
    words: tuple[str, ...]  # of the noun itself; the head is the last
    around: frozenset[str]  # all words of what follows it: "by the wings"
    text: str
    holder: str = ""

    def fits(self, other: Place) -> bool:
        """Whether two descriptions may be of one place."""
        if self.holder or other.holder:
            return self.holder == other.holder
        if self.side and other.side and self.side != other.side:
            return False
        mine, theirs = set(self.words), set(other.words)
        if self.words[-1:] != other.words[-1:]:
            loose = not (self.side and other.side) or self.side == other.side
            return loose and (mine <= theirs or theirs <= mine) and bool(mine and theirs)
        return mine <= theirs | other.around or theirs <= mine | self.around

    @property
    def key(self) -> str:
        """The place as a belief names it."""
        return self.holder or self.text


@dataclass
class Person:
    """Somebody, by name, by role, or both. `here` is None if it is not told; `room` is where they are if elsewhere."""

    key: str
    names: set[str]
    roles: set[str]
    gender: str
    owner: str = ""
    here: bool | None = None
    watching: bool | None = None  # whether they attend to what happens; None if it is not told
    room: frozenset[str] = frozenset()
    apart: bool = False  # whether they are at a window or the like, where those whom they see may not see them
    traits: frozenset[str] = frozenset()  # "tall" of "the tall guard"
    since: int = 0  # the number of events before they came into the story


@dataclass
class Thing:
    """A thing by its words; the head is the last."""

    key: str
    words: tuple[str, ...]
    owner: str
    plural: bool
    whose: str = ""  # the person that "his" or "her" stood for when it was named last


@dataclass
class Happened:
    """An event that minds witness, the clause that tells of it, and its actor."""

    event: MoveEvent | StatementEvent
    clause: int
    actor: str
    verb: str = ""
    sentence: int = 0
    place: Place | None = None
    missed: set[str] = field(default_factory=set)  # those who the story says did not see it
    open: frozenset[str] = frozenset()  # those of whom the story does not say whether they saw it


@dataclass(frozen=True)
class Read:
    """What became of a clause; `people` are those that its subject stands for, `number` counts the clauses."""

    clause: Clause
    outcome: Outcome
    reason: str
    people: tuple[str, ...]
    named: bool  # whether it names the thing asked about, or "it" may be that
    concerned: frozenset[str]  # all that its words, or those of clauses in it, may stand for
    number: int
    hearers: frozenset[str] = frozenset()  # those to whom it is said
    away: frozenset[str] = frozenset()  # those who are not there or attend to something else
    mental: frozenset[str] = frozenset()  # of whom a clause in it says that they think, know or see something
    sentence: int = 0

    @property
    def text(self) -> str:
        """The words of the clause."""
        return self.clause.words


@dataclass
class Scene:
    """What is known of the story so far. `minds` and `topics` are the words of the people and things asked about."""

    fork: Fork
    minds: frozenset[str] = frozenset()
    topics: frozenset[str] = frozenset()
    people: dict[str, Person] = field(default_factory=dict)
    things: dict[str, Thing] = field(default_factory=dict)
    places: dict[str, Place] = field(default_factory=dict)
    log: list[Happened] = field(default_factory=list)
    recent: list[str] = field(default_factory=list)  # people, those mentioned last at the end
    subjects: list[str] = field(default_factory=list)  # of the clauses so far
    focus: dict[str, int] = field(default_factory=dict)  # things and the sentences that name them, the last at the end
    here: set[str] = field(default_factory=set)  # words of where the story happens
    wants: dict[str, list[str]] = field(default_factory=dict)
    spotted: dict[tuple[str, str], int] = field(default_factory=dict)  # who has noticed who, in which sentence
    eyed: dict[str, tuple[str, int]] = field(default_factory=dict)  # whom somebody has in view, since which sentence
    asked_roles: frozenset[str] = frozenset()  # heads of nouns that the question takes to think or know something
    twins: set[str] = field(default_factory=set)  # things of which there may be more than one
    vague: list[tuple[str, str]] = field(default_factory=list)  # speakers and clauses that do not tell who hears them
    last_place: Place | None = None  # mentioned last
    stated: dict[tuple[tuple[str, ...], str], Place] = field(default_factory=dict)  # what the story says is believed
    # noun phrases, by identity, and the people or things that they stand for
    resolved: dict[int, tuple[Noun, str]] = field(default_factory=dict)
    called: dict[int, tuple[Noun, str]] = field(default_factory=dict)
    untold: set[str] = field(default_factory=set)  # those who the story says were told nothing
    undecided: set[str] = field(default_factory=set)  # those of whom it is open whether they saw what happened last
    read: list[Read] = field(default_factory=list)
    pinned: set[str] = field(default_factory=set)  # those who the story says still believe something
    finished: bool = False  # whether all of the story has been read
    clause: int = 0
    sentence: int = 0

    # people

    def person(self, noun: Noun | None, *, create: bool = True, exclude: Sequence[str] = ()) -> str | None:
        """The person that a noun phrase stands for; None if it is nobody, or more than one, or unclear."""
        if noun is None or noun.parts:
            return None
        if (before := self.resolved.get(id(noun))) is not None and before[1] not in exclude:
            self._mention(before[1])
            return before[1]
        found = self._pronoun(noun.pronoun, exclude) if noun.pronoun else self._person_named(noun, create=create)
        if found is not None and noun.start != noun.end:
            self.resolved[id(noun)] = noun, found
        return found

    def _person_named(self, noun: Noun, *, create: bool) -> str | None:
        found = self._known_person(noun)
        if found is None and create and self.is_person(noun):
            found = self._new_person(noun)
        if found is not None:
            self._mention(found)
            for other in noun.alias:
                if self.is_person(other):
                    self.people[found].roles.update(word for word in other.words if vocabulary().person(word))
                    self.people[found].names.update(other.name.split())
                    if self.people[found].gender == "they":
                        known = (vocabulary().names.get(name) for name in other.name.split())
                        self.people[found].gender = next((one for one in known if one), "they")
        return found

    def persons(self, noun: Noun | None) -> list[str]:
        """All people that a noun phrase stands for: "Ann and Ben", "they", "both", "everyone"."""
        if noun is None:
            return []
        if noun.parts:
            return [one for part in noun.parts for one in self.persons(part)]
        groups = [one for one in self.recent if self.people[one].gender == "group"]
        if noun.pronoun in ("they", "them") and groups:
            return groups[-1:]
        if noun.pronoun in ("they", "them", "both", "all") and len(self.recent) > 1:
            plural = [
                one for one in self.recent if self.people[one].gender == "they" and "group" in self.people[one].roles
            ]
            return plural or self.recent[-2:]
        for other in noun.alias if noun.pronoun in ("everyone", "everybody") else ():
            self.person(other)
        if noun.pronoun in ("everyone", "everybody") or (is_in(noun.head, "groups") and noun.det != "another"):
            return list(self.people)
        if noun.pronoun in ("nobody", "no-one", "noone"):
            return []
        one = self.person(noun)
        return [one] if one else []

    def may_be(self, noun: Noun) -> set[str]:
        """All people that a noun phrase may stand for; nobody is taken to be mentioned by it."""
        if noun.parts:
            return {one for part in noun.parts for one in self.may_be(part)}
        if id(noun) in self.resolved:
            return {self.resolved[id(noun)][1]}
        if noun.pronoun in ("everyone", "everybody") or is_in(noun.head, "groups"):
            return set(self.people)
        if noun.pronoun:
            wanted = next((one for one in ("he", "she", "they") if is_in(noun.pronoun, one)), "")
            return {key for key, one in self.people.items() if wanted and "they" in (wanted, one.gender)} | {
                key for key, one in self.people.items() if one.gender == wanted
            }
        known = self._known_person(noun) if self.is_person(noun) else None
        return {known} if known else set()

    def is_person(self, noun: Noun) -> bool:
        """Whether a noun phrase means a person: by a name, or a role or kinship as its head."""
        if noun.head and not noun.name and noun.head in self.asked_roles:
            return True
        if (
            not noun.pronoun
            and noun.head
            and not noun.name
            and any(noun.head in one.roles for one in self.people.values())
        ):
            return True
        if noun.pronoun or not noun.words:
            return noun.pronoun in ("he", "she", "him", "her")
        if noun.name:
            return noun.words[-1] == noun.name.split()[-1].lower() or vocabulary().person(noun.head) is not None
        return vocabulary().person(noun.head) is not None and not is_in(noun.head, "groups")

    def _mention(self, who: str) -> None:
        if who in self.recent:
            self.recent.remove(who)
        self.recent.append(who)

    def _known_person(self, noun: Noun) -> str | None:
        names = {name for name in noun.name.split() if not vocabulary().person(name.lower())} or set()
        owner = self.person(noun.owner, create=False) or "" if noun.owner else ""
        titles = {vocabulary().person(word) for word in noun.words if word in ("mr", "mrs", "miss", "ms")}
        for one in reversed(self.recent + [key for key in self.people if key not in self.recent]):
            person = self.people[one]
            if names and titles and person.gender in ("he", "she") and person.gender not in titles:
                continue  # "Mrs Oakes" is not "Mr Oakes"
            if names and names & person.names:
                titles = {name for name in names if vocabulary().person(name.lower())}
                if (names - titles and names - titles & person.names) or names <= person.names:
                    return one
            if (
                not names
                and noun.head in person.roles
                and not (owner and person.owner and owner != person.owner and not self._only(noun))
                and (owner != one or self._only(noun))
            ):
                rest = {word for word in noun.words if word != noun.head and word not in person.roles}
                if person.gender == "group" and not noun.plural:
                    continue
                if rest and person.traits and not rest & person.traits:
                    continue  # "the short guard" is not "the tall guard"
                if noun.det not in ("another", "second") and not (rest and noun.det in ("a", "an")):
                    return one
        near = any(self.is_person(other) for _, other in noun.places)  # "the lady next to her" is somebody else
        if (
            is_in(noun.head, "generic") and noun.det == "the" and not noun.owner and len(noun.words) == 1 and not near
        ):  # "her son ... the boy"
            gender = vocabulary().person(noun.head)
            same = [key for key, one in self.people.items() if one.gender == gender]
            unsure = [key for key, one in self.people.items() if one.gender == "they"]
            grown = any(self.people[key].roles and not self.people[key].roles & YOUNG for key in same)
            if noun.head in YOUNG and grown:
                return None  # "her grandfather ... the boy"
            return same[0] if len(same) == 1 and not unsure else None
        return None

    def _only(self, noun: Noun) -> bool:
        """Whether "her son" can only be the one son of whom the story has told."""
        personal = noun.owner is not None and not noun.owner.words
        return personal and sum(noun.head in one.roles for one in self.people.values()) == 1

    def _new_person(self, noun: Noun) -> str:
        names = {name for name in noun.name.split() if not vocabulary().person(name.lower())}
        roles = {word for word in noun.words if vocabulary().person(word)}
        roles |= {"doctor"} if "dr" in roles else set()
        gender = next((found for word in noun.words if (found := vocabulary().person(word)) in ("he", "she")), "")
        gender = gender or next(
            (vocabulary().names[name] for name in noun.name.split() if name in vocabulary().names), "they"
        )
        owner = ""
        if noun.owner is not None:
            owner = self.person(noun.owner) or (self._new_person(noun.owner) if noun.owner.words else "")
        traits = frozenset(noun.words) - roles - {name.lower() for name in noun.name.split()}
        traits = frozenset() if names or noun.owner else traits - {noun.head}
        key = noun.name or (noun.text if noun.owner else f"the {' '.join(noun.words)}")
        while key in self.people:
            key += "'"
        plural = noun.plural and not noun.name and not noun.parts
        gender = "group" if plural else gender
        roles = roles or set(noun.words[-1:]) - {name.lower() for name in names}
        self.people[key] = Person(key, names, roles, gender, owner, traits=traits, since=len(self.log))
        return key

    def _pronoun(self, pronoun: str, exclude: Sequence[str] = ()) -> str | None:
        wanted = next((one for one in ("he", "she", "they") if is_in(pronoun, one)), "")
        if pronoun == "who" and self.subjects:
            return self.subjects[-1]
        if wanted not in ("he", "she"):
            one = self.recent[-1] if wanted == "they" and len(self.recent) == 1 else None
            return one if one is not None and self.people[one].gender in ("they", "group") else None
        order: list[str] = []
        for one in [*reversed(self.subjects[-3:]), *reversed(self.recent)]:
            if one not in order and one not in exclude:
                order.append(one)
        sure = [one for one in order if self.people[one].gender == wanted]
        unsure = [
            one
            for one in order
            if self.people[one].gender == "they" and not is_in(next(iter(self.people[one].roles), ""), "groups")
        ]
        fits = [*sure, *unsure]
        if sure and unsure and order[0] in unsure and self.subjects and order[0] == self.subjects[-1]:
            fits = [unsure[0], *sure]
        if not fits:
            return None
        one = fits[0]
        if len(fits) > 1 and self.matters(one, fits[1]):
            goes_on = self.subjects and one == self.subjects[-1] and pronoun in ("he", "she")
            stranger = bool(sure) and one in unsure and not self.people[one].roles  # a name that may be of either
            p = SAME_SUBJECT if goes_on and not stranger else FIRST_CHOICE
            one = fits[self.fork.choose(p, 1.0 - p)]
        if one in unsure:
            self.people[one].gender = wanted
        self._mention(one)
        return one

    def matters(self, *people: str) -> bool:
        """Whether one of the people is asked about."""
        return any(
            self.minds & {*(name.lower() for name in self.people[who].names), *self.people[who].roles} for who in people
        )

    # things and places

    def thing(self, noun: Noun | None, *, create: bool = True) -> str | None:
        """The thing that a noun phrase stands for."""
        if noun is None or self.is_person(noun):
            return None
        if noun.parts:
            found = [self.thing(part, create=create) for part in noun.parts]
            return next((one for one in found if one), None)
        if noun.pronoun:
            return self._it(noun.pronoun)
        if id(noun) in self.called:
            return self.called[id(noun)][1]
        words, owner, whose = noun.words, "", ""
        if noun.owner is not None:  # "her bag" may be Ann's bag or Bea's: only names tell two bags apart
            owner = self.person(noun.owner, create=self.is_person(noun.owner)) or ""
            whose, owner = (owner, "") if not noun.owner.words else ("", owner)
        for key in [*reversed(self.focus), *(one for one in self.things if one not in self.focus)]:
            thing = self.things[key]
            mine, theirs = set(words), set(thing.words)
            same = words[-1] == thing.words[-1] and (mine <= theirs or theirs <= mine)
            same = same or (len(mine) == 1 and len(words[-1]) > 2 and thing.words[-1].endswith(words[-1]))
            same |= is_in(thing.words[-1], "partitives") and words[-1:] == thing.words[-2:-1]  # "slice of the cake"
            if words[-1] == thing.words[-1] and {"another", "other", "second"} & {*noun.text.lower().split()}:
                self.twins.add(key)
            if same and not (owner and thing.owner and owner != thing.owner) and noun.det not in ("another", "other"):
                fresh = noun.det in ("a", "an") or " own " in f" {noun.text} " or (mine > theirs and not noun.plural)
                if fresh and any(one.event.obj == key for one in self.log):
                    self.twins.add(key)  # "a cup", "the red cup": perhaps not the cup of before
                other = whose and thing.whose and whose != thing.whose and not self.finished
                if other and any(one.event.obj == key for one in self.log):
                    self.twins.add(key)  # "her medal", "his medal"
                thing.whose = whose or thing.whose
                self._focus(key)
                self.called[id(noun)] = noun, key
                return key
        if not create:  # "the chalk" may be what the story calls a box of chalk
            held = [one for one in self.things if {*words} <= {*self.things[one].words} and self._moved_once(one)]
            return held[0] if len(held) == 1 else None
        key = " ".join(words)
        while key in self.things:
            key += "'"
        self.things[key] = Thing(key, words, owner, noun.plural, whose)
        self._focus(key)
        self.called[id(noun)] = noun, key
        return key

    def _moved_once(self, key: str) -> bool:
        return any(one.event.obj == key for one in self.log)

    def _focus(self, key: str) -> None:
        self.focus.pop(key, None)
        self.focus[key] = self.sentence

    def _it(self, pronoun: str) -> str | None:
        if pronoun not in ("it", "them", "they", "itself", "themselves", "both", "one"):
            return None
        moved = [one.event.obj for one in self.log if isinstance(one.event, MoveEvent)]
        fits = [one for one in reversed(self.focus) if self.things[one].plural == (pronoun in ("them", "they", "both"))]
        fits = [one for one in fits if not is_in(self.things[one].words[-1], "signs")] or fits
        known = [one for one in fits if one in moved]
        # of two things named before this sentence, or both in it, the one asked about is what the story is about
        topical = [one for one in fits if singulars(self.things[one].words) & self.topics]
        if topical and self.focus[topical[0]] >= min(self.focus[fits[0]], self.sentence - 1):
            return topical[0]
        return next(iter(known or fits or list(reversed(self.focus))), None)

    def place(self, phrases: Sequence[tuple[str, Noun]]) -> Place | None:
        """The place that prepositional phrases give, with what follows to tell it apart."""
        phrases = [(prep, noun) for prep, noun in phrases if self.is_place(prep, noun)]
        starts = [
            n
            for n, (prep, _) in enumerate(phrases)
            if prep
            not in ("by", "beside", "near", "of", "outside", "opposite", "between", "next", "from", "up", "down")
        ] or [0]
        if not phrases:
            return None
        goal = next((n for n in starts if phrases[n][0] in ("into", "onto", "to")), starts[0])
        prep, noun = phrases[goal]
        if self.is_person(noun) and prep not in ("at", "in") and (who := self.person(noun)):
            return (
                Place("", (), frozenset(), f"with {noun.text}", who) if prep in ("to", "with", "by", "beside") else None
            )
        rest = phrases[goal + 1 :]
        around = {word for _, other in rest for word in other.words}
        if noun.owner is not None:
            around |= set(noun.owner.words)
        text = " ".join([prep, noun.text, *(f"{p} {n.text}" for p, n in rest)])
        text = (
            text.replace("into ", "in ", 1)
            if text.startswith("into ")
            else text.replace("onto ", "on ", 1)
            if text.startswith("onto ")
            else text
        )
        found = Place(SIDES.get(prep, ""), noun.words, frozenset(around), text)
        for known in self.places.values():  # the same words again: one place
            brief = known.side in ("", found.side) and _shortened(found.words, known.words)
            same = brief or (known.side == found.side and known.words == found.words)
            if same and (not found.around or known.around == found.around):
                return known
        self.places[found.key] = found
        self.last_place = found
        return found

    def is_place(self, prep: str, noun: Noun) -> bool:
        """Whether a phrase tells where, not when or how."""
        if not is_in(prep, "at") or noun.pronoun or not noun.words:
            return False
        return (
            not is_in(noun.head, "times")
            and not (is_in(noun.head, "no_places") and not noun.det and len(noun.words) == 1)
            and not noun.head.isdigit()
        )

    # events and minds

    def witnesses(self, actor: str, words: frozenset[str]) -> frozenset[str]:
        """Those who see what the actor does; where the story leaves it open, this reading chooses."""
        found = {actor}
        self.undecided.clear()
        room = self.people[actor].room if actor in self.people else frozenset[str]()
        for who, person in self.people.items():
            if who == actor:
                continue
            if self.sees(who, person, room, words):
                found.add(who)
        return frozenset(found)

    def sees(self, who: str, person: Person, room: frozenset[str], words: frozenset[str]) -> bool:
        """Whether a person sees what happens in a room, among things of these words."""
        if person.watching is False or who in self.pinned:
            return False
        together = bool(person.room and person.room & (room | words))
        if person.here is False and not together:
            return False
        if person.watching:
            return True
        p = SEES_IF_PRESENT if together or (person.here and not room) else SEES_IF_UNPLACED
        if person.here and room and not room & (self.here | person.room):
            p = 1.0 - SEES_IF_PRESENT
        self.undecided.add(who)
        if not self.matters(who):
            return p > 0.5
        return (self.fork.choose(p, 1.0 - p) == 0) if p > 0.5 else self.fork.choose(1.0 - p, p) == 1

    def mind(self, chain: Sequence[str], until: int | None = None) -> NestedBelief:
        """The innermost belief of a chain of minds; that of an empty chain is reality."""
        people = tuple(who for who, _ in groupby(chain)) or (REALITY,)
        mind = NestedBelief.along(people)
        for one in self.log[:until]:
            mind = mind.observe(one.event)
        while mind.others:
            mind = mind.others[0]
        return mind

    def reaching(self, chain: Sequence[str], thing: str) -> list[int]:
        """The numbers of the events about a thing that change the innermost belief of a chain of minds."""
        found = list[int]()
        for n, one in enumerate(self.log):
            event: MoveEvent | StatementEvent | None = one.event if one.event.obj == thing else None
            for who in chain:
                event = event.within(who, ()) if event is not None and event.reaches(who) else None
            found += [n] if event is not None else []
        return found

    def assume_start(self, thing: str, alone: str = "") -> None:
        """Take people that come into the story later to know where the thing was at the start, unless it was hidden."""
        first = next(
            (
                one
                for one in self.log
                if one.event.obj == thing and isinstance(one.event, MoveEvent) and one.verb != "believe"
            ),
            None,
        )
        if first is None or not isinstance(first.event, MoveEvent) or is_in(first.verb, "hiding"):
            return
        told = (
            {who for one in self.log if one.event.obj == thing for who in one.missed} | {self.things[thing].owner}
            if thing in self.things
            else set()
        )
        if not is_in(first.verb, "resting") and alone not in told:
            return
        if any(one.event.obj == thing for one in self.log[: self.log.index(first)]):
            return  # something was said or thought of it before
        late = frozenset(
            who
            for who, person in self.people.items()
            if person.since > self.log.index(first) and (who != alone or who in told)
        )
        first.event = replace(first.event, by=first.event.by | (late - first.missed))

    def where(self, chain: Sequence[str], thing: str, until: int | None = None) -> Place | None:
        """Where a thing is in the belief of a chain of minds; None if they do not know."""
        if until is None and len(chain) > 1 and (tuple(chain), thing) in self.stated:
            return self.stated[tuple(chain), thing]
        found = self.mind(chain, until).place_of(thing)
        if found is None:
            return None
        return self.places.get(found) or Place(
            "", (), frozenset(), f"{found} has it" if found in self.people else found, found
        )

    def moved(
        self,
        thing: str,
        place: Place,
        actor: str,
        by: frozenset[str],
        unseen: frozenset[str] = frozenset(),
        verb: str = "",
    ) -> None:
        """Log that a thing is now at a place, seen by some."""
        self.places.setdefault(place.key, place)
        event = MoveEvent(thing, place.key, by, unseen | {REALITY})
        absent = {who for who, one in self.people.items() if one.watching is False or one.here is False}
        undecided = frozenset(self.undecided)
        self.log.append(Happened(event, self.clause, actor, verb, self.sentence, place, absent - by, undecided))

    def believes(self, who: str, thing: str, place: Place, *, true: bool = False) -> None:
        """Log that somebody comes to believe that a thing is at a place."""
        self.places.setdefault(place.key, place)
        event = MoveEvent(thing, place.key, frozenset({who}), frozenset({REALITY}) if true else frozenset())
        self.log.append(Happened(event, self.clause, who, "believe", self.sentence, place))

    def told(self, speaker: str, thing: str, place: Place, hearers: Sequence[str], *, news: bool = False) -> None:
        """Log that somebody says to some that a thing is at a place. They trust it, but for those who know better.

        Nobody knows better of news: that somebody has moved it.
        """
        self.places.setdefault(place.key, place)
        heard = addressed = frozenset(hearers) - {speaker}
        for who, one in self.people.items():  # who is about may overhear it
            about = who and one.here and one.watching is not False and one.gender != "group"
            if about and who not in heard and who != speaker and self.matters(who) and self.fork.choose(0.8, 0.2):
                heard |= {who}
        truth = self.where((), thing)
        knowing = frozenset(
            who
            for who in heard
            if not news and truth and not truth.fits(place) and self._has_seen(who, thing)
            if (known := self.where((who,), thing)) and known.fits(truth)
        )
        event = StatementEvent(speaker, thing, place.key, heard, heard - knowing)
        overheard = heard - addressed
        self.log.append(Happened(event, self.clause, speaker, "say", self.sentence, place, open=overheard))

    def _has_seen(self, who: str, thing: str) -> bool:
        """Whether the story says that somebody saw where a thing is; to be there when it begins is not enough."""
        reached = [one.verb for one in self.log if one.event.obj == thing and one.event.reaches(who)]
        return bool(reached) and reached[-1] != "initial"

    def notices(self, who: str, one: Happened, *, sees: bool, openly: bool = True) -> None:
        """Change who sees a logged move."""
        event = one.event
        if not isinstance(event, MoveEvent) or one.actor == who or (one.verb == "initial" and not sees):
            return
        openly |= self.spotted.get((one.actor, who), -1) >= one.sentence
        if sees:
            event = replace(event, by=event.by | {who}) if openly else replace(event, unseen=event.unseen | {who})
            one.missed.discard(who)
            one.open -= {who}
            self._distrusts(who, one)
        else:
            event = replace(event, by=event.by - {who}, unseen=event.unseen - {who})
            one.missed.add(who)
        one.event = event

    def seen_by(self, people: Iterable[str], *, sees: bool = True) -> None:
        """Note that people see, or do not see, the moves told last."""
        for one in self.latest():
            for who in people:
                self.notices(who, one, sees=sees)

    def left(self, who: str) -> None:
        """Take somebody who leaves to have been there before, and to have seen what was not hidden from them."""
        for n, one in enumerate(self.log):
            lately = one.sentence >= self.sentence - 2 and not is_in(one.verb, "hiding")
            untold = who in one.open or n < self.people[who].since
            if lately and untold and who not in one.missed | self.untold:
                self.notices(who, one, sees=True)

    def unaware(self, who: str) -> None:
        """Take somebody who is told nothing not to have seen what the story does not say they saw."""
        self.untold.add(who)
        for one in self.log:
            if who in one.open and isinstance(one.event, MoveEvent):
                self.notices(who, one, sees=False)
            elif who in one.open and isinstance(one.event, StatementEvent):
                one.event = replace(one.event, hearers=one.event.hearers - {who}, trusting=one.event.trusting - {who})

    def _distrusts(self, who: str, seen: Happened) -> None:
        """Somebody who saw where a thing went does not believe what was said of it afterwards, if that was not so."""
        for said in self.log[self.log.index(seen) + 1 :]:
            if said.event.obj != seen.event.obj or said.place is None or seen.place is None:
                continue
            if isinstance(said.event, MoveEvent):
                return
            if not said.place.fits(seen.place):
                said.event = replace(said.event, trusting=said.event.trusting - {who})

    def overlooked(self, who: str, one: Happened) -> None:
        """Nobody who saw a move knows that this person saw it as well."""
        if isinstance(one.event, MoveEvent) and who in one.event.by and one.actor != who:
            one.event = replace(one.event, by=one.event.by - {who}, unseen=one.event.unseen | {who})

    def watched_unawares(self, who: str, one: Happened) -> None:
        """The actor of a move does not know that others see it."""
        if one.actor == who and isinstance(one.event, MoveEvent):
            one.event = replace(one.event, by=frozenset({who}), unseen=one.event.unseen | (one.event.by - {who}))

    def latest(self, thing: str | None = None) -> list[Happened]:
        """The moves told last: those of the last sentence that tells of one."""
        moves = [
            one
            for one in self.log
            if isinstance(one.event, MoveEvent) and one.verb != "believe" and thing in (None, one.event.obj)
        ]
        return [one for one in moves if one.sentence == moves[-1].sentence] if moves else []


def _shortened(words: tuple[str, ...], whole: tuple[str, ...]) -> bool:
    """Whether words may name briefly what others name: "tub" for "bathtub"."""
    return len(words) == 1 and len(words[0]) > 2 and whole[-1:] != words and "".join(whole).endswith(words[0])


def singulars(words: Sequence[str]) -> frozenset[str]:
    """The words in the singular."""
    return frozenset(singular(word) for word in words)
