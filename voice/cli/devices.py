"""``voice devices``: which microphones and speakers there are, and which of them is taken."""

from __future__ import annotations

from dataclasses import asdict

import click

from voice.cli.running import tell, tell_json
from voice.devices import DeviceInfo, Kind, Pick, pick


@click.command()
@click.option("--json", "json_lines", is_flag=True, help="One JSON object a line and device.")
def devices(*, json_lines: bool) -> None:
    """List the microphones and speakers, and say which would be taken, and why.

    Any part of a name that fits only one of them names it in the settings file: as `microphone` of the
    group [hearing], or `speaker` of [speaking]. In a conversation `/mic` and `/speaker` do.
    """
    from voice.backends.portaudio import list_devices
    from voice.errors import DeviceError
    from voice.settings import load_settings

    settings = load_settings()
    wanted: dict[Kind, str | None] = {
        "input": settings.hearing.microphone,
        "output": settings.speaking.speaker,
    }

    found = list_devices()
    if not found:
        raise DeviceError(
            "There is no microphone and no speaker that PortAudio knows.",
            mend="plug one in or start the sound server, and look again: voice devices",
        )
    taken = {kind: _taken(found, kind, name) for kind, name in wanted.items()}
    if json_lines:
        for index, device in enumerate(found):
            uses = [kind for kind, pick in taken.items() if isinstance(pick, Pick) and pick.index == index]
            tell_json({**asdict(device), "taken_as": uses})
        return
    for kind, title in _TITLES.items():
        tell(title)
        for device in found:
            if device.can(kind):
                channels = device.input_channels if kind == "input" else device.output_channels
                default = "  (default)" if device.is_default(kind) else ""
                rate = f"{device.default_rate:g} Hz, {channels} channel{'s' if channels > 1 else ''}"
                tell(f"  {device.name}  {device.host_api}, {rate}{default}")
        match taken[kind]:
            case str(problem):
                tell(f"  none is taken: {problem}")
            case Pick() as pick:
                tell(f"  taken: {found[pick.index].full_name}: {pick.why}")


_TITLES: dict[Kind, str] = {"input": "Microphones", "output": "Speakers"}


def _taken(devices: list[DeviceInfo], kind: Kind, wanted: str | None) -> Pick | str:
    """What a conversation would take, or why nothing."""
    from voice.errors import DeviceError

    try:
        return pick(devices, kind, wanted, substitute=True)
    except DeviceError as error:
        return str(error)
