"""Nothing said or typed is lost: what the host has not accepted is on disk, and the next session offers it.

`entries` is what is kept of one utterance or typed message, and what follows from it; `store` are the files;
`writer` is the `voice.ports.Journal` of a session, which writes them; `offering` is what a conversation tells
and does about what is left of earlier ones.
"""
