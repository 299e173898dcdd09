"""Invented stories: clear, balanced, played by the rules, and without a hint in the question."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import groupby

import numpy as np
import pytest

from otherminds.stories.invented.invention import CELLS, MARGIN, Story, clearness, invent
from otherminds.stories.invented.playing import HOMES
from otherminds.stories.model import (
    AnswerOption,
    Belief,
    Episode,
    Event,
    Fact,
    Goal,
    Knows,
    Observation,
    SocialGoal,
    Utterance,
)
from otherminds.stories.social_goals.inference import answer_social
from otherminds.worlds.household.rules import Act, Home, Household, Person, Place, State


@pytest.fixture(scope="module")
def stories() -> list[Story]:
    return list(invent(12 * 3 * len(CELLS), np.random.default_rng(5)))


def groups(stories: list[Story]) -> Iterator[list[Story]]:
    for _, group in groupby(stories, lambda story: story.group):
        yield list(group)


@pytest.mark.slow
def test_every_story_has_the_answer_it_claims_by_a_clear_margin(stories: list[Story]) -> None:
    for story in stories:
        answer = answer_social(story.episode, story.question)
        assert answer.option == story.gold
        ranked = sorted(answer.posterior, reverse=story.question.polarity == "most")
        gold, second = (ranked[0], ranked[1]) if story.question.polarity == "most" else (ranked[1], ranked[0])
        assert gold / second == pytest.approx(story.margin, rel=1e-6)
        assert story.margin >= MARGIN == 3.0


@pytest.mark.slow
def test_a_wrong_answer_is_not_clear_at_all(stories: list[Story]) -> None:
    for story in stories[::7]:
        assert clearness(story.episode, story.question, (story.gold + 1) % 3) <= 1 / MARGIN


def test_a_group_asks_the_same_of_three_stories_and_each_option_is_right_once(stories: list[Story]) -> None:
    for group in groups(stories):
        first = group[0].question
        assert sorted(story.gold for story in group) == [0, 1, 2]
        for story in group:
            question = story.question
            assert (question.options, question.conditions, question.polarity) == (
                first.options,
                first.conditions,
                first.polarity,
            )
            assert (question.kind, question.presumes, question.at) == (first.kind, (), None)
            assert len(set(question.options)) == 3
            assert (story.episode.entities, story.episode.init) == (group[0].episode.entities, group[0].episode.init)
        assert len({story.episode.timeline for story in group}) == 3


def test_nothing_of_a_question_or_its_options_tells_the_answer(stories: list[Story]) -> None:
    """A guesser that counts what goes with right answers in some of the groups is at chance in the others."""
    half = len(stories) // 2
    right, seen = Counter[str](), Counter[str]()
    for story in stories[:half]:
        for i, option in enumerate(story.question.options):
            for feature in features(story, i, option):
                seen[feature] += 1
                right[feature] += i == story.gold
    hits = 0
    for story in stories[half:]:
        scores = [
            sum(np.log((right[f] + 1) / (seen[f] + 3)) for f in features(story, i, option))
            for i, option in enumerate(story.question.options)
        ]
        hits += int(np.argmax(scores)) == story.gold
    assert hits / half == pytest.approx(1 / 3, abs=1e-9)


def features(story: Story, i: int, option: AnswerOption) -> list[str]:
    about = [f"{type(claim).__name__} {getattr(claim, 'kind', '')}" for claim in option.claims]
    places = [
        f"{claim.content.value}"
        for claim in option.claims
        if isinstance(claim, Belief) and isinstance(claim.content, Fact)
    ]
    return [f"{story.cell} {feature}" for feature in (*about, *places, f"option {i}")]


def test_right_answers_come_in_every_order(stories: list[Story]) -> None:
    golds = Counter(story.gold for story in stories)
    assert set(golds.values()) == {len(stories) // 3}
    orders = Counter(tuple(story.gold for story in group) for group in groups(stories))
    assert len(orders) == 6
    assert min(orders.values()) > len(stories) / 3 / 12


def test_all_cells_come_equally_often_and_their_names_say_what_they_are(stories: list[Story]) -> None:
    assert Counter(story.cell for story in stories) == dict.fromkeys(CELLS, 36)
    for story in stories:
        kind, polarity, condition = story.cell.split("/")
        question = story.question
        assert (story.kind, question.kind, question.polarity) == (kind, kind, polarity)
        assert [type(claim).__name__ for claim in question.conditions] == {
            "knows": ["Knows"], "seen": [], "mixed": [], "help": ["SocialGoal"] * (kind == "belief"),
            "hinder": ["SocialGoal"] * (kind == "belief"),
        }[condition]  # fmt: skip
        check_claims(story, condition)


def check_claims(story: Story, condition: str) -> None:
    seeker, companion = story.episode.agents
    for claim in story.question.conditions:
        assert isinstance(claim, Knows) or claim == SocialGoal(companion, seeker, condition)  # type: ignore[arg-type]
    kinds = [
        claim.kind for option in story.question.options for claim in option.claims if isinstance(claim, SocialGoal)
    ]
    if story.kind == "social_goal":
        assert sorted(kinds) == ["help", "hinder", "independent"]
    if story.kind == "belief_of_goal":
        assert sorted(kinds) == (["help", "hinder", "independent"] if condition == "mixed" else [condition] * 3)
        about = [
            claim.content for option in story.question.options for claim in option.claims if isinstance(claim, Belief)
        ]
        assert all(isinstance(content, Goal) and content.agent == seeker for content in about)
    saw = [told for told in story.episode.timeline if isinstance(told, Observation)]
    assert not saw or story.kind != "belief_of_goal"
    assert story.kind != "social_goal" or bool(saw) <= (condition == "seen")


def test_a_number_of_stories_is_that_number_and_the_last_group_may_be_cut() -> None:
    few = list(invent(8, np.random.default_rng(1)))
    assert [story.group for story in few] == ["000000"] * 3 + ["000001"] * 3 + ["000002"] * 2
    assert len({story.id for story in few}) == 8
    assert list(invent(0, np.random.default_rng(1))) == []
    later = list(invent(4, np.random.default_rng(1), first=20))
    assert [story.group for story in later] == ["000020"] * 3 + ["000021"]
    assert [story.question.options for story in later] == [story.question.options for story in few[:4]]


@pytest.mark.slow
def test_the_same_seed_makes_the_same_stories_and_another_seed_others() -> None:
    once, again, other = (list(invent(36, np.random.default_rng(seed))) for seed in (3, 3, 4))
    assert once == again
    assert once != other
    assert list(invent(20, np.random.default_rng(3))) == once[:20]


def test_homes_have_three_or_four_rooms_with_two_or_three_places_each() -> None:
    assert len(HOMES) >= 20
    for home in HOMES:
        assert 3 <= len(home.rooms) <= 4
        assert set(Counter(place.room for place in home.places).values()) <= {2, 3}
        assert {place.room for place in home.places} == set(home.rooms)


# The stories are played by the rules


def home_told(episode: Episode) -> Home:
    rooms = tuple(entity.id for entity in episode.entities if entity.kind == "room")
    spots = [entity for entity in episode.entities if entity.kind == "place"]
    places = tuple(Place(spot.id, spot.room or "", spot.relation == "in") for spot in spots)
    return Home(rooms, places, tuple(tuple(0 if a == b else 2 for b in rooms) for a in rooms))


def starts(episode: Episode, home: Home, thing: str) -> list[str]:
    """Where a thing may have been at first: where it is first taken from, or else anywhere."""
    grabs = [
        told.place for told in episode.timeline if isinstance(told, Event) and told.verb == "grab" and told.obj == thing
    ]
    return [place.name for place in home.places if not grabs or place.name == grabs[0]]


def act_of(event: Event) -> Act:
    assert event.verb in ("walk", "open", "close", "grab", "put")
    to = event.place or event.room if event.verb == "walk" else event.place
    return Act(event.verb, event.obj, to)


def follows_rules(episode: Episode, home: Home, things: dict[str, str]) -> str | None:
    """What is wrong with the story if the things were at these places; None if nothing is."""
    rooms = {fact.subject: fact.value or "" for fact in episode.init if fact.predicate == "in_room"}
    state = State(tuple((name, Person(rooms[name])) for name in episode.agents), tuple(things.items()))
    world = Household(home, episode.agents, state)
    for told in episode.timeline:
        if isinstance(told, Event):
            if not world.can(state, told.agent, act_of(told)):
                return f"{told} cannot be done"
            state = world.act(state, told.agent, act_of(told))
        elif isinstance(told, Observation):
            view, place = world.observe(state, told.agent), told.fact.value
            if place not in view.places:
                return f"{told} is out of sight"
            if ((told.fact.subject, place) in view.things) != told.sees:
                return f"{told} is not so"
    return None


@pytest.mark.slow
def test_every_act_told_can_be_done_and_everything_told_as_seen_is_so(stories: list[Story]) -> None:
    for story in stories:
        home, episode = home_told(story.episode), story.episode
        things = [entity.id for entity in episode.entities if entity.kind == "object"]
        assert len(things) == 2
        wrong = [
            follows_rules(episode, home, {things[0]: first, things[1]: second})
            for first in starts(episode, home, things[0])
            for second in starts(episode, home, things[1])[:3]
        ]
        assert None in wrong, (story.id, wrong[0])


def test_times_count_up_and_everybody_and_everything_told_of_is_listed(stories: list[Story]) -> None:
    for story in stories:
        episode = story.episode
        known = {entity.id for entity in episode.entities} | {None}
        assert episode.complete
        assert [told.t for told in episode.timeline] == list(range(len(episode.timeline)))
        for told in episode.timeline:
            if isinstance(told, Event):
                assert {told.agent, told.obj, told.place, told.room} <= known
            elif isinstance(told, Observation):
                assert {told.agent, told.fact.subject, told.fact.value} <= known
            else:
                assert told.speaker in known
                assert told.content is None or {told.content.subject, told.content.value} <= known


def test_the_seeker_asks_once_and_gets_one_answer_unless_the_question_is_about_what_is_done(
    stories: list[Story],
) -> None:
    for story in stories:
        seeker, companion = story.episode.agents
        said = [(told.speaker, told.act) for told in story.episode.timeline if isinstance(told, Utterance)]
        if story.kind == "belief_of_goal":
            assert said == []
        else:
            assert said[0] == (seeker, "ask")
            assert len(said) == 2
            assert said[1][0] == companion
            assert said[1][1] in ("assert", "silence")


def test_nobody_who_looks_for_the_thing_passes_it_by(stories: list[Story]) -> None:
    """Who sees it takes it: before the seeker asks, it has not had the thing in sight."""
    for story in stories:
        home, episode = home_told(story.episode), story.episode
        things = [entity.id for entity in episode.entities if entity.kind == "object"]
        if story.kind == "belief_of_goal":
            continue
        sought = next(told.content for told in episode.timeline if isinstance(told, Utterance) and told.content)
        assert any(
            not passed_by(episode, home, place, sought.subject) for place in starts(episode, home, sought.subject)
        ), story.id
        assert sought.subject in things


def passed_by(episode: Episode, home: Home, place: str, thing: str) -> bool:
    rooms = {fact.subject: fact.value or "" for fact in episode.init if fact.predicate == "in_room"}
    state = State(tuple((name, Person(rooms[name])) for name in episode.agents), ((thing, place),))
    world, seeker = Household(home, episode.agents, state), episode.agents[0]
    for told in episode.timeline:
        if place in world.observe(state, seeker).places:
            return True
        if isinstance(told, Utterance):
            return False
        if isinstance(told, Event):
            state = world.act(state, told.agent, act_of(told))
    return False


def test_who_is_told_where_the_thing_is_mostly_goes_there_next(stories: list[Story]) -> None:
    there = total = 0
    for story in stories:
        timeline, home = story.episode.timeline, home_told(story.episode)
        answer = next((told for told in timeline if isinstance(told, Utterance) and told.act == "assert"), None)
        after = [t for t in timeline if isinstance(t, Event) and t.agent == story.episode.agents[0]]
        walks = [told for told in after if answer is not None and told.t > answer.t and told.verb == "walk"]
        if answer is not None and answer.content is not None and walks:
            total += 1
            there += walks[0].room == home.place[answer.content.value or ""].room
    assert total > 200
    assert there / total > 0.85
