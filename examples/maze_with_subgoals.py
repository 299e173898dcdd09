"""A maze with subgoals: where is she going, and where does she go first?

The state has the places that she has visited, so that an order of errands is a goal like any other.
"""

from otherminds import Observer, RationalAgent

MAZE = ["#########", "#A..#..B#", "#.#.#.#.#", "#.......#", "#.#.#.#.#", "#...#..C#", "#########"]
WAYS = {"up": (0, -1), "down": (0, 1), "left": (-1, 0), "right": (1, 0)}


class Errands:
    """A maze; the state is Mia's cell and the places that she has visited, in order."""

    agents = ("Mia",)

    def start(self, rng):
        return 4, 3, ""

    def actions(self, state, agent):
        return tuple(WAYS)

    def step(self, state, joint, rng):
        (x, y, visited), (dx, dy) = state, WAYS[joint["Mia"]]
        place = MAZE[y + dy][x + dx]
        if place == "#":
            return state
        return x + dx, y + dy, visited + place * (place.isalpha() and place not in visited)

    def observe(self, state, agent):
        return state

    def done(self, state):
        return False

    def reached(self, state, agent, goal):
        return "".join(place for place in state[2] if place in goal) == goal


world, state = Errands(), (4, 3, "")
goals = ["A", "B", "C", "AB", "AC", "BA", "BC", "CA", "CB"]
observer = Observer.over(RationalAgent(world, "Mia", goal) for goal in goals).see(state)
for number, action in enumerate(["right", "right", "right", "up", "up", "down", "down", "down", "down", "left"], 1):
    state = world.step(state, {"Mia": action}, None)
    observer = observer.watch(action, state)
    if number in (1, 3, 4, 5, 7, 9):
        likely = sorted(observer.ask(lambda mind: mind.goal), key=lambda pair: -pair[1])[:3]
        print(f"{number} {action:5}", *(f"{goal}: {p:.2f}" for goal, p in likely))
