"""Reading which of several options a reply chooses: by an explicit answer, or by naming one option and no other.

A choice is only taken from words that make one: `J`, `Answer: J, since F would lose`, `I choose J.`
Beside the option, a lead and a reason, the sentence may have no other words than those of choosing. In a chain of
thought it may, if subject, verb and option say the choice: `Therefore, in round 4, you should choose J to win.`
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
OTHER = "the other player"
LISTED = AROUND + "#>-()[]{}|,“”‘’"  # what may stand before an answer, too
SLOT = "\ue000"  # stands for the option in a sentence; a private character, which is removed from replies

ANSWER = re.compile(
    r"(?:so|thus|therefore|hence)?[, ]*(?:(?:my|the|our|final|best|correct)\s+)*answer(?:\s+is)?[\s*_`\"']*[:=]\s*(.*)",
    re.IGNORECASE | re.DOTALL,
)
THE_ANSWER_IS = re.compile(
    r"^\W*(?:so|thus|therefore|hence)?[, ]*(?:my|the) (?:final |best |correct )?answer is (?:option )?(\S+)$",
    re.IGNORECASE,
)
"""A last line that states the answer and nothing else."""
BOXED = re.compile(r"\\boxed\{(?:\\text\{)?([^{}]*)\}{1,2}")
"""An answer as mathematicians mark it."""
ALONE = re.compile(r"^[^\w\\]*" + BOXED.pattern + r"\W*$")
"""A line with nothing but such an answer."""
MARKS = re.compile(r"[*_`\"“”«»\[\](){}<>#|\\]+")
STOPS = re.compile(r"[.!;](?=\s|$)|\n|,(?= (?:so|therefore) )")
CLAUSES = re.compile(rf"{STOPS.pattern}|,? and (?=(?:i|you|they|(?:the |my )?(?:other player|opponent|partner)) )")

_TOLD = packaged("otherminds.language", "choices.toml")
_LEADS = tuple(_TOLD["leads"])
_WORDS = {name: "|".join(words) for name, words in _TOLD.items()}
_CHOOSING = {
    theirs: re.compile(rf"(?:[\s:,']|\b(?:{_WORDS['choosing']}|{more})\b)*")
    for theirs, more in ((False, "you"), (True, _WORDS["others"]))
}
"""All that may stand beside the option in a sentence that chooses it, except for leads and reasons."""
_REASON = re.compile(rf"(?:^|[\s,:])(?:{_WORDS['reasons']}|[:–—-]) .*")
_EXPLAINED = re.compile(r"[ ,(]+(?:because|since|as(?! well))(?: (?!but )[^\s,.!;:]+){2,}", re.IGNORECASE)
_BACK = re.compile(rf"\?|\b(?:{_WORDS['retractions']})\b|(?:^|[.!;\n]\s*)(?:{_WORDS['turns']})\b")
_HEDGE = re.compile(rf"{_BACK.pattern}|\b(?:{_WORDS['hedges']})\b|[,:–—-]\s*(?:{_WORDS['turns']})\b")
_CONCLUSION = re.compile(rf"\W*(?:{_WORDS['conclusions']})\b")
_CHOOSE, _OPTION = rf"(?:{_WORDS['verbs']})", rf"(?: the)?(?: option)? ?{SLOT}"
_DENIED = re.compile(rf"\bnot{_OPTION}|{SLOT} is (?:not |no longer |im|un)(?:possible|available|allowed|valid)\b")
_HEADS = {
    theirs: re.compile(
        rf"\b(?:{subjects})\b(?:'[a-z]+)?(?: (?:{_WORDS['modals']}))* {_CHOOSE}{_OPTION}"
        rf"|{lookbehind}\b(?:{_WORDS['nouns']})\b[^.,;:!?{SLOT}]*?(?:\bis|\bbe|:)(?: to)?(?: {_CHOOSE})?{_OPTION}"
        rf"|\b(?:best|better|optimal|safest|rational|reasonable|sense) to {_CHOOSE}{_OPTION}"
    )
    for theirs, subjects, lookbehind in (
        (False, "i|we|you|me|us|let's", "(?<!player's )(?<!opponent's )(?<!partner's )(?<!their )"),
        (True, "player|opponent|partner|they|he|she|both players", ""),
    )
}
"""Subject, verb and option of a sentence that chooses, whatever else it says."""
_BOTH = re.compile(rf"{SLOT}[^,;]*,? and (?:now |the |other )*(?:player|opponent|partner|they|you|i)\b")
ITEM = re.compile(rf"\s*(?:-|\u2022)\W*(?:option )?{SLOT}(?: in round \d+)?\W*$|\s+(?:option )?{SLOT}\W*$")
"""An item of a list that only names an option."""
_PURPOSE = re.compile(r" to (?!be\b).*?(?= (?:is|be)\b)")
"""What a best option is best for."""
_ASIDE = re.compile(r", (?:given|considering|assuming|based|since)\b[^,]*,(?= (?:is|would|will|should)\b)")
_POINTS = re.compile(r"[-+]\d|\d+ points?\b")
_AND = re.compile(r",? and (?:i|we|you|they|(?:the |my )?(?:other player|opponent|partner))\b.*")
_NAMED = re.compile(r"\boption ([A-Z]{1,3})\b")
"""What is named like an option, though it may be none: the X of the question, or two letters in one."""
_TELLS = re.compile(
    r"\W*(?:(?:in|at the end of) round (\d+)(?: of \d+)?,? )?(you|i|the other player) "
    r"(?:(?:have |has )?(chosen?)|chooses?)( .*)",
    re.IGNORECASE | re.DOTALL,
)
"""A reply that begins by telling what somebody chooses."""
_UNCHOSEN = re.compile(r",? (?:which means|instead of|rather than)\b[^.\n]*", re.IGNORECASE)
_BOTH_CHOOSE = re.compile(r"( [^,.\n]*?),? and (you|the other player) cho(?:oses?|se)( (?:option )?\S+)", re.IGNORECASE)
"""How such a reply ends if it also tells what the other one chooses."""
_SINCE = re.compile(r"^(?:since|because|as|given|considering|based)\b[^,]*,")
_WANT = re.compile(r"\bif you (?:want|wish|aim|prefer) to [^,]*,", re.IGNORECASE)
_IF = re.compile(r"\b(?:if|when|unless|assuming|suppose|supposing|either)\b")
_CONDITIONAL = re.compile(r"^\W*(?:if|when)\b[^,]*,.*")
"""A conditional sentence, whose `not` does not speak against the option."""
_RULE = re.compile(
    r"\b(?:you|they|players?)\b[^.\n]*\b(?:receives?|wins?|gets?|earns?|scores?)\b[^.\n]*\b(?:points?|score)\b"
)
_AGAINST = re.compile(rf"\b(?:{_WORDS['against']})\b|n't\b")
_NOT_CHOOSING = re.compile(rf"{_AGAINST.pattern}|\byou chose\b")
_LETTERS = ("a", "i")  # names of options that are also English words


def read_choice(
    text: str, labels: Sequence[str], *, reasons: bool = False, theirs: bool = False, round_number: int | None = None
) -> int | Unreadable:
    """The number of the option that a reply chooses, or why it cannot be read.

    Lines that begin with `Answer:` count, if there are any: all have to name the same option, and nothing after the
    last one may take it back or name another. Else the reply has to name one option and no other, in a short sentence
    that chooses it. With `reasons`, the last sentence of a chain of thought that chooses counts, whatever it named
    before.
    `theirs`: the question is which option another player will choose; without it, sentences about what others do choose
    nothing. `round_number`: the number of the round in question; a move of that round told in the past tense is read as
    well.
    """
    if len(text) > LONGEST_REPLY:
        return unreadable(f"is longer than {LONGEST_REPLY:,} characters", text)
    restated = _told(text, theirs=theirs, round_number=round_number)
    lines = [line for line in restated.split("\n") if line.strip() and not line.strip().startswith("```")]
    lines = [BOXED.sub(r"\1", ALONE.sub(r"Answer: \1", line)) for line in lines]
    lines[-1:] = [THE_ANSWER_IS.sub(r"Answer: \1", line) for line in lines[-1:]]
    if reasons:  # a line `My answer is:` announces the next one
        lines = [line for line in lines[:-1] if (rest := _answer(line)) is None or rest.strip(LISTED)] + lines[-1:]
    if not lines:
        return unreadable("is empty", text)
    answers = [(place, rest) for place, line in enumerate(lines) if (rest := _answer(line)) is not None]
    if answers:
        choice = _explicit(lines, answers, labels)
    else:
        choice = _plain("\n".join(lines), labels, theirs=theirs)
        if isinstance(choice, str) and reasons:
            choice = _concluded(lines, labels, theirs=theirs)
    return choice if isinstance(choice, int) else unreadable(choice, text)


def _told(text: str, *, theirs: bool, round_number: int | None) -> str:
    """A reply that tells of the round in question, put as a choice of the player in question; others as they are."""
    match = _TELLS.fullmatch(text)
    if not match or match[1] not in (None, str(round_number)):
        return text
    chooser, what = match[2].casefold(), _UNCHOSEN.sub("", match[4])
    if (pair := _BOTH_CHOOSE.fullmatch(what.rstrip(AROUND))) and (pair[2].casefold() == OTHER) != (chooser == OTHER):
        chooser, what = (chooser, pair[1]) if (chooser == OTHER) == theirs else (pair[2].casefold(), pair[3])
    elif match[3] and chooser == "you" and (not match[1] or STOPS.search(what.rstrip(LISTED))):
        return text  # it tells of the past
    return f"{chooser} choose{what}" if (chooser == OTHER) == theirs else text


def _answer(line: str) -> str | None:
    """The text after `Answer:` in a line; None if the line is no answer."""
    match = ANSWER.match(line.lstrip(LISTED))
    return match[1] if match else None


def _explicit(lines: Sequence[str], answers: Sequence[tuple[int, str]], labels: Sequence[str]) -> int | str:
    """The option of the lines that are answers, or why there is none."""
    options = {rest: _named(rest, labels) for rest in {rest for _, rest in answers}}
    if len({rest if option is None else option for rest, option in options.items()}) > 1:
        return "gives two answers"
    last, after = options[answers[-1][1]], "\n".join(lines[answers[-1][0] + 1 :])
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
    choice = _plain(_EXPLAINED.sub("", answer), labels, theirs=True)
    return choice if isinstance(choice, int) else None


def _plain(text: str, labels: Sequence[str], *, theirs: bool) -> int | str:
    """The one option that a short text names and chooses, or why there is none."""
    if len(text) > LONGEST_SENTENCES:
        return "is long, and does not end with an answer"
    mentioned = set(_mentions(text, labels))
    if len(mentioned) != 1:
        return "names several options" if mentioned else "names no option"
    slotted = _slotted(text, labels)
    if _HEDGE.search(_lowered(text)):
        return "hedges, asks or refuses"
    sentences = [sentence for sentence in CLAUSES.split(slotted) if SLOT in sentence]
    is_choice = [_chooses(sentence, theirs=theirs) for sentence in sentences]
    non_choices = [sentence for sentence, chooses in zip(sentences, is_choice, strict=True) if not chooses]
    if (
        not any(is_choice)
        or _DENIED.search(slotted)
        or any(map(_NOT_CHOOSING.search, non_choices))
        or (len(sentences) > 1 and _RULE.search(_lowered(text)))
    ):
        return "names an option without choosing it"
    return mentioned.pop()


def _concluded(lines: Sequence[str], labels: Sequence[str], *, theirs: bool) -> int | str:
    """The option that a chain of thought chooses, or why there is none.

    It is the last one that a sentence chooses. Others may choose other options only before one that concludes, or that
    is the only one of the last line, and in its line only if it is the last sentence of all. Nothing after it may take
    it back.
    """
    end = max((place for place, line in enumerate(lines) if _mentions(line, labels)), default=0)
    split = [(place, text) for place, line in enumerate(lines) for text in STOPS.split(line[-LONGEST_READ:])]
    sentences = [(place, text) for place, text in split if text.strip(LISTED)]
    sentences[-1:] = [(place, _WANT.sub("", text)) for place, text in sentences[-1:]]
    # a condition changes nothing if no other option is ever named
    surely = len(sentences) == 1 and len(set(_mentions(sentences[0][1], labels))) == 1 and not theirs
    chosen_options = (
        None if ITEM.match(_slotted(text, labels)) else _chosen(text, labels, theirs=theirs, surely=surely)
        for _, text in sentences
    )
    choices = [(k, option) for k, option in enumerate(chosen_options) if option is not None]
    if not choices:
        return "does not end with an answer"
    last, answer = choices[-1]
    concludes, ends = (
        sentences[last][0] == end and _CONCLUSION.match(_lowered(sentences[last][1])),
        last == len(sentences) - 1,
    )
    alone = (
        ends and last > 0 and sentences[last - 1][0] != sentences[last][0] and all(k != last - 1 for k, _ in choices)
    )
    rival_lines = [sentences[k][0] for k, option in choices if option != answer]
    if (rival_lines and not (concludes or alone)) or (end in rival_lines and not ends):
        return "does not end with one answer"
    after = [text for _, text in sentences[last + 1 :]]
    if any(not _mentions(name, labels) for text in (sentences[last][1], *after) for name in _NAMED.findall(text)):
        return "names what is no option"
    against = any(answer in _mentions(text, labels) and _speaks_against(_lowered(text)) for text in after)
    return "takes its answer back" if against or _BACK.search(_lowered(". ".join(after))) else answer


def _speaks_against(sentence: str) -> bool:
    """Whether a sentence speaks against an option that it names; that one gives no points does not."""
    return bool(_AGAINST.search(_CONDITIONAL.sub("", sentence))) and not _POINTS.search(sentence)


def _chosen(sentence: str, labels: Sequence[str], *, theirs: bool, surely: bool = False) -> int | None:
    """The option that a sentence of a chain of thought chooses, which may name others before it or in a reason.

    `surely`: under a condition, too.
    """
    slotted = " ".join(_slotted(sentence, labels).split())
    plain = _SINCE.sub("", _ASIDE.sub("", slotted))
    head = _HEADS[theirs].search(plain)
    case = plain if head is None else plain[: head.end()] + _REASON.sub("", plain[head.end() :])
    if _BOTH.search(case) and not _CONCLUSION.match(plain):
        return None  # it tells what both do in some case
    option = None if "i chose " in plain or plain.count(SLOT) > 1 else _plain(sentence, labels, theirs=theirs)
    if isinstance(option, int) or not head:
        return option if isinstance(option, int) else None
    before, after = plain[: head.start()], plain[head.end() :]
    further = _REASON.sub("", _AND.sub("", after) if _CONCLUSION.match(plain) else after)
    if any(
        (
            _AGAINST.search(_PURPOSE.sub("", head[0])),
            _IF.search(before.rpartition(",")[2] if surely else before),
            _HEDGE.search(plain),
            SLOT in further,
        )
    ):
        return None
    mentioned = _mentions(sentence, labels)
    alike = len(mentioned) != slotted.count(SLOT)  # a name that fits two options
    return None if alike else mentioned[len(mentioned) - after.count(SLOT) - 1]


def _chooses(sentence: str, *, theirs: bool) -> bool:
    """Whether a sentence, with SLOT for each option, makes a choice: all its words are of choosing."""
    before, _, after = " ".join(sentence.split()).strip(" -–—:,").partition(SLOT)
    *leads, start = before.split(",")
    plain = [lead for lead in leads if not lead.lstrip().startswith(_LEADS) or _AGAINST.search(lead)]
    words = " ".join((*plain, start, _REASON.sub("", after).replace(SLOT, "")))
    return words.strip() != "and" and bool(_CHOOSING[theirs].fullmatch(words))


def _lowered(text: str) -> str:
    return MARKS.sub(" ", text).replace("’", "'").replace("‘", "'").casefold()


def _slotted(text: str, labels: Sequence[str]) -> str:
    """A text in lower case without marks, with SLOT for each name of an option."""
    return _lowered(_pattern(tuple(labels)).sub(SLOT, text.replace(SLOT, "")))


def _mentions(text: str, labels: Sequence[str]) -> list[int]:
    """The options that a text names, in order; two for a name that fits two options."""
    options = []
    for match in _pattern(tuple(labels)).finditer(text.replace(SLOT, "")):
        options += [i for i, label in enumerate(labels) if label.strip(AROUND).casefold() == match[0].casefold()]
    return options


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
