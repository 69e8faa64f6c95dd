"""`memhub-mcp doctor`"""

from collections.abc import Iterator

from memhub_mcp.cli import checks
from memhub_mcp.cli.checks import Finding
from memhub_mcp.cli.host_checks import check_hosts
from memhub_mcp.cli.opening import settings_from
from memhub_mcp.cli.parsing import verb_parser
from memhub_mcp.cli.terminal import Page, print_json
from memhub_mcp.settings import Settings

_COLOURS = {"ok": "green", "warn": "yellow", "fail": "red"}


def run(words: list[str]) -> int:
    """Checks this installation and its data; exit 1 when something fails."""
    parser = verb_parser("doctor", "Check this installation and its data, and say what to do.", as_json=True)
    args = parser.parse_args(words)
    settings = settings_from(args)
    page = Page(plain=settings.plain)
    findings: list[Finding] = []
    for finding in _findings(settings):
        findings.append(finding)
        if not args.json:
            _show(page, finding)
    failed = any(finding.state == "fail" for finding in findings)
    if args.json:
        print_json({"ok": not failed, "checks": [_described(finding) for finding in findings]})
    return 1 if failed else 0


def _findings(settings: Settings) -> Iterator[Finding]:
    yield from checks.check_program()
    yield from checks.check_home(settings.home)
    yield from checks.check_stores(settings.home)
    yield from checks.check_spool(settings.home)
    yield from checks.check_models(settings)
    yield from checks.check_repository(settings)
    yield from check_hosts(settings)


def _show(page: Page, finding: Finding) -> None:
    page.item(page.mark(f"{finding.state:<4}", _COLOURS[finding.state]), f"{finding.name}: {finding.text}", width=6)
    if finding.todo:
        page.paragraph(f"→ {finding.todo}", indent=6)


def _described(finding: Finding) -> dict[str, str]:
    described = {"name": finding.name, "state": finding.state, "finding": finding.text}
    return {**described, "todo": finding.todo} if finding.todo else described
