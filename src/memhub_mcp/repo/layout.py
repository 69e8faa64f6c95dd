"""Where a repository lies: found by hand, so that nothing inside it can point us elsewhere."""

# ruff: noqa: PTH112, PTH113, PTH114, PTH110 - os.path answers False where Path raises PermissionError

import os
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from memhub_mcp.repo.config import read_config
from memhub_mcp.repo.plain_files import is_odd, read_plain_file

_SHORT = 4_096


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """The folders of one repository, as real paths.

    `root` is the folder that holds `.git` (a bare repository is its own root), `git_dir` belongs to this working
    tree, `common_dir` to all of them. `limited` says why nothing behind `.git` may be trusted or read.
    """

    root: Path
    git_dir: Path
    common_dir: Path
    bare: bool = False
    limited: str | None = None

    @property
    def place(self) -> Path:
        """The one folder all working trees of the repository share: its first checkout, or the bare repository."""
        return self.common_dir.parent if self.common_dir.name == ".git" else self.common_dir


def find_layout(path: Path, *, never: Collection[Path] = ()) -> Layout | None:
    """The repository that holds `path` (which need not exist); None in a folder of `never`, at `/`, or outside any.

    A `.git` file is followed only if its target points back, a linked `.git` folder not at all.
    """
    start = Path(os.path.realpath(path))
    for folder in (start, *start.parents):
        if folder == Path(folder.anchor) or any(_same(folder, other) for other in never):
            return None
        if folder.name == ".git" and _is_git_dir(folder):
            continue
        found = _layout_at(folder)
        if found:
            return found
    return None


def find_superproject(layout: Layout, *, never: Collection[Path] = ()) -> Layout | None:
    """The repository this one is a submodule of, shown by where its git folder lies."""
    outer = find_layout(layout.root.parent, never=never)
    if outer and not outer.limited and layout.git_dir.is_relative_to(outer.common_dir):
        return outer
    return None


def _layout_at(folder: Path) -> Layout | None:
    dot_git = folder / ".git"
    if os.path.islink(dot_git):
        if not os.path.exists(dot_git):
            return None
        return _limited(folder, dot_git, "its .git is a link, which is not followed")
    if os.path.isfile(dot_git):
        return _follow(folder, dot_git)
    if _is_git_dir(dot_git):
        if _common_dir(dot_git) != dot_git:
            return _limited(folder, dot_git, "its .git folder borrows another repository")
        return Layout(root=folder, git_dir=dot_git, common_dir=dot_git, limited=_oddity(dot_git))
    if not os.path.lexists(dot_git) and _is_bare(folder):
        return Layout(root=folder, git_dir=folder, common_dir=folder, bare=True, limited=_oddity(folder))
    return None


def _follow(folder: Path, dot_git: Path) -> Layout | None:
    text = (read_plain_file(dot_git, max_bytes=_SHORT) or b"").decode("utf-8", "surrogateescape")
    if not text.startswith("gitdir:"):
        return None
    target = Path(os.path.realpath(folder / text.removeprefix("gitdir:").strip()))
    if not _is_git_dir(target):
        return _limited(folder, dot_git, "its .git file names a folder that is no git directory")
    common = _common_dir(target)
    if not _points_back(target, common, folder, dot_git):
        return _limited(folder, dot_git, "its .git file names a git directory that does not point back")
    return Layout(root=folder, git_dir=target, common_dir=common, limited=_oddity(target) or _oddity(common))


def _points_back(target: Path, common: Path, folder: Path, dot_git: Path) -> bool:
    """Whether the git directory itself says that its working tree is `folder`: as a linked worktree or a submodule."""
    if target != common:
        back = _line(target / "gitdir")
        return (
            back is not None
            and target.parent == common / "worktrees"
            and Path(os.path.realpath(target / back)) == dot_git
        )
    for name in ("config.worktree", "config"):
        worktree = read_config(target / name).get("core.worktree")
        if worktree is not None:
            return Path(os.path.realpath(target / worktree)) == folder
    return False


def _common_dir(git_dir: Path) -> Path:
    shared = _line(git_dir / "commondir")
    return Path(os.path.realpath(git_dir / shared)) if shared else git_dir


def _is_git_dir(folder: Path) -> bool:
    head = folder / "HEAD"
    if not (os.path.isfile(head) or os.path.islink(head)):
        return False
    shared = os.path.isfile(folder / "commondir")
    return shared or (os.path.isdir(folder / "objects") and os.path.isdir(folder / "refs"))


def _is_bare(folder: Path) -> bool:
    if not _is_git_dir(folder):
        return False
    config = read_config(folder / "config")
    return bool(config) and config.get("core.bare") != "false" and "core.worktree" not in config


def _limited(folder: Path, git_dir: Path, reason: str) -> Layout:
    return Layout(root=folder, git_dir=git_dir, common_dir=git_dir, limited=reason)


def _oddity(git_dir: Path) -> str | None:
    odd = next((name for name in ("HEAD", "config", "packed-refs", "shallow") if is_odd(git_dir / name)), None)
    return f"its {odd} is not a regular file" if odd else None


def _line(file: Path) -> str | None:
    data = read_plain_file(file, max_bytes=_SHORT)
    return data.decode("utf-8", "surrogateescape").strip() or None if data else None


def _same(one: Path, other: Path) -> bool:
    if one == other:
        return True
    try:
        return one.samefile(other)
    except OSError:
        return False
