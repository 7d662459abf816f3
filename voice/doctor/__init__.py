"""Is each part of the loop there, and does it work? Each is really used, not only looked for.

`findings` is what is found of one part; `libraries` looks for those; `examining` tries one part after the
other, each within a limit: `places` (settings, terminal, journal), `agents`, `hearing` (microphone, Whisper)
and `speaking` (engine, speaker, and what comes back of it); `levels` and `sentences` judge, pure; `report` is
all of it for a bug report, and `private` what must not stand in one. Any library may be missing, so each is
imported by the check that needs it.
"""
