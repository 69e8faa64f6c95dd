"""Replies of the service as a person reads them."""

from collections.abc import Sequence

from memhub_mcp.capture.markers import CLOSING_MARKER, OPENING_MARKER
from memhub_mcp.cli.terminal import Page, ago, clean, count_of
from memhub_mcp.domain.replies import HitReply, MemoryReply, RecallReply, ScopeReply
from memhub_mcp.retrieval.packing import NEWEST_FIRST


def show_hits(page: Page, reply: RecallReply) -> None:
    """Hits, best first, each as its preview and one line about where it comes from."""
    for hit in reply["hits"]:
        _show_hit(page, hit)
    if not reply["hits"]:
        page.line("nothing relevant is known" if reply["nothing_relevant"] else "nothing is stored here yet")
    mode = reply["mode"]
    if mode["dense"] in ("off", "loading"):
        page.paragraph(f"by words alone, meaning is {mode['dense']}: {mode.get('why', 'no reason known')}", how="dim")
    show_notes(page, reply.get("notes", ()))
    if "cursor" in reply:
        page.line(page.mark(f"more: --cursor {clean(reply['cursor'])}", "dim"))


def show_memory(page: Page, memory: MemoryReply) -> None:
    """One memory in full."""
    page.line(f"{page.mark(memory['id'], 'bold')}  {memory['kind']}, {memory['tier']}, {memory['status']}")
    page.paragraph(_unfenced(memory["text"]), indent=2)
    if "solution" in memory:
        page.paragraph(f"solution: {memory['solution']}", indent=2)
    if "environment" in memory:
        page.paragraph(f"environment: {memory['environment']}", indent=2)
    lists = {"files": memory.get("files"), "symbols": memory.get("symbols"), "asked as": memory.get("search_keys")}
    for name, values in lists.items():
        if values:
            page.paragraph(f"{name}: {', '.join(values)}", indent=2)
    about = [memory["source"], memory.get("branch"), memory.get("commit", "")[:10], ago(memory["at"])]
    about += [f"subject {memory['subject']}" if "subject" in memory else None, memory.get("state")]
    about += [f"confirmed {ago(memory['confirmed'])}" if "confirmed" in memory else None]
    about += [f"valid until {memory['valid_until']}" if "valid_until" in memory else None]
    page.paragraph(" · ".join(part for part in about if part), indent=2, how="dim")
    for version in memory.get("versions", []):
        page.paragraph(f"version {version.get('version')}: {version.get('text')}", indent=2, how="dim")
    for link in memory.get("links", []):
        page.paragraph(" ".join(link.values()), indent=2, how="dim")


def show_notes(page: Page, notes: Sequence[str]) -> None:
    """Remarks of the service."""
    for note in notes:
        page.paragraph(f"note: {note}", how="yellow")


def where(scope: ScopeReply) -> str:
    """The scope in a few words."""
    if scope["workspace"] is None:
        return "no repository: user memories only"
    place = scope["workspace"]
    if scope["branch"]:
        place += f", branch {scope['branch']}"
    if scope["head"]:
        place += f" at {scope['head'][:10]}"
    if scope.get("hidden"):
        place += f" ({count_of(scope.get('hidden', 0), 'memory')} of other branches hidden)"
    return place


def _unfenced(text: str) -> str:
    """Marks that tell a model where evidence ends mean nothing to a person."""
    return text.removeprefix(OPENING_MARKER).removesuffix(CLOSING_MARKER).strip("\n")


def _show_hit(page: Page, hit: HitReply) -> None:
    page.paragraph(_unfenced(hit["preview"]), how="bold" if hit["type"] == "memory" else None)
    about = [hit["id"], hit["kind"], hit["source"], hit.get("branch"), hit.get("commit", "")[:10], ago(hit["at"])]
    about += [
        hit.get("state"),
        None if hit["why"] == NEWEST_FIRST else hit["why"],
        f"{hit['similar']} more like it" if "similar" in hit else None,
    ]
    page.paragraph(" · ".join(part for part in about if part), indent=2, how="dim")
    for version in hit["chain"]["versions"] if "chain" in hit else ():
        words = [f"{version['version']}.", version["commit"][:10] if "commit" in version else "not committed"]
        words += [version[key] for key in ("subject", "said") if key in version]
        words += [f"{key.replace('_', ' ')} {version[key]}" for key in ("same_as", "reverted_by") if key in version]
        page.paragraph(" · ".join([*words, *(["current"] if version.get("current") else [])]), indent=4, how="dim")
        for line in clean(_unfenced(version.get("code", ""))).splitlines():
            page.line(f"      {line}")
