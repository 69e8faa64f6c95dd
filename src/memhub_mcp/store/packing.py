"""Compact columns: hunks as LEB128 numbers, texts compressed."""

import zlib
from collections.abc import Iterable, Iterator

from memhub_mcp.domain.revision import Hunk


def pack_text(text: str) -> bytes:
    """`text` compressed; lone surrogates survive as `\\uNNNN`."""
    return zlib.compress(text.encode("utf-8", "backslashreplace"), 6)


def unpack_text(packed: bytes) -> str:
    """The text. ValueError when the column holds something else."""
    try:
        return zlib.decompress(packed).decode()
    except zlib.error as error:
        raise ValueError(f"not a compressed text: {error}") from error


def pack_hunks(hunks: Iterable[Hunk]) -> bytes:
    """Four numbers a hunk, seven bits a byte, low bits first."""
    packed = bytearray()
    for hunk in hunks:
        for number in (hunk.old_start, hunk.old_lines, hunk.new_start, hunk.new_lines):
            rest = number
            while rest > 0x7F:
                packed.append(rest & 0x7F | 0x80)
                rest >>= 7
            packed.append(rest)
    return bytes(packed)


def unpack_hunks(packed: bytes) -> tuple[Hunk, ...]:
    """The hunks. ValueError when the column ends within one."""
    numbers = list(_numbers(packed))
    if len(numbers) % 4 or (packed and packed[-1] > 0x7F):
        raise ValueError("a hunk column ends within a hunk")
    return tuple(Hunk(*numbers[at : at + 4]) for at in range(0, len(numbers), 4))


def _numbers(packed: bytes) -> Iterator[int]:
    value = shift = 0
    for byte in packed:
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            yield value
            value = shift = 0
