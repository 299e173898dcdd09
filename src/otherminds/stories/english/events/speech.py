"""What clauses tell of what people say, to whom, and of silence."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from otherminds.stories.english.chunks import chunks
from otherminds.stories.english.clauses import parse
from otherminds.stories.english.events.going import IN, Agents
from otherminds.stories.english.lexicon import lexicon, wordset
from otherminds.stories.english.phrases import Clause, Noun
from otherminds.stories.english.sentences import LONGEST_SENTENCE, Token, plain, sentences, tokens
from otherminds.stories.english.story_state import Spot, StoryState
from otherminds.stories.model import Fact, SpeechAct, Utterance

WHERE = wordset("where")
QUIET = wordset("quiet")
CALLS = frozenset(
    ("be", "rest", "sit", "stand", "lie", "live", "remain", "wait", "stay", "hide", "turn", "have", "belong", "go")
)


@dataclass(frozen=True)
class DialogueAct:
    """One thing said about where an object is (None: what was asked for)."""

    act: SpeechAct
    obj: str | None = None
    spot: Spot | None = None
    room: str | None = None


def read_quote(story: StoryState, text: str, names: Collection[str]) -> list[DialogueAct] | None:
    """What a quote says, in order; nothing for mere politeness, None if it cannot be read."""
    found: list[DialogueAct] = []
    parts = sentences(_ended(tokens(plain(text))), names)
    asked = _question_marks(text)
    if any(len(part) > LONGEST_SENTENCE for part in parts):
        return None
    for part, question in zip(parts, [*asked, *[False] * len(parts)], strict=False):
        said = _sentence(story, _without_calls(part, names), names, question=question, alone=len(parts) == 1)
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
    story: StoryState, part: list[Token], names: Collection[str], *, question: bool, alone: bool = False
) -> list[DialogueAct] | None:
    words = " ".join(token.low for token in part)
    idle = not _has(words, "unsure")
    if not part or (
        idle
        and all(t.low in lexicon().sets_of_speech["interjections"] or t.text in names or t.text == "," for t in part)
    ):
        return (
            [DialogueAct("unsure")]
            if words in ("no", "nope", "sorry , no", "no , sorry", "afraid not", "i am afraid not") and story.asked
            else []
        )
    pieces = chunks(part, names)
    nouns = [piece for piece in pieces if isinstance(piece, Noun)]
    unsure = _has(words, "unsure")
    if question and len(pieces) == 1 and nouns and nouns[0].kind == "object":
        obj = story.thing(nouns[0], None)
        return [DialogueAct("ask", obj)] if alone and not story.pending else []
    if (question or (_asks(words) and not unsure)) and not words.startswith(tuple(lexicon().speech["suggesting"])):
        return _question(story, words, nouns)
    if _has(words, "wanting"):
        return _question(story, words, nouns)
    tail = words.partition(" but ")[2] or words.partition(" though ")[2] or words.partition(" try ")[2]
    if unsure and not tail:
        return [DialogueAct("unsure")]
    clauses = parse(pieces)
    return assertions(story, clauses, unsure=unsure)


def _has(words: str, key: str) -> bool:
    return any(f" {phrase} " in f" {words} " for phrase in lexicon().speech[key])


def _asks(words: str) -> bool:
    return words.startswith(tuple(lexicon().speech["asking"]))


def _question(story: StoryState, words: str, nouns: Sequence[Noun]) -> list[DialogueAct] | None:
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
            return [DialogueAct("ask", story.thing(Noun("object", tuple(noun.owner.split()), 0, 0), None))]
        if obj := story.thing(noun, None):
            return [DialogueAct("ask", obj)]
    return None


NO_THINGS = wordset("no_things")


def assertions(story: StoryState, clauses: Sequence[Clause], *, unsure: bool = False) -> list[DialogueAct] | None:
    """What clauses say about where something is; None if one of them cannot be read."""
    found: list[DialogueAct] = []
    lost = False
    for clause in _flat(clauses):
        said = _assertion(story, clause)
        if said is None:
            lost = lost or not (unsure or _harmless(clause))
        else:
            found.append(said)
    if unsure and not found:
        return [DialogueAct("unsure")]
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


def _assertion(story: StoryState, clause: Clause) -> DialogueAct | None:
    spot, room = _where(story, clause)
    negated = bool(clause.verb and clause.verb.negated) or "not" in clause.unknown or _denied(clause)
    if spot is None and room is None:
        return None
    if [word for word in clause.unknown if word not in lexicon().sets["negations"] | lexicon().sets["hedges"] | QUIET]:
        return None
    if clause.verb is not None and not _places_things(clause) and clause.verb.lemma != "do":
        return None
    if clause.link in ("if", "unless", "whether"):
        return None
    return DialogueAct("deny" if negated else "assert", _what(story, clause), spot, room)


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


def _where(story: StoryState, clause: Clause) -> tuple[Spot | None, str | None]:
    spot, room = None, None
    nouns = [noun for prep, noun in clause.places if prep in WHERE]
    if clause.means("look", "open", "want"):
        nouns += clause.objects
    if clause.means("contain") or (clause.verb and clause.verb.lemma == "have") or clause.verb is None:
        nouns += clause.subjects
    for noun in nouns:
        if noun.kind == "room":
            room = story.room(noun)
        elif noun.kind == "place" or (noun.kind == "object" and noun not in clause.objects + clause.subjects):
            spot = story.spot(noun, None)
    if spot and room and not spot.room and spot.kind in lexicon().furniture:
        last = next(noun for noun in reversed(nouns) if noun.kind == "place")
        spot = story.spot(Noun("place", last.words, 0, 0, room=room), None)
    return spot, room


def _what(story: StoryState, clause: Clause) -> str | None:
    """The object a clause places; what was asked for if it is only "it"."""
    asked = story.asked[1] if story.asked else None
    for noun in (*clause.objects, *clause.subjects):
        if noun.kind == "object" and noun.words[0] not in NO_THINGS | {"nothing"}:
            return story.thing(noun, None)
        if noun.kind in ("one", "vague") or noun.words[0] in ("it", "them", "they", "some"):
            return asked or story.thing(noun, None)
    return asked


ANSWERS = wordset("answers")
TELLING = wordset("telling")


def utter(story: StoryState, clause: Clause, speaker: str, said: DialogueAct, hearers: Sequence[str] = ()) -> None:
    """Adds an utterance, unless it says that nothing in particular is somewhere."""
    if said.act in ("assert", "deny") and said.obj is None:
        return
    fact: Fact | None = None
    obj = said.obj or (story.asked[1] if story.asked and said.act != "ask" else None)
    if obj is not None:
        fact = Fact("at", obj, said.room)
    one = Utterance(0, speaker, said.act, fact, tuple(hearers), story.p, story.source, (clause.start, clause.end))
    story.emit(one, said.spot)
    story.of(speaker)
    if said.act == "ask":
        story.asked, story.pending = (speaker, said.obj), True
        story.of(speaker).seeks = said.obj
        if said.obj:
            story.mention(said.obj, speaker)
    elif story.asked and speaker != story.asked[0]:
        story.pending = False


def speak(story: StoryState, clause: Clause, agents: Agents) -> bool:
    """Somebody says or asks something, in their own words or in the story's."""
    assert clause.verb is not None
    speaker = agents[0]
    if not clause.subjects or clause.subjects[0].kind == "pronoun":
        speaker = _answerer(story, clause, speaker)
    hearers = _hearers(story, clause, speaker)
    if clause.quotes:
        return _quoted(story, clause, speaker, hearers)
    if clause.verb.negated or _says_nothing(clause):
        return be_silent(story, clause, speaker)
    said = _asked(story, clause, speaker) if clause.means("ask") else _told(story, clause, speaker)
    for one in said or ():
        utter(story, clause, speaker, one, hearers if one.act != "ask" else ())
    return said is not None and all(one.obj or one.act not in ("assert", "deny") for one in said)


def _answerer(story: StoryState, clause: Clause, speaker: str) -> str:
    """Whom "he" stands for who says something: not who has just asked, if it is an answer."""
    if not (story.pending and story.asked and speaker == story.asked[0] and clause.subjects):
        return speaker
    told = bool(clause.content) and not clause.means("ask")
    quoted = read_quote(story, " ".join(quote.text for quote in clause.quotes), story.names) if clause.quotes else None
    answering = told or any(one.act in ("assert", "deny", "unsure") for one in quoted or ())
    other = story.other(speaker) if answering else None
    if other and clause.subjects[0].text in ("he", "she"):
        story.genders.setdefault(other, clause.subjects[0].text)
    return other or speaker


def _quoted(story: StoryState, clause: Clause, speaker: str, hearers: Sequence[str]) -> bool:
    said = read_quote(story, " ".join(quote.text for quote in clause.quotes), story.names)
    for one in said or ():
        utter(story, clause, speaker, one, hearers if one.act != "ask" and clause.means("say") else ())
    return said is not None


def _hearers(story: StoryState, clause: Clause, speaker: str) -> list[str]:
    """Who is told something in private."""
    assert clause.verb is not None
    nouns = [noun for noun in clause.objects if noun.kind in ("agent", "pronoun")]
    nouns += [noun for prep, noun in clause.places if prep in ("to", "with") and noun.kind in ("agent", "pronoun")]
    found = [name for noun in nouns for name in story.person(noun, [speaker])]
    for name in found:
        story.of(name)
    to_whom = (
        any(prep == "to" and noun.kind in ("agent", "pronoun") for prep, noun in clause.places) and not clause.quotes
    )
    if "publicly" in clause.adverbs or not (clause.verb.lemma in TELLING or "privately" in clause.adverbs or to_whom):
        return []
    return found


def _says_nothing(clause: Clause) -> bool:
    words = {word for noun in clause.objects for word in noun.words}
    return "nothing" in words or any(noun.det in ("no", "not") for noun in clause.objects)


def _asked(story: StoryState, clause: Clause, speaker: str) -> list[DialogueAct] | None:
    """An indirect question where something is; asked once more without saying what, it is the same question."""
    if not clause.content and not clause.places and story.pending and story.asked and story.asked[0] == speaker:
        return []
    if (
        clause.content
        and clause.content[0].link == "to"
        and not clause.content[0].means("say", "find", "look", "hand", "social", "direct")
    ):
        return None
    nouns = [
        noun
        for inner in _all(clause.content)
        for noun in (*inner.subjects, *inner.objects, *(one for prep, one in inner.places if prep == "of"))
    ]
    nouns += [
        noun for prep, noun in clause.places if prep in ("about", "for", "of", "after", "concerning", "regarding")
    ]
    nouns += [noun for noun in clause.objects if noun.kind == "object"]
    for noun in nouns:
        if noun.words[-1] in ("location", "whereabouts", "place") and noun.owner:
            noun = Noun("object", tuple(noun.owner.split()), 0, 0)
        if noun.kind == "object" and not set(noun.words) & (NO_THINGS | ANSWERS):
            return [DialogueAct("ask", story.thing(noun, None))]
    for noun in nouns:
        if noun.words[0] in ("it", "one", "them") and (obj := story.thing(noun, None)):
            return [DialogueAct("ask", obj)]
    return None


def _all(clauses: Sequence[Clause]) -> list[Clause]:
    return [one for clause in clauses for one in (clause, *_all(clause.content))]


def _told(story: StoryState, clause: Clause, speaker: str) -> list[DialogueAct] | None:
    """What is said indirectly: that something is somewhere, where it is, or that one does not know."""
    content = _all(clause.content)
    if _ignorant(clause) or any(_ignorant(inner) for inner in content):
        return [DialogueAct("unsure", story.asked[1] if story.asked else None)]
    if content and content[0].link == "where":
        noun = next((noun for noun in (*content[0].subjects, *content[0].objects) if noun.kind == "object"), None)
        obj = story.thing(noun, None) if noun else story.asked[1] if story.asked else None
        return [DialogueAct("assert", obj)] if obj else None
    if content:
        return assertions(story, clause.content)
    things = [noun for noun in clause.objects if noun.kind == "object"]
    if any(noun.words[-1] in ("location", "whereabouts") for noun in things) and story.asked:
        return [DialogueAct("assert", story.asked[1])]
    named = _mentioned(story, clause, things)
    if named or clause.objects:
        return named
    return None


def _mentioned(story: StoryState, clause: Clause, things: Sequence[Noun]) -> list[DialogueAct] | None:
    """ "mentions a folder on the table"."""
    spot, room = None, None
    for prep, noun in clause.places:
        if noun.kind == "room" and prep in IN:
            room = story.room(noun)
        elif noun.kind == "place" and prep in IN:
            spot = story.spot(noun, None)
    obj = story.thing(things[0], None) if things else story.asked[1] if story.asked else None
    return [DialogueAct("assert", obj, spot, room)] if obj and (spot or room) else None


def _ignorant(clause: Clause) -> bool:
    """Whether somebody is said not to know."""
    verb = clause.verb
    if verb is None:
        return False
    words = {word for noun in clause.objects for word in noun.words} | set(clause.unknown)
    if verb.lemma in ("have", "be") and (
        words & {"idea", "clue", "unsure", "uncertain", "sure", "knowledge", "certain"}
    ):
        return verb.negated or bool(words & {"unsure", "uncertain"}) or any(noun.det == "no" for noun in clause.objects)
    nowhere = not any(noun.kind in ("place", "room") for _, noun in clause.places)
    return verb.negated and nowhere and (verb.lemma in ("know", "remember", "recall") or verb.means("see", "find"))


def be_silent(story: StoryState, clause: Clause, speaker: str) -> bool:
    """Somebody who was asked says nothing; if nobody asked, that changes nothing."""
    if story.pending and story.asked and speaker != story.asked[0]:
        utter(story, clause, speaker, DialogueAct("silence", story.asked[1]))
    return True


def direct(story: StoryState, clause: Clause, agents: Agents) -> bool:
    """Somebody points or sends somebody to a place: an answer to what was asked."""
    spot: Spot | None = None
    room: str | None = None
    for prep, noun in clause.places:
        if prep in ("to", "towards", "toward", "at", "into", "in") and noun.kind == "place":
            spot = story.spot(noun, None)
        elif prep in ("to", "towards", "toward", "at", "into", "in") and noun.kind == "room":
            room = story.room(noun)
    if (spot is None and room is None) or not story.asked:
        return False
    act: SpeechAct = "assert"
    utter(story, clause, agents[0], DialogueAct(act, story.asked[1], spot, room))
    return True


def ignorant(clause: Clause) -> bool:
    """Whether a clause says that its subject does not know."""
    return _ignorant(clause)


def shrug(story: StoryState, clause: Clause, agents: Agents) -> bool:
    """Not knowing, without words."""
    if story.pending and story.asked and agents[0] != story.asked[0]:
        utter(story, clause, agents[0], DialogueAct("unsure", story.asked[1]))
    return True


def unattributed(story: StoryState, clause: Clause) -> bool:
    """A quote without a speaker: the answer to a question that is open, or the last subject's words."""
    called = next((name for name in story.names if clause.quotes[0].text.startswith(name + ",")), None)
    if called and (caller := story.other(called)):
        story.of(caller)
        return _quoted(story, clause, caller, ())
    asker = story.asked[0] if story.asked else None
    if story.pending and asker and (answerer := story.other(asker)):
        speaker: str | None = answerer
    else:
        speaker = story.subjects[0] if len(story.subjects) == 1 else None
    return speaker is not None and _quoted(story, clause, speaker, ())
