"""MuMA-ToM: questions about social interactions, from the full text and from what text and video tell apart.

Beside every score stand the shortcuts: the same solver shown nothing but the question, or the text without the video,
and what the kind of place that is spoken of gives away. A shortcut guesses where it cannot tell; the solver abstains.
"""

from __future__ import annotations

import re
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from otherminds.evaluation.engines import stream
from otherminds.evaluation.statistics import Estimate, mean, ratio
from otherminds.language.model import LanguageModel, Usage
from otherminds.language.prices import CallEstimate
from otherminds.papers.mumatom.limp import Limp, StoryQuestion, StoryTask
from otherminds.stories.answering import StoryAnswer, ask
from otherminds.stories.english.reading import read_story
from otherminds.stories.fusing import fuse
from otherminds.stories.model import Answer, Episode, Reading, Utterance
from otherminds.stories.mumatom_files import MumatomEpisode, MumatomQuestion
from otherminds.worlds.household.agent import ANSWERING

EXPERIMENT = "mumatom"
TRACKS = ("full_text", "text_video", "text_scene", "text_video_scene")
GUESSING = ("question_only", "no_video")
SHORTCUTS = (*GUESSING, "place_prior")
KINDS = ("belief", "social_goal", "belief_of_goal")
VIDEO_P = 0.8
OPTIONS, STEPS, TOKENS, WRITTEN = 3, 3, 400, 200

Row = dict[str, Any]


@dataclass(frozen=True)
class Entry:
    """One episode of the benchmark, the track it is told by, and who answers its questions."""

    source: MumatomEpisode
    track: str
    subject: str
    seed: int

    @property
    def key(self) -> tuple[str, str, str]:
        """What tells it apart in the rows."""
        return (self.track, self.subject, self.source.id)


def plan(sources: Sequence[MumatomEpisode], seed: int, subjects: Sequence[str] = ()) -> list[Entry]:
    """The solver on every track there is data for, the shortcuts once, and language models on text and video."""
    has = {
        "full_text": True,
        "text_video": any(source.video for source in sources),
        "text_scene": any(source.frames for source in sources),
    }
    has["text_video_scene"] = has["text_video"] and has["text_scene"]
    entries = [Entry(source, track, "symbolic", seed) for track in TRACKS if has[track] for source in sources]
    entries += [Entry(source, "full_text", name, seed) for name in GUESSING for source in sources]
    return entries + [Entry(source, "text_video", name, seed) for name in subjects for source in sources]


def read(source: MumatomEpisode, track: str) -> Reading:
    """What a track tells of an episode."""
    if track == "full_text":
        return read_story(source.full)
    half = text_half(source)
    video = None
    if "video" in track and source.video is not None:
        video = read_story(source.video, source="video", p=VIDEO_P, cast=half.episode.agents)
    return fuse(half, video, source.frames if "scene" in track else None)


def text_half(source: MumatomEpisode) -> Reading:
    """What the text alone tells: one person's part, or, of a conversation, what was said."""
    if source.half is not None:
        return read_story(source.half)
    reading = read_story(source.full)
    said = tuple(h for h in reading.episode.timeline if isinstance(h, Utterance))
    return replace(reading, episode=replace(reading.episode, timeline=said), coverage=1.0, unread=())


def rows(entry: Entry) -> list[Row]:
    """The answers to the questions of an episode, one row each."""
    reading = _shown(entry)
    found = []
    for t, item in enumerate(entry.source.questions):
        asked = ask(reading, item.stem, item.options, costs=ANSWERING)
        found.append(_row(entry, t, item, _guessed(entry, t, asked.answer, item), asked))
    return _ended(found)


def _shown(entry: Entry) -> Reading:
    if entry.subject == "symbolic":
        return read(entry.source, entry.track)
    half = text_half(entry.source)
    if entry.subject != "question_only":
        return half
    episode = Episode(half.episode.id, half.episode.agents, half.episode.entities)
    return Reading(episode)


def _guessed(entry: Entry, t: int, answer: Answer, item: MumatomQuestion) -> int | None:
    """The option chosen; a shortcut that cannot tell guesses."""
    if answer.option is not None or entry.subject == "symbolic":
        return answer.option
    rng = stream(entry.seed, entry.subject, entry.source.id, f"question {t}")
    return int(rng.integers(len(item.options)))


def _row(entry: Entry, t: int, item: MumatomQuestion, chosen: int | None, asked: StoryAnswer) -> Row:
    answer = asked.answer
    return {
        "schema": 1,
        "experiment": EXPERIMENT,
        "condition": entry.track,
        "subject": entry.subject,
        "seed": entry.seed,
        "episode": entry.source.id,
        "t": t,
        "kind": item.kind,
        "action": chosen,
        "gold": item.gold,
        "best": item.gold,
        "p_true": answer.posterior[item.gold] if item.gold < len(answer.posterior) else None,
        "posterior": [round(p, 6) for p in answer.posterior],
        "coverage": round(asked.reading.coverage, 4),
        "correct": chosen == item.gold,
        **({"abstained": answer.abstained} if answer.abstained else {}),
    }


def _ended(found: list[Row]) -> list[Row]:
    """The last row of an episode says how many of its questions were answered rightly."""
    if found:
        found[-1]["accuracy"] = sum(row["correct"] for row in found) / len(found)
    return found


def digest(sources: Sequence[MumatomEpisode]) -> str:
    """What tells one set of episodes from another."""
    return f"{zlib.crc32(repr(sources).encode()):08x}"


def limp_subjects(model: str) -> tuple[str, str]:
    """LIMP by its equation, and as its code was published."""
    return (f"limp:{model}", f"limp_faithful:{model}")


def first(entries: Sequence[Entry], episodes: int) -> list[Entry]:
    """The entries of the first so many episodes of every subject."""
    count: Counter[str] = Counter()
    chosen = []
    for entry in entries:
        count[entry.subject] += 1
        if count[entry.subject] <= episodes:
            chosen.append(entry)
    return chosen


def estimate(entries: Sequence[Entry]) -> CallEstimate:
    """How many calls LIMP will make about these episodes, and how many tokens these will read and write, about."""
    questions = sum(len(entry.source.questions) for entry in entries)
    calls = 5 * len(entries) + (1 + OPTIONS * STEPS) * questions
    return CallEstimate(calls, Usage(TOKENS * calls, 0, WRITTEN * (5 * len(entries) + questions)))


def limp_rows(entry: Entry, model: LanguageModel) -> list[Row]:
    """The answers of LIMP with a language model, given the text and what a video model saw."""
    questions = tuple(StoryQuestion(item.stem, item.options) for item in entry.source.questions)
    task = StoryTask(entry.source.id, spoken_half(entry.source), questions, entry.source.video or "")
    answers = Limp(model, faithful=entry.subject.startswith("limp_faithful"), seed=entry.seed).answer_all(task)
    found = []
    for t, (item, answer) in enumerate(zip(entry.source.questions, answers, strict=True)):
        even = answer.posterior or (1.0 / len(item.options),) * len(item.options)
        asked = StoryAnswer(Reading(Episode("", ())), None, Answer(answer.option, even, (), answer.abstained))
        calls = {"calls": sum(answer.calls.values()), "unreadable": answer.unreadable}
        found.append(_row(entry, t, item, answer.option, asked) | calls)
    return _ended(found)


def spoken_half(source: MumatomEpisode) -> str:
    """The text half in words: one person's part, or the dialogue, a line for each utterance."""
    if source.half is not None:
        return source.half
    reading = read_story(source.full)
    lines = []
    for said in reading.episode.timeline:
        if isinstance(said, Utterance) and said.span is not None:
            quoted = re.search(r"\"([^\"]+)\"", source.full[said.span[0] : said.span[1]])
            lines.append(f"{said.speaker}: {quoted[1] if quoted else source.full[said.span[0] : said.span[1]]}")
    return "\n".join(lines)


def place_prior(found: Sequence[Row], sources: Sequence[MumatomEpisode]) -> list[Row]:
    """Questions about social goals answered by the kind of place that was spoken of, as the other episodes have it.

    The rows of the shortcut without video are taken, and only answers about social goals changed.
    """
    claimed = {source.id: _claimed(source) for source in sources}
    tally: dict[str, Counter[str]] = {}
    for source in sources:
        for item in source.questions:
            if item.kind == "social_goal":
                tally.setdefault(source.id, Counter())[_meant(item, item.gold)] += 1
    changed = []
    for row in (row for row in found if row["subject"] == "no_video"):
        source = next(source for source in sources if source.id == row["episode"])
        item = source.questions[row["t"]]
        chosen = row["action"]
        if item.kind == "social_goal":
            others = [
                tally[other]
                for other, place in claimed.items()
                if place == claimed[source.id] and other != source.id and other in tally
            ]
            votes = sum(others, Counter())
            if votes:
                likely = max(votes, key=lambda word: votes[word])
                chosen = next((i for i in range(len(item.options)) if _meant(item, i) == likely), chosen)
        changed.append({**row, "subject": "place_prior", "action": chosen, "correct": chosen == item.gold})
    return changed


def _claimed(source: MumatomEpisode) -> str:
    said = [h for h in text_half(source).episode.timeline if isinstance(h, Utterance) and h.act == "assert"]
    place = said[-1].content.value if said and said[-1].content else None
    return re.sub(r"^(kitchen|living room|bedroom|bathroom) ", "", place or "")


def _meant(item: MumatomQuestion, option: int) -> str:
    """Help or hinder, turned round for LEAST, so that all questions of a kind of place count together."""
    words = item.options[option].lower()
    helping = "help" in words
    hindering = any(word in words for word in ("prevent", "hinder", "mislead", "keep"))
    least = "LEAST" in item.stem
    if helping or hindering:
        return "help" if helping != least else "hinder"
    return "neither"


def summarise(found: Sequence[Row]) -> Iterator[Row]:
    """Accuracy, share answered, and accuracy of what was answered, by track and kind, with intervals by episode.

    Shortcuts do not depend on the track and stand beside every one.
    """
    tracks = list(dict.fromkeys(row["condition"] for row in found))
    for track in tracks:
        subjects = dict.fromkeys(
            row["subject"] for row in found if row["condition"] == track or row["subject"] in SHORTCUTS
        )
        for subject in subjects:
            mine = [
                row
                for row in found
                if row["subject"] == subject and (row["condition"] == track or subject in SHORTCUTS)
            ]
            for kind in ("all", *KINDS):
                chosen = [row for row in mine if kind in ("all", row["kind"])]
                if chosen:
                    yield from _scores(f"{track}/{kind}", subject, chosen)


def _scores(condition: str, subject: str, chosen: Sequence[Row]) -> Iterator[Row]:
    episodes = [row["episode"] for row in chosen]
    right = [float(row["correct"]) for row in chosen]
    answered = [float(row["action"] is not None) for row in chosen]
    found: Mapping[str, Estimate] = {"accuracy": mean(right, episodes), "answered": mean(answered, episodes)}
    if any(answered):
        found = {**found, "accuracy_answered": ratio(right, answered, episodes)}
    for metric, value in found.items():
        row = {"experiment": EXPERIMENT, "condition": condition, "subject": subject, "metric": metric}
        yield {**row, **value._asdict()}
