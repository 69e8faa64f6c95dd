"""Follows branches through renames, deletion and a second life of their name."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from memhub_mcp.repo.history import HEADS, History
from memhub_mcp.repo.reflog import BranchLog, read_log
from memhub_mcp.store.connection import Transaction
from memhub_mcp.store.file import Store
from memhub_mcp.store.landings import Watch

_MOVING = "~moving"  # `~` is in no branch name, so what ends so is on its way from one name to another


@dataclass(frozen=True, slots=True)
class BranchNames:
    """The names of a repository's branches against those a store knows."""

    store: Store
    history: History
    common_dir: Path
    now: datetime

    def follow(self, branches: Collection[str], *, current: str | None, defaults: Collection[str]) -> bool:
        """Rename, mark as deleted or set apart what is known of `branches`. Whether names changed."""
        watched = self.store.landings.watched()
        retired: dict[str, str] = {}
        renamed: dict[str, str] = {}
        gone: list[str] = []
        for branch in branches:
            watch = watched.get(branch)
            tip = self.history.tip(f"{HEADS}{branch}")
            if watch is None or (tip == watch.tip and branch != current) or (tip is None and watch.is_gone):
                continue
            if tip is not None and not self._is_another(branch, watch, tip, defaults):
                continue
            new_name = self._renamed_to(branch, watch)
            if new_name:
                renamed[branch] = new_name
            elif tip is not None:
                retired[branch] = f"{branch}~{watch.tip[:10]}"
            else:
                gone.append(branch)
        if retired or renamed or gone:
            with self.store.write() as tx:
                self._write(tx, retired, renamed, gone)
        return bool(retired or renamed)

    def _is_another(self, branch: str, watch: Watch, tip: str, defaults: Collection[str]) -> bool:
        """Whether this is not the branch that was seen, but one made anew that does not go on from there."""
        log = read_log(self.common_dir, branch)
        if log.born is None:
            start = tip if watch.is_gone else None
        else:
            start = log.born.new if watch.born and log.born.signature != watch.born else None
        if start is None:
            return False
        had_own = not any(self.history.is_ancestor(watch.tip, default) for default in defaults)
        return not (had_own and self.history.is_ancestor(watch.tip, start))

    def _renamed_to(self, branch: str, watch: Watch) -> str | None:
        for name, log in self._logs():
            born = log.born.signature if log.born else None
            if name != branch and log.was_called(branch) and (born is None or born == watch.born):
                return name
        return None

    def _logs(self) -> Iterator[tuple[str, BranchLog]]:
        for name in self.history.tips():
            if name.startswith(HEADS):
                short = name.removeprefix(HEADS)
                yield short, read_log(self.common_dir, short)

    def _write(self, tx: Transaction, retired: dict[str, str], renamed: dict[str, str], gone: list[str]) -> None:
        branches, landings = self.store.branches, self.store.landings
        facts = {branch: branches.get(branch) for branch in (*retired, *gone)}
        for old, new in retired.items():
            landings.rename(tx, old, new)
            kept = facts[old]
            if kept:
                branches.put(tx, replace(kept, branch=new, deleted_at=kept.deleted_at or self.now))
        for old in renamed:  # in two steps, for names may have been swapped
            landings.rename(tx, old, f"{old}{_MOVING}")
        for old, new in renamed.items():
            landings.rename(tx, f"{old}{_MOVING}", new)
        for branch in gone:
            landings.mark_gone(tx, branch)
            kept = facts[branch]
            if kept:
                branches.put(tx, replace(kept, deleted_at=self.now))
