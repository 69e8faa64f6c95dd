"""Every version of a block, through all that can happen to a file."""

from pathlib import Path

import pytest
from git_repository import GitRepository
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memhub_mcp.domain.revision import Revision
from memhub_mcp.repo.lineage import trace
from memhub_mcp.repo.objects import open_objects
from memhub_mcp.repo.walked import WalkedHistory


@pytest.fixture
def repo(tmp_path: Path) -> GitRepository:
    return GitRepository.create(tmp_path / "repository")


def function(name: str, *body: str) -> str:
    return f"def {name}():\n" + "".join(f"    {line}\n" for line in body or (f"return '{name}'",)) + "\n"


def chain(repo: GitRepository, path: str, marker: str, head: str = "HEAD") -> list[Revision]:
    """The revisions, oldest first, of the lines from the one that holds `marker` to the next blank one."""
    history = WalkedHistory(open_objects(repo.root))
    sha = repo.head(head)
    blob = history.blob(sha, path)
    assert blob is not None
    lines = history.contents.lines(blob) or []
    first = next(number for number, line in enumerate(lines) if marker in line)
    last = next((number for number in range(first, len(lines)) if not lines[number]), len(lines))
    return list(trace(history, sha, path, ((first, last),)))[::-1]


def told(revisions: list[Revision]) -> list[tuple[str, str]]:
    return [(revision.commit, revision.kind.value) for revision in revisions]


def text(repo: GitRepository, revision: Revision) -> str:
    lines = WalkedHistory(open_objects(repo.root)).contents.lines(revision.blob_after) or []
    return "\n".join(line for start, end in revision.after for line in lines[start:end])


def test_only_edits_of_the_block_count(repo: GitRepository) -> None:
    a, b, c, d = (function(name) for name in ("alpha", "beta", "gamma", "delta"))
    first = repo.commit("start", {"app.py": a + b + c + d})
    in_beta = repo.commit("beta", {"app.py": a + function("beta", "x = 1", "return x") + c + d})
    repo.commit("gamma", {"app.py": a + function("beta", "x = 1", "return x") + function("gamma", "pass") + d})
    above = "".join(f"# note {n}\n" for n in range(40)) + "\n"
    repo.commit("above", {"app.py": above + a + function("beta", "x = 1", "return x") + function("gamma", "pass") + d})
    again = repo.commit(
        "beta again", {"app.py": above + a + function("beta", "x = 2", "return x") + function("gamma", "pass") + d}
    )
    repo.commit("delta", {"app.py": above + a + function("beta", "x = 2", "return x") + function("gamma", "pass")})
    found = chain(repo, "app.py", "def beta")
    assert told(found) == [(first, "add"), (in_beta, "modify"), (again, "modify")]
    assert found[-1].after == ((44, 47),)
    assert text(repo, found[1]) == "def beta():\n    x = 1\n    return x"


def test_a_rename_does_not_cut_history(repo: GitRepository) -> None:
    rest = "".join(function(f"other{n}") for n in range(8))
    first = repo.commit("start", {"old dir/ä file.py": rest + function("kept")})
    edited = repo.commit("edit", {"old dir/ä file.py": rest + function("kept", "return 2")})
    (repo.root / "new").mkdir()
    repo.git("mv", "old dir/ä file.py", "new/file.py")
    repo.commit("move")
    after = repo.commit("edit after", {"new/file.py": rest + function("kept", "return 3")})
    found = chain(repo, "new/file.py", "def kept")
    assert told(found) == [(first, "add"), (edited, "modify"), (after, "modify")]
    assert [revision.path for revision in found] == ["old dir/ä file.py"] * 2 + ["new/file.py"]


def test_a_function_that_moves_to_another_file_keeps_its_history(repo: GitRepository) -> None:
    body = ("first = load()", "second = first + 1", "return first, second")
    first = repo.commit("start", {"a.py": function("one") + function("moving", "return 0"), "b.py": function("two")})
    grown = repo.commit("grow", {"a.py": function("one") + function("moving", *body)})
    moved = repo.commit("move", {"a.py": function("one"), "b.py": function("two") + function("moving", *body)})
    found = chain(repo, "b.py", "def moving")
    assert told(found) == [(first, "add"), (grown, "modify"), (moved, "move")]
    assert found[-1].old_path == "a.py"


def test_a_conflict_that_was_resolved_is_a_version(repo: GitRepository) -> None:
    first = repo.commit("start", {"a.py": function("one") + function("two")})
    repo.git("checkout", "-q", "-b", "side")
    side = repo.commit("side", {"a.py": function("one", "return 'side'") + function("two")})
    repo.git("checkout", "-q", "main")
    main = repo.commit("main", {"a.py": function("one", "return 'main'") + function("two")})
    assert not repo.merge("side")
    merge = repo.commit("resolve", {"a.py": function("one", "return 'main and side'") + function("two")})
    assert told(chain(repo, "a.py", "def one")) == [
        (first, "add"),
        (main, "modify"),
        (side, "modify"),
        (merge, "modify"),
    ]
    assert told(chain(repo, "a.py", "def one", "side")) == [(first, "add"), (side, "modify")]
    assert told(chain(repo, "a.py", "def two")) == [(first, "add")]


def test_a_merge_without_conflict_follows_the_side_that_changed_the_block(repo: GitRepository) -> None:
    first = repo.commit("start", {"a.py": function("one") + function("two")})
    repo.git("checkout", "-q", "-b", "side")
    side = repo.commit("side", {"a.py": function("one", "return 'side'") + function("two")})
    repo.git("checkout", "-q", "main")
    repo.commit("main", {"b.py": function("three")})
    assert repo.merge("side")
    assert told(chain(repo, "a.py", "def one")) == [(first, "add"), (side, "modify")]


def test_a_file_that_was_deleted_and_made_again_starts_anew(repo: GitRepository) -> None:
    repo.commit("start", {"a.py": function("one"), "b.py": "b\n"})
    repo.commit("delete", {"a.py": None})
    again = repo.commit("again", {"a.py": function("one")})
    assert told(chain(repo, "a.py", "def one")) == [(again, "add")]


def test_line_endings_and_odd_bytes_do_not_hide_a_block(repo: GitRepository) -> None:
    first = repo.commit("start", {"a.py": b"# caf\xe9\r\n\r\ndef one():\r\n    return 1\r\n"})
    second = repo.commit("edit", {"a.py": b"# caf\xe9\r\n\r\ndef one():\r\n    return 2\r\n"})
    found = chain(repo, "a.py", "def one")
    assert told(found) == [(first, "add"), (second, "modify")]
    assert text(repo, found[0]) == "def one():\n    return 1"


def test_a_file_that_was_binary_before_begins_where_it_became_text(repo: GitRepository) -> None:
    repo.commit("start", {"a.py": b"\0\1\2"})
    became = repo.commit("text", {"a.py": function("one")})
    assert told(chain(repo, "a.py", "def one")) == [(became, "add")]


def test_a_shallow_clone_ends_where_it_ends(repo: GitRepository, tmp_path: Path) -> None:
    for n in range(5):
        repo.commit(f"edit {n}", {"a.py": function("one", f"return {n}")})
    repo.git("clone", "-q", "--depth", "3", f"file://{repo.root}", str(tmp_path / "shallow"))
    found = chain(GitRepository(tmp_path / "shallow"), "a.py", "def one")
    assert [revision.commit for revision in found] == [repo.head("HEAD~2"), repo.head("HEAD~1"), repo.head()]


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(st.data())
def test_in_any_straight_history_the_chain_is_what_git_says(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    repo = GitRepository.create(tmp_path_factory.mktemp("history"))
    lines = [f"line {n}" for n in range(12)]
    for number in range(data.draw(st.integers(2, 6))):
        for _ in range(data.draw(st.integers(1, 3))):
            at = data.draw(st.integers(0, len(lines)))
            gone = data.draw(st.integers(0, 3))
            new = [f"new {number} {data.draw(st.integers(0, 3))}" for _ in range(data.draw(st.integers(0, 3)))]
            lines[at : at + gone] = new
        lines = lines or ["last"]
        repo.commit(f"edit {number}", {"file.txt": "".join(f"{line}\n" for line in lines)})
    first = data.draw(st.integers(1, len(lines)))
    last = data.draw(st.integers(first, len(lines)))
    said = repo.git("log", "--format=%H", "-s", f"-L{first},{last}:file.txt").split()
    history = WalkedHistory(open_objects(repo.root))
    found = [revision.commit for revision in trace(history, repo.head(), "file.txt", ((first - 1, last),))]
    assert found[: len(said)] == said
