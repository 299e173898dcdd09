"""The state of a story while it is read: who is where, what was spoken of, and what noun phrases stand for."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate, islice

from otherminds.stories import model as stories
from otherminds.stories.english.lexicon import lexicon, wordset
from otherminds.stories.english.phrases import Noun

FULFILLED_WITHIN = 20  # happenings after an intended act in which its fulfilment is looked for (chosen; not tuned)
LARGEST_CAST = 30  # agents; in a larger cast "everyone" stands for nobody (chosen, so that reading time stays linear)


@dataclass(eq=False)
class Spot:
    """A place: its kind, the words that tell it from others of the kind, and its room, if known."""

    kind: str
    extra: tuple[str, ...] = ()
    room: str | None = None
    ordinal: str = ""
    fresh: bool = False

    @property
    def id(self) -> str:
        """Its name: "third kitchen cabinet", "green box"."""
        return " ".join(part for part in (self.ordinal, self.room, *self.extra, self.kind) if part)


@dataclass
class AgentState:
    """Where an agent is (`spot` within `room`; `closed`: it closed that spot), and what it last dealt with.

    `hands` are the things in its hands, `things` and `spots` all that it dealt with, in order, `group` the things of
    its last act, `pair` the last such group of two, `seeks` what it looks for, `left` the room that it left.
    """

    room: str | None = None
    spot: Spot | None = None
    closed: bool = False
    hands: list[str | None] = field(default_factory=list)
    things: list[str] = field(default_factory=list)
    group: list[str] = field(default_factory=list)
    spots: list[Spot] = field(default_factory=list)
    seeks: str | None = None
    left: str | None = None
    pair: list[str] = field(default_factory=list)


def relation(kind: str) -> stories.Relation | None:
    """Whether things are in or on a place of this kind; None if the lexicon does not say."""
    places = lexicon().places
    return "in" if kind in places["inside"] else "on" if kind in places["on"] else None


@dataclass
class StoryState:
    """All that has been read of a story so far. What is read gets the `source` and the probability `p`.

    `asker` asked last, for `requested`; `pending` is whether the answer is still to come; `there` is the place or room
    that "there" stands for; `tentative` are events only intended ("went to get ..."); `mentioned` are the names told
    so far, also of people who have done nothing yet.
    """

    names: Sequence[str]
    source: stories.Source = "text"
    p: float = 1.0
    story_rooms: frozenset[str] = frozenset()
    holders: frozenset[str] = frozenset()
    numbered: bool = False
    agents: list[str] = field(default_factory=list)
    spots: list[Spot] = field(default_factory=list)
    objects: list[str] = field(default_factory=list)
    rooms: list[str] = field(default_factory=list)
    agent_states: dict[str, AgentState] = field(default_factory=dict)
    where: dict[str, Spot | None] = field(default_factory=dict)
    initial: list[tuple[stories.Fact, Spot | None]] = field(default_factory=list)
    rooms_of_spots: dict[str, str | None] = field(default_factory=dict)
    timeline: list[tuple[stories.Happening, Spot | None]] = field(default_factory=list)
    tentative: list[stories.Event] = field(default_factory=list)
    subjects: list[str] = field(default_factory=list)
    spoken: list[str] = field(default_factory=list)
    asker: str | None = None
    requested: str | None = None
    pending: bool = False
    handled: set[str] = field(default_factory=set)
    last_room: str | None = None
    last_moved: str | None = None
    there: Spot | str | None = None
    genders: dict[str, str] = field(default_factory=dict)
    mentioned: set[str] = field(default_factory=set)

    def of(self, agent: str) -> AgentState:
        """The state of an agent, who is in the story from now on."""
        if agent not in self.agent_states:
            self.agent_states[agent] = AgentState()
            self.agents.append(agent)
        return self.agent_states[agent]

    def emit(self, happening: stories.Happening, spot: Spot | None = None) -> None:
        """Adds something that happened; the spot becomes its place at the end, when the spot's room is known."""
        self.timeline.append((happening, spot))

    @property
    def size(self) -> tuple[int, int]:
        """The numbers of happenings, and of facts and places, told so far."""
        return len(self.timeline), len(self.initial) + len(self.rooms_of_spots) + len(self.rooms)

    def events_of(self, agent: str) -> list[stories.Event]:
        """What an agent has done so far."""
        return [event for event, _ in self.timeline if isinstance(event, stories.Event) and event.agent == agent]

    # rooms and places

    def room(self, noun: Noun) -> str | None:
        """The room a noun phrase stands for; None for "the room"."""
        text = noun.text
        if text == "room" or noun.words[0] in ("other", "another"):
            return None
        if text not in self.rooms:
            self.rooms.append(text)
        self.last_room = self.there = text
        return text

    def spot(self, noun: Noun, agent: str | None) -> Spot:
        """The place a noun phrase stands for, when `agent` deals with it (None: somebody speaks of it)."""
        kind = lexicon().kind_of(noun.words) or noun.words[-1]
        extra = tuple(noun.words[: len(noun.words) - len(kind.split())])
        ordinal = noun.ordinal if self.numbered or noun.ordinal == "other" else ""
        query = Spot(kind, extra, noun.room or None, ordinal, fresh=noun.det in wordset("new"))
        spot = self._exact(query) if noun.room or ordinal else self._near(query, noun, agent)
        spot = self._same_id(spot) or spot
        if spot in self.spots:
            self.spots.remove(spot)
        self.spots.append(spot)
        if spot.room and spot.room not in self.rooms:
            self.rooms.append(spot.room)
        self.there = spot
        if agent:
            self.of(agent).spots.append(spot)
        return spot

    def _exact(self, query: Spot) -> Spot:
        """The place of the story that a name with a room or a number means, or the name itself as a new place."""
        if not query.room:
            same_number = [s for s in self.spots if s.kind == query.kind and s.ordinal == query.ordinal]
            query.room = self.last_room
            return same_number[-1] if same_number else query
        if exact := next((s for s in self.spots if s.id == query.id), None):
            return exact
        roomless = [s for s in self.spots if s.room is None and not s.fresh and not query.ordinal]
        spot = next((s for s in roomless if s.kind == query.kind and s.extra == query.extra), query)
        spot.room = query.room
        return spot

    def _near(self, query: Spot, noun: Noun, agent: str | None) -> Spot:
        """The place of a name without a room: one spoken of before, or one in the room where the agent is."""
        places = lexicon().places
        other_name = places["like"].get(query.kind, query.kind)
        alike = self.alike(query) or self.alike(Spot(other_name, query.extra))
        spot = self.of(agent).spot if agent else None
        if spot in alike and spot is not None and noun.det not in ("another", "other", "second", "third"):
            return spot
        home = places["home"].get(query.kind)
        if home:
            query.room = home if home in self.story_rooms else None
        if home or (noun.det == "same" and alike) or query.kind not in wordset("furniture") or query.extra:
            return alike[-1] if alike else query
        room = self.of(agent).room if agent else None if self.agents else self.last_room
        rooms = places["rooms_of"].get(query.kind)
        if room is None or room in wordset("anywhere") or (rooms is not None and room not in rooms):
            return alike[-1] if alike and not query.fresh else (self._same_id(query) or query)
        in_here = [candidate for candidate in alike if candidate.room == room]
        roomless = [candidate for candidate in alike if candidate.room is None and not candidate.fresh]
        nearest = (in_here or roomless or [query])[-1]
        query.room = nearest.room = room
        return nearest

    def _same_id(self, query: Spot) -> Spot | None:
        tail = query.kind[-3:]
        return next((spot for spot in self.spots if spot.kind[-3:] == tail and spot.id == query.id), None)

    def alike(self, query: Spot) -> list[Spot]:
        """The places that a shorter name may stand for, the last mentioned at the end."""
        alike = [spot for spot in self.spots if f" {spot.kind}".endswith(f" {query.kind}")]
        return [spot for spot in alike if set(query.extra) <= set(spot.extra)]

    # things

    def thing(self, noun: Noun, agent: str | None) -> str | None:
        """The object a noun phrase stands for; None for "something"."""
        if noun.kind in ("pronoun", "one", "vague"):
            thing = self._meant(noun, agent)
        else:
            thing = same_object(noun, self.objects) or noun.text
        if thing:
            self.mention(thing, agent)
        return thing

    def mention(self, thing: str, agent: str | None) -> None:
        """Notes that an object was spoken of, by or about `agent` if given, so that "it" may mean it."""
        self.spoken.append(thing)
        if thing not in self.objects:
            self.objects.append(thing)
        if agent:
            self.of(agent).things.append(thing)

    def _meant(self, noun: Noun, agent: str | None) -> str | None:
        """The object that a pronoun, "the former" or "the other" stands for."""
        state = self.of(agent) if agent else AgentState()
        if noun.kind == "vague":
            return state.hands[-1] if state.hands and noun.det in ("the", "same", "this", "that") else None
        if noun.words[0] in ("former", "latter"):
            last = state.pair[::-1] or list(dict.fromkeys(reversed(self.spoken)))[:2]
            return (last[-1] if noun.words[0] == "former" else last[0]) if last else None
        things = state.things
        if noun.words[0] == "other" and agent:
            return next((thing for thing in state.group if thing != (things or [""])[-1]), None)
        return things[-1] if things else self.spoken[-1] if self.spoken else None

    # people

    def person(self, noun: Noun, subject: Sequence[str] = (), *, reply: bool = False) -> list[str]:
        """The agents a noun phrase stands for; empty if that is unclear. It cannot be the `subject`.

        With `reply` a pronoun stands for the agent who was asked rather than for the one who asked.
        """
        word = noun.words[0]
        if noun.kind == "agent":
            relational = noun.owner and noun.words[-1] in wordset("relational") and len(self.names) == 2
            if noun.text in self.names or noun.text in self.agent_states or not relational:
                return [noun.text]
            candidates = [name for name in self.names if name not in (subject or self.subjects[:1])]  # "her friend"
            return candidates if len(candidates) == 1 else []
        if word in ("everyone", "everybody"):
            return list(self.agents) if len(self.agents) <= LARGEST_CAST else []
        if word in ("they", "them", "both", "we", "each", "themselves", "us"):
            if len(self.agents) == 2:
                return list(self.agents)
            return list(self.subjects) if len(self.subjects) > 1 else []
        if word in ("i", "me"):
            return list(subject)
        if word not in ("he", "she", "him", "her", "who", "himself", "herself") and noun.kind != "one":
            return []
        return self._single({"him": "he", "her": "she"}.get(word, word), subject, reply=reply)

    def _single(self, word: str, subject: Sequence[str], *, reply: bool) -> list[str]:
        """The agent that "he" or "she" stands for: the last subject, or else the last agent of that gender."""
        recent = [*self.subjects, *reversed(self.agents)] if len(self.subjects) == 1 else list(reversed(self.agents))
        if reply and self.asker and len(self.agents) > 1:
            recent = [agent for agent in recent if agent != self.asker] + [self.asker]
        recent = [agent for agent in dict.fromkeys(recent) if agent not in subject]
        recent = recent or [agent for agent in self.names[:1] if agent not in subject]  # "once he had come in, Ben ..."
        fitting = recent
        if word in ("he", "she"):
            gender = lexicon().gender
            fitting = [agent for agent in recent if gender.get(agent, self.genders.get(agent, word)) == word]
            mentioned = [agent for agent in self.mentioned if gender.get(agent) == word and agent not in subject]
            fitting = fitting or (mentioned if len(mentioned) == 1 else recent)  # "they belonged to Emily. She ..."
        if len(recent) == 1 and subject:
            self.genders.setdefault(recent[0], word)
        unclear = not subject and len([agent for agent in self.subjects if agent in fitting]) > 1
        return [] if unclear else fitting[:1]

    def other(self, agent: str) -> str | None:
        """The only other agent there is; None if there are none or several."""
        candidates = [name for name in dict.fromkeys([*self.agents, *self.names]) if name != agent]
        return candidates[0] if len(candidates) == 1 else None

    # the end

    def reading(
        self, coverage: float, unread: Sequence[str] = (), clauses: Sequence[stories.ClauseAccount] = ()
    ) -> stories.Reading:
        """All that was read as an episode, with the share of the story that was understood and what was not."""
        dropped = unfulfilled(self)
        happenings = [(happening, spot) for happening, spot in self.timeline if id(happening) not in dropped]
        timeline = tuple(_placed(happening, spot, t) for t, (happening, spot) in enumerate(happenings))
        initial = tuple(dict.fromkeys(replace(fact, value=spot.id) if spot else fact for fact, spot in self.initial))
        episode = stories.Episode("", tuple(self.agents), self.entities(), initial, timeline)
        before = [0, *accumulate(int(id(happening) not in dropped) for happening, _ in self.timeline)]
        accounts = tuple(replace(clause, t=before[clause.t]) for clause in clauses)
        return stories.Reading(episode, (), coverage, tuple(unread), accounts)

    def entities(self) -> tuple[stories.Entity, ...]:
        """All people, things, places and rooms of the story so far."""
        spots = {spot.id: spot for spot in self.spots}
        rooms = {name: spot.room or self.rooms_of_spots.get(name) for name, spot in spots.items()}
        return (
            *(stories.Entity(agent, "agent") for agent in self.agents),
            *(stories.Entity(thing, "object") for thing in self.objects if thing and thing not in spots),
            *(stories.Entity(name, "place", rooms[name], relation(spot.kind)) for name, spot in spots.items()),
            *(stories.Entity(room, "room") for room in self.rooms),
        )


def same_object(noun: Noun, objects: Sequence[str]) -> str | None:
    """The known object that a noun phrase stands for: of that name, or the only one with some of its adjectives."""
    if noun.text in objects:
        return noun.text
    extra = set(noun.words[:-1])
    alike = []
    for name in objects:
        *adjectives, head = name.split()
        if head == noun.words[-1] and (set(adjectives) <= extra or extra <= set(adjectives)):
            alike.append(name)
    return alike[0] if len(alike) == 1 else None


def unfulfilled(story: StoryState) -> set[int]:
    """The identities (`id`) of events that were only intended, and that the rest of the story does not bear out."""
    places = {id(happening): place for place, (happening, _) in enumerate(story.timeline)}
    handled: dict[tuple[str, str | None], list[tuple[int, str]]] = {}
    for place, (happening, _) in enumerate(story.timeline):
        if isinstance(happening, stories.Event) and happening.verb in ("grab", "put", "move"):
            handled.setdefault((happening.agent, happening.obj), []).append((place, happening.verb))
    return {id(event) for event in story.tentative if not _borne_out(event, places[id(event)], story, handled)}


def _borne_out(
    event: stories.Event, index: int, story: StoryState, handled: Mapping[tuple[str, str | None], list[tuple[int, str]]]
) -> bool:
    """Whether an intended event must have happened.

    Going always does; opening, if something is taken from the place, or it is closed, next; taking, if the thing is put
    somewhere later; putting, if it was held and is not handled again.
    """
    if event.verb in ("open", "close"):
        spot = story.timeline[index][1]
        later = islice(story.timeline, index + 1, index + 1 + FULFILLED_WITHIN)
        own_acts = [(h, spot_then) for h, spot_then in later if isinstance(h, stories.Event) and h.agent == event.agent]
        return any(spot_then is spot and h.verb in ("grab", "close", "put") for h, spot_then in own_acts[:2])
    acts = handled.get((event.agent, event.obj), [])
    acts_before = bisect(acts, (index, "zzz"))
    if event.verb == "grab" and event.source == "video":
        return True  # "bends over to pick up the cup": a caption tells what is seen
    if event.verb == "grab":
        return acts_before < len(acts) and acts[acts_before][1] != "grab"
    if event.verb in ("put", "move"):
        return acts_before == len(acts) and any(verb == "grab" for _, verb in acts[: acts_before - 1])
    return event.verb in ("walk", "enter", "leave", "wait")


def _placed(happening: stories.Happening, spot: Spot | None, t: int) -> stories.Happening:
    """The happening with its time and, now that its room is known, its place."""
    if isinstance(happening, stories.Event):
        return replace(
            happening,
            t=t,
            place=spot.id if spot else happening.place,
            room=happening.room or (spot.room if spot else None),
        )
    if isinstance(happening, stories.Utterance):
        fact = happening.content
        return replace(happening, t=t, content=replace(fact, value=spot.id) if spot and fact else fact)
    return replace(happening, t=t, fact=replace(happening.fact, value=spot.id) if spot else happening.fact)
