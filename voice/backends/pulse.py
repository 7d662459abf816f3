"""The devices of a PulseAudio server, or of PipeWire in its place, through ``pulsectl``.

Where there is no such server, or no library that reaches it, nothing here finds anything. PortAudio sees a
server as one device that never changes. Below it the server moves a stream from one microphone to another
whenever one is pulled out or becomes the default, perhaps to what our own speaker plays, and tells nobody
that does not ask: so here it is asked.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from voice.devices import SOUND_SERVER, DeviceInfo, Kind, News

_LOOK_S = 1.0
"""How often the watching thread looks whether it is still wanted."""

_SETTLE_S = 0.05
"""Changes come in bursts: so long after the first one the server is asked what has become of it."""

_CONCERNS = ("server", "source", "source_output")


def devices() -> list[DeviceInfo]:
    """The server's microphones and speakers; none where there is no server, or no way to ask it.

    May take as long as the server does: to be called in a thread that nothing waits for.
    """
    with suppress(_Unknown), _server() as server:
        return list(_devices(server))
    return []


@contextmanager
def led_to(device: DeviceInfo, kind: Kind) -> Iterator[None]:
    """Have what is opened meanwhile be this device of the server, whatever is its default.

    PortAudio cannot name it; the library below it reads the environment whenever it connects.
    """
    variable = "PULSE_SOURCE" if kind == "input" else "PULSE_SINK"
    before = os.environ.get(variable)
    os.environ[variable] = device.id
    try:
        yield
    finally:
        if before is None:
            del os.environ[variable]
        else:
            os.environ[variable] = before


class Watch:
    """Tells what is new about a server's devices, from a thread of its own: first how things stand.

    It costs nothing while nothing happens. Where there is no server, or it ends, None is told, and nothing
    more: the stream itself ends then.
    """

    def __init__(self, tell: Callable[[News | None], None]) -> None:
        self._tell = tell
        self._wanted = True
        threading.Thread(target=self._run, name="pulse", daemon=True).start()

    def close(self) -> None:
        """Tell no more; never waits."""
        self._wanted = False

    def _run(self) -> None:
        with suppress(_Unknown), _server() as server:
            self._listen(server)
        self._tell(None)

    def _listen(self, server: Any) -> None:
        import pulsectl

        happened = settling = False

        def heed(_event: object) -> None:
            nonlocal happened
            happened = True
            if not settling:
                raise pulsectl.PulseLoopStop

        server.event_mask_set(*_CONCERNS)
        server.event_callback_set(heed)
        self._tell(_news(server))
        while self._wanted:
            server.event_listen(timeout=_LOOK_S)
            if happened and self._wanted:
                settling = True
                server.event_listen(timeout=_SETTLE_S)
                happened = settling = False
                self._tell(_news(server))


class _Unknown(Exception):
    """There is no server, or nothing that could ask it."""


@contextmanager
def _server() -> Iterator[Any]:
    if sys.platform != "linux":
        raise _Unknown
    try:
        import pulsectl
    except (ImportError, OSError):  # the second where libpulse is missing
        raise _Unknown from None
    server = pulsectl.Pulse("viva-voce", connect=False)
    try:
        server.connect(autospawn=False)
        yield server
    except (pulsectl.PulseError, pulsectl.PulseDisconnected) as error:
        raise _Unknown from error
    finally:
        server.close()


def _devices(server: Any) -> Iterator[DeviceInfo]:
    defaults = server.server_info()
    for source in server.source_list():
        if not source.monitor_of_sink_name:  # which is what a speaker plays
            yield _described(source, inputs=source.channel_count, default=defaults.default_source_name)
    for sink in server.sink_list():
        yield _described(sink, outputs=sink.channel_count, default=defaults.default_sink_name)


def _described(device: Any, *, inputs: int = 0, outputs: int = 0, default: str) -> DeviceInfo:
    return DeviceInfo(
        name=device.description or device.name,
        host_api=SOUND_SERVER,
        input_channels=inputs,
        output_channels=outputs,
        default_rate=device.sample_spec.rate if hasattr(device, "sample_spec") else 48_000,
        is_default_input=bool(inputs) and device.name == default,
        is_default_output=bool(outputs) and device.name == default,
        id=device.name,
    )


def _news(server: Any) -> News:
    sources = {source.index: source for source in server.source_list()}
    pid = str(os.getpid())
    ours = [
        stream
        for stream in server.source_output_list()
        if stream.proplist.get("application.process.id") == pid and stream.source in sources
    ]
    devices = tuple(_devices(server))
    if not ours:
        return News(devices)
    source = sources[max(ours, key=lambda stream: stream.index).source]
    return News(
        devices,
        source.name,
        source.description or source.name,
        own_sound=bool(source.monitor_of_sink_name),
    )
