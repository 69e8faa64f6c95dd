"""What follows the person is told unasked elsewhere only once the person stands by it."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from git_steps import git_init
from hubs import Desk, desk_in

from memhub_mcp.errors import Conflict, InvalidInput, NotFound
from memhub_mcp.hosts import hook_files

TABS = "Indent with tabs, never with spaces"


def desk_at(tmp_path: Path, name: str) -> Iterator[Desk]:
    git = git_init(tmp_path / name)
    git.commit(f"start {name}", README__md=f"# {name}\n")
    with desk_in(git.root) as desk:
        yield desk


@pytest.fixture
def elsewhere(tmp_path: Path) -> Iterator[Desk]:
    """An assistant of the same person in another repository, of the same name even."""
    (tmp_path / "more").mkdir()
    git = git_init(tmp_path / "more" / "shop")
    git.commit("another shop", app__py="pass\n")
    with desk_in(git.root, home=tmp_path / "memhub-home") as desk:
        yield desk


def digest(desk: Desk) -> str:
    return desk.hub.memories.digest(desk.caller)


def told_by_hooks(desk: Desk) -> str:
    """What a session that begins there would be told without a server."""
    home = str(desk.hub.settings.home)
    return hook_files.digest_of(home, hook_files.place_of(home, str(desk.caller.cwd))) or ""


def brief(desk: Desk) -> None:
    while desk.hub.maintenance.run_once(desk.caller):
        pass


def confirm(desk: Desk, *ids: str) -> None:
    desk.hub.memories.confirm(desk.caller, dict.fromkeys(ids, 1))


def test_what_a_tool_wrote_is_told_elsewhere_only_once_confirmed(desk: Desk, elsewhere: Desk) -> None:
    [memory_id] = desk.remember(TABS, kind="preference")
    assert TABS in digest(desk)
    assert TABS not in digest(elsewhere)
    waiting = desk.hub.memories.waiting(desk.caller)
    assert [memory["id"] for memory in waiting["memories"]] == [memory_id]
    assert desk.hub.memories.status(desk.caller)["counts"]["unconfirmed"] == 1
    confirm(desk, memory_id)
    assert TABS in digest(elsewhere)
    assert desk.hub.memories.waiting(desk.caller) == {"memories": [], "more": 0}
    assert "unconfirmed" not in desk.hub.memories.status(desk.caller)["counts"]
    assert "confirmed" in elsewhere.hub.memories.get(elsewhere.caller, [memory_id])["memories"][0]


def test_a_correction_waits_again(desk: Desk, elsewhere: Desk) -> None:
    [memory_id] = desk.remember(TABS, kind="preference")
    confirm(desk, memory_id)
    brief(elsewhere)
    assert TABS in told_by_hooks(elsewhere)
    desk.hub.memories.update(desk.caller, memory_id, text="Push straight to main")
    for told in (digest(elsewhere), told_by_hooks(elsewhere)):
        assert "Push straight" not in told
        assert TABS not in told
    with pytest.raises(Conflict, match="was changed meanwhile"):
        confirm(desk, memory_id)
    desk.hub.memories.confirm(desk.caller, {memory_id: 2})
    assert "Push straight" in digest(elsewhere)


def test_what_a_person_types_needs_no_other_word(desk: Desk, elsewhere: Desk) -> None:
    person = Desk(desk.hub, replace(desk.caller, source="cli", is_person=True))
    person.remember("Answer in French", tier="user")
    assert "Answer in French" in digest(elsewhere)
    # Typing what an assistant had stored confirms it; an assistant that repeats it changes nothing.
    desk.remember(TABS, kind="preference")
    assert TABS not in digest(elsewhere)
    person.remember(TABS, kind="preference")
    elsewhere.remember(TABS, kind="preference")
    assert TABS in digest(elsewhere)


def test_a_client_that_calls_itself_the_command_line_confirms_nothing(desk: Desk, elsewhere: Desk) -> None:
    impostor = Desk(desk.hub, replace(desk.caller, source="cli"))
    impostor.remember(TABS, kind="preference")
    assert TABS not in digest(elsewhere)


def test_a_hit_from_elsewhere_names_its_workspace(desk: Desk, tmp_path: Path) -> None:
    [memory_id] = desk.remember(TABS, kind="preference")
    for other in desk_at(tmp_path, "depot"):
        for query in ("tabs or spaces", ""):
            [hit] = other.hub.memories.recall(other.caller, query)["hits"]
            assert (hit["id"], hit["workspace"], hit["tier"]) == (memory_id, "shop", "user")
        assert other.hub.memories.get(other.caller, [memory_id])["memories"][0]["workspace"] == "shop"
    [here] = desk.hub.memories.recall(desk.caller, "tabs or spaces")["hits"]
    assert "workspace" not in here


def test_what_was_written_in_a_workspace_that_joined_another_is_told_there(desk: Desk, elsewhere: Desk) -> None:
    elsewhere.remember("Another shop", TABS)
    elsewhere.remember("Answer in French", kind="preference")
    brief(desk)
    there, here = (other.hub.scopes.resolve(other.caller).workspace for other in (elsewhere, desk))
    assert there is not None
    assert here is not None
    assert "Answer in French" not in digest(desk)
    desk.hub.workspaces.merge(here.id, there.id, confirm=True)
    assert "Answer in French" in digest(desk)


def test_only_what_follows_the_person_can_be_confirmed(desk: Desk) -> None:
    [memory_id] = desk.remember("The shop sells tea")
    with pytest.raises(InvalidInput, match="belongs to this repository"):
        confirm(desk, memory_id)
    with pytest.raises(NotFound, match="follows you"):
        confirm(desk, "m_000000000000")
    with pytest.raises(InvalidInput, match="no ids"):
        confirm(desk)


def test_forgotten_preferences_leave_the_files_of_every_workspace(desk: Desk, elsewhere: Desk) -> None:
    person = Desk(desk.hub, replace(desk.caller, is_person=True))
    [memory_id] = person.remember(TABS, kind="preference")
    brief(desk)
    brief(elsewhere)
    assert TABS in told_by_hooks(desk)
    assert TABS in told_by_hooks(elsewhere)
    desk.hub.memories.forget(desk.caller, [memory_id], confirm=True)
    assert TABS not in told_by_hooks(desk)
    assert TABS not in told_by_hooks(elsewhere)
    files = desk.hub.settings.home.rglob("*.json")
    assert not [file for file in files if TABS in file.read_text()]
