"""Reading which of several options a reply chooses: its final statement, without thoughts, dress and reasons.

A sentence is coded: an option is a private character, any other word the letter of what it does (`choices.toml`), or
nothing. `So I will choose option J, since F loses` is coded as `smovNJ,rFw`. A choice is then a pattern of few letters:
subject, verb, option; noun, `is`, option; or nothing but an option.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from functools import lru_cache
from typing import NamedTuple

from otherminds.files.toml import packaged
from otherminds.language.asking import LONGEST_REPLY, Unreadable, unreadable

LONGEST_READ = 20_000  # characters at the end of a reply that are read; chosen
LONGEST_SENTENCE = 400  # letters at the end of a coded sentence that are read; chosen
LONGEST_MISSPELT = 300  # characters of a reply in which misspelt words are put right; chosen
ALIKE = 0.8  # similarity (difflib) from which a word counts as a misspelt name; chosen
AROUND = " \t\r*_`\"'.()"  # spaces, quotes, brackets and emphasis that may stand around an answer
FIRST, SEVERAL = "\ue000", "\uf8ff"  # stand for the first option, and for an answer with several options or none
ANY = f"[{FIRST}-{SEVERAL}]"
SHORT = 3  # letters: a code up to it is an illegal answer, a longer name may be misspelt; chosen
WEAK, PLAIN, CONCLUDED, EXPLICIT, FINAL = range(5)  # how strongly a sentence chooses

HALF_WIDTH = {wide: wide - 0xFEE0 for wide in range(0xFF01, 0xFF5F)}  # of letters and signs as wide as CJK characters

_TABLE = packaged("otherminds.language", "choices.toml")
_TEXT = re.IGNORECASE | re.MULTILINE
Rewriter = Sequence[tuple[re.Pattern[str], str]]


def _pattern(text: str, flags: int = 0) -> re.Pattern[str]:
    """A pattern in which `O` in brackets stands for every option, and a word in capitals for a part of the table."""
    for name, part in _TABLE["parts"].items():
        text = text.replace(name, part)
    return re.compile(re.sub(r"O(?=[^\[\]]*\])", ANY[1:-1], text), flags)


def _patterns(part: str, flags: int = 0) -> dict[str, re.Pattern[str]]:
    return {name: _pattern(text, flags) for name, text in _TABLE[part].items()}


def _rewriter(name: str, flags: int = 0) -> Rewriter:
    return [(_pattern(text, flags), replacement) for text, replacement in _TABLE["rewriting"][name]]


def _rewritten(text: str, rewriter: Rewriter) -> str:
    for pattern, replacement in rewriter:
        text = pattern.sub(replacement, text)
    return text


_LETTERS: dict[str, str] = {}
for _verb in _TABLE["words"]["v"]:
    _LETTERS |= {f"{_verb}{ending}": "v" for ending in ("s", "es")}
    _LETTERS |= {f"{stem}ing": "V" for stem in (_verb.removesuffix("e"), _verb + _verb[-1])}
_LETTERS |= {word: letter for letter, words in _TABLE["words"].items() for word in words}
_PHRASES = sorted((w for w in _LETTERS if len(w) > 1 and not re.fullmatch("[a-z]+", w)), key=len, reverse=True)
_TOKEN = re.compile(_TABLE["parts"]["TOKEN"].replace("PHRASE", "|".join(map(re.escape, _PHRASES))), _TEXT | re.VERBOSE)
_DRESS, _NAMES, _SENTENCE = _patterns("dress", _TEXT), _patterns("names", _TEXT), _patterns("sentence")
_CHOICE = [_patterns(side, re.VERBOSE) for side in ("own", "theirs")]
_UNDRESSED, _CUT, _WITHOUT_ASIDES = _rewriter("undressed", _TEXT), _rewriter("cut"), _rewriter("without_asides")


class _Statement(NamedTuple):
    """What a sentence says: the option it chooses, how strongly, if as a correction; which options it takes back."""

    option: str = ""
    strength: int = WEAK
    corrects: bool = False
    withdrawn: str = ""


def read_choice(
    text: str, labels: Sequence[str], *, theirs: bool = False, round_number: int | None = None
) -> int | Unreadable:
    """The number of the option that a reply chooses by its final statement, or why it cannot be read.

    `labels` are the options in the order in which the question lists them. `theirs`: the question is which option
    another player will choose; without it, sentences about what others do choose nothing. `round_number`: the number of
    the round in question; moves of other rounds choose nothing, and a partner's move in this one is a prediction.
    """
    if len(text) > LONGEST_REPLY:
        return unreadable(f"is longer than {LONGEST_REPLY:,} characters", text)
    answer, is_cut = _without_thoughts(text.translate(HALF_WIDTH))
    about = answer, tuple(labels), theirs, round_number
    choice = _short_choice(*about) if len(answer) <= LONGEST_MISSPELT else _choice(*about)
    if len(choice) == 1:
        return ord(choice) - ord(FIRST)
    if is_cut:
        return unreadable("was cut off while it thought", text, "cut")
    refuses = _DRESS["refusal"].search(answer)
    return unreadable("declines to choose", text, "refused") if refuses else unreadable(choice, text)


def _without_thoughts(text: str) -> tuple[str, bool]:
    """A reply up to the end of the model's turn, without its thoughts, and whether these are cut off."""
    parts: list[str] = []
    start, is_thought = 0, False
    for tag in _DRESS["thought"].finditer(text):
        if tag["closing"]:
            parts, start, is_thought = parts if is_thought else [], tag.end(), False
        elif not is_thought:
            parts.append(text[start : tag.start()])
            is_thought = True
    last = text[start:].rstrip().rpartition("\n\n")[2] if is_thought else text[start:]  # of thoughts that do not end
    answer = "".join(parts) + (last if not is_thought or _DRESS["last"].fullmatch(last) else "")
    return next((turn for turn in _DRESS["end"].split(answer) if turn.strip()), ""), is_thought


def _spelt(text: str, labels: Sequence[str]) -> str:
    """A text in which words that are nearly an option, `answer` or `option` are spelt like it."""
    names = {name.casefold(): name for name in ("answer", "option", *labels) if len(name) > 3 and name.isalpha()}

    def nearest(match: re.Match[str]) -> str:
        word = match[0].casefold()
        similar = get_close_matches(word, names, 2, ALIKE)
        is_word = word in _LETTERS or any(word.startswith(name.removesuffix("e")) for name in names)
        return match[0] if is_word or len(similar) != 1 else names[similar[0]]

    return re.sub(r"[^\W\d_]{3,20}", nearest, text)


# From a reply to coded sentences


@lru_cache(maxsize=1024)
def _short_choice(text: str, names: tuple[str, ...], theirs: bool, round_number: int | None) -> str:
    """As `_choice`, where need be once words are spelt right; most short replies are given again and again."""
    choice = _choice(text, names, theirs, round_number)
    return choice if len(choice) == 1 else _choice(_spelt(text, names), names, theirs, round_number)


def _choice(text: str, names: tuple[str, ...], theirs: bool, round_number: int | None) -> str:
    """The character of the option that a text chooses, or why it chooses none."""
    if not text.strip():
        return "is empty"
    if _DRESS["error"].search(text):
        return "is an error message"
    choice, strength, is_fresh = "", -1, False
    for statement in _statements(text, names, theirs, round_number):
        choice, strength = _weighed(choice, strength, statement, is_fresh)
        is_fresh = bool(statement.option)
    named = {name.lastindex for name in _names(names)[1].finditer(text)}
    if choice == SEVERAL:
        return f"names {'several options' if len(named) > 1 else 'no option'} as its answer"
    return choice or ("names an option without choosing it" if named else "names no option")


def _weighed(choice: str, strength: int, statement: _Statement, is_fresh: bool) -> tuple[str, int]:
    """The choice and its strength after one more statement; `is_fresh`: the statement before chose, too."""
    if statement.withdrawn:
        is_withdrawn = choice and (statement.withdrawn == SEVERAL or choice in statement.withdrawn)
        return ("takes its answer back", -1) if is_withdrawn else (choice, strength)
    if statement.option in ("", choice) or (choice == SEVERAL and statement.strength < strength):
        return choice, max(strength, statement.strength) if statement.option else strength
    disagrees = is_fresh and statement.strength == EXPLICIT and PLAIN <= strength <= CONCLUDED and choice != SEVERAL
    narrows = statement.strength == strength and (strength == CONCLUDED or (choice == SEVERAL and strength < EXPLICIT))
    if statement.corrects or narrows or (statement.strength > strength and not disagrees):
        return statement.option, statement.strength
    return "gives two answers", max(strength, statement.strength)


def _statements(text: str, names: tuple[str, ...], theirs: bool, round_number: int | None) -> Iterator[_Statement]:
    """What the sentences of a text say, up to where the model goes on with another turn or round."""
    is_first, is_heading, is_answered = True, False, False
    for line in _rewritten(text, _UNDRESSED)[-LONGEST_READ:].splitlines():
        coded = _coded(line, names, round_number)
        if _DRESS["turn"].match(line) and (is_answered or ("h" in coded and coded.endswith("?"))):
            return
        if not coded.strip(",.:;"):
            continue
        is_bare = is_first and re.fullmatch(f"[nN]?{ANY}[.]?", coded)
        is_echo = SEVERAL in coded and _DRESS["echo"].fullmatch(line)
        is_row = "|" in line.strip("| \t")  # of a table, which lists more often than it chooses
        for sentence in () if is_echo else re.findall(r"[^.?]+[.?]?", _SENTENCE["rebuttal"].sub("?", coded)):
            statement = _statement(sentence[-LONGEST_SENTENCE:], theirs)
            if is_row and statement.strength < FINAL:
                statement = statement._replace(strength=WEAK)
            elif is_heading and statement.option:
                statement = statement._replace(strength=max(EXPLICIT, statement.strength))
            if statement.option and (is_bare or statement.strength >= EXPLICIT):
                is_answered = is_answered or not _DRESS["numbered"].match(line)
            yield statement
        is_first, is_heading = False, bool(is_echo or (not is_row and _SENTENCE["heading"].fullmatch(coded)))
    if is_heading:
        yield _Statement(SEVERAL, FINAL, corrects=True)


@lru_cache(maxsize=64)
def _names(labels: tuple[str, ...]) -> tuple[dict[str, str], re.Pattern[str]]:
    """The characters of options by their names in lower case, and a pattern with a group for each of these names."""
    codes: dict[str, str] = {}
    for k, label in enumerate(labels):
        name = _rewritten(label.translate(HALF_WIDTH), _UNDRESSED).strip(AROUND).casefold()
        codes[name] = SEVERAL if name in codes else chr(ord(FIRST) + k)
    codes = {name: codes[name] for name in sorted(codes, key=len, reverse=True) if name}
    return codes, re.compile("|".join(f"({_name(name)})" for name in codes) or "(?!)", re.IGNORECASE)


def _name(name: str) -> str:
    """A pattern for an option as a whole word, with the endings of a verb."""
    is_verb = len(name) > 3 and name.isalpha() and name.isascii()
    ending = (_NAMES["ending_e"] if name.endswith("e") else _NAMES["ending"]).pattern if is_verb else ""
    word = re.escape(name.removesuffix("e") if is_verb else name) + ending
    return _NAMES[name].pattern if name in _NAMES else _NAMES["before"].pattern + word + _NAMES["after"].pattern


def _coded(line: str, labels: tuple[str, ...], round_number: int | None) -> str:
    """A line with a character for each option and a letter for each other word."""
    codes, pattern = _names(labels)
    form = _DRESS["form"].match(line := re.sub(ANY, "", line))  # which is read whatever the option is called
    name = line[form.end() if form else 0 :].strip(AROUND)
    name = re.sub(r"^option(?!\S)", "", name, flags=re.IGNORECASE).strip(AROUND).casefold()
    name = name if name in codes or f"option {name}" not in codes else f"option {name}"
    if form and name not in codes and len(name) > SHORT:  # one word of an option, its beginning, or nearly its name
        similar = [option for option in codes if name in option.split() or (" " in name and option.startswith(name))]
        similar = similar or get_close_matches(name if name.isalpha() else "", codes, 2, ALIKE)
        name = similar[0] if len(similar) == 1 else name
    if name in codes or (form and not name):
        return ("uf:" if form and "final" in form[0].lower() else "f:" if form else "") + codes.get(name, "")
    line = pattern.sub(lambda match: [*codes.values()][(match.lastindex or 1) - 1], line)
    marked = _DRESS["unknown"].sub(SEVERAL, line).strip("| \t")
    letters: list[str] = []
    for token in _TOKEN.finditer(" ".join(marked.split())):
        letters.append(_letter(token, letters, len(labels), round_number))
    return "".join(letters)


def _letter(token: re.Match[str], before: Sequence[str], options: int, round_number: int | None) -> str:
    """The letter of a token in a line of which the letters before it are known."""
    kind, word = token.lastgroup or "", token[0].lower()
    if kind == "round":
        return "" if round_number is None else "R" if int(token["round"]) == round_number else "h"
    if kind in _TABLE["tokens"]:
        return str(_TABLE["tokens"][kind])
    if re.match(ANY, word):
        return word
    letter = _LETTERS.get(word, "w" if kind == "word" else _LETTERS.get(word[0], ""))
    if letter.isdigit():  # an ordinal; 0 is the last
        return chr(ord(FIRST) + (int(letter) or options) - 1) if int(letter) <= options else SEVERAL
    if letter in ("former", "latter"):
        pair = [code for code in before if FIRST <= code < SEVERAL]
        return pair[-2 if letter == "former" else -1] if len({*pair}) == 2 else "w"
    return letter


# From a coded sentence to what it says


@lru_cache(maxsize=1024)
def _statement(sentence: str, theirs: bool) -> _Statement:
    """What a coded sentence says."""
    rules = _SENTENCE
    if rules["unsure"].fullmatch(sentence):
        return _Statement(SEVERAL, EXPLICIT)
    if sentence.endswith("?"):
        return _Statement(withdrawn=SEVERAL if rules["withdrawal"].search(sentence) else "")
    sentence = (sentence.replace("D", "v") if theirs and "R" in sentence else sentence).replace("R", "").strip(".,")
    if rules["note"].match(sentence):
        return _Statement()
    sentence = _rewritten(sentence, _CUT)
    sentence = rules["several"].sub(lambda m: m[0][0] if len({*re.findall(ANY, m[0])}) == 1 else SEVERAL, sentence)
    sentence = _rewritten(sentence, _WITHOUT_ASIDES)
    denied = "" if "c" in sentence else "".join(map("".join, rules["denial"].findall(sentence)))
    sentence = rules["contrast"].sub("", sentence)
    head = rules["head"].fullmatch(sentence)
    is_aside = head and _CHOICE[theirs]["aside"].fullmatch(head[1])
    if is_aside or rules["narrated"].match(sentence):
        return _Statement()
    if head and rules["label"].fullmatch(head[1]):
        sentence, strength = head[2].strip(",. "), FINAL if re.search("[use]", head[1]) else EXPLICIT
    else:
        strength = WEAK if rules["listed"].match(sentence) else PLAIN
        sentence = rules["blocked"].sub(r"\1p", rules["mention"].sub("w", sentence))
    sentence = _CHOICE[theirs]["viewpoint"].sub("M" if theirs else "T", sentence)
    sentence = rules["conditional"].sub("", re.sub("(?<=[vV]):", "", sentence).replace(":", ","))
    clauses = [*_clauses(sentence, strength, theirs, denied)]
    choices = [clause for clause in clauses if clause.option]
    if not choices and strength >= EXPLICIT and (SEVERAL in sentence or 0 < len(sentence.replace(",", "")) <= SHORT):
        return _Statement(SEVERAL, EXPLICIT)
    if not clauses or clauses[-1].withdrawn:
        withdrawn = clauses[-1].withdrawn if clauses else denied
        return _Statement(SEVERAL, strength) if choices and strength >= EXPLICIT else _Statement(withdrawn=withdrawn)
    return _together(choices)


def _clauses(sentence: str, strength: int, theirs: bool, denied: str) -> Iterator[_Statement]:
    """What the clauses of a sentence say, as far as they say anything. `denied`: options that are not chosen."""
    before, is_chosen = "", False
    for clause in re.split("[,;]|(?=s)", sentence):
        is_alternative = clause.startswith("l")
        is_start, before = not before, before + clause
        option, is_praise = _chosen(clause, theirs, denied)
        if option and not (is_praise and "a" in before):
            concludes = "s" in before or ("B" in before and not is_praise)
            level = strength if strength >= EXPLICIT else CONCLUDED if concludes else WEAK if is_praise else strength
            yield _Statement(SEVERAL if is_alternative else option, level, re.search("[au]", before) is not None)
            is_chosen = True
        elif option or _SENTENCE["withdrawal"].search(clause) or (is_alternative and (is_chosen or is_start)):
            yield _Statement(withdrawn=SEVERAL)


def _chosen(clause: str, theirs: bool, denied: str) -> tuple[str, bool]:
    """The option that a clause chooses, if any, and whether it only praises it."""
    rules = _CHOICE[theirs]
    choice = rules["says"].search(clause) or (None if rules["other"].search(clause) else rules["is"].search(clause))
    if choice is None or rules["reported"].search(clause):
        return "", False
    after = clause[choice.end() :]
    if re.search("[xhcp]", clause[: choice.start()]) or re.search("[hcp]", after):
        return "", False
    options = re.findall(ANY, choice[0])
    option = options[0] if choice[0].startswith(options[0]) else options[-1]
    further = {*re.findall(ANY, after)} - {option, *denied}
    return "" if option in denied else SEVERAL if further else option, choice[0][-1] in "genNfE"


def _together(choices: Sequence[_Statement]) -> _Statement:
    """The strongest of several choices in a sentence; the last one if they correct or conclude, else all must agree."""
    best = max((choice.corrects, choice.strength) for choice in choices)
    strongest = [choice for choice in choices if (choice.corrects, choice.strength) == best]
    agree = len({choice.option for choice in strongest}) == 1 or strongest[-1].corrects or best[1] == CONCLUDED
    return strongest[-1] if agree else strongest[-1]._replace(option=SEVERAL)
