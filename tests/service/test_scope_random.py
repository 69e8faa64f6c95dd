"""Whatever is done to a repository, the same is seen as the slow oracle sees."""

import tempfile
from contextlib import ExitStack
from pathlib import Path

from git_oracle import Line, Oracle
from git_script import World
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from scope_steps import person_in

from memhub_mcp.domain.scope import Tier

NAMES = ("one", "two", "three")
WHICH = st.integers(0, 3)  # of the branches there are
FILES = st.sampled_from("ab")
LINES = st.sampled_from((5, 7, 20))
TEXTS = st.sampled_from(("x", "y"))


class ScopeMachine(RuleBasedStateMachine):
    """One repository, its branches, and the memories that are written between the git commands."""

    def __init__(self) -> None:
        super().__init__()
        self.stack = ExitStack()

    @initialize()
    def start(self) -> None:
        folder = Path(self.stack.enter_context(tempfile.TemporaryDirectory()))
        self.world = World(folder, self.stack.enter_context(person_in(folder / "ada")))
        self.git = self.world.git
        self.oracle = Oracle(self.git)
        self.current = "main"
        self.written = 0
        self.work("one", "a", 5, "x")
        self.checkout_main()
        self.work("two", "b", 20, "y")

    @rule(file=FILES, line=LINES, text=TEXTS)
    def commit(self, file: str, line: int, text: str) -> None:
        before = self.git.head()
        self.world.run(f"edit {file}@{line}={text}\n git-commit-if-changed")
        if self.git.head() != before:
            self._made(committed=True)

    @rule(name=st.sampled_from(NAMES))
    def branch(self, name: str) -> None:
        if name in self._names():
            self.git.checkout(name)
        else:
            self.git.checkout("-b", name)
            self.oracle.lines.append(Line(name, self.git.head()))
        self.current = name

    @rule(name=st.sampled_from(NAMES), file=FILES, line=LINES, text=TEXTS)
    def work(self, name: str, file: str, line: int, text: str) -> None:
        self.branch(name)
        self.commit(file, line, text)
        self.remember()

    @rule()
    def checkout_main(self) -> None:
        self.git.checkout("main")
        self.current = "main"

    @rule()
    def remember(self) -> None:
        self.written += 1
        self.world.person.remember(self.git.root, f"m{self.written}", tier=Tier.BRANCH)
        self.oracle.look(self.current)
        self.oracle.remember(f"m{self.written}", self.current)

    @rule(which=WHICH, fast=st.booleans())
    def merge(self, which: int, fast: bool) -> None:
        name = self._other(which)
        if name:
            before = self.git.head()
            self.git.run("merge", "-q", "--ff" if fast else "--no-ff", "-m", "merge", name, check=False)
            self._clean()
            if self.git.head() not in (before, self.oracle.tip(name)):
                self._made(committed=False)

    @rule(which=WHICH)
    def squash(self, which: int) -> None:
        name = self._other(which)
        if name:
            before = self.git.head()
            self.git.run("merge", "-q", "--squash", name, check=False)
            if not self.git.run("ls-files", "-u"):
                self.git.run("commit", "-q", "-m", "squash", check=False)
            self._clean()
            if self.git.head() != before:
                self._made(committed=True)

    @rule(which=WHICH)
    def rebase(self, which: int) -> None:
        onto = self._other(which)
        if onto:
            before = self.git.head()
            self.git.run("rebase", "-q", onto, check=False)
            self.git.run("rebase", "--abort", check=False)
            if self.git.head() != before:
                self._made(committed=False)

    @rule(which=WHICH)
    def cherry_pick(self, which: int) -> None:
        name = self._other(which)
        if name:
            before = self.git.head()
            self.git.run("cherry-pick", name, check=False)
            self.git.run("cherry-pick", "--abort", check=False)
            self._clean()
            if self.git.head() != before:
                self._made(committed=True)

    @rule()
    def revert(self) -> None:
        if not self._has_parent():
            return
        before = self.git.head()
        self.git.run("revert", "--no-edit", "HEAD", check=False)
        self.git.run("revert", "--abort", check=False)
        self._clean()
        if self.git.head() != before:
            self._made(committed=True)

    @rule()
    def reset(self) -> None:
        self.git.run("reset", "-q", "--hard", "HEAD~1", check=False)

    @rule()
    def amend(self) -> None:
        if self._has_parent():
            self.git.run("commit", "-q", "--amend", "-m", f"amended {self.written}")
            self._made(committed=True)

    @precondition(lambda self: self.current != "main")
    @rule(name=st.sampled_from(NAMES))
    def rename(self, name: str) -> None:
        if name not in self._names():
            self.git.branch("-m", name)
            self.oracle.line(self.current).name = name
            self.current = name

    @rule(which=WHICH)
    def delete(self, which: int) -> None:
        name = self._other(which)
        if name and name != "main":
            self.git.branch("-q", "-D", name)
            self.oracle.line(name).alive = False

    @invariant()
    def the_same_is_seen(self) -> None:
        if self.written:
            self.oracle.look(self.current)
            assert self.world.person.sees(self.git.root) == self.oracle.sees(self.current)

    def teardown(self) -> None:
        self.stack.close()

    def _has_parent(self) -> bool:
        return bool(self.git.run("rev-parse", "-q", "--verify", "HEAD~1", check=False))

    def _other(self, which: int) -> str | None:
        """One of the branches that are not checked out."""
        others = sorted(self._names() - {self.current})
        return others[which % len(others)] if others else None

    def _names(self) -> set[str]:
        return {line.name for line in self.oracle.lines if line.alive}

    def _made(self, *, committed: bool) -> None:
        self.oracle.line(self.current).made.append((self.git.head(), committed))

    def _clean(self) -> None:
        self.git.run("reset", "-q", "--hard")


ScopeMachine.TestCase.settings = settings(
    max_examples=5,
    stateful_step_count=12,
    deadline=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)
TestScope = ScopeMachine.TestCase
