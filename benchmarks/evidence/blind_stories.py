"""Everyday stories by writers who did not know the reader: how many questions it answers, and how many rightly.

    python -m benchmarks.evidence.blind_stories              # the counts, by kind of question
    python -m benchmarks.evidence.blind_stories --home       # of plain stories at home: who knows where a thing is
    python -m benchmarks.evidence.blind_stories --plain      # of stories of the ten kinds, told plainly
    python -m benchmarks.evidence.blind_stories --typed      # of stories in the controlled form, and of free ones
    python -m benchmarks.evidence.blind_stories --wrong      # and the stories that are answered wrongly
    python -m benchmarks.evidence.blind_stories --replies    # with a perfect reader: the bound of what a model can add
    python -m benchmarks.evidence.blind_stories --replies --lose 0.1 --mistake 0.1 # with one that makes mistakes
    python -m benchmarks.evidence.blind_stories --model SPEC # with a language model
    python -m benchmarks.evidence.blind_stories --plain --choose embedded:qwen-1.5b # which option is likeliest

They were counted before anybody had read them; a rule that is chosen by them makes them development stories. The
replies to 157 are those of careful readers to the prompts that a model was given, who did not know the program either.
Of the stories at home, by four writers, those by the first three were read once they had been counted; of those told
plainly, by four others, none. The 200 that are typed are by two writers who knew only the page on the controlled form:
those of writer a were counted first, and the form was widened by three of them; those of writer b have decided nothing.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from otherminds.evaluation.progress import shown
from otherminds.language.find import find_model
from otherminds.language.model import Continuations, LanguageModel
from otherminds.language.scripted import Scripted
from otherminds.stories.answering import ask
from otherminds.stories.by_model.sentences import split_sentences

LETTERS = "ABCDEF"
DRAWS = 3  # of the mistakes in each story
STORIES = Path(__file__).with_suffix(".jsonl")
HOME, PLAIN, TYPED = (STORIES.with_stem(f"{name}_stories") for name in ("home", "plain", "typed"))
# words by which two names of a place may differ
SMALL = frozenset(
    re.findall(r"\w+", "the a an in on at to into onto under inside of by from behind near his her its their")
)


class Judged(NamedTuple):
    """A story with our answer, None if there is none, its probability, and whether it is right."""

    item: dict[str, Any]
    ours: str | None
    p: float
    right: bool


def written(file: Path = STORIES) -> list[dict[str, Any]]:
    """The stories of a file, with their questions."""
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


def careful_reader(story: str, replies: dict[str, Any]) -> Scripted:
    """A model that writes what a careful reader wrote of a story.

    Recorded were a reply to the question and one to each sentence; a few stories are now cut into fewer sentences.
    """
    count = len(split_sentences(story))
    reply = replies["question"] | {
        "after": min(replies["question"]["after"], count),
        "told": [
            {"sentence": min(number, count)} | item
            for number, items in enumerate(replies["sentences"], 1)
            for item in items
        ],
    }
    return Scripted("careful reader", lambda _: json.dumps(reply))


def careless(replies: dict[str, Any], lose: float, mistake: float, rng: np.random.Generator) -> dict[str, Any]:
    """The replies of a reader that leaves out a share of what is told, and gets a share wrong: a state or a person."""
    values, people = replies["question"]["values"], replies["question"]["people"]

    def other(one: str, names: list[str]) -> str:
        return str(rng.choice([name for name in names if name != one] or [one]))

    def misread(told: dict[str, Any]) -> dict[str, Any]:
        if told["value"] is not None and (not told["who"] or rng.random() < 0.5):
            return told | {"value": other(told["value"], values)}
        k = int(rng.integers(len(told["who"]))) if told["who"] else 0
        return told | {"who": [other(one, people) if i == k else one for i, one in enumerate(told["who"])]}

    kept = [[told for told in some if rng.random() >= lose] for some in replies["sentences"]]
    return replies | {"sentences": [[misread(t) if rng.random() < mistake else t for t in some] for some in kept]}


def judged(
    items: Iterable[dict[str, Any]], model_for: Callable[[dict[str, Any]], LanguageModel | None] = lambda _: None
) -> Iterator[Judged]:
    """Every story, answered with the model that `model_for` gives, or without one."""
    for item in items:
        found = ask(item["story"], item["question"], item["options"], model=model_for(item))
        if found.answer.option is None or found.question is None:
            yield Judged(item, None, 0.0, right=False)
            continue
        ours = (item["options"] or found.question.labels)[found.answer.option]
        same = _equal if item["options"] or {"yes", "no"} & {*item["answers"]} else _alike
        right = any(same(ours, answer) for answer in item["answers"])
        yield Judged(item, ours, max(found.answer.posterior), right)


def _equal(ours: str, answer: str) -> bool:
    return ours.lower().strip(" .") == answer.lower().strip(" .")


def _alike(ours: str, answer: str) -> bool:
    """Whether two phrases name one place: the words of one, but for small ones, are among those of the other."""
    one, other = ({*re.findall(r"[a-z0-9]+", text.lower())} - SMALL for text in (ours, answer))
    return bool(one and other) and (one <= other or other <= one)


def chosen_by(model: LanguageModel, item: dict[str, Any]) -> tuple[float, bool]:
    """How likely the model holds its likeliest option to be, and whether that is right.

    p(option) is that of its letter after the story, the question and the options, the mean over all rotations of them.
    """
    options = item["options"] or ["yes", "no"]
    likely = dict.fromkeys(options, 0.0)
    for k in range(len(options)):
        turned = [*options[k:], *options[:k]]
        listed = "\n".join(f"{letter}. {option}" for letter, option in zip(LETTERS, turned, strict=False))
        prompt = f"{item['story']}\n\nQuestion: {item['question']}\n{listed}\n\nThe letter of the right answer:"
        letters = tuple(f" {letter}" for letter in LETTERS[: len(options)])
        weights = np.exp(model.score(Continuations(prompt, letters)).log_probs)
        for option, p in zip(turned, weights / weights.sum(), strict=True):
            likely[option] += float(p) / len(options)
    best = max(likely, key=likely.__getitem__)
    return likely[best], any(_equal(best, answer) for answer in item["answers"])


def choose(model: LanguageModel, items: list[dict[str, Any]]) -> None:
    """Print how many options the model chooses rightly, and of those of which it is surest."""
    asked = [item for item in items if item["options"] or item["answers"][0] in ("yes", "no")]
    found = [chosen_by(model, item) for item in shown(asked, len(asked), "Asking")]
    found.sort(key=lambda one: -one[0])
    for share in (0.1, 0.25, 0.5, 1.0):
        some = found[: round(share * len(found))]
        right = sum(right for _, right in some)
        print(f"surest {share:4.0%}: {right} of {len(some)} right ({right / len(some):.0%}), p >= {some[-1][0]:.2f}")


def main() -> None:
    """Print the counts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--home", action="store_true")
    parser.add_argument("--plain", action="store_true")
    parser.add_argument("--typed", action="store_true")
    parser.add_argument("--wrong", action="store_true")
    parser.add_argument("--replies", action="store_true")
    parser.add_argument("--lose", type=float, default=0.0, metavar="P")
    parser.add_argument("--mistake", type=float, default=0.0, metavar="P")
    parser.add_argument("--model")
    parser.add_argument("--choose", metavar="MODEL")
    chosen = parser.parse_args()
    items = written(HOME if chosen.home else PLAIN if chosen.plain else TYPED if chosen.typed else STORIES)
    if chosen.choose:
        choose(find_model(chosen.choose), items)
        return
    model = find_model(chosen.model) if chosen.model else None
    if chosen.replies:
        items = [item for item in items if "replies" in item]
        rng = np.random.default_rng(0)

        def reader(item: dict[str, Any]) -> Scripted | None:
            if item["replies"] is None:
                return None
            return careful_reader(item["story"], careless(item["replies"], chosen.lose, chosen.mistake, rng))

        found = list(judged(items * (DRAWS if chosen.lose or chosen.mistake else 1), reader))
    else:
        found = list(judged(shown(items, len(items), "Asking") if model else items, lambda _: model))
    answered = [one for one in found if one.ours is not None]
    wrong = [one for one in answered if not one.right]
    sure = sum(one.p >= 0.95 for one in wrong)
    print(f"{len(found)} stories, {len(answered)} answered, {len(wrong)} wrongly, {sure} of these with P >= .95")
    asked, told, right = (
        Counter(one.item["kind"] for one in some) for some in (found, answered, [one for one in answered if one.right])
    )
    for kind, number in sorted(asked.items()):
        print(f"{kind:15} {number:3} asked, {told[kind]:3} answered, {right[kind]:3} rightly")
    for one in wrong if chosen.wrong else ():
        print(f"\n{one.item['story']}\n{one.item['question']}\n  {one.ours} ({one.p:.2f}), not {one.item['answers']}")


if __name__ == "__main__":
    main()
