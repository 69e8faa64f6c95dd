"""The protocol's conformance suites against our HTTP door: as it ships, and with all behind it that they ask for."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from real_clients import CONFORMANCE, NEXT_CONFORMANCE, NODE, needs, run_node
from serving import Site, listening, web_server
from token_proxy import with_token

HERE = Path(__file__).parent
LACKS = HERE / "lacks.yml"
A_FIXTURE_IS_MISSING = re.compile(
    r"Unknown (tool|prompt): test_|Resource not found|Method not found|Not testable: server (does not list|exposes no)"
    r"|Tool 'json_schema_2020_12_tool' not found|Expected InputRequiredResult|could not get initial InputRequiredResult"
)

SUITES = {
    "released": (CONFORMANCE,),
    "newest, handshake": (NEXT_CONFORMANCE, "--spec-version", "2025-11-25"),
    "newest, stateless": (NEXT_CONFORMANCE, "--spec-version", "2026-07-28"),
}

pytestmark = needs(NODE, CONFORMANCE, NEXT_CONFORMANCE)


@pytest.fixture(scope="module")
def product(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    site = Site.create(tmp_path_factory.mktemp("product"))
    with web_server(site, "http") as server, with_token(server.url, server.token) as url:
        yield url


@pytest.fixture(scope="module")
def with_fixtures(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    site = Site.create(tmp_path_factory.mktemp("fixtures"))
    process = subprocess.Popen(
        [sys.executable, str(HERE / "fixture_server.py"), str(site.home)], stderr=subprocess.PIPE, env=site.env()
    )
    with listening(process, site) as server, with_token(server.url, server.token) as url:
        yield url


def run_suite(suite: str, url: str, results: Path, *words: str | Path) -> str:
    program, *version = SUITES[suite]
    done = run_node(program, "server", "--url", url, "--suite", "all", "-o", results, *version, *words, cwd=results)
    assert done.returncode == 0, done.stdout[done.stdout.find("=== SUMMARY") :] + done.stderr
    return done.stdout


@pytest.mark.parametrize("suite", SUITES)
def test_the_door_passes_every_scenario(suite: str, with_fixtures: str, tmp_path: Path):
    assert re.search(r"Total: \d\d+ passed, 0 failed", run_suite(suite, with_fixtures, tmp_path))


@pytest.mark.parametrize("suite", SUITES)
def test_the_product_fails_only_where_a_fixture_is_missing(suite: str, product: str, tmp_path: Path):
    run_suite(suite, product, tmp_path, "--expected-failures", LACKS)
    checks = [check for file in tmp_path.rglob("checks.json") for check in json.loads(file.read_text())]
    failed = {check["id"]: check.get("errorMessage", "") for check in checks if check["status"] == "FAILURE"}
    assert len(checks) > len(failed) > 0
    assert {name: said for name, said in failed.items() if not A_FIXTURE_IS_MISSING.search(said)} == {}
