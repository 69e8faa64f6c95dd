"""Files whose content is never stored, only their path and size.

Names alone decide here; what git ignores and `.memhubignore` are matched where the repository is read.
Standard library only: the hook path imports this.
"""

_STARTS = (".env", "id_", "credentials")
_ENDS = (".pem", ".key", ".p12", ".pfx", ".ppk", ".jks", ".keystore", ".kdbx", ".tfstate", ".tfstate.backup", ".env")
_NAMES = frozenset({".npmrc", ".netrc", "_netrc", ".pypirc", ".pgpass", ".htpasswd", ".git-credentials"})

# id_map.go and credentials_provider.py are code: redaction takes the secrets out of those.
_CODE = (
    *(".py", ".pyi", ".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts", ".vue", ".svelte", ".go", ".rs"),
    *(".java", ".kt", ".kts", ".scala", ".c", ".h", ".cc", ".cpp", ".hpp", ".cs", ".m", ".swift", ".rb", ".php"),
    *(".ex", ".exs", ".erl", ".hs", ".clj", ".dart", ".lua", ".pl", ".r", ".sql", ".proto", ".md", ".rst", ".html"),
)


def is_never_stored(path: str) -> bool:
    """Whether the name of `path` says that it holds secrets. Either slash, any case."""
    name = path.replace("\\", "/").rstrip("/").rpartition("/")[2].lower()
    if name in _NAMES or name.endswith(_ENDS):
        return True
    return name.startswith(_STARTS) and not (name.endswith(_CODE) and not name.startswith(".env"))
