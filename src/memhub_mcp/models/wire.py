"""Messages between the process that holds a model and those that use it: JSON and float32 arrays, never pickle."""

import json
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

PROTOCOL = 1
"""Raised when an older process could no longer understand a message."""

MAX_BYTES = 64 << 20

_LENGTH_BYTES = 4


def pack(header: dict[str, Any], arrays: Sequence[NDArray[np.float32]] = ()) -> bytes:
    """One message."""
    described = header | {"arrays": [list(array.shape) for array in arrays]} if arrays else header
    head = json.dumps(described, separators=(",", ":")).encode("ascii")
    body = b"".join(np.ascontiguousarray(array, dtype="<f4").tobytes() for array in arrays)
    return len(head).to_bytes(_LENGTH_BYTES, "big") + head + body


def unpack(message: bytes) -> tuple[dict[str, Any], list[NDArray[np.float32]]]:
    """The header and the arrays of one message.

    Raises:
        ValueError: it is not one of ours.
    """
    start = _LENGTH_BYTES + int.from_bytes(message[:_LENGTH_BYTES], "big")
    header = json.loads(message[_LENGTH_BYTES:start])
    if not isinstance(header, dict):
        raise ValueError("not a message")
    arrays: list[NDArray[np.float32]] = []
    for shape in header.get("arrays", ()):
        count = math.prod(shape)
        arrays.append(np.frombuffer(message, dtype="<f4", count=count, offset=start).reshape(shape))
        start += 4 * count
    return header, arrays
