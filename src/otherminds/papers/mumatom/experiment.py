"""Questions about social interactions: the MuMA-ToM benchmark, its shortcuts, and invented stories.

The benchmark is played from the full text, and from text, video and scene graph apart. Beside every score stand the
shortcuts: the same solver shown only the question, or only the text, and the social goal that the kind of place gives
away. If a shortcut cannot tell, it guesses; the solver abstains, and is also scored as if it had to answer, as people
and language models have to. Invented stories have exact answers by construction.
"""

from __future__ import annotations

import math
import re
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count

from otherminds.evaluation.engines import stream
from otherminds.evaluation.statistics import mean, ratio, summary_row
from otherminds.evaluation.store import Row, first_columns
from otherminds.evaluation.story_sets import LETTERS, make
from otherminds.language.model import LanguageModel, Usage
from otherminds.language.prices import CallEstimate
from otherminds.papers.mumatom.limp import Limp, StoryQuestion, StoryTask
from otherminds.stories.answering import answer_benchmark
from otherminds.stories.english.reading import read_story
from otherminds.stories.fusing import fuse
from otherminds.stories.invented.telling import phrasings
from otherminds.stories.model import Answer, Episode, Reading
from otherminds.stories.mumatom_files import KINDS, MumatomEpisode, MumatomQuestion
from otherminds.worlds.household.agent import ANSWERING

EXPERIMENT = "mumatom"
TRACKS = ("full_text", "text_video", "text_scene", "text_video_scene")
GUESSING = ("question_only", "no_video")
SHORTCUTS = (*GUESSING, "place_prior")
VIDEO_P = 0.8  # probability that an event described from the video happened; chosen
# For estimates: options of a question, steps of the main person, tokens of a prompt and of a written reply; rounded
# means of the benchmark.
OPTIONS, STEPS, TOKENS, WRITTEN = 3, 3, 400, 200


@dataclass(frozen=True)
class BenchmarkEntry:
    """One episode of the benchmark, its track, and the subject that answers its questions."""

    source: MumatomEpisode
    track: str
    subject: str
    seed: int

    @property
    def key(self) -> tuple[str, str, str]:
        """What tells it apart in the rows."""
        return (self.track, self.subject, self.source.id)


def plan(sources: Sequence[MumatomEpisode], seed: int, subjects: Sequence[str] = ()) -> list[BenchmarkEntry]:
    """All episodes: the solver on every track with data, the shortcuts once, language models on text and video."""
    video, scene = any(source.video for source in sources), any(source.frames for source in sources)
    tracks = [track for track in TRACKS if (video or "video" not in track) and (scene or "scene" not in track)]
    entries = [BenchmarkEntry(source, track, "symbolic", seed) for track in tracks for source in sources]
    entries += [BenchmarkEntry(source, "full_text", name, seed) for name in GUESSING for source in sources]
    return entries + [BenchmarkEntry(source, "text_video", name, seed) for name in subjects for source in sources]


def read(source: MumatomEpisode, track: str) -> Reading:
    """An episode as a track tells it."""
    if track == "full_text":
        return read_story(source.full)
    half = text_half(source)
    video = None
    if "video" in track and source.video is not None:
        video = read_story(source.video, source="video", p=VIDEO_P, cast=half.episode.agents)
    return fuse(half, video, source.frames if "scene" in track else None)


def text_half(source: MumatomEpisode) -> Reading:
    """An episode as its text alone tells it: one person's part, or the utterances of a conversation."""
    if source.half is not None:
        return read_story(source.half)
    reading = read_story(source.full)
    spoken = replace(reading.episode, timeline=reading.episode.utterances)
    return replace(reading, episode=spoken, coverage=1.0, unread=())


def rows(entry: BenchmarkEntry) -> list[Row]:
    """The answers to the questions of an episode, one row each. The last one also has the accuracy."""
    if entry.subject == "symbolic":
        reading = read(entry.source, entry.track)
    else:
        reading = text_half(entry.source)
        if entry.subject == "question_only":
            reading = Reading(Episode(reading.episode.id, reading.episode.agents, reading.episode.entities))
    answer_rows = []
    for t, item in enumerate(entry.source.questions):
        story_answer = answer_benchmark(reading, item.stem, item.options, costs=ANSWERING)
        option = story_answer.answer.option
        if option is None and entry.subject != "symbolic":  # a shortcut guesses
            rng = stream(entry.seed, entry.subject, entry.source.id, f"question {t}")
            option = int(rng.integers(len(item.options)))
        answer_rows.append(_row(entry, t, item, option, story_answer.answer, story_answer.reading.coverage))
    return with_accuracy(answer_rows)


def _row(
    entry: BenchmarkEntry, t: int, item: MumatomQuestion, option: int | None, answer: Answer, coverage: float
) -> Row:
    """The row of an answer. A question without an answer counts as right with the probability of a guess."""
    label = {"t": t, "kind": item.kind, "action": option, "gold": item.gold, "best": item.gold}
    guess = answer.leaning if option is None else option
    guessing = 1.0 / len(item.options) if guess is None else float(guess == item.gold)
    p_true = answer.posterior[item.gold] if item.gold < len(answer.posterior) else None
    odds = {"p_true": p_true, "posterior": [round(p, 6) for p in answer.posterior], "coverage": round(coverage, 4)}
    score = {**label, **odds, "correct": option == item.gold, "guessing": guessing, **_reason(answer)}
    return first_columns(EXPERIMENT, entry.key, entry.seed) | score


def _reason(answer: Answer) -> Row:
    """The reason for no answer, as a column; none if there is an answer."""
    return {"abstained": answer.abstained} if answer.abstained else {}


def with_accuracy(answer_rows: list[Row]) -> list[Row]:
    """The rows of an episode, the last one with the share of correct answers."""
    if answer_rows:
        answer_rows[-1]["accuracy"] = sum(row["correct"] for row in answer_rows) / len(answer_rows)
    return answer_rows


def digest(sources: Sequence[MumatomEpisode]) -> str:
    """A checksum of a set of episodes, in hexadecimal."""
    return f"{zlib.crc32(repr(sources).encode()):08x}"


def limp_subjects(model: str) -> tuple[str, str]:
    """The names of LIMP with a model: by the paper's equation, and as its code was published."""
    return (f"limp:{model}", f"limp_faithful:{model}")


def first(entries: Sequence[BenchmarkEntry], episodes: int) -> list[BenchmarkEntry]:
    """The first `episodes` entries of every subject."""
    numbers = defaultdict[str, Iterator[int]](count)
    return [entry for entry in entries if next(numbers[entry.subject]) < episodes]


def estimate(entries: Sequence[BenchmarkEntry]) -> CallEstimate:
    """Estimate of LIMP's calls and tokens for these episodes."""
    questions = sum(len(entry.source.questions) for entry in entries)
    calls = 5 * len(entries) + (1 + OPTIONS * STEPS) * questions
    return CallEstimate(calls, Usage(TOKENS * calls, 0, WRITTEN * (5 * len(entries) + questions)))


def limp_rows(entry: BenchmarkEntry, model: LanguageModel) -> list[Row]:
    """The answers of LIMP with a language model, given the text and the description of the video, one row each.

    Raises ModelError if the model cannot be asked.
    """
    questions = tuple(StoryQuestion(item.stem, item.options) for item in entry.source.questions)
    task = StoryTask(entry.source.id, spoken_half(entry.source), questions, entry.source.video or "")
    answers = Limp(model, faithful=entry.subject.startswith("limp_faithful"), seed=entry.seed).answer_all(task)
    answer_rows = []
    for t, (item, answer) in enumerate(zip(entry.source.questions, answers, strict=True)):
        even = answer.posterior or (1.0 / len(item.options),) * len(item.options)
        converted = Answer(answer.option, even, (), answer.abstained)
        calls = {"calls": sum(answer.calls.values()), "unreadable": answer.unreadable}
        answer_rows.append(_row(entry, t, item, answer.option, converted, 1.0) | calls)
    return with_accuracy(answer_rows)


def spoken_half(source: MumatomEpisode) -> str:
    """The text without the video, in words: one person's part, or the dialogue with a line for each utterance."""
    if source.half is not None:
        return source.half
    reading = read_story(source.full)
    lines = []
    for speech in reading.episode.utterances:
        if speech.span is not None:
            sentence = source.full[speech.span[0] : speech.span[1]]
            quoted = re.search(r"\"(?P<words>[^\"]+)\"", sentence)
            lines.append(f"{speech.speaker}: {quoted['words'] if quoted else sentence}")
    return "\n".join(lines)


def place_prior(answer_rows: Sequence[Row], sources: Sequence[MumatomEpisode]) -> list[Row]:
    """Rows that answer questions about social goals by the kind of place that was spoken of.

    The answer is the commonest label of other episodes with the same kind of place. All other answers are those of
    the shortcut without video.
    """
    claimed = {source.id: _claimed_place(source) for source in sources}
    tally = {
        source.id: Counter(_meant(item, item.gold) for item in source.questions if item.kind == "social_goal")
        for source in sources
    }
    questions = {source.id: source.questions for source in sources}
    changed = []
    for row in (row for row in answer_rows if row["subject"] == "no_video"):
        episode, item, option = row["episode"], questions[row["episode"]][row["t"]], row["action"]
        if item.kind == "social_goal":
            similar = (
                source_id for source_id, place in claimed.items() if place == claimed[episode] and source_id != episode
            )
            if votes := sum((tally[source_id] for source_id in similar), Counter[str]()):
                likely = max(votes, key=lambda word: votes[word])
                option = next((i for i in range(len(item.options)) if _meant(item, i) == likely), option)
        right = option == item.gold
        columns = {"action": option, "correct": right, "guessing": float(right)}
        changed.append({**row, "subject": "place_prior", **columns})
    return changed


def _claimed_place(source: MumatomEpisode) -> str:
    """The kind of place that the last assertion names, without its room; empty if there is none."""
    assertions = [utterance for utterance in text_half(source).episode.utterances if utterance.act == "assert"]
    place = assertions[-1].content.value if assertions and assertions[-1].content else None
    return re.sub(r"^(kitchen|living room|bedroom|bathroom) ", "", place or "")


def _meant(item: MumatomQuestion, option: int) -> str:
    """`help`, `hinder` or `neither`: the meaning of an option, reversed in questions that ask for the LEAST likely."""
    words = item.options[option].lower()
    helping = "help" in words
    if not helping and not any(word in words for word in ("prevent", "hinder", "mislead", "keep")):
        return "neither"
    return "hinder" if helping == ("LEAST" in item.stem) else "help"


def summarise(answer_rows: Sequence[Row]) -> Iterator[Row]:
    """Accuracy, share answered, and accuracy of the answered, by track and kind, with intervals over episodes.

    `accuracy_guessing` is that of a solver that has to answer: it takes what it leans to, else any option.
    Shortcuts do not depend on the track and stand beside every one.
    """
    for track in dict.fromkeys(row["condition"] for row in answer_rows):
        track_rows = [row for row in answer_rows if row["condition"] == track or row["subject"] in SHORTCUTS]
        for subject in dict.fromkeys(row["subject"] for row in track_rows):
            subject_rows = [row for row in track_rows if row["subject"] == subject]
            for kind in ("all", *KINDS):
                kind_rows = [row for row in subject_rows if kind in ("all", row["kind"])]
                if kind_rows:
                    yield from _scores(f"{track}/{kind}", subject, kind_rows)


def _scores(condition: str, subject: str, answers: Sequence[Row], cluster: str = "episode") -> Iterator[Row]:
    """Summary rows of some answers, with intervals over the values of the column `cluster`.

    Answers about invented stories, whose cluster is the group, also have the coverage of the reading if it is known.
    """
    clusters = [row[cluster] for row in answers]
    right = [float(row["correct"]) for row in answers]
    answered = [float(row["action"] is not None) for row in answers]
    estimates = {"accuracy": mean(right, clusters), "answered": mean(answered, clusters)}
    if all("guessing" in row for row in answers):
        estimates["accuracy_guessing"] = mean([row["guessing"] for row in answers], clusters)
    if any(answered):
        estimates["accuracy_answered"] = ratio(right, answered, clusters)
    if cluster == "group" and all("coverage" in row for row in answers):
        estimates["coverage"] = mean([row["coverage"] for row in answers], clusters)
    if all("replies" in row for row in answers):  # of a language model by itself
        unreadable = [float(len(row["kinds"])) for row in answers]
        estimates["unreadable_share"] = ratio(unreadable, [float(row["replies"]) for row in answers], clusters)
    yield from (summary_row(EXPERIMENT, condition, subject, metric, value) for metric, value in estimates.items())


WORD = re.compile(r"[a-z]+")


@dataclass(frozen=True)
class InventedEntry:
    """A number of invented stories in one phrasing, and the subject that answers their questions."""

    phrasing: str
    stories: int
    seed: int
    subject: str = "symbolic"

    @property
    def key(self) -> tuple[str, str, str]:
        """What tells it apart in the rows."""
        return (f"invented/{self.phrasing}", self.subject, "all")


def plan_invented(stories: int, seed: int) -> list[InventedEntry]:
    """The solver on every phrasing, and the shortcut on four times as many stories, half of which train it."""
    entries = [InventedEntry(name, stories, seed) for name in phrasings()]
    return [*entries, InventedEntry("plain", 4 * stories, seed, "question_only")]


def invented_rows(entry: InventedEntry) -> list[Row]:
    """The answers to the questions of all stories of an entry, one row each. The last one also has the accuracy."""
    invented = list(make(entry.stories, entry.seed, phrasing_names=(entry.phrasing,), quiet=True))
    choices: list[tuple[int | None, Row]] = []
    if entry.subject == "question_only":
        choices = _shortcut(invented, entry.seed)
    else:
        for row in invented:
            story_answer = answer_benchmark(row["story"], row["question"], row["options"])
            columns = {"coverage": round(story_answer.reading.coverage, 4), **_reason(story_answer.answer)}
            choices.append((story_answer.answer.option, columns))
    answer_rows = []
    for t, (row, (option, extra)) in enumerate(zip(invented, choices, strict=True)):
        kind, gold = row["cell"].split("/")[0], LETTERS.index(row["letter"])
        answer = {"group": row["group"], "kind": kind, "action": option, "gold": gold, "correct": option == gold}
        answer_rows.append({**first_columns(EXPERIMENT, entry.key, entry.seed), "t": t, **answer, **extra})
    return with_accuracy(answer_rows)


def _shortcut(invented: Sequence[Row], seed: int) -> list[tuple[int | None, Row]]:
    """Guesses from the words of question and options alone: naive Bayes, trained on the groups with an even number."""
    right, wrong = Counter[str](), Counter[str]()
    for row in invented:
        if int(row["group"]) % 2 == 0:
            for letter, option in zip(LETTERS, row["options"], strict=True):
                (right if letter == row["letter"] else wrong).update(_features(row["question"], letter, option))
    rng = stream(seed, "shortcut")
    guesses: list[tuple[int | None, Row]] = []
    for row in invented:
        scores = []
        for letter, option in zip(LETTERS, row["options"], strict=True):
            odds = [(right[f] + 1.0) / (wrong[f] / 2.0 + 1.0) for f in _features(row["question"], letter, option)]
            scores.append(math.prod(odds, start=1.0) * (1.0 + 1e-9 * rng.random()))  # breaks ties at random
        guesses.append((scores.index(max(scores)), {"trained": int(row["group"]) % 2 == 0}))
    return guesses


def _features(question: str, letter: str, option: str) -> set[str]:
    polarity = "least" if "LEAST" in question else "most"
    words = WORD.findall(option.lower())
    return {f"{polarity} {letter}", *(f"{polarity} {word}" for word in words)}


def summarise_invented(answer_rows: Sequence[Row]) -> Iterator[Row]:
    """Share answered, accuracy of the answered and of all, by phrasing, with intervals over groups of stories."""
    for condition, subject in dict.fromkeys((row["condition"], row["subject"]) for row in answer_rows):
        mine = [row for row in answer_rows if (row["condition"], row["subject"]) == (condition, subject)]
        yield from _scores(condition, subject, [row for row in mine if not row.get("trained")], "group")
