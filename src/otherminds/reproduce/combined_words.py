"""What the book of all experiments says in words."""

from __future__ import annotations

LEAD = (
    "Agents are minds run forward; mindreading is minds run backward. Four systems built on that, each beside the "
    "figures of its paper. Everything here was played anew and follows from its seed; n says how much a figure rests "
    "on, and `otherminds reproduce --full` makes it larger."
)
ORDER = (
    "protom-dkg",
    "protom-overcooked",
    "study",
    "dkg-human",
    "functional",
    "check",
    "hypothetical",
    "melting-pot",
    "mumatom",
)
"""Chapters, as they follow one another."""
VERDICTS = (
    "Ours with a 95 % interval and the number of independent units it rests on, and what the paper prints, with ± 1.96 "
    "standard errors or the interval as printed. “Agrees” means that the two intervals overlap; a figure without an "
    "interval is a point. Elsewhere the verdict says who is ahead, and whether that rests on a single "
    "episode."
)
READING = (
    "Everybody on two scales, by the same code. Literal: of all that an agent held likeliest (the next play, a goal, "
    "what somebody in a story believes) how much came about. Functional: of what can be gained by knowing the other, "
    "how much it gained; 0 is play without a thought of others (random play, no help, a clue not read), 100 % that of "
    "whoever knows the other (the exact optimum, who is told the strategy, the oracle). Far right and far down is who "
    "knows and does not use it. Below −35 % is drawn at −35 %; who expects nothing is at “none”. Miscalibration is "
    "the gap between how sure an agent was and how often it was right. Intervals are 95 %, by episode."
)
APART = (
    (
        "check",
        "Any language model",
        "Its weights are not here: `otherminds models fetch smollm2`, and `pip install 'otherminds[embedded]'`.",
    ),
    (
        "dkg-human",
        "Goal inference beside people's own judgements",
        "They have no licence to be passed on: `otherminds reproduce dkg-human --data CLONE`.",
    ),
    (
        "mumatom/full_text/all",
        "MuMA-ToM itself",
        "Its files have to be fetched: `otherminds reproduce mumatom --data DIR`. Here are invented stories only.",
    ),
    (
        "",
        "The language models of the papers (GPT-4, GPT-4o, Llama, DeepSeek, Mistral and others)",
        "They cost money, and what is behind a name changes. Their published figures stand in the chapters; `--model "
        "openai:MODEL@URL` puts any of them into the tables.",
    ),
    (
        "",
        "ProToM's own levels and kitchens",
        "They are not public. Ours are of the same kinds in the same numbers: comparable, not the same.",
    ),
    (
        "",
        "ProToM's study with people",
        "The trials here are simulated. `otherminds serve` runs one, `reproduce study --data EXPORT` analyses it.",
    ),
    (
        "",
        "Melting Pot's background players",
        "Their neural bodies cannot be had any more; ours are scripted, so scores compare within this suite.",
    ),
    ("", "OPRE, and Hypothetical Minds' ablations with GPT-4", "Not trained, and not asked, here."),
    (
        "",
        "Functional scores in collaborative cooking",
        "What could be earned at most with each partner is not known.",
    ),
    ("", "People's accuracy with MuMA-ToM", "Nobody was asked anew; the published figure stands beside ours."),
)
