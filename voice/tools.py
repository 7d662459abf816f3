"""The tool that Voice gives to an agent: `narrate`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from questionnaire import FunctionToolset, Tool, ToolResult, Toolset
from voice.errors import VoiceError
from voice.events import NarrationEnded, NarrationEnding

LONGEST_TEXT = 4_096
"""Characters, counted as the JSON Schema counts them."""

NARRATE = Tool(
    "narrate",
    "Speak a text aloud to the user, and wait until it has been heard. While Voice is on this is how you ask"
    " a question: narrate it, with its options if it has any, then end your turn; the user's reply arrives as"
    " an ordinary user message. Write as one speaks: short sentences, no Markdown, no code, no long paths.",
    {
        "type": "object",
        "properties": {
            "text": {
                "type": "string",
                "minLength": 1,
                "maxLength": LONGEST_TEXT,
                "description": "What to say.",
            }
        },
        "required": ["text"],
        "additionalProperties": False,
    },
)

_TEXTS = {
    NarrationEnding.COMPLETED: "Narration completed.",
    NarrationEnding.INTERRUPTED: "Narration interrupted: the user stopped it after {played:.1f} s.",
    NarrationEnding.SUPERSEDED: "Narration superseded after {played:.1f} s: something newer came.",
    NarrationEnding.FAILED: "Narration failed ({notice}). The user has it on screen; do not repeat it.",
}


def voice_toolset(speak: Callable[[str], Awaitable[NarrationEnded]]) -> Toolset:
    """The tools that need Voice. `narrate` is always listed, and refuses while Voice is off.

    ``speak`` speaks a text and returns how that ended; it raises `VoiceError` where Voice is off. Texts that
    come at once are spoken one after the other.
    """

    async def narrate(arguments: Mapping[str, Any]) -> ToolResult:
        if (problem := _problem_with(arguments)) is not None:
            return _refusal("invalid_arguments", f"narrate: {problem} Nothing was said.")
        try:
            return _result(await speak(arguments["text"]))
        except VoiceError as error:
            return _refusal("voice_not_active", f"{error.sentence} Write to the user instead.")

    return FunctionToolset((NARRATE, narrate))


def _problem_with(arguments: Mapping[str, Any]) -> str | None:
    if unknown := sorted(set(arguments) - {"text"}):
        return f"it takes text and nothing else, and {', '.join(unknown)} came."
    text = arguments.get("text")
    if not isinstance(text, str):
        return 'it takes a text, for example {"text": "Shall I go on?"}.'
    if not text.strip():
        return "the text is empty."
    if len(text) > LONGEST_TEXT:
        return f"the text has {len(text)} characters, and {LONGEST_TEXT} are the most; say it in parts."
    return None


def _result(ended: NarrationEnded) -> ToolResult:
    return ToolResult(
        _TEXTS[ended.ending].format(played=ended.played_s, notice=ended.notice),
        {"status": ended.ending.value, "played_s": round(ended.played_s, 3)},
        is_error=ended.ending is NarrationEnding.FAILED,
    )


def _refusal(code: str, sentence: str) -> ToolResult:
    return ToolResult(sentence, {"error": code}, is_error=True)
