"""Reading a story: sentence by sentence, clause by clause, into an episode.

`read_story` cuts a text into sentences, rewords them and parses their clauses. `StoryReader` puts the clauses in order
of time, finds the agents of each, and hands it to the function that reads its verb (events/handlers.py). What is read
is collected in a `StoryState`; what is not read lowers the coverage of the `Reading`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from otherminds.errors import InputError
from otherminds.stories.english.chunks import Chunker
from otherminds.stories.english.clauses import parse
from otherminds.stories.english.events import handlers, handling, speech
from otherminds.stories.english.events.going import FROM, Agents, Told
from otherminds.stories.english.events.seeing import note_last_moved
from otherminds.stories.english.events.states import be, be_gone, is_inattentive
from otherminds.stories.english.lexicon import lexicon, wordset
from otherminds.stories.english.phrases import Clause, VerbGroup
from otherminds.stories.english.rewording import rejoined, reworded
from otherminds.stories.english.sentences import (
    LONGEST_SENTENCE,
    Token,
    find_names,
    is_garbled,
    is_speech_verb,
    plain,
    sentences,
    tokens,
)
from otherminds.stories.english.story_state import StoryState
from otherminds.stories.model import ClauseAccount, Event, Observation, Outcome, Reading, Source, Utterance

LONGEST_STORY = 100_000  # characters (chosen; far longer than any benchmark's story)
ARRIVALS = ("enter", "walk")  # what somebody does who comes in
LONGEST_ROOM = 3  # words in the name of a room (chosen; not tuned)
ENTERED = re.compile(
    r"\b(?:re-?)?(?:enter|exit)(?:s|ed|ing)?\s+the\s+([a-z_ ]{2,30}?)(?=\s*(?:[.,;\n]|\band\b|\bwhile\b|\bthen\b|$))"
)
LEFT = re.compile(r"\b(?:leaves|left|leave) the ([a-z_ ]{2,30}?)(?=\s*(?:[.,;\n]|\band\b|\bwhile\b|\bthen\b|$))")
MEANWHILE = re.compile(r"\b(?:while|when|as|with|without)\b")
UNSEEING = re.compile(  # after which somebody may see nothing: unless it was read as that, it is not understood
    r"\b(?:eyes?|eyelids|faint\w*|d(?:ied|ies|ying)|doz\w+|nap(?:s|ped|ping)?|snooz\w+|sle(?:ep\w*|pt)|asleep|daydream\w*"
    r"|head|bent|shower|bath|on the phone|reading"
    r"|blindfold\w*|unconscious|(?:head|ear)phones|absorbed|engrossed|distracted|no attention|back turned"
    r"|turn(?:s|ed|ing)? (?:his|her|their) back|(?:turn|look|gaz|star|fac)(?:e|s|es|d|ed|ing)?"
    r" (?:away|aside|at|out|to the (?:wall|window|door)|the other way))\b"
)
NUMBERED = re.compile(r"\bfrom (?:the )?left\b|\b(?:two|three|four|five|six|seven|eight|several) \w*\s?cabinets\b")


def read_story(text: str, *, source: Source = "text", p: float = 1.0, cast: Sequence[str] = ()) -> Reading:
    """The episode that a story in plain English tells, how much of it was understood, and the unread sentences.

    Every happening gets the `source` and the probability `p`; `cast` are names known beforehand. Raises InputError if
    the story is longer than 100,000 characters.
    """
    if len(text) > LONGEST_STORY:
        raise InputError(f"the story is longer than {LONGEST_STORY:,} characters", hint="give only the story itself")
    even = plain(text)
    text_tokens = tokens(even)
    names = find_names(sentences(text_tokens), cast)
    low = even.lower()
    rooms, holders = rooms_in(low), holders_in(low)
    reader = StoryReader(StoryState(names, source, p, rooms - holders, holders, numbered=bool(NUMBERED.search(low))))
    for sentence in rejoined(sentences(text_tokens, names), names):
        reader.read(sentence, text)
    return reader.reading()


def rooms_in(low: str) -> frozenset[str]:
    """The rooms that a text in lower case names: those of the lexicon, and whatever is entered, or exited ("the lab").

    What is left is a room if people are in it or around it, too: "left the bar", but not "left the coin".
    """
    vocabulary = lexicon()
    no_rooms = wordset("things") | wordset("kinds") | wordset("pronouns")
    rooms = {room for room in wordset("rooms") if room in low}
    exits = [match for match in LEFT.finditer(low) if re.search(rf"\b(?:in|on|at|to|around) the {match[1]}\b", low)]
    for match in (*ENTERED.finditer(low), *exits):
        words = vocabulary.canonical(match[1].replace("_", " ").split())
        if words and words[-1] not in no_rooms and len(words) <= LONGEST_ROOM:
            rooms.add(" ".join(words))
    return frozenset(rooms)


def holders_in(low: str) -> frozenset[str]:
    """The rooms of the lexicon that a text in lower case makes pieces of furniture: "the pantry is in the cellar"."""
    return frozenset(
        room for room in wordset("rooms") if re.search(rf"\bthe {room} (?:is|was|stands|stood) (?:in|on|inside) ", low)
    )


class StoryReader:
    """Reads sentence after sentence into a story, and accounts for each clause."""

    def __init__(self, story: StoryState) -> None:
        """A reader before the first sentence. It updates `story`, and accounts for every clause that it reads."""
        self.story = story
        self.accounts: list[ClauseAccount] = []
        self.unread: list[str] = []
        self.text, self.span = "", (0, 0)
        self.alone = True  # whether the sentence has one clause
        self.speaker: str | None = None  # of the line of dialogue read last, which ends at `spoken`
        self.spoken = 0
        self.loose: tuple[Token, int] | None = None  # a quote of nobody, just read, with the number of its account

    def reading(self) -> Reading:
        """What was read so far; the coverage is the share of clauses that were read."""
        n_read = sum(account.outcome != "unread" for account in self.accounts)
        return self.story.reading(n_read / len(self.accounts) if self.accounts else 0.0, self.unread, self.accounts)

    def read(self, sentence: Sequence[Token], text: str) -> None:
        """Reads one sentence of a text. If a clause of it cannot be read, the sentence is among the unread."""
        self.text, began = text, len(self.accounts)
        self.span = sentence[0].start, sentence[-1].end
        self.story.mentioned |= {token.text for token in sentence if token.text in self.story.names}
        plain_sentence = reworded(sentence, self.story.names)
        too_long = len(plain_sentence) > LONGEST_SENTENCE
        if self._is_asked(sentence) or is_garbled(sentence, text) or too_long or self._is_cleft(plain_sentence):
            self._account(self.span, self.story.size, False)
        elif not self._silence(plain_sentence) and not self._dialogue(plain_sentence, text):
            self._sentence(plain_sentence)
        loose, self.loose = self.loose, None
        if loose is not None:
            self._attribute(loose, sentence)
        self._converse(sentence, began)
        self._doubt_sight(sentence, began)
        if any(account.outcome == "unread" for account in self.accounts[began:]):
            if len(sentence) == 1 and sentence[0].quote:
                self.loose = sentence[0], began
            self.unread.append(" ".join(text[slice(*self.span)].split()))
            self.story.last_room = None

    def _doubt_sight(self, sentence: Sequence[Token], began: int) -> None:
        """Counts a sentence after which somebody may see nothing as unread, unless it says what they miss."""
        words = " ".join(token.low for token in sentence)
        accounts = self.accounts[began:]
        missed = any(account.outcome == "observation" for account in accounts) and MEANWHILE.search(words)
        doubted = any(account.outcome == "unread" and UNSEEING.search(account.text.lower()) for account in accounts)
        if UNSEEING.search(words) and not missed and not doubted:
            self._account(self.span, self.story.size, False)

    def _converse(self, sentence: Sequence[Token], began: int) -> None:
        """Reads what is left of a sentence as the turn of a conversation that is due, if it has none yet."""
        unread = [n for n in range(began, len(self.accounts)) if _is_open(self.accounts[n])]
        happenings = [happening for happening, _ in self.story.timeline[self.accounts[began].t :]] if unread else []
        before, first_open = self.story.size, next(iter(unread), None)
        if first_open is None or any(isinstance(happening, Utterance) for happening in happenings):
            return
        if not (verdict := speech.take_turn(self.story, sentence)):
            return
        later_accounts = self.accounts[first_open + 1 :]
        del self.accounts[first_open:]
        self._account((sentence[0].start, sentence[-1].end), before, verdict)
        self.accounts += [account for account in later_accounts if account.outcome != "unread"]

    def _attribute(self, loose: tuple[Token, int], sentence: Sequence[Token]) -> None:
        """Reads a quote that stands alone as the words of the one who speaks in the next sentence."""
        quote, number = loose
        speaker, before, later = speech.speaker_in(self.story, sentence), self.story.size, self.accounts[number + 1 :]
        acts = speech.read_quote(self.story, quote.text) if speaker else None
        if speaker and acts:
            clause = Clause(quote.start, quote.end)
            del self.accounts[number:]
            self._account((quote.start, quote.end), before, speech.add_utterances(self.story, clause, speaker, acts))
            self.accounts += later
            self.unread.pop()

    def _is_asked(self, sentence: Sequence[Token]) -> bool:
        """Whether the teller asks something: "did she see it, children?", but not "did he know, she asked, ...?"."""
        low = [token.low for token in sentence]
        asks = low[0] in wordset("asks_first") and self.text[sentence[-1].end :].lstrip().startswith("?")
        return asks and not any(is_speech_verb(low, i) for i in range(len(low)))

    def _account(
        self, span: tuple[int, int], before: tuple[int, int], verdict: Told, people: Sequence[str] = ()
    ) -> None:
        """Notes what became of a clause: what it added to the story since `before`, or the reason why it adds nothing.

        A clause that was read and adds nothing for no reason is unread: something was dropped.
        """
        story, text = self.story, " ".join(self.text[slice(*(span if span[0] < span[1] else self.span))].split())
        added = [happening for happening, _ in story.timeline[before[0] :]]
        outcome: Outcome = "unread"
        if verdict and added:
            outcome = "observation" if all(isinstance(happening, Observation) for happening in added) else "event"
        elif verdict and story.size[1] > before[1]:
            outcome = "fact"
        elif isinstance(verdict, str):
            outcome = "no effect"
        reason = verdict if isinstance(verdict, str) and outcome == "no effect" else ""
        mentioned = [name for name in story.names if name in text]
        involved = tuple(dict.fromkeys((*people, *mentioned)))
        self.accounts.append(ClauseAccount(text, outcome, reason, before[0], involved))

    def _is_cleft(self, sentence: Sequence[Token]) -> bool:
        """Whether it is a cleft that no rule rewords: "it was not Ann who opened it", "what she nearly did was ..."."""
        words = [token.low for token in sentence[:3]]
        later = [token.low for token in sentence[3:]]
        if len(words) == 3 and words[1] in ("was", "is") and words[0] == "it" and words[2] in wordset("prepositions"):
            return "that" in later
        if words[:1] == ["what"] and not any(token.quote for token in sentence) and sentence[-1].low != "?":
            return True
        if len(words) < 3 or words[:2] != ["it", "was"] or all(token.low != "who" for token in sentence):
            return False
        return words[2] in ("not", "n't") or sentence[2].text in self.story.names

    def _silence(self, sentence: Sequence[Token]) -> bool:
        """Reads a sentence that only says that a question got no answer; False if it is none."""
        story = self.story
        words = " ".join(token.low for token in sentence)
        simple = not any(token.quote or token.text in (",", "and", "but", "then") for token in sentence)
        if not simple or not any(phrase in words for phrase in lexicon().speech["silences"]):
            return False
        mentioned = [token.text for token in sentence if token.text in story.names and token.text != story.asker]
        silent = mentioned[-1] if mentioned else story.other(story.asker) if story.asker else None
        if silent is None or not story.pending:
            return False
        clause, before = Clause(sentence[0].start, sentence[-1].end), story.size
        verdict = speech.be_silent(story, clause, [silent])
        self._account((clause.start, clause.end), before, verdict, [silent])
        return True

    def _dialogue(self, sentence: Sequence[Token], text: str) -> bool:
        """Reads a line of a dialogue, "Mary: ...", or a sentence that goes on with one; False if it is neither."""
        story, first = self.story, sentence[0].text
        labelled = len(sentence) > 2 and first in story.names and sentence[1].text == ":"
        same_line = "\n" not in text[self.spoken : sentence[0].start] and first not in story.names
        goes_on = self.speaker and same_line and not any(token.quote for token in sentence)
        if not labelled and not goes_on:
            self.speaker = None
            return False
        words = sentence[2:] if labelled else sentence
        spoken = words[0].text if words[0].quote else plain(text[words[0].start : words[-1].end + 1])
        acts = speech.read_quote(story, spoken)
        speaker = first if labelled else self.speaker if acts is not None else None
        self.speaker, self.spoken = speaker, sentence[-1].end
        if speaker is None:
            return False
        story.of(speaker)
        clause, before = Clause(words[0].start, words[-1].end), story.size
        verdict = speech.add_utterances(story, clause, speaker, acts)
        self._account((clause.start, clause.end), before, verdict, [speaker])
        if any(act.act == "ask" for act in acts or ()):
            story.subjects = [speaker]
        return True

    def _sentence(self, sentence: Sequence[Token]) -> None:
        """Reads the clauses of a sentence, in order of time, then whoever the sentence says did not pay attention."""
        story = self.story
        done: list[Agents] = []
        inattentive: list[tuple[Clause, Agents]] = []
        began, arrivals = len(story.timeline), list[int]()
        clauses = in_order(parse(Chunker(sentence, story.names).chunks()))
        neither = any(token.low == "neither" for token in sentence)
        self.alone = len(clauses) == 1
        earlier = told_earlier(clauses)
        for i, clause in enumerate(clauses):
            name_rooms(clause, story.story_rooms, story.holders)
            share(clause, clauses, i)
            if neither and clause.verb:
                clause.verb.negated = True
        for i, clause in enumerate(clauses):
            agents = agents_of(story, clause, done)
            if agents and is_inattentive(clause):
                inattentive.append((clause, agents))
            else:
                arrivals += [len(story.timeline)] if clause.link == "as" else []
                self._read_clause(clause, agents, clauses[i + 1 :], began, earlier=earlier[i])
            if agents and not (done and clause.subjects and is_background(clause)):
                done.append(agents)
                if clause.link not in ("as", "while", "who", "that") or not story.subjects:
                    story.subjects = list(agents)
            # "when Ann moved the cup, Bob was not there": he missed it
            absent = i > 0 and clauses[i - 1].lemma == "be" and clauses[i - 1].negated
            if absent and clause.link in ("when", "while", "as") and len(done) > 1:
                note_last_moved(story, clause, done[-2], sees=False)
        self._doubt_order(began, arrivals)
        for clause, agents in inattentive:
            before, happenings = story.size, [happening for happening, _ in story.timeline[began:]]
            moved = any(isinstance(happening, Event) and happening.obj == story.last_moved for happening in happenings)
            misses = moved and note_last_moved(story, clause, agents, sees=False)
            self._account((clause.start, clause.end), before, misses or (len(clauses) > 1 and "misses nothing"), agents)

    def _read_clause(
        self, clause: Clause, agents: Agents | None, later_clauses: Sequence[Clause], began: int, *, earlier: bool
    ) -> None:
        """Reads one clause of a sentence that began with happening `began`, and accounts for it.

        What it tells was before the arrival told last if it is `earlier`.
        """
        story, before = self.story, self.story.size
        verdict: Told = agents is not None and self._clause(clause, agents, later_clauses)
        eventless = len(story.timeline) == began
        if not verdict or story.size == before:
            verdict = self._of_no_effect(clause, agents, eventless=eventless) or verdict
        self._account(_extent(clause, verdict), before, verdict, agents or ())
        if earlier:
            self._put_earlier(before[0], agents or ())

    def _put_earlier(self, before: int, agents: Agents) -> None:
        """Puts what was told since `before` in front of the arrival told last, if it is somebody else's.

        "Ann came in. Bob had opened the box" tells that he opened it before she came.
        """
        timeline, arrival = self.story.timeline, before
        while arrival and isinstance(event := timeline[arrival - 1][0], Event):
            if event.verb not in ARRIVALS or event.agent in agents:
                break
            arrival -= 1
        timeline[arrival:] = [*timeline[before:], *timeline[arrival:before]]

    def _doubt_order(self, began: int, arrivals: Sequence[int]) -> None:
        """Leaves it open who saw it if somebody came in "as" somebody else moved a thing, since happening `began`."""
        happenings = [h for h, _ in self.story.timeline]
        for arrival in arrivals:
            comer = happenings[arrival] if arrival < len(happenings) else None
            moves = [h for h in happenings[began:] if isinstance(h, Event) and h.verb in ("grab", "put", "move")]
            if isinstance(comer, Event) and comer.verb == "enter" and any(h.agent != comer.agent for h in moves):
                k = next(k for k, account in reversed([*enumerate(self.accounts)]) if account.t == arrival)
                self.accounts[k] = replace(self.accounts[k], outcome="unread", reason="may be before or after")

    def _of_no_effect(self, clause: Clause, agents: Agents | None, *, eventless: bool) -> str:
        """The reason why a clause that added nothing has nothing to add; empty if there is none.

        `eventless` is whether the sentence has told of no happening so far.
        """
        bare = not (clause.objects or clause.content or clause.places)
        if is_background(clause):
            return "told before" if agents else ""
        if clause.negated and clause.means("see") and bare and eventless:
            return "misses nothing that is told"
        unnamed = {noun.words[0] for noun in clause.subjects} & wordset("unnamed")
        return "is said of nobody by name" if agents is None and unnamed and clause.means("look", "want") else ""

    def _clause(self, clause: Clause, agents: Agents, later_clauses: Sequence[Clause]) -> Told:
        """Reads one clause: what it did to the story, or why it did nothing, in words; False if it cannot be read."""
        if clause.verb is None:
            return self._fragment(clause)
        if clause.unknown == ["according"] and (verdict := self._according(clause)) is not None:
            return verdict
        if set(clause.unknown) - wordset("quiet_states"):
            return False
        if any("absence" in noun.words for noun in clause.objects):
            return False
        if (
            clause.lemma == "let"
            and clause.means("put")
            and not clause.places
            and any(later_clause.means("put") for later_clause in later_clauses)
        ):
            return "lets go"  # "let go of the cup and left it in the box"
        patients = [*clause.objects, *(clause.subjects if clause.verb.passive else ())]
        is_denied = any(noun.det == "no" or noun.words[0] in ("nothing", "none", "neither") for noun in patients)
        if is_denied and clause.means("open", "close", "grab", "put", "move"):
            return "did not happen"
        if clause.verb.passive:
            agents = handlers.turned_active(self.story, clause)
        unreal = handlers.read_unreal(self.story, clause, agents, later_clauses)
        return self._real_clause(clause, clause.verb, agents) if unreal is None else unreal

    def _real_clause(self, clause: Clause, verb: VerbGroup, agents: Agents) -> Told:
        """Reads a clause that tells of something real, by the handler of its verb; False if there is none."""
        if handlers.tells_where_it_lies(clause):
            clause.subjects = clause.subjects or clause.objects
            return be(self.story, clause, ())
        does_again = verb.lemma == "do" and any(noun.det == "same" for noun in clause.objects)
        if does_again and agents and any(noun.kind == "place" for _, noun in clause.places):
            return handling.do_again(self.story, clause, agents)
        if verb.lemma == "do" and all(noun.kind in ("vague", "pronoun", "one") for noun in clause.objects):
            return "an activity"
        if not agents and (carries := self._goes_somewhere(clause, verb)) is not None:
            return carries
        if not agents and not clause.quotes and not verb.means("contain", "feature", "be", "have"):
            # "the milk is kept in the fridge"
            is_placed = verb.means("put", "find", "stay", "see") or verb.lemma in wordset("kept")
            return be(self.story, clause, ()) if is_placed and verb.passive else False
        if verb.lemma == "go" and verb.tags == {"pp"} and not clause.places:  # "Ann is gone"
            return be_gone(self.story, clause, agents) if agents else False
        if clause.quotes and not agents:  # '"..." came Mary's answer'
            nouns = [*clause.objects, *clause.subjects, *(noun for _, noun in clause.places)]
            people = [name for noun in nouns if noun.kind == "agent" for name in self.story.person(noun)]
            people += [noun.owner for noun in nouns if noun.owner in self.story.names]
            return speech.speak(self.story, clause, people[:1]) if people else speech.unattributed(self.story, clause)
        handler = handlers.handler_of(clause, agents)
        return False if handler is None else handler(self.story, clause, agents)

    def _goes_somewhere(self, clause: Clause, verb: VerbGroup) -> Told | None:
        """Reads what things do by themselves: "the milk went into the fridge"; None if it is nothing of the kind."""
        going = verb.means("walk", "arrive", "move", "enter", "return")
        if going and (carriers := handlers.carried_by(self.story, clause)):
            return handling.put(self.story, clause, carriers)
        subjects = {noun.words[0] for noun in clause.subjects}
        if subjects and subjects <= wordset("happenings") and verb.means("walk", "begin", "stop") and not clause.places:
            return "tells a time"
        if verb.means("arrive") and clause.subjects:  # "the toy turned up in the hall"
            return be(self.story, clause, ()) or "is where somebody takes it"
        return None

    def _according(self, clause: Clause) -> Told | None:
        """Reads what is so "according to" somebody as what that person says; None if nobody is named."""
        people = [name for prep, noun in clause.places if prep == "to" for name in self.story.person(noun)]
        if not people:
            return None
        other_places = [(prep, noun) for prep, noun in clause.places if prep != "to"]
        acts = speech.assertions(self.story, [replace(clause, places=other_places, unknown=[])])
        return speech.add_utterances(self.story, clause, people[0], acts)

    def _fragment(self, clause: Clause) -> Told:
        """Reads a clause without a verb: a quote, "no milk", "in the kitchen", "after lunch"."""
        if clause.quotes and not clause.subjects and not clause.unknown:
            return speech.unattributed(self.story, clause)
        noun = clause.subjects[0] if len(clause.subjects) == 1 else None
        nothing = noun is not None and (noun.det == "no" or noun.words == ("nothing",))
        if nothing and not clause.unknown and not clause.places:
            there_is = VerbGroup("be", ("be",), frozenset(), clause.start, clause.end)
            return be(self.story, replace(clause, verb=there_is, adverbs=["there"]), ())
        if clause.link == "who" and clause.subjects and clause.places:
            people = [name for subject in clause.subjects for name in self.story.person(subject)]
            return be(self.story, clause, people) if people else False
        is_known = noun is not None and (noun.text in self.story.objects or noun.words[-1] in wordset("things"))
        topic = noun is not None and noun.text == self.story.requested  # "oh, the juice - I found it in the box"
        alone = noun is not None and (
            noun.kind == "vague" or (is_known and noun.kind == "object" and (self.alone or topic))
        )
        if (
            noun is not None
            and alone
            and noun.det
            and not (noun.clauses or clause.places or clause.unknown or clause.quotes)
        ):
            self.story.thing(noun, None)  # "And the juice?"
            return "names a thing"
        return self._of_place_or_time(clause)

    def _of_place_or_time(self, clause: Clause) -> Told:
        """Whether a fragment tells a time, or is about nothing that stands for a place: "after lunch", "for her"."""
        if clause.unknown:
            return False
        only_phrases = not (clause.subjects or clause.objects)
        preps, kinds = {prep for prep, _ in clause.places}, {noun.kind for _, noun in clause.places}
        no_places = kinds <= {"object", "pronoun"}
        timing = wordset("times") | {"with", "at", "in", "for"}
        if clause.link in wordset("times") or (only_phrases and no_places and preps <= timing):
            return "tells a time"
        aside = only_phrases and preps and no_places and not preps & (wordset("in") | FROM) and not clause.quotes
        return "tells no place" if aside else False


def _is_open(account: ClauseAccount) -> bool:
    """Whether it is open what a clause says."""
    return account.outcome == "unread" or account.reason == speech.NO_PLACE


# who does what a clause tells


def share(clause: Clause, clauses: Sequence[Clause], i: int) -> None:
    """Gives a clause a subject or an object that it does not name itself.

    It shares that with a neighbour ("opened and closed the box"), or describes it ("the box, which Ann opened").
    """
    next_clause = clauses[i + 1] if i + 1 < len(clauses) else None
    if clause.verb and not clause.verb.finite and not clause.subjects and not any(c.subjects for c in clauses[:i]):
        clause.subjects = next((list(c.subjects) for c in clauses[i + 1 :] if c.subjects), [])
    is_bare = clause.verb and not (clause.objects or clause.places or clause.content or clause.quotes)
    shares = next_clause is not None and next_clause.link == "and" and not next_clause.subjects
    if is_bare and shares and next_clause and clause.means("open", "close", "grab", "move", "put"):
        clause.objects = [noun for noun in next_clause.objects if noun.kind != "agent"]
    if i and clause.link == "and" and not (clause.subjects or clause.objects):
        go_on_passively(clause, clauses[i - 1])
    if i and clause.verb and clause.link == "and" and not clause.subjects and clauses[i - 1].negated:
        clause.verb.negated |= clause.verb.tags == {"base"}  # "did not open the box and take the cup"
    antecedent = clause.antecedent
    if antecedent is None:
        return
    if clause.link == "which" and clause.subjects and not clause.objects:
        clause.objects = [antecedent]
    placing = clause.link == "where" and clause.subjects and clause.means("put", "grab", "find")
    if placing and not clause.places:
        clause.places = [("in" if antecedent.kind == "room" else "on", antecedent)]
    if clause.link in ("who", "which", "that") and not clause.subjects:
        clause.subjects = [antecedent]


def go_on_passively(clause: Clause, before: Clause) -> None:
    """Makes a participle go on with the passive clause before it: "was taken by Ann and put on the table"."""
    participle = clause.verb is not None and "pp" in clause.verb.tags and not clause.verb.perfect
    if clause.verb and participle and before.verb and before.verb.passive:
        clause.verb = replace(clause.verb, passive=True)
        clause.subjects = list(before.subjects)
        clause.places += [(prep, noun) for prep, noun in before.places if prep == "by"]


def is_background(clause: Clause) -> bool:
    """Whether a relative clause tells what had happened before: "the table, where Ann had put it"."""
    return clause.link in wordset("relative") and clause.verb is not None and clause.verb.perfect


def name_rooms(clause: Clause, rooms: frozenset[str], holders: frozenset[str]) -> None:
    """Makes rooms of nouns that only the story knows as rooms, "the lab", and places of rooms that stand in others."""
    for noun in (*clause.subjects, *clause.objects, *(noun for _, noun in clause.places)):
        if noun.kind == "object" and noun.text in rooms:
            noun.kind = "room"
        elif noun.kind == "room" and noun.text in holders:
            noun.kind = "place"
    for inner in clause.content:
        name_rooms(inner, rooms, holders)


def agents_of(story: StoryState, clause: Clause, done: Sequence[Agents]) -> Agents | None:
    """The agents of a clause; empty if the subject is a thing, None if it is unclear.

    `done` are the agents of the clauses before it in the sentence. "Nobody" is everybody, with the verb negated.
    """
    if not clause.subjects:
        there_is = clause.verb is None or (clause.lemma == "be" and "there" in clause.adverbs)
        if there_is or (clause.quotes and clause.lemma in ("come", "be")):  # '"...", came the answer'
            return ()
        return done[-1] if done else (tuple(story.subjects) or None)
    if clause.verb and clause.verb.passive and clause.means("open", "close", "grab", "put", "move"):
        return ()  # "both were picked up": things
    names: list[str] = []
    reply = clause.means("say") and not clause.link
    for noun in clause.subjects:
        if noun.kind not in ("agent", "pronoun", "one"):
            return ()
        if noun.words[0] in wordset("nobody"):
            clause.verb = replace(clause.verb, negated=True) if clause.verb else None
            return tuple(story.agents)
        # "he" is first of all the agent of the clause before, unless he replies
        he = noun.kind == "pronoun" and noun.words[0] in ("he", "she") and not reply
        previous_subjects = story.subjects
        story.subjects = list(done[-1]) if he and done and len(done[-1]) == 1 else previous_subjects
        names += story.person(noun, reply=reply)
        story.subjects = previous_subjects
    for name in names:
        story.of(name)
    return tuple(dict.fromkeys(names)) or (
        () if clause.subjects[0].words[0] in wordset("no_person") | wordset("happenings") else None
    )


def _extent(clause: Clause, verdict: Told) -> tuple[int, int]:
    """The part of the text that an account of a clause quotes; what an unread one tells of is in it."""
    parts = [clause] if verdict else [clause, *clause.content]
    if not verdict and clause.means("say", "see", "think"):  # "she could tell from his face that ..."
        parts += [part for _, noun in clause.places for part in noun.clauses]
    return min(part.start for part in parts), max(part.end for part in parts)


# the order of time


def told_earlier(clauses: Sequence[Clause]) -> list[bool]:
    """Whether each clause tells, in the past perfect, of what was before the last told: "had come and opened it"."""
    is_earlier: list[bool] = []
    for clause in clauses:
        verb = clause.verb
        goes_on = bool(is_earlier and is_earlier[-1]) and clause.link in ("", "and") and not clause.subjects
        is_earlier.append(verb is not None and (verb.perfect or (goes_on and "pp" in verb.tags)))
    return is_earlier


def in_order(clauses: list[Clause]) -> list[Clause]:
    """The clauses in order of time: what comes "after" something is put behind it, "before" in front of it.

    Where somebody is "while" something happens comes before that.
    """
    out = list(clauses)
    for i in range(1, len(out)):
        first, main = out[i], out[i - 1]
        if _is_where_meanwhile(first, main):
            out[i - 1], out[i] = first, main
        if first.link in ("after", "once", "upon") and first.verb and main.verb:
            first.subjects = first.subjects or list(main.subjects)
            nouns = (*main.objects, *(noun for _, noun in main.places))
            place = next((noun for noun in nouns if noun.kind == "place"), None)
            if place is not None:
                first.places = [(prep, place if noun.words == ("it",) else noun) for prep, noun in first.places]
            out[i - 1], out[i] = first, main
    if len(out) > 1 and out[0].link in ("before", "until") and out[0].verb and out[1].subjects:
        _share_subject(out[0], out[1])
        end = next((i for i in range(2, len(out)) if out[i].link not in ("", "and")), len(out))
        out.insert(end - 1, out.pop(0))
    return out


def _is_where_meanwhile(clause: Clause, before: Clause) -> bool:
    """Whether a clause says where people are at the time of the one before it: "... while Ann was in the hall"."""
    meanwhile = ("while", "when", "as")
    framed = before.link in meanwhile and before.lemma != "be" and not clause.link and not clause.negated
    people = bool(clause.subjects and before.subjects) and all(noun.kind == "agent" for noun in clause.subjects)
    return (clause.link in meanwhile or framed) and clause.lemma == "be" and people


def _share_subject(first: Clause, main: Clause) -> None:
    """Gives "before" the subject of the main clause, or the main clause that of "before Ann left, she took the cup"."""
    subjects = list(first.subjects)
    first.subjects = subjects or list(main.subjects)
    if subjects and main.subjects[0].kind == "pronoun" and subjects[0].kind == "agent":
        main.subjects = subjects
