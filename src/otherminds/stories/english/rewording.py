"""Finding phrases in a wording, and putting it into plainer words."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Sequence
from functools import cache
from importlib import resources

from otherminds.stories.english.lexicon import lexicon
from otherminds.stories.english.sentences import LONGEST_SENTENCE, Token
from otherminds.stories.model import Stance

Rule = tuple[re.Pattern[str], str]
FIELD = re.compile(r"\{(\w+)\}")


@cache
def _rules() -> tuple[tuple[Rule, ...], re.Pattern[str]]:
    """The rules in their order, and what begins a remark on the sentence before; short names are put in full."""
    text = (resources.files("otherminds.stories.english") / "rewording.toml").read_text("utf-8")
    table = tomllib.loads(text)

    def full(pattern: str) -> re.Pattern[str]:
        for _ in range(3):
            pattern = re.sub(r"(?<!\?P)<([a-z]+)>", lambda m: table["parts"].get(m[1], m[0]), pattern)
        return re.compile(pattern)

    return tuple((full(pattern), plain) for pattern, plain in table["story"]["rules"]), full(table["remark"])


def reworded(sentence: Sequence[Token], names: Collection[str]) -> list[Token]:
    """The tokens of a sentence in plain order; the same tokens if no rule fits."""
    found = list(sentence)
    for pattern, plain in _rules()[0] if len(found) <= LONGEST_SENTENCE else ():
        words, places = _written(found, names)
        match = pattern.search(words)
        if match:
            found = _ordered(match, plain, found, places)
    return found


def _written(found: Sequence[Token], names: Collection[str]) -> tuple[str, list[int]]:
    """The tokens as one text, names marked by "@" and quotes no more than a mark; and where each begins in it."""
    words = ['"' if t.quote else f"@{t.text}" if t.text in names else t.low for t in found]
    places, at = [], 0
    for word in words:
        places.append(at)
        at += len(word) + 1
    return " ".join(words), places


def _ordered(match: re.Match[str], plain: str, found: Sequence[Token], places: Sequence[int]) -> list[Token]:
    """The tokens in the order of a rule's outcome, in which `{x}` is what the group of that name found."""
    start, end = found[0].start, found[-1].end
    out: list[Token] = []
    for part in plain.split():
        field = FIELD.fullmatch(part)
        if part == '"':
            out += [token for token in found if token.quote]
        elif field is None:
            out.append(Token(part, start, end))
        elif match[field[1]]:
            low, high = match.span(field[1])
            out += [token for token, place in zip(found, places, strict=True) if low <= place < high]
    return out


def rejoined(sentences: Sequence[Sequence[Token]], names: Collection[str]) -> list[list[Token]]:
    """The sentences, with remarks such as "; that's where she put it" and "; he could see that" part of the first."""
    remark = _rules()[1]
    out: list[list[Token]] = []
    for sentence in sentences:
        words, _ = _written(sentence, names)
        if out and remark.search(words) and not any(token.quote for token in out[-1]):
            out[-1] += [Token(",", sentence[0].start, sentence[0].start), *sentence]
        else:
            out.append(list(sentence))
    return out


# ruff: noqa: E501  (patterns are easier to read on one line)


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
NAME = r"([A-Z]\w+|he|she|they|He|She|They)"
TAKING = (
    r"(?i:figuring|thinking|believing|assuming|supposing|guessing|reckoning|presuming|suspecting|imagining|judging"
    r"|concluding|gathering|understanding|knowing|feeling(?: sure| certain)?|sensing|expecting|taking it|under(?: the)?"
    r" (?:the )?(?:impression|assumption|belief)|in the belief|on the assumption|(?:being |feeling )?(?:convinced|sure"
    r"|certain|confident|persuaded|positive|of the (?:opinion|view|belief|impression)|under the impression)"
    r"|having (?:concluded|gathered|figured|decided|inferred|worked out|assumed|guessed|formed the (?:belief|impression|view)"
    r"|come to (?:believe|think|the conclusion)|got the (?:idea|impression)|taken it))"
)
WISH = r"(?:wish|desire|goal|aim|intention|plan|purpose|preference|hope|object|objective|want|will)"
NO_MATTER = (
    r"(?:a matter of (?:\w+ )?indifference|of no (?:\w+ )?(?:concern|consequence|importance|interest|account|moment"
    r"|significance|matter)(?: at all| whatsoever| whatever)?|all (?:the same|one)|neither here nor there|immaterial"
    r"|irrelevant|unimportant|of little (?:concern|consequence|importance|interest|account|moment)|no (?:concern|business"
    r"|affair)|a matter of no (?:\w+)|no skin off|nothing|something about which \w+ cared nothing|no matter)"
)
STRAIGHT = (
    # whom it is about goes in front, so that it is the subject
    (
        rf"^(?i:it|all this|that) (?:made|makes|would have made|made absolutely|made very) (?:no|little|not the slightest)"
        rf"(?: real)? (?:difference|odds|matter) (?:at all )?to {NAME}\b",
        r"\1 was indifferent to",
    ),
    (
        rf"^(?i:it) (?:did not|didn't|does not|doesn't) (?:really |much |particularly )?(?:matter|make (?:any|a|the slightest|"
        rf"much)(?: bit of)? difference|make a difference) (?:in the (?:least|slightest) |at all |much |one bit )?to {NAME}\b",
        r"\1 was indifferent to",
    ),
    (
        rf"^(?i:it) (?:did not|didn't|does not|doesn't) (?:really |much )?(?:concern|bother|interest) {NAME}\b",
        r"\1 was indifferent to",
    ),
    (rf"^(?i:it) (?:was|is) {NO_MATTER} (?:to|for|of) {NAME}\b,?", r"\1 was indifferent to"),
    (
        rf"^(?i:it) (?:mattered|meant|matters|means) (?:nothing|little|not at all|not a bit) (?:at all )?to {NAME}\b",
        r"\1 was indifferent to",
    ),
    (
        rf"^(?:As far as {NAME} was concerned|To {NAME}|For {NAME}|With {NAME}),? it (?:was {NO_MATTER}|made no difference"
        r"|did not matter|didn't matter|mattered little|mattered not)\b",
        r"\1\2\3\4 was indifferent to",
    ),
    (rf"^(.+?),? (?:was|is|were) {NO_MATTER} (?:to|for|of) {NAME}\.?$", r"\2 was indifferent to \1"),
    (rf"^(.+?),? (?:made|makes) no (?:real )?difference (?:at all )?to {NAME}\.?$", r"\2 was indifferent to \1"),
    (rf"^(.+?),? (?:meant|mattered|means) (?:nothing|little|not at all) to {NAME}\.?$", r"\2 was indifferent to \1"),
    (
        rf"^(.+?),? (?:did not|didn't|does not|doesn't) (?:matter (?:at all )?to|concern|bother|interest) {NAME}\b.*$",
        r"\2 was indifferent to \1",
    ),
    (
        rf"^(?i:the|it was the|it was) (?:\w+ )?{WISH} of {NAME} (?:was |is )?(?:to\b|that (?:he|she) should\b)",
        r"\1 wanted to",
    ),
    (rf"^(?i:it was|it is) {NAME}'s (?:\w+ )?{WISH} to\b", r"\1 wanted to"),
    (
        rf"^(?i:what) {NAME} (?:had in mind|wanted|intended|was trying to do|was after|was up to|meant to do|sought"
        rf"|was aiming (?:at|for)|was doing|hoped for|aimed at) (?:was|is) (?=to |for |that )(?:to )?",
        r"\1 wanted to ",
    ),
    (
        rf"^(?i:in|to) the (?:opinion|mind|view|eyes|judgement|judgment|estimation|belief|thinking|head) of {NAME},?\s*",
        r"\1 thinks that ",
    ),
    (rf"^(?i:as) {NAME} (?:saw|sees|understood|had) (?:it|things|matters),?\s*", r"\1 thinks that "),
    (
        rf"^(?i:to) {NAME}'s (?:way of thinking|thinking|knowledge|understanding|best knowledge),?\s*",
        r"\1 thinks that ",
    ),
    (
        rf"^(?i:in) {NAME}'s (?:judgement|judgment|thoughts|thinking|reckoning|imagination|understanding),?\s*",
        r"\1 thinks that ",
    ),
    (rf"^(?i:by) {NAME}'s reckoning,?\s*", r"\1 thinks that "),
    (
        rf"^(?i:it was|it is) (?:{NAME}'s (?:firm )?{CONVICTION}|the (?:firm )?{CONVICTION} of {NAME}) that\b",
        r"\1\2 thought that",
    ),
    (rf"^(?i:the) (?:firm )?{CONVICTION} of {NAME} was that\b", r"\1 thought that"),
    (rf"^(?i:it was) (?:believed|thought|assumed|supposed|held) by {NAME} that\b", r"\1 thought that"),
    (
        rf"^(?:The|the) (\w+) (?:was|is) (?:believed|thought|assumed|supposed|held|taken|imagined) by {NAME} to (?:be|lie)\b",
        r"\2 thought that the \1 was",
    ),
    (
        rf"^(?:The|the) (\w+),? (?:{NAME} (?:thought|believed|figured|supposed|reckoned|assumed|guessed|imagined)|in {NAME}'s (?:"
        rf"mind|view|opinion|eyes|belief)|as {NAME} saw it),? (was|is|lay)\b",
        r"\2\3\4 thought that the \1 was",
    ),
    (
        rf"^{NAME} (?:took|takes|held|imagined|believed|supposed|thought|reckoned|judged|presumed|considered|figured) (the [a-z ]+?)"
        r" to (?:be|lie|be lying|be found)(?: to be found| located| kept)? (in|on)\b",
        r"\1 thought that \2 was \3",
    ),
    (
        rf"^{NAME} (?:was|had been) (?:led to (?:think|believe|assume)|inclined to think|under the belief|under the assumption|given"
        r" to (?:think|believe)|minded to think|working on the assumption|operating under the assumption)(?: that)?\b",
        r"\1 thought that",
    ),
    (rf"^{NAME} (?:was|is) going on the (?:assumption|idea|notion) that\b", r"\1 thought that"),
    (
        rf"^{NAME} (?:had|got|had got|harboured|harbored|cherished|entertained|formed|was of|laboured under) (?:it in (?:his|her) head|the"
        r" (?:idea|notion|impression|mind|belief|conviction|thought|opinion|view)) that\b",
        r"\1 thought that",
    ),
    (
        rf"^{NAME} (?:would have (?:said|sworn|guessed|bet)|could have sworn|was betting|bet|wagered|fancied)"
        r" (?:that )?(?=the )",
        r"\1 thought that ",
    ),
    (rf"^{NAME} (?:had|has) it in (?:his |her )?(?:mind|head) that\b", r"\1 thought that"),
    (rf"^(.+?) (?:is|was) (?:\w+ly |well )?(?:known|familiar|no secret|no mystery) to {NAME}\.?$", r"\2 knows \1"),
    (
        rf"^(.+?) (?:was|were|is) (?:\w+ly )?(?:unknown|a mystery|a closed book|not known|unclear|obscure) to {NAME}"
        r"(?:,? who|,? and (?:he|she)|,? so (?:he|she))?\b",
        r"\2 did not know \1 and",
    ),
    (rf"^(?i:it) (?:was|is) (?:no|not any) (?:concern|business|affair) of {NAME}'s\b", r"\1 was indifferent to"),
    (
        rf"^(.+?) left {NAME} (?:quite |entirely |completely )?(?:cold|indifferent|unmoved)\b",
        r"\2 was indifferent to \1",
    ),
    # what somebody takes another to want, and does about it
    (
        rf"^(?:Unaware|Ignorant|Oblivious|Uncertain|Unsure) (?:of|as to|about|what) ([^,]+), {NAME}\b",
        r"\2 was unaware of \1 and",
    ),
    (rf"^(?:With|Having) (no (?:idea|clue|notion|knowledge|inkling|sense)[^,]+), {NAME}\b", r"\2 had \1 and"),
    (
        rf"^(?:Not knowing|Without knowing|Knowing nothing of|Knowing nothing about|In ignorance of|In the dark about|Without any idea"
        rf"(?: of)?|Never knowing|Not realizing|Not having a clue|Clueless about|Clueless as to) ([^,]+), {NAME}\b",
        r"\2 did not know \1 and",
    ),
    (
        rf"^(?:Being|Remaining) (unaware[^,]+|ignorant[^,]+|in the dark[^,]+|unsure[^,]+|oblivious[^,]+|uninformed[^,]+), {NAME}\b",
        r"\2 was \1 and",
    ),
    (rf"^{TAKING}(?: that)? ([^,]+), {NAME}\b", r"\2 thought that \1 and"),
    (rf"^{NAME},? {TAKING}(?: that)? ([^,]+), ", r"\1 thought that \2 and "),
    (
        rf"^{NAME}, who (?:had )?(took|believed|thought|figured|assumed|supposed|reckoned|guessed|imagined|presumed|gathered|understood|"
        r"was (?:convinced|sure|certain|under the impression|of the opinion))(?: that)? ([^,]+), ",
        r"\1 thought that \3 and ",
    ),
    (
        rf"^{NAME}, who (had no|knew nothing|did not know|didn't know|was unaware|was ignorant|had not) ([^,]+), ",
        r"\1 \2 \3 and ",
    ),
    (
        rf"^(?:Since|Because|As) {NAME} (took|believed|thought|figured|assumed|supposed|reckoned|guessed|imagined|presumed|was convinced)"
        rf"(?: that)? ([^,]+), (?:he|she|they|\1)\b",
        r"\1 thought that \3 and",
    ),
    (rf"\b(?:it )?(?:to be|was|is) the {WISH} of {NAME} (?:that|for|to have)\b", r"\1 wanted"),
    (rf"\b(?:it )?(?:to be|was|is) {NAME}'s {WISH} (?:that|for|to have)\b", r"\1 wanted"),
    (rf"\bthought that {NAME} to (want|wish|desire|prefer|intend|be after)", r"thought that \1 wanted"),
    (
        rf"^{NAME} (?:took|believed|thought|supposed|understood|judged|imagined|assumed) {NAME} to (?:want|wish for|desire|prefer|intend)\b",
        r"\1 thought that \2 wanted",
    ),
    (
        r"\b(?:wanted|wished|desired) (?:that )?(the [a-z ]+?) (?:should|would|to) (?:be|lie|go|end up|stay)\b",
        r"wanted \1",
    ),
)
LYING = (
    (
        r"(?i)\b(thinks|thought|believed|believes) that (the [a-z ]+?) (?:lay|lies|sat|sits|stood|stands|rested|rests|resided|dwelt"
        r"|was to be found|is to be found|was located|was situated|was kept|was hidden|was sitting|was lying|had to be|must be"
        r"|had been left|had been put|would be|might be|must have been|were)(?= (?:in|on|inside)\b)",
        r"\1 that \2 was",
    ),
    (
        rf"^{NAME} (?:expected|was expecting|counted on|was counting on) (?:to find|finding) (the [a-z ]+?) (in|on|inside) ",
        r"\1 thought that \2 was \3 ",
    ),
    (r"\bthat (?:one|you|he|she) (?:would|could|might) find (the [a-z ]+?) (in|on|inside) ", r"that \1 was \2 "),
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
    for pattern, replacement in (*STRAIGHT, *PLAINER, *LYING):
        text = re.sub(pattern, replacement, text)
    return text


def known_to(text: str) -> str:
    """The statement with "is known to Ann" made "Ann knows"."""
    return re.sub(
        rf"^(?:that )?(.+?) (?:is|was) (?:\w+ly |well )?(?:known|familiar|no secret|no mystery) to {NAME}\.?$",
        r"\2 knows \1",
        text,
    )


def has(words: str, phrases: Sequence[str]) -> bool:
    """Whether one of the phrases is in the words; `*` stands for one or several words."""
    padded = f" {words} "
    return any(_within(padded, phrase) for phrase in phrases)


def _within(padded: str, phrase: str) -> bool:
    head, star, tail = phrase.partition(" *")
    place = padded.find(f" {head} ")
    if not star or not tail:
        return place >= 0
    while place >= 0:
        following = padded[place + len(head) + 1 :].split()[:8]
        if f" {tail.strip()} " in f" {' '.join(following[1:])} ":
            return True
        place = padded.find(f" {head} ", place + 1)
    return False


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
