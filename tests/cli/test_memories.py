"""Remembering, finding and forgetting at the terminal."""

import json

import pytest
from tests.support.git_repository import GitRepository

from memhub_mcp.cli.terminal import ago, clean, count_of, size_of, wrap

pytestmark = pytest.mark.usefixtures("words_alone")

ZIRCONIUM = "Deploys go through the blue-green script zirconium-7"


@pytest.fixture
def repository(tmp_path):
    repository = GitRepository.create(tmp_path / "my repo é")
    repository.commit("Raise the retry limit because uploads were cut off", {"retry.py": "LIMIT = 5\n"})
    return repository.root


def test_what_is_remembered_is_recalled_listed_and_shown(memhub, repository):
    stored = memhub("remember", *ZIRCONIUM.split(), "--kind", "decision", "--files", "deploy.sh", cwd=repository)
    assert stored.returncode == 0, stored.stderr
    word, memory_id = stored.stdout.split()
    assert word == "remembered"
    assert ZIRCONIUM in memhub("recall", "zirconium-7", cwd=repository).stdout
    assert memhub("list", cwd=repository).stdout.startswith(f"{ZIRCONIUM}\n  {memory_id} · decision · cli")
    shown = memhub("get", memory_id, cwd=repository).stdout
    assert ZIRCONIUM in shown
    assert "deploy.sh" in shown
    assert "already known as" in memhub("remember", ZIRCONIUM, "--kind", "decision", cwd=repository).stdout


def test_json_is_one_line_with_the_object_the_tools_give(memhub, repository):
    memhub("remember", "-", cwd=repository, stdin="line one\nline two é 🙂\n")
    for words in (["recall", "line two"], ["list"], ["status"], ["workspaces"]):
        reply = memhub(*words, "--json", cwd=repository)
        assert reply.stdout.count("\n") == 1
        assert json.loads(reply.stdout)
    hit = json.loads(memhub("recall", "--json", "line two", cwd=repository).stdout)["hits"][0]
    assert "line one\nline two é 🙂" in hit["preview"]
    one = json.loads(memhub("get", hit["id"], "--json", cwd=repository).stdout)
    assert one["memories"][0]["source"] == "cli"


def test_text_travels_as_utf8_whatever_the_locale_says(memhub, repository):
    latin = {"LC_ALL": "C", "PYTHONIOENCODING": "cp1252", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    stored = memhub("remember", cwd=repository, stdin="release 🎉 ★", **latin)
    assert stored.returncode == 0, stored.stderr
    assert "release 🎉 ★" in memhub("recall", "release", cwd=repository, **latin).stdout


def test_the_home_may_stand_before_or_after_the_verb(memhub, repository, tmp_path):
    home = str(tmp_path / "other home")
    assert memhub("--home", home, "remember", "kept apart", cwd=repository).returncode == 0
    assert "kept apart" in memhub("list", f"--home={home}", cwd=repository).stdout
    assert "kept apart" not in memhub("list", cwd=repository).stdout


def test_a_workspace_can_be_named_from_elsewhere(memhub, repository, tmp_path):
    memhub("remember", "only here", cwd=repository)
    assert "only here" not in memhub("list", cwd=tmp_path).stdout
    assert "only here" in memhub("list", "--workspace", str(repository), cwd=tmp_path).stdout
    assert "only here" in memhub("--workspace", repository.name, "list", cwd=tmp_path).stdout


def test_files_are_named_from_where_one_stands(memhub, repository):
    (repository / "api").mkdir()
    (repository / "api" / "x.py").write_text("A = 1\n")
    stored = memhub("remember", "the api speaks cbor", "--files", "x.py,docs/later.md", cwd=repository / "api")
    _, memory_id = stored.stdout.split()
    assert "files: api/x.py, docs/later.md" in memhub("get", memory_id, cwd=repository).stdout
    for files, where in (("x.py", repository / "api"), ("api", repository), ("api/x.py", repository)):
        assert "cbor" in memhub("recall", "cbor", "--files", files, cwd=where).stdout
    assert "cbor" not in memhub("recall", "cbor", "--files", "x.py", cwd=repository).stdout
    elsewhere = memhub("recall", "cbor", "--files", "api", "--workspace", repository, cwd=repository.parent)
    assert "cbor" in elsewhere.stdout


def test_forget_shows_first_and_erases_only_with_yes(memhub, repository):
    memory_id = memhub("remember", "the marker is quetzalcoatl", cwd=repository).stdout.split()[1]
    shown = memhub("forget", memory_id, cwd=repository)
    assert shown.returncode == 0
    assert "would erase 1 memory" in shown.stdout
    assert "add --yes" in shown.stdout
    assert "confirm=true" not in shown.stdout  # how an assistant says it
    assert "quetzalcoatl" in memhub("list", cwd=repository).stdout
    assert "erased 1 memory" in memhub("forget", memory_id, "--yes", cwd=repository).stdout
    gone = memhub("get", memory_id, cwd=repository)
    assert gone.returncode == 1
    assert gone.stderr.startswith(f"memhub-mcp: no memory {memory_id}")


def test_nothing_relevant_is_no_failure(memhub, repository):
    asked = memhub("recall", "weather on mars", cwd=repository)
    assert asked.returncode == 0
    first, *others = asked.stdout.splitlines()
    assert first == "nothing relevant is known"
    assert " ".join(others).startswith("by words alone, meaning is off: meaning is switched off")


@pytest.mark.parametrize(
    ("words", "stdin"),
    [
        (["remember"], ""),
        (["remember", "-"], "x" * 2_000_000),
        (["remember", "-"], "a\0b"),
        (["remember", "--search-key", "x" * 100_000, "text"], ""),
        (["recall", "--kinds", "gossip", "x"], ""),
        (["recall", "--cursor", "nonsense"], ""),
        (["get", "m_000000000000"], ""),
        (["forget", "m_000000000000", "--yes"], ""),
        (["list", "--workspace", "no such place"], ""),
        (["list", "--home", "/dev/null"], ""),
    ],
)
def test_a_refusal_is_one_sentence_and_1(memhub, repository, words, stdin):
    refused = memhub(*words, cwd=repository, stdin=stdin)
    assert refused.returncode == 1, refused.stdout
    assert refused.stderr.startswith("memhub-mcp: ")
    assert refused.stderr.count("\n") == 1, refused.stderr


def test_text_that_is_not_utf8_is_refused(memhub, repository, environment, tmp_path):
    import subprocess

    from tests.cli.conftest import SCRIPT

    refused = subprocess.run(
        [SCRIPT, "remember"], cwd=repository, env=environment, input=b"caf\xe9", capture_output=True, check=False
    )
    assert refused.returncode == 1
    assert refused.stderr.count(b"\n") == 1


def test_stored_text_cannot_steer_the_terminal(memhub, repository):
    memhub("remember", "-", cwd=repository, stdin="red \x1b[31m alert \u202egnp.exe\x07")
    shown = memhub("list", cwd=repository).stdout
    assert "\\x1b[31m" in shown
    assert not set(shown) & {"\x1b", "\u202e", "\x07"}


def test_lines_are_broken_where_the_terminal_ends():
    assert wrap("one two three", 7) == ["one two", "three"]
    assert wrap("abcdefghij", 4) == ["abcd", "efgh", "ij"]
    assert wrap("  indented text", 10) == ["  indented", "text"]
    assert wrap("記憶の宮殿", 6) == ["記憶の", "宮殿"]
    assert wrap("", 10) == [""]
    assert clean("a\r\nb\tc\x00") == "a\nb\tc\\x00"


def test_ages_and_counts_read_like_speech():
    from datetime import UTC, datetime

    now = datetime(2026, 11, 30, tzinfo=UTC)
    assert ago("2026-11-29T23:59:50Z", now) == "just now"
    assert ago("2026-11-29T22:00:00Z", now) == "2 hours ago"
    assert ago("2025-11-29T22:00:00Z", now) == "1 year ago"
    assert count_of(1, "memory") == "1 memory"
    assert count_of(1204, "memory") == "1,204 memories"
    assert [size_of(size) for size in (12, 12_300, 3_400_000)] == ["12 bytes", "12 kB", "3.4 MB"]
