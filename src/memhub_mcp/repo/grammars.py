"""What a definition is in each language: node types of its tree-sitter grammar."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Grammar:
    """One language. `module` is its wheel, `function` what hands the parser out.

    `definitions` have a name; `holders` are definitions only when their value is one of `values`.
    `wrappers` around a definition belong to it (a decorator, `export`); `leading` before it describe it.
    `separator` joins the parts of a name.
    """

    name: str
    module: str
    function: str = "language"
    definitions: tuple[str, ...]
    holders: tuple[str, ...] = ()
    values: tuple[str, ...] = ()
    wrappers: tuple[str, ...] = ()
    leading: tuple[str, ...] = ()
    separator: str = "."
    blocks: frozenset[str] = field(default=frozenset())


_SPECS = frozenset({"describe", "context", "suite", "it", "test", "specify", "fdescribe", "fit", "xdescribe", "xit"})
_JS = (
    *("function_declaration", "generator_function_declaration", "class_declaration", "method_definition"),
    *("class", "function_expression"),
)
_JS_HOLDERS = ("variable_declarator", "pair", "assignment_expression", "field_definition", "public_field_definition")
_JS_VALUES = ("arrow_function", "function_expression", "generator_function", "class", "object", "call_expression")
_JS_WRAPPERS = ("export_statement", "lexical_declaration", "variable_declaration", "expression_statement")
_TS = (
    *_JS,
    *("abstract_class_declaration", "interface_declaration", "enum_declaration", "type_alias_declaration"),
    *("internal_module", "module", "function_signature", "method_signature", "abstract_method_signature"),
)
_C = ("function_definition", "struct_specifier", "union_specifier", "enum_specifier", "type_definition")
_C_MORE = ("preproc_function_def",)

PYTHON = Grammar(
    name="python",
    module="tree_sitter_python",
    definitions=("function_definition", "class_definition"),
    wrappers=("decorated_definition",),
)
JAVASCRIPT = Grammar(
    name="javascript",
    module="tree_sitter_javascript",
    definitions=_JS,
    holders=_JS_HOLDERS[:4],
    values=_JS_VALUES,
    wrappers=_JS_WRAPPERS,
    blocks=_SPECS,
)
TYPESCRIPT = Grammar(
    name="typescript",
    module="tree_sitter_typescript",
    function="language_typescript",
    definitions=_TS,
    holders=("variable_declarator", "pair", "assignment_expression", "public_field_definition"),
    values=_JS_VALUES,
    wrappers=(*_JS_WRAPPERS, "ambient_declaration"),
    leading=("decorator",),
    blocks=_SPECS,
)
TSX = Grammar(
    name="tsx",
    module="tree_sitter_typescript",
    function="language_tsx",
    definitions=_TS,
    holders=TYPESCRIPT.holders,
    values=_JS_VALUES,
    wrappers=TYPESCRIPT.wrappers,
    leading=TYPESCRIPT.leading,
    blocks=_SPECS,
)
GO = Grammar(
    name="go",
    module="tree_sitter_go",
    definitions=("function_declaration", "method_declaration", "type_spec", "type_alias"),
    wrappers=("type_declaration",),
)
RUST = Grammar(
    name="rust",
    module="tree_sitter_rust",
    definitions=(
        *("function_item", "function_signature_item", "struct_item", "enum_item", "union_item", "trait_item"),
        *("impl_item", "mod_item", "macro_definition", "const_item", "static_item", "type_item"),
    ),
    leading=("attribute_item",),
    separator="::",
)
JAVA = Grammar(
    name="java",
    module="tree_sitter_java",
    definitions=(
        *("class_declaration", "interface_declaration", "enum_declaration", "record_declaration"),
        *("annotation_type_declaration", "method_declaration", "constructor_declaration"),
        "compact_constructor_declaration",
    ),
)
KOTLIN = Grammar(
    name="kotlin",
    module="tree_sitter_kotlin",
    definitions=(
        *("class_declaration", "object_declaration", "companion_object", "function_declaration"),
        *("secondary_constructor", "type_alias"),
    ),
)
C = Grammar(name="c", module="tree_sitter_c", definitions=(*_C, *_C_MORE))
CPP = Grammar(
    name="cpp",
    module="tree_sitter_cpp",
    definitions=(*_C, "class_specifier", "namespace_definition", "concept_definition", "alias_declaration", *_C_MORE),
    wrappers=("template_declaration",),
    separator="::",
)
CSHARP = Grammar(
    name="c#",
    module="tree_sitter_c_sharp",
    definitions=(
        *("namespace_declaration", "class_declaration", "struct_declaration", "interface_declaration"),
        *("record_declaration", "enum_declaration", "delegate_declaration", "method_declaration"),
        *("constructor_declaration", "destructor_declaration", "property_declaration", "local_function_statement"),
        *("operator_declaration", "indexer_declaration", "event_declaration"),
    ),
)
RUBY = Grammar(
    name="ruby",
    module="tree_sitter_ruby",
    definitions=("module", "class", "singleton_class", "method", "singleton_method"),
    blocks=_SPECS,
)
PHP = Grammar(
    name="php",
    module="tree_sitter_php",
    function="language_php",
    definitions=(
        *("namespace_definition", "class_declaration", "interface_declaration", "trait_declaration"),
        *("enum_declaration", "method_declaration", "function_definition"),
    ),
    separator="::",
)
SWIFT = Grammar(
    name="swift",
    module="tree_sitter_swift",
    definitions=(
        *("class_declaration", "protocol_declaration", "function_declaration", "init_declaration"),
        *("deinit_declaration", "protocol_function_declaration", "subscript_declaration"),
    ),
)

_ENDINGS: dict[Grammar, str] = {
    PYTHON: "py pyi pyw",
    JAVASCRIPT: "js mjs cjs jsx",
    TYPESCRIPT: "ts mts cts",
    TSX: "tsx",
    GO: "go",
    RUST: "rs",
    JAVA: "java",
    KOTLIN: "kt kts",
    C: "c",
    CPP: "h cc cpp cxx c++ hh hpp hxx h++ ipp inl tpp cu cuh",
    CSHARP: "cs",
    RUBY: "rb rake gemspec",
    PHP: "php phtml",
    SWIFT: "swift",
}
_BY_ENDING = {ending: grammar for grammar, endings in _ENDINGS.items() for ending in endings.split()}


def grammar_of(path: str) -> Grammar | None:
    """The grammar of a file by the ending of its name."""
    name, dot, ending = path.rpartition("/")[2].rpartition(".")
    return _BY_ENDING.get(ending.lower()) if name and dot else None
