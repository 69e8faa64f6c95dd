"""The Inspector's command line lists and calls everything there is: over stdio and HTTP, in both protocol eras."""

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest
from real_clients import INSPECTOR, NODE, needs, run_node
from serving import Site, command, web_server

CALLS: dict[str, dict[str, Any]] = {
    "recall": {"query": "gateway"},
    "code_history": {"path": "README.md"},
    "get_memories": {"ids": ["{id}"]},
    "update_memory": {"id": "{id}", "feedback": "useful"},
    "forget": {"ids": ["{id}"]},
    "memory_status": {},
}
"""What each tool is asked once something is remembered."""

FILLED_IN = {
    "memhub://memories/{id}": "memhub://memories/{id}",
    "memhub://history/{+path}": "memhub://history/README.md",
}
TOGETHER = 4

pytestmark = needs(NODE, INSPECTOR)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    site = Site.create(tmp_path_factory.mktemp("inspected"))
    site.without_model()
    return site


@pytest.fixture(scope="module")
def over_http(site: Site) -> Iterator[list[str]]:
    with web_server(site, "http") as server:
        where = f"{server.url}{site.repository.root.as_posix()}"
        yield [where, "--transport", "http", "--header", f"Authorization: Bearer {server.token}"]


@pytest.fixture(scope="module")
def over_stdio(site: Site) -> list[str]:
    return [*command("--home", str(site.home)), "--cwd", str(site.repository.root)]


@pytest.fixture(params=["over_http", "over_stdio"])
def target(request: pytest.FixtureRequest) -> list[str]:
    return request.getfixturevalue(request.param)


def inspect(site: Site, target: list[str], era: str, method: str, *words: str) -> dict[str, Any]:
    """The result of one request."""
    era_words = ("--protocol-era", era, "--format", "json", "--quiet")
    done = run_node(INSPECTOR, "--cli", *target, *era_words, "--method", method, *words, env=site.env())
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)["result"]


def everything(listed: dict[str, list[dict[str, Any]]], memory_id: str) -> Iterator[tuple[str, ...]]:
    """One request for each thing listed."""
    for tool in listed["tools"]:
        if tool["name"] != "remember":
            given = json.dumps(CALLS[tool["name"]]).replace("{id}", memory_id)
            yield "tools/call", "--tool-name", tool["name"], "--tool-args-json", given
    for resource in listed["resources"]:
        yield "resources/read", "--uri", resource["uri"]
    for template in listed["resourceTemplates"]:
        yield "resources/read", "--uri", FILLED_IN[template["uriTemplate"]].replace("{id}", memory_id)
    for prompt in listed["prompts"]:
        given = [f"{argument['name']}=gateway" for argument in prompt.get("arguments", ())]
        yield "prompts/get", "--prompt-name", prompt["name"], *(("--prompt-args", *given) if given else ())


@pytest.mark.parametrize("era", ["legacy", "modern"])
def test_the_inspector_lists_and_calls_everything(target: list[str], site: Site, era: str):
    ask = partial(inspect, site, target, era)
    given = '{"text": "The gateway is called otter"}'
    remembered = ask("tools/call", "--tool-name", "remember", "--tool-args-json", given)
    memory_id = remembered["structuredContent"]["results"][0]["id"]
    with ThreadPoolExecutor(TOGETHER) as pool:
        lists = [("tools/list", "--strict"), ("prompts/list",), ("resources/list",), ("resources/templates/list",)]
        listed = {
            what: things for answer in pool.map(lambda words: ask(*words), lists) for what, things in answer.items()
        }
        asked = list(everything(listed, memory_id))
        assert len(asked) == len(CALLS) + sum(
            len(listed[what]) for what in ("resources", "resourceTemplates", "prompts")
        )
        for words, answer in zip(asked, pool.map(lambda words: ask(*words), asked), strict=True):
            assert answer.get("structuredContent") or answer.get("contents") or answer.get("messages"), words
