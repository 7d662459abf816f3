"""One small help for task groups: an error that came alone is raised as itself."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from voice.errors import VoiceError


@contextmanager
def lone_errors() -> Iterator[None]:
    """Let a lone error out of the group that a task group wraps it in.

    A caller catches `VoiceError`, and never learns whether there was a task group below. Of several of our
    own the first comes out, with the others as notes; several that are not all ours stay a group.
    """
    try:
        yield
    except BaseExceptionGroup as group:
        first, *others = _leaves(group)
        if others and not all(isinstance(error, VoiceError) for error in (first, *others)):
            raise
        for error in others:
            first.add_note(str(error))
        raise first from first.__cause__


def _leaves(error: BaseException) -> Iterator[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            yield from _leaves(inner)
    else:
        yield error
