"""The pytest plugin: scenes are collected as tests, and fixtures talk with an agent hands-free.

It is installed with the package, under the name ``voice`` (``-p no:voice`` leaves it out). Nothing but this
file is loaded before a scene is found or a fixture is used.

Fixtures
    ``voice_session(agent, **fields)`` begins a session with an agent and returns a
    `voice.scenes.live.LiveSession`; what is said is understood as the test says. ``whisper_session`` is the
    same with Whisper. ``fields`` are those of a scene, as ``settings={…}``; recordings are looked for beside
    the test.
Scenes
    ``scene.yaml`` and ``NAME.scene.yaml`` are tests. One that says nothing of its agent is played with the
    one that the hook `pytest_voice_agent` gives, in a ``conftest.py``.
Options
    ``--scenes-whisper`` has Whisper understand what is said in all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import ExitStack
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from voice.scenes.live import LiveSession, Voices
    from voice.scenes.outside import Outside
    from voice.scenes.played import Played

SCENE, ENDING = "scene.yaml", ".scene.yaml"
"""How scenes are called, as `voice.scenes.reading.ENDINGS` has it."""

LONGEST_TIMELINE = 120
"""So many lines of a timeline are shown; of a longer one the middle is left out."""


class Hooks:
    """What a ``conftest.py`` may say."""

    @pytest.hookspec(firstresult=True)
    def pytest_voice_agent(self, path: Path) -> Any:
        """Give the agent with which the scene at ``path`` is played, where it says nothing of one.

        It is what ``voice_session`` takes: a pydantic-ai agent, an async function, or what makes a host.
        """


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    """Know our hook."""
    pluginmanager.add_hookspecs(Hooks)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Know our option."""
    parser.getgroup("voice").addoption(
        "--scenes-whisper",
        action="store_true",
        help="have Whisper understand what is said in scenes, whatever their texts say",
    )


# --- What tests of one run share --------------------------------------------------------------------------


class _Shared:
    """Whisper and the speech engine, loaded when they are used for the first time."""

    def __init__(self) -> None:
        self._stack = ExitStack()

    @cached_property
    def outside(self) -> Outside:
        from voice.scenes.outside import Outside

        return self._stack.enter_context(Outside())

    @cached_property
    def voices(self) -> Voices:
        from voice.scenes.live import Voices
        from voice.scenes.outside import Outside

        return Voices(self._stack.enter_context(Outside()))

    def close(self) -> None:
        self._stack.close()


_SHARED = pytest.StashKey[_Shared]()
_SESSIONS = pytest.StashKey["list[LiveSession]"]()
_PASSED = pytest.StashKey[bool]()


def _shared(config: pytest.Config) -> _Shared:
    return config.stash.setdefault(_SHARED, _Shared())


def pytest_unconfigure(config: pytest.Config) -> None:
    """End what was loaded."""
    if (shared := config.stash.get(_SHARED, None)) is not None:
        shared.close()


# --- Sessions ---------------------------------------------------------------------------------------------

Begin = Callable[..., "LiveSession"]
"""Takes an agent, and fields of a scene by name; returns a session that has begun."""


@pytest.fixture
def voice_session(request: pytest.FixtureRequest) -> Iterator[Begin]:
    """Talk with an agent in virtual time: what is said is understood as the test says.

    ``session = voice_session(agent)`` begins; ``say``, ``send`` and ``answer`` are what a person does;
    ``messages``, ``said``, ``tools`` and ``discarded`` are what came of it (`voice.scenes.live.LiveSession`).
    """
    yield from _sessions(request, whisper=False)


@pytest.fixture
def whisper_session(request: pytest.FixtureRequest) -> Iterator[Begin]:
    """Talk with an agent in virtual time, with Whisper, which hears recordings: as ``voice_session``."""
    yield from _sessions(request, whisper=True)


def _sessions(request: pytest.FixtureRequest, *, whisper: bool) -> Iterator[Begin]:
    node, shared = request.node, _shared(request.config)
    sessions = node.stash.setdefault(_SESSIONS, [])

    def begin(agent: Any, **fields: Any) -> LiveSession:
        __tracebackhide__ = True
        from voice.errors import VoiceError
        from voice.scenes.live import LiveSession

        try:
            session = LiveSession(
                agent,
                folder=request.path.parent,
                outside=shared.outside,
                voices=shared.voices,
                whisper=whisper,
                fields=fields,
            )
            session.__enter__()
        except VoiceError as error:
            wrong = str(error)
        else:
            sessions.append(session)
            return session
        pytest.fail(wrong, pytrace=False)

    yield begin
    for session in sessions:
        session.end()
    complaints = [complaint for session in sessions for complaint in session.complaints]
    if complaints and node.stash.get(_PASSED, False):
        pytest.fail("\n".join(complaints), pytrace=False)


@pytest.hookimpl(hookwrapper=True)  # the older kind of wrapper: pytest 7 has no other
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, Any, None]:
    """Show what happened in the sessions of a test that fails."""
    outcome = yield
    if (sessions := item.stash.get(_SESSIONS, None)) is not None:
        report = outcome.get_result()
        if call.when == "call":
            item.stash[_PASSED] = report.passed
        if report.failed:
            for session in sessions:
                report.sections.append(("voice session", _shown(session.timeline.splitlines())))


# --- Scenes -----------------------------------------------------------------------------------------------


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Collect a scene."""
    if file_path.name == SCENE or file_path.name.endswith(ENDING):
        return SceneFile.from_parent(parent, path=file_path)
    return None


class SceneFile(pytest.File):
    """A file with a scene in it."""

    def collect(self) -> Iterable[pytest.Item]:
        """Give the one test."""
        yield SceneItem.from_parent(self, name="scene")


class SceneItem(pytest.Item):
    """A scene as a test: it is played once, and passes where all is as expected."""

    def runtest(self) -> None:
        """Play it. Raises `VoiceError` where that cannot be done."""
        from voice.hosts.own import host_maker_of
        from voice.scenes.playing import perform
        from voice.scenes.reading import load_scene

        scene = load_scene(self.path)
        shared = _shared(self.config)
        failed: list[Exception] = []
        make_host = None
        if not scene.agent and scene.recorded is None:
            agent = self.ihook.pytest_voice_agent(path=self.path)
            make_host = None if agent is None else host_maker_of(agent, failed.append)
        played = perform(
            scene,
            make_host=make_host,
            outside=shared.outside,
            whisper=self.config.getoption("scenes_whisper"),
        )
        if failed:
            raise failed[0]
        if played.failures:
            raise NotAsExpected(played)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Tell what is not as expected in words, and what happened around it."""
        from voice.errors import VoiceError

        match excinfo.value:
            case NotAsExpected(played):
                return "\n".join(_told(played))
            case VoiceError() as error:
                return str(error)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Give where it stands, and how it is called in a report."""
        return self.path, None, f"scene {self.path.name}"


class NotAsExpected(Exception):
    """A scene that came out otherwise than it says."""

    __match_args__ = ("played",)

    def __init__(self, played: Played) -> None:
        super().__init__(*played.failures)
        self.played = played


def _told(played: Played) -> Iterator[str]:
    from voice.scenes.telling import in_words, timeline

    yield from (f"NOT MET  {complaint}" for complaint in played.complaints)
    for verdict in sorted(played.verdicts, key=lambda one: one.met):  # what is wrong is first
        yield in_words(verdict).strip()
    yield ""
    yield _shown(list(timeline(played.happened)))


def _shown(lines: list[str]) -> str:
    half = LONGEST_TIMELINE // 2
    if len(lines) > LONGEST_TIMELINE:
        lines = [*lines[:half], f"          … {len(lines) - 2 * half} lines …", *lines[-half:]]
    return "\n".join(lines)
