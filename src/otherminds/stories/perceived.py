"""Answers that follow from who perceives what, for four fixed forms of story.

A state changes and an agent notices or not; a container has a label and somebody looks inside; a conversation goes on
while somebody is away; one of two people moves a thing and the other sees it or not. Each form reads the few sentences
that it needs and answers only if the story has them. The words are data in perceived.toml.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from math import fsum, log
from operator import methodcaller
from typing import Literal, NamedTuple

from otherminds.files.toml import packaged
from otherminds.stories.english.lexicon import singular

LONGEST_QUESTION = 1000  # characters; a longer question is not read (chosen, so that time stays linear in the story)
STEM_LETTERS = 5  # first letters by which the forms of a word are recognised as the same (chosen)

_DATA = packaged("otherminds.stories", "perceived.toml")
_WORDS = {name: frozenset(words.split()) for name, words in _DATA["words"].items()}
_PATTERNS = {name: re.compile("|".join(patterns)) for name, patterns in _DATA["patterns"].items()}
WORD = re.compile(r"[^\W\d_]+")
NAME = re.compile(r"[^\W\d_][\w-]*")
SENTENCE = re.compile(r"[^.!?]+[.!?]*")
TURN = re.compile(r"^([A-Z][\w' -]{0,30}): (.+)$", re.MULTILINE)
PRONOUN = re.compile(r"\b(?:he|she|they)\b", re.IGNORECASE)


class Grounds(NamedTuple):
    """The right option, and the passages of the story from which it follows."""

    option: str
    passages: tuple[str, ...]


def option_by_perception(story: str, stem: str, options: Sequence[str]) -> Grounds | None:
    """The option that follows from who perceives what; None if the story has none of the four forms or leaves it open.

    `stem` is the question without its options.
    """
    if len(options) < 2 or len(stem) > LONGEST_QUESTION:
        return None
    return (
        option_after_conversation(story, stem, options)
        or option_by_label(story, stem, options)
        or option_after_move(story, stem, options)
        or option_after_change(story, stem, options)
    )


def _sentences(text: str) -> list[str]:
    return [sentence for match in SENTENCE.finditer(text) if (sentence := match.group().strip())]


def _stems(text: str) -> frozenset[str]:
    """The stems of the words of a text, without function words and verbs of believing."""
    return frozenset(word[:STEM_LETTERS] for word in WORD.findall(text.lower()) if word not in _WORDS["empty"])


def _names(text: str) -> Counter[str]:
    """How often a text has each name: a capitalised word that it never has in lower case, and no function word."""
    words = NAME.findall(text)
    common = _WORDS["function"].union(word for word in words if word[0].islower())
    return Counter(word for word in words if word[0].isupper() and word.lower() not in common)


def _minds(stem: str) -> list[str]:
    """The names of those whose beliefs a question is about, the outermost believer first."""
    return [name for match in _PATTERNS["minds"].finditer(stem) for name in match.groups() if name]


# changes: a state, what changes it, and whether an agent perceives that (BigToM: Gandhi et al. 2023)

ABOUT_BELIEF = re.compile(r"\b(?:do|does|did)\b.*\b(?:believe|think)\b", re.IGNORECASE)
BELIEVES = re.compile(r"\b(?:believe|think|assume|suppose|expect)s?\b", re.IGNORECASE)
ABOUT_ACTION = re.compile(r"\bwill\b.*\bdo\b", re.IGNORECASE)
CLAUSE_START = re.compile(
    rf"(?:^|[.!?,;:\"“]\s*|\b(?:and|but|as|while|when|if|that)\s+)(?=({NAME.pattern}))", re.MULTILINE
)
SUBJECT_WITHIN = 3  # first words of a sentence, among which its subject must be (chosen)
VERB_WITHIN = 7  # first words of a sentence, among which its verb of perceiving must be (chosen)
COPING_WEIGHT = 2  # of a word for coping, in words of the change (chosen on development stories)
LEAST_TOLD = 0.6  # share of a state's words before the change, if the other option denies that state (chosen)


class StateChange(NamedTuple):
    """A change of a state: the stems of what the story says before it and of it, and whether the agent knows of it.

    `passages` are the sentence about the change, and the one about what the agent perceives of it or then does.
    """

    before: frozenset[str]
    after: frozenset[str]
    is_known: bool
    passages: tuple[str, ...]


def option_after_change(story: str, stem: str, options: Sequence[str]) -> Grounds | None:
    """The option that says what an agent believes, or will do, after a change that it perceives or misses.

    An agent that knows of the change believes in the new state and copes with it ("replaces the wilted flowers"). An
    agent that misses it believes in the old state and goes on as planned. None if the story does not end with a change
    and what the agent perceives or does, or if the question is not about exactly one person.
    """
    is_belief = ABOUT_BELIEF.search(stem) and all(BELIEVES.search(option) for option in options)
    is_action = ABOUT_ACTION.search(stem) and all(" will " in option for option in options)
    if len(options) != 2 or not (is_belief or is_action):
        return None
    subjects = {match[1] for match in CLAUSE_START.finditer(f"{story}\n{stem}")}
    people = _names(stem).keys() & _names(story).keys() & subjects  # "Mount Fuji" is nobody
    change = find_change(story, *people) if len(people) == 1 else None
    if change is None:
        return None
    if is_belief:
        new = _new_state(options, change)
    else:
        coping = [_coping(option, change.before, change.after) for option in options]
        new = None if coping[0] == coping[1] else int(coping[1] > coping[0])
    return None if new is None else Grounds(options[new if change.is_known else 1 - new], change.passages)


def find_change(story: str, agent: str) -> StateChange | None:
    """The change that the last sentence but one tells of, if the last one has the agent as its subject; else None."""
    sentences = _sentences(story)
    if len(sentences) < 3 or TURN.search(story):  # in a conversation, the last sentence is not about its speaker
        return None
    *earlier, event, outcome = sentences
    words = NAME.findall(outcome.lower())
    if agent.lower() not in words[:SUBJECT_WITHIN] and not PRONOUN.match(outcome):
        return None
    earlier_stems, later_stems = _stems(" ".join(earlier)), _stems(event)
    if _WORDS["perceiving"].isdisjoint(words[:VERB_WITHIN]):  # what the agent does shows what it knows
        return StateChange(
            earlier_stems, later_stems, _coping(outcome, earlier_stems, later_stems) > 0, (event, outcome)
        )
    return StateChange(
        earlier_stems, later_stems | _stems(outcome), not _PATTERNS["missed"].search(outcome), (event, outcome)
    )


def _new_state(options: Sequence[str], change: StateChange) -> int | None:
    """The index of the option, 0 or 1, with the state after the change; None if that is unclear.

    An option counts by the share of its own stems (those that the other option lacks) in what is told after the
    change, less that in what is told before.
    """
    words = [_stems(option) for option in options]
    own = [words[0] - words[1], words[1] - words[0]]
    for plain, denial in ((0, 1), (1, 0)):  # "the branch has fruits" or "... has no fruits": stories say only the first
        if not own[plain] and own[denial] and own[denial] <= _WORDS["denying"]:
            return denial if _share(words[plain], change.before) >= LEAST_TOLD else None
    later, earlier = ([_share(state, text) for state in own] for text in (change.after, change.before))
    margin = (later[1] - later[0]) + (earlier[0] - earlier[1]) or later[1] - later[0]
    return int(margin > 0) if all(own) and margin else None


def _coping(action: str, before: frozenset[str], after: frozenset[str]) -> float:
    """How much an action copes with a change: by words for coping, and by words of the change rather than the plan."""
    coping = sum(word in _WORDS["coping"] for word in WORD.findall(action.lower()))
    stems = _stems(action)
    return COPING_WEIGHT * coping + len(stems & (after - before)) - _share(stems, before)


def _share(words: Collection[str], text: Collection[str]) -> float:
    return sum(word in text for word in words) / max(len(words), 1)


# labelled containers: what the label says, and who has looked inside (Perner, Leekam and Wimmer 1987)

NOUN = r"(?P<{0}>[\w-]+(?: [\w-]+){{0,2}}?)"
CONTAINER = NOUN.format("container")
LABEL = re.compile(
    rf"\b(?:label|tag|sign|picture)s? on (?:the|its) {CONTAINER} (?:is|says|reads|shows|was|said|read)"
    rf" (?:that of )?(?:an? |the |some )?[\"']?{NOUN.format('label')}[\"']?(?=[,.;]| and )",
    re.IGNORECASE,
)
LOOKS_INSIDE = re.compile(
    rf"(?<![\w-])(?P<agent>[A-Z][\w-]+) (?:open(?:s|ed)|look(?:s|ed) (?:in|into|inside)) the {CONTAINER},?"
    rf"(?: and)?(?: \w+)? (?:finds|found|sees|saw|discovers|discovered) (?:an? |some |only )*{NOUN.format('content')}"
    r"(?=[,.;]| inside| in )"
)
BY_LABEL = re.compile(r"\bshould be\b|\bsupposed to be\b|\baccording to the label\b", re.IGNORECASE)
BY_CONTENT = re.compile(r"\s*what (?:is|was|are|were)\b", re.IGNORECASE)


def option_by_label(story: str, stem: str, options: Sequence[str]) -> Grounds | None:
    """The option that names what is in a labelled container, or what an agent expects in it; None if that is open.

    An agent expects what the label says unless it has looked inside, and takes another one to know the content only if
    it was there when that one looked. None if the story does not tell of a label and of somebody who looks.
    """
    label, inspection = LABEL.search(story), LOOKS_INSIDE.search(story)
    if label is None or inspection is None or inspection["container"].lower() != label["container"].lower():
        return None
    if label["container"].lower().split()[-1] not in stem.lower():
        return None
    minds = list(dict.fromkeys(name for name in _minds(stem) if name in story))
    if BY_LABEL.search(stem):
        expected = label["label"]
    elif minds:
        witnesses = all(0 <= story.find(name) < inspection.start() for name in minds[:-1])
        expected = inspection["content"] if minds[-1] == inspection["agent"] and witnesses else label["label"]
    elif BY_CONTENT.match(stem):
        expected = inspection["content"]
    else:
        return None
    matches = [option for option in options if _singulars(option) == _singulars(expected)]
    return Grounds(matches[0], (label.group(), inspection.group())) if len(matches) == 1 else None


def _singulars(text: str) -> list[str]:
    return [singular(word) for word in re.findall(r"[a-z-]+", text.lower())]


# conversations: who takes part while something is talked about (FANToM: Kim et al. 2023)

LEAST_TURNS = 6  # of a conversation (chosen)
AWAY = 3  # turns without somebody who has said goodbye, after which they are away (chosen)
DECISIVE_TURNS = 4  # turns whose words fit the question best; only these count (chosen on development stories)
MAJORITY = 0.65  # least share of their weight that all must have heard, or somebody must have missed (chosen)


def option_after_conversation(story: str, stem: str, options: Sequence[str]) -> Grounds | None:
    """The option that says what an agent knows of a conversation; None if the story is none, or the answer is open.

    A conversation has a line for each turn, "Ann: ...", and one of two options says that an agent knows nothing of it.
    An agent that is away while something is talked about knows nothing of it, nor of what others think about it. Turns
    are weighed by the words that they share with the question (which count twice) and with the other option, rare ones
    more: w = Σ log(n / n_word), for n turns of which n_word have the word.
    """
    turns = TURN.findall(story)
    is_ignorant = [_PATTERNS["ignorant"].search(option.lower()) is not None for option in options]
    if len(turns) < LEAST_TURNS or len(options) != 2 or sum(is_ignorant) != 1:
        return None
    ignorant, informed = (options[is_ignorant.index(value)] for value in (True, False))
    minds = {name for name in _minds(stem) if any(name == speaker for speaker, _ in turns)}
    if not minds:
        return None
    heard_by_all = set[int].intersection(*(turns_heard(name, turns) for name in minds))
    names = _stems(" ".join(speaker for speaker, _ in turns))
    of_question, of_option = _stems(stem) - names, _stems(informed) - names
    of_turns = [_stems(utterance) - names for _, utterance in turns]
    frequency = Counter(word for words in of_turns for word in words)
    rarity = {word: log(len(turns) / count) for word, count in frequency.items()}
    weights = [
        fsum(rarity[word] * ((word in of_question) * 2 or word in of_option) for word in words) for words in of_turns
    ]
    decisive = sorted(range(len(turns)), key=lambda turn: -weights[turn])[:DECISIVE_TURNS]
    total = sum(weights[turn] for turn in decisive)
    heard_weight = sum(weights[turn] for turn in decisive if turn in heard_by_all)
    if not total or 1.0 - MAJORITY < heard_weight / total < MAJORITY:
        return None
    return Grounds(informed if heard_weight > total / 2 else ignorant, (": ".join(turns[decisive[0]]),))


def turns_heard(name: str, turns: Sequence[tuple[str, str]]) -> set[int]:
    """The indices of the turns, each a speaker and an utterance, in which a speaker takes part.

    It takes part from its first turn on, except between a farewell and its next turn.
    """
    own = [turn for turn, (speaker, _) in enumerate(turns) if speaker == name]
    heard = set(range(own[0], len(turns)))
    for turn, back in zip(own, [*own[1:], len(turns) + AWAY + 1], strict=True):
        if back - turn > AWAY and _PATTERNS["farewell"].search(turns[turn][1].lower()):
            heard -= set(range(turn + 1, back))
    return heard


# moves: one of two people moves a thing once, in a story told in many words (OpenToM: Xu et al. 2024)

PERSPECTIVE = re.compile(r"^From (?:the )?(?P<agent>narrator|[\w-]+?)(?:['’]s?)? perspective, (?P<question>.+)$")
BELIEVER = re.compile(r"\b(?:does|do|did) ([\w-]+) think\b")
LOCATED = re.compile(r"\b(?:is|are|that) (?:the )?(?P<thing>[\w ]+?) (?:is |are )?(?:in its initial|located)\b")
CHANGING = re.compile(r"\b(?:how (?:does|do|would|will)|think) (?P<thing>.+?)(?:['’]s?)? (?:fullness|accessibility)\b")
AT_FIRST = re.compile(r"\bin the beginning\b")
IT = re.compile(r"\b(?:it|them)\b", re.IGNORECASE)
LEFT_ALONE = re.compile(r"\b(?:leaving|left) ([\w-]+)")
OWN_DEED = re.compile(rf"(?<![\w-])([\w-]+)['’]s?\s+(?:[\w-]+\s+){{0,3}}?(?:{_PATTERNS['deeds'].pattern})")
NEAR = 90  # characters after a name in which what its bearer does is looked for (chosen)
MOST_MOVES, MOST_DEEDS = 2, 2  # signs of each kind that count (chosen on development stories)
DEED_WEIGHT, ALONE_WEIGHT, ASIDE_WEIGHT = 1.5, 2.0, 1.5  # of signs of who moves it, in moves (chosen likewise)


class Move(NamedTuple):
    """A move of a thing: who moves it, whether the other person sees that, and whether the mover is wrong about that.

    `sentence` is the index of the sentence that tells of the move, `passages` are the sentences that this rests on.
    """

    mover: str
    is_seen: bool
    mover_is_wrong: bool
    sentence: int
    passages: tuple[str, ...]

    def is_believed_by(self, chain: Sequence[str]) -> bool:
        """Whether the last of a chain of believers knows of the move, as the first sees it; True for an empty chain.

        For ("Ann", "Bob"), whether Ann takes Bob to know of it.
        """
        if not chain or set(chain) == {self.mover}:
            return True
        return self.is_seen if chain[0] != self.mover else self.is_seen != self.mover_is_wrong


class Sign(NamedTuple):
    """A sign that an agent saw or missed something, or left, and who does not know of that (empty: nobody)."""

    sentence: int
    agent: str
    kind: Literal["saw", "missed", "left"]
    hidden_from: str


def option_after_move(story: str, stem: str, options: Sequence[str]) -> Grounds | None:
    """The option that says where a thing is from a perspective, or how it or a place changes; None if that is open.

    An agent that knows of the move believes in the new place, another one in the old place.
    """
    perspective = PERSPECTIVE.match(stem.strip())
    if perspective is None:
        return None
    question = perspective["question"]
    chain = [perspective["agent"]] * (perspective["agent"] != "narrator") + BELIEVER.findall(question)
    thing = LOCATED.search(question) or CHANGING.search(question)
    pair, sentences = _two_people(story, chain), _sentences(story)
    if thing is None or pair is None:
        return None
    move = find_move(sentences, pair, None if "fullness" in question else thing["thing"])
    if move is None:
        return None
    is_moved = move.is_believed_by(chain) and not AT_FIRST.search(question)
    choices = {option.lower().strip(" ."): option for option in options}
    if "fullness" in question:
        fullness = "less full" if _first_mention(sentences, thing["thing"]) < move.sentence else "more full"
        option = choices.get(fullness if is_moved else "equally full")
    elif "accessibility" in question:  # how accessible it is to those who know of the move is open
        option = None if is_moved else choices.get("equally accessible")
    elif choices.keys() == {"yes", "no"}:
        option = choices["no" if is_moved else "yes"]
    else:
        option = _place(sentences, options, new=is_moved)
    return None if option is None else Grounds(option, move.passages)


def _two_people(story: str, chain: Sequence[str]) -> tuple[str, str] | None:
    """The two people whom a story names most often, if those of the question are among them; else None."""
    names = _names(story).keys() | {*chain}
    pair = [name for name, _ in Counter(word for word in NAME.findall(story) if word in names).most_common(2)]
    return (pair[0], pair[1]) if len(pair) == 2 and {*chain} <= {*pair} else None


def find_move(sentences: Sequence[str], pair: tuple[str, str], thing: str | None) -> Move | None:
    """Which of two people moves a thing, and what the other one sees of it; None if either is unclear.

    Signs of the mover are being the subject of a move, being left alone, and having done a deed that is named later;
    signs of the other person are leaving, and seeing or missing something. `thing` is None if any move counts.
    """
    name = re.compile(rf"\b(?:{'|'.join(map(re.escape, pair))})\b(?!['’])")
    story, middle = " ".join(sentences), len(sentences) // 2
    signs = [sign for n, sentence in enumerate(sentences) for sign in _signs(n, sentence, name)]
    moves: dict[str, list[int]] = {agent: [] for agent in ("", *pair)}
    for n, agent in _moves(sentences, name, thing):
        moves[agent].append(n)
    alone, deeds = Counter(LEFT_ALONE.findall(story)), Counter(OWN_DEED.findall(story))
    scores = dict[str, float]()
    for agent in pair:
        kinds = {sign.kind for sign in signs if sign.agent == agent}
        score = min(len(moves[agent]), MOST_MOVES) + DEED_WEIGHT * min(deeds[agent], MOST_DEEDS)
        aside = ("left" in kinds) + bool(kinds & {"saw", "missed"})
        scores[agent] = score + ALONE_WEIGHT * alone[agent] - ASIDE_WEIGHT * aside
    mover, observer = sorted(pair, key=lambda agent: -scores[agent])
    observer_signs = [sign for sign in signs if sign.agent == observer]
    if scores[mover] == scores[observer] or not observer_signs:
        return None
    # signs in the second half are about the move, earlier ones about the discovery of the thing
    late = [sign for sign in observer_signs if sign.kind != "left" and sign.sentence >= middle]
    is_seen = bool(late) and all(sign.kind == "saw" for sign in late)
    is_wrong = any(sign.hidden_from not in ("", observer) for sign in late)
    move_at = next((n for n in moves[mover] if n >= middle), moves[mover][-1] if moves[mover] else 0)
    passages = dict.fromkeys(sentences[n] for n in (move_at, *(sign.sentence for sign in late or observer_signs)))
    return Move(mover, is_seen, is_wrong, move_at, tuple(passages))


def _moves(sentences: Sequence[str], name: re.Pattern[str], thing: str | None) -> Iterator[tuple[int, str]]:
    """The sentence and the subject of each move of a thing: the nearest name before it, or who a pronoun stands for.

    A pronoun stands for the first name of its sentence, or else for that of the last sentence with a name. The subject
    is empty if neither is there.
    """
    last = ""
    stems = None if thing is None else _stems(thing)
    for n, sentence in enumerate(sentences):
        first = subject = ""
        is_about = stems is None or stems & _stems(sentence) or IT.search(sentence)
        matches = [match for part in (name, PRONOUN, _PATTERNS["moves"]) for match in part.finditer(sentence)]
        for match in sorted(matches, key=methodcaller("start")):
            if match.re is name:
                subject = match.group()
                first = first or subject
            elif match.re is PRONOUN:
                subject = first or last
            elif is_about:
                yield n, subject
        last = first or last


def _signs(n: int, sentence: str, name: re.Pattern[str]) -> Iterator[Sign]:
    """What the n-th sentence says of what people perceive, and of their leaving."""
    hidden = _PATTERNS["unbeknownst"].search(sentence)
    hidden_from = next(filter(None, hidden.groups()), "") if hidden else ""
    begin = hidden.end() if hidden else 0
    if name.fullmatch(hidden_from):  # "unbeknownst to Ann, Bob moved it": Ann missed that
        agent = name.search(sentence, begin)
        if agent is None or not _PATTERNS["perceives"].search(sentence, agent.end()):
            yield Sign(n, hidden_from, "missed", "")
    for match in name.finditer(sentence, begin):
        words_after = name.split(sentence[match.end() : match.end() + NEAR], maxsplit=1)[0]
        perceives = _PATTERNS["perceives"].search(words_after)
        is_denied = perceives and _PATTERNS["denied"].search(words_after[: perceives.start()])
        if is_denied or _PATTERNS["unaware"].search(words_after):
            yield Sign(n, match.group(), "missed", hidden_from)
        elif perceives:
            yield Sign(n, match.group(), "saw", hidden_from)
        if _PATTERNS["departs"].search(words_after):
            yield Sign(n, match.group(), "left", hidden_from)


def _first_mention(sentences: Sequence[str], noun_phrase: str) -> int:
    """The index of the first sentence with the head of a noun phrase; the number of sentences if there is none."""
    words = WORD.findall(noun_phrase.replace("_", " ").lower())
    if not words:
        return len(sentences)
    head = words[-1].removesuffix("s")
    return next((n for n, sentence in enumerate(sentences) if head in sentence.lower()), len(sentences))


def _place(sentences: Sequence[str], options: Sequence[str], *, new: bool) -> str | None:
    """The place of a thing before or after its move: of two places, the one that is mentioned first is the old one."""
    if len(options) != 2:
        return None
    old, later = sorted(options, key=lambda option: _first_mention(sentences, option))
    if _first_mention(sentences, old) == _first_mention(sentences, later):
        return None
    return later if new else old
