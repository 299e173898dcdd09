"""Plots for a notebook or a script: a posterior, a trajectory, a regret, on axes that matplotlib gives back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
from matplotlib.axes import Axes

from otherminds.distribution import Categorical
from otherminds.observer import Observer
from otherminds.reports.plots import LOOK

Believed = Categorical[Any] | Observer[Any]


def plot_posterior(
    believed: Believed | Mapping[str, Believed] | Sequence[Believed], *, ax: Axes | None = None
) -> Axes:
    """P(x) as bars; of several by name, side by side; of a sequence, as lines over its steps.

    Returns the axes, new ones unless `ax` is given.
    """
    with plt.rc_context(LOOK):
        axes = ax or plt.subplots(figsize=(4.2, 2.8))[1]
        if isinstance(believed, Mapping):
            named = {name: _distribution(one) for name, one in believed.items()}
            _bars(axes, named)
            axes.legend(frameon=False)
        elif isinstance(believed, Categorical | Observer):
            _bars(axes, {"": _distribution(believed)})
        else:
            steps = [_distribution(one) for one in believed]
            for x in dict.fromkeys(x for step in steps for x in step.support):
                axes.plot(range(len(steps)), [step.prob(x) for step in steps], ".-", label=str(x))
            axes.set(xlabel="step", ylabel="probability", ylim=(-0.03, 1.03))
            axes.legend(frameon=False)
    return axes


def _distribution(believed: Believed) -> Categorical[Any]:
    return believed.posterior if isinstance(believed, Observer) else believed


def _bars(axes: Axes, named: Mapping[str, Categorical[Any]]) -> None:
    """Bars for each outcome, next to each other those of the same outcome."""
    outcomes = list(dict.fromkeys(x for one in named.values() for x in one.support))
    width = 0.8 / len(named)
    for i, (name, one) in enumerate(named.items()):
        places = [n + width * (i - (len(named) - 1) / 2) for n in range(len(outcomes))]
        axes.bar(places, [one.prob(x) for x in outcomes], width, label=name)
    axes.set(xticks=range(len(outcomes)), xticklabels=map(str, outcomes), ylabel="probability")
