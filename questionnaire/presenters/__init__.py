"""How a questionnaire reaches a person, one surface a file."""
