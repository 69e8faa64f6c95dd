"""Git as the tests speak it: each step reads like the command it runs."""

from pathlib import Path

from git_repository import run_git


class Git:
    """A repository in the folder `root`; every method is one git command run there."""

    clock = 1_700_000_000  # one second later with every commit, so that ids do not depend on the machine's speed

    def __init__(self, root: Path) -> None:
        self.root = root

    def run(self, *arguments: str, check: bool = True) -> str:
        """`git <arguments>`; its output."""
        return self.run_with(b"", *arguments, check=check)

    def run_with(self, given: bytes, *arguments: str, check: bool = True) -> str:
        """`git <arguments>` with something on its standard input; its output."""
        Git.clock += 1
        plain = ("-c", "advice.detachedHead=false", *arguments)
        return (
            run_git(self.root, *plain, at=Git.clock, given=given, check=check).decode(errors="surrogateescape").strip()
        )

    def commit(self, message: str, **files: str) -> str:
        """Write `files` (name=content, `__` is a dot), `git add` and `git commit`; the new commit."""
        for name, content in (files or {"file__txt": message}).items():
            self.write(name.replace("__", "."), content)
        self.run("add", "-A")
        self.run("commit", "-q", "--allow-empty", "-m", message)
        return self.head()

    def write(self, path: str, content: str) -> None:
        """Write a file of the working tree."""
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content, encoding="utf-8")

    def head(self) -> str:
        """`git rev-parse HEAD`."""
        return self.run("rev-parse", "HEAD")

    def checkout(self, *arguments: str) -> None:
        """`git checkout -q …`."""
        self.run("checkout", "-q", *arguments)

    def branch(self, *arguments: str) -> None:
        """`git branch …`."""
        self.run("branch", *arguments)

    def merge(self, *arguments: str) -> None:
        """`git merge -q …`."""
        self.run("merge", "-q", *arguments)

    def rebase(self, *arguments: str) -> None:
        """`git rebase -q …`."""
        self.run("rebase", "-q", *arguments)

    def remote_add(self, name: str, url: str) -> None:
        """`git remote add NAME URL`."""
        self.run("remote", "add", name, url)

    def worktree_add(self, folder: Path, *arguments: str) -> "Git":
        """`git worktree add FOLDER …`; the new working tree."""
        self.run("worktree", "add", "-q", str(folder), *arguments)
        return Git(folder)


def git_init(folder: Path, *arguments: str, branch: str = "main") -> Git:
    """`git init -b main FOLDER`."""
    folder.mkdir(parents=True, exist_ok=True)
    Git(folder).run("init", "-q", "-b", branch, *arguments)
    return Git(folder)


def git_clone(source: Git | str, folder: Path, *arguments: str) -> Git:
    """`git clone … SOURCE FOLDER`."""
    url = source.root.as_uri() if isinstance(source, Git) else source
    folder.parent.mkdir(parents=True, exist_ok=True)
    Git(folder.parent).run("clone", "-q", *arguments, url, str(folder))
    return Git(folder)
