"""The controlled form of stories and questions: sentences made of listed clauses, without a word left over.

The form has few verbs, names for people, and an article or possessive before every other noun (controlled.toml).
`parse` cuts a sentence into such clauses; controlled_story.py reads what they tell.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import NamedTuple

from otherminds.files.toml import packaged
from otherminds.stories.english.sentences import plain

FORM = packaged("otherminds.stories.english", "controlled.toml")
WORDS = {name: frozenset(words.split()) for name, words in FORM["small"].items()}
NO_NAMES, DETERMINERS = WORDS["no_names"], WORDS["determiners"]
NO_NOUNS = WORDS["no_nouns"] | WORDS["no_nouns_of_bodies"]
LONGEST_SENTENCE = 400  # characters (chosen; the longest in the form that people wrote has 160)
SENTENCE = re.compile(
    r'(?:\b(?:Mrs?|Ms|Dr)\.|[^".!?;\n])+"[^"]*[.!?]"|(?:"[^"]*"|\b(?:Mrs?|Ms|Dr)\.|[^".!?;\n])+[.!?;]*'
)
NAME = rf"(?:(?:Mrs?|Ms|Dr)\.? )?(?!(?i:{'|'.join(sorted(NO_NAMES))})\b)[A-Z][a-z]*(?:-[A-Z]?\w+)*"
WORD = rf"(?!(?:{'|'.join(sorted(NO_NOUNS))})\b)[a-z]+(?:[-_][a-z]+)*"
NOUN = rf"(?:{'|'.join(sorted(DETERMINERS))}|{NAME}'s) {WORD}(?: (?!\w{{3,}}(?:ly|ing|ed)\b){WORD}){{0,2}}"
PRONOUN = r"\b(?:he|she|they|him|her)\b"
PRONOUNS = ("it", "them")  # of things and places
NAMED = re.compile(rf"(?P<noun>\b{NOUN})|(?P<person>\b{NAME}\b(?!')|{PRONOUN})")
# in a sentence whose nouns are numbered "N0", "N1", and its people "P0", "P1"
LABEL = re.compile(r"\b[NP]\d")
ROLES = dict.fromkeys(("thing", "second", "room", "entered", "owned"), r"N\d+|it|them")
ROLES |= dict.fromkeys(("place", "source", "target"), r"N\d+(?: in N\d+)?|it|them")
ROLES |= dict.fromkeys(("person", "hearer", "inner"), r"P\d+")
ROLES |= {"to": "to|into|in|inside|onto|on", "at": "in|inside|on|at", "state": "is|are|was|were"}
SUBJECT = r"(?:both )?P\d+(?:, P\d+)*(?:,? and P\d+)?|both"
JOINED = r"(?:,? (?:and then|then|and|but)|,)"
FRAMES = ("while", "when", "after", "before", "once", "as soon as")
END = rf"(?=$|{JOINED}\b|,? (?:{'|'.join(FRAMES)})\b|, )"


class Clause(NamedTuple):
    """What a clause tells (a section of controlled.toml), and the words of its roles."""

    kind: str
    roles: Mapping[str, str]


class Question(NamedTuple):
    """What is asked: `where` a thing is, `whether` it is at a place, or whether somebody `knows` where; in whose minds.

    `early` is whether it is asked about the beginning of the story.
    """

    kind: str
    minds: tuple[str, ...]
    roles: Mapping[str, str]
    early: bool


def _pattern(form: str) -> str:
    """The regular expression of a form of controlled.toml."""
    form = form.replace("<nested>", r"(?: P\d+ <thinks>(?: that)?)*")
    form = re.sub(r"<(\w+)>", lambda match: f"(?:{FORM['words'][match[1]].replace(' ', '|').replace('_', ' ')})", form)
    return re.sub(r"\{(\w+)\}", lambda match: f"(?P<{match[1]}>{ROLES[match[1]]})", form)


@cache
def _clauses() -> Sequence[tuple[str, re.Pattern[str]]]:
    """The patterns of clauses, each with what it tells; the subject of all but statements is people."""
    forms = [(kind, "", form) for kind, forms in FORM["statements"].items() for form in forms]
    forms += [
        (kind, f"(?:(?P<subject>{SUBJECT}) )?", form) for kind, forms in FORM["clauses"].items() for form in forms
    ]
    return [(kind, re.compile(f"{subject}{_pattern(form)}{END}")) for kind, subject, form in forms]


def parse_question(stem: str) -> Question | None:
    """A question that is in the form: where a thing is or is looked for, or whether somebody thinks or knows it."""
    if LABEL.search(stem):
        return None
    words = _lowered(_expanded(stem).rstrip("? "))
    time_phrase = re.search(r" (?:(?:at|in) the (?:very )?(?:beginning|start|end)|at first|originally)$", words)
    words = re.sub(r" (?:first|now|really|currently)\b", "", words[: time_phrase.start()] if time_phrase else words)
    words, phrases = _numbered(words)
    is_early = time_phrase is not None and not time_phrase[0].endswith("end")
    for kind, forms in FORM["questions"].items():
        for form in forms:
            if (match := re.fullmatch(_pattern(form), words)) is not None:
                roles = {role: text for role, text in match.groupdict().items() if text}
                minds = tuple(phrases[label] for label in re.findall(r"P\d+", words))
                return Question(kind, minds, _in_words(roles, phrases), is_early)
    return None


def _expanded(text: str) -> str:
    """The text with plain marks, single spaces and without contractions."""
    text = re.sub(r"\b(do|does|did|is|are|was|were)n't\b", r"\1 not", " ".join(plain(text).split()))
    return re.sub(r"\b(?:can|could)(?: ?not|n't) (?=see|notice|find)", "does not ", text)


def _lowered(sentence: str) -> str:
    """The sentence with its first word in lower case if that is no name, and the words of a quote likewise."""

    def lower(match: re.Match[str]) -> str:
        return match[0].lower() if match[0].strip('"').lower() in NO_NAMES else match[0]

    return re.sub(r'^[A-Za-z]+|"[A-Za-z]+', lower, sentence)


def _numbered(sentence: str) -> tuple[str, dict[str, str]]:
    """The sentence with numbers for its nouns and people, and what each stands for."""
    phrases: dict[str, str] = {}

    def number(match: re.Match[str]) -> str:
        label = f"{'N' if match['noun'] else 'P'}{len(phrases)}"
        phrases[label] = match[0]
        return label

    return NAMED.sub(number, sentence), phrases


def parse(sentence: str) -> list[Clause] | None:
    """The clauses of a sentence in order of time; None if a word of it is left over."""
    if len(sentence) > LONGEST_SENTENCE or LABEL.search(sentence):
        return None
    words = _lowered(_expanded(sentence).rstrip(".!?; "))
    opener = re.match(rf"(?:after that|{'|'.join(sorted(WORDS['openers']))})\b,? ", words)
    words, phrases = _numbered(_lowered(words[opener.end() :] if opener else words))
    quote = re.fullmatch(r'("[^"]*?)[,.!?]?" (?:(P\d+) (\w+)|(\w+) (P\d+))', words)
    if quote:  # '"...," says Ann'
        words = f'{quote[2] or quote[5]} {quote[3] or quote[4]} {quote[1]}"'
    clauses = next(_sequences(words), None)
    return clauses and [
        part for kind, roles in clauses for part in _each_thing(Clause(kind, _in_words(roles, phrases)))
    ]


def _each_thing(clause: Clause) -> list[Clause]:
    """The clause for each of its things: "the ball and the cup are in the box"."""
    roles = {role: words for role, words in clause.roles.items() if role != "second"}
    things = [clause.roles[role] for role in ("thing", "second") if role in clause.roles]
    return [Clause(clause.kind, roles | {"thing": thing}) for thing in things] or [clause]


def _in_words(roles: Mapping[str, str], phrases: Mapping[str, str]) -> dict[str, str]:
    """The words of roles; "the box in the hall" is "the hall box", and the hall the room of that role."""
    words = {}
    for role, labels in roles.items():
        text = re.sub(r"[NP]\d+", lambda label: phrases[label[0]], labels)
        if role in ("place", "source", "target") and " in " in text:
            noun, _, room = text.partition(" in ")
            determiner, _, noun_words = noun.partition(" ")
            words[f"{role}_room"], text = room, f"{determiner} {room.partition(' ')[2]} {noun_words}"
        words[role] = text
    return words


def _sequences(words: str) -> Iterator[list[Clause]]:
    """The ways in which all words are clauses, perhaps after one that says when."""
    frame = next((name for name in FRAMES if words.startswith(f"{name} ")), None)
    if frame is None:
        yield from _joined(words, subject="")
        return
    for clause, remaining in _first_clauses(words[len(frame) + 1 :], subject=""):
        if not remaining.startswith((", ", " ")):
            continue
        for main in _joined(remaining.removeprefix(",").strip(), clause.roles.get("subject", "")):
            yield from _timed(frame, clause, main)


def _joined(words: str, subject: str) -> Iterator[list[Clause]]:
    """Clauses joined by "and", "but" or "then", the last perhaps followed by one that says when."""
    for clause, remaining in _first_clauses(words, subject):
        if not remaining:
            yield [clause]
            continue
        owner = clause.roles.get("subject", subject)
        if joiner := re.match(rf"{JOINED} ", remaining):
            remaining_words = remaining[joiner.end() :]
            yield from ([clause, *more] for more in _joined(remaining_words, owner))
        frame = re.match(rf",? ({'|'.join(FRAMES)}) ", remaining)
        if frame:
            for time_clause in _joined(remaining[frame.end() :], owner):
                if len(time_clause) == 1:
                    yield from _timed(frame[1], time_clause[0], [clause])


def _timed(frame: str, time_clause: Clause, main: list[Clause]) -> Iterator[list[Clause]]:
    """The clauses in order of time; none if what happens "while" something else does is no state."""
    time_clause = time_clause._replace(roles={"frame": frame, **time_clause.roles})
    if frame == "before":
        yield [*main, time_clause]
    elif frame != "while" or "state" in time_clause.roles:
        yield [time_clause, *main]


def _first_clauses(words: str, subject: str) -> Iterator[tuple[Clause, str]]:
    """The clauses with which some words may begin, and what is left of them; a missing subject is that before."""
    ends = set[tuple[int, bool]]()
    for kind, pattern in _clauses():
        match = pattern.match(words)
        if match is None or (end := (match.end(), "state" in match.groupdict())) in ends:
            continue
        roles = {role: text for role, text in match.groupdict().items() if text}
        if kind == "at" or roles.setdefault("subject", subject):
            ends.add(end)  # one reading for each extent: else many joined clauses would take exponential time
            yield Clause(kind, roles), words[match.end() :]
