"""Questions read by a language model: what is asked, and what each option claims about minds, checked name by name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args

from pydantic import Field

from otherminds.errors import InputError
from otherminds.language.asking import Unreadable, prompts_of
from otherminds.language.model import LanguageModel, Message
from otherminds.stories import model as stories
from otherminds.stories.by_model import replies
from otherminds.stories.english.questions import LONGEST_QUESTION, WORDINGS, split_options
from otherminds.stories.english.sentences import plain
from otherminds.stories.english.statements import Unread, noun_in, object_of, place_of
from otherminds.stories.files import DEEPEST

fill = prompts_of("otherminds.stories.by_model")

TOKENS_OF_OPTION = 200  # tokens a model may write for each option of a question; chosen, not tuned
MOST = 20  # most claims of an option, or of the givens, in a reply; chosen, not tuned
NEEDED = {
    "is": {"thing", "place"}, "wants": {"who", "thing", "place"}, "knows": {"who", "place"},
    "help": {"who", "toward"}, "hinder": {"who", "toward"}, "independent": {"who", "toward"},
}  # fmt: skip
STANCES: dict[str, stories.Stance] = {stance: stance for stance in get_args(stories.Stance)}


def question_with(
    model: LanguageModel, stem: str, options: Sequence[str], reading: stories.Reading, attempts: int = 3
) -> stories.Question:
    """The question as a language model writes it down; names that neither the story nor the question has are refused.

    Raises Unread if none of `attempts` replies can be read, InputError if the question is too long, ModelError if the
    model does not answer.
    """
    if len(stem) + sum(map(len, options)) > LONGEST_QUESTION:
        raise InputError(f"the question is longer than {LONGEST_QUESTION:,} characters")
    if not options:
        stem, options = split_options(stem)
    if not options:
        raise Unread(stem)
    labels, episode = tuple(options), reading.episode
    prompt = fill(
        "stories-question",
        question=replies.one_line(stem),
        options="\n".join(f"{number}. {replies.one_line(option)}" for number, option in enumerate(labels, 1)),
        count=len(labels),
        people=", ".join(episode.agents) or "none",
        things=", ".join(episode.named("object")) or "none",
        places=", ".join(episode.named("place", "room")) or "none",
    )
    sense = _QuestionReader(episode, stem, labels).read
    most = replies.token_limit(len(labels), TOKENS_OF_OPTION)
    found = replies.dictated(model, Message("user", prompt), QuestionForm, sense, "question", attempts, most)
    if isinstance(found, Unreadable):
        raise Unread(f"{replies.one_line(stem)} ({found.why})")
    return found


class _Claim(replies.Form):
    kind: Literal["is", "wants", "knows", "help", "hinder", "independent"]
    minds: list[replies.Name] = Field(default_factory=list)
    who: replies.Name | None = None
    toward: replies.Name | None = None
    thing: replies.Name | None = None
    place: replies.Name | None = None
    holds: bool = True


class _Moved(replies.Form):
    who: replies.Name
    thing: replies.Name
    place: replies.Name | None = None


class QuestionForm(replies.Form, title="Asked"):  # models are sent this title: another might change their replies
    """What a question asks, and what it supposes."""

    polarity: stories.Polarity
    at_start: bool = False
    given: list[_Claim] = Field(default_factory=list)
    presumes: list[_Moved] = Field(default_factory=list)
    options: list[list[_Claim]]


class _QuestionReader:
    """Turns a model's reply into a question about an episode."""

    def __init__(self, episode: stories.Episode, stem: str, labels: tuple[str, ...]) -> None:
        self.episode, self.stem, self.labels = episode, stem, labels
        self.wording = replies.Wording((stem, *labels))
        self.ids = {entity.id for entity in episode.entities}

    def read(self, asked: QuestionForm) -> stories.Question:
        """The question. Raises NonsenseError if the reply does not fit its wording."""
        if len(asked.options) != len(self.labels):
            raise replies.NonsenseError(f"has {len(asked.options)} options, and the question {len(self.labels)}")
        if any(not 1 <= len(option) <= MOST for option in asked.options) or len(asked.given) > MOST:
            raise replies.NonsenseError(f"every option makes 1 to {MOST} claims")
        if (asked.polarity == "least") != bool(WORDINGS["least"].search(plain(self.stem))):
            raise replies.NonsenseError(f"the wording does not ask for what is {asked.polarity} likely")
        options = tuple(stories.AnswerOption(tuple(self._claim(claim) for claim in option)) for option in asked.options)
        given = tuple(self._claim(claim) for claim in asked.given)
        presumes = []
        for moved in asked.presumes[:MOST]:
            thing = self._thing(moved.thing)
            place = None if moved.place is None else self._place(moved.place, thing)
            who = self._person(moved.who)
            presumes.append(stories.Event(len(self.episode.timeline) + 1, who, "put", thing, place, source="question"))
        at = 0 if asked.at_start else None
        return stories.Question("", options, asked.polarity, given, tuple(presumes), at, "", self.labels)

    def _claim(self, told: _Claim) -> stories.Claim:
        if len(told.minds) > DEEPEST:
            raise replies.NonsenseError(f"nests more than {DEEPEST} minds")
        idle = {"who", "toward", "thing", "place"} - NEEDED[told.kind]
        if any(getattr(told, key) is not None for key in idle):
            needed = " and ".join(sorted(NEEDED[told.kind]))
            raise replies.NonsenseError(f"a claim of kind {told.kind!r} has only {needed}")
        if told.kind == "is":
            person = told.thing if told.thing in self.episode.agents else None
            thing = person or self._thing(told.thing)
            place = self._place(told.place, None if person else thing)
            return self._believed(told, stories.Fact("in_room" if person else "at", thing, place))
        if told.kind == "wants":
            return self._believed(told, self._goal(told))
        if told.minds or not told.holds:
            raise replies.NonsenseError(f"a claim of kind {told.kind!r} is nobody's belief, and holds")
        who = self._person(told.who)
        if told.kind == "knows":
            return stories.Knows(who, self._place(told.place))
        return stories.SocialGoal(who, self._person(told.toward), STANCES[told.kind])

    def _believed(self, told: _Claim, content: stories.Fact | stories.Goal) -> stories.Claim:
        """The fact or goal nested in the minds; with `holds` false, the innermost mind does not believe it."""
        if not told.minds:
            if not told.holds:
                raise replies.NonsenseError("what does not hold is not believed by somebody")
            return stories.Holds(content) if isinstance(content, stories.Fact) else content
        *outer, inner = map(self._person, told.minds)
        belief = stories.Belief(inner, content, told.holds)
        for agent in reversed(outer):
            belief = stories.Belief(agent, belief)
        return belief

    def _goal(self, told: _Claim) -> stories.Goal:
        who = self._person(told.who)
        if told.thing is None:
            return stories.Goal(who)
        thing = self._thing(told.thing)
        if told.place is None:
            return stories.Goal(who, stories.Fact("holds", who, thing))
        return stories.Goal(who, stories.Fact("at", thing, self._place(told.place, thing)))

    def _person(self, name: str | None) -> str:
        if name is None or not (name in self.episode.agents or (name[0].isupper() and self.wording.names(name))):
            raise replies.NonsenseError(f"{replies.one_line(name or 'nobody')!r} is nobody in the story")
        return name

    def _thing(self, name: str | None) -> str:
        noun = noun_in((name or "").replace("_", " "), self.episode.agents)
        if noun is None or noun.kind not in ("object", "place"):
            raise replies.NonsenseError(f"{replies.one_line(name or 'nothing')!r} is no thing")
        return self._known(object_of(noun, self.episode), noun.words)

    def _place(self, name: str | None, thing: str | None = None) -> str:
        noun = noun_in((name or "").replace("_", " "), self.episode.agents)
        if noun is None or noun.kind not in ("object", "place", "room"):
            raise replies.NonsenseError(f"{replies.one_line(name or 'nowhere')!r} is no place")
        return self._known(place_of(noun, self.episode, thing), noun.words)

    def _known(self, name: str, words: tuple[str, ...]) -> str:
        """The name unchanged. Raises NonsenseError if neither the story nor the question contains it."""
        if name not in self.ids and not self.wording.has(words):
            raise replies.NonsenseError(f"{name!r} is neither in the story nor in the question")
        return name
