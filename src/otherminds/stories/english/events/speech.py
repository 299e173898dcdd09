"""What clauses tell of what people say, to whom, and of silence."""

from __future__ import annotations

from collections.abc import Sequence

from otherminds.stories.english.events.going import IN, Agents
from otherminds.stories.english.events.quotes import NO_THINGS, Said, assertions, read_quote
from otherminds.stories.english.lexicon import wordset
from otherminds.stories.english.phrases import Clause, Noun
from otherminds.stories.english.scene import Scene
from otherminds.stories.english.spots import Spot
from otherminds.stories.model import Fact, SpeechAct, Utterance

ANSWERS = wordset("answers")
TELLING = wordset("telling")


def utter(scene: Scene, clause: Clause, speaker: str, said: Said, hearers: Sequence[str] = ()) -> None:
    """Adds an utterance, unless it says that nothing in particular is somewhere."""
    if said.act in ("assert", "deny") and said.obj is None:
        return
    fact: Fact | None = None
    obj = said.obj or (scene.asked[1] if scene.asked and said.act != "ask" else None)
    if obj is not None:
        fact = Fact("at", obj, said.room)
    one = Utterance(0, speaker, said.act, fact, tuple(hearers), scene.p, scene.source, (clause.start, clause.end))
    scene.emit(one, said.spot)
    scene.of(speaker)
    if said.act == "ask":
        scene.asked, scene.pending = (speaker, said.obj), True
        scene.of(speaker).seeks = said.obj
        if said.obj:
            scene.mention(said.obj, speaker)
    elif scene.asked and speaker != scene.asked[0]:
        scene.pending = False


def speak(scene: Scene, clause: Clause, agents: Agents) -> bool:
    """Somebody says or asks something, in their own words or in the story's."""
    assert clause.verb is not None
    speaker = agents[0]
    if not clause.subjects or clause.subjects[0].kind == "pronoun":
        speaker = _answerer(scene, clause, speaker)
    hearers = _hearers(scene, clause, speaker)
    if clause.quotes:
        return _quoted(scene, clause, speaker, hearers)
    if clause.verb.negated or _says_nothing(clause):
        return be_silent(scene, clause, speaker)
    said = _asked(scene, clause, speaker) if clause.means("ask") else _told(scene, clause, speaker)
    for one in said or ():
        utter(scene, clause, speaker, one, hearers if one.act != "ask" else ())
    return said is not None and all(one.obj or one.act not in ("assert", "deny") for one in said)


def _answerer(scene: Scene, clause: Clause, speaker: str) -> str:
    """Whom "he" stands for who says something: not who has just asked, if it is an answer."""
    if not (scene.pending and scene.asked and speaker == scene.asked[0] and clause.subjects):
        return speaker
    told = bool(clause.content) and not clause.means("ask")
    quoted = read_quote(scene, " ".join(quote.text for quote in clause.quotes), scene.names) if clause.quotes else None
    answering = told or any(one.act in ("assert", "deny", "unsure") for one in quoted or ())
    other = scene.other(speaker) if answering else None
    if other and clause.subjects[0].text in ("he", "she"):
        scene.genders.setdefault(other, clause.subjects[0].text)
    return other or speaker


def _quoted(scene: Scene, clause: Clause, speaker: str, hearers: Sequence[str]) -> bool:
    said = read_quote(scene, " ".join(quote.text for quote in clause.quotes), scene.names)
    for one in said or ():
        utter(scene, clause, speaker, one, hearers if one.act != "ask" and clause.means("say") else ())
    return said is not None


def _hearers(scene: Scene, clause: Clause, speaker: str) -> list[str]:
    """Who is told something in private."""
    assert clause.verb is not None
    nouns = [noun for noun in clause.objects if noun.kind in ("agent", "pronoun")]
    nouns += [noun for prep, noun in clause.places if prep in ("to", "with") and noun.kind in ("agent", "pronoun")]
    found = [name for noun in nouns for name in scene.person(noun, [speaker])]
    for name in found:
        scene.of(name)
    to_whom = (
        any(prep == "to" and noun.kind in ("agent", "pronoun") for prep, noun in clause.places) and not clause.quotes
    )
    if "publicly" in clause.adverbs or not (clause.verb.lemma in TELLING or "privately" in clause.adverbs or to_whom):
        return []
    return found


def _says_nothing(clause: Clause) -> bool:
    words = {word for noun in clause.objects for word in noun.words}
    return "nothing" in words or any(noun.det in ("no", "not") for noun in clause.objects)


def _asked(scene: Scene, clause: Clause, speaker: str) -> list[Said] | None:
    """An indirect question where something is; asked once more without saying what, it is the same question."""
    if not clause.content and not clause.places and scene.pending and scene.asked and scene.asked[0] == speaker:
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
            return [Said("ask", scene.thing(noun, None))]
    for noun in nouns:
        if noun.words[0] in ("it", "one", "them") and (obj := scene.thing(noun, None)):
            return [Said("ask", obj)]
    return None


def _all(clauses: Sequence[Clause]) -> list[Clause]:
    return [one for clause in clauses for one in (clause, *_all(clause.content))]


def _told(scene: Scene, clause: Clause, speaker: str) -> list[Said] | None:
    """What is said indirectly: that something is somewhere, where it is, or that one does not know."""
    content = _all(clause.content)
    if _ignorant(clause) or any(_ignorant(inner) for inner in content):
        return [Said("unsure", scene.asked[1] if scene.asked else None)]
    if content and content[0].link == "where":
        noun = next((noun for noun in (*content[0].subjects, *content[0].objects) if noun.kind == "object"), None)
        obj = scene.thing(noun, None) if noun else scene.asked[1] if scene.asked else None
        return [Said("assert", obj)] if obj else None
    if content:
        return assertions(scene, clause.content)
    things = [noun for noun in clause.objects if noun.kind == "object"]
    if any(noun.words[-1] in ("location", "whereabouts") for noun in things) and scene.asked:
        return [Said("assert", scene.asked[1])]
    named = _mentioned(scene, clause, things)
    if named or clause.objects:
        return named
    return None


def _mentioned(scene: Scene, clause: Clause, things: Sequence[Noun]) -> list[Said] | None:
    """ "mentions a folder on the table"."""
    spot, room = None, None
    for prep, noun in clause.places:
        if noun.kind == "room" and prep in IN:
            room = scene.room(noun)
        elif noun.kind == "place" and prep in IN:
            spot = scene.spot(noun, None)
    obj = scene.thing(things[0], None) if things else scene.asked[1] if scene.asked else None
    return [Said("assert", obj, spot, room)] if obj and (spot or room) else None


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


def be_silent(scene: Scene, clause: Clause, speaker: str) -> bool:
    """Somebody who was asked says nothing; if nobody asked, that changes nothing."""
    if scene.pending and scene.asked and speaker != scene.asked[0]:
        utter(scene, clause, speaker, Said("silence", scene.asked[1]))
    return True


def direct(scene: Scene, clause: Clause, agents: Agents) -> bool:
    """Somebody points or sends somebody to a place: an answer to what was asked."""
    spot: Spot | None = None
    room: str | None = None
    for prep, noun in clause.places:
        if prep in ("to", "towards", "toward", "at", "into", "in") and noun.kind == "place":
            spot = scene.spot(noun, None)
        elif prep in ("to", "towards", "toward", "at", "into", "in") and noun.kind == "room":
            room = scene.room(noun)
    if (spot is None and room is None) or not scene.asked:
        return False
    act: SpeechAct = "assert"
    utter(scene, clause, agents[0], Said(act, scene.asked[1], spot, room))
    return True


def ignorant(clause: Clause) -> bool:
    """Whether a clause says that its subject does not know."""
    return _ignorant(clause)


def shrug(scene: Scene, clause: Clause, agents: Agents) -> bool:
    """Not knowing, without words."""
    if scene.pending and scene.asked and agents[0] != scene.asked[0]:
        utter(scene, clause, agents[0], Said("unsure", scene.asked[1]))
    return True


def unattributed(scene: Scene, clause: Clause) -> bool:
    """A quote without a speaker: the answer to a question that is open, or the last subject's words."""
    called = next((name for name in scene.names if clause.quotes[0].text.startswith(name + ",")), None)
    if called and (caller := scene.other(called)):
        scene.of(caller)
        return _quoted(scene, clause, caller, ())
    asker = scene.asked[0] if scene.asked else None
    if scene.pending and asker and (answerer := scene.other(asker)):
        speaker: str | None = answerer
    else:
        speaker = scene.subjects[0] if len(scene.subjects) == 1 else None
    return speaker is not None and _quoted(scene, clause, speaker, ())
