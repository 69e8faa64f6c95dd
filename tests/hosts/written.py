"""Configuration files as people write them: any spacing, any comments, any line ends."""

from typing import Any

from hypothesis import strategies as st

names = st.sampled_from(["a", "theme", "mcpServers", "hooks", "ключ", 'quo"te', "with space", "🙂"])
_words = st.sampled_from(["", "x", "// no comment", "/* none */", "[", "}", "é", "a\\b", "#"])


def _spaces(draw: st.DrawFn, newline: str) -> str:
    return draw(
        st.sampled_from(["", " ", "\t", newline, f"{newline}  ", f" // note{newline}", "/* { */", f" /*{newline}*/ "])
    )


def _value(draw: st.DrawFn, depth: int, newline: str) -> str:
    import json

    def space() -> str:
        return _spaces(draw, newline)

    kind = draw(st.sampled_from(["scalar", "object", "array"] if depth else ["object"])) if depth < 3 else "scalar"
    if kind == "scalar":
        return draw(
            st.one_of(_words.map(json.dumps), st.integers(-5, 99).map(str), st.sampled_from(["true", "null", "1.5e3"]))
        )
    parts: list[str] = []
    used = draw(st.lists(names, max_size=3, unique=True))
    for name in used:
        key = f"{json.dumps(name, ensure_ascii=False)}{space()}:{space()}" if kind == "object" else ""
        parts.append(f"{space()}{key}{_value(draw, depth + 1, newline)}{space()}")
    inner = ",".join(parts) or space()
    if parts and draw(st.booleans()):
        inner += "," + space()
    return f"{{{inner}}}" if kind == "object" else f"[{inner}]"


@st.composite
def jsonc(draw: st.DrawFn) -> str:
    """A JSON object with comments, trailing commas and uneven spacing."""
    newline = draw(st.sampled_from(["\n", "\r\n"]))
    return _spaces(draw, newline) + _value(draw, 0, newline) + _spaces(draw, newline)


@st.composite
def toml(draw: st.DrawFn) -> str:
    """A TOML file with comments, several kinds of strings and tables."""
    newline = draw(st.sampled_from(["\n", "\r\n"]))
    lines: list[str] = []
    filler: Any = st.sampled_from(["", "# [mcp_servers.memhub]", "   "])
    values = st.sampled_from(
        ["1", '"x # y"', "'[z]'", '"""a\n[b]\n"""', "[1, [2],\n  3] # c", "{ k = [1] }", "'''\n]'''"]
    )
    for number in range(draw(st.integers(0, 3))):
        lines.append(draw(filler))
        if number or draw(st.booleans()):
            lines.append(f"[table.t{number}]" + draw(st.sampled_from(["", " # [x]"])))
        lines += [f"k{key} = {draw(values)}" for key in range(draw(st.integers(0, 2)))]
    if draw(st.booleans()):
        lines += ["[mcp_servers.other]", 'command = "x"']
    text = "\n".join(lines) + draw(st.sampled_from(["", "\n", "\n\n"]))
    return text.replace("\n", newline)


@st.composite
def markdown(draw: st.DrawFn) -> str:
    """Lines of text."""
    newline = draw(st.sampled_from(["\n", "\r\n"]))
    lines = draw(st.lists(st.sampled_from(["# Title", "", "text", "<!-- other -->", "  é"]), max_size=5))
    return newline.join(lines)
