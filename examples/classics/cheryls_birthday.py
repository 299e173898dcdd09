"""Cheryl's birthday (knowledge about knowledge)

Albert is told the month, Bernard the day. Albert: I don't know, but I know that Bernard doesn't know either. Bernard:
At first I didn't know, but now I do. Albert: Then I know too. Singapore and Asian Schools Math Olympiad, 2015.
Published: July 16, the puzzle's answer. After the same talk about any day in February, March or April, memo's notebook
demo-cheryl prints April 30.

Try: tell Albert the day and Bernard the month (0 and 1 change places); the same talk then means June 17.
"""

import sys
from pathlib import Path

import otherminds as om

Date = tuple[str, int]
CHERYL = {"May": (15, 16, 19), "June": (17, 18), "July": (14, 16), "August": (14, 15, 17)}
SPRING = {"February": range(1, 30), "March": range(1, 32), "April": range(1, 31)}


def knows(part: int, date: Date, dates: om.Categorical[Date]) -> bool:
    """Whether the friend who is told one part of the date (0: month, 1: day) knows all of it."""
    return len(dates.condition(lambda other: other[part] == date[part])) == 1


def conversation(months: dict[str, tuple[int, ...]] | dict[str, range]) -> list[om.Categorical[Date]]:
    """P(date), for someone who listens, before and after each of the four things that are said."""
    dates = om.Categorical.uniform((month, day) for month, days in months.items() for day in days)
    first = dates.condition(lambda date: not knows(0, date, dates))
    second = first.condition(lambda date: not any(knows(1, other, dates) for other, _ in dates if other[0] == date[0]))
    third = second.condition(lambda date: not knows(1, date, dates) and knows(1, date, second))
    return [dates, first, second, third, third.condition(lambda date: knows(0, date, third))]


for months, published in ((CHERYL, ("July", 16)), (SPRING, ("April", 30))):
    beliefs = conversation(months)
    print(f"dates left: {[len(belief) for belief in beliefs]}; it is {beliefs[-1].mode} (published {published})")
axes = om.plot_posterior([belief.map(lambda date: date[0]) for belief in conversation(CHERYL)])
axes.set(xlabel="statements heard")
om.save_picture(axes, Path(sys.argv[1] if len(sys.argv) > 1 else ".") / "cheryls_birthday.svg")
