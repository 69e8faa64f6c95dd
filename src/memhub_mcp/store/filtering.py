"""A `Filter` as SQL, so that what a reader may not see never leaves the database."""

from collections.abc import Callable

from memhub_mcp.domain.memory import Filter
from memhub_mcp.store.values import folder_path, to_json, to_micros

_MIXED = "mixed"
_IN_LIST = "IN (SELECT value FROM json_each(?))"
_NONE_OF = f"""NOT EXISTS (
    SELECT 1 FROM json_each(iif(json_valid(m.sources), m.sources, '[]')) WHERE value {_IN_LIST})"""
_OWN_OR_CONFIRMED = """(m.origin_id = ? OR EXISTS (
    SELECT 1 FROM confirmation AS c WHERE c.memory = m.seq AND c.version = m.version))"""
_FILES = """m.seq IN (
    SELECT f.memory FROM json_each(?) AS wanted JOIN memory_file AS f
    ON f.path = wanted.value OR (f.path >= wanted.value || '/' AND f.path < wanted.value || '0'))"""


def conditions(filter_: Filter) -> tuple[str, list[str | int]]:
    """A condition on `memory AS m`, with its parameters. '0' is the character after '/'."""
    parts: list[str] = []
    params: list[str | int] = []

    def narrow(part: str, *values: str | int) -> None:
        parts.append(part)
        params.extend(values)

    if filter_.statuses:
        narrow(f"m.status {_IN_LIST}", to_json(sorted(filter_.statuses)))
    if filter_.anchors is not None:
        narrow(f"(m.anchor IS NULL OR m.anchor {_IN_LIST})", to_json(sorted(filter_.anchors)))
    if filter_.kinds:
        narrow(f"m.kind {_IN_LIST}", to_json(sorted(filter_.kinds)))
    if filter_.since is not None:
        narrow("m.updated_at >= ?", to_micros(filter_.since))
    if filter_.until is not None:
        narrow("m.updated_at <= ?", to_micros(filter_.until))
    if filter_.valid_at is not None:
        narrow("(m.valid_until IS NULL OR m.valid_until > ?)", to_micros(filter_.valid_at))
    if filter_.undisputed:
        narrow("m.wrong + m.outdated <= m.useful")
    if filter_.told_in is not None:
        narrow(_OWN_OR_CONFIRMED, filter_.told_in)
    if filter_.shadowed:
        narrow(f"m.seq NOT {_IN_LIST}", to_json(sorted(filter_.shadowed)))
    folders = [folder_path(path) for path in filter_.files]
    if folders and not {"", "."} & set(folders):
        narrow(_FILES, to_json(folders))
    _narrow_sources(filter_, narrow)
    return " AND ".join(parts) or "TRUE", params


def _narrow_sources(filter_: Filter, narrow: Callable[..., None]) -> None:
    included, excluded = filter_.include_sources, filter_.exclude_sources
    if included:
        narrow(f"m.source {_IN_LIST}", to_json(sorted(included)))
    if excluded:
        shut_out = excluded if _MIXED in included else excluded | {_MIXED}
        narrow(f"m.source NOT {_IN_LIST}", to_json(sorted(shut_out)))
        if _MIXED in included:
            narrow(_NONE_OF, to_json(sorted(excluded)))
