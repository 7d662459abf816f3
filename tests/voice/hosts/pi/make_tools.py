"""Writes ``voice/hosts/pi/tools.json``: what the bridge registers while no Python side is there to tell it.

.venv/bin/python tests/voice/hosts/pi/make_tools.py
"""

import json
from pathlib import Path

import voice.hosts.pi
from questionnaire import questionnaire_toolset
from voice.hosts.pi.schemas import described
from voice.tools import NARRATE

SHIPPED = Path(voice.hosts.pi.__file__).with_name("tools.json")


def shipped():
    """What the file must hold."""
    tools = described([*questionnaire_toolset(None).tools(), NARRATE])
    return json.dumps(tools, indent="\t", ensure_ascii=False) + "\n"


if __name__ == "__main__":
    SHIPPED.write_text(shipped(), encoding="utf-8")
