"""Which repository a folder belongs to, and by what it can be recognised again."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from memhub_mcp.domain.scope import Alias, AliasKind
from memhub_mcp.errors import RepoError
from memhub_mcp.repo.config import read_config, subsections
from memhub_mcp.repo.history import HEADS, REMOTES, History, open_history
from memhub_mcp.repo.layout import Layout, find_layout, find_superproject
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
            history = open_history(layout)
            born = bool(_starts(history)) or bool(history.tips())
        except RepoError as error:
            limited = str(error)
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

    Raises:
        RepoError: the history cannot be read; the text is the reason alone.
    """
    if repository.shallow or repository.limited:
        return ()
    starts = _starts(open_history(repository.layout))
    return tuple(dict.fromkeys(_first_commit(repository.layout, tip) for tip in starts))


def shares_commit(repository: Repository, commits: Iterable[str]) -> bool:
    """Whether the repository holds one of `commits`; False when it is limited."""
    if repository.limited:
        return False
    history = open_history(repository.layout)
    return any(history.holds(commit) for commit in commits)


def recent_commits(repository: Repository, limit: int) -> tuple[str, ...]:
    """Up to `limit` commits behind HEAD, newest first; empty when there is none or the repository is limited."""
    if repository.limited:
        return ()
    history = open_history(repository.layout)
    return tuple(history.walk(_starts(history)[:1], limit=limit))


def _starts(history: History) -> list[str]:
    names = ("HEAD", f"{REMOTES}origin/HEAD", *(f"{HEADS}{name}" for name in _USUAL_DEFAULTS))
    return list(dict.fromkeys(tip for name in names if (tip := history.tip(name)) is not None))


@lru_cache(maxsize=64)
def _first_commit(layout: Layout, tip: str) -> str:
    return open_history(layout).first(tip)


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
