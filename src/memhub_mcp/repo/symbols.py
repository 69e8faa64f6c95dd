"""The functions, classes and methods of a file, with the lines they take. Hostile files cost a bounded time."""

import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha1
from importlib import import_module

from tree_sitter import Language, Node, Parser, Query, QueryCursor

from memhub_mcp.repo.grammars import Grammar, grammar_of

MAX_BYTES = 1 << 20
MAX_LINES = 20_000
MAX_LINE = 20_000
DEADLINE_S = 0.25
_MOST_SYMBOLS = 20_000
_NAME_CHARACTERS = 120
_CHUNK = 65_536
_MOST_BROKEN = 5_000
_MOST_KEPT = 256
_NAMED = ("name", "declarator", "left", "key", "property", "type")
_FINAL = frozenset(
    {
        *("identifier", "field_identifier", "type_identifier", "property_identifier", "private_property_identifier"),
        *("qualified_identifier", "destructor_name", "operator_name", "operator_cast", "namespace_identifier"),
        *("constant", "simple_identifier", "nested_namespace_specifier", "string", "member_expression"),
    }
)

_OF_NAMES = frozenset({"object", "call_expression"})
_NAMES = frozenset({"variable_declarator", "assignment_expression"})
_CALLS = frozenset({"call", "call_expression"})
_BODIES = frozenset({"struct_specifier", "union_specifier", "enum_specifier", "class_specifier"})
_DESCRIBING = frozenset(
    {
        *("annotation", "marker_annotation", "attribute", "attribute_list", "attribute_declaration", "decorator"),
        *("comment", "line_comment", "block_comment"),
    }
)
_NAMELESS = {
    "companion_object": "Companion",
    "secondary_constructor": "constructor",
    "init_declaration": "init",
    "deinit_declaration": "deinit",
    "subscript_declaration": "subscript",
}


@dataclass(frozen=True, slots=True)
class Symbol:
    """A definition. `name` is qualified (`HTTPAdapter.send`), `detail` tells overloads apart. Lines count from 0.

    It starts with its signature, as git's line log has it, in Python with its decorators; `lead` is where what
    describes it starts: annotations, attributes, `template <…>`.
    """

    name: str
    start: int
    end: int
    lead: int
    detail: str = ""


@dataclass(frozen=True, slots=True)
class FileSymbols:
    """The definitions of one file in order, or why there are none."""

    symbols: tuple[Symbol, ...] = ()
    why: str | None = None


_kept: dict[tuple[str, bytes], FileSymbols] = {}


def read_symbols(path: str, data: bytes) -> FileSymbols:
    """The symbols of a file. A file that parses in part keeps those of the parts that do.

    What was read is kept by content, so that a text is parsed once a process.
    """
    grammar = grammar_of(path)
    if grammar is None:
        return FileSymbols(why="no parser for this kind of file")
    key = (grammar.name, sha1(data, usedforsecurity=False).digest())
    found = _kept.get(key)
    if found is None:
        found = _parse(grammar, data)
        if found.why is None:  # one that took too long may be quicker next time
            _kept[key] = found
            while len(_kept) > _MOST_KEPT:
                _kept.pop(next(iter(_kept), key), None)
    return found


def _parse(grammar: Grammar, data: bytes) -> FileSymbols:
    if reason := _unfit(data):
        return FileSymbols(why=reason)
    loaded = _load(grammar)
    if loaded is None:
        return FileSymbols(why=f"the {grammar.name} parser is not installed")
    language, query = loaded
    deadline = time.monotonic() + DEADLINE_S

    # Both live as long as the tree: it does not hold on to them.
    def late(*_: object) -> bool:
        return time.monotonic() > deadline

    def read(at: int, _: object) -> bytes:
        return data[at : at + _CHUNK]

    try:
        # A read callback: parsing bytes would hold the interpreter and never ask for the time.
        tree = Parser(language).parse(read, progress_callback=late)
    except ValueError:
        return FileSymbols(why=f"parsing took over {round(DEADLINE_S * 1000)} ms")
    if _too_broken(tree.root_node, late):
        return FileSymbols(why="too little of the file parses")
    found = QueryCursor(query).captures(tree.root_node).get("definition", [])
    return FileSymbols(tuple(_Reader(grammar, data).symbols(found[:_MOST_SYMBOLS])))


def find_symbols(symbols: Sequence[Symbol], wanted: str) -> list[Symbol]:
    """The symbols that `wanted` names: all of it, else its end; overloads are several.

    Written as people write: `Foo::bar`, `Foo#bar`, `func (s *Srv) Run`, `impl Foo::bar`, `const handler = () =>`.
    """
    key = _key(wanted)
    if not key:
        return []
    keys = [(_key(symbol.name), symbol) for symbol in symbols]
    for matches in (
        [symbol for name, symbol in keys if f"{name}{_key_detail(symbol)}" == key],
        [symbol for name, symbol in keys if name == key],
        [symbol for name, symbol in keys if name.endswith(f".{key}")],
        [symbol for name, symbol in keys if name.lower() == key.lower() or name.lower().endswith(f".{key.lower()}")],
    ):
        if matches:
            return matches
    return []


def enclosing(symbols: Sequence[Symbol], line: int) -> Symbol | None:
    """The innermost symbol that holds a line (counted from 0)."""
    holding = [symbol for symbol in symbols if symbol.lead <= line < symbol.end]
    return min(holding, key=lambda symbol: symbol.end - symbol.lead, default=None)


def _unfit(data: bytes) -> str | None:
    if len(data) > MAX_BYTES:
        return "the file is over 1 MiB"
    if b"\0" in data:
        return "the file holds NUL bytes"
    lines = data.split(b"\n")
    if len(lines) > MAX_LINES:
        return f"the file has over {MAX_LINES:,} lines"
    if max(map(len, lines)) > MAX_LINE:
        return f"a line has over {MAX_LINE:,} characters"
    return None


def _too_broken(root: Node, late: Callable[[], bool]) -> bool:
    """Whether querying the tree could take long: it does in proportion to the square of what an error node holds.

    The query's own progress callback is no help: in tree-sitter 0.26.1 it jumps to freed memory.
    """
    budget = _MOST_BROKEN**2
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if node.is_error:
            budget -= node.child_count**2
        if budget < 0 or late():
            return True
        waiting += [child for child in node.children if child.has_error]
    return False


@cache
def _load(grammar: Grammar) -> tuple[Language, Query] | None:
    """The parser, loaded when a file needs it: few repositories speak all languages, and a wheel may be missing."""
    try:
        module = import_module(grammar.module)
    except ImportError:
        return None
    language = Language(getattr(module, grammar.function)())  # pyright: ignore[reportDeprecated] - a capsule, not an int
    nodes = [*grammar.definitions, *grammar.holders]
    if grammar.blocks:
        nodes.append("call" if grammar.name == "ruby" else "call_expression")
    pattern = " ".join(f"({node})" for node in nodes if language.id_for_node_kind(node, True))
    return language, Query(language, f"[{pattern}] @definition")


class _Reader:
    """Makes symbols of the nodes of one file."""

    def __init__(self, grammar: Grammar, data: bytes) -> None:
        self._grammar = grammar
        self._data = data

    def symbols(self, nodes: Sequence[Node]) -> Iterator[Symbol]:
        """Symbols with the names of those around them before theirs."""
        around: list[tuple[int, str]] = []
        seen: set[tuple[int, int, str]] = set()
        for node in sorted(nodes, key=lambda node: (node.start_byte, -node.end_byte)):
            name = self._name(node)
            if not name:
                continue
            while around and around[-1][0] <= node.start_byte:
                around.pop()
            qualified = self._grammar.separator.join([*(outer for _, outer in around), name])
            around.append((node.end_byte, name))
            lead, start, end = self._lines(node)
            if (start, end, qualified) not in seen:
                seen.add((start, end, qualified))
                yield Symbol(qualified, start, end, lead, self._detail(node))

    def _lines(self, node: Node) -> tuple[int, int, int]:
        """Where a definition begins with what describes it, where without, and where it ends.

        Decorators of Python, `export` and the like belong to it, where they hold nothing else.
        """
        signature = _signature_line(node)
        while (parent := node.parent) is not None and parent.type in self._grammar.wrappers:
            if sum(child.type == node.type for child in parent.named_children) > 1:
                break
            node = parent
            if node.type != "template_declaration":
                signature = node.start_point[0]
        lead = node
        while (before := lead.prev_sibling) is not None and before.type in self._grammar.leading:
            lead = before
        return lead.start_point[0], signature, node.end_point[0] + (node.end_point[1] > 0)

    def _name(self, node: Node) -> str:
        if node.type in _CALLS:
            return self._block_name(node)
        if node.type in self._grammar.holders:
            value = node.child_by_field_name("value") or node.child_by_field_name("right")
            if value is None or value.type not in self._grammar.values:
                return ""
            if value.type in _OF_NAMES and node.type not in _NAMES:
                return ""
            if value.type == "call_expression" and not _is_given_a_function(value):
                return ""
        if node.type in _BODIES and node.child_by_field_name("body") is None:
            return ""
        name = self._text(_name_node(node)) or _NAMELESS.get(node.type, "")
        receiver = node.child_by_field_name("receiver")
        if receiver is not None and name:  # func (s *Srv) Run
            words = re.findall(r"\w+", self._text(receiver).partition("[")[0])
            name = f"{words[-1]}.{name}" if words else name
        return _plain(name)

    def _block_name(self, node: Node) -> str:
        """The title of a `describe` or `it` block."""
        function = node.child_by_field_name("function") or node.child_by_field_name("method")
        if self._text(function).partition(".")[0] not in self._grammar.blocks:
            return ""
        arguments = node.child_by_field_name("arguments")
        if arguments is None or not arguments.named_children:
            return ""
        if node.type == "call_expression" and not _is_given_a_function(node):
            return ""
        return " ".join(self._text(arguments.named_children[0]).strip("\"'`").split())[:_NAME_CHARACTERS]

    def _detail(self, node: Node) -> str:
        """The parameters, by which overloads differ."""
        current: Node | None = node
        for _ in range(4):
            if current is None:
                break
            if (parameters := current.child_by_field_name("parameters")) is not None:
                return " ".join(self._text(parameters).split())[:_NAME_CHARACTERS]
            current = current.child_by_field_name("declarator")
        return ""

    def _text(self, node: Node | None) -> str:
        return self._data[node.start_byte : node.end_byte].decode("utf-8", "replace") if node is not None else ""


def _signature_line(node: Node) -> int:
    """The line of the first word of a definition that is no annotation, attribute or comment."""
    waiting = node.children[::-1]
    while waiting:
        first = waiting.pop()
        if first.type == "modifiers":
            waiting += first.children[::-1]
        elif first.type not in _DESCRIBING:
            return first.start_point[0]
    return node.start_point[0]


def _name_node(node: Node) -> Node | None:
    """The node that spells the name: by its field, through declarators as deep as C nests them."""
    current = node
    for _ in range(12):
        if current is not node and (current.type in _FINAL or current.child_count == 0):
            return current
        found = next((inner for field in _NAMED if (inner := current.child_by_field_name(field)) is not None), None)
        if found is None:
            break
        current = found
    return next((child for child in current.named_children if child.type in _FINAL), None)


def _is_given_a_function(call: Node) -> bool:
    """As in `memo(() => …)` or `it("…", function () {…})`."""
    arguments = call.child_by_field_name("arguments")
    return arguments is not None and any(
        child.type in ("arrow_function", "function_expression", "generator_function")
        for child in arguments.named_children
    )


def _plain(name: str) -> str:
    """A name without generics and blanks."""
    name = re.sub(r"<[^<>]{0,200}>", "", name) if "operator" not in name else name
    return " ".join(name.split())[:_NAME_CHARACTERS].strip("\"'")


_RECEIVER = re.compile(r"^\(\s*(?:\w+\s+)?\*?\s*(\w+)[^)]*\)\s*\.?\s*")
_KEYWORDS = re.compile(
    r"^(?:(?:export|default|async|pub|static|public|private|protected|def|class|func|function|fn|impl|struct|trait"
    r"|interface|enum|const|let|var|type|module|mod|namespace|fun|object)\s+)+"
)


def _key(name: str) -> str:
    """A name in the one spelling in which names are compared."""
    name = _KEYWORDS.sub("", " ".join(name.split())[:400])
    name = _RECEIVER.sub(r"\1.", name)
    name = re.sub(r"\s*=\s*(?:async\s*)?(?:function\b.*|\(?[^()]*\)?\s*=>.*)$", "", name)
    name = re.sub(r"\s*\(\s*\)?$", "", name)
    return re.sub(r"::|#|->|\s*\.\s*", ".", _plain(name)).strip(".")


def _key_detail(symbol: Symbol) -> str:
    return _plain(symbol.detail)
