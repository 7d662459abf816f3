"""``voice journal``: what was said or typed and not delivered."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from voice.cli.running import model_options, remark, run, settings_with, tell, tell_json

if TYPE_CHECKING:
    from voice.journal.entries import Entry
    from voice.journal.store import Store


@click.group(invoke_without_command=True)
@click.pass_context
def journal(context: click.Context) -> None:
    """Show what you said or typed and the agent never got; send, hear or forget it.

    Without a command it lists. Each entry has an id, such as k7fd-3.
    """
    if context.invoked_subcommand is None:
        context.invoke(listed)


@journal.command("list")
@click.option("--json", "as_json", is_flag=True, help="One JSON object an entry.")
@click.option("--all", "everything", is_flag=True, help="What was delivered or is on its way, too.")
def listed(*, as_json: bool = False, everything: bool = False) -> None:
    """List what was not delivered, the oldest first."""
    from voice.journal.dates import when
    from voice.journal.requests import left_alone, told

    store = _opened()
    if store is None:
        remark("voice: nothing is kept.")
        return
    with store:
        found = store.found()
        now = store.now()
    entries = found.entries if everything else found.pending
    for entry in entries:
        if as_json:
            tell_json(entry.as_json(found.running))
        else:
            tell(f"{entry.id}  {told(entry, when(entry.began_at, now))}")
    if not entries:
        remark("voice: nothing is kept.")
    if found.skipped:
        remark(f"voice: {left_alone(found.skipped)}")


@journal.command()
@click.argument("entry_id", metavar="ID")
def play(*, entry_id: str) -> None:
    """Play the sound of an entry."""
    from voice.assembly import make_speaker
    from voice.audio import SAMPLE_RATE, Sound
    from voice.errors import JournalError
    from voice.settings import load_settings

    settings = load_settings().speaking
    with _existing() as store:
        entry = _entry(store, entry_id)
        samples = store.samples(entry.id)
    if not len(samples):
        raise JournalError(f"Of {entry.id} there is no sound.")

    async def main() -> None:
        await make_speaker(settings, heard=True).play(Sound(samples, SAMPLE_RATE).scaled(settings.volume))

    run(main)


@journal.command()
@click.argument("entry_id", metavar="ID")
@model_options
def retry(*, entry_id: str, model: str | None, language: str | None) -> None:
    """Transcribe an entry again; keep and print its text."""
    from voice.assembly import find_weights, make_transcriber
    from voice.errors import JournalError, TranscriberError
    from voice.events import Discarded, DiscardReason, UserMessage
    from voice.journal.sound import KeptMicrophone
    from voice.listening.judging import joined
    from voice.replay import replay

    settings = settings_with(model=model, language=language)
    with _existing() as store:
        entry = _pending(store, entry_id)
        samples = store.samples(entry.id)
        weights = find_weights(settings.transcription)
        texts: list[str] = []

        async def main() -> None:
            async with make_transcriber(settings.transcription, weights) as transcriber:
                async for event in replay(KeptMicrophone(entry.id, samples), transcriber, settings):
                    match event:
                        case UserMessage(text=text):
                            texts.append(text)
                        case Discarded(reason=DiscardReason.NOT_TRANSCRIBED):
                            raise TranscriberError(
                                f"Not all of {entry.id} could be transcribed; it is kept as it was.",
                                mend="voice doctor",
                            )

        run(main)
        if not texts:
            raise JournalError(
                f"No words were found in {entry.id}; it is kept as it was.",
                mend=f"listen to it: voice journal play {entry.id}",
            )
        text = joined(texts)
        if not store.tell(entry.id, text):
            raise JournalError(
                f"{entry.id} was sent or forgotten meanwhile.", mend="see what is left: voice journal list"
            )
    tell(text)


@journal.command()
@click.argument("entry_id", metavar="ID")
def send(*, entry_id: str) -> None:
    """Have the conversation that runs send an entry, or else the next one at its start."""
    from voice.errors import JournalError

    with _existing() as store:
        entry = _pending(store, entry_id)
        if not entry.whole:
            raise JournalError(f"{entry.id} is not transcribed yet.", mend=f"voice journal retry {entry.id}")
        store.ask_to_send(entry.id)
        talking = store.found().talking
    who = f"The conversation in process {talking[0]}" if talking else "No conversation runs: the next one"
    remark(f"voice: {who} sends {entry.id}{'' if talking else ' at its start'}.")


@journal.command()
@click.argument("entry_ids", metavar="ID…", nargs=-1)
@click.option("--all", "everything", is_flag=True, help="All that no running conversation has in its hands.")
def forget(*, entry_ids: tuple[str, ...], everything: bool) -> None:
    """Delete entries, with their sound."""
    from voice.errors import JournalError

    if bool(entry_ids) == everything:
        raise click.UsageError("Name the entries to forget, or say --all.")
    store = _opened()
    if store is None:
        if everything:
            return
        raise JournalError(f"There is no {entry_ids[0]} in the journal.", mend="voice journal list --all")
    with store:
        found = store.found()
        if everything:
            going = [one for one in found.entries if one.over or one.pending(found.running)]
        else:
            going = [_entry(store, entry_id) for entry_id in entry_ids]
        for entry in going:
            if not (entry.over or entry.pending(found.running)):
                raise _on_its_way(entry)
        for entry in going:
            store.forget(entry.id)
    remark(f"voice: {len(going)} forgotten.")


def _opened() -> Store | None:
    """The journal, None where nothing was ever kept."""
    from voice.assembly import journal_folder
    from voice.journal.store import Store

    try:
        return Store(journal_folder(), create=False)
    except FileNotFoundError:
        return None


def _existing() -> Store:
    from voice.errors import JournalError

    store = _opened()
    if store is None:
        raise JournalError("Nothing is kept in the journal.")
    return store


def _entry(store: Store, entry_id: str) -> Entry:
    from voice.errors import JournalError
    from voice.journal.entries import find

    entry = find(store.found().entries, entry_id)
    if entry is None:
        raise JournalError(f"There is no {entry_id} in the journal.", mend="voice journal list --all")
    return entry


def _pending(store: Store, entry_id: str) -> Entry:
    entry = _entry(store, entry_id)
    if not entry.pending(store.found().running):
        raise _on_its_way(entry)
    return entry


def _on_its_way(entry: Entry) -> Exception:
    from voice.errors import JournalError

    how = "was delivered" if entry.over else "is in the hands of a conversation that runs"
    return JournalError(f"{entry.id} {how}.", mend="voice journal list")
