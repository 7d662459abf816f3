"""The folder that a session is recorded into: sound and lines, written by a thread of their own.

Nothing that is recorded waits for the disk. What is written is in the file at once, so that a recording that
is broken off, also by ``kill -9``, is whole up to its last moments.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Mapping
from pathlib import Path
from queue import Empty, Full, Queue
from typing import Any, BinaryIO

from voice.audio import WAV_HEADER_BYTES, Samples, wav_header
from voice.errors import RecordingError

MICROPHONE, SPEAKER = "microphone.wav", "speaker.wav"
LOG, EVENTS, SCENE = "log.jsonl", "events.jsonl", "scene.yaml"

WAITING_AT_MOST = 3_000
"""Pieces: the frames of half a minute and more, before a disk that hangs ends the recording."""

CLOSED_WITHIN_S = 5.0

_TO_THE_END = 0xFFFF_FFFF
"""The size that a header gives while nobody knows it, and for more than it can say."""


class RecordingFolder:
    """A new or empty folder, and the files in it; nobody but the user can read them.

    Raises `RecordingError` where it is not empty or cannot be made. When writing fails later `failure` says
    so, and nothing more is written.
    """

    def __init__(self, folder: Path) -> None:
        self.failure = ""
        """Why nothing more is written, a sentence; empty while all is well."""
        self._folder = folder
        self._files: dict[str, BinaryIO] = {}
        self._queue: Queue[tuple[str, bytes] | None] = Queue(WAITING_AT_MOST)
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if any(folder.iterdir()):
                raise RecordingError(f"The folder {folder} is not empty.", mend="--record with a new one")
            folder.chmod(0o700)
            for name in (MICROPHONE, SPEAKER, LOG, EVENTS):
                self._files[name] = self._created(name)
            for name in (MICROPHONE, SPEAKER):
                self._files[name].write(wav_header(_TO_THE_END))
        except OSError as error:
            self._close_files()
            why = f"{error.strerror}"
            raise RecordingError(f"Nothing can be recorded into {folder}: {why}.") from error
        self._thread = threading.Thread(target=self._write_all, name="recording", daemon=True)
        self._thread.start()

    def sound(self, name: str, samples: Samples) -> None:
        """Append sound to one of the recordings."""
        self._put(name, samples.astype("<i2").tobytes())

    def line(self, name: str, values: Mapping[str, Any]) -> None:
        """Append a line of JSON."""
        self._put(name, json.dumps(values, ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n")

    def scene(self, text: str) -> None:
        """Write the scene, in the place of an earlier one."""
        self._put(SCENE, text.encode())

    def close(self) -> None:
        """Write what waits, put the lengths into the headers, and close; a disk that hangs is left alone."""
        try:
            self._queue.put(None, timeout=CLOSED_WITHIN_S)
        except Full:
            return
        self._thread.join(CLOSED_WITHIN_S)

    def _put(self, name: str, content: bytes) -> None:
        if self.failure:
            return
        try:
            self._queue.put_nowait((name, content))
        except Full:
            self._fail("the disk does not keep up")

    def _write_all(self) -> None:
        try:
            while (item := self._queue.get()) is not None:
                self._write(*item)
            self._finish()
        except OSError as error:
            self._fail(error.strerror or str(error))
        finally:
            self._close_files()

    def _write(self, name: str, content: bytes) -> None:
        if name == SCENE:
            new = self._folder / f".{SCENE}.new"
            with self._opened(new, os.O_TRUNC) as file:
                file.write(content)
            new.replace(self._folder / SCENE)
        else:
            self._files[name].write(content)

    def _finish(self) -> None:
        for name in (MICROPHONE, SPEAKER):
            file = self._files[name]
            length = file.seek(0, os.SEEK_END) - WAV_HEADER_BYTES
            file.seek(0)
            file.write(wav_header(min(length, _TO_THE_END)))

    def _fail(self, why: str) -> None:
        self.failure = self.failure or f"The recording into {self._folder} has stopped: {why}."
        while True:  # nobody waits for what will not be written
            try:
                self._queue.get_nowait()
            except Empty:
                return

    def _created(self, name: str) -> BinaryIO:
        return self._opened(self._folder / name, os.O_EXCL)

    def _opened(self, path: Path, how: int) -> BinaryIO:
        return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | how, 0o600), "wb", buffering=0)

    def _close_files(self) -> None:
        for file in self._files.values():
            file.close()
