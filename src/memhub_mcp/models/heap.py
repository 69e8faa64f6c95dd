"""Memory that the C library keeps after a free goes back to the system."""

import ctypes
import gc
import sys

_M_MMAP_THRESHOLD = -3
_LARGE_BYTES = 1 << 20


def return_large_blocks() -> None:
    """From now on blocks of a mebibyte and more go back to the system when they are freed (glibc).

    By itself the C library keeps more of them with every thread that freed some: after 16 threads had embedded long
    texts a process stood at 474 MB, with this at 170.
    """
    _call("mallopt", _M_MMAP_THRESHOLD, _LARGE_BYTES)


def give_back() -> None:
    """Return freed memory to the system, where the C library can be asked to (glibc).

    Loading MiniLM leaves 60 MB of freed copies of its weights with the allocator.
    """
    gc.collect()
    _call("malloc_trim", 0)


def _call(name: str, *numbers: int) -> None:
    if sys.platform == "linux":
        function = getattr(ctypes.CDLL(None), name, None)
        if function is not None:
            function(*numbers)
