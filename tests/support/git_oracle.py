"""What is seen from where, said slowly: the git command alone, every commit compared with every branch at each look.

It is told what was done (which name was given to which branch, what was committed where) instead of finding it out.
"""

import subprocess
from dataclasses import dataclass, field

from git_steps import Git


@dataclass
class Line:
    """One life of a branch, whatever it is called. `made`: (commit, whether it was committed rather than rebased)."""

    name: str
    start: str
    alive: bool = True
    made: list[tuple[str, bool]] = field(default_factory=list)
    seen_tip: str | None = None
    looked_with: int = 0
    base: str | None = None
    fact_tip: str | None = None
    paths: dict[str, str] = field(default_factory=dict)
    squashes: dict[str, tuple[str, str]] = field(default_factory=dict)


@dataclass
class Memory:
    """A memory; without a commit it waits for the next one of its line, after the first `made` of them."""

    text: str
    line: Line
    commit: str | None
    pending_at: str | None
    made: int
    since: str | None = None
    known: bool = False
    landed: set[str] = field(default_factory=set)


class Oracle:
    """The lines and memories of one repository whose default branch is main."""

    def __init__(self, git: Git) -> None:
        self.git = git
        self.lines = [Line("main", git.head())]
        self.memories: list[Memory] = []
        self.heads: set[str] = set()
        self._said: dict[tuple[str, ...], str] = {}

    def line(self, name: str) -> Line:
        """The line that is called `name` now."""
        return next(line for line in self.lines if line.alive and line.name == name)

    def tip(self, name: str) -> str:
        return self.git.run("rev-parse", f"refs/heads/{name}")

    def remember(self, text: str, name: str) -> None:
        """A memory of the branch is written at HEAD."""
        line, head = self.line(name), self.git.head()
        own = name == "main" or (
            head not in self.ancestors(self.tip("main"))
            and (any(commit == head for commit, _ in line.made) or not self._others_at(head, name))
        )
        self.memories.append(Memory(text, line, head if own else None, head, len(line.made)))

    def sees(self, name: str) -> set[str]:
        """What is seen from the branch called `name`."""
        line, reached = self.line(name), self.ancestors(self.tip(name))
        return {
            memory.text
            for memory in self.memories
            if memory.line is line or memory.commit in reached or not memory.landed.isdisjoint(reached)
        }

    def look(self, name: str) -> None:
        """A call is made from the branch called `name`."""
        main = self.tip("main")
        self._join_lives(main)
        for memory in self.memories:
            if memory.commit is None and memory.line.alive:
                memory.commit = self._next_commit(memory, main)
        absorbed = [line for line in self.lines if line.alive and self._read(line, main, line.name == name)]
        for memory in self.memories:
            if memory.commit and not memory.known:
                memory.known, memory.since = True, self._base(memory.commit, main)
        self.heads.add(self.tip(name))
        everything = frozenset[str]().union(*(self.ancestors(head) for head in self.heads))
        for memory in self.memories:
            if memory.commit:
                memory.landed |= set(self._landings(memory, memory.commit, everything, absorbed))

    def ancestors(self, commit: str) -> frozenset[str]:
        return frozenset(self._ask("rev-list", commit).split())

    def _ask(self, *question: str) -> str:
        """What git says of commits, which never changes."""
        if question not in self._said:
            self._said[question] = self.git.run(*question, check=False)
        return self._said[question]

    def _join_lives(self, main: str) -> None:
        """A branch made anew where the deleted one of its name had been, or beyond, goes on with its life."""
        for new in [line for line in self.lines if line.alive]:
            for old in [line for line in self.lines if not line.alive and line.name == new.name and line.seen_tip]:
                had_own = old.seen_tip not in self.ancestors(main)
                if had_own and old.seen_tip in self.ancestors(new.start) and new.seen_tip is None:
                    old.alive, new.alive = True, False
                    old.made += new.made
                    new.name = "joined"
                    for memory in self.memories:
                        if memory.line is new:
                            memory.line, memory.made = old, memory.made + len(old.made) - len(new.made)
                    break
                old.name = f"{old.name}~"

    def _next_commit(self, memory: Memory, main: str) -> str | None:
        tip = self.tip(memory.line.name)
        if tip == memory.pending_at:
            return None
        for commit, committed in memory.line.made[memory.made :]:
            if commit in self.ancestors(tip) and (committed or commit not in self.ancestors(main)):
                return commit
        hidden = self.ancestors(main) | (self.ancestors(memory.pending_at) if memory.pending_at else frozenset())
        own = [one for one in self._ask("rev-list", "--first-parent", tip).split() if one not in hidden]
        return own[-1] if own and not self._others_at(tip, memory.line.name) else None

    def _read(self, line: Line, main: str, is_head: bool) -> bool:
        """Facts of a line, when it moved or got a memory. Whether all of it is in main."""
        places = len({memory.commit for memory in self.memories if memory.line is line})
        if not places and not is_head:
            return False
        tip = self.tip(line.name)
        if tip == line.seen_tip and places == line.looked_with:
            return False
        line.seen_tip, line.looked_with = tip, places
        if line.name == "main":
            return False
        own = self.ancestors(tip) - self.ancestors(main)
        if not own:
            return True
        if tip != line.fact_tip:
            line.fact_tip, line.base = tip, self._base(tip, main)
            line.paths = self._changed(line.base, tip)
        if places:
            for commit in own:
                base = self._base(commit, main)
                patch_id = self._patch_id(base, commit) if base else ""
                if base and patch_id:
                    line.squashes[commit] = (base, patch_id)
        return False

    def _landings(self, memory: Memory, commit: str, everything: frozenset[str], absorbed: list[Line]):
        line = memory.line
        before = self.ancestors(memory.since) if memory.since else frozenset()
        own_id = self._commit_id(commit)
        lost = line.fact_tip is not None and commit not in self.ancestors(line.fact_tip)
        base = self.ancestors(line.base) if line.base else frozenset()
        if (
            line in absorbed
            and (self.tip(line.name), True) in line.made
            and commit not in self.ancestors(self.tip(line.name))
        ):
            yield self.tip(line.name)
        for other in everything:
            if other != commit and other not in before and own_id and own_id == self._commit_id(other):
                yield other
            for end, (start, patch_id) in line.squashes.items():
                covered = commit in self.ancestors(end) or (end == line.fact_tip and lost)
                if covered and other not in self.ancestors(start) and patch_id == self._commit_id(other):
                    yield other
            if line.paths and other not in base:
                touched = self._changed(self._parent(other), other)
                if touched.keys() & line.paths.keys() and line.paths.items() <= self._blobs(other).items():
                    yield other

    def _others_at(self, commit: str, name: str) -> bool:
        at = self.git.run("for-each-ref", "--format=%(refname:short)", "--points-at", commit, "refs/heads/").split()
        return bool(set(at) - {name})

    def _base(self, commit: str, main: str) -> str | None:
        return self._ask("merge-base", commit, main) or None

    def _parent(self, commit: str) -> str | None:
        return self._ask("rev-parse", "-q", "--verify", f"{commit}^1") or None

    def _commit_id(self, commit: str) -> str:
        parents = self._ask("rev-list", "--parents", "-n1", commit).split()[1:]
        return self._patch_id(parents[0] if parents else None, commit) if len(parents) < 2 else ""

    def _patch_id(self, base: str | None, commit: str) -> str:
        between = (base, commit) if base else ("--root", commit)
        patch = self._ask("diff-tree", "-p", "-U0", "--no-renames", *between)
        key = ("patch-id", patch)
        if key not in self._said:
            done = subprocess.run(
                ["git", "patch-id", "--stable"], input=patch, capture_output=True, text=True, check=True
            )
            self._said[key] = done.stdout.split(" ")[0]
        return self._said[key]

    def _changed(self, base: str | None, commit: str) -> dict[str, str]:
        before, after = self._blobs(base) if base else {}, self._blobs(commit)
        return {
            path: after.get(path, "gone")
            for path in before.keys() | after.keys()
            if before.get(path) != after.get(path)
        }

    def _blobs(self, commit: str) -> dict[str, str]:
        lines = self._ask("ls-tree", "-r", commit).splitlines()
        return {line.split("\t")[1]: line.split()[2] for line in lines}
