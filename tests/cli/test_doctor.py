"""What `doctor` and `workspaces` say about an installation."""

import json
import os

import pytest
from tests.support.git_repository import GitRepository


@pytest.fixture
def repository(tmp_path):
    repository = GitRepository.create(tmp_path / "project")
    repository.commit("Begin with a readme", {"README.md": "# x\n"})
    return repository.root


def findings(reply, name):
    return [check for check in json.loads(reply.stdout)["checks"] if check["name"] == name]


def test_a_healthy_installation_passes(memhub, repository, tmp_path):
    assert not (tmp_path / "memhub").exists()
    empty = memhub("doctor", "--json", cwd=repository)
    assert empty.returncode == 0, empty.stdout
    assert not (tmp_path / "memhub" / "workspaces.db").exists()
    assert os.name != "posix" or (tmp_path / "memhub").stat().st_mode & 0o077 == 0
    memhub("remember", "something", cwd=repository)
    checked = memhub("doctor", "--json", cwd=repository)
    assert json.loads(checked.stdout)["ok"] is True
    assert {check["state"] for check in json.loads(checked.stdout)["checks"]} == {"ok"}
    assert "project: 1 memory" in findings(checked, "store")[-1]["finding"]


@pytest.mark.usefixtures("words_alone")
def test_a_damaged_store_is_named_and_the_others_are_fine(memhub, repository, tmp_path):
    other = GitRepository.create(tmp_path / "other")
    other.commit("Begin")
    memhub("remember", "in the damaged one", cwd=repository)
    memhub("remember", "in the other one", cwd=other.root)
    (file,) = (tmp_path / "memhub" / "workspaces").glob("project-*/memory.db")
    for companion in file.parent.glob("memory.db-*"):
        companion.unlink()
    file.write_bytes(b"not a database, but long enough to look like one" * 100)
    checked = memhub("doctor", cwd=tmp_path)
    assert checked.returncode == 1
    assert "fail  store: project:" in checked.stdout
    assert "ok    store: other: 1 memory" in checked.stdout
    shown = memhub("workspaces", "list", cwd=tmp_path)
    assert shown.returncode == 0
    assert "is damaged" in " ".join(shown.stdout.split())


@pytest.mark.usefixtures("words_alone")
def test_what_the_spool_could_not_read_is_counted(memhub, tmp_path):
    spool = tmp_path / "memhub" / "spool"
    spool.mkdir(parents=True)
    (spool / "0000000000000000001-1-aa.json").write_text("{")
    memhub("list", cwd=tmp_path)
    checked = memhub("doctor", "--json", cwd=tmp_path)
    assert findings(checked, "spool")[0]["state"] == "warn"
    assert "1 captured event could not be read" in findings(checked, "spool")[0]["finding"]


@pytest.mark.skipif(os.name == "nt", reason="modes mean nothing there")
def test_a_home_open_to_others_is_said(memhub, tmp_path):
    (tmp_path / "memhub").mkdir()
    (tmp_path / "memhub").chmod(0o755)
    checked = memhub("doctor", "--json", cwd=tmp_path)
    assert findings(checked, "home")[0]["state"] == "warn"
    assert "chmod 700" in findings(checked, "home")[0]["todo"]


@pytest.mark.usefixtures("words_alone")
def test_the_command_written_for_an_assistant_is_started(memhub, tmp_path):
    memhub("install", "codex", "--yes", cwd=tmp_path)
    good = memhub("doctor", "--json", cwd=tmp_path)
    assert findings(good, "codex")[0]["finding"] == "Codex: installed (user), its command answers"
    assert "/hooks" in findings(good, "codex")[1]["todo"]
    record = tmp_path / "memhub" / "installs.json"
    record.write_text(record.read_text().replace("memhub-mcp", "memhub-gone"))
    broken = memhub("doctor", "--json", cwd=tmp_path)
    assert broken.returncode == 1
    assert "does not answer: No such file" in findings(broken, "codex")[0]["finding"]
    assert findings(broken, "codex")[0]["todo"] == "memhub-mcp install codex --scope user"


@pytest.mark.usefixtures("words_alone")
def test_an_installation_someone_else_removed_is_said(memhub, tmp_path):
    memhub("install", "cursor", "--yes", cwd=tmp_path)
    (tmp_path / "person" / ".cursor" / "mcp.json").write_text("{}\n")
    checked = memhub("doctor", "--json", cwd=tmp_path)
    assert "memhub is no longer in" in findings(checked, "cursor")[0]["finding"]
