"""A scripted model behind Anthropic's Messages API on loopback: it does what the user's message says.

write TEXT        answers with that text
work              answers when `finish` is called
call NAME JSON    calls a tool, and when it has the result says "I see."
"""

import json
import select
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class MessagesModel:
    """The server; `requests` is what the conversation's model was asked, in order, as the JSON bodies."""

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
                self._send(b'{"data": [], "has_more": false}', "application/json")

            do_HEAD = do_GET  # noqa: N815 - the server's name

            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["content-length"])) or b"{}")
                if "count_tokens" in self.path:
                    self._send(b'{"input_tokens": 10}', "application/json")
                elif "/messages" not in self.path:
                    self._send(b"{}", "application/json")
                else:
                    try:
                        said = model.answer(body, self.gone)
                        if said is None:
                            self.close_connection = True
                        elif body.get("stream"):
                            self._send(b"".join(sse(said)), "text/event-stream")
                        else:
                            self._send(json.dumps(message(said)).encode(), "application/json")
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

        class Server(ThreadingHTTPServer):
            def handle_error(self, request, client_address):
                """Whoever asked is gone."""

        self._server = Server(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    def close(self):
        self._server.shutdown()
        self._server.server_close()

    def answer(self, body, gone):
        """What it says to a request; None where the one who asked has gone."""
        if not body.get("tools") or "SUGGESTION MODE" in json.dumps(
            body["messages"][-1]
        ):  # not the conversation
            return [{"type": "text", "text": "A title"}]
        self.requests.append(body)
        last = [sent for sent in body["messages"] if sent["role"] == "user"][-1]
        blocks = (
            last["content"]
            if isinstance(last["content"], list)
            else [{"type": "text", "text": last["content"]}]
        )
        if any(block["type"] == "tool_result" for block in blocks):
            return [{"type": "text", "text": "I see."}]
        text = said_in(last)[-1]
        what, _, rest = text.partition(" ")
        if what == "call":
            name, _, arguments = rest.partition(" ")
            call = {"type": "tool_use", "id": f"toolu_{time.monotonic_ns()}", "name": name}
            return [{**call, "input": json.loads(arguments or "{}")}]
        if what == "work":
            self._working += 1
            try:
                while not self._finish.acquire(timeout=0.01):
                    if gone():
                        return None
            finally:
                self._working -= 1
            return [{"type": "text", "text": "The work is done."}]
        return [{"type": "text", "text": rest if what == "write" else f"You said: {text}"}]

    def finish(self):
        """Let the work be done that it is at; nothing where it is at none."""
        for _ in range(200):  # it may be about to begin
            if self._working:
                self._finish.release()
                return
            time.sleep(0.005)

    @property
    def read(self):
        """The user's messages of the newest request."""
        return [text for sent in self.requests[-1:] for each in sent["messages"] for text in said_in(each)]

    @property
    def told(self):
        """What its calls have given back, over all requests."""
        results = {}
        for request in self.requests:
            for sent in request["messages"]:
                for block in sent["content"] if isinstance(sent["content"], list) else []:
                    if block["type"] == "tool_result":
                        results[block["tool_use_id"]] = json.dumps(block["content"])
        return list(results.values())

    @property
    def listed(self):
        """The tools that the newest request offered."""
        return {tool["name"] for tool in self.requests[-1]["tools"]}


def said_in(sent):
    """What the user wrote in a message; reminders are the adapter's."""
    if sent["role"] != "user":
        return []
    content = sent["content"]
    texts = (
        [content]
        if isinstance(content, str)
        else [block["text"] for block in content if block["type"] == "text"]
    )
    return [text for text in texts if not text.lstrip().startswith("<") and text.strip()]


def message(blocks, **more):
    return {
        "id": f"msg_{time.monotonic_ns()}",
        "type": "message",
        "role": "assistant",
        "model": "claude-scripted",
        "content": blocks,
        "stop_reason": "tool_use" if blocks and blocks[0]["type"] == "tool_use" else "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 10, "output_tokens": 10},
        **more,
    }


def sse(blocks):
    """An answer as a stream: a text in several deltas, a call in one."""
    whole = message(blocks)
    yield event("message_start", message={**whole, "content": [], "stop_reason": None})
    for index, block in enumerate(blocks):
        empty = {**block, "text": ""} if block["type"] == "text" else {**block, "input": {}}
        yield event("content_block_start", index=index, content_block=empty)
        if block["type"] == "text":
            words = block["text"].split(" ")
            for at, word in enumerate(words):
                delta = {"type": "text_delta", "text": word if not at else f" {word}"}
                yield event("content_block_delta", index=index, delta=delta)
        else:
            delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
            yield event("content_block_delta", index=index, delta=delta)
        yield event("content_block_stop", index=index)
    delta = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
    yield event("message_delta", delta=delta, usage={"output_tokens": 10})
    yield event("message_stop")


def event(kind, **fields):
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **fields})}\n\n".encode()
