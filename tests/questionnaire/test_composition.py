import json
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from questionnaire.composition import PACKAGES, find, load, packages_for, parse
from questionnaire.errors import BadComposition

MODES = """\
version: 3            # another program's
layers:
  feedback: {packages: ["@agimon-ai/po-user-feedback"], skills: [asking]}
  speech:
    packages:
      - voice
  both: {packages: [voice, questionnaire]}
majorMode:
  talk: {description: Hands-free., layers: [feedback, speech]}
  quiet:
    layers: [feedback]
  every: {layers: [both, feedback]}
"""


@pytest.fixture
def project(tmp_path):
    folder = tmp_path / ".po"
    folder.mkdir()
    (folder / "modes.yaml").write_text(MODES)
    return tmp_path


def test_modes_are_composed_from_layers():
    modes = parse(MODES).modes
    assert list(modes) == ["talk", "quiet", "every"]
    assert modes["talk"].description == "Hands-free."
    assert modes["talk"].layers == ("feedback", "speech")
    assert modes["talk"].packages == ("questionnaire", "voice")
    assert modes["quiet"].packages == ("questionnaire",)
    assert modes["quiet"].description == ""
    assert modes["every"].packages == ("voice", "questionnaire")


def test_a_session_loads_exactly_the_packages_of_its_mode(project, monkeypatch):
    monkeypatch.chdir(project)
    assert packages_for("quiet") == {"questionnaire"}
    assert packages_for("talk") == {"questionnaire", "voice"}
    with pytest.raises(BadComposition, match=r'has no mode "loud"; it has: "talk", "quiet", "every"'):
        packages_for("loud")


def test_without_a_mode_a_session_loads_everything_and_needs_no_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert packages_for(None) == set(PACKAGES) == {"questionnaire", "voice"}


def test_the_nearest_file_is_found(project):
    deep = project / "src" / "deep"
    deep.mkdir(parents=True)
    assert find(deep) == project / ".po" / "modes.yaml"
    (deep / ".po").mkdir()
    assert find(deep) == project / ".po" / "modes.yaml", "a folder without the file is passed by"


def test_no_file_at_all(tmp_path):
    with pytest.raises(BadComposition, match=r"There is no \.po/modes\.yaml in"):
        find(tmp_path)
    with pytest.raises(BadComposition, match="cannot be read: No such file"):
        load(tmp_path / "modes.yaml")


@pytest.mark.parametrize(
    ("before", "after", "line", "said"),
    [
        ("- voice", "- vioce", 6, 'the layer "speech" names the unknown package "vioce"'),
        ("- voice", "- [voice]", 6, 'the packages of the layer "speech" hold something that is no name'),
        ("[voice, questionnaire]", "voice", 7, 'the packages of the layer "both" are no list of names'),
        ("both: {packages", "both: {package", 7, 'the layer "both" names no packages'),
        ("  both:", "  speech:", 7, '"speech" stands twice in layers'),
        ("[feedback, speech]", "[feedback, spech]", 9, 'names the unknown layer "spech"; there are:'),
        (", layers: [feedback, speech]", "", 9, 'the major mode "talk" names no layers'),
        ("quiet:\n    layers", "quiet:\n    lairs", 10, 'the major mode "quiet" names no layers'),
        ("speech:\n    packages", "speech:\n    pack", 4, 'the layer "speech" names no packages'),
        ("[feedback, speech]", "[]", 9, 'the major mode "talk" names no layers'),
        ("Hands-free.", "[a]", 9, 'the description of the major mode "talk" is no text'),
        ("quiet:\n    layers: [feedback]", "quiet: [feedback]", 10, 'the major mode "quiet" is no mapping'),
        ("  every:", "  talk:", 12, '"talk" stands twice in majorMode'),
        ("  every:", "  ? [a]\n  :", 12, "a name in majorMode is no text"),
        ("[both, feedback]", "[both, feedback", 12, "this is not YAML"),
        ("version: 3", "version: *none", 1, "this is not YAML"),
        ("version: 3", "version: \x07", 1, "this is not YAML: a character U+0007"),
        ("majorMode:", "layers:", 8, '"layers" stands twice in the file'),
        ("majorMode:", "minorMode:", 1, "this has no majorMode"),
        ("majorMode:", "---\nmajorMode:", 8, "another document"),
    ],
)
def test_a_fault_is_one_sentence_with_its_line(before, after, line, said):
    assert before in MODES
    with pytest.raises(BadComposition) as caught:
        parse(MODES.replace(before, after), "my/modes.yaml")
    sentence = str(caught.value)
    assert sentence.startswith(f"my/modes.yaml, line {line}: ")
    assert said in sentence
    assert sentence.endswith(".")
    assert "\n" not in sentence


@pytest.mark.parametrize("text", ["", "# nothing\n", "- a", "[" * 5000, "layers: &a {x: {packages: *a}}"])
def test_no_composition_at_all(text):
    with pytest.raises(BadComposition, match=r"modes\.yaml, line 1: "):
        parse(text)


def test_what_is_no_text_names_its_line(tmp_path):
    file = tmp_path / "modes.yaml"
    file.write_bytes(b"layers: {}\n\xff\n")
    with pytest.raises(BadComposition, match="line 2: this is not UTF-8"):
        load(file)
    file.write_bytes(b"\xef\xbb\xbf" + MODES.encode())
    assert "talk" in load(file).modes


def test_hostile_names_reach_the_sentence_tamed():
    with pytest.raises(BadComposition) as caught:
        parse(MODES.replace("- voice", '- "\\e[2Jv\\u202e\\nx"'))
    assert '"[2Jv x"' in str(caught.value)


def fault_of(text):
    """The sentence that says what is wrong with a composition, if anything is."""
    try:
        parse(text)
    except BadComposition as error:
        return str(error)
    return ""


@given(st.text(max_size=60))
def test_any_text_is_a_composition_or_one_sentence(text):
    assert "\n" not in fault_of(text)


@pytest.mark.parametrize("number", range(len(MODES.splitlines())))
def test_a_line_that_is_missing_leaves_a_composition_or_one_sentence(number):
    lines = MODES.splitlines()
    fault = fault_of("\n".join(lines[:number] + lines[number + 1 :]))
    assert fault == "" or fault.startswith("modes.yaml, line ")


def test_importing_it_loads_no_yaml():
    script = "import sys, json, questionnaire.composition; print(json.dumps('yaml' in sys.modules))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) is False
