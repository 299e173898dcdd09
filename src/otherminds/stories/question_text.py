"""Reading questions about a story: what is asked, the options, and what the wording takes for granted."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from otherminds.errors import InputError
from otherminds.stories.chunks import chunks
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
    Question,
    Reading,
    SocialGoal,
    Utterance,
)  # fmt: skip
from otherminds.stories.phrases import Noun, VerbGroup, Word
from otherminds.stories.places import noun_in, object_of, place_of
from otherminds.stories.sentences import LONGEST_SENTENCE, plain, sentences, tokens
from otherminds.stories.statements import Reader, Unread
from otherminds.stories.wording import plainer

LONGEST = 20_000
LEAST = re.compile(
    r"\b(least|less|most un|most im|un|im)[\s-]?(likely|probable|plausible|possible|credible|believable|convincing|reasonable|expected|apt|fitting|certain|consistent|supported)|\bleast\b|\bruled out\b|\bhardest to believe\b",
    re.IGNORECASE,
)
SUPPOSING = re.compile(
    r"\b(?:if|assuming(?: that)?|suppos(?:e|ing)(?: that)?|given that|provided(?: that)?|granted(?: that)?|assume(?: that)?|imagine(?: that)?|"
    r"considering that|on the assumption that|on the premise that|knowing that|taking (?:it )?for granted that|say that|let us assume that|under the assumption that)\s+"
    r"([^?]*?)(?:,\s*(?=which|what|where|who|then|how|in which)|[.?!:](?=\s|$)|$)",
    re.IGNORECASE,
)
BEGINNING = re.compile(
    r"\b(at the (?:very )?(?:beginning|start|outset)|originally|initially|at first|in the beginning|to begin with|first of all|to start with|before anything)\b|\bwhere was .* first\b",
    re.IGNORECASE,
)
STYLES = tuple(
    re.compile(pattern, re.MULTILINE)
    for pattern in (
        r"(?:^|(?<=\s))\(([a-zA-Z])\)\s*",
        r"(?:^|(?<=\s))([A-Z])\)\s*",
        r"(?:^|(?<=\s))([A-Z])\.\s+",
        r"^\s*([A-Z]):\s+",
        r"(?:^|(?<=\s))([a-z])\)\s*",
        r"^\s*(\d)[.)]\s+",
        r"(?:^|(?<=\s))\((\d)\)\s*",
    )
)
FAREWELL = re.compile(
    r"\s*(?:please (?:respond|answer|reply|choose|select|give|output)|answer with|respond with|choose one|select one|your answer|answer:).*$",
    re.IGNORECASE | re.DOTALL,
)
MENTAL = ("think", "say", "look", "see", "want", "ask", "walk", "approach", "open", "return")


def split_options(text: str) -> tuple[str, tuple[str, ...]]:
    """The question and the options in a text such as "Which one? A) ... B) ..."; no options if there are none."""
    for style in STYLES:
        marks = _consecutive(list(style.finditer(text)))
        if len(marks) > 1:
            ends = [mark.start() for mark in marks[1:]] + [len(text)]
            options = [text[mark.end() : end] for mark, end in zip(marks, ends, strict=True)]
            options[-1] = FAREWELL.sub("", options[-1])
            stem = re.sub(r"\s*(?:options|choices)\s*:?\s*$", "", text[: marks[0].start()], flags=re.IGNORECASE)
            return stem.strip(), tuple(option.strip().rstrip(",;").strip() for option in options)
    return text.strip(), ()


def _consecutive(marks: list[re.Match[str]]) -> list[re.Match[str]]:
    """The marks that count from the first letter or number on."""
    found: list[re.Match[str]] = []
    for mark in marks:
        wanted = ord(found[-1][1]) + 1 if found else None
        if ord(mark[1]) == wanted or (wanted is None and mark[1] in "aA1"):
            found.append(mark)
    return found


def read_question(text: str, options: Sequence[str], reading: Reading) -> Question:
    """Reads a question about the story; options may be in the text. Raises Unread if it, or an option, cannot be read."""
    if len(text) + sum(map(len, options)) > LONGEST:
        raise InputError(
            f"the question is longer than {LONGEST:,} characters", hint="give only the question and its options"
        )
    if not options:
        text, options = split_options(text)
    even = plain(text)
    episode = reading.episode
    reader = Reader(episode)
    polarity: Polarity = "least" if LEAST.search(even) else "most"
    given = _given(even, reader)
    asked = _asked_part(even)
    reader.focus = _focus(asked, reader, given)
    if chain := _where(asked, reader):
        return _where_question(chain, tuple(options), episode, polarity, given, even)
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
    text = re.sub(r"^\s*\(?[A-Za-z1-9][).:]\s+", "", plain(option)).strip()
    return re.sub(
        r"^(?:when|while|in|by|as) (?:\w+ ){0,2}(?:giving|giv\w+|answer\w*|reply\w*|speak\w*|respond\w*|provid\w+|talk\w*|telling|saying)[^,]{0,40},\s*",
        "",
        text,
        flags=re.IGNORECASE,
    )


def _given(text: str, reader: Reader) -> tuple[Claim, ...]:
    """What the question supposes."""
    found: list[Claim] = []
    rest = text
    for match in SUPPOSING.finditer(text):
        found += reader.read(match[1])
        rest = rest.replace(match.group(), " ")
    for sentence in re.split(r"(?<=[.!])\s+", rest):
        named = any(re.search(rf"\b{re.escape(name)}\b", sentence) for name in reader.episode.agents)
        if (
            named
            and not sentence.rstrip().endswith("?")
            and "?" not in sentence
            and not re.search(r"\bwhich\b|\bwhere\b|\bwhat\b.*\bfollowing\b", sentence, re.IGNORECASE)
        ):
            found += reader.read(sentence)
    return tuple(found)


def _asked_part(text: str) -> str:
    """The sentence that asks: the last one with a question mark, or the last one."""
    parts = [part.strip() for part in re.findall(r"[^.?!\n]+[.?!]?", text) if part.strip()]
    asking = [part for part in parts if part.endswith("?")]
    return (asking or parts or [""])[-1]


def _focus(asked: str, reader: Reader, given: Sequence[Claim]) -> str | None:
    """Whom the options speak of as "she": the only person in the sentence that asks, or whom it supposes something of."""
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


def _presumed(reader: Reader, episode: Episode) -> tuple[Event, ...]:
    """What the options take for granted: that somebody moved the things, and where to, by the option that says it."""
    found: dict[tuple[str, str | None], Event] = {}
    for event in sorted(reader.moved, key=lambda one: -one.p):
        told = [
            one.place
            for one in episode.timeline
            if isinstance(one, Event)
            and one.agent == event.agent
            and one.obj == event.obj
            and one.verb in ("put", "move")
            and one.place
        ]
        place = event.place if event.p == 1.0 else (told[-1] if told else event.place)
        old = found.get((event.agent, event.obj))
        if old is None or (old.place is None and place):
            found[event.agent, event.obj] = replace(event, t=len(episode.timeline) + 1, place=place, p=1.0)
    return tuple(found.values())


# where-questions


def _where(asked: str, reader: Reader) -> tuple[list[str], str, bool] | None:
    """Whose belief about whose belief about which thing a question asks for; and whether the thing is somebody."""
    low = asked.lower()
    if (
        not re.search(
            r"\bwhere\b|\b(?:which|what) (?:\w+ )?(?:place|location|container|room|spot|box|one|piece|drawer|hiding|of the)\b",
            low,
        )
        or "following" in low
    ):
        return None
    asked = plainer(asked)
    found = [token for sentence in sentences(tokens(asked)) for token in sentence]
    if len(found) > LONGEST_SENTENCE:
        raise Unread(asked)
    reader.read_names(found)
    pieces = chunks(found, reader.names)
    chain: list[str] = []
    last: str | None = None
    thing: str | None = None
    for i, piece in enumerate(pieces):
        if not isinstance(piece, Noun):
            continue
        if piece.kind == "agent" or (piece.kind == "pronoun" and piece.words[0] in ("he", "she", "they")):
            name = piece.text if piece.kind == "agent" else last
            last = name or last
            if (
                name
                and _minds(pieces[i + 1 :])
                and "where" in [getattr(one, "text", "") for one in pieces[: i + 1]] + ["where"]
                and name not in chain[-1:]
            ):
                chain.append(name)
        elif piece.kind == "object" and piece.words[-1] not in (
            "place",
            "location",
            "container",
            "spot",
            "room",
            "question",
            "story",
            "beginning",
            "start",
            "hiding",
        ):
            thing = object_of(piece, reader.episode)
    if re.search(r"\bwhere (?:did|has|had) \w+ (?:find|found|finally)", low):
        return None
    if thing is None:
        return ([], last, True) if last and not chain else None
    return chain, thing, False


def _minds(rest: Sequence[object]) -> bool:
    """Whether the verb that follows is one of thinking or searching."""
    for piece in rest:
        if isinstance(piece, VerbGroup):
            return piece.means(*MENTAL)
        if not (isinstance(piece, Word) and piece.kind in ("adverb", "unknown", "hedge")):
            return False
    return False


def _where_question(
    chain: tuple[list[str], str, bool],
    options: Sequence[str],
    episode: Episode,
    polarity: Polarity,
    given: tuple[Claim, ...],
    text: str,
) -> Question:
    agents, thing, somebody = chain
    if not any(entity.id == thing for entity in episode.entities):
        raise Unread(text.strip())
    labels = tuple(options) or (_rooms(episode) if somebody else _places(episode, thing))
    if not labels:
        raise Unread(text.strip())
    places = [_place_named(label, episode, thing) for label in labels] if options else labels
    facts = [Fact("in_room" if somebody else "at", thing, place) for place in places]
    hypotheses = tuple(Hypothesis((_nested(agents, fact),)) for fact in facts)
    at = 0 if BEGINNING.search(text) and not agents else None
    return Question("", hypotheses, polarity, given, (), at, "where", tuple(labels))


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


def _yes_or_no(
    asked: str, options: tuple[str, ...], reader: Reader, polarity: Polarity, given: tuple[Claim, ...]
) -> Question:
    """ "Does Ann think the milk is in the fridge?" """
    claims = reader.read(re.sub(r"^\s*(?:does|do|did|is|was)\s+", "", asked.rstrip(" ?"), flags=re.IGNORECASE))
    if len(claims) != 1 or not isinstance(claims[0], Belief):
        raise Unread(asked)
    yes = claims[0]
    both = {"yes": Hypothesis((yes,)), "no": Hypothesis((replace(yes, holds=not yes.holds),))}
    found = tuple(both[option.strip(" .").lower()] for option in options)
    return Question("", found, polarity, given, (), None, "belief", options)
