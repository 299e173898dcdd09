"""The command line `otherminds`."""

import atexit
import gc

# The objects that modules create live as long as the program. By default, a short command spends a fifth of its time on
# searching them for garbage, while they are created and once more at exit (measured with benchmarks/speed/startup.py).
gc.set_threshold(200_000)  # objects; loading the readers of stories creates 114,000
atexit.register(gc.freeze)
