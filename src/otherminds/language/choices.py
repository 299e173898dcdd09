"""Reading which of several options a reply chooses: by an explicit answer, or by naming one option and no other.

A choice is only taken from words that make one: `J`, `Answer: option J`, `I choose J because it pays more`.
Two options, refusals, hedges, questions, and sentences that only mention an option are unreadable.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from otherminds.language.asking import LONGEST_REPLY, Unreadable, unreadable

LONGEST_READ = 2000  # characters of the last line of a chain of thought that are read; chosen
LONGEST_SENTENCES = 600  # characters of a reply, or of its last line, that is read without the word `Answer:`; chosen
AROUND = " \t\r*_`\"'."  # spaces, quotes and emphasis that may stand around an answer
LISTED = AROUND + "#>-()[]{}|,“”‘’"  # what may stand before an answer, too
SLOT = "\ue000"  # stands for the option in a sentence; a private character, which is removed from replies

ANSWER = re.compile(
    r"(?:so|thus|therefore|hence)?[, ]*(?:(?:my|the|our|final|best|correct)\s+)*answer(?:\s+is)?[\s*_`\"']*[:=]\s*(.*)",
    re.IGNORECASE | re.DOTALL,
)
MARKS = re.compile(r"[*_`\"“”«»\[\](){}<>#|\\]+")
STOPS = re.compile(r"[.!;](?=\s|$)|\n")

# Parts of a sentence that makes a choice, in lower case, with SLOT in place of the option

_OPTION = rf"(?:the )?(?:(?:option|choice|action|move|letter)\s*:? )?'?{SLOT}'?(?: (?:option|choice|action|move))?"
_SURELY = r"(?:(?:again|also|definitely|certainly|just|now|probably|(?:most )?likely|simply|still|therefore|thus) )*"
_PLAY = r"(?:choose|pick|select|go with|go for|opt for|play|take|prefer|stick with|stick to|stay with|keep|use|repeat)"
_PLAYING = r"(?:choosing|picking|selecting|going with|going for|opting for|playing|taking|sticking with)"
_PLAYED = r"(?:chose|picked|selected|chosen)"
_WILL = (
    r"(?:(?:'ll|'d| will| would| shall| should| must| want to| need to| decide to| have decided to| have to|"
    r" prefer to|'m going to| am going to|'d like to| would like to|'ve decided to) "
    rf"{_SURELY}(?:{_PLAY} )?| {_SURELY}{_PLAY} |(?:'m| am) {_SURELY}{_PLAYING} |(?: have|'ve)? {_PLAYED} )"
)
_THINK = r"(?:i (?:think|believe|guess|expect|predict|say|conclude)(?: that)?,? )?"
_NOUN = r"(?:answer|choice|option|decision|move|action|pick|selection|response|prediction|guess|play|strategy)"
_GOOD = (
    r"(?:my|the|our|final|best|better|optimal|correct|right|safest|next|preferred|recommended|chosen|dominant|likely|"
    r"most|predicted)"
)
_WHEN = (
    r"(?: (?:for|in|of) (?:this|the (?:next|current|first|last)|my|our)? ?(?:round|turn|game|move)(?: \d+)?| now|"
    r" here)?"
)
_IS = rf"(?: is| would be| will be| should be|'s)? ?[:=]? (?:to {_PLAY} |that i {_PLAY} )?"
_THEY = r"(?:(?:the|my) )?(?:other player|opponent|partner|player 2|other one|other|they|he|she|it)"
_THEY_WILL = (
    rf"(?:(?:'ll| will| would| should|'s going to| is going to| are going to| is likely to| are likely to) {_SURELY}"
    rf"(?:{_PLAY} )?| {_SURELY}(?:chooses|picks|selects|plays|goes with|keeps|keeps choosing|keeps playing) )"
)
_LEAD = (
    r"(?:(?:so|thus|therefore|hence|then|and|ok|okay|sure|alright|well|yes|certainly|of course|overall|finally|"
    r"in conclusion|in summary|in short|for now|this time|(?:in|for) (?:this|the next|the current) round)[,:!]? |"
    r"(?:in|for) (?:the )?round \d+(?: |[^,:;]{0,60}[,:] )|"
    r"(?:based on|given|considering|to|since|as|because|after|looking at|from|with) [^,:;]{1,200}[,:] )*"
)
_OWN = (
    rf"{_THINK}i{_WILL}{_OPTION}",
    rf"{_THINK}i'?d? (?:choose|pick|select|predict|expect|say|guess|want|recommend|suggest) {_OPTION}",
    rf"(?:let's|let me|let us|we should|i) {_PLAY} {_OPTION}",
    rf"(?:{_PLAY}|{_PLAYING}) {_OPTION}",
    rf"{_THINK}(?:{_GOOD} )*{_NOUN}{_WHEN}{_IS}{_OPTION}",
    rf"(?:the (?:option|one)|what) (?:that )?i(?:'ll| will|'d| would)? {_PLAY}{_WHEN} is:? {_OPTION}",
    rf"{_THINK}{_OPTION} (?:it is|it's|is what i(?:'ll| will)? {_PLAY})",
    rf"{_THINK}{_OPTION} (?:is|seems|looks|would be) (?:(?:to be )?{_GOOD} )+(?:{_NOUN})?",
    rf"{_THINK}{_OPTION}",
)
_YOURS = rf"{_THINK}you (?:(?:should|would|will|must|have to) )?{_SURELY}{_PLAY} {_OPTION}"  # to itself
_THEIRS = rf"{_THINK}{_THEY}{_THEY_WILL}{_OPTION}"
_AFTER = (
    r"(?:,? ?(?:please|again|now)\b)?"
    r"(?:(?:\s*[,:–—-])? (?:because|since|as|so that|in order to|given|based on|due to|considering|"
    rf"which|for|to(?! be| avoid$)|in|on|this|every|it|that|at|not|"
    rf"instead of|rather than) [^{SLOT}]*|\s*[:–—-] [^{SLOT}]+)?"
)
_PAST = re.compile(
    r"\b(?:chose|picked|selected|chosen)\b.*\b(?:round|last|previous|before|earlier|so far)\b|\brounds? .*\bchose\b"
)
_HEDGE = re.compile(
    r"\?|\b(?:either|neither|nor|unless|except|maybe|perhaps|unsure|uncertain|undecided|not sure|unable to|refuse|"
    r"sorry|apolog\w+|hard to say|on second thought|scratch that|never mind|just kidding|no idea|error|depends|not my|"
    r"if not|take (?:that|it) back|changed? my mind|joking|(?:do not|don't) (?:know|choose|pick|care)|"
    r"(?:not|cannot|can't|won't) (?:choose|decide|say|pick|answer|tell|play))\b|"
    r"(?:^|[.!;\n,:–—-]\s*)(?:actually|wait|no|nope|hmm|but|however|or|though|although)\b"
)
_AGAINST = re.compile(
    r"\b(?:not|never|no|avoid|against|worse|worst|wrong|bad|reject\w*|rul(?:e|ed|ing) out|mistake)\b|n't\b"
)
_SPOKEN = re.compile(r"\b(?:i|my|answer)\b")
_LETTERS = ("a", "i")  # names of options that are also English words


def _sentence(parts: Sequence[str]) -> re.Pattern[str]:
    return re.compile(rf"{_LEAD}(?:{'|'.join(parts)}){_AFTER}")


_CHOICES = {False: _sentence((_YOURS, *_OWN)), True: _sentence((_THEIRS, *_OWN))}


def read_choice(text: str, labels: Sequence[str], *, reasons: bool = False, theirs: bool = False) -> int | Unreadable:
    """The number of the option that a reply chooses, or why it cannot be read.

    Lines that begin with `Answer:` count, if there are any: all have to name the same option, and nothing after the
    last one may take it back or name another. Else the reply has to name one option and no other, in a short sentence
    that chooses it. With `reasons`, such a sentence at the end is enough, whatever options were named before it.
    `theirs`: the question is which option another player will choose; without it, sentences about what others do choose
    nothing.
    """
    if len(text) > LONGEST_REPLY:
        return unreadable(f"is longer than {LONGEST_REPLY:,} characters", text)
    lines = [line for line in text.split("\n") if line.strip() and not line.strip().startswith("```")]
    if not lines:
        return unreadable("is empty", text)
    answers = [(place, rest) for place, line in enumerate(lines) if (rest := _answer(line)) is not None]
    if answers:
        found = _explicit(lines, answers, labels)
    else:
        found = _plain("\n".join(lines), labels, theirs=theirs)
        if isinstance(found, str) and reasons:
            found = _last(lines, labels, theirs=theirs)
    return found if isinstance(found, int) else unreadable(found, text)


def _answer(line: str) -> str | None:
    """The text after `Answer:` in a line; None if the line is no answer."""
    found = ANSWER.match(line.lstrip(LISTED))
    return found[1] if found else None


def _explicit(lines: Sequence[str], answers: Sequence[tuple[int, str]], labels: Sequence[str]) -> int | str:
    """The option of the lines that are answers, or why there is none."""
    named = {rest: _named(rest, labels) for rest in {rest for _, rest in answers}}
    if len({rest if one is None else one for rest, one in named.items()}) > 1:
        return "gives two answers"
    last, after = named[answers[-1][1]], "\n".join(lines[answers[-1][0] + 1 :])
    if last is None:
        return "names no option, or several, as its answer"
    if after and (set(_mentions(after, labels)) - {last} or _HEDGE.search(_lowered(after))):
        return "goes on after its answer with another option, or takes it back"
    return last


def _named(answer: str, labels: Sequence[str]) -> int | None:
    """The option that an answer names, by nothing else than its name or with a reason after it."""
    bare = answer.strip(AROUND)
    if f"{bare} "[:7].casefold() == "option ":
        bare = bare[7:].strip(AROUND)
        if not bare:
            return None
    exact = [i for i, label in enumerate(labels) if bare and label.strip(AROUND).casefold() == bare.casefold()]
    if exact:
        return exact[0] if len(exact) == 1 else None
    if len(answer) > LONGEST_SENTENCES:
        return None
    found = _plain(answer, labels, theirs=True)
    return found if isinstance(found, int) else None


def _plain(text: str, labels: Sequence[str], *, theirs: bool) -> int | str:
    """The one option that a short text names and chooses, or why there is none."""
    if len(text) > LONGEST_SENTENCES:
        return "is long, and does not end with an answer"
    mentioned = set(_mentions(text, labels))
    if len(mentioned) != 1:
        return "names several options" if mentioned else "names no option"
    if _HEDGE.search(_lowered(text)):
        return "hedges, asks or refuses"
    sentences = [one for one in STOPS.split(_slotted(text, labels)) if SLOT in one]
    chosen = [_chooses(one, theirs=theirs) for one in sentences]
    others = [one for one, chooses in zip(sentences, chosen, strict=True) if not chooses]
    if not any(chosen) or any(map(_AGAINST.search, others)):
        return "names an option without choosing it"
    return mentioned.pop()


def _last(lines: Sequence[str], labels: Sequence[str], *, theirs: bool) -> int | str:
    """The option that the last line of a chain of thought chooses, or why there is none.

    All its sentences that choose have to agree, also with earlier lines in which the writer chooses and does nothing
    else. The option named last has to be the chosen one.
    """
    sentences = [one for one in STOPS.split(lines[-1][-LONGEST_READ:]) if one.strip(LISTED)]
    chosen = [_plain(one, labels, theirs=theirs) for one in sentences]
    places = [place for place, option in enumerate(chosen) if isinstance(option, int)]
    if not places:
        return "does not end with an answer"
    after, named = ". ".join(sentences[places[-1] + 1 :]), _mentions(lines[-1], labels)
    found = chosen[places[-1]]
    earlier = {_plain(line, labels, theirs=theirs) for line in lines[:-1] if _SPOKEN.search(_lowered(line))}
    options = {one for one in (*earlier, *chosen) if isinstance(one, int)}
    if options != {found} or named[-1] != found:
        return "does not end with one answer"
    against = any(
        found in _mentions(one, labels) and _AGAINST.search(_lowered(one)) for one in sentences[places[-1] + 1 :]
    )
    return "takes its answer back" if against or _HEDGE.search(_lowered(after)) else found


def _chooses(sentence: str, *, theirs: bool) -> bool:
    """Whether a sentence, with SLOT for each option, makes a choice."""
    plain = " ".join(sentence.split()).strip(" -–—:,")
    return bool(_CHOICES[theirs].fullmatch(plain)) and not _PAST.search(plain)


def _lowered(text: str) -> str:
    return MARKS.sub(" ", text).replace("’", "'").replace("‘", "'").casefold()


def _slotted(text: str, labels: Sequence[str]) -> str:
    """A text in lower case without marks, with SLOT for each name of an option."""
    return _lowered(_pattern(tuple(labels)).sub(SLOT, text.replace(SLOT, "")))


def _mentions(text: str, labels: Sequence[str]) -> list[int]:
    """The options that a text names, in order; two for a name that fits two options."""
    found = []
    for match in _pattern(tuple(labels)).finditer(text.replace(SLOT, "")):
        found += [i for i, label in enumerate(labels) if label.strip(AROUND).casefold() == match[0].casefold()]
    return found


@lru_cache(maxsize=256)
def _pattern(labels: tuple[str, ...]) -> re.Pattern[str]:
    """A pattern for the names of options as whole words, in upper or lower case.

    A name that is an English word of one letter counts only in its own case, after `option` or a verb of choosing, or
    before a mark.
    """
    names = sorted({label.strip(AROUND) for label in labels} - {""}, key=len, reverse=True)
    return re.compile("|".join(map(_word, names)) or r"(?!)", re.IGNORECASE)


def _word(name: str) -> str:
    word = rf"(?<!\w)(?<!\w['’]){re.escape(name)}" if name[0].isalnum() else re.escape(name)
    word += r"(?!\w)" if name[-1].isalnum() else ""
    if name.casefold() not in _LETTERS:
        return word
    before = "|".join(rf"(?<={verb} )" for verb in ("option", "choose", "pick", "select", "play", "with", "is"))
    return rf"(?-i:(?:{before}){word}(?!')|{word}(?=\s*(?:\Z|[^\w\s'’])))"
