"""Which repository a folder belongs to, and by what it can be recognised again."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import pygit2
from pygit2.enums import SortMode

from memhub_mcp.domain.scope import Alias, AliasKind
from memhub_mcp.errors import RepoError
from memhub_mcp.repo.config import read_config, subsections
from memhub_mcp.repo.layout import Layout, find_layout, find_superproject
from memhub_mcp.repo.opening import open_repository, why
from memhub_mcp.repo.plain_files import read_plain_file
from memhub_mcp.repo.remotes import chosen_remote, normalise_remote, remote_name, ssh_host_names

__all__ = ["Repository", "discover", "normalise_remote", "recent_commits", "root_commits", "shares_commit"]

_USUAL_DEFAULTS = ("main", "master", "trunk")


@dataclass(frozen=True, slots=True, kw_only=True)
class Repository:
    """The facts a repository is recognised by, read from its files. Object ids are hex.

    `remote` is the normalised address that identifies it; `upstream` is what it was forked from. `born` is True once
    it has a commit. `borrows` is True when its objects come from another object store (alternates), so that having a
    commit proves nothing.
    """

    layout: Layout
    remote: str | None
    upstream: str | None
    born: bool
    shallow: bool
    borrows: bool
    superproject: Path | None
    limited: str | None

    @property
    def root(self) -> Path:
        """The folder that holds `.git`."""
        return self.layout.root

    @property
    def name(self) -> str:
        """What people call it: the last part of the remote, else the name of its folder."""
        return (self.remote and remote_name(self.remote)) or self.layout.place.name.removesuffix(".git") or "repository"

    @property
    def path_alias(self) -> Alias:
        """The real path shared by all its working trees."""
        return Alias(AliasKind.PATH, str(self.layout.place))

    @property
    def remote_alias(self) -> Alias | None:
        """The remote as an alias."""
        return Alias(AliasKind.REMOTE, self.remote) if self.remote else None


def discover(path: Path, *, never: Collection[Path] = (), person_home: Path | None = None) -> Repository | None:
    """The repository that holds `path`, or None. Folders in `never` are not looked into, nor what lies above them.

    `person_home` is where the ssh configuration is read that says which host an alias stands for.
    """
    layout = find_layout(path, never=never)
    if layout is None:
        return None
    outer = find_superproject(layout, never=never)
    limited, born = layout.limited, False
    config: Mapping[str, str] = {}
    if limited is None:
        config = read_config(layout.common_dir / "config")
        try:
            repo = open_repository(layout)
            born = bool(_starts(repo)) or any(True for _ in repo.references)
        except RepoError as error:
            limited = str(error)
        except (pygit2.GitError, KeyError, ValueError) as error:
            limited = why(error)
    remote, upstream = _remotes(layout, config, person_home)
    return Repository(
        layout=layout,
        remote=remote,
        upstream=upstream,
        born=born,
        shallow=bool(_shallow_commits(layout)),
        borrows=_borrows(layout),
        superproject=outer.root if outer else None,
        limited=limited,
    )


def root_commits(repository: Repository) -> tuple[str, ...]:
    """The first commits behind HEAD and the default branch, following first parents: HEAD's first.

    Empty before the first commit, and in a shallow or limited repository, which does not know them.
    """
    if repository.shallow or repository.limited:
        return ()
    try:
        repo = open_repository(repository.layout)
        return tuple(dict.fromkeys(_first_commit(repository.layout, tip) for tip in _starts(repo)))
    except (pygit2.GitError, KeyError, ValueError) as error:
        raise RepoError(why(error)) from error


def shares_commit(repository: Repository, commits: Iterable[str]) -> bool:
    """Whether the repository holds one of `commits`; False when it is limited."""
    if repository.limited:
        return False
    try:
        repo = open_repository(repository.layout)
        return any(commit in repo for commit in commits)
    except (pygit2.GitError, ValueError) as error:
        raise RepoError(why(error)) from error


def recent_commits(repository: Repository, limit: int) -> tuple[str, ...]:
    """Up to `limit` commits behind HEAD, newest first; empty when there is none or the repository is limited."""
    if repository.limited:
        return ()
    try:
        repo = open_repository(repository.layout)
        found: list[str] = []
        for tip in _starts(repo)[:1]:
            for commit in repo.walk(tip, SortMode.TIME):
                found.append(str(commit.id))
                if len(found) == limit:
                    break
        return tuple(found)
    except (pygit2.GitError, KeyError, ValueError) as error:
        raise RepoError(why(error)) from error


def _starts(repo: pygit2.Repository) -> list[pygit2.Oid]:
    names = ["HEAD", "refs/remotes/origin/HEAD", *(f"refs/heads/{name}" for name in _USUAL_DEFAULTS)]
    tips: dict[pygit2.Oid, None] = {}
    for name in names:
        reference = repo.references.get(name)
        if reference is None:
            continue
        try:
            tips[reference.peel(pygit2.Commit).id] = None
        except (KeyError, pygit2.GitError):
            continue  # an unborn branch, or a default branch that was not fetched
    return list(tips)


@lru_cache(maxsize=64)
def _first_commit(layout: Layout, tip: pygit2.Oid) -> str:
    walker = open_repository(layout).walk(tip, SortMode.NONE)
    walker.simplify_first_parent()
    last = tip
    for commit in walker:
        last = commit.id
    return str(last)


def _remotes(layout: Layout, config: Mapping[str, str], person_home: Path | None) -> tuple[str | None, str | None]:
    hosts = _host_names(person_home)
    urls = {
        name: normalise_remote(url, base=layout.root, host_names=hosts)
        for name, url in subsections(config, "remote", "url").items()
    }
    name = chosen_remote(config, _USUAL_DEFAULTS)
    remote = urls.get(name) if name else None
    upstream = urls.get("upstream")
    return remote or None, upstream if upstream and upstream != remote else None


def _host_names(person_home: Path | None) -> dict[str, str]:
    data = read_plain_file(person_home / ".ssh" / "config") if person_home else None
    return ssh_host_names(data.decode("utf-8", "replace")) if data else {}


def _shallow_commits(layout: Layout) -> list[str]:
    data = read_plain_file(layout.common_dir / "shallow") if layout.limited is None else None
    return data.decode("ascii", "replace").split() if data else []


def _borrows(layout: Layout) -> bool:
    if layout.limited is not None:
        return False
    objects = layout.common_dir / "objects"
    return objects.is_symlink() or (objects / "info" / "alternates").exists()
