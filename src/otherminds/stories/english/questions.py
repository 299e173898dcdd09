"""Questions about a story: what is asked, of whose mind, with which options, and what the wording takes for granted.

`split_options` takes the options out of a text, `read_question` reads it. Questions where something is are read by
`read_where`, everything else as statements about minds (statements.py).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from otherminds.errors import InputError
from otherminds.stories import model as stories
from otherminds.stories.english.lexicon import wordset
from otherminds.stories.english.phrases import Noun, VerbGroup, Word
from otherminds.stories.english.rewording import TABLE, plainer
from otherminds.stories.english.sentences import plain, sentences, tokens
from otherminds.stories.english.statements import StatementReader, Unread, noun_in, object_of, place_of

__all__ = ["LONGEST_QUESTION", "WORDINGS", "Unread", "read_question", "split_options"]

AFTERWARDS = re.compile(
    r"^\s*(?:after|when|once|before|while|as soon as)\b[^,?]*,\s*(?=where\b|in which\b)", re.IGNORECASE
)
LONGEST_QUESTION = 20_000  # characters, options included (chosen; far longer than any benchmark's question)

QUESTION = TABLE["question"]  # patterns of questions, explained in rewording.toml
OPTION_MARKS = tuple(re.compile(mark, re.MULTILINE) for mark in QUESTION["option_marks"])
WORDINGS = {name: re.compile("".join(parts)) for name, parts in QUESTION.items() if name != "option_marks"}


# options


def split_options(text: str) -> tuple[str, tuple[str, ...]]:
    """The question and the options in a text such as "Which one? A) ... B) ..."; no options if it has none."""
    if len(text) > LONGEST_QUESTION:
        return text, ()
    for style in OPTION_MARKS:
        marks: list[re.Match[str]] = []
        for mark in style.finditer(text):  # those that count from A, or from 1
            number = int(mark[1]) if mark[1].isdecimal() else ord(mark[1].lower()) - ord("a") + 1
            if number == len(marks) + 1:
                marks.append(mark)
        if len(marks) > 1:
            ends = [mark.start() for mark in marks[1:]] + [len(text)]
            options = [text[mark.end() : end] for mark, end in zip(marks, ends, strict=True)]
            options[-1] = WORDINGS["farewell"].sub("", options[-1])
            stem = WORDINGS["heading"].sub("", text[: marks[0].start()].rstrip())
            return stem.strip(), tuple(option.strip().rstrip(",;").strip() for option in options)
    return text.strip(), ()


# questions


def read_question(text: str, options: Sequence[str], reading: stories.Reading) -> stories.Question:
    """The question that a text asks about a story; the options may be in the text.

    Raises Unread if the question or an option cannot be read, InputError if it is longer than 20,000 characters.
    """
    if len(text) + sum(map(len, options)) > LONGEST_QUESTION:
        hint = "give only the question and its options"
        raise InputError(f"the question is longer than {LONGEST_QUESTION:,} characters", hint=hint)
    if not options:
        text, options = split_options(text)
    return _read_question(text, options, reading)


def _read_question(text: str, options: Sequence[str], reading: stories.Reading) -> stories.Question:
    """The question as data, from its words and its options. Raises Unread if a part of it cannot be read."""
    unaddressed = _without_address(text)
    episode = reading.episode
    reader = StatementReader(episode)
    polarity: stories.Polarity = "least" if WORDINGS["least"].search(unaddressed) else "most"
    conditions = _given(unaddressed, reader)
    parts: list[str] = [part.strip() for part in re.findall(r"[^.?!\n]+[.?!]?", unaddressed) if part.strip()]
    question = ([part for part in parts if part.endswith("?")] or parts or [""])[-1]
    names = [name for name in reader.names if _names(question, name)]
    if len(names) == 1:
        reader.focus = names[0]
    elif conditions and isinstance(conditions[0], (stories.Belief, stories.Goal, stories.Knows, stories.SocialGoal)):
        reader.focus = conditions[0].agent
    if sought := read_where(question, reader):
        labels, places = hypotheses(*sought, options, episode)
        asked_time = 0 if WORDINGS["beginning"].search(unaddressed) and not sought[0] else None
        return stories.Question("", places, polarity, conditions, (), asked_time, "where", labels)
    if not options:
        raise Unread(unaddressed.strip())
    if sorted(option.strip(" .").lower() for option in options) == ["no", "yes"]:
        answers = _yes_or_no(question, options, reader)
        return stories.Question("", answers, polarity, conditions, (), None, "belief", tuple(options))
    bare = (WORDINGS["letter"].sub("", _without_address(option)).strip() for option in options)
    claims = [reader.read(WORDINGS["when_speaking"].sub("", option)) for option in bare]
    kind = _kind([claim for option_claims in claims for claim in option_claims])
    presumes = _presumed(reader.moved, reading) if kind == "belief_of_goal" else ()
    answers = tuple(map(stories.AnswerOption, claims))
    return stories.Question("", answers, polarity, conditions, presumes, None, kind, tuple(options))


def _without_address(text: str) -> str:
    """The text with plain marks, without words to the listener: "if we take it, my dear, that ..."."""
    return WORDINGS["address"].sub("", plain(text))


def _names(text: str, *names: str) -> bool:
    """Whether a text has one of the names in it."""
    return any(re.search(rf"\b{re.escape(name)}\b", text) for name in names)


def _given(text: str, reader: StatementReader) -> tuple[stories.Claim, ...]:
    """What the question supposes, in "if" clauses and in sentences of their own."""
    claims: list[stories.Claim] = []
    remaining = text
    for match in WORDINGS["supposing"].finditer(text):
        claims += reader.read(match[1])
        remaining = remaining.replace(match.group(), " ")
    for sentence in re.split(r"(?<=[.!])\s+", remaining):
        if not _names(sentence, *reader.episode.agents):
            continue
        if (statement := WORDINGS["stated"].match(sentence)) and _names(statement[1], *reader.episode.agents):
            claims += reader.read(statement[1])
        elif "?" not in sentence and not WORDINGS["asking"].search(sentence):
            claims += reader.read(sentence)
    return tuple(claims)


def _kind(claims: Sequence[stories.Claim]) -> str:
    """The kind of a question, by the claims of its options."""
    if any(isinstance(claim, stories.Belief) and isinstance(claim.content, stories.Goal) for claim in claims):
        return "belief_of_goal"
    if any(isinstance(claim, stories.SocialGoal) for claim in claims):
        return "social_goal"
    if all(isinstance(claim, stories.Goal) for claim in claims):
        return "goal"
    return "where" if all(isinstance(claim, stories.Holds) for claim in claims) else "belief"


def _presumed(moves: Sequence[stories.Event], reading: stories.Reading) -> tuple[stories.Event, ...]:
    """The moves that the options take for granted; where to, by the option that says it, or else by the story.

    If neither says it, it is where an option says that somebody wanted the thing, unless the story has clauses that
    were not read, which may tell it.
    """
    episode = reading.episode
    events = [e for e in episode.events if e.place]
    place_put = {(e.agent, e.obj): e.place for e in events if e.verb in ("put", "move")}
    presumed: dict[tuple[str, str | None], stories.Event] = {}
    for event in sorted(moves, key=lambda e: -e.p):
        key = event.agent, event.obj
        place = event.place if event.p == 1.0 else place_put.get(key) or (None if reading.unread else event.place)
        if key not in presumed or (presumed[key].place is None and place):
            presumed[key] = replace(event, t=len(episode.timeline) + 1, place=place, p=1.0)
    return tuple(presumed.values())


def _yes_or_no(question: str, options: Sequence[str], reader: StatementReader) -> tuple[stories.AnswerOption, ...]:
    """The claims of "yes" and "no" to "Does Ann think the milk is in the fridge?", in the order of the options.

    Raises Unread if the question is not about a single belief.
    """
    claims = reader.read(re.sub(r"^\s*(?:does|do|did|is|was)\s+", "", question.rstrip(" ?"), flags=re.IGNORECASE))
    if len(claims) != 1 or not isinstance(claims[0], stories.Belief):
        raise Unread(question)
    yes = claims[0]
    answers = {"yes": stories.AnswerOption((yes,)), "no": stories.AnswerOption((replace(yes, holds=not yes.holds),))}
    return tuple(answers[option.strip(" .").lower()] for option in options)


# where something is


def read_where(text: str, reader: StatementReader) -> tuple[tuple[str, ...], stories.Fact] | None:
    """Whose belief about whose belief about the place of what is asked for, as agents and a fact without its value.

    None if the question asks something else. Raises Unread if it cannot be read.
    """
    low = text.lower()
    if not WORDINGS["where_asked"].search(low) or "following" in low or WORDINGS["telling"].search(low):
        return None
    if WORDINGS["whether_known"].match(text):
        raise Unread(text)
    main = AFTERWARDS.sub("", text)
    text = (
        main if _names(main, *reader.episode.agents) else text
    )  # in "after Ann returns, where does she look" Ann is "she"
    text_tokens = [token for sentence in sentences(tokens(plainer(text))) for token in sentence]
    pieces = reader.chunks(text_tokens, text)
    agents: list[str] = []
    last: str | None = None
    for i, piece in enumerate(pieces):
        if not isinstance(piece, Noun) or (piece.kind != "agent" and piece.text not in ("he", "she", "they")):
            continue
        last = piece.text if piece.kind == "agent" else last
        between = ("adverb", "unknown", "hedge")
        later_chunks = (chunk for chunk in pieces[i + 1 :] if not isinstance(chunk, Word) or chunk.kind not in between)
        verb = next(later_chunks, None)
        if last and isinstance(verb, VerbGroup) and verb.means(*wordset("mental_senses")) and last not in agents[-1:]:
            agents.append(last)
    objects = [piece for piece in pieces if isinstance(piece, Noun) and piece.kind == "object"]
    things = [object_of(noun, reader.episode) for noun in objects if noun.words[-1] not in wordset("not_sought")]
    if last and not agents and things:
        raise Unread(text)  # somebody does something that is neither thinking nor searching
    if things:
        return tuple(agents), stories.Fact("at", things[-1])
    return ((), stories.Fact("in_room", last)) if last and not agents else None


def hypotheses(
    agents: Sequence[str], query: stories.Fact, options: Sequence[str], episode: stories.Episode
) -> tuple[tuple[str, ...], tuple[stories.AnswerOption, ...]]:
    """The options (or else all places of the story) and the claim of each. Raises Unread if one names no place."""
    thing = query.subject
    if not any(entity.id == thing for entity in episode.entities):
        raise Unread(f"where is the {thing}")
    if options:
        labels = tuple(options)
        nouns = [noun_in(WORDINGS["letter"].sub("", plain(label)), episode.agents) for label in labels]
        for label, noun in zip(labels, nouns, strict=True):
            if noun is None or noun.kind in ("agent", "pronoun"):
                raise Unread(label.strip())
        places = tuple(place_of(noun, episode, thing) for noun in nouns if noun)
    else:
        labels = places = _all_places(query, episode)
    if not labels:
        raise Unread(thing)
    answers: list[stories.AnswerOption] = []
    for place in places:
        content: stories.Fact | stories.Belief = replace(query, value=place)
        for agent in reversed(agents):
            content = stories.Belief(agent, content)
        claim = content if isinstance(content, stories.Belief) else stories.Holds(content)
        answers.append(stories.AnswerOption((claim,)))
    return labels, tuple(answers)


def _all_places(query: stories.Fact, episode: stories.Episode) -> tuple[str, ...]:
    """The places where the thing can be: those in or on which things are, and those where it once was."""
    if query.predicate == "in_room":
        return episode.named("room")
    contents = [happening.content for happening in episode.utterances]
    observed = [happening.fact for happening in episode.timeline if isinstance(happening, stories.Observation)]
    been = {fact.value for fact in (*episode.init, *contents, *observed) if fact and fact.subject == query.subject}
    been |= {happening.place for happening in episode.events if happening.obj == query.subject}
    places = {entity.id for entity in episode.entities if entity.kind == "place" and entity.relation}
    places |= {entity.id for entity in episode.entities if entity.kind in ("place", "room") and entity.id in been}
    return tuple(entity.id for entity in episode.entities if entity.id in places)
