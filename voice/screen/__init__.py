"""The screen of `voice chat`: events become entries of a conversation, and a line on how things stand.

`entries`, `state`, `rows` and `keys` are pure; `terminal` draws with prompt_toolkit, `plain` prints lines.
"""
