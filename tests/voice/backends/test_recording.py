import os
import struct
import wave

import anyio
import av
import numpy as np
import pytest

from voice.audio import FRAME_SAMPLES, SAMPLE_RATE, Sound
from voice.backends.recording import RecordingMicrophone, read_recording
from voice.backends.wav import as_wav, write_wav
from voice.errors import RecordingError

RNG = np.random.default_rng(7)
NOISE = RNG.integers(-20_000, 20_000, FRAME_SAMPLES * 60, dtype=np.int16)

PCM, FLOAT, ALAW, MULAW = 1, 3, 6, 7


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request):
    return request.param


def tone(rate, seconds=1.2):
    """A rising tone between -1 and 1: two places in it are never alike."""
    t = np.arange(round(rate * seconds)) / rate
    return 0.5 * np.sin(2 * np.pi * (300 + 200 * t) * t)


def as_heard():
    return tone(SAMPLE_RATE) * 32_768


def alike(heard, expected, tolerance=FRAME_SAMPLES):
    """Their correlation; ``heard`` may be longer by less than the tolerance, at either end."""
    longer = len(heard) - len(expected)
    assert 0 <= longer < tolerance
    start = int(np.argmax(np.correlate(heard.astype(float), expected, "valid")))
    return np.corrcoef(heard[start : start + len(expected)], expected)[0, 1]


def wav(
    data,
    *,
    tag=PCM,
    rate=SAMPLE_RATE,
    channels=1,
    bits=16,
    block=None,
    byte_rate=None,
    declared=None,
    before=b"",
    after=b"",
):
    """The bytes of a WAV file whose header says what it is told to say."""
    block = channels * bits // 8 if block is None else block
    byte_rate = rate * block if byte_rate is None else byte_rate
    declared = len(data) if declared is None else declared
    form = struct.pack("<HHIIHH", tag, channels, rate, byte_rate, block, bits)
    body = b"WAVEfmt " + struct.pack("<I", len(form)) + form + before
    body += b"data" + struct.pack("<I", declared) + data + after
    return b"RIFF" + struct.pack("<I", len(body)) + body


def chunk(name, data):
    return name + struct.pack("<I", len(data)) + data + b"\0" * (len(data) % 2)


def encode(path, codec, *, rate, seconds=1.2, **muxer):
    """`tone` through one of FFmpeg's encoders."""
    with av.open(str(path), "w", container_options=muxer) as file:
        stream = file.add_stream(codec, rate=rate, layout="mono")
        frame = av.AudioFrame.from_ndarray(tone(rate, seconds).astype(np.float32)[None, :], "fltp", "mono")
        frame.sample_rate = rate
        context = stream.codec_context
        resampler = av.AudioResampler(context.format, context.layout, rate, frame_size=context.frame_size)
        pieces = [*resampler.resample(frame), *resampler.resample(None)]
        file.mux([packet for piece in [*pieces, None] for packet in stream.encode(piece)])
    return path


def truncate(path, part):
    data = path.read_bytes()
    path.write_bytes(data[: round(len(data) * part)])
    return path


@pytest.fixture
def place(tmp_path):
    """Write bytes to a file."""

    def write(data, name="recording.wav"):
        path = tmp_path / name
        path.write_bytes(data)
        return path

    return write


# What can be heard.


def test_16_khz_mono_arrives_bit_for_bit(place):
    assert np.array_equal(read_recording(place(wav(NOISE.tobytes()))), NOISE)


@pytest.mark.anyio
async def test_the_microphone_gives_the_same_frames_and_waits_for_its_listener(place):
    microphone = RecordingMicrophone(place(wav(NOISE[:-100].tobytes())))
    async with microphone.open() as frames:
        heard = [frame async for frame in frames]
    assert {frame.shape for frame in heard} == {(FRAME_SAMPLES,)}
    assert np.array_equal(np.concatenate(heard)[:-100], NOISE[:-100])
    assert not heard[-1][-100:].any()
    assert microphone.name.endswith("recording.wav")
    assert not microphone.live


@pytest.mark.anyio
async def test_it_can_be_left_in_the_middle_and_heard_again(place):
    microphone = RecordingMicrophone(place(wav(NOISE.tobytes())))
    for _ in range(2):
        async with microphone.open() as frames:
            assert np.array_equal(await anext(frames), NOISE[:FRAME_SAMPLES])


@pytest.mark.parametrize("rate", [8_000, 11_025, 22_050, 44_100, 48_000, 96_000])
def test_any_rate(place, rate):
    samples = (tone(rate) * 32_767).astype("<i2")
    assert alike(read_recording(place(wav(samples.tobytes(), rate=rate))), as_heard()) > 0.999


def test_stereo_is_averaged(place):
    left = (tone(48_000) * 32_767).astype("<i2")
    both = np.stack([left, np.zeros_like(left)], axis=1)
    heard = read_recording(place(wav(both.tobytes(), rate=48_000, channels=2)))
    assert alike(heard, as_heard()) > 0.999
    assert abs(int(heard.max()) - 8_192) < 200


@pytest.mark.parametrize(
    ("tag", "bits", "encoded"),
    [
        (PCM, 8, lambda x: (x * 127 + 128).astype("u1").tobytes()),
        (PCM, 24, lambda x: (x * 8_388_607).astype("<i4").view("u1").reshape(-1, 4)[:, :3].tobytes()),
        (PCM, 32, lambda x: (x * 2_147_483_647).astype("<i4").tobytes()),
        (FLOAT, 32, lambda x: x.astype("<f4").tobytes()),
        (FLOAT, 64, lambda x: x.astype("<f8").tobytes()),
    ],
)
def test_any_kind_of_sample(place, tag, bits, encoded):
    heard = read_recording(place(wav(encoded(tone(SAMPLE_RATE)), tag=tag, bits=bits)))
    assert alike(heard, as_heard()) > 0.999
    assert abs(np.abs(heard).max() - 16_384) < 300


@pytest.mark.parametrize(
    ("name", "codec", "rate"),
    [
        ("mulaw.wav", "pcm_mulaw", 8_000),
        ("alaw.wav", "pcm_alaw", 8_000),
        ("adpcm.wav", "adpcm_ima_wav", 16_000),
        ("speech.flac", "flac", 44_100),
        ("speech.mp3", "libmp3lame", 44_100),
        ("speech.opus", "libopus", 48_000),
        ("speech.ogg", "libopus", 48_000),
        ("speech.webm", "libopus", 48_000),
        ("speech.m4a", "aac", 44_100),
        ("speech.aiff", "pcm_s16be", 22_050),
    ],
)
def test_what_ffmpeg_reads(tmp_path, name, codec, rate):
    heard = read_recording(encode(tmp_path / name, codec, rate=rate))
    assert alike(heard, as_heard(), tolerance=1_600) > 0.98


def test_the_name_does_not_decide_the_kind(tmp_path):
    encode(tmp_path / "speech.flac", "flac", rate=16_000).rename(tmp_path / "speech.wav")
    assert alike(read_recording(tmp_path / "speech.wav"), as_heard()) > 0.999


@pytest.mark.parametrize("declared", [0, 0xFFFF_FFFF, 0x8000_0000, 0x7FFF_F000])
def test_a_wav_from_a_pipe_leaves_its_length_open(place, declared):
    path = place(wav(NOISE.tobytes(), declared=declared))
    assert np.array_equal(read_recording(path), NOISE)


def test_other_chunks_around_the_sound_are_no_lie(place):
    path = place(
        wav(NOISE.tobytes(), before=chunk(b"LIST", b"INFOodd"), after=chunk(b"id3 ", b"x" * 40_001) + b"\0")
    )
    assert np.array_equal(read_recording(path), NOISE)


# What cannot.


def refused(path, *words):
    """Opening it alone raises one sentence that names the file and holds the words."""

    async def only_open():
        async with RecordingMicrophone(path).open():
            pass

    with pytest.raises(RecordingError) as caught:
        anyio.run(only_open)
    assert str(path) in caught.value.sentence
    assert "\n" not in str(caught.value)
    assert caught.value.mend
    for word in words:
        assert word in caught.value.sentence


def test_a_missing_file(tmp_path):
    refused(tmp_path / "nothing.wav", "There is no file")


def test_a_folder(tmp_path):
    refused(tmp_path, "is a folder")


def test_a_pipe(tmp_path):
    os.mkfifo(tmp_path / "pipe.wav")
    refused(tmp_path / "pipe.wav", "is not a regular file")


def test_an_empty_file(place):
    refused(place(b""), "is empty")


@pytest.mark.parametrize(
    "data",
    [
        b"Shall we use PostgreSQL?\n" * 200,
        b"ffconcat version 1.0\nfile other.wav\n",
        b"#EXTM3U\n#EXT-X-TARGETDURATION:9\n#EXTINF:9,\nother.wav\n#EXT-X-ENDLIST\n",
        b"RIFF",
        b"RIFF\x24\0\0\0AVI LIST",
        RNG.bytes(50_000),
    ],
    ids=["prose", "concat", "playlist", "four bytes", "a film", "noise"],
)
def test_what_is_no_recording(place, data):
    place(wav(NOISE.tobytes()), "other.wav")
    refused(place(data), "is not a recording")


def test_a_film_without_sound(tmp_path):
    path = tmp_path / "silent.mp4"
    with av.open(str(path), "w") as file:
        stream = file.add_stream("mpeg4", rate=10)
        stream.width = stream.height = 32
        stream.pix_fmt = "yuv420p"
        image = av.VideoFrame.from_ndarray(np.zeros((32, 32, 3), np.uint8), "rgb24")
        file.mux([packet for piece in (image, None) for packet in stream.encode(piece)])
    refused(path, "no sound track")


@pytest.mark.parametrize(
    ("lie", "words"),
    [
        ({"declared": 2 * len(NOISE.tobytes())}, ("promises 76800 bytes", "38400 are there")),
        ({"declared": 2}, ("leaves out",)),
        ({"rate": 0}, ("0 Hz",)),
        ({"rate": 2_000_000_000, "byte_rate": 4_000_000_000}, ("2000000000 Hz",)),
        ({"channels": 0, "block": 2}, ("0 channels",)),
        ({"channels": 2, "block": 2}, ("2 bytes for 2 samples of 16 bits",)),
        ({"bits": 0, "block": 2}, ("samples of 0 bits",)),
        ({"byte_rate": 96_000}, ("96000 bytes a second",)),
        ({"before": b"LIST\xff\xff\xff\x00" + bytes(8)}, ("LIST",)),
    ],
)
def test_a_wav_header_that_lies(place, lie, words):
    refused(place(wav(NOISE.tobytes(), **lie)), "its header", *words)


def test_a_wav_that_ends_in_its_header(place):
    whole = wav(NOISE.tobytes())
    for length in range(12, 45):
        refused(place(whole[:length]))


def test_a_wav_whose_sound_comes_before_its_format(place):
    refused(place(b"RIFF\x24\0\0\0WAVE" + chunk(b"data", bytes(64))), "before its format")


@pytest.mark.parametrize(
    "sample", [np.nan, np.inf, -np.inf, 1e30, 20_000.0], ids=["nan", "inf", "-inf", "huge", "int16"]
)
@pytest.mark.parametrize("kind", ["<f4", "<f8"])
def test_floats_that_are_no_sound(place, sample, kind):
    samples = tone(SAMPLE_RATE).astype(kind)
    samples[9_000] = sample
    path = place(wav(samples.tobytes(), tag=FLOAT, bits=samples.itemsize * 8))
    with pytest.raises(RecordingError, match=r"after 0\.5\d s .* no numbers that sound can have"):
        read_recording(path)


@pytest.mark.parametrize(
    ("name", "codec", "rate"),
    [
        ("cut.flac", "flac", 16_000),
        ("cut.mp3", "libmp3lame", 16_000),
        ("cut.webm", "libopus", 48_000),
        ("cut.aiff", "pcm_s16be", 16_000),
    ],
)
def test_a_recording_that_is_cut_short_says_what_came_and_what_should_have(tmp_path, name, codec, rate):
    path = truncate(encode(tmp_path / name, codec, rate=rate), 0.5)
    with pytest.raises(RecordingError, match=r"after 0\.\d\d s of 1\.2\d s") as error:
        read_recording(path)
    assert str(path) in error.value.sentence


@pytest.mark.parametrize(("name", "codec"), [("cut.opus", "libopus"), ("cut.m4a", "aac")])
def test_what_can_be_seen_to_be_cut_short_is_refused_on_opening(tmp_path, name, codec):
    refused(truncate(encode(tmp_path / name, codec, rate=48_000), 0.5))


@pytest.mark.parametrize(("name", "codec"), [("damaged.flac", "flac"), ("damaged.opus", "libopus")])
def test_a_damaged_middle_is_not_passed_over(tmp_path, name, codec):
    path = encode(tmp_path / name, codec, rate=48_000, seconds=4)
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 0xFF
    path.write_bytes(data)
    with pytest.raises(RecordingError, match="a part is missing"):
        read_recording(path)


def test_an_mp3_that_does_not_count_its_frames_is_not_held_to_a_guess(tmp_path):
    path = encode(tmp_path / "plain.mp3", "libmp3lame", rate=16_000, write_xing="0")
    assert len(read_recording(truncate(path, 0.5))) > 0


# Writing.


def test_a_written_wav_is_read_back_bit_for_bit(tmp_path):
    path = tmp_path / "said.wav"
    write_wav(path, Sound(NOISE, 22_050))
    with wave.open(str(path)) as file:
        assert file.getparams()[:4] == (1, 2, 22_050, len(NOISE))
        assert file.readframes(len(NOISE)) == NOISE.tobytes()
    assert [entry.name for entry in tmp_path.iterdir()] == ["said.wav"]


def test_a_wav_that_cannot_be_written_leaves_nothing(tmp_path):
    with pytest.raises(RecordingError, match="cannot be written"):
        write_wav(tmp_path / "no-folder" / "said.wav", Sound(NOISE, 22_050))
    with pytest.raises(RecordingError, match="cannot be written"):
        write_wav(tmp_path, Sound(NOISE, 22_050))
    assert not list(tmp_path.iterdir())


def test_a_link_keeps_pointing_where_it_did(tmp_path):
    link = tmp_path / "latest.wav"
    link.symlink_to(tmp_path / "said.wav")
    write_wav(link, Sound(NOISE, 16_000))
    assert link.is_symlink()
    assert np.array_equal(read_recording(tmp_path / "said.wav"), NOISE)


def test_a_name_as_long_as_one_may_be_can_be_written(tmp_path):
    path = tmp_path / f"{'a' * 250}.wav"
    write_wav(path, Sound(NOISE, 16_000))
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("name", [f"{'a' * 260}.wav", "file/said.wav"])
def test_a_name_that_cannot_be_is_a_sentence(tmp_path, name):
    (tmp_path / "file").touch()
    with pytest.raises(RecordingError, match="cannot be written"):
        write_wav(tmp_path / name, Sound(NOISE, 16_000))


def test_a_pipe_is_written_through(tmp_path):
    out, into = os.pipe()
    with os.fdopen(out, "rb") as file:
        write_wav(f"/dev/fd/{into}", Sound(NOISE[:1_000], 16_000))
        os.close(into)
        assert file.read() == as_wav(Sound(NOISE[:1_000], 16_000))


def test_a_chunk_is_named_as_it_is_written(tmp_path):
    path = tmp_path / "lying.wav"
    data = bytearray(as_wav(Sound(NOISE, 16_000)))
    data[16:20] = (1 << 30).to_bytes(4, "little")
    path.write_bytes(data)
    with pytest.raises(RecordingError, match=r"bytes in its chunk fmt and"):
        read_recording(path)
