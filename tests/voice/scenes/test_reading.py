"""Files of scenes: what is understood, and how a fault in one is told."""

from pathlib import Path

import pytest

from voice.errors import SceneError
from voice.events import DiscardReason
from voice.scenes.reading import load_scene, parse_scene, scenes_in
from voice.scenes.script import Noise


def test_what_is_left_out_has_its_default():
    scene = parse_scene("title: Nothing happens")
    assert scene.happens == ()
    assert scene.voice
    assert scene.words == "scripted"
    assert scene.settings.hearing.end_silence_s == 1.6
    assert scene.expect.messages is None


def test_the_short_forms_are_those_of_the_long_ones():
    short = parse_scene(
        "happens: [stop, {sound: white}]\nexpect: {discarded: [echo], no_messages_while: held}"
    )
    long = parse_scene(
        "happens: [{stop: true}, {sound: {kind: white}}]\n"
        "expect: {discarded: [{reason: echo}], no_messages_while: [held]}"
    )
    assert short == long
    assert short.happens[1].sound == Noise(kind="white")
    assert short.expect.discarded[0].reason is DiscardReason.ECHO


def test_a_turn_is_one_step_or_several_or_has_its_time():
    one, several, timed, long = parse_scene(
        "agent:\n"
        "  - writes: Hello.\n"
        "  - [{works: 1}, {writes: Done.}]\n"
        "  - {at: 3, writes: I am back.}\n"
        "  - {after: agent_ended, plus: 1, does: [{narrates: Well}]}\n"
    ).agent
    assert [step.doing for step in one.does] == ["writes"]
    assert [step.doing for step in several.does] == ["works", "writes"]
    assert (timed.at, timed.by_itself, timed.does[0].writes) == (3, True, "I am back.")
    assert (long.after.event, long.plus, long.by_itself) == ("agent_ended", 1, True)
    assert not one.by_itself


@pytest.mark.parametrize("said", ["yes", "no", "on", "off", "4:20", "2026-11-30", "0x10", "1_000"])
def test_what_people_say_stays_what_they_say(said):
    assert parse_scene(f"happens: [{{send: {said}}}]").happens[0].send == said


BOMB = "[" + ", ".join(f"&a{n} [{', '.join([f'*a{n - 1}' if n else 'x'] * 10)}]" for n in range(12)) + "]"
"""Ten of ten of ten … of the same: to visit each of them takes for ever."""


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("titel: x", "scene.yaml line 1: 'titel' is no field; did you mean 'title'?"),
        (
            "title: x\nhapens: []",
            "scene.yaml line 2: 'hapens' is no field; did you mean 'happens'?",
        ),
        (
            "happens:\n- pause: 1\n- sound: {kind: white, dpfs: -3}",
            "scene.yaml line 3: 'dpfs' is no field; did you mean 'dbfs'?",
        ),
        ("agent:\n- - writes: a\n    ovre: 2", "scene.yaml line 3: 'ovre' is no field; did you mean 'over'?"),
        ("expect:\n  between:\n  - form: a", "'form' is no field; did you mean 'from'?"),
        ("happens:\n- pause: -1", "scene.yaml line 2: 'pause' should be greater than or equal to 0"),
        ("happens:\n- {pause: 1, key: F2}", "line 2: pause and key stand in one; say one of say, sound"),
        ("happens:\n- {at: 1}", "line 2: nothing is said to be done; say one of say, sound"),
        ("happens:\n- {at: 1, after: agent_ended, stop: true}", "line 2: at and after are both said"),
        ("happens:\n- {plus: 1, stop: true}", "line 2: plus and within belong to after"),
        ("happens:\n- {send: a, text: b}", "line 2: text belongs to say or sound"),
        (
            "happens:\n- after: mesage_sent\n  stop: true",
            "line 2: 'mesage_sent' is no event that comes in a scene; did you mean 'message_sent'?",
        ),
        ("expect:\n  discarded: [nowords]", "line 2: 'reason' should be 'no_words', 'phantom'"),
        ("expect:\n  latency: {total_s: fast}", "line 2: 'fast' is no bound such as \"<= 2.0\""),
        (
            "expect:\n  latency: {total: 2}",
            "line 2: 'total' should be 'endpoint_s', 'transcribe_s', 'total_s' or 'deliver_s'.",
        ),
        ("happens: soon", "line 1: 'happens' should be a list, and is 'soon'."),
        ("happens:\n- [soon]", "line 2: 'happens' should be fields with values, and is ['soon']."),
        ("happens:\n- say:", "line 2: 'say' has no value."),
        ("happens:\n- key:", "line 2: 'key' has no value."),
        ("happens:\n- fault:", "line 2: 'fault' has no value."),
        ("agent:\n- writes:", "line 2: 'writes' has no value."),
        ("happens:\n- stop: yes", "line 2: 'stop' should be true, and is 'yes'."),
        ("voice: maybe", "line 1: 'voice' should be a valid boolean, and is 'maybe'."),
        ("happens:\n- {pause: 1, over: 2}", "line 2: over belongs to type or send."),
        ("happens:\n- {stop: true, sure: {ran_on: true}}", "line 2: sure belongs to say or sound."),
        ("happens:\n- {sound: white, sure: {ran_on: true}}", "line 2: sure belongs to a text."),
        ("happens:\n- sound: {kind: white, hertz: 50}", "line 2: hertz belongs to tone."),
        ("agent:\n- - {narrates: a, over: 2}", "line 2: over belongs to writes."),
        ("agent:\n- - {writes: a, risky: true}", "line 2: risky belongs to asks."),
        ("agent:\n- asks: {tool: a, expect_error: true}", "line 2: 'expect_error' is no field"),
        ("agent:\n- {plus: 1, writes: a}", "line 2: plus belongs to after."),
        ("agent:\n- {at: 1, after: agent_ended, writes: a}", "line 2: at and after are both said"),
        ("expect:\n  tools:\n  - {at: 1, after: agent_ended, are: []}", "line 3: at and after are both said"),
        ("expect:\n  never: [level_measured]", "line 2: 'level_measured' is no event that comes in a scene."),
        (
            "expect:\n  never: [{event: user_message, txt: yes}]",
            "line 2: 'txt' is no field of user_message; did you mean 'text'?",
        ),
        ("expect:\n  never: [{event: agent_started, by: me}]", "line 2: 'by' is no field of agent_started."),
        (
            "expect:\n  never: [{event: status_changed, status: hering}]",
            "line 2: 'status' is never 'hering'; did you mean 'hearing'?",
        ),
        (
            "expect:\n  never: [{event: user_message, source: mouse}]",
            "line 2: 'source' is never 'mouse'.",
        ),
        (
            "expect:\n  never: [{event: user_message, heard: {from: 1}}]",
            "line 2: 'from' is no field of 'heard'; it has start_s, end_s.",
        ),
        (
            "expect:\n  never: [{event: user_message, utterances: [a]}]",
            "line 2: 'utterances' is no field of user_message; it has text, source,",
        ),
        (
            "expect:\n  never: [{event: tool_called, is_error: yes}]",
            "line 2: 'is_error' is true or false, and never 'yes'.",
        ),
        (
            "expect:\n  never: [{event: notice, sentence: microphone}]",
            "line 2: 'sentence' is a sentence, and never 'microphone': say several words of it.",
        ),
        ("a: &a [*a]", "line 1: 'a' is no field"),
        ("happens: &a [*a]", "line 1: 'happens' should be "),
        (f"title: [{BOMB}]", "line 1: 'title' should be a valid string, and is [[["),
        ("title: a: b", "put texts with ? : , { } [ ] # in quotes"),
        (
            "settings:\n  hearing:\n    end_silence_s: soon",
            "line 3: 'end_silence_s' should be a valid number",
        ),
        (
            "settings: {hearing: {end_silense_s: 1}}",
            "'end_silense_s' is no field; did you mean 'end_silence_s'?",
        ),
        ("happens:\n- say: no-such.wav\n  text: Yes.", "line 2: there is no recording no-such.wav."),
        ("title: a\ntitle: b", "line 2: 'title' stands twice."),
        ("happens: [", "this is not YAML: "),
        ("", "scene.yaml is empty."),
        ("- a\n- b", "scene.yaml holds no scene"),
        ("title: \x07", "scene.yaml is not YAML"),
        ("title: !!python/object:os.system {}", "this is not YAML: could not determine a constructor"),
    ],
)
def test_a_fault_is_told_with_its_line(text, told):
    with pytest.raises(SceneError) as raised:
        parse_scene(text)
    assert told in str(raised.value)


def test_a_field_of_an_event_may_be_what_it_can_be():
    never = parse_scene(
        "expect:\n  never:\n"
        "  - {event: user_message, source: voice, heard: {start_s: 1}, latency: null, confidence: -1}\n"
        "  - {event: tools_changed, names: [narrate]}\n"
        "  - {event: notice, sentence: the microphone}\n"
        "  - {event: frames_lost}\n".replace("frames_lost", "sentence_heard, whole: false, played_s: 0.5")
    ).expect.never
    assert [pattern.event for pattern in never] == [
        "user_message", "tools_changed", "notice", "sentence_heard"
    ]  # fmt: skip


def test_of_several_faults_the_first_is_told_and_the_others_counted():
    with pytest.raises(SceneError, match=r"'a' is no field.*\(1 more after that\)"):
        parse_scene("a: 1\nb: 2")


def test_a_recording_is_looked_for_beside_the_scene_and_needs_its_words(fixtures_folder, tmp_path):
    (tmp_path / "yes.wav").write_bytes((fixtures_folder / "yes.wav").read_bytes())
    file = tmp_path / "scene.yaml"
    file.write_text("happens:\n- say: yes.wav")
    with pytest.raises(SceneError, match=r"line 2: this has no text.*words: whisper"):
        load_scene(file)
    file.write_text("words: whisper\nhappens:\n- say: yes.wav")
    scene = load_scene(file)
    assert scene.path(scene.happens[0].say) == tmp_path / "yes.wav"


def test_scenes_are_looked_for_in_folders(tmp_path):
    for name in ("b.scene.yaml", "deep/a.scene.yaml", "deep/scene.yaml", "other.yaml", "myscene.yaml"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("title: x")
    (tmp_path / "empty").mkdir()
    found = [str(path.relative_to(tmp_path)) for path in scenes_in(tmp_path)]
    assert found == ["b.scene.yaml", "deep/a.scene.yaml", "deep/scene.yaml"]
    assert scenes_in(Path("x.yaml")) == [Path("x.yaml")]
    with pytest.raises(SceneError, match="There is no scene in"):
        scenes_in(tmp_path / "empty")


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda path: None, "There is no file"),
        (lambda path: path.mkdir(), "cannot be read: Is a directory"),
        (lambda path: path.write_bytes(b"title: \xff"), "is not UTF-8"),
    ],
)
def test_a_file_that_cannot_be_read_is_one_sentence(tmp_path, make, told):
    make(tmp_path / "scene.yaml")
    with pytest.raises(SceneError, match=told):
        load_scene(tmp_path / "scene.yaml")
