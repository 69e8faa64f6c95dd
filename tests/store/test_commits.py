"""The commit index gives back what git said, by id, path, patch and words."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memhub_mcp.domain.revision import ChangeKind, Commit, FileChange, Hunk
from memhub_mcp.store.file import Store
from memhub_mcp.store.packing import pack_hunks, unpack_hunks

START = datetime(2020, 1, 1, tzinfo=UTC)
NUMBER = st.integers(0, 2**40)


def change(path: str, kind: ChangeKind = ChangeKind.MODIFY, old_path: str | None = None) -> FileChange:
    return FileChange(
        path=path,
        old_path=old_path,
        kind=kind,
        blob_before="aa" * 20,
        blob_after=None if kind is ChangeKind.DELETE else "bb" * 20,
        hunks=(Hunk(1, 0, 1, 300), Hunk(70_000, 2, 70_300, 0)),
    )


def commit(number: int, *changes: FileChange, message: str = "") -> Commit:
    return Commit(
        sha=f"{number:040x}",
        parents=(f"{number - 1:040x}",),
        author="Ada Lovelace",
        authored_at=START,
        committed_at=START + timedelta(days=number),
        message=message or f"Change number {number}\n\nBody.",
        patch_id=f"patch{number % 10}",
        changes=changes,
        patch="+line\n" * number,
    )


def index(store: Store, *commits: Commit, redaction: int = 1) -> None:
    with store.write() as tx:
        fields = [{"message": c.message.lower().split(), "name": [f.path for f in c.changes]} for c in commits]
        store.commits.add(tx, list(zip(commits, fields, strict=True)), redaction=redaction)


def numbers(commits: list[Commit]) -> list[int]:
    return [int(found.sha, 16) for found in commits]


def test_a_commit_comes_back_whole_and_indexing_twice_changes_nothing(store: Store) -> None:
    original = replace(
        commit(1, change("a.py"), change("new name.py", ChangeKind.RENAME, "caf\udce9.py")), note="exact renames only"
    )
    index(store, original)
    index(store, replace(original, message="another message"))
    found = store.commits.get(original.sha)
    assert found == replace(
        original, changes=(original.changes[0], replace(original.changes[1], old_path="caf\\xe9.py"))
    )
    assert store.commits.count() == 1
    assert store.commits.known([original.sha, "f" * 40]) == {original.sha}


@given(st.lists(st.builds(Hunk, NUMBER, NUMBER, NUMBER, NUMBER)))
def test_hunks_of_any_size_come_back(hunks: list[Hunk]) -> None:
    assert unpack_hunks(pack_hunks(hunks)) == tuple(hunks)


def test_a_prefix_is_enough_while_it_is_unique(store: Store) -> None:
    index(store, replace(commit(1), sha="abc1" + "0" * 36), replace(commit(2), sha="abc2" + "0" * 36))
    found = store.commits.get("ABC1")
    assert found is not None
    assert found.sha.startswith("abc1")
    assert store.commits.get("abc") is None
    assert store.commits.get("abd") is None
    assert store.commits.get("%") is None


def test_a_path_is_followed_back_through_its_renames(store: Store) -> None:
    index(
        store,
        commit(9, change("other.py")),
        commit(8, change("b.py")),
        commit(7, change("a.py", ChangeKind.ADD)),
        commit(6, change("b.py"), change("c.py")),
        commit(5, change("b.py", ChangeKind.RENAME, "a.py")),
        commit(4, change("a.py")),
        commit(3, change("a.py", ChangeKind.RENAME, "b.py")),
        commit(2, change("b.py")),
        commit(1, change("b.py", ChangeKind.ADD)),
    )
    assert numbers(store.commits.by_path("b.py", 20)) == [8, 6, 5, 4, 3, 2, 1]
    assert numbers(store.commits.by_path("b.py", 2)) == [8, 6]
    assert numbers(store.commits.by_path("b.py", 2, before=f"{6:040x}")) == [5, 4]
    assert numbers(store.commits.by_path("c.py", 20)) == [6]
    assert store.commits.by_path("missing.py", 20) == []


def test_commits_are_found_by_words(store: Store) -> None:
    index(store, commit(1, message="fix the retry limit"), commit(2, message="drop the cache"))
    [match] = store.commits.search(["retry", "limit"], 5)
    assert store.commits.get_many([match.seq])[match.seq].message == "fix the retry limit"
    assert match.matched == {"retry", "limit"}


def test_indexing_notes_where_it_stands(store: Store) -> None:
    assert store.commits.state("tips") is None
    with store.write() as tx:
        store.commits.set_state(tx, "tips", "[]")
        store.commits.set_state(tx, "tips", "[1]")
        assert store.commits.state("tips", reader=tx) == "[1]"
    assert store.commits.state("tips") == "[1]"


def test_stricter_redaction_finds_what_to_index_again(store: Store) -> None:
    index(store, commit(1), commit(2))
    index(store, commit(3), redaction=2)
    outdated = store.commits.outdated(2, 10)
    assert [int(sha, 16) for sha in outdated] == [2, 1]
    with store.write() as tx:
        store.commits.remove(tx, outdated)
    assert store.commits.count() == 1
    assert [match.seq for match in store.commits.search(["change"], 5)] == [3]


def test_erased_words_leave_the_commit_known_but_empty(store: Store) -> None:
    index(store, commit(1, change("a.py"), message="the marker is here"), commit(2, message="not here"))
    with store.write() as tx:
        seq = store.commits.find(f"{1:040x}")
        assert seq is not None
        store.commits.erase(tx, [seq])
    found = store.commits.get(f"{1:040x}")
    assert found is not None
    assert (found.message, found.patch, found.note) == ("", "", "erased on request")
    assert len(found.changes) == 1
    assert store.commits.search(["marker"], 5) == []


@pytest.mark.parametrize("damage", ["patch = x'00'", "parents = '{'", "committed_at = 4611686018427387904"])
def test_a_commit_that_cannot_be_understood_is_left_out(store: Store, damage: str) -> None:
    index(store, commit(1, change("a.py")), commit(2, change("a.py")))
    with store.write() as tx:
        tx.run(f"UPDATE git_commit SET {damage} WHERE seq = 1")
    assert numbers(store.commits.by_path("a.py", 5)) == [2]
    [fault] = store.damaged_rows()
    assert f"{1:040x}" in fault
