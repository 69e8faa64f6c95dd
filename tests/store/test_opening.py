"""Files are private, complete, checked on opening, and never harmed by a program that cannot use them."""

import os
import shutil
import stat
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import apsw
import pytest
from store_steps import HandClock, open_store, remember

from memhub_mcp.domain.memory import Filter
from memhub_mcp.errors import DamagedStore, NewerStore, ReadOnlyStore, StoreError
from memhub_mcp.store import migrate, opening
from memhub_mcp.store.connection import Database
from memhub_mcp.store.file import Store
from memhub_mcp.store.migrate import Script, memory_scripts

FIRST = "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;\n"
NOTES = "CREATE TABLE note (id INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT;\n"
ADDITIVE = "ALTER TABLE note ADD COLUMN mood TEXT;\nINSERT INTO note (text) VALUES ('from 2;\nwith two lines');\n"
BREAKING = "-- min_reader: 3\n-- min_writer: 3\nALTER TABLE note RENAME COLUMN text TO body;\n"
UP_TO = {
    number: tuple(Script(at, sql) for at, sql in enumerate((FIRST + NOTES, ADDITIVE, BREAKING)[:number], 1))
    for number in (1, 2, 3)
}


def open_notes(path: Path, number: int, **options: bool) -> Database:
    return Database.open(path, expected_id="notes", clock=HandClock(), scripts=UP_TO[number], **options)


def test_every_file_and_folder_is_private_from_the_start(home: Path) -> None:
    previous = os.umask(0)
    try:
        store = open_store(home)
        remember(store, "private")
    finally:
        os.umask(previous)
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in [home, *home.rglob("*")]}
    assert modes == {
        "home": 0o700,
        "workspaces": 0o700,
        "w": 0o700,
        "memory.db": 0o600,
        "memory.db-wal": 0o600,
        "memory.db-shm": 0o600,
    }
    store.close()


def test_the_house_rules_hold_on_every_connection(store: Store) -> None:
    remember(store, "one")
    rules = ("journal_mode", "foreign_keys", "secure_delete", "synchronous")
    assert [store.db.read(f"PRAGMA {rule}")[0][0] for rule in rules] == ["wal", 1, 1, 1]
    assert [store.db.maintain(f"PRAGMA {rule}")[0][0] for rule in rules] == ["wal", 1, 1, 1]
    assert store.db.maintain("PRAGMA busy_timeout")[0][0] >= 5_000
    with pytest.raises(StoreError):
        store.db.read("DELETE FROM memory")
    for name, sql in store.db.read(
        "SELECT name, sql FROM sqlite_schema WHERE type = 'table' AND sql NOT LIKE '%VIRTUAL%'"
    ):
        assert name.startswith(("words_", "commit_words_", "sqlite_")) or "STRICT" in sql


def test_an_error_in_a_write_leaves_nothing_behind(store: Store) -> None:
    with pytest.raises(KeyError), store.write() as tx:
        tx.run("INSERT INTO meta (key, value) VALUES ('a', 'b')")
        assert tx.generation == 1
        raise KeyError("stop")
    assert store.db.generation == 0
    assert store.db.read("SELECT * FROM meta WHERE key = 'a'") == []
    remember(store, "the next write works")


def test_another_workspaces_file_is_refused(home: Path, store: Store) -> None:
    remember(store, "mine")
    store.close()
    shutil.copytree(home / "workspaces" / "w", home / "workspaces" / "other")
    with pytest.raises(StoreError, match="belongs to workspace id-of-w, not id-of-other"):
        open_store(home, name="other")


def test_a_crash_while_a_file_is_made_leaves_no_half_made_store(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def crash(*_: object) -> None:
        raise OSError("power cut")

    with monkeypatch.context() as patched:
        patched.setattr(opening, "publish", crash)
        with pytest.raises(OSError, match="power cut"):
            open_store(home)
    assert list((home / "workspaces" / "w").iterdir()) == []
    open_store(home).close()


def test_additive_changes_are_made_and_older_programs_go_on(tmp_path: Path) -> None:
    path = tmp_path / "a" / "notes.db"
    older = open_notes(path, 1)
    with older.write() as tx:
        tx.run("INSERT INTO note (text) VALUES ('kept')")
    newer = open_notes(path, 2)
    assert newer.read("SELECT text, mood FROM note") == [("kept", None), ("from 2;\nwith two lines", None)]
    with older.write() as tx:
        tx.run("INSERT INTO note (text) VALUES ('from an older program')")
    assert len(newer.read("SELECT * FROM note")) == 3
    assert len(open_notes(path, 1).read("SELECT id FROM note")) == 3
    assert not (path.parent / "backups").exists()


def test_a_breaking_change_backs_up_first_and_shuts_older_programs_out(tmp_path: Path) -> None:
    path = tmp_path / "a" / "notes.db"
    older = open_notes(path, 1)
    with older.write() as tx:
        tx.run("INSERT INTO note (text) VALUES ('kept')")
    newer = open_notes(path, 3)
    assert newer.read("SELECT body FROM note")[0] == ("kept",)
    before = path.read_bytes(), sorted(entry.name for entry in path.parent.iterdir())
    with pytest.raises(NewerStore, match="newer memhub: upgrade"):
        open_notes(path, 2)
    with pytest.raises(NewerStore), older.write():
        pass
    with pytest.raises(NewerStore):
        older.read("SELECT text FROM note")
    with pytest.raises(NewerStore):
        open_notes(path, 2, read_only=True)
    assert before == (path.read_bytes(), sorted(entry.name for entry in path.parent.iterdir()))
    [backup] = (path.parent / "backups").iterdir()
    assert backup.name == "a-notes-schema1-20261130T120000.db"
    assert stat.S_IMODE(backup.stat().st_mode) == 0o600
    assert Database.open(backup, expected_id="notes", clock=HandClock(), scripts=UP_TO[1], read_only=True).read(
        "SELECT text FROM note"
    ) == [("kept",)]


def test_a_failed_upgrade_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "notes.db"
    open_notes(path, 1).close()
    broken = (*UP_TO[1], Script(2, "ALTER TABLE note ADD COLUMN mood TEXT;\nALTER TABLE nothing ADD COLUMN x;\n"))
    with pytest.raises(StoreError):
        Database.open(path, expected_id="notes", clock=HandClock(), scripts=broken)
    assert open_notes(path, 2).read("SELECT mood FROM note") == [(None,)]


def test_the_shipped_schema_runs_and_says_what_it_is(store: Store) -> None:
    facts = dict(store.db.read("SELECT key, value FROM meta"))
    assert facts == {
        "schema": str(len(memory_scripts())),
        "min_reader": "1",
        "min_writer": "1",
        "generation": "0",
        "workspace": "id-of-w",
    }


def test_a_store_of_the_first_schema_is_brought_up_to_date_beside_a_program_that_knows_no_more(home: Path) -> None:
    path = home / "workspaces" / "w" / "memory.db"
    add = """INSERT INTO memory
        (id, kind, tier, text, content_key, sources, source, created_at, updated_at, generation, redaction)
        VALUES (?1, 'preference', 'user', ?1, CAST(?1 AS BLOB), '["cli"]', ?2, 0, 0, 1, 1)"""
    older = Database.open(path, expected_id="id-of-w", clock=HandClock(), scripts=memory_scripts()[:1])
    with older.write() as tx:
        tx.run(add, ("typed before", "cli"))
        tx.run(add, ("told before", "codex"))
    store = open_store(home)
    with older.write() as tx:
        tx.run(add, ("typed after", "cli"))
    remember(store, "by the newer program")
    assert older.read("SELECT count(*) FROM memory") == [(4,)]
    with store.write() as tx:
        store.excerpts.put(tx, "AGENTS.md", 1, 7)
    assert store.excerpts.places([1]) == {1: [("AGENTS.md", 7)]}
    confirmed = {
        id_: store.confirmations.of(memory)
        for id_, memory in store.memories.get_many(["typed before", "told before", "typed after"]).items()
    }
    assert {id_ for id_, confirmation in confirmed.items() if confirmation} == {"typed before"}
    assert len(confirmed) == 3


def test_a_script_that_made_files_stays_as_it_was() -> None:
    """No file runs a script twice: what is changed in one reaches new files alone. A change is a script of its own."""
    folder = Path(migrate.__file__).parent
    scripts = sorted([*folder.glob("migrations/*.sql"), *folder.glob("registry/*.sql")])
    assert {
        f"{file.parent.name}/{file.name}": sha256(file.read_text(encoding="utf-8").encode()).hexdigest()[:16]
        for file in scripts
    } == {
        "migrations/0001_initial.sql": "f1e4fa4b454b2d54",
        "migrations/0002_confirmations.sql": "2e9583e195312cc3",
        "migrations/0003_excerpts.sql": "6fac8cd2319e084d",
        "registry/0001_initial.sql": "e0e9cee8a9e51be3",
        "registry/0002_capture.sql": "ee973eeab4a7c19d",
    }


@pytest.mark.parametrize(
    "damage", ["truncated", "cut within a page", "emptied", "overwritten", "text", "another program's"]
)
def test_a_damaged_file_is_named_and_copied_and_others_go_on(home: Path, damage: str) -> None:
    store = open_store(home)
    for number in range(300):
        remember(store, f"memory {number} " * 10)
    store.close()
    healthy = open_store(home, name="healthy")
    path = home / "workspaces" / "w" / "memory.db"
    whole = path.read_bytes()
    match damage:
        case "truncated":
            path.write_bytes(whole[: len(whole) // 2])
        case "cut within a page":
            path.write_bytes(whole[:-1_024])
        case "emptied":
            path.write_bytes(b"")
        case "overwritten":
            path.write_bytes(b"\xff" * 100 + whole[100:])
        case "text":
            path.write_text("not a database at all\n" * 1_000)
        case _:
            path.unlink()
            apsw.Connection(str(path)).execute("CREATE TABLE song (title)").fetchall()
    left = path.read_bytes()
    for _ in range(2):
        with pytest.raises(DamagedStore) as raised:
            open_store(home)
        assert str(path) in str(raised.value)
        assert "\n" not in str(raised.value)
    [copy] = (home / "backups").iterdir()
    assert copy.read_bytes() == left == path.read_bytes()
    remember(healthy, "undisturbed")
    healthy.close()


def test_damage_met_while_reading_is_named_too(home: Path) -> None:
    store = open_store(home)
    remember(store, "one")
    [(page,)] = store.db.read("SELECT rootpage FROM sqlite_schema WHERE name = 'memory'")
    store.close()
    path = home / "workspaces" / "w" / "memory.db"
    whole = bytearray(path.read_bytes())
    whole[(page - 1) * 4096 : page * 4096] = os.urandom(4096)
    path.write_bytes(whole)
    store = open_store(home)
    with pytest.raises(DamagedStore, match="restore a backup"):
        store.memories.newest(Filter(), before=None, limit=300)
    assert len(list((home / "backups").iterdir())) == 1


def test_opening_writes_nothing_and_works_while_another_process_writes(home: Path) -> None:
    store = open_store(home)
    remember(store, "there")
    waiting = opening.BUSY_MS
    with store.write():
        other = open_store(home)
        assert [memory.text for memory in other.memories.newest(Filter(), before=None, limit=5)] == ["there"]
        assert other.words.search(["there"], Filter(), 5)
        other.close()
    assert waiting >= 5_000


def test_asked_to_read_only_it_reads_and_refuses_to_write(home: Path, store: Store) -> None:
    remember(store, "there")
    reader = open_store(home, read_only=True)
    assert reader.read_only
    assert [memory.text for memory in reader.memories.newest(Filter(), before=None, limit=5)] == ["there"]
    with pytest.raises(ReadOnlyStore, match="can be read but not written"), reader.write():
        pass
    with pytest.raises(ReadOnlyStore, match="does not exist"):
        open_store(home, read_only=True, name="missing")


def test_a_backup_is_whole_although_others_write(home: Path, store: Store) -> None:
    remember(store, "kept")
    copy = home / "backups" / "today" / "memory.db"
    with store.write() as tx:
        tx.run("INSERT INTO meta (key, value) VALUES ('under', 'way')")
        store.db.back_up(copy)
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    copied = Store.open(copy.parent, store.workspace, HandClock(), read_only=True)
    assert [memory.text for memory in copied.memories.newest(Filter(), before=None, limit=5)] == ["kept"]
    assert copied.db.read("SELECT * FROM meta WHERE key = 'under'") == []
    assert copied.words.search(["kept"], Filter(), 5)


@pytest.mark.parametrize(
    ("mode", "sentence"), [(0o000, "cannot be reached: Permission denied"), (0o555, "cannot be made")]
)
def test_a_folder_of_someone_else_gives_one_sentence(tmp_path: Path, mode: int, sentence: str) -> None:
    if sys.platform == "win32" or os.getuid() != 0:
        pytest.skip("only root can become another user")
    locked = tmp_path / "locked"
    locked.mkdir()
    locked.chmod(mode)
    for folder in (tmp_path, *tmp_path.parents[:-2]):
        folder.chmod(folder.stat().st_mode | 0o055)
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.setuid(65_534)
        try:
            open_store(locked)
        except StoreError as error:
            os.write(write, str(error).encode())
        finally:
            os._exit(0)
    os.close(write)
    with os.fdopen(read) as said:
        assert sentence in said.read()
    os.waitpid(child, 0)


ON_READ_ONLY_MEDIA = """
import sys
sys.path[:0] = {path!r}
from pathlib import Path
from store_steps import open_store, remember
from memhub_mcp.domain.memory import Filter
from memhub_mcp.errors import ReadOnlyStore
home = Path({home!r})
store = open_store(home)
print(store.read_only, [memory.text for memory in store.memories.newest(Filter(), before=None, limit=5)])
print(len(store.words.search(["kept"], Filter(), 5)), store.db.warnings)
for attempt in (lambda: remember(store, "new"), lambda: open_store(home, name="new")):
    try:
        attempt()
    except ReadOnlyStore as error:
        print("refused:", error)
"""


LOG_NOTE = "{}/workspaces/w/memory.db-wal cannot be read here: the latest writes are not shown"


@pytest.mark.parametrize("left", ["closed", "open", "without the index of its log"])
def test_read_only_media_can_be_recalled_from(home: Path, left: str) -> None:
    if sys.platform != "linux" or subprocess.run(["unshare", "-m", "true"], capture_output=True).returncode:
        pytest.skip("no mount namespaces here: `unshare -m` does not work")
    store = open_store(home)
    remember(store, "kept safe")
    if left == "closed":
        store.close()
    if left == "without the index of its log":
        store.db.maintain("PRAGMA wal_checkpoint(TRUNCATE)")
        remember(store, "only in the log")
        (home / "workspaces" / "w" / "memory.db-shm").unlink()
    script = ON_READ_ONLY_MEDIA.format(path=[*sys.path], home=str(home))
    mounted = 'mount --bind "$1" "$1" && mount -o remount,ro,bind "$1" && exec "$2" -c "$3"'
    ran = subprocess.run(
        ["unshare", "-m", "sh", "-c", mounted, "sh", str(home), sys.executable, script],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.stderr == ""
    recalled, found, *refusals = ran.stdout.splitlines()
    assert recalled == "True ['kept safe']"
    assert found == ("1 ()" if left != "without the index of its log" else f"1 ('{LOG_NOTE.format(home)}',)")
    assert len(refusals) == 2
    assert all(line.startswith("refused: ") for line in refusals)
    store.close()
