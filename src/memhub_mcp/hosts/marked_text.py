"""A block between two marks in a Markdown file.

`remove` after `put` gives the former text back.
"""

from memhub_mcp.errors import ConfigError
from memhub_mcp.hosts.lines import line_end, position_of, without_blank_line

BEGIN = "<!-- memhub:begin -->"
END = "<!-- memhub:end -->"


def find(text: str) -> str | None:
    """What stands between the marks, with newlines, None without them.

    Raises:
        ConfigError: one mark without the other; says line and column.
    """
    extent = _extent(text)
    if extent is None:
        return None
    return text[extent[0] + len(BEGIN) : extent[1] - len(END)].replace("\r\n", "\n").strip("\n")


def put(text: str, content: str) -> str:
    """`text` with `content` between the marks: in place of the former, else at the end."""
    newline = line_end(text)
    block = f"{BEGIN}\n{content}\n{END}".replace("\n", newline)
    extent = _extent(text)
    if extent is not None:
        return text[: extent[0]] + block + text[extent[1] :]
    if text and not text.endswith("\n"):
        return f"{text}{newline}{newline}{block}"
    return f"{text}{newline if text else ''}{block}{newline}"


def remove(text: str) -> str:
    """`text` without the marks and what is between them, however often a merge of branches repeated them."""
    while (extent := _extent(text)) is not None:
        text = without_blank_line(text, *extent)
    return text


def _extent(text: str) -> tuple[int, int] | None:
    start, end = text.find(BEGIN), text.find(END)
    if start < 0 and end < 0:
        return None
    if start < 0 or end < start:
        where = position_of(text, max(start, end))
        raise ConfigError(f"{where}: {BEGIN} and {END} do not stand in a pair; remove the single one")
    return start, end + len(END)
