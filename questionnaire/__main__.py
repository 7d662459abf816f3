"""`python -m questionnaire` is the command `questionnaire`."""

from questionnaire.cli import main

main()
