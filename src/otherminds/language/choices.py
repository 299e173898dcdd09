"""Reading which of several options a reply chooses: by an explicit answer, or by naming one option and no other.

A choice is only taken from words that make one: `J`, `Answer: J, since F would lose`, `I choose J.`
Beside the option, a lead and a reason, the sentence may have no other words than those of choosing.
Two options, refusals, hedges, questions, and sentences that only mention an option are unreadable.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from otherminds.files.toml import packaged
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
STOPS = re.compile(r"[.!;](?=\s|$)|\n|,(?= (?:so|therefore) )")
CLAUSES = re.compile(rf"{STOPS.pattern}|,? and (?=(?:i|you|they|(?:the |my )?(?:other player|opponent|partner)) )")

_TOLD = packaged("otherminds.language", "choices.toml")
_LEADS = tuple(_TOLD["leads"])
_WORDS = {name: "|".join(told) for name, told in _TOLD.items()}
_CHOOSING = {
    theirs: re.compile(rf"(?:[\s:,']|\b(?:{_WORDS['choosing']}|{more})\b)*")
    for theirs, more in ((False, "you"), (True, _WORDS["others"]))
}
"""All that may stand beside the option in a sentence that chooses it, except for leads and reasons."""
_REASON = re.compile(rf"(?:^|[\s,:])(?:{_WORDS['reasons']}|[:–—-]) .*")
_EXPLAINED = re.compile(r"[ ,(]+(?:because|since|as(?! well))(?: (?!but )[^\s,.!;:]+){2,}", re.IGNORECASE)
_HEDGE = re.compile(rf"\?|\b(?:{_WORDS['hedges']})\b|(?:^|[.!;\n,:–—-]\s*)(?:{_WORDS['turns']})\b")
_AGAINST = re.compile(rf"\b(?:{_WORDS['against']})\b|n't\b")
_LETTERS = ("a", "i")  # names of options that are also English words


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
    """The option that an answer names, by nothing else than its name or with a reason, which may name others."""
    bare = answer.strip(AROUND)
    if f"{bare} "[:7].casefold() == "option ":
        bare = bare[7:].strip(AROUND)
        if not bare:
            return None
    exact = [i for i, label in enumerate(labels) if bare and label.strip(AROUND).casefold() == bare.casefold()]
    if exact:
        return exact[0] if len(exact) == 1 else None
    if len(answer) > LONGEST_SENTENCES or _HEDGE.search(_lowered(answer)):
        return None
    found = _plain(_EXPLAINED.sub("", answer), labels, theirs=True)
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
    sentences = [one for one in CLAUSES.split(_slotted(text, labels)) if SLOT in one]
    chosen = [_chooses(one, theirs=theirs) for one in sentences]
    others = [one for one, chooses in zip(sentences, chosen, strict=True) if not chooses]
    if not any(chosen) or any(map(_AGAINST.search, others)):
        return "names an option without choosing it"
    return mentioned.pop()


def _last(lines: Sequence[str], labels: Sequence[str], *, theirs: bool) -> int | str:
    """The option that the last line of a chain of thought chooses, or why there is none.

    It is the last line that names an option. All of its sentences that choose, and all earlier lines that do, have to
    agree, and nothing after them may take it back.
    """
    end = max((place for place, line in enumerate(lines) if _mentions(line, labels)), default=0)
    sentences = [one for one in STOPS.split(lines[end][-LONGEST_READ:]) if one.strip(LISTED)]
    chosen = [_plain(one, labels, theirs=theirs) for one in sentences]
    places = [place for place, option in enumerate(chosen) if isinstance(option, int)]
    if not places:
        return "does not end with an answer"
    found, after = chosen[places[-1]], [*sentences[places[-1] + 1 :], *lines[end + 1 :]]
    earlier = [_plain(line, labels, theirs=theirs) for line in lines[:end]]
    others = any(isinstance(one, int) and one != found for one in (*earlier, *chosen))
    if others or _mentions(lines[end], labels)[-1] != found:
        return "does not end with one answer"
    against = any(found in _mentions(one, labels) and _AGAINST.search(_lowered(one)) for one in after)
    return "takes its answer back" if against or _HEDGE.search(_lowered(". ".join(after))) else found


def _chooses(sentence: str, *, theirs: bool) -> bool:
    """Whether a sentence, with SLOT for each option, makes a choice: all its words are of choosing."""
    before, _, after = " ".join(sentence.split()).strip(" -–—:,").partition(SLOT)
    if "round" not in sentence:  # there, it tells of the past
        before = before.replace("i chose ", "i choose ").replace("i have ", "i ")
    *leads, start = before.split(",")
    plain = [lead for lead in leads if not lead.lstrip().startswith(_LEADS) or _AGAINST.search(lead)]
    words = " ".join((*plain, start, _REASON.sub("", after).replace(SLOT, "")))
    return bool(_CHOOSING[theirs].fullmatch(words))


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
