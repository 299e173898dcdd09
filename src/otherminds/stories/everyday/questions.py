"""Questions about stories about anything: what is asked, and its answer in one reading of the story."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from otherminds.stories.english.lexicon import singular
from otherminds.stories.english.sentences import Token, plain, tokens
from otherminds.stories.everyday.chunks import AUXILIARIES, Chunker, Noun
from otherminds.stories.everyday.claims import (
    believed_agent,
    believed_contents,
    believes_claim,
    jokes,
    lies,
    trusted_place,
)
from otherminds.stories.everyday.clauses import Clause, inside, parse
from otherminds.stories.everyday.events import ClauseReader
from otherminds.stories.everyday.helping import has_no_part, helps
from otherminds.stories.everyday.knowledge import content, knows_of, words_in
from otherminds.stories.everyday.reading import find_names, split
from otherminds.stories.everyday.scene import GONE, Place, Scene
from otherminds.stories.everyday.wishes import GETTING, wanted_thing, wants, wished_option
from otherminds.stories.everyday.words import cue, is_in, vocabulary, words_of
from otherminds.worlds.household.nested_belief import MoveEvent, StatementEvent

SEARCH = words_of("search")
WATCHING = frozenset(["watch", "see", "observe", "witness", "follow", "spot", "look_on", "view"])
ORDINARY = frozenset(["now", "first", "really", "actually", "currently", "right", "still", "exactly", "then"])
TIMES = frozenset(["when", "while", "after", "as", "once", "until", "before"])
YES, NO = "yes", "no"
WANTING = frozenset(["want", "choose", "like", "prefer"])
EARNEST = re.compile(r"\b(?:really|actually|seriously|truly|in earnest)\b")
WHICH = re.compile(
    r"\bwhich \w+ ((?:the|his|her|their|my) .+|[A-Z]\w+) (is|are|was|were) (?:in|on|at|under|behind)(?=[?.]|$)"
)
# "which of the three women knows", "of these people, who knows": who knows
OF_SEVERAL = re.compile(
    r"\bwhich of (?:the|these|those|[A-Z]\w+'s)(?: \w+){0,2}? "
    r"(?=(?:do|does|did|is|are|was|were|has|have|had|knows?|knew|saw|notice[ds]?|heard)\b)"
    r"|\bof (?:the|these|those)(?: \w+){1,2}, who (?=\w)",
    re.IGNORECASE,
)
EXCEPT = re.compile(
    r",? ?\b(?:besides|apart from|except(?: for)?|other than|aside from) "
    r"((?:the |Mr\.? |Mrs\.? |Ms\.? |Dr\.? )?[\w-]+(?: [A-Z]\w+)?)(?:,|(?=\?)| (?=know|saw|notice|heard))",
    re.IGNORECASE,
)
# "who knows of it, Ann or the nurse?"
LISTED = re.compile(r"(?:,|:) ((?:[\w. ]{1,40}, )?[\w. ]{1,40} or [\w. ]{1,40})\?$")
THEN = re.compile(r"\b(?:in|at|on|during) (?:the )?(\w+)\s*\?")
UNNAMED = {"who": "somebody", "what": "something"}
HELP = ("help", "hinder")
JOINED = re.compile(r"\b((?:help|hinder)\w*) or (?:help|hinder)\w*")
EITHER = re.compile(  # what follows the first alternative in "helping Ann, hindering her, or neither"
    r"(?:,? or|,) (?:is |was )?(?:he |she |they )?(?:help|hinder)\w*(?: (?:her|him|them|it|[A-Z]\w+)(?=\?|,| or))?"
    r"|,? or (?:neither|none|doing)\b[^?]*"
)
CHOICES = ("helping", "hindering", "neither")
HELPING = re.compile(r"\b(?:help|hinder|neither\b)")


@dataclass
class Query:
    """A question as clauses: its wh-word, and the statement that it asks about with the auxiliary in place."""

    text: str
    asked: str  # "where", "who", "what", "why", "when", or "" for yes or no
    clause: Clause
    options: tuple[str, ...]
    names: frozenset[str]
    early: bool
    before: Clause | None = None  # "before she moved it"
    without: Noun | None = None  # "besides Ann, who knows ..."
    helped: tuple[Noun, ...] = ()  # whom somebody is said to help or hinder
    more: bool = False  # whether a further clause says which time is meant
    minds: frozenset[str] = frozenset()
    topics: frozenset[str] = frozenset()
    roles: frozenset[str] = frozenset()  # who thinks, knows or looks, by a role that no list may have


def read_query(text: str, options: Sequence[str], names: Collection[str]) -> Query | None:
    """The question in a text; None if it cannot be read."""
    text = WHICH.sub(r"where \1 \2", text)  # "which cupboard the drill is in"
    text, options, without = _of_whom(text, options)
    if JOINED.search(text) or EITHER.search(text):  # "is he helping Ann, hindering her, or neither?"
        options, text = options or CHOICES, EITHER.sub("", JOINED.sub(r"\1", text))
    sentences = split(text)
    if not sentences:
        return None
    known = frozenset(names) | find_names(sentences)
    found = list(sentences[-1])
    low = [token.low for token in found]
    start = next(
        (
            i
            for i, word in enumerate(low)
            if is_in(word, "questions")
            or word in ("who", "which", "whom")
            or word in AUXILIARIES
            or is_in(word, "modals")
        ),
        None,
    )
    if start is None:
        return None
    if "," in low and low[0] in ("when", "after", "before", "if", "once", "as") and low.index(",") < len(low) - 2:
        start = low.index(",") + 1
        if (
            low[start] not in AUXILIARIES
            and not is_in(low[start], "questions", "modals")
            and low[start] not in ("who", "which")
        ):
            return None
    asked, rest = "", found[start:]
    if is_in(rest[0].low, "questions") or rest[0].low in ("who", "which", "whom"):
        asked, rest = rest[0].low, rest[1:]
        if (
            asked in ("which", "what") and rest and rest[0].low in ("place", "room", "container", "location", "spot")
        ) or (asked == "which" and len(rest) > 2):
            k = next((i for i, one in enumerate(rest) if one.low in AUXILIARIES or is_in(one.low, "modals")), 0)
            asked, rest = "what" if WANTING & {*low} else "where", rest[k:]
    rest = [token for n, token in enumerate(rest) if not (n and token.low in ("himself", "herself", "themselves"))]
    if asked in ("who", "what"):
        rest = _with_subject(rest, asked)
    statement = _declarative(rest, known, asked)
    if statement is None:
        return None
    clauses = parse(statement, known)
    if not clauses or any(one.unknown for one in clauses):
        return None
    early = bool(cue("early").search(plain(text).lower())) or (
        asked == "where" and "before" in low[start:] and len(clauses) > 1
    )
    query = Query(text, asked, clauses[0], tuple(options), known, early)
    query.before = next(
        (one for one in clauses if one.link == "before" and one.means("put", "move", "take", "hide", "swap")), None
    )
    query.without = next((one.noun for one in Chunker(tokens(without), known).chunks() if one.noun), None)
    query.helped = _helped(clauses, query)
    query.more = any(
        (one.parent is None and one is not query.before and one.link in TIMES) or one.words.startswith("when ")
        for one in clauses[1:]
    )
    nouns = _nouns(clauses)
    said = [word for noun in nouns for word in (*noun.words, *((noun.owner.words) if noun.owner else ()))]
    words = {word if word.capitalize() in known else singular(word) for word in said}
    for option in options:
        words |= {token.low for token in tokens(plain(option)) if token.text in known}
    people = {word for word in words if vocabulary().person(word) or word.capitalize() in known}
    if asked == "who":
        people |= {name.lower() for name in known} | vocabulary().sets["either"]
    minds: list[Noun | None] = [
        one.subject for one in clauses if one.subject and (one.means("think", "know", "look") or one.verb.modal)
    ]
    minds += [*query.helped, *([clauses[0].subject] if query.helped else [])]
    query.roles = frozenset(one.head for one in minds if one is not None and one.head and not one.name)
    words -= query.roles
    called = {word for one in minds if one is not None for word in one.words}  # "the night nurse" is about no night
    query.minds, query.topics = frozenset(words | people | query.roles), frozenset(words - people - called)
    return query


def _of_whom(text: str, options: Sequence[str]) -> tuple[str, Sequence[str], str]:
    """A question of who does something, in few words; its options if it lists them; and who is left out of it."""
    text, left_out = OF_SEVERAL.sub("who ", text), ""
    if not re.search(r"\bwho\b", text, re.IGNORECASE):
        return text, options, left_out
    if without := EXCEPT.search(text):
        text, left_out = EXCEPT.sub(" ", text).strip(), without[1]
    if (listed := LISTED.search(text)) and not options:
        text, options = LISTED.sub("?", text), re.split(r", | or ", listed[1])
    return text, options, left_out


def _unnamed(clause: Clause) -> bool:
    """Whether the subject of what somebody thinks is what is asked for."""
    return clause.subject is not None and clause.subject.text in UNNAMED.values()


def _helped(clauses: Sequence[Clause], query: Query) -> tuple[Noun, ...]:
    """Whom somebody is said to help or hinder, in the question or in each of its options."""
    if clauses[0].lemma in HELP:  # "helping or hindering her"
        helped = [one.subject for one in clauses[0].content if one.subject is not None and one.link != "to"]
        found = helped or [noun for one in clauses for noun in one.objects]  # "help him find it"
    elif any(noun.head == "helpful" for noun in clauses[0].objects):
        found = [noun for prep, noun in clauses[0].places if prep == "to"]
    elif query.asked == "what" and query.options and all(HELPING.search(option.lower()) for option in query.options):
        parsed = (one for option in query.options for one in parse(tokens(plain(option).strip(" .")), query.names))
        found = [noun for one in parsed if one.lemma in HELP for noun in one.objects]
        owners = [noun.owner for one in clauses for noun in one.nouns if noun.owner is not None]
        found = owners if owners and all(noun.pronoun for noun in found) else found  # "to Joe's work": "helping it"
    else:
        return ()
    return tuple(noun.owner if noun.owner is not None and not noun.name else noun for noun in found)


def _nouns(clauses: Sequence[Clause]) -> list[Noun]:
    found = list[Noun]()
    for one in clauses:
        for noun in (one.subject, *one.objects, *(noun for _, noun in one.places)):
            if noun is not None:
                found += noun.parts or [noun]
    return found


def _declarative(found: Sequence[Token], names: Collection[str], asked: str) -> list[Token] | None:
    """The words of a question in the order of a statement: "does Ann know" as "Ann does know"."""
    if not found:
        return None
    if asked == "who" and not any(token.low == UNNAMED[asked] for token in found):
        nobody = Token("Somebody", found[0].start, found[0].start)
        return [nobody, *found]
    if found[0].low not in AUXILIARIES and not is_in(found[0].low, "modals"):
        return list(found)
    chunker = Chunker(found, names)
    noun = chunker.noun(1)
    if noun is None:
        return None
    end = noun[1]
    while chunker.word(end) in ("and", "or") and (other := chunker.noun(end + 1)):
        end = other[1]
    if chunker.word(end) == "," and "," in chunker.words[end + 1 :]:  # "Ann, the nurse, think"
        after = chunker.words.index(",", end + 1) + 1
        return [*found[1:end], found[0], *found[after:]]
    return [*found[1:end], found[0], *found[end:]]


def _with_subject(found: Sequence[Token], asked: str) -> list[Token]:
    """The words of "does Ann think ate it" with a subject for what she thinks: "does Ann think somebody ate it"."""
    forms, senses = vocabulary().forms, vocabulary().senses
    for i, (token, after) in enumerate(pairwise(found)):
        thinks = any("think" in senses.get(lemma, ()) for lemma in forms.get(token.low, ()))
        tags = frozenset[str]().union(*forms.get(after.low, {}).values())
        if i and thinks and (after.low in AUXILIARIES or tags & {"past", "s"}):
            return [*found[: i + 1], Token(UNNAMED[asked], after.start, after.start), *found[i + 1 :]]
    return list(found)


# the answer in one reading


@dataclass
class Judge:
    """Answers a question in one reading of a story."""

    scene: Scene
    query: Query
    reader: ClauseReader = field(init=False)
    chain: tuple[str, ...] = ()  # the minds that the answer rests on
    thing: str | None = None
    by_signs: bool = False  # whether the answer rests on signs of help or harm, not on who knows what
    evidence: set[int] = field(default_factory=set)  # the numbers of the clauses that the answer rests on

    def __post_init__(self) -> None:
        self.reader = ClauseReader(self.scene, self.query.names)

    def answer(self) -> str | Place | None:
        """The answer in words, a place, or None if the story does not say."""
        match self.query.asked:
            case "where":
                return self._where(self.query.clause, ())
            case "" if self.query.helped:
                return self._helps(self.query.clause)
            case "what" if self.query.helped and self.query.clause.lemma not in HELP:
                return self._helps(self.query.clause)
            case "who" if self.query.helped:
                return self._who_helps()
            case "who" | "what" if (inner := self._first_content(self.query.clause)) and _unnamed(inner):
                return self._believed(inner)
            case "":
                return None if self.query.more else self._yes_or_no(self.query.clause)
            case "who" | "whom":
                return self._who()
            case "what":
                return self._what()
            case "how" if self.query.clause.means("know") or self.query.clause.lemma == "come":
                return self._source()
            case "why" | "how":
                return self._fitting_option()
        return None

    # people and things of the question

    def _person(self, noun: Noun | None) -> str | None:
        if noun is None:
            return None
        if noun.pronoun and not noun.words:
            return self.scene.person(noun)
        return self.scene.person(noun, create=False)

    def _thing(self, noun: Noun | None) -> str | None:
        return self.scene.thing(noun, create=False) if noun is not None else None

    def _only_of_time(self, clause: Clause) -> bool:
        """Whether the phrases of a question where a thing is only say that the first or the present place is meant."""
        patterns = [cue(name) for name in ("early", "real")]
        said = {word for one in patterns for found in one.findall(clause.words) for word in found.split()}
        rest = [noun for _, noun in clause.places if not {*noun.text.lower().split()} <= said]
        return not rest and {*clause.adverbs} <= said | ORDINARY

    def _first_content(self, clause: Clause) -> Clause | None:
        return clause.content[0] if clause.content else None

    # where

    def _where(self, clause: Clause, chain: tuple[str, ...]) -> Place | None:
        who = self._person(clause.subject)
        inner = self._first_content(clause)
        if (
            clause.means("think", "know", "say")
            and inner is not None
            and inner.link != "to"
            and clause.lemma not in ("look",)
        ):
            return self._where(inner, (*chain, who)) if who else None
        if inner is not None and clause.means("think", "want") and inner.link == "to" and who:  # "expect to find"
            return (
                None
                if clause.means("want") and clause.lemma not in ("expect", "be_going")
                else self._at((*chain, who), self._sought(inner))
            )
        if (
            clause.lemma == "think"
            and who
            and (about := [noun for prep, noun in clause.places if prep in ("about", "of")])
        ):
            return self._at((*chain, who), self._thing(about[0]))
        if clause.lemma == "be" or (clause.means("lie") and not who) or clause.verb.passive:
            if not chain and (then := THEN.search(self.query.text)) and is_in(then[1].lower(), "times"):
                thing = self._thing(clause.subject)
                return self._at_time(thing, then[1].lower()) if thing and not self.query.more else None
            if not chain and (self.query.more or not self._only_of_time(clause)):
                return None  # "on Tuesday", "when the guests came": which time is meant is not read
            if who is not None and chain and clause.lemma == "be":
                return self._at(chain, who)
            noun = clause.subject
            if (noun is None or noun.pronoun == "there") and clause.lemma == "be":
                noun = next(iter(clause.objects), None)  # "where there are sandwiches"
            if who is not None or noun is None:
                return None
            thing = self._thing(noun)
            if clause.verb.passive and clause.means("put", "move", "hide") and thing:
                return self._put(None, thing)
            return self._at(chain, thing)
        if who is None:
            return None
        if clause.verb.modal or clause.means("look") or clause.lemma.split("_")[0] in SEARCH:
            return self._at((*chain, who), self._sought(clause))
        if clause.means("put", "move", "take") and not chain:
            objects = clause.objects
            return self._put(who, self._thing(objects[0]) if objects else None)
        return None

    def _at_time(self, thing: str, time: str) -> Place | None:
        """Where a thing was at a time, by the only sentence that names it: "in the morning"."""
        named = {one.sentence for one in self.scene.read if any(time in noun.words for _, noun in one.clause.setting)}
        moves = [n for n, one in enumerate(self.scene.log) if named and one.sentence <= max(named)]
        self.thing = thing
        return self.scene.where((), thing, moves[-1] + 1) if moves and len(named) == 1 else None

    def _sought(self, clause: Clause) -> str | None:
        nouns = [noun for prep, noun in clause.places if prep in ("for", "of")] + clause.objects
        for inner in clause.content:
            nouns += [*inner.objects, *(noun for prep, noun in inner.places if prep == "for")]
        found = next((thing for noun in nouns if (thing := self._thing(noun))), None)
        return found or (
            self._only_topic()
            if not nouns
            or (
                clause.lemma.split("_")[0] in ("go", "head", "start", "look", "search", "try", "check")
                and not clause.objects
            )
            else None
        )

    def _put(self, who: str | None, thing: str | None) -> Place | None:
        fits = [
            one
            for one in self.scene.log
            if isinstance(one.event, MoveEvent)
            and one.event.obj == thing
            and one.place
            and one.verb not in ("believe",)
            and (who is None or one.actor == who)
            and not one.place.holder
        ]
        self.thing = thing
        if not fits:
            return None
        if self.query.early or "first" in self.query.clause.adverbs:
            return fits[0].place
        return fits[-1].place if len({one.place.key for one in fits if one.place}) == 1 else None

    def _at(self, chain: tuple[str, ...], thing: str | None) -> Place | None:
        if thing is None:
            return None
        self.chain, self.thing = chain, thing
        self.scene.assume_start(thing, chain[0] if len(chain) == 1 else "")
        if self.query.early and not chain:
            if self.query.before is not None:
                return self._before(self.query.before, thing)
            first = next(
                (
                    one
                    for one in self.scene.log
                    if one.event.obj == thing and isinstance(one.event, MoveEvent) and one.verb != "believe"
                ),
                None,
            )
            return first.place if first else None
        found = self._trusted(chain, thing) or self.scene.where(chain, thing)
        if found is not None and not found.words and not found.holder:
            return None  # taken away, or eaten
        taken = (
            found is not None
            and found.holder
            and not any(
                one.place == found and one.verb in ("give", "hand", "lend", "pass", "sell", "return")
                for one in self.scene.log
            )
        )
        return None if taken else found

    def _trusted(self, chain: tuple[str, ...], thing: str) -> Place | None:
        """Where the only mind of a chain was told that a thing is, and trusts it."""
        found = trusted_place(self.scene, chain[0], thing) if len(chain) == 1 else None
        self.by_signs |= found is not None
        return found

    def _before(self, clause: Clause, thing: str) -> Place | None:
        """Where a thing was before the move that a clause tells of."""
        moves = [
            one
            for one in self.scene.log
            if one.event.obj == thing
            and isinstance(one.event, MoveEvent)
            and one.verb != "believe"
            and one.place
            and not one.place.holder
        ]
        who = self._person(clause.subject)
        place = self.scene.place(clause.places)
        fits = [
            n
            for n, one in enumerate(moves)
            if n and (one.actor == who or who is None) and (place is None or (one.place and one.place.fits(place)))
        ]
        first = "first" in clause.adverbs
        return moves[fits[0] - 1].place if len(fits) == 1 or (fits and first) else None

    # yes or no

    def _helps(self, clause: Clause) -> str | None:
        """Whether one person helps another: yes or no, or the option that says so."""
        who = self._person(clause.subject)
        other = next((one for noun in self.query.helped if (one := self._person(noun)) != who), None)
        if who is None or other is None:
            return None
        found, self.by_signs = helps(self.scene, who, other), True
        if found is None and not has_no_part(self.scene, who, other):
            return None
        verb = "neither" if found is None else "help" if found else "hinder"
        named = [option for option in self.query.options if re.search(rf"\b{verb}", option.lower())]
        return named[0] if len(named) == 1 else YES if found is (clause.lemma != "hinder") else NO

    def _believed(self, inner: Clause) -> str | None:
        """Who somebody believes did something, or what they believe is in something."""
        who = self._person(self.query.clause.subject)
        if who is None:
            return None
        self.by_signs = True
        if self.query.asked == "who":
            return believed_agent(self.scene, who, inner, self.query.options)
        container = next((noun for prep, noun in inner.places if prep in ("in", "inside")), None)
        if container is None or inner.lemma != "be":
            return None
        return believed_contents(self.scene, who, container.head, self.query.options)

    def _source(self) -> str | None:
        """By what somebody knows something: the only option that the story tells of."""
        who, fits, names = self._person(self.query.clause.subject), list[str](), self.query.names
        for option in self.query.options if who else ():
            for clause in parse(tokens(plain(option).strip(" .")), names)[:1]:
                subject = self._person(clause.subject)
                told = [one for one in self.scene.read if subject in one.people and one.clause.lemma == clause.lemma]
                told = [one for one in told if not one.clause.verb.negated and (subject == who or who in one.hearers)]
                fits += [option] if told else []
        self.by_signs = True
        return fits[0] if len(fits) == 1 else None

    def _who_helps(self) -> str | None:
        """The only person who helps, or hinders, somebody."""
        other, wanted = self._person(self.query.helped[0]), self.query.clause.lemma == "help"
        if other is None:
            return None
        self.by_signs = True
        found = [one for one in self.scene.people if one != other and helps(self.scene, one, other) is wanted]
        return self._called(found[0]) if len(found) == 1 else None

    def _yes_or_no(self, clause: Clause) -> str | None:
        found = self.holds(clause, ())
        return None if found is None else YES if found != clause.verb.negated else NO

    def holds(self, clause: Clause, chain: tuple[str, ...], *, knows: bool = False) -> bool | None:
        """Whether what a clause says is so in the belief of a chain of minds; None if it is not known."""
        scene = self.scene
        who = self._person(clause.subject)
        inner = self._first_content(clause)
        elsewhere = [noun for _, noun in clause.places if not scene.is_person(noun)]
        if (clause.lemma in ("lie", "tell", "say", "speak") and not clause.content and who and not elsewhere) or (
            clause.lemma == "be"
            and any({"truth", "liar", "honest", "lie", "truthful"} & {*noun.words} for noun in clause.objects)
        ):
            return self._lies(clause, who)
        if clause.means("say") and clause.verb.passive and who is not None and inner is not None:
            return self._was_told(who, inner)
        if clause.means("think", "know", "see", "say") and who is not None and clause.lemma not in ("look", "find"):
            return self._minds(clause, inner, (*chain, who))
        if clause.lemma == "be" or (clause.means("lie") and who is None):
            there = clause.subject is not None and clause.subject.pronoun == "there"  # "there is a frog in it"
            thing = self._thing(clause.objects[0] if there and clause.objects else clause.subject)
            place = scene.place(clause.places)
            if thing is None or place is None:
                return (
                    self._was_moved(thing, chain)
                    if {"moved", "gone", "missing", "elsewhere"} & {*clause.words.split()}
                    else None
                )
            return self._is_at(chain, thing, place, clause)
        if clause.verb.passive and clause.means("put", "move", "take", "hide", "swap", "lose"):
            return self._has_moved(clause, chain, self._thing(clause.subject), None)
        if who is not None and clause.lemma.split("_")[0] in SEARCH:
            return self._will_look(clause, (*chain, who))
        if who is not None and clause.means("put", "move", "take", "hide", "swap") and not clause.verb.modal:
            objects = [noun for noun in clause.objects if not scene.is_person(noun)]
            return self._has_moved(clause, chain, self._thing(objects[0]) if objects else None, who)
        if clause.means("want") and who is not None:
            wish = inner.words if inner is not None else " ".join(noun.text for noun in clause.objects)
            if inner is not None and any(part.means("think") for part in inside(clause)) and jokes(scene, who):
                self.by_signs = True
                return False  # "did she want him to believe it?": she said it with a wink
            wanted = wants(scene, who, wish)
            self.by_signs |= wanted is not None
            return wanted
        return None

    def _minds(self, clause: Clause, inner: Clause | None, chain: tuple[str, ...]) -> bool | None:
        knows = clause.means("know", "see") or clause.lemma in ("know", "realise", "realize", "notice", "see")
        where = self.reader._where_asked(clause)
        if where is not None or (inner is not None and inner.asked == "where"):
            thing = where
            return None if thing is None else self._knows_place(chain, thing)
        if inner is None or inner.asked:
            thing = next((one for _, noun in clause.places if (one := self._thing(noun))), None)
            thing = (
                thing
                or next((one for noun in clause.objects if (one := self._thing(noun))), None)
                or (None if any(noun.head for _, noun in clause.places) else self._only_topic())
            )
            if thing is None or not any(one.event.obj == thing for one in self.scene.log):
                nouns = [*clause.objects, *(noun for _, noun in clause.places)]
                words = {word for noun in nouns for word in words_in(noun)}
                return self._knows_of(words | (content(inner) if inner is not None else set()), chain, asked=True)
            return self._knows_place(chain, thing)
        if clause.means("say") and not clause.means("think"):
            return None
        if len(chain) == 1 and clause.means("see") and inner.means("put", "move", "take", "hide", "swap"):
            return self._saw_move(chain[0], inner)
        if not knows and len(chain) == 1 and (claimed := believes_claim(self.scene, chain[0], inner)) is not None:
            self.chain, self.by_signs = chain, True
            return claimed
        if not knows and len(chain) == 1 and EARNEST.search(self.query.text.lower()) and jokes(self.scene, chain[0]):
            self.by_signs = True
            return False
        found = self.holds(inner, chain, knows=knows)
        moved = any(isinstance(one.event, MoveEvent) and one.event.obj == self.thing for one in self.scene.log)
        place = self.scene.place(inner.places)
        if found is None and not (moved and place is not None and not place.holder):  # "belongs to him" is no place
            nested = inner.means("think", "know", "see")  # its words do not tell whose mind it is about
            return None if nested or not knows else self._knows_of(content(inner), chain)
        if found is None and knows and self.thing is not None:
            missed = self._missed_all(chain[-1], self.thing) or self._taken_to_miss(chain, self.thing)
            return False if missed else None
        if found is not None:
            found = found != inner.verb.negated
        if knows and found and not inner.verb.modal and (inner.lemma == "be"):  # what is known is so
            truth = self.holds(inner, chain[:-1])
            return found and truth is not False
        return found

    def _saw_move(self, who: str, moved: Clause) -> bool | None:
        """Whether somebody saw a thing being moved, which is more than to have heard of it; None if that is open."""
        mover = self._person(moved.subject)
        things = [self._thing(noun) for noun in (*moved.objects, *([moved.subject] if moved.verb.passive else []))]
        thing = next((one for one in things if one is not None), None)
        moves = [one for one in self.scene.log if isinstance(one.event, MoveEvent) and one.event.obj == thing]
        moves = [one for one in moves if one.verb not in ("initial", "believe") and one.actor != who]
        moves = [one for one in moves if mover is None or moved.verb.passive or one.actor == mover]
        moves = moves[1:] if moved.means("move") and moves[1:] else moves  # the first put it where it was
        if thing is None or len(moves) != 1 or who in moves[0].open:
            return None
        self.thing, self.chain = thing, (who,)
        looks = any(who in one.people and one.clause.lemma in WATCHING for one in self.scene.read)
        if isinstance(moves[0].event, MoveEvent) and who in moves[0].event.unseen and not looks:
            return None  # they may only have seen it afterwards
        return True if moves[0].event.reaches(who) else False if who in moves[0].missed else None

    def _was_told(self, who: str, inner: Clause) -> bool | None:
        """Whether somebody has been told what a clause says of the place of a thing."""
        told = self.reader._content(Clause(inner.verb, content=[inner]))
        if told is None:
            return None
        self.thing, self.chain = told[0], (who,)
        said = [one for one in self.scene.log if isinstance(one.event, StatementEvent) and one.event.obj == told[0]]
        return any(
            one.actor != who and one.event.reaches(who) and one.place and one.place.fits(told[1]) for one in said
        )

    def _knows_of(self, wanted: Collection[str], chain: tuple[str, ...], *, asked: bool = False) -> bool | None:
        """Whether a mind knows of something else than where a thing is."""
        if len(chain) != 1 or not wanted:
            return None
        found, self.evidence = knows_of(self.scene, chain[0], wanted, asked=asked)
        self.chain, self.by_signs = chain, found is True
        return found

    def _only_topic(self) -> str | None:
        places: dict[str, set[str]] = {}
        for one in self.scene.log:
            if one.place is not None and one.place.text != GONE:
                places.setdefault(one.event.obj, set()).add(one.place.key)
        moved = [thing for thing, been in places.items() if len(been) > 1]
        return moved[0] if len(moved) == 1 else None

    def _knows_place(self, chain: tuple[str, ...], thing: str) -> bool | None:
        """Whether the last mind of a chain believes the thing to be where the mind before it (or reality) has it."""
        self.chain, self.thing = chain, thing
        self.scene.assume_start(thing, chain[0] if len(chain) == 1 else "")
        truth = self.scene.where(chain[:-1] if len(chain) > 1 else (), thing)
        truth = truth or self.scene.where((), thing)
        mine = self.scene.where(chain, thing)
        if truth is None or (mine is None and not self._missed_all(chain[-1], thing)):
            return False if self._taken_to_miss(chain, thing) else None
        return mine is not None and mine.fits(truth)

    def _taken_to_miss(self, chain: tuple[str, ...], thing: str) -> bool:
        """Whether nobody knows that the last mind of a chain has seen any move of a thing."""
        moves = [one.event for one in self.scene.log if one.event.obj == thing and one.verb != "believe"]
        unseen = all(isinstance(one, MoveEvent) and chain[-1] in one.unseen for one in moves)
        return len(chain) > 1 and bool(moves) and unseen

    def _missed_all(self, who: str, thing: str) -> bool:
        """Whether the story says that somebody saw none of the moves of a thing."""
        moves = [one for one in self.scene.log if one.event.obj == thing and isinstance(one.event, MoveEvent)]
        return bool(moves) and all(who in one.missed for one in moves)

    def _is_at(self, chain: tuple[str, ...], thing: str, place: Place, clause: Clause) -> bool | None:
        self.chain, self.thing = chain, thing
        self.scene.assume_start(thing, chain[0] if len(chain) == 1 else "")
        now = self._trusted(chain, thing) or self.scene.where(chain, thing)
        if (self.query.early and not chain) or clause.verb.perfect:
            now = self._at((), thing)
        if now is None or now.fits(place) or not place.words or not {*place.words} <= now.around:
            return None if now is None else now.fits(place)
        # "on a beam in the forge" is in the forge; "on the hook by the wings" may be
        inside = re.search(rf"\b(?:in|inside) (?:[\w'-]+ )*{re.escape(place.words[-1])}", now.text)
        return True if inside and place.side == "in" else None

    def _was_moved(self, thing: str | None, chain: tuple[str, ...]) -> bool | None:
        """Whether a thing is no longer where it was first, in the belief of a chain of minds."""
        if thing is None:
            return None
        self.chain, self.thing = chain, thing
        moves = [
            one
            for one in self.scene.log
            if isinstance(one.event, MoveEvent) and one.event.obj == thing and one.verb != "believe" and one.place
        ]
        now = self.scene.where(chain, thing)
        if len(moves) < 2 or moves[0].place is None or moves[-1].place is None:
            return None
        return now is not None and now.fits(moves[-1].place)

    def _has_moved(self, clause: Clause, chain: tuple[str, ...], thing: str | None, who: str | None) -> bool | None:
        scene = self.scene
        if thing is None:
            return None
        place = scene.place(
            [one for one in clause.places if not (one[0] == "by" and scene.is_person(one[1])) and one[0] != "from"]
        )
        self.chain, self.thing = chain, thing
        if chain:
            if place is not None:
                now = scene.where(chain, thing)
                return now is not None and now.fits(place)
            return self._was_moved(thing, chain)
        moves = [
            one
            for one in scene.log
            if isinstance(one.event, MoveEvent) and one.event.obj == thing and one.verb != "believe"
        ]
        moves = moves[1:] if clause.means("move") and not clause.means("put") and moves[1:] else moves
        fits = [
            one
            for one in moves
            if (who is None or one.actor == who) and (place is None or one.place is None or one.place.fits(place))
        ]
        return bool(fits) if moves else None

    def _will_look(self, clause: Clause, chain: tuple[str, ...]) -> bool | None:
        scene = self.scene
        phrases = [(prep, noun) for prep, noun in clause.places if prep not in ("for", "from", "with")]
        place = scene.place(phrases)
        if place is None and clause.objects and clause.lemma not in ("find", "get", "fetch", "look_for", "search_for"):
            place = scene.place([("in", clause.objects[0])])
        thing = self._sought(clause)
        if thing is None or (
            place is not None
            and any(thing == self._thing(noun) for noun in clause.objects)
            and not clause.content
            and clause.lemma in ("open", "check", "search")
        ):
            thing = self._only_topic() or self._topic()
        if place is None or thing is None:
            return None
        self.chain, self.thing = chain, thing
        scene.assume_start(thing, chain[0] if len(chain) == 1 else "")
        now = scene.where(chain, thing)
        if now is None:
            return None
        return now.fits(
            replace(place, side="")
            if clause.lemma in ("go", "check", "open", "search", "head", "walk", "run")
            else place
        )

    def _topic(self) -> str | None:
        return next(
            (
                one
                for one in self.scene.things
                if {singular(w) for w in self.scene.things[one].words} & self.query.topics
                and any(h.event.obj == one for h in self.scene.log)
            ),
            None,
        )

    def _lies(self, clause: Clause, who: str | None) -> bool | None:
        """Whether somebody said what they do not believe; the reverse for "tell the truth"."""
        if who is None:
            return None
        said = [n for n, one in enumerate(self.scene.log) if isinstance(one.event, StatementEvent) and one.actor == who]
        truth = any({"truth", "honest", "truthful"} & {*noun.words} for noun in clause.objects)
        if clause.lemma in ("tell", "say", "speak") and not truth:
            return None
        if not said:
            found, self.by_signs = lies(self.scene, who), True
            return None if found is None else found != truth
        one = self.scene.log[said[-1]]
        self.thing, self.chain = one.event.obj, (who,)
        believed = self.scene.where((who,), one.event.obj, said[-1])
        if believed is None or one.place is None:
            return None
        return believed.fits(one.place) == truth

    # others

    def _who(self) -> str | None:
        """The only person of whom the question is true, or the option that names all of whom it is."""
        truth = dict[str, bool | None]()
        done = [one.subject for one in self.query.clause.content if one.subject and not self.query.clause.means("want")]
        done += [self.query.without] if self.query.without is not None else []
        doers = {who for noun in done if self.scene.is_person(noun) for who in self.scene.may_be(noun)}
        for one in (*self.scene.people,):  # to read the question may add somebody
            if one in doers:
                continue  # "Who knows that the fox took it?" asks for others
            noun = Noun(
                tuple(one.lower().removeprefix("the ").split()),
                one,
                0,
                0,
                name=one if not one.startswith("the ") else "",
            )
            clause = replace(self.query.clause, subject=noun)
            truth[one] = self.holds(clause, ())
        found = [one for one, value in truth.items() if value is (not self.query.clause.verb.negated)]
        open_ = {one for one, value in truth.items() if value is None}
        named = {option: self._named(option) for option in self.query.options}
        fits = [option for option, people in named.items() if people == {*found}]
        if open_ & set().union(*named.values()):
            return None  # the question may be true of them as well
        if named:
            return fits[0] if len(fits) == 1 else None
        return self._called(found[0]) if len(found) == 1 else None

    def _called(self, who: str) -> str | None:
        """The option that names a person, or else what the story calls them: "the vet, Dr Mbeki"."""
        person = self.scene.people[who]
        words = {name.lower() for name in person.names} or person.roles
        if self.query.options:
            named = [one for one in self.query.options if words & {*re.findall(r"[\w-]+", one.lower())}]
            return named[0] if len(named) == 1 else who
        names = sorted(person.names - {*who.split()}, key=lambda name: not vocabulary().person(name.lower()))
        return ", ".join([who, *([" ".join(names)] if names else [])])

    def _named(self, option: str) -> set[str]:
        """The people that an option names; nobody for "nobody"."""
        chunks = Chunker(tokens(plain(option)), self.query.names).chunks()
        people = (self._person(one.noun) for one in chunks if one.noun is not None)
        return {who for who in people if who is not None}

    def _what(self) -> str | None:
        clause = self.query.clause
        who = self._person(clause.subject)
        if who is not None and (clause.means("want") or clause.lemma in ("try", "hope")):
            inner = self._first_content(clause)
            if not self.query.options and (inner is None or (inner.lemma in GETTING and not inner.objects)):
                return wanted_thing(self.scene, who)
            wishes = self.scene.wants.get(who, [])
            if not self.query.options:
                return wishes[0] if len(wishes) == 1 else None
        found = self._fitting_option() if self.query.options else None
        if found is None and who is not None and any(one.asked == "where" for one in inside(clause)):
            place = self._where(clause, ())
            return place.text if place else None
        return found

    def _fitting_option(self) -> str | None:
        """The only option that is so, read as a statement; otherwise the one closest to what somebody wants."""
        clause, fits = self.query.clause, list[str]()
        if clause.means("think") and clause.subject is not None:
            return self._thought(clause, clause.subject)
        subject = clause.subject.text if clause.subject else ""
        who = self._person(clause.subject)
        judged = []
        for option in self.query.options:
            text = re.sub(r"^\W*(?:because|so that|that|to)\s+", "", plain(option).strip(), flags=re.IGNORECASE).rstrip(
                ". "
            )
            found = tokens(text)
            clauses = parse(found, self.query.names)
            if not clauses or clauses[0].subject is None or clauses[0].verb.form != "finite":
                clauses = parse(tokens(f"{subject} will {text[:1].lower() + text[1:]}"), self.query.names)
            value = self.holds(clauses[0], ()) if clauses else None
            judged.append(None if value is None else value != clauses[0].verb.negated)
            if judged[-1]:
                fits.append(option)
        if (len(fits) == 1 and judged.count(None) <= len(judged) - 2) or (len(fits) == 1 and len(judged) == 2):
            return fits[0]
        if clause.means("want") and EARNEST.search(self.query.text.lower()):
            return None  # what somebody really wants is not what they say
        if who is None or fits or any(judged) or (self.query.asked != "why" and not clause.means("want")):
            return None
        self.by_signs = True
        return wished_option(self.scene, who, self.query.text, clause, self.query.options)

    def _thought(self, clause: Clause, subject: Noun) -> str | None:
        """The only option that somebody believes of what the question is about: "that it is full"."""
        about = next((noun.text for prep, noun in clause.places if prep in ("about", "of")), "")
        fits, signs = list[str](), False
        for option in self.query.options:
            said = plain(option).strip(" .").removeprefix("that ")
            said = re.sub(r"^(?:it|he|she|they)\b", about, said) if about else said
            found = parse(tokens(f"{subject.text} thinks that {said}"), self.query.names)
            if found and found[0].means("think") and self.holds(found[0], ()):
                fits.append(option)
                signs |= self.by_signs
        self.by_signs = signs
        return fits[0] if len(fits) == 1 else None
