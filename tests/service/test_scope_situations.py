"""What is seen from where: each situation a real repository, made by the commands it lists."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from git_script import World
from scope_steps import person_in


@dataclass(frozen=True)
class Situation:
    """Commands, and the memories seen afterwards from each revision (`^0`: detached)."""

    name: str
    script: str
    seen: dict[str, str]


THREE_COMMITS = """
    checkout -q -b feat
    commit one a@5=one
    remember first
    commit two b@5=two
    commit three c@5=three
    remember third
"""

SITUATIONS = [
    # same branch, ancestors
    Situation("on main", "remember m", {"main": "m"}),
    Situation("a commit of a branch", "checkout -q -b feat\n commit x\n remember m", {"feat": "m", "main": ""}),
    Situation(
        "a fresh branch hides its memory from siblings",
        "checkout -q -b feat\n remember m\n branch sibling",
        {"feat": "m", "sibling": "", "main": ""},
    ),
    Situation(
        "a fresh branch of another branch hides its memory from it",
        "checkout -q -b feat\n commit x\n checkout -q -b child\n remember m",
        {"child": "m", "feat": "", "main": ""},
    ),
    Situation(
        "a child sees what its parent branch knew when it began",
        "checkout -q -b feat\n commit x\n remember m\n checkout -q -b child\n commit y\n remember n",
        {"child": "m n", "feat": "m", "main": ""},
    ),
    Situation(
        "a child does not see what its parent branch learnt later",
        "checkout -q -b feat\n commit x\n branch child\n commit y\n remember m",
        {"child": "", "feat": "m"},
    ),
    Situation(
        "a branch made before is not a child",
        "branch old\n checkout -q -b feat\n commit x\n remember m",
        {"old": "", "feat": "m"},
    ),
    Situation(
        "pending until the next commit",
        "checkout -q -b feat\n remember m\n commit x\n look\n checkout -q -b child",
        {"child": "m", "main": ""},
    ),
    Situation(
        "pending, the commits are seen late",
        "checkout -q -b feat\n remember m\n commit x\n checkout -q -b child\n checkout -q feat\n commit y",
        {"child": "m", "feat": "m", "main": ""},
    ),
    Situation(
        "pending, then only main's commits arrive",
        "checkout -q -b feat\n remember m\n checkout -q main\n commit x\n checkout -q feat\n merge -q main",
        {"feat": "m", "main": ""},
    ),
    Situation(
        "pending, main's commits arrive, then one of its own",
        "checkout -q -b feat\n remember m\n checkout -q main\n commit x\n checkout -q feat\n merge -q main\n look\n"
        "commit y\n look\n checkout -q main\n merge -q --no-ff -m merged feat",
        {"feat": "m", "main": "m"},
    ),
    Situation(
        "pending, committed and fast-forwarded before we look",
        "checkout -q -b feat\n remember m\n commit x\n checkout -q main\n merge -q feat",
        {"main": "m", "feat": "m"},
    ),
    Situation(
        "pending, rebased onto main without a commit",
        "checkout -q -b feat\n remember m\n checkout -q main\n commit x\n checkout -q feat\n rebase -q main",
        {"feat": "m", "main": ""},
    ),
    # merges
    Situation(
        "merged with a merge commit",
        "checkout -q -b feat\n commit x\n remember m\n checkout -q main\n commit y\n merge -q -m merged feat",
        {"main": "m", "main~1^0": ""},
    ),
    Situation(
        "fast-forwarded",
        "checkout -q -b feat\n commit x\n remember m\n checkout -q main\n merge -q feat",
        {"main": "m"},
    ),
    Situation(
        "merged, then the branch goes on",
        "checkout -q -b feat\n commit x\n remember m\n checkout -q main\n merge -q --no-ff -m merged feat\n"
        "checkout -q feat\n commit y\n remember n",
        {"main": "m", "feat": "m n"},
    ),
    Situation(
        "merged and deleted",
        "checkout -q -b feat\n commit x\n remember m\n checkout -q main\n merge -q --no-ff -m merged feat\n"
        "branch -q -d feat",
        {"main": "m"},
    ),
    Situation(
        "merged into another branch only",
        "checkout -q -b feat\n commit x\n remember m\n checkout -q -b other main\n commit y\n merge -q -m merged feat",
        {"other": "m", "main": ""},
    ),
    Situation(
        "an octopus merge",
        "checkout -q -b one\n commit x\n remember m\n checkout -q -b two main\n commit y\n remember n\n"
        "checkout -q main\n commit z\n merge -q -m octopus one two",
        {"main": "m n", "one": "m", "two": "n"},
    ),
    Situation(
        "merged with the strategy ours",
        "checkout -q -b feat\n commit x\n remember m\n checkout -q main\n commit y\n merge -q -s ours -m ours feat",
        {"main": "m"},
    ),
    Situation(
        "main merged into the branch",
        "checkout -q -b feat\n commit x\n remember m\n checkout -q main\n commit y\n checkout -q feat\n"
        "merge -q -m sync main\n remember n",
        {"feat": "m n", "main": ""},
    ),
    Situation(
        "merged and reverted",
        "checkout -q -b feat\n commit x\n remember m\n checkout -q main\n merge -q --no-ff -m merged feat\n"
        "revert --no-edit -m 1 HEAD",
        {"main": "m"},
    ),
    # squashes
    Situation(
        "a squash of three commits, the branch deleted",
        THREE_COMMITS + "checkout -q main\n merge -q --squash feat\n commit squashed -nothing\n branch -q -D feat",
        {"main": "first third", "main~1^0": ""},
    ),
    Situation(
        "a squash while main was edited nearby, the branch deleted",
        THREE_COMMITS + "checkout -q main\n commit nearby a@3=near b@7=near c@9=near\n merge -q --squash feat\n"
        "commit squashed -nothing\n branch -q -D feat",
        {"main": "first third", "main~1^0": ""},
    ),
    Situation(
        "a squash with extra edits in other files",
        THREE_COMMITS + "checkout -q main\n merge -q --squash feat\n commit squashed extra=x\n branch -q -D feat",
        {"main": "first third"},
    ),
    Situation(
        "a squash with extra edits in the same file",
        THREE_COMMITS + "checkout -q main\n merge -q --squash feat\n commit squashed a@20=extra\n branch -q -D feat",
        {"main": ""},
    ),
    Situation(
        "a squash of a branch that goes on",
        THREE_COMMITS + "commit four a@20=four\n remember fourth\n checkout -q main\n merge -q --squash feat~1\n"
        "commit squashed -nothing",
        {"main": "first third", "feat": "first fourth third"},
    ),
    Situation(
        "a squash of a branch that merged main in between",
        "checkout -q -b feat\n commit one a@5=one\n remember m\n checkout -q main\n commit other b@9=x\n"
        "checkout -q feat\n merge -q -m sync main\n commit two c@5=two\n remember n\n checkout -q main\n"
        "commit nearby c@9=near\n merge -q --squash feat\n commit squashed -nothing\n branch -q -D feat",
        {"main": "m n"},
    ),
    Situation(
        "a squash that was reverted",
        THREE_COMMITS + "checkout -q main\n merge -q --squash feat\n commit squashed -nothing\n look\n"
        "revert --no-edit HEAD",
        {"main": "first third", "main~2^0": ""},
    ),
    Situation(
        "a squash of one commit is the commit itself",
        "checkout -q -b feat\n commit x a@5=x\n remember m\n checkout -q main\n commit y a@25=y\n"
        "merge -q --squash feat\n commit squashed -nothing\n branch -q -D feat",
        {"main": "m"},
    ),
    Situation(
        "a squash into another branch",
        THREE_COMMITS + "checkout -q -b release main\n merge -q --squash feat\n commit squashed -nothing",
        {"release": "first third", "main": ""},
    ),
    Situation(
        "a squash that arrives before the branch is looked at again",
        THREE_COMMITS + "commit four a@9=four\n checkout -q main\n merge -q --squash feat\n commit squashed -nothing\n"
        "look\n checkout -q feat\n look\n checkout -q main\n branch -q -D feat",
        {"main": "first third"},
    ),
    Situation(
        "a rename and a deletion, squashed",
        "checkout -q -b feat\n mv a moved\n commit renamed -b\n remember m\n checkout -q main\n"
        "merge -q --squash feat\n commit squashed -nothing\n branch -q -D feat",
        {"main": "m"},
    ),
    # cherry-picks
    Situation(
        "cherry-picked",
        "checkout -q -b feat\n commit x a@5=x\n remember m\n commit y\n remember n\n checkout -q main\n"
        "commit z a@20=z\n cherry-pick feat~1",
        {"main": "m", "feat": "m n"},
    ),
    Situation(
        "cherry-picked to a release branch",
        "branch release\n checkout -q -b feat\n commit x a@5=x\n remember m\n checkout -q release\n commit r\n"
        "cherry-pick feat",
        {"release": "m", "main": ""},
    ),
    Situation(
        "cherry-picked over a nearby edit",
        "checkout -q -b feat\n commit x a@5=x\n remember m\n checkout -q main\n commit z a@3=z\n cherry-pick feat",
        {"main": "m"},
    ),
    Situation(
        "cherry-picked with a conflict that changed it",
        "checkout -q -b feat\n commit x a@5=x\n remember m\n checkout -q main\n commit z a@5=z\n"
        "! cherry-pick feat\n commit resolved a@5=both",
        {"main": ""},
    ),
    Situation(
        "a commit like one before the branch began",
        "commit x a@5=x\n revert --no-edit HEAD\n checkout -q -b feat\n commit again a@5=x\n remember m",
        {"feat": "m", "main": ""},
    ),
    Situation(
        "an empty commit matches nothing",
        "checkout -q -b feat\n git-commit-empty\n remember m\n checkout -q main\n git-commit-empty",
        {"feat": "m", "main": ""},
    ),
    # rebases
    Situation(
        "rebased",
        THREE_COMMITS + "checkout -q main\n commit other a@20=x\n checkout -q feat\n rebase -q main\n"
        "checkout -q -b child",
        {"feat": "first third", "child": "first third", "main": ""},
    ),
    Situation(
        "rebased over a nearby edit, then fast-forwarded",
        THREE_COMMITS + "checkout -q main\n commit nearby a@3=near c@7=near\n checkout -q feat\n rebase -q main\n"
        "checkout -q main\n merge -q feat\n branch -q -d feat",
        {"main": "first third", "main~3^0": ""},
    ),
    Situation(
        "rebased by the forge: main has the copies, the branch still the originals",
        THREE_COMMITS + "checkout -q main\n commit nearby a@3=near\n cherry-pick main..feat\n branch -q -D feat",
        {"main": "first third", "main~1^0": "first"},
    ),
    Situation(
        "rebased twice between two looks",
        THREE_COMMITS + "checkout -q main\n commit p p=1\n checkout -q feat\n rebase -q main\n checkout -q main\n"
        "commit q q=1\n checkout -q feat\n rebase -q main\n checkout -q -b child",
        {"child": "first third"},
    ),
    Situation(
        "amended, then merged",
        "checkout -q -b feat\n commit x a@5=x\n remember m\n edit a@5=better\n git-amend\n checkout -q main\n"
        "merge -q --no-ff -m merged feat",
        {"main": "m"},
    ),
    Situation(
        "amended message only, then cherry-picked",
        "checkout -q -b feat\n commit x a@5=x\n remember m\n git-amend\ncheckout -q main\n commit z\n cherry-pick feat",
        {"main": "m"},
    ),
    Situation(
        "fixed up into one commit, then squashed over a nearby edit",
        THREE_COMMITS + "reset -q --soft main\n commit together -nothing\n look\n checkout -q main\n"
        "commit nearby a@3=near\n merge -q --squash feat\n commit squashed -nothing\n branch -q -D feat",
        {"main": "first third"},
    ),
    Situation(
        "rebase in progress counts as its branch",
        "checkout -q -b feat\n commit x a@5=x\n remember m\n checkout -q main\n commit y a@5=y\n checkout -q feat\n"
        "! rebase main\n remember n\n look\n rebase --abort",
        {"feat": "m n", "main": ""},
    ),
    Situation(
        "rebase finished after a conflict",
        "checkout -q -b feat\n commit x a@5=x\n remember m\n checkout -q main\n commit y a@5=y\n checkout -q feat\n"
        "! rebase main\n remember n\n edit a@5=both\n add -A\n rebase --continue\n look\n checkout -q -b child",
        {"feat": "m n", "child": "m n", "main": ""},
    ),
    Situation(
        "a fork point that moves: rebased onto a later main",
        THREE_COMMITS + "checkout -q main\n commit p a@20=p\n checkout -q feat\n rebase -q main\n look\n"
        "checkout -q main\n merge -q --squash feat\n commit squashed -nothing\n branch -q -D feat",
        {"main": "first third"},
    ),
    # resets and force-pushes
    Situation(
        "reset away, other work follows elsewhere",
        "checkout -q -b feat\n commit x a@5=x\n remember m\n reset -q --hard main\n look",
        {"feat": "m", "main": ""},
    ),
    Situation(
        "force-pushed by someone else: our branch is reset to other commits with the same changes",
        THREE_COMMITS + "checkout -q main\n commit p p=1\n checkout -q --detach\n cherry-pick main~1..feat\n"
        "tag forced\n checkout -q feat\n reset -q --hard forced\n look\n checkout -q -b child",
        {"child": "first third", "feat": "first third", "main": ""},
    ),
    Situation(
        "the objects are pruned after a rebase",
        THREE_COMMITS + "checkout -q main\n commit p p=1\n checkout -q feat\n rebase -q main\n look\n"
        "reflog expire --expire=now --all\n gc -q --prune=now\n checkout -q main\n merge -q --squash feat\n"
        "commit squashed -nothing\n branch -q -D feat",
        {"main": "first third"},
    ),
    Situation(
        "the branch is deleted and pruned, then its squash arrives",
        THREE_COMMITS + "checkout -q main\n commit p a@20=p\n branch keep feat\n branch -q -D feat\n look\n"
        "merge -q --squash keep\n branch -q -D keep\n reflog expire --expire=now --all\n gc -q --prune=now\n"
        "commit squashed -nothing",
        {"main": "first third"},
    ),
    # names
    Situation(
        "renamed",
        "checkout -q -b feat\n commit x\n remember m\n branch -m better",
        {"better": "m", "main": ""},
    ),
    Situation(
        "renamed while pending",
        "checkout -q -b feat\n remember m\n branch -m better",
        {"better": "m", "main": ""},
    ),
    Situation(
        "renamed twice between two looks",
        "checkout -q -b feat\n commit x\n remember m\n branch -m good\n branch -m better\n commit y",
        {"better": "m", "main": ""},
    ),
    Situation(
        "renamed, and the old name is used for another branch",
        "checkout -q -b feat\n remember m\n branch -m better\n checkout -q -b feat main\n commit y\n remember n",
        {"better": "m", "feat": "n", "main": ""},
    ),
    Situation(
        "two names swapped",
        "checkout -q -b one\n commit x\n remember m\n checkout -q -b two main\n commit y\n remember n\n"
        "branch -m one three\n branch -m two one\n branch -m three two",
        {"one": "n", "two": "m", "main": ""},
    ),
    Situation(
        "the default branch is renamed",
        "remember m\n branch -m main trunk\n checkout -q -b feat\n commit x\n remember n",
        {"trunk": "m", "feat": "m n"},
    ),
    Situation(
        "deleted and made anew from main",
        "checkout -q -b feat\n commit x\n remember m\n checkout -q main\n branch -q -D feat\n commit y\n"
        "checkout -q -b feat\n commit z\n remember n",
        {"feat": "n", "main": ""},
    ),
    Situation(
        "deleted while pending and made anew",
        "checkout -q -b feat\n remember m\n checkout -q main\n branch -q -D feat\n checkout -q -b feat\n remember n",
        {"feat": "n", "main": ""},
    ),
    Situation(
        "deleted, seen to be gone, and made anew",
        "checkout -q -b feat\n commit x\n remember m\n checkout -q main\n branch -q -D feat\n look\n"
        "checkout -q -b feat",
        {"feat": "", "main": ""},
    ),
    Situation(
        "deleted by mistake and brought back",
        "checkout -q -b feat\n commit x\n remember m\n tag lost\n checkout -q main\n branch -q -D feat\n look\n"
        "checkout -q -b feat lost\n commit y",
        {"feat": "m", "main": ""},
    ),
    Situation(
        "a second life of a name, and the squash of the first arrives",
        THREE_COMMITS
        + "checkout -q main\n branch keep feat\n branch -q -D feat\n checkout -q -b feat\n commit new n=1\n"
        "look\n checkout -q main\n merge -q --squash keep\n commit squashed -nothing",
        {"main": "first third", "feat": ""},
    ),
    Situation(
        "reset with checkout -B to main",
        "checkout -q -b feat\n commit x\n remember m\n checkout -q -B feat main\n commit y",
        {"feat": "m", "main": ""},
    ),
    Situation(
        "renamed twice while another branch is checked out",
        "checkout -q -b feat\n commit x\n remember m\n checkout -q main\n branch -m feat good\n branch -m good better",
        {"better": "m", "main": ""},
    ),
    Situation(
        "the references are packed",
        "checkout -q -b feat\n commit x\n remember m\n branch child\n pack-refs --all",
        {"feat": "m", "child": "m", "main": ""},
    ),
    Situation(
        "names with slashes and umlauts",
        "checkout -q -b fix/größe/1\n commit x\n remember m",
        {"fix/größe/1": "m", "main": ""},
    ),
    # HEAD elsewhere
    Situation(
        "detached at the branch",
        "checkout -q -b feat\n commit x\n remember m\n commit y\n remember n",
        {"feat^0": "m n", "feat~1^0": "m", "main^0": ""},
    ),
    Situation(
        "remembered while detached reaches the workspace",
        "checkout -q --detach\n remember m\n checkout -q -b feat main\n commit x",
        {"main": "m", "feat": "m"},
    ),
    Situation(
        "a bisect sees what was known at each step, and is no branch",
        "checkout -q -b feat\n commit x\n remember m\n commit y\n commit z\n remember n\n bisect start feat main",
        {"HEAD": "m", "feat": "m n", "main": ""},
    ),
    Situation(
        "remembered during a bisect reaches the workspace",
        "checkout -q -b feat\n commit x\n commit y\n bisect start feat main\n remember m\n bisect reset",
        {"feat": "m", "main": "m"},
    ),
    Situation(
        "an orphan branch sees its own and nothing else of branches",
        "checkout -q -b feat\n commit x\n remember m\n checkout -q --orphan pages\n rm -q -rf .\n"
        "remember p\n commit page page=1",
        {"pages": "p", "feat": "m", "main": ""},
    ),
    Situation(
        "a tag",
        "checkout -q -b feat\n commit x\n remember m\n tag v1\n checkout -q main",
        {"v1": "m", "main": ""},
    ),
    Situation(
        "a stash belongs to nobody",
        "checkout -q -b feat\n commit x\n remember m\n edit a@5=y\n stash -q\n checkout -q main\n stash pop -q",
        {"main": "", "feat": "m"},
    ),
    Situation(
        "a stash becomes a branch",
        "checkout -q -b feat\n commit x\n remember m\n edit a@5=y\n stash -q\n checkout -q main\n stash branch kept",
        {"kept": "m", "main": ""},
    ),
    Situation(
        "a worktree on the branch",
        "worktree add -q ../linked -b feat\n in linked: commit x\n in linked: remember m\n in linked: look",
        {"main": ""},
    ),
]


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    with person_in(tmp_path / "ada") as person:
        yield World(tmp_path, person)


def test_there_are_at_least_sixty_situations_with_names_of_their_own() -> None:
    assert len({situation.name for situation in SITUATIONS}) == len(SITUATIONS) >= 60


@pytest.mark.parametrize("situation", SITUATIONS, ids=lambda situation: situation.name)
def test_situation(world: World, situation: Situation) -> None:
    world.run(situation.script)
    assert {revision: world.sees(revision) for revision in situation.seen} == situation.seen
