"""The command line `otherminds`."""

import atexit
import gc

# What modules make lives as long as the program: by default, a short command spends an eighth of its time on looking
# for garbage among it, while it is made and once more at the end.
gc.set_threshold(200_000)
atexit.register(gc.freeze)
