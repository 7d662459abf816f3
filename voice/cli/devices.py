"""``voice devices``: which microphones and speakers there are."""

from __future__ import annotations

from dataclasses import asdict

import click

from voice.cli.running import tell, tell_json


@click.command()
@click.option("--json", "json_lines", is_flag=True, help="One JSON object a line and device.")
def devices(*, json_lines: bool) -> None:
    """List the microphones and speakers.

    Any part of a name that fits only one of them names it in the settings file: as `microphone` of the
    group [hearing], or `speaker` of [speaking].
    """
    from voice.backends.portaudio import list_devices
    from voice.errors import DeviceError

    found = list_devices()
    if not found:
        raise DeviceError(
            "There is no microphone and no speaker that PortAudio knows.",
            mend="plug one in or start the sound server, and look again: voice devices",
        )
    if json_lines:
        for device in found:
            tell_json(asdict(device))
        return
    for title, kind in (("Microphones", "input"), ("Speakers", "output")):
        tell(title)
        for device in found:
            channels = getattr(device, f"{kind}_channels")
            if channels:
                chosen = "  (default)" if getattr(device, f"is_default_{kind}") else ""
                rate = f"{device.default_rate:g} Hz, {channels} channel{'s' if channels > 1 else ''}"
                tell(f"  {device.name}  {device.host_api}, {rate}{chosen}")
