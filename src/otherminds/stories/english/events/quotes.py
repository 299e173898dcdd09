"""What is said: questions where something is, answers, denials, and not knowing."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from otherminds.stories.english.chunks import chunks
from otherminds.stories.english.clauses import parse
from otherminds.stories.english.lexicon import lexicon, wordset
from otherminds.stories.english.phrases import Clause, Noun
from otherminds.stories.english.scene import Scene
from otherminds.stories.english.sentences import LONGEST_SENTENCE, Token, plain, sentences, tokens
from otherminds.stories.english.spots import Spot
from otherminds.stories.model import SpeechAct

WHERE = wordset("where")
QUIET = wordset("quiet")
CALLS = frozenset(
    ("be", "rest", "sit", "stand", "lie", "live", "remain", "wait", "stay", "hide", "turn", "have", "belong", "go")
)


@dataclass(frozen=True)
class Said:
    """One thing said about where an object is (None: what was asked for)."""

    act: SpeechAct
    obj: str | None = None
    spot: Spot | None = None
    room: str | None = None


def read_quote(scene: Scene, text: str, names: Collection[str]) -> list[Said] | None:
    """What a quote says, in order; nothing for mere politeness, None if it cannot be read."""
    found: list[Said] = []
    parts = sentences(_ended(tokens(plain(text))), names)
    asked = _question_marks(text)
    if any(len(part) > LONGEST_SENTENCE for part in parts):
        return None
    for part, question in zip(parts, [*asked, *[False] * len(parts)], strict=False):
        said = _sentence(scene, _without_calls(part, names), names, question=question, alone=len(parts) == 1)
        if said is None or any(one.act in ("assert", "deny") and one.obj is None for one in said):
            return None
        found += said
    return found


def _ended(found: list[Token]) -> list[Token]:
    return [token for token in found if not token.quote]


def _question_marks(text: str) -> list[bool]:
    """For every sentence, whether it ends with a question mark."""
    marks = [c for c in plain(text) if c in ".!?;\n"]
    return [mark == "?" for mark in marks]


def _without_calls(part: Sequence[Token], names: Collection[str]) -> list[Token]:
    """The sentence without "well," and "Mary," in front and at the end."""
    filler = lexicon().sets_of_speech["interjections"]
    kept = list(part)
    while kept and kept[-1].text == ",":
        kept.pop()
    while kept and (kept[0].text == "," or (_call(kept, filler, names) and len(kept) > 1)):
        kept.pop(0)
    while kept and (kept[-1].text == "," or (kept[-1].text in names and len(kept) > 1 and kept[-2].text == ",")):
        kept.pop()
    return kept


def _call(kept: Sequence[Token], filler: frozenset[str], names: Collection[str]) -> bool:
    first, second = kept[0], kept[1] if len(kept) > 1 else None
    if second is not None and second.text == "," and (first.low in filler or first.text in names):
        return True
    return first.low in (
        "oh",
        "hey",
        "hi",
        "well",
        "um",
        "uh",
        "hmm",
        "sorry",
        "yes",
        "please",
        "hello",
        "ah",
        "so",
        "sure",
        "actually",
        "okay",
    )


def _sentence(
    scene: Scene, part: list[Token], names: Collection[str], *, question: bool, alone: bool = False
) -> list[Said] | None:
    words = " ".join(token.low for token in part)
    idle = not _has(words, "unsure")
    if not part or (
        idle
        and all(t.low in lexicon().sets_of_speech["interjections"] or t.text in names or t.text == "," for t in part)
    ):
        return (
            [Said("unsure")]
            if words in ("no", "nope", "sorry , no", "no , sorry", "afraid not", "i am afraid not") and scene.asked
            else []
        )
    pieces = chunks(part, names)
    nouns = [piece for piece in pieces if isinstance(piece, Noun)]
    unsure = _has(words, "unsure")
    if question and len(pieces) == 1 and nouns and nouns[0].kind == "object":
        obj = scene.thing(nouns[0], None)
        return [Said("ask", obj)] if alone and not scene.pending else []
    if (question or (_asks(words) and not unsure)) and not words.startswith(tuple(lexicon().speech["suggesting"])):
        return _asked(scene, words, nouns)
    if _has(words, "wanting"):
        return _asked(scene, words, nouns)
    tail = words.partition(" but ")[2] or words.partition(" though ")[2] or words.partition(" try ")[2]
    if unsure and not tail:
        return [Said("unsure")]
    clauses = parse(pieces)
    return assertions(scene, clauses, unsure=unsure)


def _has(words: str, key: str) -> bool:
    return any(f" {phrase} " in f" {words} " for phrase in lexicon().speech[key])


def _asks(words: str) -> bool:
    return words.startswith(tuple(lexicon().speech["asking"]))


def _asked(scene: Scene, words: str, nouns: Sequence[Noun]) -> list[Said] | None:
    """A question where something is."""
    if not set(words.split()) & lexicon().sets_of_speech["seeking"]:
        return None
    things = [noun for noun in nouns if noun.kind == "object" and noun.words[0] not in NO_THINGS]
    if not things:
        things = [
            noun for noun in nouns if (noun.kind == "pronoun" and noun.words[0] in ("it", "them")) or noun.kind == "one"
        ]
    for noun in things:
        if noun.words[-1] in ("location", "whereabouts") and noun.owner:
            return [Said("ask", scene.thing(Noun("object", tuple(noun.owner.split()), 0, 0), None))]
        if obj := scene.thing(noun, None):
            return [Said("ask", obj)]
    return None


NO_THINGS = wordset("no_things")


def assertions(scene: Scene, clauses: Sequence[Clause], *, unsure: bool = False) -> list[Said] | None:
    """What clauses say about where something is; None if one of them cannot be read."""
    found: list[Said] = []
    lost = False
    for clause in _flat(clauses):
        said = _assertion(scene, clause)
        if said is None:
            lost = lost or not (unsure or _harmless(clause))
        else:
            found.append(said)
    if unsure and not found:
        return [Said("unsure")]
    return found if found and not lost else None


def _flat(clauses: Sequence[Clause]) -> list[Clause]:
    """The clauses with those in "I think (that) ..." in their place."""
    found: list[Clause] = []
    for clause in clauses:
        if clause.content and clause.means("think", "say", "see", "suggest"):
            for inner in _flat(clause.content):
                if clause.verb and clause.verb.negated and inner.verb:
                    inner.verb.negated = not inner.verb.negated
                found.append(inner)
        else:
            found.append(clause)
    return found


def _harmless(clause: Clause) -> bool:
    """Whether a clause says nothing of its own: "last I saw", "if I remember correctly", "I think"."""
    if clause.verb is None:
        return (
            all(noun.kind in ("pronoun", "agent") for noun in clause.subjects)
            and not clause.places
            and not clause.unknown
        )
    quiet = clause.means("see", "think", "look", "noise", "say", "ask", "want") or clause.verb.lemma in (
        "be",
        "check",
        "do",
        "go",
    )
    return quiet and not clause.places and not any(noun.kind in ("place", "room") for noun in clause.objects)


def _assertion(scene: Scene, clause: Clause) -> Said | None:
    spot, room = _where(scene, clause)
    negated = bool(clause.verb and clause.verb.negated) or "not" in clause.unknown or _denied(clause)
    if spot is None and room is None:
        return None
    if [word for word in clause.unknown if word not in lexicon().sets["negations"] | lexicon().sets["hedges"] | QUIET]:
        return None
    if clause.verb is not None and not _places_things(clause) and clause.verb.lemma != "do":
        return None
    if clause.link in ("if", "unless", "whether"):
        return None
    return Said("deny" if negated else "assert", _what(scene, clause), spot, room)


def _denied(clause: Clause) -> bool:
    nouns = (*clause.subjects, *clause.objects)
    return any(noun.det == "no" or noun.words[0] in ("nothing", "neither") for noun in nouns)


def _places_things(clause: Clause) -> bool:
    """Whether a verb says that something is somewhere."""
    verb = clause.verb
    assert verb is not None
    if verb.lemma in CALLS or verb.means(
        "put", "find", "see", "look", "move", "stay", "contain", "think", "say", "open"
    ):
        return True
    return verb.means("want") and any(noun.kind == "place" for noun in clause.objects)


def _where(scene: Scene, clause: Clause) -> tuple[Spot | None, str | None]:
    spot, room = None, None
    nouns = [noun for prep, noun in clause.places if prep in WHERE]
    if clause.means("look", "open", "want"):
        nouns += clause.objects
    if clause.means("contain") or (clause.verb and clause.verb.lemma == "have") or clause.verb is None:
        nouns += clause.subjects
    for noun in nouns:
        if noun.kind == "room":
            room = scene.room(noun)
        elif noun.kind == "place" or (noun.kind == "object" and noun not in clause.objects + clause.subjects):
            spot = scene.spot(noun, None)
    if spot and room and not spot.room and spot.kind in lexicon().furniture:
        last = next(noun for noun in reversed(nouns) if noun.kind == "place")
        spot = scene.spot(Noun("place", last.words, 0, 0, room=room), None)
    return spot, room


def _what(scene: Scene, clause: Clause) -> str | None:
    """The object a clause places; what was asked for if it is only "it"."""
    asked = scene.asked[1] if scene.asked else None
    for noun in (*clause.objects, *clause.subjects):
        if noun.kind == "object" and noun.words[0] not in NO_THINGS | {"nothing"}:
            return scene.thing(noun, None)
        if noun.kind in ("one", "vague") or noun.words[0] in ("it", "them", "they", "some"):
            return asked or scene.thing(noun, None)
    return asked
