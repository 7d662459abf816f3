"""A scripted model behind an OpenAI-compatible server on loopback: it does what the user's message says.

write TEXT        answers with that text
work              answers when `finish` is called
call NAME JSON    calls a tool, and when it has the result says "I see."
both JSON         calls `user_select` with these arguments, and the gate in the same turn
anything else     is answered with "You said: …"
"""

import json
import select
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Model:
    """The server; `requests` is what it was asked, in order, as the JSON bodies."""

    def __init__(self):
        self.requests = []
        self._finish = threading.Semaphore(0)
        self._working = 0
        model = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def do_GET(self):
                self._send(b'{"data": []}', "application/json")

            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                model.requests.append(body)
                try:
                    said = model.answer(body, self.gone)
                    if said is not None:
                        self._send(b"".join(sse(said)), "text/event-stream")
                except OSError:
                    self.close_connection = True

            def gone(self):
                readable, _, _ = select.select([self.connection], [], [], 0)
                return bool(readable)

            def _send(self, body, kind):
                self.send_response(200)
                self.send_header("content-type", kind)
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    def close(self):
        self._server.shutdown()
        self._server.server_close()

    def answer(self, body, gone):
        """What it says to a request; None where the one who asked has gone."""
        last = body["messages"][-1]
        if last["role"] == "tool":
            return {"text": "I see."}
        what, _, rest = text_of(last).partition(" ")
        if what == "write":
            return {"text": rest}
        if what == "call":
            name, _, arguments = rest.partition(" ")
            return {"call": name, "arguments": arguments or "{}"}
        if what == "both":
            return {"call": "user_select", "arguments": rest, "and": "gate"}
        if what != "work":
            return {"text": f"You said: {text_of(last)}"}
        self._working += 1
        try:
            while not self._finish.acquire(timeout=0.01):
                if gone():
                    return None
        finally:
            self._working -= 1
        return {"text": "The work is done."}

    def finish(self):
        """Let the work be done that it is at; nothing where it is at none."""
        for _ in range(200):  # it may be about to begin
            if self._working:
                self._finish.release()
                return
            time.sleep(0.005)

    @property
    def listed(self):
        """The tools that the newest request offered."""
        return {tool["function"]["name"] for tool in self.requests[-1].get("tools", [])}

    @property
    def read(self):
        """The user's messages, each when it was new."""
        found = []
        for body in self.requests:
            new = []
            for message in body["messages"]:
                if message["role"] == "assistant":
                    new = []
                elif message["role"] == "user":
                    new.append(text_of(message))
            found += new
        return found

    @property
    def told(self):
        """What its calls have given back, in the newest request that has any."""
        for body in reversed(self.requests):
            results = [text_of(message) for message in body["messages"] if message["role"] == "tool"]
            if results:
                return results
        return []


def text_of(message):
    content = message["content"]
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)


def sse(said):
    """An answer as a stream of chunks: a text in several, a call in one."""
    if "call" in said:
        wanted = [(said["call"], said["arguments"]), *([(said["and"], "{}")] if "and" in said else [])]
        calls = [
            {
                "index": index,
                "id": f"call_{time.monotonic_ns()}_{index}",
                "type": "function",
                "function": {"name": name, "arguments": arguments},
            }
            for index, (name, arguments) in enumerate(wanted)
        ]
        deltas, reason = [{"role": "assistant", "tool_calls": calls}], "tool_calls"
    else:
        words = said["text"].split(" ")
        deltas = [{"content": word if not at else f" {word}"} for at, word in enumerate(words)]
        reason = "stop"
    for delta in deltas:
        yield chunk({"index": 0, "delta": delta, "finish_reason": None})
    yield chunk({"index": 0, "delta": {}, "finish_reason": reason})
    yield b"data: [DONE]\n\n"


def chunk(choice):
    body = {
        "id": "1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "fake-1",
        "choices": [choice],
    }
    return f"data: {json.dumps(body)}\n\n".encode()
