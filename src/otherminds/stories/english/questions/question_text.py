"""Reading questions about a story: what is asked, the options, and what the wording takes for granted."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from otherminds.errors import InputError
from otherminds.stories.english.events.statements import Reader, Unread
from otherminds.stories.english.questions.option_text import LONGEST, split_options
from otherminds.stories.english.questions.where_text import hypotheses, read_where
from otherminds.stories.english.sentences import plain
from otherminds.stories.model import (
    Belief,
    Claim,
    Episode,
    Event,
    Goal,
    Holds,
    Hypothesis,
    Knows,
    Polarity,
    Question,
    Reading,
    SocialGoal,
)

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


def _given(text: str, reader: Reader) -> tuple[Claim, ...]:
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


def _names_one(text: str, reader: Reader) -> bool:
    return any(re.search(rf"\b{re.escape(name)}\b", text) for name in reader.episode.agents)


def _asked_part(text: str) -> str:
    """The sentence that asks: the last one with a question mark, or the last one."""
    parts: list[str] = [part.strip() for part in re.findall(r"[^.?!\n]+[.?!]?", text) if part.strip()]
    asking = [part for part in parts if part.endswith("?")]
    return (asking or parts or [""])[-1]


def _focus(asked: str, reader: Reader, given: Sequence[Claim]) -> str | None:
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


def _presumed(reader: Reader, episode: Episode) -> tuple[Event, ...]:
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
