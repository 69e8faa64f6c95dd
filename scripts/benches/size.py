"""What an installation takes on disk."""

import re
from importlib.metadata import PackageNotFoundError, distribution


def measure(_args: object) -> list[dict[str, object]]:
    """Megabytes of memhub-mcp with all it needs at run time, the largest parts first."""
    sizes = {name: _megabytes(name) for name in _needed("memhub-mcp")}
    largest = sorted(sizes.items(), key=lambda item: -item[1])
    rows: list[dict[str, object]] = [{"package": "all", "MB": round(sum(sizes.values()), 1)}]
    return rows + [{"package": name, "MB": round(size, 1)} for name, size in largest[:12]]


def _needed(root: str) -> set[str]:
    found: set[str] = set()
    waiting = [root]
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        try:
            requires = distribution(name).requires or []
        except PackageNotFoundError:
            continue  # a marker of another platform
        found.add(name)
        waiting += [
            re.split(r"[^A-Za-z0-9._-]", line, maxsplit=1)[0].lower() for line in requires if "extra ==" not in line
        ]
    return found


def _megabytes(name: str) -> float:
    files = distribution(name).files or []
    return sum(path.stat().st_size for file in files if (path := file.locate()).is_file()) / 1e6  # type: ignore[union-attr]
