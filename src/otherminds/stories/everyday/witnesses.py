"""What two people believe of a thing that one of them moves once, in a story told in many words.

Such stories say little of the move and much around it (OpenToM: Xu et al. 2024). Three things are read: which of the
two moves it, whether the other one sees that, and whether the mover is wrong about that ("unbeknownst to her, he had
watched"). What both believe, and what each takes the other to believe, follows: who knows of the move believes in the
new place, others in the old one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from otherminds.stories.everyday.changes import SENTENCE, SMALL, WORD, Grounds, stems
from otherminds.stories.everyday.reading import sentences_of
from otherminds.stories.everyday.words import cue

PERSPECTIVE = re.compile(r"^From (?:the )?(?P<who>narrator|[\w-]+?)(?:['’]s?)? perspective, (?P<rest>.+)$")
OTHER = re.compile(r"\b(?:does|do|did) (?P<who>[\w-]+) think\b")
THING = re.compile(r"\b(?:is|are|that) (?:the )?(?P<thing>[\w ]+?) (?:is |are )?(?:in its initial|located)\b")
CHANGING = re.compile(r"\b(?:how (?:does|do|would|will)|think) (?P<thing>.+?)(?:['’]s?)? (?:fullness|accessibility)\b")
AT_FIRST = re.compile(r"\bin the beginning\b")
PERSONAL = re.compile(r"\b(?:he|she|they)\b", re.IGNORECASE)
THEM = re.compile(r"\b(?:it|them)\b", re.IGNORECASE)
NEAR = 90  # characters after a name in which what its bearer does is looked for (chosen)
MOVES, DEED, ALONE, ASIDE = 2, 1.5, 2.0, 1.5  # weights of signs of who moves it (chosen on development stories)


class Move(NamedTuple):
    """Who moved a thing, whether the other one saw that, and whether the mover is wrong about that.

    `first` is the number of the first sentence that tells of the move, `told` are the sentences this rests on.
    """

    mover: str
    seen: bool
    mistaken: bool
    first: int
    told: tuple[str, ...]

    def known(self, chain: Sequence[str]) -> bool:
        """Whether the first of these people knows of the move or, if there are two, takes the second to know of it.

        For nobody it is what is so.
        """
        if not chain or set(chain) == {self.mover}:
            return True
        return self.seen if chain[0] != self.mover else self.seen != self.mistaken


def option_after_move(text: str, stem: str, options: Sequence[str]) -> Grounds | None:
    """The option that says where a thing is from somebody's perspective, or how it or a place changes; None if open."""
    asked = PERSPECTIVE.match(stem.strip())
    if asked is None or len(options) < 2:
        return None
    rest = asked["rest"]
    chain = [asked["who"]] * (asked["who"] != "narrator") + [other["who"] for other in OTHER.finditer(rest)]
    subject = THING.search(rest) or CHANGING.search(rest)
    sentences = [match.group().strip() for match in SENTENCE.finditer(text) if match.group().strip()]
    pair = _two_people(text, chain)
    if subject is None or pair is None:
        return None
    holder = "fullness" in rest
    move = find_move(sentences, pair, None if holder else subject["thing"])
    if move is None:
        return None
    known = move.known(chain) and not AT_FIRST.search(rest)
    choices = {option.lower().strip(" ."): option for option in options}
    if holder:
        old = _first_told(sentences, subject["thing"]) < move.first
        found = choices.get(("less full" if old else "more full") if known else "equally full")
    elif "accessibility" in rest:  # whoever knows nothing of the move knows of no change; what it is to others is open
        found = None if known else choices.get("equally accessible")
    elif {*choices} == {"yes", "no"}:
        found = choices["no" if known else "yes"]
    else:
        found = _place(sentences, move, options, new=known)
    return None if found is None else Grounds(found, move.told)


def _two_people(text: str, chain: Sequence[str]) -> tuple[str, str] | None:
    """The two people whom a story names most often, if those of the question are among them; else None."""
    _, names = sentences_of(text)
    known = names - {name for name in names if name.lower() in SMALL} | {*chain}
    pair = [name for name, _ in Counter(one for one in re.findall(r"[\w-]+", text) if one in known).most_common(2)]
    return (pair[0], pair[1]) if len(pair) == 2 and {*chain} <= {*pair} else None


def find_move(sentences: Sequence[str], pair: tuple[str, str], thing: str | None) -> Move | None:
    """Which of two people moves a thing, and what the other one sees of it; None if either is unclear.

    Signs of the mover are being the subject of a move, being left alone, and having done a deed that is named later; of
    the other one, leaving, and seeing or missing it.
    """
    either = "|".join(map(re.escape, pair))
    name = re.compile(rf"\b(?:{either})\b(?!['’])")
    # what is told late is about the move, not about the discovery of the thing
    middle, last = len(sentences) // 2, ""
    score, moves, first = dict[str, float](), Counter[str](), dict[str, int]()
    signs = [sign for n, sentence in enumerate(sentences) for sign in _signs(n, sentence, name)]
    for n, sentence in enumerate(sentences):
        names = list(name.finditer(sentence))
        for deed in cue("shifts").finditer(sentence) if _is_about(sentence, thing) else ():
            who = _subject(sentence[: deed.start()], name, last)
            moves[who] += 1
            if first.get(who, 0) < middle:
                first[who] = n
        last = names[0].group() if names else last
    whole = " ".join(sentences)
    for one in pair:
        own = re.escape(one)
        deeds = re.findall(rf"\b{own}['’]s?\s+(?:[\w-]+\s+){{0,3}}?(?:{cue('deeds').pattern})", whole)
        alone = re.findall(rf"\b(?:leaving|left) {own}\b", whole)
        aside = [sign.kind for sign in signs if sign.who == one]
        score[one] = min(moves[one], MOVES) + DEED * min(len(deeds), 2) + ALONE * len(alone)
        score[one] -= ASIDE * (("left" in aside) + bool({"saw", "missed"} & {*aside}))
    mover, other = sorted(pair, key=lambda one: -score[one])
    if score[mover] == score[other]:
        return None
    others = [sign for sign in signs if sign.who == other]
    late = [sign for sign in others if sign.kind != "left" and sign.sentence >= middle]
    seen = bool(late) and all(sign.kind == "saw" for sign in late)
    if not others:
        return None
    told = dict.fromkeys(sentences[n] for n in (first.get(mover, 0), *(sign.sentence for sign in late or others)))
    return Move(mover, seen, any(sign.blind not in ("", other) for sign in late), first.get(mover, 0), tuple(told))


class _Sign(NamedTuple):
    """That somebody `saw` or `missed` something, or `left`, and who does not know that ("" if nobody is said to)."""

    sentence: int
    who: str
    kind: str
    blind: str


def _signs(n: int, sentence: str, name: re.Pattern[str]) -> Iterator[_Sign]:
    """What a sentence says of what the bearers of names perceive, and of their leaving."""
    hidden = cue("unbeknownst").search(sentence)
    blind = next((group for group in hidden.groups() if group), "") if hidden else ""
    begin = hidden.end() if hidden else 0
    if hidden and name.fullmatch(blind):  # "unbeknownst to Ann, Bob moved it": she missed it
        after = name.search(sentence, begin)
        perceives = after is not None and cue("perceives").search(sentence, after.end())
        if not perceives:
            yield _Sign(n, blind, "missed", "")
    for match in name.finditer(sentence, begin):
        rest = sentence[match.end() : match.end() + NEAR]
        following = name.search(rest)
        rest = rest[: following.start()] if following else rest
        sees = cue("perceives").search(rest)
        if cue("unaware").search(rest) or (sees and cue("denied").search(rest[: sees.start()])):
            yield _Sign(n, match.group(), "missed", blind)
        elif sees:
            yield _Sign(n, match.group(), "saw", blind)
        if cue("departs").search(rest):
            yield _Sign(n, match.group(), "left", blind)


def _subject(before: str, name: re.Pattern[str], last: str) -> str:
    """Who does what comes after these words of a sentence: the nearest name, or whom a pronoun stands for."""
    names, pronouns = list(name.finditer(before)), list(PERSONAL.finditer(before))
    if pronouns and (not names or pronouns[-1].start() > names[-1].start()):
        named = [one.group() for one in names]
        return named[0] if named else last
    return names[-1].group() if names else ""


def _is_about(sentence: str, thing: str | None) -> bool:
    return thing is None or bool(stems(thing) & stems(sentence)) or bool(THEM.search(sentence))


def _first_told(sentences: Sequence[str], words: str) -> int:
    """The number of the first sentence with the head of a noun phrase; beyond the last one if there is none."""
    heads = [word[:-1] if word.endswith("s") else word for word in WORD.findall(words.replace("_", " ").lower())[-1:]]
    return next((n for n, one in enumerate(sentences) if heads and heads[0] in one.lower()), len(sentences))


def _place(sentences: Sequence[str], move: Move, options: Sequence[str], *, new: bool) -> str | None:
    """Of two places the one where the thing is before or after the move: it is told earlier of, or later."""
    if len(options) != 2:
        return None
    told = [_first_told(sentences, option) for option in options]
    if told[0] == told[1]:
        return None
    return options[told.index(max(told) if new else min(told))]
