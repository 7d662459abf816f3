"""A peer that speaks Pi's protocol badly: what it does wrong is in the prompt that it gets."""

import json
import os
import socket
import sys
import threading
import time
from pathlib import Path

if "--version" in sys.argv:
    print(os.environ.get("FAKE_VERSION", "1.6.0"))  # noqa: T201
    sys.exit()

TEN_MB = 10 * 2**20


def say(line):
    text = line if isinstance(line, str) else json.dumps(line)
    sys.stdout.buffer.write(text.encode() + b"\n")
    sys.stdout.buffer.flush()


def bridge():
    folder = Path(os.environ["VIVA_VOICE_BRIDGE"])
    stream = socket.socket(socket.AF_UNIX)
    stream.connect(str(folder / "socket"))
    hello = {
        "type": "hello",
        "version": 1,
        "token": (folder / "token").read_text(),
        "mode": "rpc",
        "busy": False,
    }
    stream.sendall(json.dumps(hello).encode() + b"\n{garbage\n[]\n" + b'{"type": "who knows"}\n')
    for line in stream.makefile():
        said = json.loads(line)
        if "n" in said:
            active = {"type": "active", "n": said["n"], "names": said.get("names", []), "hidden": []}
            stream.sendall(json.dumps(active).encode() + b"\n")


def text(words):
    say({"type": "agent_start"})
    for kind, field in (("text_delta", "delta"), ("text_end", "content")):
        say({"type": "message_update", "assistantMessageEvent": {"type": kind, field: words}})
    say({"type": "agent_end", "messages": []})
    say({"type": "agent_settled"})


overlapping = False
threading.Thread(target=bridge, daemon=True).start()
for line in sys.stdin:
    command = json.loads(line)
    done = {
        "type": "response",
        "id": command.get("id"),
        "command": command["type"],
        "success": True,
        "data": {},
    }
    if command["type"] == "extension_ui_response":
        text(f"the response is {json.dumps(command, sort_keys=True)}")
        continue
    if command["type"] == "get_state" and overlapping:
        overlapping = False
        delta = {"type": "text_delta", "delta": "more"}
        say("\n".join(map(json.dumps, [done, {"type": "agent_start"}])))
        time.sleep(0.2)
        say({"type": "message_update", "assistantMessageEvent": delta})
        say({"type": "agent_end", "messages": []})
        continue
    if command["type"] != "prompt":
        say(done)
        continue
    match command["message"]:
        case "garbage":
            say("this is no JSON")
            say("[1, 2]")
            say('{"no": "type"}')
            say("\x1b[31m\x00")
            say('{"type": "event_of_a_later_version", "and": {"so": "on"}}')
            thought = {"type": "thinking_delta", "delta": "hm"}
            say({"type": "message_update", "assistantMessageEvent": thought})
            say('{"type": "message_end", "message": {"role": "unheard-of"}}')
            say('{"type": "message_update"}')
        case "large":
            say("x" * TEN_MB)
            say({"type": "agent_end", "messages": ["y" * TEN_MB]})
            say({"type": "turn_end", "message": {"text": "z" * TEN_MB}})
        case "hang":
            say(done)
            say({"type": "agent_start"})
            time.sleep(600)
        case "die":
            say(done)
            say({"type": "agent_start"})
            sys.stdout.write('{"type": "message_upd')
            sys.stdout.flush()
            sys.stderr.write("out of memory\n")
            sys.exit(7)
        case "die silently":
            sys.exit(7)
        case "die at once":
            say(done)
            sys.exit(7)
        case "read":
            say(done)
            say({"type": "agent_start"})
            say({"type": "message_end", "message": {"role": "user", "content": "read"}})
            continue
        case "overlap":
            overlapping = True
            say({"type": "agent_start"})
            say({**done, "data": None})
            say({"type": "agent_end", "messages": []})
            continue
        case "twice":
            say({**done, "success": False, "error": "no"})
        case "unknown":
            say(done)
            say({"type": "extension_ui_request", "id": "u1", "method": "hologram", "title": "?"})
            continue
        case "malformed":
            say(done)
            say({"type": "extension_ui_request", "id": "u2", "method": "select", "title": 7, "options": "no"})
            continue
        case "separators":
            say(done)
            sys.stdout.buffer.write(
                '{"type":"agent_start"}\r\n{"type":"message_update","assistantMessageEvent":'
                '{"type":"text_end","content":"one\u2028two"}}\n{"type":"agent_settled"}\n'.encode()
            )
            sys.stdout.buffer.flush()
            continue
    say(done)
    text("still here")
