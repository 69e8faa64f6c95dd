"""Redaction: how fast it reads ordinary patches, and what the worst texts of 1 MiB cost beside 64 KiB of the same."""

import subprocess
import time
from argparse import Namespace

from memhub_mcp.capture.assignments import STEMS
from memhub_mcp.capture.key_formats import KEY_FORMATS
from memhub_mcp.capture.redact import redact

MIB = 1 << 20
LARGEST_PATCH = 256 << 10

NASTY = (
    *("password=", 'password="', "password: a1b2c3d4\n", "_auth=", "?token=", "PASSWORD=a1b2c3 ", "&password=x1y2"),
    *("authorization: bearer ", "bearer a1b2c3d4e5 ", "://a:", "://a:b@", "<password>a1b2</", "--password a1b2c3 "),
    *("-----BEGIN PRIVATE KEY-----\n", "-----BEGIN RSA PRIVATE KEY-----\nabcdabcdabcdabcd\n", "\\", '"', "a1 "),
)


def measure(args: Namespace) -> list[dict[str, object]]:
    """One row for the patches of the repository, one for each of the five slowest texts."""
    command = ["git", "-C", str(args.repo), "log", "-p", "-z", "--format=%H%n%B"]
    log = subprocess.run(command, check=True, capture_output=True).stdout.decode("utf-8", "replace")
    patches = [patch[:LARGEST_PATCH] for patch in log.split("\0") if patch]
    size = sum(map(len, patches))
    seconds = _cpu(*patches)
    texts = {*NASTY, *STEMS, *(literal + "a1B2c3" for _, literals, _ in KEY_FORMATS for literal in literals)}
    slow = sorted(((_cpu(_filled(text, MIB)), text) for text in texts), reverse=True)[:5]
    patch_row: dict[str, object] = {
        "text": f"{len(patches)} patches",
        "MB": round(size / 1e6, 1),
        "CPU ms": round(seconds * 1e3),
        "MB/s": round(size / seconds / 1e6, 1),
    }
    return [patch_row, *(_row(text, took) for took, text in slow)]


def _row(text: str, took: float) -> dict[str, object]:
    small = _cpu(*[_filled(text, MIB // 16)] * 4) / 4
    return {
        "text": repr(text[:24]),
        "MB": 1.0,
        "CPU ms": round(took * 1e3),
        "MB/s": round(MIB / took / 1e6, 1),
        "× 64 KiB": round(took / small, 1),
    }


def _filled(text: str, size: int) -> str:
    return (text * (size // len(text) + 1))[:size]


def _cpu(*texts: str) -> float:
    started = time.process_time()
    for text in texts:
        redact(text)
    return time.process_time() - started
