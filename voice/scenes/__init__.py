"""Scenes: a whole session on one clock, from a file, in virtual time.

A scene is a YAML file, ``scene.yaml`` or ``NAME.scene.yaml``. It says what a person does, what the agent
does, which parts fail, and what must come of it; ``voice replay`` plays it twice and compares. In a program:

    from voice.scenes.playing import perform
    from voice.scenes.reading import load_scene

    played = perform(load_scene(Path("pause.scene.yaml")))
    assert not played.failures
    assert played.messages == ("The second one.",)

All of the session is real, from the frames of the microphone to the agent's tools: the conversation, the
turn-taking, the ears with both stages of the detector, the narrator. Its clock jumps to the next moment at
which something happens, so that a minute takes the machine a second or two.

The fields of a scene, all optional (`voice.scenes.script` has their types):

``title``, ``about``
    what it shows, and where it comes from
``settings``
    as in settings.toml; what is not said has its default, never the user's own value
``words``
    ``scripted`` (unless said): each sound has its ``text``; or ``whisper``
``engine``
    ``scripted`` (unless said): silence as long as each sentence takes; or ``real``
``room``
    ``noise_dbfs``: white noise all the while; ``echo_db``: how loud the microphone hears the speaker, and
    ``echo_delay_s`` later. Without it they do not hear each other.
``names``
    those of the project, which are likely to be said
``recorded``
    the files of a session that was recorded with ``voice chat --record``: ``log``, ``microphone``,
    ``speaker``; then ``words`` and ``engine`` may be ``recorded``, too
``awaits_agent``
    whether the clock stands while an agent of the caller's works through sockets and pipes; true unless said
``voice``, ``screen``
    whether Voice is on at the beginning, and whether there is a screen that asks; both true unless said
``agent``
    a list of turns. The next message begins the next turn, or ``at`` seconds or ``after`` an event (``plus``
    seconds) it begins by itself. A turn is one step, a list of steps, or ``{at: …, does: [steps]}``. Steps:
    ``writes: text`` (``over`` seconds, word by word), ``narrates: text``, ``calls: {tool, arguments,
    expect_error, expect_text}``, ``asks: {tool, arguments, expect_text}`` (needs an answer in its structure;
    ``risky: true`` for a permission), ``works: seconds``, ``fails: sentence`` and ``dies: sentence``. A
    message that comes when all turns are over is taken, and nothing is done. A turn that is never begun is a
    failure of the scene.
``happens``
    a list, in order. Each begins when the one before is over, or ``at`` seconds from the beginning, or
    ``after`` an event (``plus`` seconds later) that has come since the one before it began; one that does not
    come ``within`` 60 s is a failure of the scene. What there is:
    ``say: recording`` with its ``text`` (``…`` in it stands for a pause; ``sure: {average_log_probability,
    no_speech_probability, compression_ratio, ran_on}``; ``gain_db``), ``sound: {kind: white, pink, tone, hum,
    clicks or silence; dbfs, seconds, hertz}`` with a ``text`` that is made up for it, ``pause: seconds``,
    ``hush`` (what sounds breaks off), ``type: text`` (``over`` seconds), ``send: text``, ``key: F2, F3, Esc,
    Enter, Ctrl-C or Ctrl-D``, ``stop``, ``interrupt``, ``voice: on`` or ``off``, ``answer: reply`` to what
    stands on the screen, ``fault: {part, kind, seconds}``: part is transcriber, engine, microphone, speaker,
    host or journal, kind is dies, hangs, errors or slow, and after so many seconds it is mended; without them
    never.
``ends_after``
    so many seconds after the last happening; without it, when 3 s long nothing has happened
``expect``
    ``messages`` (all that the agent accepted, in order), ``waiting`` (what it had not at the end),
    ``discarded`` (all of it, in order: a reason, or ``{reason, text}``), ``kept`` (what is in the journal at
    the end), ``tools: [{at: or after:, are: [names]}]`` (without a time: at the end), ``said`` (in this
    order), ``never_said``, ``notices`` (each is a part of one), ``events`` (in this order), ``never``
    (events), ``no_messages_while`` (a status, or several), ``latency: {endpoint_s, transcribe_s, total_s,
    deliver_s}`` and ``between: [{from, to, seconds}]`` with bounds such as ``"<= 2.0"``, and ``status`` (at
    the end).
    Texts are compared by their words: case and punctuation do not count.

An event is its name, as ``message_sent``, or ``{event: name, field: value}``; the names and fields are those
of `voice.events` in small letters, and ``sentence_begun`` and ``sentence_heard`` of what is spoken. A text of
several words may be a part of the field. Two things that a plain YAML file would take for other values are
texts here: ``yes``, ``no``, ``on`` and ``off``, and times such as ``4:20``.
"""
