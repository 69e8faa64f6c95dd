"""Pinned model files over HTTP: resumed, checked, in place only when right.

The client is httpx2, which mcp brings: it trusts what the system trusts, honours proxies, and has a deadline for each
read, so that a server that stalls is noticed.
"""

import os
import time
from collections.abc import Callable
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from pathlib import Path

import httpx2

from memhub_mcp import __version__
from memhub_mcp.errors import ModelError
from memhub_mcp.models.digest import sha256_of
from memhub_mcp.models.files import ModelFiles, Progress, free_bytes, part_of, problem_of
from memhub_mcp.models.manifest import PinnedFile, PinnedModel

HUB = "https://huggingface.co"

_TRIES = 4  # in a row without a mebibyte of progress
_PROGRESS_BYTES = 1 << 20
_LONGEST_WAIT_S = 120.0
_SPARE_BYTES = 64 << 20
_CONNECT_S = 10.0
_STALLED_S = 30.0
_MIRROR_VARIABLES = "MEMHUB_MODEL_MIRROR or HF_ENDPOINT"

Waiting = Callable[[str, float], None]
"""Called with what went wrong and how many seconds pass before the next try."""


class _Again(Exception):
    """This try failed in a way that may pass; `after_s` is what the server asked for."""

    def __init__(self, reason: str, after_s: float | None = None) -> None:
        super().__init__(reason)
        self.after_s = after_s


class Fetcher:
    """Brings pinned models from the hub or a mirror of it."""

    def __init__(
        self,
        files: ModelFiles,
        *,
        mirror: str | None = None,
        offline: bool = False,
        progress: Progress = lambda name, done, total: None,
        waiting: Waiting = lambda reason, seconds: None,
        stalled_s: float = _STALLED_S,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._files = files
        self._base = (mirror or HUB).rstrip("/")
        self._offline = offline
        self._progress = progress
        self._waiting = waiting
        self._stalled_s = stalled_s
        self._sleep = sleep

    def pull(self, model: PinnedModel) -> Path:
        """The folder of `model` with every file in place and checked. What is there already is not fetched again.

        Raises:
            ModelError: offline, refused, interrupted too often, not what was pinned, disk full, or being pulled
                by another process. What was received so far stays for the next pull, unless it is wrong.
        """
        missing = _missing(self._files.folder(model), model)
        if missing:
            self._check(model, missing)
            with self._files.writing(model) as folder, self._client() as client:
                for file in _missing(folder, model):
                    url = f"{self._base}/{model.repository}/resolve/{model.revision}/{file.source}"
                    self._fetch(client, url, file, folder / file.name)
        return self._files.checked(model)

    def _check(self, model: PinnedModel, missing: list[PinnedFile]) -> None:
        folder = self._files.root / model.name / model.revision
        by_hand = f"; `memhub-mcp models add PATH` takes its files from disk: {', '.join(f.name for f in missing)}"
        if self._offline:
            raise ModelError(f"{model.name} is not here and fetching is switched off (offline){by_hand}")
        if not self._base.startswith(("https://", "http://")):
            raise ModelError(f"the mirror {self._base!r} is not an http(s) address; correct {_MIRROR_VARIABLES}")
        needed = sum(file.size - _size(part_of(folder / file.name)) for file in missing)
        if free_bytes(folder) < needed + _SPARE_BYTES:
            raise ModelError(f"{model.name} needs {needed / 1e6:,.0f} MB on the disk of {folder}; make room")

    def _client(self) -> httpx2.Client:
        headers = {"User-Agent": f"memhub-mcp/{__version__}", "Accept-Encoding": "identity"}
        timeout = httpx2.Timeout(self._stalled_s, connect=min(_CONNECT_S, self._stalled_s))
        try:
            return httpx2.Client(headers=headers, timeout=timeout, follow_redirects=True)
        except ImportError as error:
            raise ModelError(
                "the proxy of this environment speaks SOCKS, which takes the package socksio: install it beside"
                " memhub-mcp, or set HTTPS_PROXY to an HTTP proxy and unset ALL_PROXY"
            ) from error
        except (OSError, ValueError, httpx2.InvalidURL) as error:
            raise ModelError(
                f"the proxy or certificate settings of this environment cannot be used ({error}); correct HTTPS_PROXY,"
                " ALL_PROXY or SSL_CERT_FILE"
            ) from error

    def _fetch(self, client: httpx2.Client, url: str, file: PinnedFile, target: Path) -> None:
        part = part_of(target)
        resumed = part.exists()
        self._receive(client, url, file, part)
        if sha256_of(part) != file.sha256 and resumed:
            # What an earlier pull left may be what is wrong: once from the beginning.
            part.unlink()
            self._receive(client, url, file, part)
        if sha256_of(part) != file.sha256:
            part.unlink()
            raise ModelError(
                f"{_shown(url)} is not the pinned file (its digest differs); nothing was kept. Try another mirror"
            )
        os.replace(part, target)  # noqa: PTH105 - atomic, also over an older file

    def _receive(self, client: httpx2.Client, url: str, file: PinnedFile, part: Path) -> None:
        """`part` with exactly as many bytes as were pinned, by as many requests as that takes."""
        failures = 0
        while (have := _size(part)) < file.size:
            try:
                self._request(client, url, file, part, have)
                continue
            except _Again as error:
                again = error
            except httpx2.InvalidURL as error:
                raise ModelError(f"{url} is not an address ({error}); correct {_MIRROR_VARIABLES}") from error
            except httpx2.HTTPError as error:
                again = _Again(f"{type(error).__name__}: {error}".rstrip(": "))
            failures = 0 if _size(part) - have >= _PROGRESS_BYTES else failures + 1
            if failures == _TRIES:
                raise ModelError(
                    f"{_shown(url)} failed {_TRIES} times ({again}); what was received stays for the next pull"
                )
            wait_s = 2.0**failures if again.after_s is None else again.after_s
            self._waiting(f"{file.name}: {again}", wait_s)
            self._sleep(wait_s)

    def _request(self, client: httpx2.Client, url: str, file: PinnedFile, part: Path, have: int) -> None:
        headers = {"Range": f"bytes={have}-"} if have else {}
        with client.stream("GET", url, headers=headers) as response:
            status = response.status_code
            if status == 416 or (status == 206 and not _starts_at(response, have)):
                part.unlink(missing_ok=True)
                raise _Again("the server does not know the range that is missing")
            if status == 429 or status >= 500:
                raise _Again(f"status {status}", _asked_wait_s(response))
            if status not in (200, 206):
                raise ModelError(
                    f"{_shown(str(response.url))} answered {status}; set MEMHUB_MODEL_MIRROR to a mirror that has the"
                    " file, or take it from disk with `memhub-mcp models add PATH`"
                )
            offered = _offered(response)
            if offered is not None and offered != file.size:
                raise ModelError(
                    f"{_shown(str(response.url))} has {offered:,} bytes, not the pinned {file.size:,};"
                    " nothing of it was kept. Try another mirror"
                )
            with part.open("ab" if status == 206 else "wb") as writer:
                done = have if status == 206 else 0
                for block in response.iter_raw():
                    done += len(block)
                    if done > file.size:
                        writer.close()
                        part.unlink()
                        raise ModelError(
                            f"{_shown(url)} is longer than the pinned {file.size:,} bytes; nothing was kept"
                        )
                    writer.write(block)
                    self._progress(file.name, done, file.size)
                writer.flush()
                os.fsync(writer.fileno())
            if done < file.size:
                raise _Again(f"it ended after {done:,} of {file.size:,} bytes")


def _starts_at(response: httpx2.Response, have: int) -> bool:
    return response.headers.get("Content-Range", "").startswith(f"bytes {have}-")


def _offered(response: httpx2.Response) -> int | None:
    """How large the whole file is by the word of the server, None when it does not say."""
    if response.headers.get("Content-Encoding", "identity") != "identity":
        return None
    if response.status_code == 206:
        size = response.headers.get("Content-Range", "").rpartition("/")[2]
    else:
        size = response.headers.get("Content-Length", "")
    return int(size) if size.isdecimal() else None


def _asked_wait_s(response: httpx2.Response) -> float | None:
    """Seconds of a Retry-After header, None without one.

    Raises:
        ModelError: longer than anyone would wait.
    """
    value = response.headers.get("Retry-After", "")
    if not value:
        return None
    try:
        seconds = (
            float(value) if value.isdecimal() else (parsedate_to_datetime(value) - datetime.now(UTC)).total_seconds()
        )
    except (ValueError, TypeError, OverflowError):
        return None
    if seconds > _LONGEST_WAIT_S:
        raise ModelError(f"{response.url.host} asks to wait {seconds:,.0f} s; pull again later")
    return max(0.0, seconds)


def _shown(url: str) -> str:
    """An address without password and signature."""
    return str(httpx2.URL(url).copy_with(username=None, password=None, query=None, fragment=None))


def _size(part: Path) -> int:
    return part.stat().st_size if part.exists() else 0


def _missing(folder: Path, model: PinnedModel) -> list[PinnedFile]:
    return [file for file in model.files if problem_of(folder / file.name, file)]
