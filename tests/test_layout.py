"""The arrows of the house: who may import whom, read from the source."""

import ast
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

# Left may import right, never the other way; names in one row may import each other, but not in a circle.
VOICE = [
    {"cli", "pytest_plugin"},
    {"doctor", "replay", "scenes", "screen", "talk", "calibration"},
    {"assembly"},
    {"chat", "server"},
    {"tools", "testing", "faulty", "checks", "switch"},
    {"keeping", "surroundings"},
    {"autonomous", "hosts", "session", "backends", "settings", "turn_taking", "spoken_presenter"},
    {"ears", "happenings"},
    {"loop"},
    {"floor", "listening", "speaking", "spoken_answers", "spoken_form", "commands", "journal", "reopening"},
    {"statistics"},
    {"events", "ports", "audio", "wording", "phrases", "devices"},
    {"errors", "tasks"},
]
QUESTIONNAIRE = [
    {"cli", "testing"},
    {"checks", "server"},
    {"restrictions", "toolset", "asking", "surface"},
    {"coordinator"},
    {"attention", "limits", "mirrors", "pending", "sockets", "answering"},
    {"presenters", "progress", "remote", "inline"},
    {"contracts", "answers", "composition", "settings"},
    {"model", "display", "tool", "endpoints"},
    {"errors"},
]
PURE = [
    "voice/journal/entries.py",
    "voice/journal/requests.py",
    "voice/backends/portaudio/heartbeat.py",
    "voice/backends/portaudio/holes.py",
    "voice/backends/thread_choice.py",
    "voice/listening/endpointing.py",
    "voice/listening/patience.py",
    "voice/listening/pieces.py",
    "voice/listening/utterances.py",
    "voice/listening/judging.py",
    "voice/listening/detection.py",
    "voice/listening/echo.py",
    "voice/listening/own_voice.py",
    "voice/listening/whose.py",
    "voice/listening/phrases.py",
    "voice/listening/vocabulary.py",
    "voice/listening/mute.py",
    "voice/devices.py",
    "voice/events.py",
    "voice/ports.py",
    "voice/floor.py",
    "voice/scenes/air.py",
    "voice/scenes/expecting.py",
    "voice/scenes/log.py",
    "voice/scenes/patterns.py",
    "voice/scenes/played.py",
    "voice/scenes/script.py",
    "voice/scenes/sentences.py",
    "voice/scenes/telling.py",
    "voice/scenes/wording.py",
    "voice/screen/entries.py",
    "voice/screen/keys.py",
    "voice/screen/rows.py",
    "voice/screen/state.py",
    "voice/commands.py",
    "voice/hosts/acp/remarks.py",
    "voice/hosts/acp/requests.py",
    "voice/hosts/pi/arguments.py",
    "voice/hosts/pi/requests.py",
    "voice/hosts/pi/schemas.py",
    "voice/hosts/pi/turns.py",
    "voice/speaking/once.py",
    "voice/doctor/findings.py",
    "voice/doctor/levels.py",
    "voice/doctor/private.py",
    "voice/doctor/sentences.py",
    "voice/statistics.py",
    "voice/calibration/choosing.py",
    "voice/reopening.py",
    "voice/happenings.py",
    "voice/turn_taking.py",
    "voice/wording.py",
    "voice/spoken_form.py",
    "voice/spoken_answers/grammar.py",
    "voice/spoken_answers/lexicon.py",
    "voice/spoken_answers/naming.py",
    "voice/spoken_answers/reading.py",
    "voice/spoken_answers/reply.py",
    "voice/spoken_answers/spelling.py",
    "voice/speaking/earcons.py",
    "voice/speaking/excerpt.py",
    "voice/speaking/manner.py",
    "voice/speaking/shortening.py",
    "questionnaire/model.py",
    "questionnaire/answers.py",
    "questionnaire/display.py",
    "questionnaire/progress.py",
    "questionnaire/remote.py",
    "questionnaire/surface.py",
    "questionnaire/presenters/pages.py",
    "questionnaire/presenters/flat_forms.py",
    "questionnaire/presenters/requested_forms.py",
    "questionnaire/presenters/terminal/state.py",
    "questionnaire/presenters/terminal/editing.py",
    "questionnaire/presenters/terminal/keys.py",
    "questionnaire/presenters/terminal/keycodes.py",
    "questionnaire/presenters/terminal/hints.py",
    "questionnaire/presenters/terminal/body.py",
    "questionnaire/presenters/terminal/layout.py",
    "questionnaire/presenters/terminal/dialog.py",
    "questionnaire/contracts/repair.py",
    "questionnaire/contracts/entries.py",
    "questionnaire/contracts/telling.py",
    "questionnaire/contracts/choices.py",
    "questionnaire/contracts/form.py",
    "questionnaire/contracts/user_select.py",
]
OUTSIDE = {
    "acp": {"connection"},
    "av": {"recording", "pyttsx3_worker"},  # the second reads what macOS writes
    "ctranslate2": {"whisper_engine"},
    "faster_whisper": {"whisper_engine"},
    "huggingface_hub": {"whisper_models"},
    "mcp": {"server"},
    "onnxruntime": {"silero"},
    "pydantic_ai": {"pydantic_ai"},
    "pytest": {"pytest_plugin"},
    "prompt_toolkit": {"inline", "keyboard", "screen", "terminal"},
    "pulsectl": {"pulse"},
    "pyttsx3": {"pyttsx3_worker"},
    "pywebrtc_audio": {"aec3"},
    "espeakng_loader": {"pyttsx3_worker"},
    "sounddevice": {"starting"},
    "tomlkit": {"writing"},
    "uvicorn": {"server"},
    "wcwidth": {"columns"},
    "webrtcvad": {"webrtc_vad"},
}
CLOCKS = {"time", "datetime"}
WRITES_DATES = {"questionnaire/mirrors.py", "voice/journal/dates.py"}  # of the times they are given
DATED = {"voice/journal/store.py"}  # what is kept is dated for a person, and goes by age


def modules(package):
    return sorted((ROOT / package).rglob("*.py"))


def imports(path):
    """The dotted names that a file imports, wherever in it."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} imports relatively"
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def room(path, package):
    """The part of a package that a file belongs to: its folder, or its own name."""
    return path.relative_to(ROOT / package).parts[0].removesuffix(".py")


@pytest.mark.parametrize(("package", "rows"), [("voice", VOICE), ("questionnaire", QUESTIONNAIRE)])
def test_no_import_goes_against_the_arrows(package, rows):
    row_of = {name: number for number, row in enumerate(rows) for name in row}
    wrong = []
    for path in modules(package):
        here = room(path, package)
        if here.startswith("__"):
            continue
        assert here in row_of, f"{package}/{here} has no place in the plan: give it one"
        for name in imports(path):
            parts = name.split(".")
            if (
                parts[0] == package
                and len(parts) > 1
                and parts[1] in row_of
                and row_of[parts[1]] < row_of[here]
            ):
                wrong.append(f"{path.relative_to(ROOT)} imports {name}")
    assert not wrong


@pytest.mark.parametrize("package", ["voice", "questionnaire"])
def test_there_are_no_circles(package):
    graph = {}
    for path in modules(package):
        name = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        graph[name] = {found for found in imports(path) if found.startswith(f"{package}.") and found != name}
    done, under_way = set(), []

    def visit(name):
        if name in done or name not in graph:
            return
        assert name not in under_way, f"a circle: {' → '.join([*under_way, name])}"
        under_way.append(name)
        for found in sorted(graph[name]):
            visit(found)
        under_way.pop()
        done.add(name)

    for name in sorted(graph):
        visit(name)


def test_questionnaire_knows_nothing_of_voice():
    assert not [
        path for path in modules("questionnaire") for name in imports(path) if name.split(".")[0] == "voice"
    ]


def test_voice_meets_questionnaire_through_its_public_names_in_few_files():
    meeting = {
        str(path.relative_to(ROOT)): name
        for path in modules("voice")
        for name in imports(path)
        if name.split(".")[0] == "questionnaire"
    }
    public = set(ast.literal_eval(_all_of(ROOT / "questionnaire/__init__.py")))
    for module in ("endpoints", "inline", "server", "settings"):
        names = ast.literal_eval(_all_of(ROOT / f"questionnaire/{module}.py"))
        public |= {f"{module}.{name}" for name in names}
    assert {name.removeprefix("questionnaire").lstrip(".") for name in meeting.values()} <= public | {""}
    assert set(meeting) == {
        "voice/autonomous.py",
        "voice/chat.py",
        "voice/checks.py",
        "voice/cli/chatting.py",
        "voice/cli/rehearsal.py",
        "voice/cli/serving.py",
        "voice/hosts/acting.py",
        "voice/hosts/acp/connection.py",
        "voice/hosts/acp/host.py",
        "voice/hosts/acp/offered.py",
        "voice/hosts/acp/program.py",
        "voice/hosts/acp/requests.py",
        "voice/hosts/catalog.py",
        "voice/hosts/demo.py",
        "voice/hosts/demo_chat.py",
        "voice/hosts/pi/__init__.py",
        "voice/hosts/pi/attached.py",
        "voice/hosts/pi/bridge.py",
        "voice/hosts/pi/host.py",
        "voice/hosts/pi/requests.py",
        "voice/hosts/pi/rpc.py",
        "voice/hosts/pi/schemas.py",
        "voice/hosts/pi/screen.py",
        "voice/hosts/pydantic_ai.py",
        "voice/scenes/agent.py",
        "voice/scenes/playing.py",
        "voice/scenes/recorder.py",
        "voice/scenes/screen.py",
        "voice/screen/plain.py",
        "voice/screen/rows.py",
        "voice/screen/talking.py",
        "voice/screen/terminal.py",
        "voice/server.py",
        "voice/talk.py",
        "voice/tools.py",
        "voice/spoken_answers/lexicon.py",
        "voice/spoken_answers/naming.py",
        "voice/spoken_answers/reading.py",
        "voice/spoken_form.py",
        "voice/spoken_presenter/asking.py",
        "voice/spoken_presenter/presenter.py",
        "voice/spoken_presenter/review.py",
        "voice/spoken_presenter/talk.py",
    }


def _all_of(path):
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.Assign) and node.targets[0].id == "__all__":
            return ast.unparse(node.value)
    raise AssertionError(f"{path} has no __all__")


def test_each_outside_library_is_in_one_file():
    wrong = [
        f"{path.relative_to(ROOT)} imports {name}"
        for path in modules("voice") + modules("questionnaire")
        for name in imports(path)
        if path.stem not in OUTSIDE.get(name.split(".")[0], {path.stem})
    ]
    assert not wrong


@pytest.mark.parametrize("path", PURE)
def test_pure_files_import_no_clock_no_event_loop_and_no_outside_library(path):
    allowed = {"numpy", "pydantic", "voice", "questionnaire"}
    for name in imports(ROOT / path):
        top = name.split(".")[0]
        assert top not in CLOCKS | {"anyio", "asyncio", "os", "subprocess", "threading"}, name
        assert top in allowed or top in sys.stdlib_module_names, name


def test_logic_reads_no_wall_clock():
    """Only backends (limits on children and devices, pacing) and the command line know what time it is."""
    wrong = [
        f"{path.relative_to(ROOT)} imports {name}"
        for path in modules("voice") + modules("questionnaire")
        for name in imports(path)
        if name.split(".")[0] in CLOCKS and "backends" not in path.parts and path.name != "cli.py"
        if str(path.relative_to(ROOT)) not in DATED
        if not (str(path.relative_to(ROOT)) in WRITES_DATES and name.split(".")[0] == "datetime")
    ]
    assert not wrong
