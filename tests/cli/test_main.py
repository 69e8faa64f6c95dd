"""The door itself: help, usage, exit codes, streams."""

import json
import os
import re
import shutil
import subprocess
import sys

import pytest
from git_steps import git_init
from tests.cli.conftest import SCRIPT

from memhub_mcp import __version__
from memhub_mcp.cli.main import VERBS


def test_the_version_is_one_line(memhub):
    assert memhub("--version").stdout == f"memhub-mcp {__version__}\n"


def test_help_names_every_verb_in_lines_that_fit_a_terminal(memhub):
    shown = memhub("--help")
    assert shown.returncode == 0
    assert all(f"\n  {verb} " in shown.stdout for verb in VERBS)
    assert max(map(len, shown.stdout.splitlines())) <= 100


@pytest.mark.parametrize("verb", [verb for verb in VERBS if verb != "hook"])
def test_every_verb_explains_itself(memhub, verb):
    shown = memhub("help", verb)
    assert shown.returncode == 0, shown.stderr
    assert shown.stdout.startswith(f"usage: memhub-mcp {verb} ")
    assert "--home" in shown.stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["recal"], "there is no verb 'recal'; did you mean 'recall'?"),
        (["--frobnicate"], "there is no option --frobnicate"),
        (["--home"], "--home needs a value"),
        (["recall", "--frobnicate"], "--frobnicate"),
        (["recall", "--limit", "many"], "'many' is not a whole number above 0"),
        (["recall", "--since", "yesterdayish"], "neither a date"),
        (["remember", "--kind", "gossip", "x"], "gossip"),
        (["get"], "ID"),
        (["history"], "name a file, or ask by --symbol, --commit, --memory or --words"),
        (["capture", "some"], "choose from 'off', 'edits', 'all', 'default'"),
    ],
)
def test_a_wrong_command_ends_with_usage_and_2(memhub, words, said):
    refused = memhub(*words)
    assert refused.returncode == 2
    assert refused.stdout == ""
    assert said in refused.stderr
    assert "Traceback" not in refused.stderr


def test_a_broken_setting_is_one_sentence_and_1(memhub, tmp_path):
    (tmp_path / "memhub").mkdir()
    (tmp_path / "memhub" / "config.toml").write_text("budget_tokens = 'much'\n")
    refused = memhub("status")
    assert refused.returncode == 1
    assert refused.stderr.startswith("memhub-mcp: ")
    assert refused.stderr.count("\n") == 1
    assert "budget_tokens" in refused.stderr


def test_nothing_but_the_chosen_verb_is_imported():
    code = (
        "import sys; from memhub_mcp.cli.main import main; main(['--version']); "
        "print(sorted(name for name in sys.modules if name.startswith(('memhub', 'argparse', 'mcp', 'numpy'))))"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert eval(shown.splitlines()[1]) == [
        "memhub_mcp",
        "memhub_mcp.cli",
        "memhub_mcp.cli.main",
        "memhub_mcp.cli.words",
        "memhub_mcp.errors",
    ]


def test_a_reader_that_leaves_early_is_no_error(environment):
    reading, writing = os.pipe()
    os.close(reading)
    ended = subprocess.run([SCRIPT, "--help"], env=environment, stdout=writing, stderr=subprocess.PIPE, check=False)
    os.close(writing)
    assert ended.stderr == b""


def test_an_answer_by_words_alone_ends_well_while_the_model_is_still_loading(environment, tmp_path):
    code = (
        "from memhub_mcp.models import minilm\n"
        "load = minilm.load_minilm\n"
        "def never_done(**options):\n"
        "    while True:\n"
        "        load(**options)\n"
        "minilm.load_minilm = never_done\n"
        "from memhub_mcp.cli.main import script\n"
        "script()\n"
    )
    git = git_init(tmp_path / "shop")
    asked = [sys.executable, "-c", code, "recall", "anything", "--json"]
    ended = subprocess.run(asked, cwd=git.root, env=environment, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert json.loads(ended.stdout)["mode"]["dense"] == "loading"


@pytest.mark.skipif(os.name == "nt", reason="no such terminals there")
@pytest.mark.parametrize(("no_color", "coloured"), [("", True), ("1", False)])
def test_colours_are_for_terminals_and_for_who_wants_them(environment, tmp_path, no_color, coloured):
    import pty

    ours, theirs = pty.openpty()
    environment = {**environment, "NO_COLOR": no_color, "TERM": "xterm", "COLUMNS": "60"}
    subprocess.run([SCRIPT, "status"], env=environment, cwd=tmp_path, stdin=theirs, stdout=theirs, check=True)
    os.close(theirs)
    shown = os.read(ours, 1 << 16).decode()
    os.close(ours)
    assert ("\x1b[" in shown) is coloured
    assert max(len(re.sub(r"\x1b\[\d+m", "", line)) for line in shown.splitlines()) <= 60


_FULL_DISK = """
mount -t tmpfs -o size=1m,mode=700 none "$1"
head -c 2000000 /dev/zero > "$1/fill" 2> /dev/null
"$2" recall anything --home "$1"
"""


def test_a_full_disk_is_one_sentence_and_1(environment, tmp_path):
    inside = ["unshare", "--mount", "sh"]
    if shutil.which("unshare") is None or subprocess.run([*inside, "-c", ":"], capture_output=True).returncode:
        pytest.skip("no mount namespace is to be had here")
    (tmp_path / "small").mkdir()
    words = [*inside, "-c", _FULL_DISK, "sh", tmp_path / "small", SCRIPT]
    refused = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
    assert refused.returncode == 1
    *_, last = refused.stderr.splitlines()
    assert last.startswith("memhub-mcp: the disk that holds")
    assert "Traceback" not in refused.stderr
