"""Situations as people would type them: git commands, and what was remembered between them."""

import atexit
import shlex
import shutil
import tempfile
from functools import cache
from pathlib import Path

from git_steps import Git, git_init
from scope_steps import Person

from memhub_mcp.domain.scope import Tier

LINES = 30


class World:
    """A repository with one commit on main (three files of 30 lines), and the person who works in it.

    A script has one command a line. Besides those of git there are

        commit MESSAGE [FILE=TEXT | FILE@LINE=TEXT | -FILE] …   write, replace a line, or remove; add; commit
        edit …                                               the same without the commit
        remember NAME [subject=S] [tier=T]                   store a memory (of the branch, when on one)
        look                                                 any other call: something is recalled
        in FOLDER: COMMAND                                   in another working tree
    """

    def __init__(self, folder: Path, person: Person) -> None:
        self.folder = folder
        self.person = person
        shutil.copytree(_beginning(), folder / "repo", symlinks=True)
        self.git = Git(folder / "repo")

    def run(self, script: str) -> None:
        """Run the commands of `script`."""
        for line in script.splitlines():
            if line.strip():
                self._run(self.git, line.strip())

    def sees(self, revision: str) -> str:
        """The names of the memories seen from a branch (or a detached revision), in order, with a space between."""
        self.git.checkout("-f", revision)
        return " ".join(sorted(self.person.sees(self.git.root)))

    def _run(self, git: Git, line: str) -> None:
        if line.startswith("in "):
            folder, _, line = line.removeprefix("in ").partition(": ")
            git = Git(self.folder / folder)
        verb, *words = shlex.split(line)
        if verb == "commit":
            self._edit(git, words[1:] or [f"{words[0]}.txt={words[0]}"])
            git.run("add", "-A")
            git.run("commit", "-q", "-m", words[0])
        elif verb == "edit":
            self._edit(git, words)
        elif verb == "remember":
            options = dict(word.split("=") for word in words[1:])
            on_branch = git.run("symbolic-ref", "-q", "HEAD", check=False) or (git.root / ".git/rebase-merge").exists()
            tier = Tier(options.get("tier") or ("branch" if on_branch else "workspace"))
            self.person.remember(git.root, words[0], tier=tier, subject=options.get("subject"))
        elif verb == "look":
            self.person.at(git.root).reply()
        elif verb == "git-commit-empty":
            git.run("commit", "-q", "--allow-empty", "-m", "empty")
        elif verb == "git-commit-if-changed":
            git.run("commit", "-q", "-a", "-m", "change", check=False)
        elif verb == "git-amend":
            git.run("add", "-A")
            git.run("commit", "-q", "--amend", "-m", "amended")
        elif verb == "!":
            git.run(*words, check=False)
        else:
            git.run(verb, *words)

    def _edit(self, git: Git, changes: list[str]) -> None:
        for change in changes:
            name, _, text = change.partition("=")
            if change.startswith("-"):
                (git.root / change[1:]).unlink(missing_ok=True)
            elif "@" in name:
                name, _, number = name.partition("@")
                lines = (git.root / name).read_text().splitlines()
                lines[int(number) - 1] = text
                git.write(name, "\n".join(lines) + "\n")
            else:
                git.write(name, text + "\n")


@cache
def _beginning() -> Path:
    """The repository every world begins with, made once."""
    folder = Path(tempfile.mkdtemp(prefix="memhub-world-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    git = git_init(folder / "repo")
    for name in "abc":
        git.write(name, numbered({}))
    git.run("add", "-A")
    git.run("commit", "-q", "-m", "start")
    return git.root


def numbered(changed: dict[int, str]) -> str:
    """A file of numbered lines, some of them changed."""
    return "".join(f"{changed.get(number, f'line {number}')}\n" for number in range(1, LINES + 1))
