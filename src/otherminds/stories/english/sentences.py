"""Tokens, sentences and names: a text is cut into words, marks and quotes, these into sentences."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from otherminds.stories.english.lexicon import lexicon, wordset

LONGEST_QUOTE = 600  # characters; a quotation mark without a partner this near is no quote (chosen; not tuned)
LONGEST_SENTENCE = 150  # tokens; a longer sentence is not read (chosen, so that reading time stays linear)
LONGEST_HEADING = 8  # words before the colon of a heading (chosen; not tuned)
SPEAKER_WITHIN = 5  # tokens after a quote in which its speaker and verb are looked for (chosen; not tuned)
LIST_WITHIN = 12  # tokens in which a list of names is looked for (chosen; not tuned)
TOKEN = re.compile(r"[^\W_]+(?:-[^\W_]+)*|\S|\n", re.UNICODE)
SINGLE_QUOTE = re.compile(r"(?<!\w)'(?=[A-Z])([^'\n]{1,200}(?:'\w[^'\n]{0,200}){0,6}[.?!,]?)'(?!\w)")
ENDS = frozenset(".!?;\n")
BEGINNERS = frozenset(("He", "She", "They", "We", "It", "The", "There", "Then", "When", "While", "After", "Before"))
ARTICLES = frozenset(("the", "a", "an"))
NO_NOUNS = re.compile(r"[.,:]|in|on|at|of|to|from|with|for|and|or|but|that|is|was|he|she|it|they|the|an?|his|her|him")
LACKING = re.compile(rf"\b(?:the|an?)(?: (?:{NO_NOUNS.pattern})\b|[.,:?!])")
SILENT_MARKS = frozenset(("'", '"', "_", "*", "(", ")"))
CONTRACTED = {"ll": "will", "re": "are", "ve": "have", "m": "am", "d": "would"}


@dataclass(frozen=True)
class Token:
    """A word, a mark or a whole quote, with its place in the text."""

    text: str
    start: int
    end: int
    quote: bool = False

    @property
    def low(self) -> str:
        """The word in lower case; empty for a quote."""
        return "" if self.quote else self.text.lower()


PLAIN = {ord(old): new for old, new in zip("“”„«»‘’‚´`–—…\t\r\xa0", "\"\"\"\"\"'''''--.   ", strict=True)}


def plain(text: str) -> str:
    """The text with typographic marks replaced by plain ones, character by character, so that places stay the same."""
    return text.translate(PLAIN)


# tokens

HOLDERS = {"his": "he", "her": "she", "him": "he"}  # whoever has what is his


def tokens(text: str) -> list[Token]:
    """The tokens of a text that `plain` has made plain; a quote is one token, without its marks."""
    text_tokens: list[Token] = []
    place = 0
    for start, end in _quotes(text):
        text_tokens += _bare_tokens(text, place, start)
        text_tokens.append(Token(text[start + 1 : end - 1], start, end, quote=True))
        place = end
    return text_tokens + _bare_tokens(text, place, len(text))


def _quotes(text: str) -> Iterator[tuple[int, int]]:
    """Where quotes begin and end, marks included: between double marks, or else between single ones."""
    place = 0
    while (start := text.find('"', place)) >= 0:
        yield from (match.span() for match in SINGLE_QUOTE.finditer(text, place, start))
        end = text.find('"', start + 1, start + LONGEST_QUOTE)
        if end < 0:
            place = start + 1
            continue
        yield start, end + 1
        place = end + 1
    yield from (match.span() for match in SINGLE_QUOTE.finditer(text, place, len(text)))


def _bare_tokens(text: str, start: int, end: int) -> list[Token]:
    """The words, marks and line ends of a stretch without quotes.

    "n't", "'s" and other contractions are tokens of their own; marks that say nothing are left out.
    """
    raw_tokens = [Token(match.group(), *match.span()) for match in TOKEN.finditer(text, start, end)]
    bare: list[Token] = []
    i = 0
    while i < len(raw_tokens):
        token, next_token = raw_tokens[i], _at(raw_tokens, i + 1)
        if token.text != "'" or not bare or bare[-1].end != token.start or next_token.start != token.end:
            if token.low == "cannot":
                cut = token.start + len("can")
                bare += [Token(token.text[:3], token.start, cut), Token("not", cut, token.end)]
            elif token.text not in SILENT_MARKS:
                bare.append(token)
            i += 1
            continue
        last_token, tail = bare.pop(), next_token.text.lower()
        if tail == "t" and last_token.text.lower().endswith("n") and len(last_token.text) > 1:
            cut = last_token.end - 1
            bare += [Token(last_token.text[:-1], last_token.start, cut), Token("n't", cut, next_token.end)]
        else:
            later = _at(raw_tokens, i + 2).text.lower()
            had = later in ("been", "just", "already", "put", "left", "found") or later.endswith(("ed", "en"))
            full = "had" if tail == "d" and had else CONTRACTED.get(tail, "'" + tail)
            bare += [last_token, Token(full, token.start, next_token.end)]
        i += 2
    return bare


# sentences


def _at(text_tokens: Sequence[Token], i: int) -> Token:
    """The token at an index; before the first and after the last one are line ends."""
    return text_tokens[i] if 0 <= i < len(text_tokens) else Token("\n", -1, -1)


def sentences(text_tokens: Sequence[Token], names: Collection[str] = ()) -> list[list[Token]]:
    """The sentences of a text. A quote belongs to the sentence that says who speaks."""
    out: list[list[Token]] = [[]]
    for i, token in enumerate(text_tokens):
        if _is_line_number(text_tokens, i):
            continue
        if token.text in ENDS and not token.quote:
            goes_on = token.text == "\n" and _at(text_tokens, i + 1).text[:1].islower()
            if not goes_on and not (token.text == "." and _at(text_tokens, i - 1).low in wordset("titles")):
                out.append([])
            continue
        if token.text == ":" and _is_heading(out[-1], text_tokens, i):
            out[-1] = []
            continue
        if (
            token.text in BEGINNERS
            and _at(text_tokens, i - 1).text.islower()
            and _at(text_tokens, i + 1).text.islower()
        ):
            out.append([])  # the stop before it is missing
        out[-1].append(token)
        if token.quote and _quote_ends(out[-1], text_tokens, i, names):
            out.append([])
    return [sentence for sentence in out if sentence]


def _is_line_number(text_tokens: Sequence[Token], i: int) -> bool:
    """Whether the token is a number, or the stop after it, in front of a line."""
    before = _at(text_tokens, i - 1).text
    if text_tokens[i].text.isdigit():
        return before == "\n" or (before == "." and _at(text_tokens, i + 1).text[:1].isupper())
    return before.isdigit() and _at(text_tokens, i - 2).text == "\n" and text_tokens[i].text in (".", ")", ":")


def _is_heading(before: Sequence[Token], text_tokens: Sequence[Token], i: int) -> bool:
    """Whether a colon ends a heading: "Actions taken by Mark: Mark walks ..."; one word is a speaker."""
    next_token = _at(text_tokens, i + 1)
    if next_token.quote or not next_token.text[:1].isupper() or not 1 < len(before) <= LONGEST_HEADING:
        return False
    words = [token.low for token in before]
    speaks = any(is_speech_verb(words, j) for j in range(len(words)))
    return not speaks and not any(token.quote for token in before)


def is_speech_verb(words: Sequence[str], i: int) -> bool:
    """Whether somebody says or asks something with the verb at a place."""
    verb = lexicon().verb_at(words, i) if words[i] else None
    return verb is not None and bool({"say", "ask"} & set(verb.senses))


def _quote_ends(sentence: Sequence[Token], text_tokens: Sequence[Token], i: int, names: Collection[str]) -> bool:
    """Whether a sentence ends with the quote in it, as nothing after it says who speaks: "Mary replied", "he asked"."""
    following = text_tokens[i + 1 : i + 1 + SPEAKER_WITHIN]
    if not following or not text_tokens[i].text.rstrip().endswith((".", "?", "!")):
        return False
    if following[0].quote or not following[0].text[:1].isupper():
        return following[0].quote
    if any(not token.quote for token in sentence):
        return True
    if following[0].text not in names and following[0].low not in wordset("before_speech"):
        return True
    words = [token.low for token in following]
    for j, word in enumerate(words):
        if is_speech_verb(words, j):
            return "that" in words[j + 1 : j + 3]  # what else was said
        if (word and lexicon().verb_at(words, j)) or (j and word in (",", ".", "and")):
            return word != "came"
    return True


def is_garbled(sentence: Sequence[Token], text: str) -> bool:
    """Whether a sentence of a text lacks words: an article has no noun, or a quotation mark no partner."""
    start, end = max(sentence[0].start - 1, 0), sentence[-1].end
    end += 2 if text[end : end + 1] in ENDS else 1
    nexts = [token.text for token in sentence[1:]] + ["."]
    lacks_noun = any(t.low in ARTICLES and NO_NOUNS.fullmatch(word) for t, word in zip(sentence, nexts, strict=True))
    garbled_quote = any(LACKING.search(t.text) for t in sentence if t.quote)
    return lacks_noun or garbled_quote or bool(plain(text[start:end]).count('"') % 2)


# names


def find_names(sentences: Iterable[Sequence[Token]], cast: Sequence[str] = ()) -> tuple[str, ...]:
    """The names of people in a text, in order of appearance; `cast` are names known beforehand.

    A name is a capitalised word that stands inside a sentence, or at its beginning before something a subject does.
    """
    vocabulary = lexicon()
    sure: set[str] = set()
    candidates: dict[str, None] = {}
    lower: set[str] = set()
    for sentence in sentences:
        for i, token in enumerate(sentence):
            text = token.text
            if token.quote:
                continue
            if text[:1].islower():
                lower.add(text)
                continue
            word = len(text) > 1 and text[0].isupper() and text.replace("-", "").isalpha() and not text.isupper()
            if text in cast or (word and token.low not in wordset("never")):
                candidates[text] = None
                if text in cast or _acts_like_name(sentence, i):
                    sure.add(text)

    def is_name(word: str) -> bool:
        low = word.lower()
        if word in cast:
            return True
        if word in vocabulary.gender:
            return word in sure or low not in vocabulary.common
        return word in sure and low not in lower and (low not in vocabulary.common or low in vocabulary.forms)

    return tuple(word for word in candidates if is_name(word))


PAIR = re.compile(r"\b([A-Z][a-z]+) (?=([A-Z][a-z]+)\b)")


def with_joined_names(texts: Sequence[str]) -> list[str]:
    """The texts with names of two words, as "Li Lei", joined by a hyphen, so that each is one token of the same length.

    A pair of capitalised words is such a name if it occurs twice, and neither word is a common one.
    """
    common_words, never = lexicon().common, wordset("never") | wordset("titles")
    pairs = Counter((match[1], match[2]) for text in texts for match in PAIR.finditer(text))
    common = {w for pair in pairs for w in pair if w.lower() in common_words | never and w not in lexicon().gender}
    names = {pair for pair, times in pairs.items() if times > 1 and not common & {*pair}}
    return [PAIR.sub(lambda m: f"{m[1]}-" if (m[1], m[2]) in names else m[0], text) for text in texts]


def _acts_like_name(sentence: Sequence[Token], i: int) -> bool:
    """Whether a capitalised word must be a name: inside a sentence, or at its beginning before what a subject does."""
    vocabulary = lexicon()
    if sentence[i].low in vocabulary.common and sentence[i].text not in vocabulary.gender:
        return False
    if i > 0 and sentence[i - 1].text not in (":", '"') and not sentence[i - 1].quote:
        return True
    following, second_following = _at(sentence, i + 1), _at(sentence, i + 2)
    if following.text == ":" or following.low in wordset("after_name") | wordset("auxiliaries") | wordset("modals"):
        return following.low != "and" or second_following.text[:1].isupper()
    if following.text == ",":
        listing = (t for t in sentence[i + 2 : i + 2 + LIST_WITHIN] if t.text != "," and not t.text[:1].isupper())
        end = next(listing, None)  # "and" ends a list of names: "Ann, Bob and Cid"
        is_list = end is not None and end.low == "and"
        return second_following.low in wordset("after_name_and_comma") or is_list
    return (second_following if following.low.endswith("ly") else following).low in vocabulary.forms
