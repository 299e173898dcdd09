"""Finding phrases in a wording, and putting it into plainer words."""

from __future__ import annotations

import re
from collections.abc import Sequence

from otherminds.stories.model import Stance
from otherminds.stories.text.lexicon import lexicon

MIND = "(?:mind|view|opinion|eyes|knowledge|perspective|belief|head|estimation|point of view)"
CONVICTION = "(?:belief|impression|assumption|guess|understanding|conviction|view|opinion|expectation)"
AIM = "(?:goal|aim|objective|desire|wish|intention|plan|purpose)"
WAS = "(?:is|was|were|has been|had been)"
CONVINCED = (
    "(?:under the impression|of the opinion|of the belief|of the view|convinced|certain|confident|persuaded|sure"
    "|positive)"
)
THOUGHT = "(?:figured|trusted|knew|gathered|concluded|inferred|judged|felt|had reason to believe|imagined|fancied)"
SINCERELY = (
    "(?:mistakenly|wrongly|falsely|correctly|genuinely|truly|honestly|sincerely|privately|already|still|really"
    "|actually|in fact|rightly|firmly|indeed)"
)
PLAINER = (
    (rf"^(?i:when|while|as|by|in|upon|after|before|with)\b(?! far| \w+'s {MIND})[^,]{{0,70}},\s*(?=[A-Z])", ""),
    (rf"(?i)^(?:in|to|from) (\w+)'s {MIND},?\s*", r"\1 thinks that "),
    (
        r"(?i)^(?:as|so) far as (\w+) (?:knew|knows|was aware|could tell|was concerned|is concerned),?\s*",
        r"\1 thinks that ",
    ),
    (r"(?i)^according to (\w+)(?:'s (?:belief|beliefs|knowledge|view))?,?\s*", r"\1 thinks that "),
    (rf"(?i)\b(\w+)'s (?:\w+ )?{AIM} {WAS} to\b", r"\1 wanted to"),
    (rf"(?i)\b(\w+)'s {CONVICTION} {WAS} that\b", r"\1 thought that"),
    (rf"(?i)\b{WAS} (?:after|keen on|set on)\b(?= (?:the|a|an|some|his|her)\b)", "wanted"),
    (rf"(?i)\b{WAS} {CONVINCED}\b", "thought"),
    (r"(?i)\b(?:took|takes) it (?:for granted (?=that)|(?=that))", "thought "),
    (r"(?i)\b(?:held|had|has|holds) (?:the|a) (?:belief|idea|impression|notion|view)\b", "thought"),
    (rf"(?i)\b{THOUGHT}\b", "thought"),
    (rf"(?i)\b{SINCERELY}\s+", ""),
)


def plainer(text: str) -> str:
    """The statement with roundabout ways to say "thinks" and "wants" replaced by these."""
    for pattern, replacement in PLAINER:
        text = re.sub(pattern, replacement, text)
    return text


def has(words: str, phrases: Sequence[str]) -> bool:
    """Whether one of the phrases is in the words; `*` stands for one or several words."""
    padded = f" {words} "
    return any(_within(padded, phrase) for phrase in phrases)


def _within(padded: str, phrase: str) -> bool:
    head, star, tail = phrase.partition(" *")
    place = padded.find(f" {head} ")
    if place < 0 or not star or not tail:
        return place >= 0
    following = padded[place + len(head) + 1 :].split()[1:8]
    return f" {tail.strip()} " in f" {' '.join(following)} "


def stance_of(words: str) -> Stance | None:
    """Whether words speak of helping, hindering, or not caring; None if of neither, or if it is denied."""
    minds = lexicon().minds
    stances: tuple[Stance, ...] = ("independent", "hinder", "help")
    for stance in stances:
        if has(words, minds[stance]):
            return None if stance != "independent" and _refused(words, minds[stance]) else stance
    return None


def _refused(words: str, phrases: Sequence[str]) -> bool:
    """Whether somebody is said not to mean to: "was not trying to help"."""
    padded = f" {words} "
    found = [(padded.find(f" {phrase.partition(' *')[0]} "), phrase) for phrase in phrases if _within(padded, phrase)]
    place, phrase = min(found)
    before = " ".join(padded[:place].split()[-5:])
    return not phrase.startswith(("did", "does", "not")) and has(before, lexicon().minds["refusing"])
