"""Configuration files as people and programs write them: any spacing, any comments, any line ends."""

import json

from hypothesis import strategies as st

NEWLINES = ("\n", "\r\n")
names = st.sampled_from(["a", "theme", "mcpServers", "hooks", "ключ", 'quo"te', "with space", "🙂"])
_words = st.sampled_from(["", "x", "// no comment", "/* none */", "[", "}", "é", "a\\b", "#"])
_theirs = st.sampled_from(
    [
        '"memhub": {"command": "docker", "args": ["run"] /* mine */}',
        '"memhub": null',
        '"memhub": ["/opt/other/server"],',
    ]
)


def _spaces(draw: st.DrawFn, newlines: tuple[str, ...]) -> str:
    newline = draw(st.sampled_from(newlines))
    return draw(
        st.sampled_from(
            [
                "",
                " ",
                "\t",
                newline,
                f"{newline}  ",
                f"{newline}\t\t",
                f"{newline}{newline}    ",
                f" // note{newline}",
                "/* { */",
                f" /*{newline}*/ ",
            ]
        )
    )


def _value(draw: st.DrawFn, depth: int, newlines: tuple[str, ...], others: bool) -> str:
    def space() -> str:
        return _spaces(draw, newlines)

    kind = draw(st.sampled_from(["scalar", "object", "array"] if depth else ["object"])) if depth < 3 else "scalar"
    if kind == "scalar":
        return draw(
            st.one_of(_words.map(json.dumps), st.integers(-5, 99).map(str), st.sampled_from(["true", "null", "1.5e3"]))
        )
    parts: list[str] = []
    for name in draw(st.lists(names, max_size=3)):  # not unique: of equal keys the last counts
        key = f"{json.dumps(name, ensure_ascii=False)}{space()}:{space()}" if kind == "object" else ""
        parts.append(f"{space()}{key}{_value(draw, depth + 1, newlines, others)}{space()}")
    if others and kind == "object" and draw(st.booleans()):
        parts.insert(draw(st.integers(0, len(parts))), f"{space()}{draw(_theirs).removesuffix(',')}{space()}")
    inner = ",".join(parts) or space()
    if parts and draw(st.booleans()):
        inner += "," + space()
    return f"{{{inner}}}" if kind == "object" else f"[{inner}]"


def _newlines(draw: st.DrawFn) -> tuple[str, ...]:
    """Of one kind, or mixed."""
    return draw(st.sampled_from([NEWLINES[:1], NEWLINES[1:], NEWLINES]))


@st.composite
def jsonc(draw: st.DrawFn, *, others: bool = False) -> str:
    """A JSON object with comments, trailing commas, equal keys and uneven spacing; with `others`, a memhub in it."""
    newlines = _newlines(draw)
    return _spaces(draw, newlines) + _value(draw, 0, newlines, others) + _spaces(draw, newlines)


@st.composite
def comments(draw: st.DrawFn) -> str:
    """A file of JSON with nothing in it but comments."""
    newline = draw(st.sampled_from(NEWLINES))
    lines = draw(st.lists(st.sampled_from(["// mine", "/* { */", "", "  // {}"]), min_size=1, max_size=3))
    return newline.join(lines) + draw(st.sampled_from(["", newline]))


_ASSIGNMENTS = (
    "1",
    '"x # y"',
    "'[z]'",
    '"""a\n[b]\n"""',
    "[1, [2],\n  3] # c",
    "{ k = [1] }",
    "'''\n]'''",
    "1979-05-27",
)
_TABLES = (
    '[mcp_servers.other]\ncommand = "x"',
    '[mcp_servers."other name".env]\nKEY = "[x]"',
    "[mcp_servers]",
    '\t[ mcp_servers . third ]\n\tcommand = "x" # ]',
    "[[products]]\nname = 1\n\n[[products]]",
    "[a.b.c]\nd.e.f = 1",
)
_BY_OTHERS = (
    '[mcp_servers.memhub]\ncommand = "docker"\nargs = ["run"] # mine',
    '[mcp_servers.memhub]\ncommand = "docker"\n\n[mcp_servers.memhub.env]\nKEY = "1"',
    "  [mcp_servers.memhub]  # theirs\n  url = 'https://example.org'",
    "[mcp_servers]\nmemhub = { command = 'x' }",
)


@st.composite
def toml(draw: st.DrawFn, *, others: bool = False) -> str:
    """A TOML file with comments, several kinds of strings, keys and tables; with `others`, a memhub in it."""
    lines: list[str] = []
    filler = st.sampled_from(["", "# [mcp_servers.memhub]", "   ", "\t# }"])
    if draw(st.booleans()):
        lines.append(draw(st.sampled_from(['mcp_servers.dotted.command = "x"', "mcp_servers = {}", "x.'y z' = {}"])))
    for number in range(draw(st.integers(0, 3))):
        lines.append(draw(filler))
        if number or draw(st.booleans()):
            lines.append(f"[table.t{number}]" + draw(st.sampled_from(["", " # [x]"])))
        lines += [f"k{key} = {draw(st.sampled_from(_ASSIGNMENTS))}" for key in range(draw(st.integers(0, 2)))]
    blocks = draw(st.lists(st.sampled_from(_TABLES), max_size=3, unique=True))
    if others:
        blocks.insert(draw(st.integers(0, len(blocks))), draw(st.sampled_from(_BY_OTHERS)))
    for block in blocks:
        lines += [block, draw(filler)]
    text = "\n".join(lines) + draw(st.sampled_from(["", "\n", "\n\n"]))
    newlines = _newlines(draw)
    *whole, last = text.split("\n")
    return "".join(line + draw(st.sampled_from(newlines)) for line in whole) + last


@st.composite
def markdown(draw: st.DrawFn) -> str:
    """Lines of text."""
    newlines = _newlines(draw)
    lines = draw(st.lists(st.sampled_from(["# Title", "", "text", "<!-- other -->", "  é", "```", "\tx"]), max_size=5))
    text = "".join(line + draw(st.sampled_from(newlines)) for line in lines)
    return text + draw(st.sampled_from(["", "the end"]))
