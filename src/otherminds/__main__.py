"""`python -m otherminds` is `otherminds`."""

from otherminds.cli.app import main

main()
