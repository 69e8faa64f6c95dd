"""Commits read as values: their changes, hunks and patch text, without a working tree and without running anything."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha1
from itertools import islice
from pathlib import Path

import pygit2
from pygit2.enums import DeltaStatus, DiffFind, DiffOption, SortMode

from memhub_mcp.domain.revision import ChangeKind, Commit, FileChange, Hunk
from memhub_mcp.errors import RepoError
from memhub_mcp.repo.contents import BLOB_LIMIT_BYTES, Contents, is_binary, patch_of
from memhub_mcp.repo.objects import author_text, message_text, moment, open_objects, path_text
from memhub_mcp.repo.similar import pair_similar

PATCH_LIMIT_BYTES = 64 * 1024
RENAME_LIMIT = 400
EXACT_RENAMES_ABOVE = 2_000  # comparing contents grows with adds times deletes
_BATCH = 500
_NOT_CHANGED = re.compile(rb"\n[@\\][^\n]*")
_SUBMODULE = 0o160000
_RENAMES = DiffFind.FIND_RENAMES | DiffFind.FIND_DONT_IGNORE_WHITESPACE  # explicit: the repository's config has no say
_KINDS = {
    DeltaStatus.ADDED: ChangeKind.ADD,
    DeltaStatus.DELETED: ChangeKind.DELETE,
    DeltaStatus.MODIFIED: ChangeKind.MODIFY,
    DeltaStatus.RENAMED: ChangeKind.RENAME,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class TextRules:
    """What may be kept of the text of a commit."""

    redact: Callable[[str], str]
    never_stored: Callable[[str], bool]


def walk_commits(
    root: Path,
    tips: Sequence[str],
    *,
    known: Callable[[Sequence[str]], set[str]],
    rules: TextRules,
    hide: Sequence[str] = (),
) -> Iterator[Commit]:
    """Every commit reachable from `tips` that is not `known`, newest first.

    `hide` are commits whose whole ancestry is known: the walk does not go beyond them.
    One commit is held in memory at a time, besides what libgit2 keeps.

    Raises:
        RepoError: the repository cannot be opened or walked.
    """
    repo = open_objects(root)
    contents = Contents(repo)
    try:
        walker = repo.walk(None, SortMode.TIME)
        for tip in tips:
            walker.push(tip)
        for tip in hide:
            if tip in repo:
                walker.hide(tip)
        found = (str(commit.id) for commit in walker)
        while batch := list(islice(found, _BATCH)):
            seen = known(batch)
            for sha in batch:
                if sha not in seen:
                    yield read_commit(repo, sha, rules, contents)
    except (pygit2.GitError, KeyError) as error:
        raise RepoError(f"the history of {root} cannot be walked: {error}") from error


def count_commits(root: Path, tips: Sequence[str], hide: Sequence[str] = ()) -> int:
    """How many commits `walk_commits` would look at."""
    repo = open_objects(root)
    walker = repo.walk(None, SortMode.NONE)
    for tip in tips:
        walker.push(tip)
    for tip in hide:
        if tip in repo:
            walker.hide(tip)
    return sum(1 for _ in walker)


def read_commit(repo: pygit2.Repository, sha: str, rules: TextRules, contents: Contents | None = None) -> Commit:
    """One commit with its changes against each parent, as `read_changes` lists them, and its patch.

    The patch of a merge holds only what differs from all its parents: the resolution of conflicts.
    """
    commit = repo[sha].peel(pygit2.Commit)
    notes: list[str] = []
    writer = _PatchWriter(rules)
    contents = contents or Contents(repo)
    changes = _commit_changes(contents, commit, notes, writer)
    return Commit(
        sha=sha,
        parents=tuple(str(parent) for parent in commit.parent_ids),
        author=rules.redact(author_text(commit)),
        authored_at=moment(commit.author.time),
        committed_at=moment(commit.committer.time),
        message=rules.redact(message_text(commit)),
        patch_id=writer.patch_id if len(commit.parent_ids) < 2 else None,
        changes=tuple(changes),
        patch=writer.text(notes),
        note="; ".join(dict.fromkeys(notes)) or None,
    )


def read_changes(repo: pygit2.Repository, sha: str, contents: Contents) -> list[FileChange]:
    """The changes of one commit against each parent.

    Against the first parent all are listed; against a later one only the paths that differ from every
    earlier parent as well: any other path is simply the one of that parent.
    """
    return _commit_changes(contents, repo[sha].peel(pygit2.Commit), [], None)


def _commit_changes(
    contents: Contents, commit: pygit2.Commit, notes: list[str], writer: "_PatchWriter | None"
) -> list[FileChange]:
    parents = commit.parents
    if len(parents) > 1:
        return _merge_changes(contents, commit, notes, writer)
    if not parents and _has_hidden_parents(commit):
        notes.append("shallow clone: the parents of this commit are not here, its changes are unknown")
        return []
    return _changes(contents, _diff(commit, parents[0] if parents else None), 0, notes, writer)


def _merge_changes(
    contents: Contents, commit: pygit2.Commit, notes: list[str], writer: "_PatchWriter | None"
) -> list[FileChange]:
    differing: set[str] | None = None
    diffs: list[pygit2.Diff] = []
    listed: list[set[str]] = []
    for parent in commit.parents:
        diff = _diff(commit, parent)
        paths = {path_text(delta.new_file.raw_path) for delta in diff.deltas}
        differing = paths if differing is None else differing & paths
        diffs.append(diff)
        listed.append(differing)
        if not differing:
            break
    resolved = differing or set[str]()
    out: list[FileChange] = []
    for number, diff in enumerate(diffs):
        if number == 0:
            out += _changes(contents, diff, 0, notes, writer, shown=resolved)
        elif listed[number]:
            out += _changes(contents, diff, number, notes, None, only=listed[number])
    return out


def _diff(commit: pygit2.Commit, parent: pygit2.Commit | None) -> pygit2.Diff:
    if parent is None:
        return commit.tree.diff_to_tree(flags=DiffOption.NORMAL, context_lines=0, interhunk_lines=0, swap=True)
    return parent.tree.diff_to_tree(commit.tree, flags=DiffOption.NORMAL, context_lines=0, interhunk_lines=0)


def _changes(
    contents: Contents,
    diff: pygit2.Diff,
    parent: int,
    notes: list[str],
    writer: "_PatchWriter | None",
    *,
    only: set[str] | None = None,
    shown: set[str] | None = None,
) -> list[FileChange]:
    renamed = _find_renames(contents, diff, notes)
    gone = {old for old, _ in renamed.values()}
    out: list[FileChange] = []
    for delta in diff.deltas:
        new, old = path_text(delta.new_file.raw_path), path_text(delta.old_file.raw_path)
        if only is not None and new not in only:
            continue
        if delta.status is DeltaStatus.DELETED and old in gone:
            continue
        change, text = _change(contents, delta, parent, renamed.get(new), notes)
        out.append(change)
        if writer is not None and (shown is None or new in shown):
            writer.add(change, text)
    return out


def _change(
    contents: Contents,
    delta: pygit2.DiffDelta,
    parent: int,
    source: tuple[str, str] | None,
    notes: list[str],
) -> tuple[FileChange, bytes]:
    old_file, new_file, status = delta.old_file, delta.new_file, delta.status
    kind = _KINDS.get(status, ChangeKind.MODIFY)
    path = path_text((old_file if status is DeltaStatus.DELETED else new_file).raw_path)
    old_path = path_text(old_file.raw_path) if status is DeltaStatus.RENAMED else None
    before = None if status is DeltaStatus.ADDED else str(old_file.id)
    after = None if status is DeltaStatus.DELETED else str(new_file.id)
    if source is not None:
        kind, (old_path, before) = ChangeKind.RENAME, source
    elif kind is ChangeKind.MODIFY and before == after:
        kind = ChangeKind.MODE
    hunks: tuple[Hunk, ...] = ()
    text, binary = b"", False
    if _SUBMODULE in (old_file.mode, new_file.mode):
        text = _pointer(before, after)
    elif before != after:
        hunks, text, binary = _compare(contents, before, after, notes)
    change = FileChange(
        path=path,
        old_path=old_path,
        kind=kind,
        blob_before=before,
        blob_after=after,
        binary=binary,
        hunks=hunks,
        parent=parent,
    )
    return change, text


def _compare(
    contents: Contents, before: str | None, after: str | None, notes: list[str]
) -> tuple[tuple[Hunk, ...], bytes, bool]:
    """Hunks and patch text of two blobs, and whether they are to be taken as binary."""
    old = contents.data(before) if before else b""
    new = contents.data(after) if after else b""
    if old is None or new is None:
        if any(blob and contents.size(blob) is None for blob in (before, after)):
            notes.append("blobless clone: some contents are not here")
            return (), b"", False
        notes.append(f"files over {BLOB_LIMIT_BYTES // 2**20} MiB were not compared")
        return (), b"", True
    if is_binary(old) or is_binary(new):
        return (), b"", True
    hunks, text = patch_of(old, new)
    return hunks, text, False


def _pointer(before: str | None, after: str | None) -> bytes:
    """A submodule's commits, as git shows them."""
    lines = [f"{sign}Subproject commit {sha}\n" for sign, sha in (("-", before), ("+", after)) if sha]
    return f"\n@@ -1 +1 @@\n{''.join(lines)}".encode()


def _find_renames(contents: Contents, diff: pygit2.Diff, notes: list[str]) -> dict[str, tuple[str, str]]:
    """Marks renames inside `diff`; finds those libgit2 leaves: new path → old path and blob.

    Of a very large difference only the exact ones are found.
    """
    if len(diff) <= EXACT_RENAMES_ABOVE:
        try:
            diff.find_similar(flags=_RENAMES, rename_limit=RENAME_LIMIT)
        except (pygit2.GitError, KeyError):
            notes.append("blobless clone: renames with changes were not looked for")
            return {}
        gone = {
            path_text(delta.old_file.raw_path): str(delta.old_file.id)
            for delta in diff.deltas
            if delta.status is DeltaStatus.DELETED and delta.old_file.mode != _SUBMODULE
        }
        new = {
            path_text(delta.new_file.raw_path): str(delta.new_file.id)
            for delta in (diff.deltas if gone else ())
            if delta.status is DeltaStatus.ADDED and delta.new_file.mode != _SUBMODULE
        }
        return {path: (old, gone[old]) for path, old in pair_similar(contents, gone, new).items()}
    notes.append(f"over {EXACT_RENAMES_ABOVE} paths: only exact renames were looked for")
    sources: dict[str, list[str]] = {}
    for delta in diff.deltas:
        if delta.status is DeltaStatus.DELETED:
            sources.setdefault(str(delta.old_file.id), []).append(path_text(delta.old_file.raw_path))
    found: dict[str, tuple[str, str]] = {}
    for delta in diff.deltas:
        blob = str(delta.new_file.id)
        if delta.status is DeltaStatus.ADDED and (candidates := sources.get(blob)):
            new_path = path_text(delta.new_file.raw_path)
            name = new_path.rpartition("/")[2]
            same = next((old for old in candidates if old.rpartition("/")[2] == name), candidates[0])
            candidates.remove(same)
            found[new_path] = (same, blob)
    return found


def _has_hidden_parents(commit: pygit2.Commit) -> bool:
    """Whether the object names parents that the clone does not have."""
    header, _, _ = commit.read_raw().partition(b"\n\n")
    return b"\nparent " in header


class _PatchWriter:
    """Patch text of a commit, up to its limit, without the files that are never stored."""

    def __init__(self, rules: TextRules) -> None:
        self._rules = rules
        self._pieces: list[str] = []
        self._size = 0
        self._files = 0
        self._cut = 0
        self._identity = sha1(usedforsecurity=False)

    @property
    def patch_id(self) -> str | None:
        """What commits that make the same change share: paths and changed lines, not where they stand, nor blanks."""
        return self._identity.hexdigest() if self._files else None

    def add(self, change: FileChange, data: bytes) -> None:
        """Adds the change of one file; `data` is the patch of libgit2, whose header is replaced by ours."""
        self._files += 1
        start = data.find(b"\n@@ ") + 1
        self._identify(change, data[start:])
        room = PATCH_LIMIT_BYTES - self._size
        if room <= 0:
            self._cut += 1
            return
        secret = self._rules.never_stored(change.path) or self._rules.never_stored(change.old_path or change.path)
        body = data[start:] if start and not secret else b""
        piece = _header(change) + body[:room].decode("utf-8", "replace")
        if len(body) > room:
            piece = piece[: piece.rfind("\n") + 1]
            self._cut += 1
        if piece and not piece.endswith("\n"):
            piece += "\n"
        self._pieces.append(piece)
        self._size += len(piece)

    def _identify(self, change: FileChange, body: bytes) -> None:
        place = f"{change.kind} {change.old_path} {change.path} "
        if not change.hunks:
            place += f"{change.blob_before} {change.blob_after}"
        self._identity.update(place.encode("utf-8", "surrogateescape"))
        if change.hunks:
            self._identity.update(_NOT_CHANGED.sub(b"", b"\n" + body).translate(None, b" \t\r\n"))

    def text(self, notes: list[str]) -> str:
        """The redacted text; says in `notes` what had to be left out."""
        if self._cut:
            limit = f"{PATCH_LIMIT_BYTES // 1024} KiB"
            notes.append(f"patch cut at {limit}: {self._cut} of {self._files} files are not shown in full")
        text = self._rules.redact("".join(self._pieces)).replace("\0", "")
        return text if len(text) <= 2 * PATCH_LIMIT_BYTES else text[: text.rfind("\n", 0, PATCH_LIMIT_BYTES) + 1]


def _header(change: FileChange) -> str:
    old = change.old_path or change.path
    before = "/dev/null" if change.kind is ChangeKind.ADD else f"a/{_quoted(old)}"
    after = "/dev/null" if change.kind is ChangeKind.DELETE else f"b/{_quoted(change.path)}"
    return f"--- {before}\n+++ {after}\n"


def _quoted(path: str) -> str:
    return path.replace("\n", "\\n").replace("\r", "\\r")
