"""`memhub-mcp confirm` as a person runs it, and as an assistant's shell would."""

import json
import os
import subprocess
import sys

import pytest
from tests.cli.conftest import SCRIPT

pytestmark = pytest.mark.usefixtures("words_alone")


@pytest.fixture
def stored(memhub, tmp_path) -> str:
    """A preference that a program stored; its id."""
    return json.loads(memhub("remember", "Indent with tabs", "--kind", "preference", "--json").stdout)["results"][0][
        "id"
    ]


def waiting(memhub) -> list[str]:
    return [memory["id"] for memory in json.loads(memhub("confirm", "--json").stdout)["memories"]]


def test_what_waits_is_shown_and_confirmed(memhub, stored) -> None:
    assert "Indent with tabs" in memhub("confirm").stdout
    assert "unconfirmed" in memhub("status").stdout
    refused = memhub("confirm", stored)
    assert (refused.returncode, waiting(memhub)) == (1, [stored])
    assert "Indent with tabs" in refused.stdout
    assert "--yes" in refused.stderr
    assert memhub("confirm", stored, "--yes").stdout == "confirmed 1 memory\n"
    assert memhub("confirm").stdout == "nothing waits for your word\n"
    assert "confirmed just now" in memhub("get", stored).stdout


def test_all_that_waits_can_be_confirmed_at_once(memhub, stored) -> None:
    memhub("remember", "Answer in French", "--tier", "user")
    refused = memhub("confirm", "--all")
    assert (refused.returncode, len(waiting(memhub))) == (1, 2)
    assert "Indent with tabs" in refused.stdout
    assert memhub("confirm", "--all", "--yes").stdout == "confirmed 2 memories\n"
    assert memhub("confirm", "--all", "--yes").stdout == "nothing waits for your word\n"


def test_ids_that_are_not_there_are_named(memhub) -> None:
    refused = memhub("confirm", "m_000000000000", "--yes")
    assert refused.returncode == 1
    assert "m_000000000000" in refused.stderr


@pytest.mark.parametrize("shell", ["CLAUDECODE", "CODEX_THREAD_ID", "GEMINI_CLI"])
def test_the_shell_of_an_assistant_confirms_nothing(memhub, stored, shell) -> None:
    refused = memhub("confirm", stored, "--yes", **{shell: "1"})
    assert refused.returncode == 1
    assert "only a person confirms" in refused.stderr
    assert waiting(memhub) == [stored]


@pytest.mark.skipif(sys.platform == "win32", reason="there is no pseudo-terminal on Windows")
def test_at_a_terminal_the_person_is_asked_and_believed(memhub, environment, stored, tmp_path) -> None:
    def typed(*words: str, keys: bytes = b"", **more: str) -> str:
        ours, theirs = os.openpty()
        try:
            os.write(ours, keys)
            command = [str(SCRIPT), *words]
            env = {**environment, **more}
            done = subprocess.run(
                command, cwd=tmp_path, env=env, stdin=theirs, stderr=theirs, stdout=subprocess.PIPE, check=True
            )
            return done.stdout.decode()
        finally:
            os.close(ours)
            os.close(theirs)

    typed("remember", "Answer in French", "--tier", "user")
    assert waiting(memhub) == [stored]
    typed("remember", "Answer in Latin", "--tier", "user", CLAUDECODE="1")
    [latin, other] = waiting(memhub)
    assert other == stored
    assert typed("confirm", stored, keys=b"n\n").endswith("nothing was confirmed\n")
    assert waiting(memhub) == [latin, stored]
    assert typed("confirm", stored, keys=b"y\n").endswith("confirmed 1 memory\n")
    assert waiting(memhub) == [latin]
