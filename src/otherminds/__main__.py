"""`python -m otherminds` is `otherminds`."""

from otherminds.cli import main

main()
