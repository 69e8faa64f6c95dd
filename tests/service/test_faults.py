"""What is wrong with a disk or a file is said in one sentence, and stays where it is."""

import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import apsw
import pytest
from git_steps import Git, git_init
from hubs import Desk, desk_in

from memhub_mcp.errors import DamagedStore, HomeError, NewerStore, ReadOnlyStore, ScopeError, StoreError


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "memhub-home"


def database(home: Path, workspace: str) -> Path:
    [file] = (home / "workspaces").glob(f"{workspace}-*/memory.db")
    return file


def test_a_damaged_store_is_named_kept_and_leaves_the_others_alone(repository: Git, tmp_path: Path, home: Path) -> None:
    other = git_init(tmp_path / "other")
    other.commit("start")
    with desk_in(repository.root) as desk, desk_in(other.root, home=home) as neighbour:
        desk.remember(*(f"fact {number} " + "x" * 3_000 for number in range(20)))
        neighbour.remember("unharmed")
    file = database(home, "shop")
    whole = file.read_bytes()
    file.write_bytes(b"\x13" * 4_096 + whole[4_096:])
    with desk_in(repository.root) as desk, desk_in(other.root, home=home) as neighbour:
        with pytest.raises(DamagedStore) as said:
            desk.recall("fact")
        assert str(file) in str(said.value)
        assert "\n" not in str(said.value)
        assert len(neighbour.recall("unharmed")) == 1
    assert any(copy.read_bytes() == file.read_bytes() for copy in (home / "backups").rglob("*.db*"))


def test_a_newer_store_is_refused_and_left_as_it_is(repository: Git, home: Path) -> None:
    with desk_in(repository.root) as desk:
        desk.remember("from the future")
    file = database(home, "shop")
    connection = apsw.Connection(str(file))
    connection.execute("UPDATE meta SET value = '99' WHERE key IN ('schema', 'min_reader', 'min_writer')").fetchall()
    connection.close()
    before = file.read_bytes()
    with desk_in(repository.root) as desk, pytest.raises(NewerStore, match="newer memhub"):
        desk.recall("future")
    assert file.read_bytes() == before


def test_another_workspaces_file_is_not_taken_for_ours(repository: Git, tmp_path: Path, home: Path) -> None:
    other = git_init(tmp_path / "other")
    other.commit("start")
    with desk_in(repository.root) as desk, desk_in(other.root, home=home) as neighbour:
        desk.remember("of the shop")
        neighbour.remember("of the other")
    shutil.copy(database(home, "other"), database(home, "shop"))
    with desk_in(repository.root) as desk, pytest.raises(StoreError, match="put the right file back"):
        desk.recall("other")


def test_questions_are_answered_while_another_process_keeps_the_store_locked(repository: Git, home: Path) -> None:
    with desk_in(repository.root) as desk:
        desk.remember("the gate is open")
    other = apsw.Connection(str(database(home, "shop")))
    other.execute("BEGIN IMMEDIATE").fetchall()
    with desk_in(repository.root) as desk:
        assert len(desk.recall("the gate is open")) == 1
        assert desk.hub.memories.status(desk.caller)["counts"]["workspace"] == {"fact": 1}
        assert desk.hub.history.code_history(desk.caller, path="file.txt")["scope"]["workspace"] == "shop"
    other.close()


READ_ONLY = """
import sys
from dataclasses import replace
from pathlib import Path
sys.path.insert(0, {support!r})
from hubs import desk_in
with desk_in(Path({folder!r})) as desk:
    print(len(desk.recall("the gate is open")))
    print(*desk.hub.indexing.index(desk.hub.scopes.resolve(desk.caller)).notes)
    try:
        desk.remember("one more")
    except Exception as error:
        print(type(error).__name__, error)
"""


FULL = """
import os, sys
from pathlib import Path
sys.path.insert(0, {support!r})
from hubs import desk_in
with desk_in(Path({folder!r})) as desk:
    desk.remember("the gate is open")
with open({home!r} + "/ballast", "wb", buffering=0) as ballast:
    try:
        while True:
            ballast.write(b"x" * 512)
    except OSError:
        pass
with desk_in(Path({folder!r})) as desk:
    print(len(desk.recall("the gate is open")))
    try:
        desk.remember("one more")
    except Exception as error:
        print(type(error).__name__, error)
os.unlink({home!r} + "/ballast")
with desk_in(Path({folder!r})) as desk:
    print(len(desk.remember("one more")))
"""


def on_a_disk(mount: str, home: Path, program: str, folder: Path) -> list[str]:
    """The lines `program` prints where `mount` was done to "$1", the data directory; seen by nobody else."""
    filled = program.format(support=str(Path(__file__).parent.parent / "support"), folder=str(folder), home=str(home))
    command = ["unshare", "--mount", "--user", "--map-root-user", "sh", "-c", f'{mount} && exec "$2" -c "$3"', "sh"]
    done = subprocess.run([*command, home, sys.executable, filled], capture_output=True, text=True, check=False)
    if "unshare failed" in done.stderr or "mount:" in done.stderr:
        pytest.skip(f"no mount namespace here: {done.stderr.strip()}")
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.skipif(sys.platform != "linux", reason="mount namespaces are Linux's")
def test_on_a_full_disk_recall_works_and_a_write_says_what_to_do(repository: Git, home: Path) -> None:
    home.mkdir()
    found, refused, stored = on_a_disk('mount -t tmpfs -o size=2m tmpfs "$1"', home, FULL, repository.root)
    assert found == "1"
    assert "full" in refused
    assert stored == "1"


@pytest.mark.skipif(sys.platform != "linux", reason="mount namespaces are Linux's")
def test_on_a_read_only_disk_recall_works_and_writing_is_refused(repository: Git, home: Path) -> None:
    with desk_in(repository.root) as desk:
        desk.remember("the gate is open")
    read_only = 'mount --bind "$1" "$1" && mount -o remount,bind,ro "$1"'
    found, indexed, refused = on_a_disk(read_only, home, READ_ONLY, repository.root)
    assert found == "1"
    assert indexed.startswith("commits are not indexed: ")
    assert refused.startswith(ReadOnlyStore.__name__)


def test_a_workspace_that_does_not_exist_is_said_not_to(desk: Desk) -> None:
    with pytest.raises(ScopeError) as said:
        desk.hub.memories.recall(replace(desk.caller, workspace="/no/such/folder"), "x")
    assert "/no/such/folder" in str(said.value)


def test_a_home_that_is_a_file_is_refused(repository: Git, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(HomeError, match="choose another"), desk_in(repository.root, home=tmp_path / "file"):
        pass


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no permission bits")
def test_a_home_open_to_others_is_closed_and_said_so(repository: Git, home: Path) -> None:
    home.mkdir(mode=0o755)
    home.chmod(0o755)
    with desk_in(repository.root) as desk:
        desk.remember("private")
        assert any("yours alone now" in line for line in desk.hub.memories.status(desk.caller)["health"])
    for file in [home, *home.rglob("*")]:
        assert file.stat().st_mode & 0o077 == 0, file
