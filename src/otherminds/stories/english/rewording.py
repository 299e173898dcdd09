"""Rewording: roundabout sentences put into plain ones, by the patterns of rewording.toml.

`reworded` and `rejoined` work on the tokens of a story's sentences, `plainer` and `known_to` on the text of statements
about minds (the options of questions). A construction is added as one line of rewording.toml.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import accumulate

from otherminds.files.toml import packaged
from otherminds.stories.english.lexicon import singular, wordset
from otherminds.stories.english.sentences import HOLDERS, LONGEST_SENTENCE, Token

TABLE = packaged("otherminds.stories.english", "rewording.toml")
FIELD = re.compile(r"\{(\w+)\}")
PART = re.compile(r"(?<!\?P)<([a-z]+)>")
PART_DEPTH = 3  # parts may contain parts, at most this deep
TIMES = r"(?:[?*+]|\{[\d,]+\})\??"  # how often something may be repeated
GROUP_DEPTH = 5  # groups may contain groups, at most this deep
INSIDE = r"(?:[^()\\]++|\\.)*+"  # what is in a group
for _ in range(GROUP_DEPTH):
    INSIDE = rf"(?:[^()\\]++|\\.|\({INSIDE}\))*+"
GROUP = re.compile(rf"\((?:\?P<\w+>|\?:)?({INSIDE})\)({TIMES})?")
NO_TEXT = re.compile(rf"(?:\[[^]]*\]|<\w+>|\\(?!x27).|[.^$])(?:{TIMES})?|(?:\\x27|[^\0]){TIMES}")


@dataclass(frozen=True)
class Rule:
    """A pattern of a section, and the plain wording that it stands for.

    It is compiled at first use: to compile all takes a tenth of a second, and most fit hardly any sentence.
    """

    section: str
    pattern: str
    plain: str = ""

    @cached_property
    def needed(self) -> tuple[str, ...]:
        """Texts of which one must be in whatever the pattern fits; of those that are known, the longest.

        That is text outside of brackets, or the alternatives of a group that must be there.
        """
        outside = GROUP.sub("\0", self.pattern)
        if "|" in outside or "(?i" in self.pattern:
            return ("",)
        groups = (group[1] for group in GROUP.finditer(self.pattern) if group[1][0] != "?" and group[2] in (None, "+"))
        alternatives = [
            (_longest_text(outside),),
            *(tuple(map(_longest_text, GROUP.sub("\0", group).split("|"))) for group in groups),
        ]
        return max(alternatives, key=lambda texts: min(len(text.strip()) for text in texts))

    @cached_property
    def compiled(self) -> re.Pattern[str]:
        """The pattern with the names of the section's parts replaced by the parts."""
        pattern = self.pattern
        for _ in range(PART_DEPTH):
            pattern = PART.sub(lambda m: TABLE[self.section]["parts"].get(m[1], m[0]), pattern)
        return re.compile(pattern)


def _longest_text(pattern: str) -> str:
    """The longest text that a pattern without groups must find."""
    return max(NO_TEXT.sub("\0", pattern).replace(r"\x27", "'").split("\0"), key=len)


@cache
def rewording_rules(section: str) -> tuple[Rule, ...]:
    """The rules of a section of rewording.toml."""
    return tuple(Rule(section, pattern, plain) for pattern, plain in TABLE[section]["rules"])


REMARK = Rule("story", TABLE["remark"])
ATTRIBUTION = Rule("story", TABLE["attribution"])
KNOWN_TO = Rule("statement", *TABLE["statement"]["known_to"])


def each_named(sentence: Sequence[Token]) -> list[Token]:
    """The sentence with what is numbered named one by one: "the first and third boxes" are two phrases with "box"."""
    expanded, low, i = list[Token](), [token.low for token in sentence], 0
    while i < len(low):
        ends, j = [i + 2], i + 2  # after each ordinal
        while low[i] == "the" and low[i + 1 : i + 2] and low[i + 1] in wordset("ordinals"):
            k = j + (low[j : j + 1] == [","])
            k += low[k : k + 1] == ["and"]
            if k == j or low[k : k + 1] == [] or low[k] not in wordset("ordinals"):
                break
            j = k + 1
            ends.append(j)
        nouns = next((n for n in (1, 2) if (word := low[j + n - 1 : j + n]) and singular(word[0]) != word[0]), 0)
        if len(ends) == 1 or not nouns:
            expanded.append(sentence[i])
            i += 1
            continue
        last = sentence[j + nouns - 1]
        kind = [*sentence[j : j + nouns - 1], replace(last, text=singular(last.low))]
        for n, end in enumerate(ends):
            joint = [Token("and", last.start, last.start)] * (n > 0)
            expanded += [*joint, sentence[i], sentence[end - 1], *kind]
        i = j + nouns
    return expanded


def reworded(sentence: Sequence[Token], names: Collection[str]) -> list[Token]:
    """The tokens of a sentence in plain wording; the same tokens if no rule fits."""
    plain_tokens = list(sentence)
    if len(plain_tokens) > LONGEST_SENTENCE:
        return plain_tokens
    plain_tokens = each_named(plain_tokens)
    words, places = _as_text(plain_tokens, names)
    for rule in rewording_rules("story"):
        if any(text in words for text in rule.needed) and (match := rule.compiled.search(words)):
            plain_tokens = _filled(rule.plain, match, plain_tokens, places)
            words, places = _as_text(plain_tokens, names)
    return plain_tokens


def _as_text(sentence: Sequence[Token], names: Collection[str]) -> tuple[str, list[int]]:
    """The tokens as one text in lower case (a name is `@Ann`, a quote `"`, a dash a comma), and their beginnings."""
    words = ['"' if t.quote else f"@{t.text}" if t.text in names else "," if t.text == "-" else t.low for t in sentence]
    return " ".join(words), list(accumulate((len(word) + 1 for word in words[:-1]), initial=0))


def _filled(plain: str, match: re.Match[str], sentence: Sequence[Token], places: Sequence[int]) -> list[Token]:
    """The tokens of a plain wording, in which `{x}` stands for the tokens that the group `x` matched.

    `{o}` is the owner whose possessive the group `o` matched.
    """
    start, end = sentence[0].start, sentence[-1].end
    out: list[Token] = []
    for part in plain.split():
        field = FIELD.fullmatch(part)
        if part == '"':
            out += [token for token in sentence if token.quote]
        elif field is None:
            out.append(Token(part, start, end))
        elif match[field[1]]:
            low, high = match.span(field[1])
            inside = [token for token, place in zip(sentence, places, strict=True) if low <= place < high]
            out += [_owner(inside[0])] if field[1] == "o" else inside
    return out


def _owner(possessive: Token) -> Token:
    """Who has what is "his", "her" or "Ann's"."""
    return replace(possessive, text=HOLDERS.get(possessive.low, possessive.text))


def rejoined(sentences: Sequence[Sequence[Token]], names: Collection[str]) -> list[list[Token]]:
    """The sentences, with remarks such as "; that is where she put it" made part of the sentence before.

    So is the rest of what somebody says: '"Look in the box," Ann said. "It is there."'
    """
    out: list[list[Token]] = []
    for sentence in sentences:
        words, _ = _as_text(sentence, names)
        if out and REMARK.compiled.search(words) and not any(token.quote for token in out[-1]):
            out[-1] += [Token(",", sentence[0].start, sentence[0].start), *sentence]
        elif out and len(out[-1]) == 1 and out[-1][0].quote and ATTRIBUTION.compiled.search(words):
            out[-1] += sentence
        elif out and len(sentence) == 1 and sentence[0].quote and _goes_on(out[-1]):
            out[-1].append(sentence[0])
        else:
            out.append(list(sentence))
    return out


def _goes_on(sentence: Sequence[Token]) -> bool:
    """Whether a speaker has not finished: the quote ends with a comma, and words follow it."""
    quotes = [i for i, token in enumerate(sentence) if token.quote]
    return len(quotes) == 1 and quotes[0] < len(sentence) - 1 and sentence[quotes[0]].text.endswith(",")


def plainer(text: str) -> str:
    """A statement about a mind with roundabout wordings of "thinks" and "wants" replaced by the plain verbs."""
    for rule in rewording_rules("statement"):
        text = rule.compiled.sub(rule.plain, text) if any(needle in text for needle in rule.needed) else text
    return text


def known_to(text: str) -> str:
    """A statement with "... is known to Ann" made "Ann knows ..."."""
    return KNOWN_TO.compiled.sub(KNOWN_TO.plain, text)
