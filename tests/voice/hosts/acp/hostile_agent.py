"""A peer that breaks the rules of ACP in one way: ``hostile_agent.py WAY``. The standard library alone."""

import json
import os
import sys
import time

WAY = sys.argv[1]
out = sys.stdout.buffer


def raw(data):
    out.write(data)
    out.flush()


def send(**message):
    raw(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")


def say(text, session="one"):
    chunk = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}
    send(method="session/update", params={"sessionId": session, "update": chunk})


def garbage():
    raw(b"\x00\xff not JSON\n[1, 2\n\n\x1b[31mred\x1b[0m\n")
    raw(json.dumps([1, 2, 3]).encode() + b"\n" + b'"a text"\nnull\n12\n' + b"[" * 100_000 + b"\n")


def strange():
    """JSON, and no message that anybody could use; and words that are not the session's."""
    say("Not mine.", session="two")
    for message in (
        {"method": 5},
        {"method": ["session/update"]},
        {"method": "session/update"},
        {"method": "session/update", "params": [1]},
        {"method": "session/update", "params": {"sessionId": "one", "update": {"sessionUpdate": "dance"}}},
        {
            "method": "session/update",
            "params": {"sessionId": "one", "update": {"sessionUpdate": "notice", "title": 5}},
        },
        {"method": "session/dance", "params": {}},
        {"method": "_vendor/event", "params": {"a": 1}},
        {"id": [1], "method": "session/request_permission", "params": {}},
        {"id": {"a": 1}, "result": {}},
        {"id": "2", "error": "no"},
        {"id": 3, "error": {"code": "x"}},
        {"id": 4},
        {"id": 99, "result": {}},
    ):
        send(**message)


def asks(method, **params):
    send(id="q", method=method, params=params)
    answer = json.loads(sys.stdin.readline())
    say(json.dumps(answer))


def tool_call(**update):
    """Say that a tool call has begun."""
    send(
        method="session/update",
        params={"sessionId": "one", "update": {"sessionUpdate": "tool_call", "toolCallId": "1", **update}},
    )


def prompted(key):
    if WAY == "garbage":
        garbage()
    elif WAY == "strange":
        strange()
    elif WAY == "long":
        say("x" * 20_000_000)
    elif WAY == "large":
        say("y" * 10_000_000)
    elif WAY == "notice":
        update = {
            "sessionUpdate": "notice",
            "severity": "warning",
            "title": "Low on\nfuel",
            "description": "10 %",
        }
        send(method="session/update", params={"sessionId": "one", "update": update})
    elif WAY == "hang":
        time.sleep(600)
    elif WAY == "die":
        sys.stderr.write("\x1b[31mout of luck\x1b[0m\n")
        sys.stderr.flush()
        raw(b'{"jsonrpc": "2.0", "method": "session/upd')
        os._exit(3)
    elif WAY == "deaf":
        os.close(1)
        time.sleep(600)
    elif WAY == "odd reason":
        send(id=key, result={"stopReason": "boredom"})
        return
    elif WAY == "no result":
        send(id=key, result=None)
        return
    elif WAY == "error":
        send(
            id=key,
            error={"code": -32603, "message": "Internal error", "data": {"details": "the model is gone"}},
        )
        return
    elif WAY == "refusal":
        send(id=key, result={"stopReason": "refusal"})
        return
    elif WAY == "unknown request":
        asks("session/dance")
    elif WAY == "files":
        asks("fs/read_text_file", sessionId="one", path="/etc/passwd")
    elif WAY == "no choices":
        asks("session/request_permission", sessionId="one", toolCall={"toolCallId": "1"}, options=[])
    elif WAY == "bad permission":
        asks("session/request_permission", sessionId="one", options="all")
    elif WAY == "bad form":
        asks(
            "elicitation/create",
            sessionId="one",
            mode="form",
            message="?",
            requestedSchema={"type": "object", "properties": {"a": {"type": "array"}}},
        )
    elif WAY == "address":
        asks(
            "elicitation/create",
            sessionId="one",
            mode="url",
            message="?",
            url="https://example.org",
            elicitationId="1",
        )
    elif WAY == "known call":
        tool_call(title="Tidy up", kind="execute", rawInput={"command": "rm -rf build"})
        choice = {"optionId": "yes", "name": "Yes", "kind": "allow_once"}
        asks("session/request_permission", sessionId="one", toolCall={"toolCallId": "1"}, options=[choice])
    elif WAY == "named alike":
        tool_call(title="Read viva-voce/README.md", status="completed")
        tool_call(title="mcp__viva-voce__narrate", status="completed")
    elif WAY == "meta":
        choice = {"optionId": "yes", "name": "Yes", "kind": "allow_once"}
        asks(
            "session/request_permission",
            sessionId="one",
            toolCall={"toolCallId": "1", "title": "Harmless", "kind": "execute"},
            options=[choice],
            _meta={"tool_call": None, "session_id": 5, "options": []},
        )
    say("All is well.")
    send(id=key, result={"stopReason": "end_turn"})
    if WAY == "twice":
        send(id=key, result={"stopReason": "refusal"})


if WAY == "says nothing":
    time.sleep(600)
if WAY == "ends at once":
    sys.stderr.write("usage: hostile_agent --acp\n")
    sys.exit(2)
if WAY == "talks":
    raw(b"Welcome to the hostile agent!\n> ")
    time.sleep(600)
for line in sys.stdin:
    message = json.loads(line)
    match message.get("method"):
        case "initialize":
            able = message["params"]["clientCapabilities"]
            assert able["session"]["notices"] == {}, able
            send(id=message["id"], result={"protocolVersion": "one" if WAY == "bad hello" else 1})
        case "session/new" if WAY == "takes nothing":
            os.close(0)
            send(id=message["id"], result={"sessionId": "one"})
            time.sleep(600)
        case "session/new":
            send(id=message["id"], result={} if WAY == "no session" else {"sessionId": "one"})
        case "session/prompt":
            prompted(message["id"])
