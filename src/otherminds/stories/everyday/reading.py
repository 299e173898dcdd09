"""A story about anything, cut into sentences and clauses, and read into a scene."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from otherminds.stories.english.lexicon import idioms, singular
from otherminds.stories.english.sentences import LACKING, LONGEST_SENTENCE, Token, plain, tokens
from otherminds.stories.everyday.clauses import Clause, parse
from otherminds.stories.everyday.events import ClauseReader
from otherminds.stories.everyday.scene import Fork, Scene
from otherminds.stories.everyday.words import BOUNDARIES, cue, is_in, vocabulary
from otherminds.stories.model import ClauseAccount

FILLERS = [one.split() for one in ("later on", "straight away", "by then", "by far", "of course", "at all", "so as")]
SOON = frozenset(["right", "just", "shortly", "soon", "immediately", "directly"])  # after or before something
INVERTING = frozenset(["then", "after", "when", "once", "later", "afterwards"])  # "only then did she leave"
COMPANY = {(prep, who) for prep in ("with", "along", "in") for who in ("him", "her", "them", "hand", "hands")}
ITS = (["it"], ["this"], ["that"], ["them"])  # "noticed any of it"
LACKS = "lacks words"
ENDS = frozenset(".!?;\n")
TITLES = frozenset(["dr", "mr", "mrs", "ms", "prof", "st", "sgt", "capt", "lt"])
KNOWN_SETS = (*BOUNDARIES, "determiners", "possessives", "adverbs", "times")


@dataclass(frozen=True)
class Sentence:
    """A sentence and its clauses; none if it has no verb, or is too long."""

    text: str
    words: frozenset[str]
    clauses: tuple[Clause, ...]
    quotes: tuple[str, ...] = ()
    span: tuple[int, int] = (0, 0)  # in the text


def split(text: str) -> list[list[Token]]:
    """The sentences of a text, as tokens. A stop after a title ends none; a quote stays with its speaker."""
    out: list[list[Token]] = [[]]
    found = [
        part
        for token in tokens(plain(text))
        for part in (
            (Token("can", token.start, token.start + 3), Token("not", token.start + 3, token.end))
            if token.low == "cannot"
            else (token,)
        )
    ]
    for i, token in enumerate(found):
        before = found[i - 1].low if i else ""
        if token.text in ENDS and not token.quote:
            after = found[i + 1].low if i + 1 < len(found) else ""
            initial = len(before) == 1 and before.isalpha() and before not in ("i", "a")
            initial = initial and not is_in(after, *KNOWN_SETS, "pronouns")  # not "on shelf B. Then ..."
            if not (token.text == "." and (before in TITLES or initial)):
                out.append([])
            continue
        if (
            out[-1]
            and out[-1][-1].quote
            and out[-1][-1].text.rstrip().endswith((".", "!", "?"))
            and token.text[:1].isupper()
            and (len(out[-1]) > 1 or not _speaks(found[i : i + 4]))
        ):
            out.append([])
        out[-1].append(token)
    return [kept for sentence in out if (kept := _without_fillers(sentence))]


def _speaks(found: Sequence[Token]) -> bool:
    """Whether somebody speaks in the words after a quote: "Ann asked"."""
    forms, senses = vocabulary().forms, vocabulary().senses
    lemmas = {lemma for token in found for lemma in forms.get(token.low, ())}
    return any({"say", "ask"} & senses.get(lemma, frozenset()) for lemma in lemmas)


def _straight(sentence: Sequence[Token]) -> Sequence[Token]:
    """The sentence in the usual order of words and of time.

    "Little did she know" is "she did not know", "did not leave until" is "did leave after", and "only then did she
    leave" is "then she did leave".
    """
    low = [token.low for token in sentence]
    did = next((i for i, word in enumerate(low) if word in ("did", "does")), 0)
    turned = low[:2] == ["not", "until"] or (low[:1] == ["only"] and bool(INVERTING & {*low[1:2]}))
    if did > 1 and turned and did + 2 < len(low):
        link = "after" if low[:2] == ["not", "until"] else low[1]
        first, end = sentence[1], sentence[did - 1].end
        clause = [Token(link, first.start, first.end), *sentence[2:did]]
        pause = [Token(",", end, end)] if did > 2 else []
        return [*clause, *pause, sentence[did + 1], sentence[did], *sentence[did + 2 :]]
    waits = next((i for i in range(1, len(low)) if low[i - 1] == "did" and low[i] in ("not", "n't")), len(low))
    until = next((i for i in range(waits, len(low)) if low[i] in ("until", "till")), None)
    if until is not None:
        after = Token("after", sentence[until].start, sentence[until].end)
        return [*sentence[:waits], *sentence[waits + 1 : until], after, *sentence[until + 1 :]]
    i = next((i for i in range(len(low) - 2) if low[i] == "little" and low[i + 1] in ("did", "does", "do")), None)
    verbs = ("know", "suspect", "realise", "realize", "guess", "think")
    k = next((k for k, word in enumerate(low) if i is not None and i + 1 < k < i + 6 and word in verbs), None)
    if i is None or k is None:
        return sentence
    negation = Token("not", sentence[i].start, sentence[i].end)
    return [*sentence[:i], *sentence[i + 2 : k], sentence[i + 1], negation, *sentence[k:]]


def _without_fillers(sentence: Sequence[Token]) -> list[Token]:
    """The sentence without idioms that change nothing: "later on", "of course"."""
    sentence = _straight(sentence)
    low, out, i = [token.low for token in sentence], list[Token](), 0
    while i < len(sentence):
        overlap = cue("overlap")  # "just then" is no filler: it says who may have come
        phrases = [one for one in idioms("fillers").get(low[i], ()) if not overlap.search(" ".join(one))]
        phrases = [one for one in phrases if (one[0], one[-1]) not in COMPANY]  # "carried it with her": she had a part
        if low[i] in SOON and low[i + 1 : i + 2] in (["after"], ["before"]):
            i += 1
            continue
        if low[i : i + 2] == ["no", "longer"]:
            out.append(Token("not", sentence[i].start, sentence[i + 1].end))
            i += 2
            continue
        if low[i] in ("half", "quarter") and low[i + 1 : i + 2] in (["an"], ["a"], ["past"], ["to"]):
            i += 1
            continue
        skip = next((len(one) for one in phrases if tuple(low[i : i + len(one)]) == one and "looking" not in one), 0)
        after = low[i + skip] if i + skip < len(low) else ""
        owned = low[i + skip - 1] == "her" or low[i : i + 2] in (["in", "the"], ["at", "the"], ["on", "the"])
        owned = bool(skip) and owned and after.isalpha() and sentence[i + skip].text.islower()
        owned = owned and (after == "back" or (not is_in(after, *KNOWN_SETS) and after not in vocabulary().forms))
        particle = low[i] in ("up", "down", "out", "off", "in") and i and low[i - 1] in ("it", "them")
        if after == "of" or owned or particle or low[i : i + 2] == ["right", "there"]:
            skip = 0  # "in front of" is no idiom, nor is "with her suitcase"
        if not skip and (low[i : i + 2] in FILLERS or (low[i : i + 2] == ["any", "of"] and low[i + 2 : i + 3] in ITS)):
            skip = 2
        if not skip:
            out.append(sentence[i])
        i += skip or 1
    return out


def find_names(found: Iterable[Sequence[Token]]) -> frozenset[str]:
    """The words of a text that are names: capitalised inside a sentence, or at its beginning before what people do."""
    sure, maybe, lower = set[str](), set[str](), set[str]()
    for sentence in found:
        for i, token in enumerate(sentence):
            text, low = token.text, token.low
            if token.quote or not text[:1].isalpha():
                continue
            if not text[0].isupper():
                lower.add(text)
                continue
            if is_in(low, "modals") and i and not sentence[i - 1].quote:
                sure.add(text)  # "asked Will"
            if text == "I" or any(is_in(low, name) for name in KNOWN_SETS):
                continue
            first = i == 0 or sentence[i - 1].quote or sentence[i - 1].text == ":"
            if not first or text in vocabulary().names:
                sure.add(text)
                continue
            if low.endswith("ly"):
                continue
            after = sentence[i + 1].low if i + 1 < len(sentence) else ""
            if (
                after in ("'s", "and", ",")
                or after in vocabulary().forms
                or after.endswith("ed")
                or is_in(after, "modals", "adverbs")
            ) and low not in vocabulary().forms:
                maybe.add(text)
            if i + 1 < len(sentence) and sentence[i + 1].text[:1].isupper() and vocabulary().person(low):
                sure.add(text)
    common = lower | {singular(one) for one in lower}
    return frozenset(sure | {one for one in maybe if not {one.lower(), singular(one.lower())} & common})


@lru_cache(maxsize=8)
def sentences_of(text: str, known: frozenset[str] = frozenset()) -> tuple[tuple[Sentence, ...], frozenset[str]]:
    """The parsed sentences of a story and its names, those that are `known` to be names among them."""
    found = split(text)
    names = find_names(found) | (known & {token.text for sentence in found for token in sentence})
    out = []
    for sentence in found:
        words = " ".join(plain(text)[sentence[0].start : sentence[-1].end].split())
        clauses = tuple(parse(sentence, names)) if len(sentence) <= LONGEST_SENTENCE else ()
        span = sentence[0].start, sentence[-1].end
        quotes = tuple(token.text for token in sentence if token.quote)
        out.append(Sentence(words, frozenset(token.low for token in sentence), clauses, quotes, span))
    return tuple(out), names


def play(
    text: str,
    fork: Fork,
    minds: frozenset[str],
    topics: frozenset[str],
    roles: frozenset[str] = frozenset(),
    known: frozenset[str] = frozenset(),
) -> tuple[Scene, list[ClauseAccount]]:
    """The scene after a story, under one combination of choices, and what became of each clause."""
    sentences, names = sentences_of(text, known)
    scene = Scene(fork, minds, topics, asked_roles=roles)
    reader = ClauseReader(scene, names)
    accounts: list[ClauseAccount] = []
    for sentence in sentences:
        if LACKING.search(sentence.text):
            scene.sentence += 1
            accounts.append(ClauseAccount(sentence.text, "unread", LACKS))
            continue
        if not sentence.clauses:
            if sentence.quotes and reader.lone_quote(sentence.quotes):
                accounts.append(ClauseAccount(sentence.quotes[0], "event"))
                scene.sentence += 1
                continue
            scene.sentence += 1
            quoted = " ".join(f'"{quote}"' for quote in sentence.quotes)
            accounts.append(ClauseAccount(f"{sentence.text} {quoted}".strip(), "unread", "has no verb"))
        for clause, told in reader.sentence(sentence.clauses, sentence.text) if sentence.clauses else ():
            said = "".join(f' "{quote}"' for quote in clause.quotes)
            said += "".join(f" {inner.words}" for inner in clause.content if told.outcome == "unread")
            accounts.append(
                ClauseAccount(clause.words + said, told.outcome, told.reason, len(scene.log), tuple(scene.people))
            )
    scene.finished = True
    return scene, accounts
