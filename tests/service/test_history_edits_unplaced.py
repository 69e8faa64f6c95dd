"""Edits of which a transcript tells only what they replaced and by what: found by their text, or not told at all."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from git_repository import GitRepository
from transcript_lines import write_lines

from memhub_mcp.bootstrap import open_hub
from memhub_mcp.capture.edits import changes_of
from memhub_mcp.capture.events import edit_from_json
from memhub_mcp.capture.records import Circumstances, edit_record
from memhub_mcp.domain.scope import Caller
from memhub_mcp.service.edits import record_edit
from memhub_mcp.service.hub import Hub
from memhub_mcp.settings import load_settings

START = datetime.fromtimestamp(1_700_000_030, UTC)  # half a minute after a commit

CLIENT = """\
import time


def start(client):
    client.open()
    return client


def send(client, message):
    client.write(message)
    return client.read()


def stop(client):
    client.close()
    return client
"""


class Transcript:
    """A session whose edits are told by their strings or patches; the files are changed by hand."""

    def __init__(self, hub: Hub, repo: GitRepository) -> None:
        self.hub = hub
        self.repo = repo
        self.caller = Caller(source="test", cwd=repo.root, roots=(repo.root,))
        self.calls = 0

    def tell(
        self,
        said: str,
        minute: float,
        tool: str = "Edit",
        *,
        result: object = None,
        hook: bool = False,
        **given: Any,
    ) -> None:
        """One call of `tool`; a `hook` sees the file and does not know the call."""
        if "path" in given:
            given["file_path"] = str(self.repo.root / given.pop("path"))
        self.calls += 1
        circumstances = Circumstances(
            tool=tool,
            source="cursor",
            time=(START + timedelta(minutes=minute)).isoformat(),
            session="s1",
            tool_call=None if hook else f"call-{self.calls}",
            cwd=str(self.repo.root),
            said=said,
        )
        read = (lambda path: Path(path).read_text(encoding="utf-8")) if hook else None
        for number, change in enumerate(changes_of(tool, given, result, read)):
            event = edit_from_json(edit_record(change, circumstances, ordinal=number))
            assert record_edit(self.hub.scopes, self.hub.capturing, event)

    def replace(self, said: str, minute: float, old: str, new: str, **given: Any) -> None:
        self.tell(said, minute, path="client.py", old_string=old, new_string=new, **given)

    def patch(self, said: str, minute: float, *lines: str) -> None:
        self.tell(said, minute, "apply_patch", input="\n".join(["*** Begin Patch", *lines, "*** End Patch"]))

    def versions(self, symbol: str | None = "send", path: str = "client.py") -> list[dict[str, Any]]:
        self.hub.indexing.index(self.hub.scopes.resolve(self.caller))
        (chain,) = self.hub.history.code_history(self.caller, path=path, symbol=symbol)["chains"]
        return chain["versions"]

    def said(self, symbol: str | None = "send", path: str = "client.py") -> list[tuple[str | None, bool]]:
        """The words of each version, and whether a commit has it."""
        return [(line.get("said"), "commit" in line) for line in self.versions(symbol, path)]


@pytest.fixture
def repo(tmp_path: Path) -> GitRepository:
    repo = GitRepository.create(tmp_path / "repository")
    repo.commit("Start", {"client.py": CLIENT})  # minute 1
    return repo


@pytest.fixture
def transcript(tmp_path: Path, repo: GitRepository) -> Iterator[Transcript]:
    hub = open_hub(load_settings(home=tmp_path / "home", environ={}, cwd=tmp_path))
    yield Transcript(hub, repo)
    hub.close()


def test_a_committed_edit_is_the_request_behind_its_commit(repo: GitRepository, transcript: Transcript) -> None:
    transcript.replace("wait for the answer", 1, "client.read()", "client.read(timeout=30)")
    repo.commit("Wait", {"client.py": CLIENT.replace("client.read()", "client.read(timeout=30)")})
    assert transcript.said("send") == [(None, True), ("wait for the answer", True)]
    assert transcript.said("start") == transcript.said("stop") == [(None, True)]


def test_an_edit_overwritten_before_any_commit_stays_a_version(repo: GitRepository, transcript: Transcript) -> None:
    transcript.replace("poll for it", 1, "return client.read()", "return client.poll()")
    repo.commit("Wait", {"client.py": CLIENT.replace("client.read()", "client.read(timeout=30)")})
    tried = transcript.versions()[1]
    assert transcript.said() == [(None, True), ("poll for it", False), (None, True)]
    assert "-    return client.read()" in tried["code"]
    assert "+    return client.poll()" in tried["code"]


def test_edits_of_the_same_lines_follow_one_another(repo: GitRepository, transcript: Transcript) -> None:
    transcript.replace("poll", 1, "return client.read()", "return client.poll()")
    transcript.replace("no, wait", 1.1, "return client.poll()", "return client.wait(1)")
    transcript.replace("longer", 1.2, "client.wait(1)", "client.wait(60)")
    repo.commit("Wait", {"client.py": CLIENT.replace("client.read()", "client.wait(60)")})
    assert transcript.said() == [(None, True), ("poll", False), ("no, wait", False), ("longer", True)]
    assert "+    return client.wait(1)" in transcript.versions()[2]["code"]


def test_an_edit_of_what_someone_wrote_meanwhile_is_found_by_its_result(
    repo: GitRepository, transcript: Transcript
) -> None:
    transcript.replace("name it", 1, "return client.answer()", "return client.named_answer(name)")
    transcript.replace("by its title", 1.1, "named_answer(name)", "named_answer(title)")
    repo.commit("Name", {"client.py": CLIENT.replace("client.read()", "client.named_answer(title)")})
    assert transcript.said() == [(None, True), ("name it", False), ("by its title", True)]


def test_a_text_that_stands_twice_places_nothing(repo: GitRepository, transcript: Transcript) -> None:
    transcript.replace("nothing", 1, "return client\n", "return None\n")
    repo.commit("None", {"client.py": CLIENT.replace("return client\n", "return None\n")})
    assert transcript.said("start") == transcript.said("stop") == [(None, True), (None, True)]


def test_what_was_replaced_everywhere_stands_at_every_place(repo: GitRepository, transcript: Transcript) -> None:
    transcript.replace("nothing", 1, "return client\n", "return None\n", replace_all=True)
    repo.commit("None", {"client.py": CLIENT.replace("return client\n", "return None\n")})
    assert transcript.said("start") == transcript.said("stop") == [(None, True), ("nothing", True)]
    assert transcript.said("send") == [(None, True)]


def test_a_short_result_alone_places_nothing(repo: GitRepository, transcript: Transcript) -> None:
    transcript.replace("spell it", 1, "organise", "close")  # elsewhere, long ago: `close` stands here by chance
    repo.commit("Wait", {"client.py": CLIENT.replace("client.close()", "client.close(now=True)")})
    assert transcript.said("stop") == [(None, True), (None, True)]


def test_what_no_commit_has_yet_is_told(repo: GitRepository, transcript: Transcript) -> None:
    transcript.replace("wait for it", 1, "client.read()", "client.read(timeout=30)")
    repo.write("client.py", CLIENT.replace("client.read()", "client.read(timeout=30)"))
    version = transcript.versions()[-1]
    assert transcript.said() == [(None, True), ("wait for it", False)]
    assert (version["current"], version["uncommitted"]) == (True, True)


def test_windows_line_ends_are_line_ends(repo: GitRepository, transcript: Transcript) -> None:
    old = repo.commit("Windows", {"client.py": CLIENT.replace("\n", "\r\n")})  # minute 2
    transcript.replace("log", 2, "    client.write(message)\n", "    log(message)\n    client.write(message)\n")
    new = CLIENT.replace("    client.write", "    log(message)\n    client.write")
    repo.commit("Log", {"client.py": new.replace("\n", "\r\n")})
    assert transcript.said()[-1] == ("log", True)
    assert transcript.versions()[-2]["commit"] == old[:12]


def test_a_formatter_may_have_indented_the_lines(repo: GitRepository, transcript: Transcript) -> None:
    transcript.replace(
        "check it", 1, "client.look()\n", "if message is None:\nraise ValueError(message)\nclient.write(message)\n"
    )
    checked = "    if message is None:\n        raise ValueError(message)\n    client.write(message)\n"
    repo.commit("Check", {"client.py": CLIENT.replace("    client.write(message)\n", checked)})
    assert transcript.said() == [(None, True), ("check it", True)]


def test_a_patch_of_several_places_touches_only_what_it_changed(repo: GitRepository, transcript: Transcript) -> None:
    transcript.patch(
        "time it",
        1,
        "*** Update File: client.py",
        "@@ def start(client):",
        " def start(client):",
        "-    client.open()",
        "+    client.open(time.time())",
        "     return client",
        " ",
        " ",
        " def send(client, message):",
        "@@",
        " def stop(client):",
        "-    client.close()",
        "+    client.close(time.time())",
    )
    repo.commit(
        "Time",
        {"client.py": CLIENT.replace("open()", "open(time.time())").replace("close()", "close(time.time())")},
    )
    assert transcript.said("start") == transcript.said("stop") == [(None, True), ("time it", True)]
    assert transcript.said("send") == [(None, True)]


def test_a_patch_that_moves_its_file_is_behind_the_rename(repo: GitRepository, transcript: Transcript) -> None:
    transcript.patch(
        "move and wait",
        1,
        "*** Update File: client.py",
        "*** Move to: lib/client.py",
        "@@",
        "     client.write(message)",
        "-    return client.read()",
        "+    return client.read(timeout=30)",
    )
    repo.commit(
        "Move", {"client.py": None, "lib/client.py": CLIENT.replace("client.read()", "client.read(timeout=30)")}
    )
    assert transcript.said("send", "lib/client.py") == [(None, True), ("move and wait", True)]


def test_a_file_that_a_patch_wrote_deleted_and_wrote_again(repo: GitRepository, transcript: Transcript) -> None:
    transcript.patch("write it", 1, "*** Add File: new.py", "+def fresh():", "+    return 1")
    transcript.patch(
        "one more", 1.1, "*** Update File: new.py", "@@", " def fresh():", "-    return 1", "+    return 2"
    )
    transcript.patch("away with it", 1.2, "*** Delete File: new.py")
    transcript.patch("write it anew", 1.3, "*** Add File: new.py", "+def fresh():", "+    return 3")
    repo.commit("Add", {"new.py": "def fresh():\n    return 3\n"})
    assert transcript.said("fresh", "new.py") == [("write it", False), ("one more", False), ("write it anew", True)]


def test_a_diff_with_line_numbers_is_found_by_its_lines(repo: GitRepository, transcript: Transcript) -> None:
    shown = {"oldStart": 9, "oldLines": 2, "newStart": 9, "newLines": 2}
    lines = [" def send(client, message):", "-    client.write(message)", "+    client.write(message.encode())"]
    transcript.replace(
        "encode", 1, "message)\n", "message.encode())\n", result={"structuredPatch": [{**shown, "lines": lines}]}
    )
    repo.commit("Encode", {"client.py": CLIENT.replace("write(message)", "write(message.encode())")})
    assert transcript.said() == [(None, True), ("encode", True)]


def test_a_hook_and_a_transcript_that_tell_of_one_edit_count_once(repo: GitRepository, transcript: Transcript) -> None:
    old, new = "return client.read()", "return client.poll()"
    repo.write("client.py", CLIENT.replace(old, new))
    transcript.replace("poll", 1, old, new, hook=True)
    transcript.replace("poll", 1.1, old, new)
    repo.commit("Wait", {"client.py": CLIENT.replace("client.read()", "client.read(timeout=30)")})
    assert transcript.said() == [(None, True), ("poll", False), (None, True)]
    assert len(transcript.versions()[1]["edits"]) == 1


def test_a_rollout_of_codex_tells_who_asked_for_a_commit(
    repo: GitRepository, transcript: Transcript, tmp_path: Path
) -> None:
    patch = ["*** Begin Patch", "*** Update File: client.py", "@@ def send", "-    return client.read()"]
    patch += ["+    return client.read(timeout=30)", "*** End Patch"]
    call = {"type": "custom_tool_call", "call_id": "c1", "name": "apply_patch", "input": "\n".join(patch)}
    said = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "wait half a minute"}]}
    done = {"type": "custom_tool_call_output", "call_id": "c1", "output": "Success."}
    lines = [
        ("session_meta", {"id": "r1", "cwd": str(repo.root)}),
        *(("response_item", each) for each in (said, call, done)),
    ]
    time = (START + timedelta(minutes=1)).isoformat()
    file = write_lines(
        tmp_path / "rollout-1.jsonl", *({"timestamp": time, "type": kind, "payload": each} for kind, each in lines)
    )
    repo.commit("Wait", {"client.py": CLIENT.replace("client.read()", "client.read(timeout=30)")})
    assert transcript.hub.importing.import_file(transcript.caller, file)["edits"] == 1
    assert transcript.said() == [(None, True), ("wait half a minute", True)]
