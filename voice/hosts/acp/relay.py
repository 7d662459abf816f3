"""The MCP server that an agent starts: it joins its standard input and output to a session's socket.

Run by its path, with the standard library alone, so that it starts at once wherever the agent runs it.
"""

from __future__ import annotations

import os
import socket
import sys
import threading

_BLOCK = 1 << 16


def main(path: str) -> int:
    """Join both until the session ends, or the agent does."""
    with socket.socket(socket.AF_UNIX) as session:
        try:
            session.connect(path)
        except OSError:
            sys.stderr.write("The session that offers these tools has ended.\n")
            return 1

        def send() -> None:
            while block := os.read(0, _BLOCK):
                session.sendall(block)
            session.shutdown(socket.SHUT_WR)

        threading.Thread(target=send, daemon=True).start()
        try:
            while block := session.recv(_BLOCK):
                while block:
                    block = block[os.write(1, block) :]
        except OSError:
            return 1
    return 0


if __name__ == "__main__":
    code = main(sys.argv[1])
    sys.stderr.flush()
    os._exit(code)  # the thread that reads may wait for ever
