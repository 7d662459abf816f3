"""Which devices there are now, also while a stream is open: asked of PortAudio in a process of its own.

PortAudio's list is as old as its initialisation, and to make it anew ends every stream. A child has none.
Run as a program it prints the list as one line of JSON, or the error in its place.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict

import anyio

from voice.devices import DeviceInfo
from voice.errors import DeviceError

_LIMIT_S = 10.0
"""What has not answered by then hangs: Python and PortAudio start in half a second."""


async def scan_devices() -> list[DeviceInfo]:
    """The devices that are there now; raises `DeviceError` where there is no answer within 10 s."""
    try:
        with anyio.fail_after(_LIMIT_S):
            command = [sys.executable, "-m", "voice.backends.device_scan"]
            answer = await anyio.run_process(command, check=False, stderr=None)
        told = json.loads(answer.stdout)
    except (OSError, TimeoutError, ValueError):
        raise DeviceError("The sound system does not tell its devices.", mend="voice devices") from None
    if "error" in told:
        raise DeviceError(told["error"], mend=told["mend"])
    return [DeviceInfo(**device) for device in told["devices"]]


def main() -> None:
    """Print the list."""
    from voice.backends.portaudio import list_devices

    told: dict[str, object]
    try:
        told = {"devices": [asdict(device) for device in list_devices()]}
    except DeviceError as error:
        told = {"error": error.sentence, "mend": error.mend}
    sys.stdout.write(json.dumps(told))


if __name__ == "__main__":
    main()
