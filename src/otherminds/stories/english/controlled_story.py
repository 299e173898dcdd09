"""Stories in the controlled form, read into episodes: what its clauses tell, as long as they leave nothing open.

A sentence is refused, with a reason that says what to change, if a word of it is not in the form, or if it is open what
a noun or pronoun stands for, who is where, or what happened first.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple, get_args

from otherminds.stories import model as stories
from otherminds.stories.beliefs.nested_beliefs import believed_place
from otherminds.stories.beliefs.perspectives import SALLY_ANNE
from otherminds.stories.english.controlled import PRONOUNS, SENTENCE, WORDS, Clause, parse, parse_question
from otherminds.stories.english.lexicon import lexicon, wordset
from otherminds.stories.english.story_state import relation as relation_of

VERBS: Mapping[str, stories.Verb] = {verb: verb for verb in get_args(stories.Verb)} | {"take": "grab"}
SPEECH_ACTS: Mapping[str, stories.SpeechAct] = {act: act for act in get_args(stories.SpeechAct)} | {"tell": "assert"}
ROOMS = wordset("rooms") - {"pantry", "closet"}  # in which things are only if people can be there
SPOTS = (WORDS["spots"] | wordset("persons") | wordset("kinds")) - wordset("rooms")  # to which people go within a room
KINDS: Mapping[str, stories.EntityKind] = {
    "entered": "room", "room": "room", "thing": "object", "place": "place", "source": "place",
}  # fmt: skip
NOUN_ROLES = KINDS.keys() | {"target", "owned"}
ANYTHING = ("open", "close", "look", "own")  # done with windows and phones as well: show no place of things
UNTOLD = ""  # the room of a person who was there from the start


class NotInFormError(ValueError):
    """A sentence is not in the controlled form, or leaves something open; the message says what to change."""


class Nouns:
    """The things, places and rooms of a story, by the words that name them."""

    def __init__(self, clauses: Sequence[Clause]) -> None:
        """Collect the nouns of all clauses: what people enter is a room, what they move a thing, where to a place."""
        self.owners: dict[str, set[str]] = {}
        self.kinds: dict[str, set[stories.EntityKind]] = {}
        self.names: dict[str, set[str]] = {}  # by head: "box" -> {"box", "red box", "blue box"}
        for clause in clauses:
            for role in NOUN_ROLES & clause.roles.keys():
                words = _words(clause.roles[role])
                self.names.setdefault(_head(words), set()).add(words)
        acts = [clause for clause in clauses if clause.kind not in (*ANYTHING, "at")]
        acts = [clause for clause in acts if clause.kind != "take" or "source" in clause.roles]  # not "takes a nap"
        for role, kind in KINDS.items():
            for clause in acts:
                self._note(clause.roles.get(role, "it"), kind)
        for clause in clauses:
            if not self.is_place(target := clause.roles.get("target", "it")):
                self._note(target, "room")
        statements = [clause.roles for clause in clauses if clause.kind == "at"]
        holders = {self.name(roles["place"]) for roles in statements if roles["place"] not in PRONOUNS}
        for roles in statements:
            holds = self.is_place(roles["thing"]) or self.name(roles["thing"]) in holders  # "the box is in the hall"
            self._note(roles["thing"], "place" if holds else "object")
            if holds:
                self._note(roles["place"], "room")
        for roles in statements:
            self._note(roles["place"], "place")

    def _note(self, phrase: str, kind: stories.EntityKind) -> None:
        if phrase not in PRONOUNS and not (kind == "place" and "room" in self.kinds_of(phrase)):
            self.kinds.setdefault(self.name(phrase), set()).add(kind)

    def name(self, phrase: str) -> str:
        """The noun of a phrase: the only longer one with all of its words, if there is one, or else its own words."""
        longest = self._longest(words := _words(phrase))
        return longest[0] if len(longest) == 1 else words

    def _longest(self, words: str) -> list[str]:
        """The longest nouns of the story that have all of these words."""
        longer = [name for name in self.names.get(_head(words), ()) if _is_part(words, name)]
        return [name for name in longer if not any(name != whole and _is_part(name, whole) for whole in longer)]

    def kinds_of(self, phrase: str) -> set[stories.EntityKind]:
        """What the noun of a phrase names, as far as the story tells."""
        return set() if phrase in PRONOUNS else self.kinds.get(self.name(phrase), set())

    def is_place(self, phrase: str) -> bool:
        """Whether a phrase names a place of things, by what is done there or, if nothing is, by the word itself."""
        kinds = self.kinds_of(phrase)
        return "place" in kinds or (
            not kinds and phrase not in PRONOUNS and _head(self.name(phrase)) in wordset("kinds")
        )

    def resolve(self, phrase: str, kind: stories.EntityKind) -> str:
        """The name of the noun in a phrase. Raises NotInFormError if it is open what it names, or of another kind."""
        name, determiner = self.name(phrase), phrase.partition(" ")[0]
        if len(self._longest(name)) > 1:
            raise NotInFormError(f"say which {name} is meant")
        owners = self.owners.setdefault(name, set())
        owners |= {determiner} & {"his", "her"}
        if len(owners) > 1:
            raise NotInFormError(f"say whose {name} is meant")
        kinds = self.kinds.get(name) or ({"place"} if self.is_place(phrase) else set())
        if kinds != {kind}:
            usage = " and ".join(sorted(kinds)) if kinds else "nothing that is put somewhere, and no place of things"
            raise NotInFormError(f"the {name} is used as {usage}")
        if kind == "place" and {name, _head(name)} & ROOMS:
            raise NotInFormError(f"say who enters the {name}")
        return name


def _words(phrase: str) -> str:
    """The words of a noun phrase without its article, in the singular; "Ann's box" keeps its owner."""
    determiner, _, noun_words = phrase.partition(" ")
    words = " ".join(lexicon().canonical(noun_words.replace("_", " ").split()))
    return f"{determiner} {words}" if determiner.endswith("'s") else words


def _head(name: str) -> str:
    return name.rpartition(" ")[2]


def _is_part(name: str, whole: str) -> bool:
    return {*name.split()} <= {*whole.split()}


class StoryReader:
    """The state of a story while its clauses are read one after the other."""

    def __init__(self, nouns: Nouns) -> None:
        """A reader before the first sentence; `nouns` tells which words name people, things, places and rooms."""
        self.nouns = nouns
        self.people: dict[str, None] = {}
        self.entities: dict[str, stories.Entity] = {}
        self.initial: list[stories.Fact] = []
        self.timeline: list[stories.Happening] = []
        self.relations: dict[str, stories.Relation] = {}  # whether things are said to be in or on a place
        self.rooms: dict[str, str | None] = {}  # of each person who has come or gone; None: away
        self.visited: dict[str, list[str]] = {}  # the rooms where each person has been
        self.foretold: dict[str, str] = {}  # of people: what "before she comes back" told, so that it may be told again
        self.where: dict[str, str] = {}  # of each thing: its place, or who holds it
        self.began = self.moved_from = (
            0  # the first happening of this sentence, and of the last in which a thing was moved
        )
        self.moved = self.thing = self.place = ""  # what was moved, named as a thing, and named as a place last
        self.named: tuple[str, ...] = ()  # the people of this sentence
        self.named_before: tuple[str, ...] = ()  # the people of the sentence before
        self.group: tuple[str, ...] = ()  # the last subject

    def read(self, clauses: Sequence[Clause]) -> None:
        """Read the clauses of one sentence. Raises NotInFormError."""
        self.named, self.named_before = (), self.named
        self.began, self.opened = self.now, False
        for clause in clauses:
            if "subject" in clause.roles:
                self.group = self.subject(clause.roles["subject"])
            match clause.kind:
                case "at":
                    self.state_place(clause.roles)
                case "leave":
                    self.leave(clause.roles)
                case "enter":
                    self.enter(clause.roles)
                case "put" | "move" | "take" | "open" | "close" | "look":
                    self.handle(VERBS[clause.kind], clause.roles)
                case "find" | "miss":
                    thing, place = self.find_thing(clause.roles), self.find_place(clause.roles)
                    self.observe(thing, place, sees=clause.kind == "find")
                    self._check_belief(clause.kind, thing, place)
                case "perceive" | "overlook":
                    self.watch(clause.roles, sees=clause.kind == "perceive")
                case "own":
                    owned = clause.roles["owned"]  # what nothing is done with, as "a cold", is no place of things
                    self.nouns.resolve(owned, next(iter(self.nouns.kinds_of(owned)), "place"))
                case _:
                    self.speak(SPEECH_ACTS[clause.kind], clause.roles)

    # who and what is named

    def subject(self, words: str) -> tuple[str, ...]:
        """The names of the people whom a subject names: `Ann and Bob`, or `they` for the last subject."""
        if words not in ("they", "both"):
            return tuple(self.person(name) for name in re.split(r",? and |, ", words.removeprefix("both ")))
        if len(self.group) < 2:
            raise NotInFormError('say who "they" are')
        return self.group

    def person(self, word: str) -> str:
        """The person whom a name stands for; a pronoun is the only one named in this sentence, or in the one before."""
        gender = {"him": "he", "her": "she"}.get(word, word)
        if gender in ("he", "she", "they"):
            antecedents = [name for name in self.named if name not in self.group or word == gender] or self.named_before
            candidates = [name for name in antecedents if lexicon().gender.get(name, gender) == gender]
            if len(candidates) != 1:
                raise NotInFormError(f'say who "{word}" is')
            word = candidates[0]
        self.people.setdefault(word)
        self.named = tuple(dict.fromkeys((*self.named, word)))
        return word

    def find_thing(self, roles: Mapping[str, str]) -> str:
        """The thing that a clause is about; "it" is the thing named last."""
        phrase = roles["thing"]
        self.thing = self.thing if phrase in PRONOUNS else self.nouns.resolve(phrase, "object")
        if not self.thing or (phrase in PRONOUNS and self.opened):
            raise NotInFormError(f'say what "{phrase}" is')
        self.entities.setdefault(self.thing, stories.Entity(self.thing, "object"))
        return self.thing

    def find_place(self, roles: Mapping[str, str], role: str = "place") -> str:
        """The place, or else the room, that a clause is about; "it" is the place named last."""
        phrase, preposition = roles[role], roles.get("to") or roles.get("at") or ""
        if "room" in self.nouns.kinds_of(phrase):
            return self.find_room(roles, role)
        self.place = self.place if phrase in PRONOUNS else self.nouns.resolve(phrase, "place")
        if not self.place:
            raise NotInFormError(f'say what "{phrase}" is')
        relation: stories.Relation | None = (
            "on" if preposition[:2] == "on" else "in" if preposition[:2] == "in" else None
        )
        room = self.find_room(roles, f"{role}_room") if f"{role}_room" in roles else None
        entity = self.entities.get(
            self.place, stories.Entity(self.place, "place", None, relation_of(_head(self.place)))
        )
        if relation and self.relations.setdefault(self.place, relation) != relation:
            raise NotInFormError(f"one thing is in the {self.place}, another on it")
        if room and entity.room not in (None, room):
            raise NotInFormError(f"the {self.place} is in two rooms")
        self.entities[self.place] = replace(entity, relation=relation or entity.relation, room=entity.room or room)
        return self.place

    def find_room(self, roles: Mapping[str, str], role: str = "room") -> str:
        """The id of the room that a role of a clause names, noted as a room of the story."""
        room = self.nouns.resolve(roles[role], "room")
        if _head(room) in SPOTS:
            raise NotInFormError(f"say whether somebody leaves the room who is at the {room}")
        self.entities.setdefault(room, stories.Entity(room, "room"))
        return room

    # what happens

    def state_place(self, roles: Mapping[str, str]) -> None:
        """Read where a thing is at the start, or in which room a place is."""
        if self.nouns.is_place(roles["thing"]):
            self.find_place({"place": roles["thing"], "place_room": roles["place"]})
            return
        thing, place = self.find_thing(roles), self.find_place(roles)
        if self.where.get(thing, place) != place:
            raise NotInFormError(f"say who moves the {thing} to the {place}")
        if thing not in self.where and None in self.rooms.values():
            raise NotInFormError(f"say where the {thing} is before anybody leaves")
        if thing not in self.where:
            self.initial.append(stories.Fact("at", thing, place))
            self.where[thing] = place

    def leave(self, roles: Mapping[str, str]) -> None:
        """Read that people leave a room, or are no longer there.

        Raises NotInFormError for somebody who is away already.
        """
        room = self.find_room(roles) if "room" in roles else None
        for agent in self._telling_of(roles, "leave"):
            current_room = self.rooms.get(agent, UNTOLD)
            if current_room is not None and (room is None or current_room in (UNTOLD, room)):
                self.timeline.append(stories.Event(self.now, agent, "leave", room=room or current_room or None))
                self.rooms[agent] = None
            elif not {"state", "frame"} & roles.keys():
                raise NotInFormError(f"{agent} is not there any more")

    def enter(self, roles: Mapping[str, str]) -> None:
        """Read that people come in or back, go to a place, or are somewhere."""
        if "target" in roles and self.nouns.is_place(roles["target"]):
            self.handle("walk", {role.replace("target", "place"): words for role, words in roles.items()})
            return
        role = next((role for role in ("entered", "target", "room") if role in roles), None)
        stated_room = self.find_room(roles, role) if role else None
        active = {event.speaker if isinstance(event, stories.Utterance) else event.agent for event in self.timeline}
        for agent in self._telling_of(roles, "enter"):
            current_room = self.rooms.get(agent, UNTOLD)
            room = stated_room if stated_room is not None else self._room_before(agent)
            if current_room and current_room == room:
                if not {"state", "frame"} & roles.keys():
                    raise NotInFormError(f"{agent} is in the {room} already")
            elif "state" in roles and current_room == UNTOLD and agent not in active:
                self.initial.append(stories.Fact("in_room", agent, room))
            else:
                self.timeline.append(stories.Event(self.now, agent, "enter", room=room))
            self._arrive(agent, room)

    def _telling_of(self, roles: Mapping[str, str], kind: str) -> list[str]:
        """The people who come or go, without those of whom "before" or "after" has told just that."""
        retold = [agent for agent in self.group if self.foretold.pop(agent, "") == kind and "frame" not in roles]
        self.foretold |= dict.fromkeys(self.group, kind) if "frame" in roles else {}
        return [agent for agent in self.group if agent not in retold]

    def _room_before(self, agent: str) -> str:
        """The room to which somebody comes back: the last one, or the one before that if they are still there."""
        current_room, visited = self.rooms.get(agent, UNTOLD), self.visited.get(agent, [])
        earlier = [room for room in visited if room != current_room]
        if not earlier and current_room and any(fact.predicate == "in_room" for fact in self.initial):
            raise NotInFormError(f"say to which room {agent} comes back")
        return earlier[-1] if earlier else UNTOLD

    def _arrive(self, agent: str, room: str) -> None:
        self.rooms[agent] = room
        self.visited.setdefault(agent, []).append(room)

    def handle(self, verb: stories.Verb, roles: Mapping[str, str]) -> None:
        """Read that people put, move or take a thing, open or close a place, or look into it or for a thing."""
        thing = self.find_thing(roles) if "thing" in roles else None
        source = self.find_place(roles, "source") if "source" in roles else None
        if thing and source and self.where.setdefault(thing, source) != source:
            raise NotInFormError(f"the {thing} is not in the {source}")
        place = self.find_place(roles) if "place" in roles else None
        for agent in self.group:
            current_room = self.rooms.get(agent, UNTOLD)
            if current_room is None:
                raise NotInFormError(f"say first that {agent} is back")
            rooms = [self._room_of(name, current_room) for name in (source, place) if name]
            room = rooms[-1] if rooms else None
            self.timeline.append(stories.Event(self.now, agent, verb, thing, place or source, room))
            if thing and verb != "look":
                self.moved, self.moved_from, self.where[thing] = thing, self.began, place or agent
            if room:
                self._arrive(agent, room)
        self.opened = verb in ANYTHING

    def _room_of(self, place: str, current_room: str) -> str | None:
        """The room of a place, which is where somebody is who uses it, unless the story tells another."""
        entity = self.entities[place]
        if entity.kind == "place" and entity.room is None and current_room:
            entity = self.entities[place] = replace(entity, room=current_room)
        return place if entity.kind == "room" else entity.room

    def watch(self, roles: Mapping[str, str], *, sees: bool) -> None:
        """Read that people see, or do not see, that the thing that was moved last is moved."""
        thing = self.find_thing(roles) if "thing" in roles else self.moved
        recent = [happening for happening in self.timeline[self.moved_from :] if isinstance(happening, stories.Event)]
        moves = [event for event in recent if event.obj == thing and event.verb != "look"]
        mover = self.person(roles["person"]) if "person" in roles else moves[-1].agent if moves else ""
        if not moves or {event.agent for event in moves} != {mover} or mover in self.group:
            raise NotInFormError("say first who moves what, and then who sees this")
        places = [mover if event.verb == "grab" else event.place or "" for event in moves]
        if "place" in roles and self.find_place(roles) != places[-1]:
            raise NotInFormError(f"say first that {mover} moves the {thing} there")
        for place in places:
            self.observe(thing, place, sees=sees)

    def observe(self, thing: str, place: str, *, sees: bool) -> None:
        """Add that people see, or do not see, a thing at a place, or in somebody's hands."""
        fact = stories.Fact("holds", place, thing) if place in self.people else stories.Fact("at", thing, place)
        self.timeline += [stories.Observation(self.now, agent, fact, sees) for agent in self.group]

    def _check_belief(self, kind: str, thing: str, place: str) -> None:
        """Raise NotInFormError if people are said to think what the story so far gives them no reason to think."""
        for agent in self.group if kind == "find" else ():
            if believed_place(self.episode, (agent,), thing, conventions=SALLY_ANNE) != place:
                raise NotInFormError(f"say how {agent} comes to think so")

    def speak(self, act: stories.SpeechAct, roles: Mapping[str, str]) -> None:
        """Read what people tell, ask or answer, each as an utterance of its own."""
        hearers = (self.person(roles["hearer"]),) if "hearer" in roles else ()
        thing = self.find_thing(roles) if "thing" in roles else None
        place = self.find_place(roles) if "place" in roles else None
        content = stories.Fact("at", thing, place) if thing else None
        self.timeline += [stories.Utterance(self.now, agent, act, content, hearers) for agent in self.group]

    @property
    def episode(self) -> stories.Episode:
        """The story so far."""
        entities = (*(stories.Entity(name, "agent") for name in self.people), *self.entities.values())
        return stories.Episode("", tuple(self.people), entities, tuple(self.initial), tuple(self.timeline))

    @property
    def now(self) -> int:
        """The time of the next happening."""
        return len(self.timeline)


class ControlledStory(NamedTuple):
    """A story in the controlled form, with its nouns, by which questions are read."""

    reading: stories.Reading
    nouns: Nouns

    def question(self, stem: str, options: Sequence[str]) -> stories.Question | None:
        """The question as data; without options, "yes" and "no", or all places where the thing has been.

        None if it is not in the form. Raises NotInFormError if it is about nothing in the story.
        """
        parsed = parse_question(stem)
        if parsed is None:
            return None
        episode, phrase = self.reading.episode, parsed.roles["thing"]
        untold = [name for name in parsed.minds if name not in episode.agents]
        untold += [] if self.nouns.kinds_of(phrase) else [phrase]
        if untold:
            raise NotInFormError(f"the story does not tell of {untold[0]}")
        thing = self.nouns.resolve(phrase, "object")
        starts = [-1 for fact in episode.init if thing in (fact.subject, fact.value)]
        starts += [event.t for event in episode.events if event.obj == thing]
        asked_time = min(starts) if parsed.early and starts else None
        if parsed.kind == "where":
            labels = tuple(options) or self._places(thing)
            places = [self._place(label) for label in labels]
            claims = [_believed(parsed.minds, thing, place, episode.agents) for place in places]
        else:
            place = self._place(parsed.roles["place"]) if parsed.kind == "whether" else None
            yes = _believed(parsed.minds, thing, place, episode.agents)
            labels = tuple(options) or ("Yes", "No")
            if {label.strip(" .").lower() for label in labels} != {"yes", "no"} or not isinstance(yes, stories.Belief):
                raise NotInFormError("the answers are yes and no")
            claims = [yes if label.strip(" .").lower() == "yes" else replace(yes, holds=False) for label in labels]
        answers = tuple(stories.AnswerOption((claim,)) for claim in claims)
        return stories.Question("", answers, at=asked_time, kind=parsed.kind, labels=labels)

    def _place(self, phrase: str) -> str:
        """The id of the place, room or person that an option names, with or without a preposition and an article."""
        words = re.sub(
            r"^(?:it is |it's )?(?:(?:in|on|at|into|inside|with|to) )?", "", phrase.strip(" ."), flags=re.IGNORECASE
        )
        if words in self.reading.episode.agents:
            return words
        determiner, _, noun_words = words.partition(" ")
        if noun_words and (determiner.lower() in WORDS["determiners"] or determiner.endswith("'s")):
            return self.nouns.name(f"{determiner} {noun_words.lower()}")
        return self.nouns.name(f"the {words.lower()}")

    def _places(self, thing: str) -> tuple[str, ...]:
        """All places where a thing is, was, or is said to be, and the people who held it; then the other places."""
        episode = self.reading.episode
        facts = [*episode.init, *(happening.content for happening in episode.utterances if happening.content)]
        facts += [happening.fact for happening in episode.timeline if isinstance(happening, stories.Observation)]
        places = [fact.value for fact in facts if fact.subject == thing and fact.predicate == "at"]
        places += [
            event.agent if event.verb == "grab" else event.place for event in episode.events if event.obj == thing
        ]
        return tuple(dict.fromkeys([place for place in places if place] + [*episode.named("place")]))


def _believed(
    minds: Sequence[str], thing: str, place: str | None, people: Sequence[str]
) -> stories.Belief | stories.Holds:
    """The claim that the last of some minds has a thing at a place; None: where the mind around it has it."""
    content: stories.Fact | stories.Belief = (
        stories.Fact("holds", place, thing) if place and place in people else stories.Fact("at", thing, place)
    )
    for agent in reversed(minds):
        content = stories.Belief(agent, content)
    return content if isinstance(content, stories.Belief) else stories.Holds(content)


def read_controlled(story: str) -> ControlledStory:
    """The episode of a story in the controlled form; `unread` has the sentences that are not, `clauses` the reasons."""
    sentences = [sentence for match in SENTENCE.finditer(story) if (sentence := match.group().strip())]
    clauses = [parse(sentence) for sentence in sentences]
    nouns = Nouns([clause for some in clauses for clause in some or ()])
    reader = StoryReader(nouns)
    accounts = []
    for sentence, parsed in zip(sentences, clauses, strict=True):
        before, reason = reader.now, "" if parsed else "it has words that are not in the controlled form"
        try:
            reader.read(parsed or ())
        except NotInFormError as error:
            reason = str(error)
        outcome: stories.Outcome = "unread" if reason else "event" if reader.now > before else "fact"
        accounts.append(stories.ClauseAccount(sentence, outcome, reason, before))
    unread = tuple(account.text for account in accounts if account.outcome == "unread")
    coverage = 1.0 - len(unread) / len(accounts) if accounts else 0.0
    return ControlledStory(stories.Reading(reader.episode, (), coverage, unread, tuple(accounts)), nouns)
