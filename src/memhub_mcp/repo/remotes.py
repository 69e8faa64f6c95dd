"""Remote addresses, made comparable: however a clone was made, one repository has one id."""

import re
from collections.abc import Mapping
from pathlib import Path

from memhub_mcp.repo.config import subsections

_URL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://(.*)$", re.DOTALL)
_HELPER = re.compile(r"[A-Za-z0-9+.-]{1,100}::")
# user@host:path; a host of one letter is a Windows drive
_SCP = re.compile(r"(?:[^@/\s\[]{1,200}@)?(\[[^\]\s]{1,200}\]|[^:/\\\s\[\]]{2,253}):(.*)$", re.DOTALL)
_NETWORK = frozenset({"ssh", "git", "http", "https", "ftp", "ftps", "git+ssh", "ssh+git", "git+https", "git+http"})
_CASELESS = frozenset({"github.com", "gitlab.com", "bitbucket.org", "codeberg.org"})
_OTHER_DOORS = {  # ssh over the https port
    "ssh.github.com": "github.com",
    "altssh.gitlab.com": "gitlab.com",
    "altssh.bitbucket.org": "bitbucket.org",
}
_LONGEST = 2_000


def normalise_remote(url: str, *, base: Path | None = None, host_names: Mapping[str, str] | None = None) -> str:
    """The one id of a remote address: `host/path` in the same spelling for ssh, scp-like, git and https forms.

    User, password, port, query, `.git` and slashes at the end are dropped, the host is lower-case, `host_names` maps
    ssh aliases to real hosts. A local path becomes `file:` and its real path, relative to `base`. Empty when the
    address is none (an `ext::` helper, control characters, too long).
    """
    text = url.strip()
    if not text or len(text) > _LONGEST or any(ord(character) < 32 for character in text) or _HELPER.match(text):
        return ""
    as_url = _URL.match(text)
    if as_url:
        scheme, rest = as_url.groups()
        if scheme.lower() == "file":
            return _local("/" + rest.partition("/")[2], None)
        if scheme.lower() not in _NETWORK:
            return ""
        authority, _, path = rest.partition("/")
        host = _host_of(authority)
    else:
        as_scp = _SCP.match(text)
        if not as_scp:
            return _local(text, base)
        host, path = as_scp.groups()
        host = _host_of(host)
    return _network(host, path, host_names or {})


def ssh_host_names(config_text: str) -> dict[str, str]:
    """`Host` aliases of an ssh configuration with the `HostName` each stands for; patterns are passed over."""
    found: dict[str, str] = {}
    names: list[str] = []
    for line in config_text.splitlines():
        key, *values = re.split(r"[\s=]+", line.strip(), maxsplit=20)
        if key.lower() == "host":
            names = [value.strip('"').lower() for value in values if not set(value) & set("*?!")]
        elif key.lower() == "match":
            names = []
        elif key.lower() == "hostname" and values and "%" not in values[0]:
            for name in names:
                found.setdefault(name, values[0].strip('"').lower())
    return found


def chosen_remote(config: Mapping[str, str], branches: tuple[str, ...]) -> str | None:
    """The remote that identifies a repository: `origin`, else where one of `branches` goes, else the only one."""
    urls = subsections(config, "remote", "url")
    if "origin" in urls:
        return "origin"
    for branch in branches:
        upstream = config.get(f"branch.{branch}.remote")
        if upstream in urls:
            return upstream
    return next(iter(urls)) if len(urls) == 1 else None


def remote_name(remote: str) -> str:
    """What people call the repository behind a remote id: its last part."""
    return remote.rstrip("/").rpartition("/")[2]


def _host_of(authority: str) -> str:
    host = authority.rpartition("@")[2]
    if host.startswith("["):
        inner = host[1:].partition("]")[0].rpartition("@")[2]
        # git writes [host:port]:path; a real IPv6 address has more than one colon
        return inner if inner.count(":") > 1 else inner.partition(":")[0]
    return host.partition(":")[0]


def _network(host: str, path: str, host_names: Mapping[str, str]) -> str:
    host = host.lower().rstrip(".")
    host = host_names.get(host, host)
    host = _OTHER_DOORS.get(host, host)
    path = re.split(r"[?#]", path, maxsplit=1)[0]
    path = _without_git("/".join(part for part in path.split("/") if part))
    if not host or not path:
        return ""
    return f"{host}/{path.lower() if host in _CASELESS else path}"


def _local(path: str, base: Path | None) -> str:
    try:
        where = (base or Path("/")).joinpath(Path(path).expanduser()).resolve()
    except (OSError, RuntimeError, ValueError):
        return ""
    return f"file:{_without_git(where.as_posix())}"


def _without_git(path: str) -> str:
    """Without `.git` at the end, whether it is a suffix or the folder of a working tree."""
    short = path.rstrip("/")
    return short.removesuffix(".git").rstrip("/") or short
