"""The outside libraries, one a file; each is imported when it is used and its errors are translated here."""
