"""Reading questions about a story: what is asked, the options, and what the wording takes for granted."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from otherminds.errors import InputError
from otherminds.stories.english.chunks import chunks
from otherminds.stories.english.phrases import Chunk, Noun, VerbGroup, Word
from otherminds.stories.english.rewording import plainer
from otherminds.stories.english.sentences import LONGEST_SENTENCE, plain, sentences, tokens
from otherminds.stories.english.statements import StatementReader, Unread, noun_in, object_of, place_of
from otherminds.stories.model import (
    Belief,
    Claim,
    Episode,
    Event,
    Fact,
    Goal,
    Holds,
    Hypothesis,
    Knows,
    Observation,
    Polarity,
    Predicate,
    Question,
    Reading,
    SocialGoal,
    Utterance,
)

MARKS = (
    r"(?:^|(?<=\s))\(([a-zA-Z])\)\s*",
    r"(?:^|(?<=\s))([A-Z])\)\s*",
    r"(?:^|(?<=\s))([A-Z])\.\s+",
    r"^[^\S\n]*([A-Z]):\s+",
    r"(?:^|(?<=\s))([a-z])\)\s*",
    r"(?:^|(?<=\s))(\d{1,3})\)\s*",
    r"^[^\S\n]*(\d{1,3})\.\s+",
    r"(?:^|(?<=\s))\((\d{1,3})\)\s*",
)
STYLES = tuple(re.compile(mark, re.MULTILINE) for mark in MARKS)
FAREWELL = re.compile(
    r"(?:^|(?<=\S))\s*(?:please (?:respond|answer|reply|choose|select|give|output)|answer with|respond with"
    r"|choose one|select one|your answer|answer:).*$",
    re.IGNORECASE | re.DOTALL,
)
HEADING = re.compile(r"(?:^|(?<=\S))\s*(?:options|choices)\s*:?$", re.IGNORECASE)
LONGEST_QUESTION = 20_000


def split_options(text: str) -> tuple[str, tuple[str, ...]]:
    """The question and the options in a text such as "Which one? A) ... B) ..."; no options if there are none."""
    if len(text) > LONGEST_QUESTION:  # nobody reads it
        return text, ()
    for style in STYLES:
        marks = _consecutive(list(style.finditer(text)))
        if len(marks) > 1:
            ends = [mark.start() for mark in marks[1:]] + [len(text)]
            options = [text[mark.end() : end] for mark, end in zip(marks, ends, strict=True)]
            options[-1] = FAREWELL.sub("", options[-1])
            stem = HEADING.sub("", text[: marks[0].start()].rstrip())
            return stem.strip(), tuple(option.strip().rstrip(",;").strip() for option in options)
    return text.strip(), ()


def _consecutive(marks: list[re.Match[str]]) -> list[re.Match[str]]:
    """The marks that count from the first letter or number on."""
    found: list[re.Match[str]] = []
    for mark in marks:
        wanted = _number(found[-1][1]) + 1 if found else 1
        if _number(mark[1]) == wanted:
            found.append(mark)
    return found


def _number(mark: str) -> int:
    """The place of a letter or number in its order, from 1."""
    return int(mark) if mark.isdecimal() else ord(mark.lower()) - ord("a") + 1


MENTAL = ("think", "say", "look", "see", "want", "ask", "walk", "approach", "open", "return")
WHERE_ASKED = re.compile(
    r"\bwhere\b|\b(?:which|what) (?:one of the |of the |of these )?(?:\w+ )?"
    r"(?:place|location|container|room|spot|box|piece of furniture|drawer|basket|boxe|hiding place)s?\b"
)
TELLING = re.compile(r"\bwhere (?:did|has|had) \w+ (?:find|found|finally)")
NOT_SOUGHT = ("place", "location", "container", "spot", "room", "question", "story", "beginning", "start", "hiding")


@dataclass(frozen=True)
class WhereQuestion:
    """Whose belief about whose belief about which thing is asked for; `somebody`: the thing is a person."""

    agents: tuple[str, ...]
    thing: str
    somebody: bool = False


def read_where(text: str, reader: StatementReader) -> WhereQuestion | None:
    """What a question asks the place of; None if it asks something else. Raises Unread if it cannot be read."""
    low = text.lower()
    if not WHERE_ASKED.search(low) or "following" in low or TELLING.search(low):
        return None
    found = [token for sentence in sentences(tokens(plainer(text))) for token in sentence]
    if len(found) > LONGEST_SENTENCE:
        raise Unread(text)
    reader.read_names(found)
    pieces = chunks(found, reader.names)
    agents, last = _agents(pieces)
    things = [
        object_of(piece, reader.episode)
        for piece in pieces
        if isinstance(piece, Noun) and piece.kind == "object" and piece.words[-1] not in NOT_SOUGHT
    ]
    if last and not agents and things:
        raise Unread(text)  # somebody does something that is neither thinking nor searching
    if things:
        return WhereQuestion(tuple(agents), things[-1])
    return WhereQuestion((), last, somebody=True) if last and not agents else None


def _agents(pieces: Sequence[Chunk]) -> tuple[list[str], str | None]:
    """Whose beliefs are asked for, from the outermost to the innermost; and who was named last."""
    found: list[str] = []
    last: str | None = None
    for i, piece in enumerate(pieces):
        if not isinstance(piece, Noun):
            continue
        if piece.kind == "agent":
            last = piece.text
        elif piece.text not in ("he", "she", "they"):
            continue
        if last and _minds(pieces[i + 1 :]) and last not in found[-1:]:
            found.append(last)
    return found, last


def _minds(rest: Sequence[Chunk]) -> bool:
    """Whether the verb that follows is one of thinking or searching."""
    for piece in rest:
        if isinstance(piece, VerbGroup):
            return piece.means(*MENTAL)
        if not (isinstance(piece, Word) and piece.kind in ("adverb", "unknown", "hedge")):
            return False
    return False


def hypotheses(
    asked: WhereQuestion, options: Sequence[str], episode: Episode
) -> tuple[tuple[str, ...], tuple[Hypothesis, ...]]:
    """The options, or else all places there are, and what each of them claims. Raises Unread for what is no place."""
    if not any(entity.id == asked.thing for entity in episode.entities):
        raise Unread(f"where is the {asked.thing}")
    labels = tuple(options) or (_rooms(episode) if asked.somebody else _places(episode, asked.thing))
    if not labels:
        raise Unread(asked.thing)
    places = [_place_named(label, episode, asked.thing) for label in labels] if options else labels
    predicate: Predicate = "in_room" if asked.somebody else "at"
    facts = [Fact(predicate, asked.thing, place) for place in places]
    return labels, tuple(Hypothesis((_nested(asked.agents, fact),)) for fact in facts)


def _nested(agents: Sequence[str], fact: Fact) -> Claim:
    if not agents:
        return Holds(fact)
    claim: Belief = Belief(agents[-1], fact)
    for agent in reversed(agents[:-1]):
        claim = Belief(agent, claim)
    return claim


def _rooms(episode: Episode) -> tuple[str, ...]:
    return tuple(entity.id for entity in episode.entities if entity.kind == "room")


def _places(episode: Episode, thing: str) -> tuple[str, ...]:
    """The places where things can be: in or on them, or where the thing once was."""
    facts = [*episode.init, *(one.content for one in episode.timeline if isinstance(one, Utterance) and one.content)]
    facts += [one.fact for one in episode.timeline if isinstance(one, Observation)]
    been = {fact.value for fact in facts if fact.subject == thing}
    been |= {one.place for one in episode.timeline if isinstance(one, Event) and one.obj == thing}
    return tuple(
        e.id
        for e in episode.entities
        if (e.kind == "place" and (e.relation or e.id in been)) or (e.kind == "room" and e.id in been)
    )


def _place_named(text: str, episode: Episode, thing: str) -> str:
    """The place an option names. Raises Unread if it names none."""
    noun = noun_in(re.sub(r"^\s*\(?[A-Za-z1-9][).:]\s+", "", plain(text)), episode.agents)
    if noun is None or noun.kind in ("agent", "pronoun"):
        raise Unread(text.strip())
    return place_of(noun, episode, thing)


__all__ = ["Unread", "read_question", "split_options"]

LEAST = re.compile(
    r"\b(least|less|most un|most im|un|im)[\s-]?(likely|probable|plausible|possible|credible|believable|convincing"
    r"|reasonable|expected|apt|fitting|certain|consistent|supported)|\bleast\b|\bruled out\b|\bhardest to believe\b"
    r"|\bfurthest from the truth\b|\bmost (?:doubtful|far-fetched|dubious)\b",
    re.IGNORECASE,
)
SUPPOSING = re.compile(
    r"\b(?:if (?:we |you )?(?:suppose|assume|imagine|accept|grant|know|say|take it)(?: that)?"
    r"|if (?:it is|it was|it were|it's) (?:true|the case|so|a fact|known|given) that|if"
    r"|(?:^|(?<=[.?!:,;] )|(?<=\n))"
    r"(?:let us|let's|we may|we can|we will|we shall|you may|you can|you should|please|just|now)? ?"
    r"(?:assume|suppose|imagine|presume|say|grant|accept|picture|pretend|take it)(?: for a moment| now)?,?(?: that)?"
    r"(?= (?:it |the |(?-i:[A-Z])))|assuming(?: that)?|supposing(?: that)?|presuming(?: that)?|presupposing(?: that)?"
    r"|imagining(?: that)?|granting(?: that)?|accepting(?: that)?|given (?:that|the fact that"
    r"|as (?:read|a fact) that)|given(?= (?-i:[A-Z]))|provided(?: that)?"
    r"|providing(?: that)?|granted(?: that)?|considering(?: that)?|seeing(?: that| as)?|bearing in mind that"
    r"|keeping in mind that|knowing(?: that)?|taking(?: it)?(?: for granted| as (?:read|given)| as a given)?(?: that)?"
    r"|let it be (?:supposed|assumed|granted|given|said)(?: that)?|in (?:the event|case)(?: that)?"
    r"|it (?:is|may be|can be) (?:known|given|assumed|supposed|granted)(?: that)?"
    r"|(?:on|under|with|working on|starting from|operating on|proceeding on|going on|acting on|by)"
    r" (?:the|an?) (?:assumption|premise|supposition|hypothesis|understanding|basis|presumption|condition|knowledge)"
    r"(?: that)?|with(?= (?-i:[A-Z])\w* (?:knowing|aware|being|trying|wanting|having|helping|hindering|out to))"
    r"|on condition that|with it (?:known|given) that|as long as|so long as)[\s,]+"
    r"([^?]*?)(?:[,:;-]\s*(?=(?:and |then |so )*(?:of (?:the|these|those)|which|what|whose|where|who|tell|pick|choose"
    r"|select|then|how|in which|would|can you|now)\b)|[.?!:](?=\s|$)|$)",
    re.IGNORECASE,
)
STATED = re.compile(
    r"^(?!when|while|after|before|based|according|in |at |from |of |which|what|who|as |by |during)([^?]*?)[,;:-]\s*"
    r"(?:so |then |and |now |well )*(?:which|what|pick|choose)\b",
    re.IGNORECASE,
)
BEGINNING = re.compile(
    r"\b(at the (?:very )?(?:beginning|start|outset)|originally|initially|at first|in the beginning|to begin with"
    r"|first of all|to start with|before anything)\b|\bwhere was .* first\b",
    re.IGNORECASE,
)
LETTER = re.compile(r"^\s*\(?[A-Za-z1-9][).:]\s+")
WHEN_SPEAKING = re.compile(
    r"^(?:when|while|in|by|as) (?:\w+ ){0,2}"
    r"(?:giv\w+|answer\w*|reply\w*|speak\w*|respond\w*|provid\w+|talk\w*|telling|saying)[^,]{0,40},\s*",
    re.IGNORECASE,
)
ASKING = re.compile(r"\bwhich\b|\bwhere\b|\bwhat\b.*\bfollowing\b", re.IGNORECASE)


def read_question(text: str, options: Sequence[str], reading: Reading) -> Question:
    """Reads a question about the story; the options may be in the text.

    Raises Unread if the question or an option cannot be read, InputError if it is too long.
    """
    if len(text) + sum(map(len, options)) > LONGEST_QUESTION:
        raise InputError(
            f"the question is longer than {LONGEST_QUESTION:,} characters",
            hint="give only the question and its options",
        )
    if not options:
        text, options = split_options(text)
    even = plain(text)
    episode = reading.episode
    reader = StatementReader(episode)
    polarity: Polarity = "least" if LEAST.search(even) else "most"
    given = _given(even, reader)
    asked = _asked_part(even)
    reader.focus = _focus(asked, reader, given)
    if where := read_where(asked, reader):
        labels, places = hypotheses(where, options, episode)
        at = 0 if BEGINNING.search(even) and not where.agents else None
        return Question("", places, polarity, given, (), at, "where", labels)
    if not options:
        raise Unread(even.strip())
    if [option.strip(" .").lower() for option in options] in (["yes", "no"], ["no", "yes"]):
        return _yes_or_no(asked, tuple(options), reader, polarity, given)
    claims = [reader.read(_clean(option)) for option in options]
    kind = _kind(claims)
    presumes = _presumed(reader, episode) if kind == "belief_of_goal" else ()
    return Question("", tuple(Hypothesis(one) for one in claims), polarity, given, presumes, None, kind, tuple(options))


def _clean(option: str) -> str:
    """The option without its letter and without "when giving information"."""
    return WHEN_SPEAKING.sub("", LETTER.sub("", plain(option)).strip())


def _given(text: str, reader: StatementReader) -> tuple[Claim, ...]:
    """What the question supposes, in "if" clauses and in sentences of their own."""
    found: list[Claim] = []
    rest = text
    for match in SUPPOSING.finditer(text):
        found += reader.read(match[1])
        rest = rest.replace(match.group(), " ")
    for sentence in re.split(r"(?<=[.!])\s+", rest):
        named = _names_one(sentence, reader)
        if named and (told := STATED.match(sentence)) and _names_one(told[1], reader):
            found += reader.read(told[1])
        elif named and "?" not in sentence and not ASKING.search(sentence):
            found += reader.read(sentence)
    return tuple(found)


def _names_one(text: str, reader: StatementReader) -> bool:
    return any(re.search(rf"\b{re.escape(name)}\b", text) for name in reader.episode.agents)


def _asked_part(text: str) -> str:
    """The sentence that asks: the last one with a question mark, or the last one."""
    parts: list[str] = [part.strip() for part in re.findall(r"[^.?!\n]+[.?!]?", text) if part.strip()]
    asking = [part for part in parts if part.endswith("?")]
    return (asking or parts or [""])[-1]


def _focus(asked: str, reader: StatementReader, given: Sequence[Claim]) -> str | None:
    """Whom the options call "she": the only person in the sentence that asks, or whom it supposes something of."""
    names = [name for name in reader.names if re.search(rf"\b{re.escape(name)}\b", asked)]
    if len(names) != 1 and given:
        return given[0].agent if isinstance(given[0], (Belief, Goal, Knows, SocialGoal)) else None
    return names[0] if len(names) == 1 else None


def _kind(claims: Sequence[Sequence[Claim]]) -> str:
    every = [claim for one in claims for claim in one]
    if any(isinstance(claim, Belief) and isinstance(claim.content, Goal) for claim in every):
        return "belief_of_goal"
    if any(isinstance(claim, SocialGoal) for claim in every):
        return "social_goal"
    if all(isinstance(claim, Goal) for claim in every):
        return "goal"
    if all(isinstance(claim, (Belief, Knows)) for claim in every):
        return "belief"
    return "where" if all(isinstance(claim, Holds) for claim in every) else "belief"


def _presumed(reader: StatementReader, episode: Episode) -> tuple[Event, ...]:
    """What the options take for granted: that somebody moved the things, and where to, by the option that says it."""
    found: dict[tuple[str, str | None], Event] = {}
    for event in sorted(reader.moved, key=lambda one: -one.p):
        place = event.place if event.p == 1.0 else _told_place(event, episode) or event.place
        old = found.get((event.agent, event.obj))
        if old is None or (old.place is None and place):
            found[event.agent, event.obj] = replace(event, t=len(episode.timeline) + 1, place=place, p=1.0)
    return tuple(found.values())


def _told_place(event: Event, episode: Episode) -> str | None:
    """Where the story says that somebody put the thing last."""
    events = [one for one in episode.timeline if isinstance(one, Event)]
    mine = [one for one in events if (one.agent, one.obj) == (event.agent, event.obj) and one.verb in ("put", "move")]
    return next((one.place for one in reversed(mine) if one.place), None)


def _yes_or_no(
    asked: str, options: tuple[str, ...], reader: StatementReader, polarity: Polarity, given: tuple[Claim, ...]
) -> Question:
    """ "Does Ann think the milk is in the fridge?" """
    claims = reader.read(re.sub(r"^\s*(?:does|do|did|is|was)\s+", "", asked.rstrip(" ?"), flags=re.IGNORECASE))
    if len(claims) != 1 or not isinstance(claims[0], Belief):
        raise Unread(asked)
    yes = claims[0]
    both = {"yes": Hypothesis((yes,)), "no": Hypothesis((replace(yes, holds=not yes.holds),))}
    found = tuple(both[option.strip(" .").lower()] for option in options)
    return Question("", found, polarity, given, (), None, "belief", options)
