"""Whether a file is the one we pinned."""

import hashlib
from pathlib import Path

from memhub_mcp.errors import ModelError


def sha256_of(path: Path) -> str:
    """The SHA-256 of a file, lower-case hex.

    Raises:
        ModelError: the file cannot be read.
    """
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise ModelError(f"the model file {path} cannot be read ({error.strerror})") from error


def read_checked(path: Path, sha256: str, *, remedy: str) -> bytes:
    """The content of a file that has this digest.

    Raises:
        ModelError: it cannot be read or has another digest; the text ends with `remedy`.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ModelError(f"the model file {path} cannot be read ({error.strerror}); {remedy}") from error
    found = hashlib.sha256(content).hexdigest()
    if found != sha256:
        raise ModelError(f"the model file {path.name} is damaged (sha256 {found[:12]}…, not {sha256[:12]}…); {remedy}")
    return content
