"""Who is in a text: names are capitalised words that act like subjects."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from otherminds.stories.english.lexicon import lexicon, wordset

LONGEST_QUOTE = 600
LONGEST_SENTENCE = 150
"""In tokens; what is longer is no sentence, and is not read."""
TOKEN = re.compile(r"[^\W_]+(?:-[^\W_]+)*|\S", re.UNICODE)
SINGLE_QUOTE = re.compile(r"(?<!\w)'(?=[A-Z])([^'\n]{1,200}(?:'\w[^'\n]{0,200}){0,6}[.?!,]?)'(?!\w)")
ENDS = frozenset(".!?;\n")
TITLES = wordset("titles")


@dataclass(frozen=True)
class Token:
    """A word, a mark or a whole quote, and where it is in the text."""

    text: str
    start: int
    end: int
    quote: bool = False

    @property
    def low(self) -> str:
        """The word in lower case; a quote has none."""
        return "" if self.quote else self.text.lower()


def plain(text: str) -> str:
    """The text with typographic marks made plain, each by one character, so that places in it stay the same."""
    return text.translate(PLAIN)


PLAIN = {ord(old): new for old, new in zip("“”„«»‘’‚´`–—…\t\r\xa0", "\"\"\"\"\"'''''--.   ", strict=True)}


def tokens(text: str, offset: int = 0) -> list[Token]:
    """The tokens of a plain text; what is between quotation marks is one token each."""
    found: list[Token] = []
    place = 0
    for start, end in _quotes(text):
        found += _words(text, place, start, offset)
        found.append(Token(text[start + 1 : end - 1], offset + start, offset + end, quote=True))
        place = end
    return found + _words(text, place, len(text), offset)


def _quotes(text: str) -> Iterator[tuple[int, int]]:
    """Where quotes are, with their marks. A mark without its partner nearby is no quote."""
    place = 0
    while (start := text.find('"', place)) >= 0:
        end = text.find('"', start + 1, start + LONGEST_QUOTE)
        yield from _single(text, place, start)
        if end < 0:
            place = start + 1
            continue
        yield start, end + 1
        place = end + 1
    yield from _single(text, place, len(text))


def _single(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    for match in SINGLE_QUOTE.finditer(text, start, end):
        yield match.span()


def _words(text: str, start: int, end: int, offset: int) -> list[Token]:
    found = []
    for line in re.finditer(r"\n|[^\n]+", text[start:end]):
        if line.group() == "\n":
            found.append(Token("\n", offset + start + line.start(), offset + start + line.end()))
            continue
        for match in TOKEN.finditer(text, start + line.start(), start + line.end()):
            found.append(Token(match.group(), offset + match.start(), offset + match.end()))
    return _contractions(found)


def _contractions(found: list[Token]) -> list[Token]:
    """Joins what an apostrophe separates: "n't" and "'s" become tokens of their own."""
    out: list[Token] = []
    i = 0
    while i < len(found):
        token = found[i]
        after = found[i + 1] if i + 1 < len(found) else None
        if token.text == "'" and after and out and out[-1].end == token.start and after.start == token.end:
            later = found[i + 2].text.lower() if i + 2 < len(found) else ""
            out += _split_at_apostrophe(out.pop(), token, after, later)
            i += 2
            continue
        if token.text not in ("'", '"', "_", "*", "(", ")"):
            out.append(token)
        i += 1
    return out


def _split_at_apostrophe(before: Token, mark: Token, after: Token, later: str) -> list[Token]:
    if after.text.lower() == "t" and before.text.lower().endswith("n") and len(before.text) > 1:
        cut = before.end - 1
        stem = Token(before.text[:-1], before.start, cut)
        return [stem, Token("n't", cut, after.end)]
    full = {"ll": "will", "re": "are", "ve": "have", "m": "am", "d": "would"}.get(after.text.lower(), "'s")
    if full == "would" and (
        later in ("been", "just", "already", "put", "left", "found") or later.endswith(("ed", "en"))
    ):
        full = "had"
    return [before, Token(full if full != "'s" else "'" + after.text.lower(), mark.start, after.end)]


def sentences(found: Sequence[Token], names: Collection[str] = ()) -> list[list[Token]]:
    """The sentences of a text. A quote belongs to the sentence that says who speaks."""
    out: list[list[Token]] = [[]]
    for i, token in enumerate(found):
        if _numbering(found, i):
            continue
        if token.text in ENDS and not token.quote:
            if token.text == "\n" and i + 1 < len(found) and found[i + 1].text[:1].islower():
                continue
            if token.text == "." and i and found[i - 1].low in TITLES:
                continue
            out.append([])
            continue
        if token.text == ":" and _is_heading(out[-1], found, i):
            out[-1] = []
            continue
        out[-1].append(token)
        if token.quote and _quote_ends(out[-1], found, i, names):
            out.append([])
    return [sentence for sentence in out if sentence]


def _is_heading(before: Sequence[Token], found: Sequence[Token], i: int) -> bool:
    """Whether a colon ends a heading, "Actions taken by Mark: Mark walks ..."; one word is who speaks."""
    after = found[i + 1] if i + 1 < len(found) else None
    if after is None or after.quote or not after.text[:1].isupper() or not 1 < len(before) < 9:
        return False
    known = lexicon()
    words = [token.low for token in before]
    verbs = [known.verb_at(words, j) for j in range(len(words)) if words[j]]
    return not any(token.quote for token in before) and not any(
        verb and {"say", "ask"} & set(verb.senses) for verb in verbs
    )


def _numbering(found: Sequence[Token], i: int) -> bool:
    """Whether the token is a number, or its stop, in front of a line."""
    before = found[i - 1] if i else None
    if found[i].text.isdigit():
        after = found[i + 1] if i + 1 < len(found) else None
        in_line = before is not None and before.text == "." and after is not None and after.text[:1].isupper()
        return before is None or before.text == "\n" or in_line
    lone = before is not None and before.text.isdigit() and (i == 1 or found[i - 2].text == "\n")
    return lone and found[i].text in (".", ")", ":")


def _quote_ends(sentence: Sequence[Token], found: Sequence[Token], i: int, names: Collection[str]) -> bool:
    """Whether a sentence ends with the quote in it: nothing after it says who speaks."""
    after = found[i + 1] if i + 1 < len(found) else None
    if after is None or not found[i].text.rstrip().endswith((".", "?", "!")):
        return False
    if after.quote:
        return True
    if not after.text[:1].isupper():
        return False
    introduced = any(not token.quote for token in sentence)
    return introduced or not _speaks(found[i + 1 : i + 6], names)


def _speaks(following: Sequence[Token], names: Collection[str]) -> bool:
    """Whether somebody who speaks comes first: "Mary replied", "he then asked"."""
    first = following[0]
    if first.text not in names and first.low not in ("he", "she", "they", "came", "was", "said", "asked", "replied"):
        return False
    words = [token.low for token in following]
    known = lexicon()
    for j, word in enumerate(words):
        verb = known.verb_at(words, j) if word else None
        if verb and {"say", "ask"} & set(verb.senses):
            return True
        if verb or (j and word in (",", ".", "and")):
            return word == "came"
    return False


NEVER = wordset("never")
GOES_ON = frozenset(("also", "then", "both", "now", "just", "still", "soon", "and", "'s", "never", "already", "who"))


def find_names(sentences: Iterable[Sequence[Token]], cast: Sequence[str] = ()) -> tuple[str, ...]:
    """The names in a text, in the order in which they appear; `cast` are names known beforehand."""
    sure: dict[str, None] = {}
    unsure: dict[str, None] = {}
    small: set[str] = set()
    for sentence in sentences:
        for i, token in enumerate(sentence):
            if token.quote:
                continue
            if token.text[:1].islower():
                small.add(token.text)
            elif token.text in cast or _looks_like_name(token):
                (sure if token.text in cast or _is_sure(sentence, i) else unsure)[token.text] = None
    order = [name for name in _ordered(sentences, {*sure, *unsure}) if name in cast or _fits(name, small, sure)]
    return tuple(order)


def _ordered(sentences: Iterable[Sequence[Token]], names: set[str]) -> list[str]:
    return list(dict.fromkeys(t.text for sentence in sentences for t in sentence if not t.quote and t.text in names))


def _looks_like_name(token: Token) -> bool:
    text = token.text
    letters = text.replace("-", "")
    return len(text) > 1 and text[0].isupper() and letters.isalpha() and not text.isupper() and token.low not in NEVER


def _fits(name: str, small: set[str], sure: dict[str, None]) -> bool:
    known = lexicon()
    low = name.lower()
    if name in known.gender:
        return name in sure or low not in known.common
    return name in sure and low not in small and (low not in known.common or low in known.forms)


def _is_sure(sentence: Sequence[Token], i: int) -> bool:
    """Whether a capitalised word must be a name here: inside a sentence, or at its beginning before a verb."""
    known = lexicon()
    low = sentence[i].low
    if i > 0 and sentence[i - 1].text not in (":", '"') and not sentence[i - 1].quote:
        return low not in known.common or sentence[i].text in known.gender
    if low in known.common and sentence[i].text not in known.gender:
        return False
    return i + 1 < len(sentence) and _goes_on(sentence, i + 1)


def _goes_on(sentence: Sequence[Token], i: int) -> bool:
    """Whether what follows a word at the beginning of a sentence makes it a subject."""
    known = lexicon()
    token = sentence[i]
    if token.text == ":" or token.low in GOES_ON | known.sets["auxiliaries"] | known.sets["modals"]:
        return not low_after_and(sentence, i)
    if token.text == ",":
        return i + 1 < len(sentence) and (
            sentence[i + 1].low in ("who", "now", "still", "having", "and", "meanwhile") or _is_list(sentence, i + 1)
        )
    if token.low.endswith("ly"):
        return i + 1 < len(sentence) and known.is_verb(sentence[i + 1].low)
    return known.is_verb(token.low)


def low_after_and(sentence: Sequence[Token], i: int) -> bool:
    """Whether an "and" joins the word with something that is no name."""
    return sentence[i].low == "and" and not (i + 1 < len(sentence) and sentence[i + 1].text[:1].isupper())


def _is_list(sentence: Sequence[Token], i: int) -> bool:
    """Whether names are being listed: "Ann, Bob and Cid"."""
    for token in sentence[i : i + 12]:
        if token.low == "and":
            return True
        if token.text != "," and not token.text[:1].isupper():
            return False
    return False
