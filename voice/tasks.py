"""One small help for task groups: an error that came alone is raised as itself."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def lone_errors() -> Iterator[None]:
    """Let a lone error out of the group that a task group wraps it in; several stay a group.

    A caller catches `VoiceError`, and never learns whether there was a task group below.
    """
    try:
        yield
    except BaseExceptionGroup as group:
        errors = list(_leaves(group))
        if len(errors) != 1:
            raise
        raise errors[0] from errors[0].__cause__


def _leaves(error: BaseException) -> Iterator[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            yield from _leaves(inner)
    else:
        yield error
