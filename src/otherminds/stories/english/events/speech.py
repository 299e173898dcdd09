"""Clauses of speech: who asks, says, denies, does not know or stays silent; and what quotes say."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from otherminds.stories.english.chunks import Chunker
from otherminds.stories.english.clauses import parse
from otherminds.stories.english.events.going import IN, Agents, Told
from otherminds.stories.english.lexicon import lexicon, wordset
from otherminds.stories.english.phrases import Clause, Noun
from otherminds.stories.english.sentences import (
    LONGEST_SENTENCE,
    Token,
    is_speech_verb,
    plain,
    sentences,
    tokens,
)
from otherminds.stories.english.story_state import Spot, StoryState
from otherminds.stories.model import Fact, SpeechAct, Utterance

PAST = frozenset(("was", "were", "had"))  # in what somebody is told to have said
FOUND = frozenset(("found", "saw", "seen", "noticed", "spotted"))  # in what somebody is told to have answered
NO_PLACE = "says nothing about a place"
ASKING = re.compile(r"ask|wonder|inquir|enquir")
PEOPLE = frozenset(("he", "she", "him", "her"))


@dataclass(frozen=True)
class DialogueAct:
    """One thing said about where an object is; without `obj`, about what was asked for."""

    act: SpeechAct
    obj: str | None = None
    spot: Spot | None = None
    room: str | None = None


# what quotes say


def read_quote(story: StoryState, text: str) -> list[DialogueAct] | None:
    """What a quote says, in order; empty for mere politeness, None if it cannot be read."""
    acts = _read_sentences(story, text)
    return _about_one_place(story, text) if acts is None else acts


def _about_one_place(story: StoryState, text: str, *, indirect: bool = False) -> list[DialogueAct] | None:
    """What a quote says that names one thing or place and denies nothing, whatever its words; None for any other.

    A question that names a thing and no place asks where it is; an answer that names a place says that it is there.
    If `indirect`, the story tells what is said, in the past.
    """
    text_tokens = [token for token in tokens(plain(text)) if not token.quote]
    words = {token.low for token in text_tokens}
    if len(text_tokens) > LONGEST_SENTENCE:
        return None
    nouns = [piece for piece in Chunker(text_tokens, story.names).chunks() if isinstance(piece, Noun)]
    things = list(dict.fromkeys(story.thing(noun, None) for noun in nouns if noun.kind == "object" and noun.is_known))
    places = [noun for noun in nouns if noun.kind in ("place", "room")]
    if "?" in words and len(things) == 1 and not places and wordset("seeking") & words:
        return [DialogueAct("ask", things[0])]
    if (
        (wordset("limits") - (PAST if indirect else frozenset())) & words
        or "?" in words
        or not story.pending
        or {*things} - {story.requested}
        or len([p for p in places if p.kind == "place"]) > 1
    ):
        return None
    spot, room = stated_place(story, places)
    return [DialogueAct("assert", story.requested, spot, room)] if spot or room else None


def _read_sentences(story: StoryState, text: str) -> list[DialogueAct] | None:
    """What the sentences of a quote say, in order; None if any of them cannot be read."""
    acts: list[DialogueAct] = []
    parts = sentences([token for token in tokens(plain(text)) if not token.quote], story.names)
    is_question = [mark == "?" for mark in plain(text) if mark in ".!?;\n"]
    if any(len(part) > LONGEST_SENTENCE for part in parts):
        return None
    for part, question in zip(parts, [*is_question, *[False] * len(parts)], strict=False):
        bare = _without_calls(part, story.names)
        sentence_acts = _read_sentence(story, bare, question=question, alone=len(parts) == 1)
        if sentence_acts is None and question and (story.pending or any(act.act == "ask" for act in acts)):
            sentence_acts = []  # "Where is the toy? Do you know?"
        if sentence_acts is None and not question and len(parts) > 1 and _names_no_place(bare, story):
            sentence_acts = []  # "I did find one. It was on the desk."
        if sentence_acts is None and _is_small_talk(bare, story):
            sentence_acts = []
        if sentence_acts is None or any(act.act in ("assert", "deny") and act.obj is None for act in sentence_acts):
            return None
        acts += sentence_acts
    return acts


def _names_no_place(part: Sequence[Token], story: StoryState) -> bool:
    """Whether a sentence of a quote says nothing about where anything is: it denies nothing, and names no place."""
    pieces = Chunker(part, story.names).chunks()
    nouns = [piece for piece in pieces if isinstance(piece, Noun)]
    denies = any(token.low in wordset("negations") | wordset("displacing") for token in part)
    if denies or any(noun.kind in ("place", "room") for noun in nouns):
        return False
    for noun in nouns:
        if noun.kind == "object" and noun.is_known and noun.words[0] not in wordset("no_things"):
            story.thing(noun, None)  # "I did find some milk. It was ..."
    return True


def _is_small_talk(part: Sequence[Token], story: StoryState) -> bool:
    """Whether a sentence is about nothing in the story, although it cannot be read: "What a day!"."""
    words = {token.low for token in part}
    names_object = any(thing.split()[-1] in words for thing in story.objects)
    common = lexicon().common | wordset("moods") | wordset("interjections")
    idle = words <= common and not words & wordset("pointing")
    return not story.pending and not names_object and idle and _names_no_place(part, story)


def _without_calls(part: Sequence[Token], names: Collection[str]) -> list[Token]:
    """The sentence without "well," and "Mary," in front and at the end."""
    filler = wordset("interjections")
    bare = list(part)
    while bare and bare[-1].text == ",":
        bare.pop()
    while bare:
        first, goes_on = bare[0], len(bare) > 1
        call = goes_on and bare[1].text == "," and (first.low in filler or first.text in names)
        if first.text != "," and not call and not (goes_on and first.low in wordset("greetings")):
            break
        bare.pop(0)
    supposing = next((i for i, token in enumerate(bare) if i and token.low == "if" and bare[i - 1].text == ","), None)
    if supposing and not any(token.low in wordset("kinds") | wordset("rooms") for token in bare[supposing:]):
        bare = bare[:supposing]  # "..., if that helps"
    while bare and (bare[-1].text == "," or (bare[-1].text in names and len(bare) > 1 and bare[-2].text == ",")):
        bare.pop()
    return bare


def _read_sentence(story: StoryState, part: list[Token], *, question: bool, alone: bool) -> list[DialogueAct] | None:
    """What one sentence of a quote says; `question`: it ends with a question mark, `alone`: the quote has no other."""
    speech = lexicon().speech
    words = " ".join(token.low for token in part)

    def has(key: str) -> bool:
        return any(f" {phrase} " in f" {words} " for phrase in speech[key])

    unsure = has("unsure")
    filler = wordset("interjections")
    if not unsure and all(t.low in filler or t.text in story.names or t.text == "," for t in part):
        return [DialogueAct("unsure")] if words in wordset("refusals") and story.asker else []
    pieces = Chunker(part, story.names).chunks()
    nouns = [piece for piece in pieces if isinstance(piece, Noun)]
    if question and len(pieces) == 1 and nouns and nouns[0].kind == "object":  # "The milk?"
        obj = story.thing(nouns[0], None)
        return [DialogueAct("ask", obj)] if alone and not story.pending else []
    if len(pieces) == 1 and nouns and nouns[0].kind == "object" and nouns[0].det:  # "The milk," he said.
        story.thing(nouns[0], None)
        return []
    asks = question or (words.startswith(tuple(speech["asking"])) and not unsure)
    if (asks and not words.startswith(tuple(speech["suggesting"]))) or has("wanting"):
        return _question(story, words, nouns)
    more = words.partition(" but ")[2] or words.partition(" though ")[2] or words.partition(" try ")[2]
    if unsure and not more:
        return [DialogueAct("unsure")]
    acts = assertions(story, parse(pieces), unsure=unsure)
    repeats = words.endswith((" there", " in it", " on it", " inside it", " inside")) and _names_no_place(part, story)
    return [] if acts is None and repeats else acts  # "I found it there": the place was named before


def _question(story: StoryState, words: str, nouns: Sequence[Noun]) -> list[DialogueAct] | None:
    """A question where something is; None if it asks something else."""
    if not set(words.split()) & wordset("seeking"):
        return None
    things = [noun for noun in nouns if noun.kind == "object" and noun.words[0] not in wordset("no_things")]
    things = things or [
        noun for noun in nouns if noun.kind == "one" or (noun.kind == "pronoun" and noun.words[0] in ("it", "them"))
    ]
    for noun in things:
        if noun.words[-1] in ("location", "whereabouts") and noun.owner:
            return [DialogueAct("ask", story.thing(Noun("object", tuple(noun.owner.split()), 0, 0), None))]
        if obj := story.thing(noun, None):
            return [DialogueAct("ask", obj)]
    return None


def assertions(story: StoryState, clauses: Sequence[Clause], *, unsure: bool = False) -> list[DialogueAct] | None:
    """What clauses say about where something is; None if one of them cannot be read."""
    acts: list[DialogueAct] = []
    lost = False
    for clause in _without_thinking(clauses):
        act = _assertion(story, clause)
        if act is not None:
            acts.append(act)
            continue
        # "last I saw", "if I remember correctly" and "I think" say nothing of their own
        idle = clause.means(*wordset("idle_senses")) or clause.lemma in ("be", "check", "do", "go")
        idle = idle and not any(noun.kind in ("place", "room") for noun in clause.objects)
        if clause.verb is None:
            idle = all(noun.kind in ("pronoun", "agent") for noun in clause.subjects) and not clause.unknown
        places = [noun for _, noun in clause.places if noun.words[0] not in ("it", "there")]
        lost = lost or not (unsure or (idle and not places))
    if unsure and not acts:
        return [DialogueAct("unsure")]
    return acts if acts and not lost else None


def _without_thinking(clauses: Sequence[Clause]) -> list[Clause]:
    """The clauses with "I think (that) ..." replaced by what is thought."""
    unwrapped: list[Clause] = []
    for clause in clauses:
        if not clause.content or not clause.means("think", "say", "see", "suggest"):
            unwrapped.append(clause)
            continue
        for inner in _without_thinking(clause.content):
            if clause.negated and inner.verb:
                inner.verb.negated = not inner.verb.negated
            unwrapped.append(inner)
    return unwrapped


def _assertion(story: StoryState, clause: Clause) -> DialogueAct | None:
    """What a clause says about where something is; None if it says nothing of the kind, or cannot be read."""
    spot, room = _place_of(story, clause)
    ignored = wordset("negations") | wordset("hedges") | wordset("quiet")
    unread = any(word not in ignored for word in clause.unknown)
    if (spot is None and room is None) or unread or clause.link in ("if", "unless", "whether"):
        return None
    wants_place = clause.means("want") and any(noun.kind == "place" for noun in clause.objects)
    lies = clause.lemma in wordset("being_somewhere")
    if clause.verb and not (lies or wants_place or clause.means(*wordset("placing_senses"))):
        return None
    nouns = (*clause.objects, *clause.subjects)
    denied = any(noun.det == "no" or noun.words[0] in ("nothing", "neither") for noun in nouns)
    obj = story.requested
    for noun in nouns:
        if noun.kind == "object" and noun.words[0] not in wordset("no_things") | {"nothing"}:
            obj = story.thing(noun, None)
            break
        if noun.kind in ("one", "vague") or noun.words[0] in ("it", "them", "they", "some"):
            obj = story.requested or story.thing(noun, None)
            break
    return DialogueAct("deny" if denied or clause.negated or "not" in clause.unknown else "assert", obj, spot, room)


def _place_of(story: StoryState, clause: Clause) -> tuple[Spot | None, str | None]:
    """The place and the room where a statement says that something is; None for what it leaves out."""
    place_nouns = [noun for prep, noun in clause.places if prep in wordset("where")]
    object_nouns = clause.objects if clause.means("look", "open", "want") else []
    holds = clause.means("contain") or clause.lemma == "have" or clause.verb is None
    place_nouns += [noun for noun in (*object_nouns, *(clause.subjects if holds else ())) if noun.kind != "object"]
    spot, room = stated_place(story, place_nouns, ("place", "object"))
    if spot and room and not spot.room and spot.kind in wordset("furniture"):
        last = next(noun for noun in reversed(place_nouns) if noun.kind == "place")
        spot = story.spot(Noun("place", last.words, 0, 0, room=room), None)
    return spot, room


# who says it


def add_utterances(
    story: StoryState, clause: Clause, speaker: str, acts: Sequence[DialogueAct] | None, hearers: Sequence[str] = ()
) -> Told:
    """Adds what is said, except that nothing in particular is somewhere; False for None.

    Questions are heard by all, and without `hearers` the rest is, too.
    """
    for act in acts or ():
        if act.act in ("assert", "deny") and act.obj is None:
            continue
        asks, span = act.act == "ask", (clause.start, clause.end)
        obj = act.obj or (None if asks else story.requested)
        fact = Fact("at", obj, act.room) if obj is not None else None
        to = () if asks else tuple(hearers)
        story.emit(Utterance(0, speaker, act.act, fact, to, story.p, story.source, span), act.spot)
        story.of(speaker)
        if asks:
            story.asker, story.requested, story.pending = speaker, act.obj, True
            story.of(speaker).seeks = act.obj
            if act.obj:
                story.mention(act.obj, speaker)
        elif story.asker and speaker != story.asker:
            story.pending = False
    return False if acts is None else bool(acts) or NO_PLACE


def _reply(story: StoryState, clause: Clause, speaker: str, act: SpeechAct) -> None:
    """Adds a reply without words, if the speaker was asked something."""
    if story.pending and story.asker and speaker != story.asker:
        add_utterances(story, clause, speaker, [DialogueAct(act, story.requested)])


def be_silent(story: StoryState, clause: Clause, agents: Agents) -> Told:
    """Reads saying nothing: silence of those who were asked; if nobody asked, it changes nothing."""
    for agent in agents:
        _reply(story, clause, agent, "silence")
    return "says nothing"


def shrug(story: StoryState, clause: Clause, agents: Agents) -> Told:
    """Reads not knowing, without words."""
    _reply(story, clause, agents[0], "unsure")
    return "does not know"


def speak(story: StoryState, clause: Clause, agents: Agents) -> Told:
    """Reads saying or asking something, in the speaker's words or in the story's."""
    speaker = agents[0]
    if not clause.subjects or clause.subjects[0].kind == "pronoun":
        speaker = _answerer(story, clause, speaker)
    hearers = _hearers(story, clause, speaker)
    if clause.quotes:
        return _quoted(story, clause, speaker, hearers)
    nothing = any(noun.det in ("no", "not") or "nothing" in noun.words for noun in clause.objects)
    if nothing or clause.negated:
        return be_silent(story, clause, [speaker])
    acts = _indirect_question(story, clause, speaker) if clause.means("ask") else _indirect_answer(story, clause)
    verdict = add_utterances(story, clause, speaker, acts, hearers)
    return verdict if all(act.obj or act.act not in ("assert", "deny") for act in acts or ()) else False


def _answerer(story: StoryState, clause: Clause, speaker: str) -> str:
    """The agent that "he" stands for who says something: if it is an answer, not the one who has just asked."""
    if not (story.pending and story.asker and speaker == story.asker):
        return speaker
    is_statement = bool(clause.content) and not clause.means("ask")
    quoted = read_quote(story, " ".join(quote.text for quote in clause.quotes)) if clause.quotes else None
    answering = is_statement or any(act.act in ("assert", "deny", "unsure") for act in quoted or ())
    partner = story.other(speaker) if answering else None
    if partner and clause.subjects and clause.subjects[0].text in ("he", "she"):
        story.genders.setdefault(partner, clause.subjects[0].text)
    return partner or speaker


def _quoted(story: StoryState, clause: Clause, speaker: str, hearers: Sequence[str] = ()) -> Told:
    """Adds what the quotes of a clause say; False if they cannot be read."""
    acts = read_quote(story, " ".join(quote.text for quote in clause.quotes))
    return add_utterances(story, clause, speaker, acts, hearers if clause.means("say") else ())


def _hearers(story: StoryState, clause: Clause, speaker: str) -> list[str]:
    """The agents who are told something in private; empty if all hear it."""
    people = ("agent", "pronoun")
    nouns = [noun for noun in clause.objects if noun.kind in people]
    nouns += [noun for prep, noun in clause.places if prep in ("to", "with") and noun.kind in people]
    hearers = [name for noun in nouns for name in story.person(noun, [speaker])]
    for name in hearers:
        story.of(name)
    to_somebody = any(prep == "to" and noun.kind in people for prep, noun in clause.places) and not clause.quotes
    private = to_somebody or clause.lemma in wordset("telling") or "privately" in clause.adverbs
    return hearers if private and "publicly" not in clause.adverbs else []


def _indirect_question(story: StoryState, clause: Clause, speaker: str) -> list[DialogueAct] | None:
    """A question where something is, in the story's words; asked once more without saying what, it adds nothing."""
    content = _all_clauses(clause.content)
    repeats_question = not content and not clause.places and story.pending
    if repeats_question and story.asker == speaker:
        return []
    if content and content[0].link == "to" and not content[0].means("say", "find", "look", "hand", "social", "direct"):
        return None
    nouns: list[Noun] = []
    for inner in content:
        nouns += [*inner.subjects, *inner.objects, *(noun for prep, noun in inner.places if prep == "of")]
    about = ("about", "for", "of", "after", "concerning", "regarding")
    nouns += [noun for prep, noun in clause.places if prep in about]
    nouns += [noun for noun in clause.objects if noun.kind == "object"]
    for noun in nouns:
        if noun.words[-1] in ("location", "whereabouts", "place") and noun.owner:
            noun = Noun("object", tuple(noun.owner.split()), 0, 0)
        if noun.kind == "object" and not set(noun.words) & (wordset("no_things") | wordset("answers")):
            return [DialogueAct("ask", story.thing(noun, None))]
    for noun in nouns:
        if noun.words[0] in ("it", "one", "them") and (obj := story.thing(noun, None)):
            return [DialogueAct("ask", obj)]
    return None


def _all_clauses(clauses: Sequence[Clause]) -> list[Clause]:
    """The clauses with those inside them."""
    return [nested for clause in clauses for nested in (clause, *_all_clauses(clause.content))]


def _indirect_answer(story: StoryState, clause: Clause) -> list[DialogueAct] | None:
    """What is said in the story's words: that something is somewhere, where it is, or that one does not know."""
    content = _all_clauses(clause.content)
    if any(is_ignorant(inner) for inner in (clause, *content)):
        return [DialogueAct("unsure", story.requested)]
    if content and content[0].link == "where":
        noun = next((noun for noun in (*content[0].subjects, *content[0].objects) if noun.kind == "object"), None)
        obj = story.thing(noun, None) if noun else story.requested
        return [DialogueAct("assert", obj)] if obj else None
    if content:
        return assertions(story, clause.content)
    things = [noun for noun in clause.objects if noun.kind == "object"]
    if any(noun.words[-1] in ("location", "whereabouts") for noun in things) and story.asker:
        return [DialogueAct("assert", story.requested)]
    # "mentions a folder on the table"
    spot, room = stated_place(story, [noun for prep, noun in clause.places if prep in IN])
    obj = story.thing(things[0], None) if things else story.requested
    return [DialogueAct("assert", obj, spot, room)] if obj and (spot or room) else None


def stated_place(
    story: StoryState, nouns: Sequence[Noun], kinds: Sequence[str] = ("place",)
) -> tuple[Spot | None, str | None]:
    """The place and the room among some nouns; nouns of these `kinds` are places."""
    spot, room = None, None
    for noun in nouns:
        if noun.kind == "room":
            room = story.room(noun)
        elif noun.kind in kinds:
            spot = story.spot(noun, None)
    return spot, room


def is_ignorant(clause: Clause) -> bool:
    """Whether a clause says that its subject does not know something."""
    words = {word for noun in clause.objects for word in noun.words} | set(clause.unknown)
    if clause.lemma in ("have", "be") and words & wordset("knowledge"):
        doubts = bool(words & {"unsure", "uncertain"})
        return clause.negated or doubts or any(noun.det == "no" for noun in clause.objects)
    nowhere = not any(noun.kind in ("place", "room") for _, noun in clause.places)
    knowing = clause.lemma in ("know", "remember", "recall") or clause.means("see", "find")
    return clause.negated and nowhere and knowing


def direct(story: StoryState, clause: Clause, agents: Agents) -> Told:
    """Reads pointing at a place, or sending somebody there: an answer to what was asked."""
    spot, room = stated_place(story, [noun for prep, noun in clause.places if prep in wordset("directions")])
    if (spot is None and room is None) or not story.asker:
        return False
    return add_utterances(story, clause, agents[0], [DialogueAct("assert", story.requested, spot, room)])


def unattributed(story: StoryState, clause: Clause) -> Told:
    """Reads a quote without a speaker: the answer to a question that is open, or the last subject's words."""
    called = next((name for name in story.names if clause.quotes[0].text.startswith(name + ",")), None)
    if called and (caller := story.other(called)):
        story.of(caller)
        return _quoted(story, clause, caller)
    speaker = story.subjects[0] if len(story.subjects) == 1 else None
    if story.pending and story.asker:
        speaker = story.other(story.asker) or speaker
    return False if speaker is None else _quoted(story, clause, speaker)


# turns of a conversation


def take_turn(story: StoryState, sentence: Sequence[Token]) -> Told:
    """Reads an unread sentence as the turn of a conversation that is due; False if it is none.

    After a question of one of two people, what is said to be found in one place answers it for the other. Before one,
    a sentence in which somebody asks, and that names one thing after "where", asks for it.
    """
    clause = Clause(sentence[0].start, sentence[-1].end)
    quoted = " ".join(token.text for token in sentence if token.quote)
    low = [token.low for token in sentence]
    if story.pending and story.asker and (speaker := story.other(story.asker)):
        speaks = wordset("answers") & {*low} or any(is_speech_verb(low, i) for i in range(len(low)))
        acts = read_quote(story, quoted) if quoted else None
        if not quoted and speaks and FOUND & {*low}:
            words = " ".join(token.text for token in sentence)
            answer = words.rpartition(" : ")[2]  # "came her answer: ..."
            acts = _about_one_place(story, answer, indirect=True) or _about_one_place(story, words, indirect=True)
        answers = bool(acts) and all(act.act != "ask" for act in acts or ())
        return add_utterances(story, clause, speaker, acts) if answers else False
    if "where" not in low or quoted:
        return False
    mentions = [n for n, token in enumerate(sentence) if token.text in story.names or token.low in PEOPLE]
    asking_word = next((n for n, word in enumerate(low) if ASKING.match(word) and n < low.index("where")), None)
    chunks_after_where = Chunker(sentence[low.index("where") + 1 :], story.names).chunks()
    nouns = [chunk for chunk in chunks_after_where if isinstance(chunk, Noun)]
    things = {story.thing(noun, None) for noun in nouns if noun.kind == "object" and noun.is_known}
    if nouns and not things and nouns[0].words[0] in ("it", "they"):  # "whether he knew where they were"
        things = {story.thing(Noun("pronoun", ("it",), nouns[0].start, nouns[0].end), None)}
    if not mentions or len(things) != 1:
        return False
    if low[0] in wordset("asks_first") and "," not in low:  # "Did she know where the cup was?", not "..., children?"
        addressees = _people(story, sentence[mentions[0]])
        asker = story.other(addressees[0]) if addressees else None
    else:
        mentions_before = [n for n in mentions if asking_word is not None and n < asking_word]
        askers = _people(story, sentence[mentions_before[-1]]) if mentions_before else []
        asker = askers[0] if askers else None
    return add_utterances(story, clause, asker, [DialogueAct("ask", things.pop())]) if asker else False


def speaker_in(story: StoryState, sentence: Sequence[Token]) -> str | None:
    """Who speaks in a sentence without quotes: "as she put the question", "that was what Ann said"."""
    low = [token.low for token in sentence]
    speaks = [n for n, word in enumerate(low) if word in wordset("answers") or is_speech_verb(low, n)]
    mentions = [n for n, token in enumerate(sentence) if token.text in story.names or token.low in PEOPLE]
    before = [n for n in mentions if speaks and n < speaks[0]]
    if any(token.quote for token in sentence) or not before:
        return None
    speakers = _people(story, sentence[before[-1]])
    return speakers[0] if speakers else None


def _people(story: StoryState, token: Token) -> list[str]:
    """Whom a name or a pronoun stands for."""
    if token.text in story.names:
        return [token.text]
    return story.person(Noun("pronoun", (token.low,), token.start, token.end))
