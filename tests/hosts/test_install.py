"""Installing into real configuration files and leaving them as they were."""

import json
import os
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.hosts.written import jsonc, markdown, toml

from memhub_mcp.errors import ConfigError
from memhub_mcp.hosts.install import Plan, plan_install, plan_uninstall, without_record
from memhub_mcp.hosts.installed import Installation, Installations
from memhub_mcp.hosts.pieces import hook_command, pieces_for
from memhub_mcp.hosts.places import HostPlaces
from memhub_mcp.hosts.records import HOSTS, Event, HookEvent, Host, InstallScope, host_named

COMMAND = ("/opt/me mhub/memhub-mcp",)
everywhere = st.sampled_from([(host, scope) for host in HOSTS for scope in host.servers])


@pytest.fixture
def places(tmp_path: Path) -> HostPlaces:
    for folder in ("person", "repository"):
        (tmp_path / folder).mkdir()
    return HostPlaces(tmp_path / "person", tmp_path / "repository", {})


def pieces(host: Host, scope: InstallScope, places: HostPlaces, command: tuple[str, ...] = COMMAND):
    return pieces_for(host, scope, places, command, places.person_home / "memhub home")


def do(plan: Plan, places: HostPlaces) -> None:
    for change in plan.changes:
        change.apply(places.person_home.parent / "backups")


def snapshot(places: HostPlaces) -> dict[Path, bytes | None]:
    folder = places.person_home.parent
    return {
        path: path.read_bytes() if path.is_file() else None
        for root in ("person", "repository")
        for path in (folder / root).rglob("*")
    }


def files_of(host: Host, scope: InstallScope, places: HostPlaces) -> list[Path]:
    return list(dict.fromkeys(piece.file for piece in pieces(host, scope, places)))


def test_an_empty_container_of_the_person_stays_when_our_command_moved(places):
    file = places.person_home / ".gemini" / "settings.json"
    file.parent.mkdir()
    file.write_bytes(b'{"mcpServers":{}}')
    host = host_named("gemini-cli")
    plan = plan_install(pieces(host, InstallScope.USER, places))
    do(plan, places)
    moved = plan_install(pieces(host, InstallScope.USER, places, ("/elsewhere/memhub-mcp",)), plan.files)
    do(moved, places)
    do(plan_uninstall(moved.files), places)
    assert file.read_bytes() == b'{"mcpServers":{}}'


@given(data=st.data(), chosen=everywhere)
def test_uninstall_gives_every_file_back_byte_for_byte(data, tmp_path_factory, chosen):
    host, scope = chosen
    folder = tmp_path_factory.mktemp("law")
    places = HostPlaces(folder / "person", folder / "repository", {})
    for root in (places.person_home, folder / "repository"):
        root.mkdir()
    for path in files_of(host, scope, places):
        written = {".toml": toml(), ".md": markdown()}.get(path.suffix, jsonc())
        text = data.draw(st.one_of(st.none(), st.just(""), st.just("\n \n"), written), label=str(path.name))
        if text is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes((data.draw(st.sampled_from(["", "\ufeff"])) + text).encode())
    before = snapshot(places)
    try:
        plan = plan_install(pieces(host, scope, places))
    except ConfigError as refused:
        assert str(folder) in str(refused)
        assert snapshot(places) == before
        return
    do(plan, places)
    assert plan_install(pieces(host, scope, places), plan.files).changes == ()
    moved = plan_install(pieces(host, scope, places, ("/elsewhere/memhub-mcp",)), plan.files)
    do(moved, places)
    do(plan_uninstall(moved.files), places)
    assert snapshot(places) == before


@pytest.mark.parametrize(("host", "scope"), [(host, scope) for host in HOSTS for scope in host.servers])
def test_each_host_is_entered_and_left(places, host, scope):
    before = snapshot(places)
    plan = plan_install(pieces(host, scope, places))
    do(plan, places)
    assert {path for path, content in snapshot(places).items() if content is not None} == set(
        files_of(host, scope, places)
    )
    do(plan_uninstall(plan.files), places)
    assert snapshot(places) == before


@pytest.mark.parametrize("host", HOSTS, ids=lambda host: host.name)
def test_an_installation_nobody_recorded_can_be_left(places, host):
    found = pieces(host, InstallScope.USER, places)
    do(plan_install(found), places)
    do(plan_uninstall(without_record(found)), places)
    left = [content for content in snapshot(places).values() if content is not None]
    assert all(b"memhub-mcp" not in content for content in left)


def test_what_the_person_changed_meanwhile_stays(places):
    host = host_named("claude")
    settings = places.person_home / ".claude" / "settings.json"
    settings.parent.mkdir()
    settings.write_text('{\n  // mine\n  "model": "x"\n}\n')
    plan = plan_install(pieces(host, InstallScope.USER, places))
    do(plan, places)
    settings.write_text(settings.read_text().replace('"model": "x"', '"model": "y",\n  "theme": "dark"'))
    do(plan_uninstall(plan.files), places)
    assert settings.read_text() == '{\n  // mine\n  "model": "y",\n  "theme": "dark"\n}\n'


def test_hooks_of_others_stay(places):
    settings = places.person_home / ".claude" / "settings.json"
    settings.parent.mkdir()
    theirs = '{"hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": "date"}]}]}}'
    settings.write_text(theirs)
    plan = plan_install(pieces(host_named("claude-code"), InstallScope.USER, places))
    do(plan, places)
    starts = json.loads(settings.read_text())["hooks"]["SessionStart"]
    assert [hook["command"].split()[0] for group in starts for hook in group["hooks"]] == ["date", "'/opt/me"]
    do(plan_uninstall(plan.files), places)
    assert settings.read_text() == theirs


def test_a_new_version_takes_its_old_hooks_along(places):
    host = host_named("gemini")
    old = replace(host, events=(*host.events, HookEvent("BeforeModel", Event.PROMPT)))
    first = plan_install(pieces(old, InstallScope.USER, places))
    do(first, places)
    second = plan_install(pieces(host, InstallScope.USER, places), first.files)
    do(second, places)
    settings = places.person_home / ".gemini" / "settings.json"
    assert "BeforeModel" not in json.loads(settings.read_text())["hooks"]
    do(plan_uninstall(second.files), places)
    assert not settings.parent.exists()


def test_an_entry_the_person_wrote_comes_back(places):
    config = places.person_home / ".codex" / "config.toml"
    config.parent.mkdir()
    theirs = '# mine\n[mcp_servers.memhub]\ncommand = "docker"\nargs = ["run"] # mine too\n\n[other]\n'
    config.write_text(theirs)
    plan = plan_install(pieces(host_named("codex"), InstallScope.USER, places))
    do(plan, places)
    assert tomllib.loads(config.read_text())["mcp_servers"]["memhub"]["command"] == COMMAND[0]
    do(plan_uninstall(plan.files), places)
    assert config.read_text() == theirs


def test_a_file_that_does_not_parse_is_refused_with_its_place(places):
    broken = places.person_home / ".cursor" / "mcp.json"
    broken.parent.mkdir()
    broken.write_text('{\n  "mcpServers": {,}\n}\n')
    with pytest.raises(ConfigError, match=r"mcp\.json: line 2, column 18"):
        plan_install(pieces(host_named("cursor"), InstallScope.USER, places))


def test_a_file_that_is_not_utf8_is_refused_with_its_place(places):
    latin = places.person_home / ".cursor" / "mcp.json"
    latin.parent.mkdir()
    latin.write_bytes('{\n  "é": "'.encode() + b'\xe9"}')
    with pytest.raises(ConfigError, match=r"mcp\.json: line 2, column 9: not UTF-8"):
        plan_install(pieces(host_named("cursor"), InstallScope.USER, places))


def test_a_file_changed_while_the_person_decided_is_left_alone(places):
    plan = plan_install(pieces(host_named("cursor"), InstallScope.USER, places))
    (places.person_home / ".cursor").mkdir()
    (places.person_home / ".cursor" / "mcp.json").write_text("{}")
    with pytest.raises(ConfigError, match="run the command again"):
        do(plan, places)


@pytest.mark.skipif(os.name == "nt", reason="links need a privilege there")
def test_links_and_permissions_of_configuration_files_stay(places):
    real = places.person_home / "dotfiles.json"
    real.write_text("{}")
    real.chmod(0o640)
    link = places.person_home / ".claude.json"
    link.symlink_to(real)
    plan = plan_install(pieces(host_named("claude"), InstallScope.USER, places))
    do(plan, places)
    assert link.is_symlink()
    assert real.stat().st_mode & 0o777 == 0o640
    assert json.loads(real.read_text())["mcpServers"]["memhub"]["command"] == COMMAND[0]


def test_the_former_file_is_kept(places):
    config = places.person_home / ".claude.json"
    config.write_text('{"a": 1}')
    do(plan_install(pieces(host_named("claude"), InstallScope.USER, places)), places)
    assert [kept.read_text() for kept in (places.person_home.parent / "backups").iterdir()] == ['{"a": 1}']


def test_a_scope_that_needs_a_repository_says_so(places):
    nowhere = replace(places, project=None)
    with pytest.raises(ConfigError, match="no repository here"):
        pieces(host_named("cursor"), InstallScope.PROJECT, nowhere)
    with pytest.raises(ConfigError, match="no repository here"):
        pieces(host_named("claude"), InstallScope.LOCAL, nowhere)
    with pytest.raises(ConfigError, match="Windsurf has no project scope of its own; it has: user"):
        pieces(host_named("windsurf"), InstallScope.PROJECT, places)


def test_the_record_of_installations_survives_writing(places, tmp_path):
    plan = plan_install(pieces(host_named("gemini"), InstallScope.USER, places))
    one = Installation("gemini-cli", InstallScope.USER, None, COMMAND, plan.files)
    Installations(tmp_path / "home").with_one(one).write()
    read = Installations.read(tmp_path / "home")
    assert read.find(one.place) == one
    read.without(one.place).write()
    assert list((tmp_path / "home").iterdir()) == []


def test_a_shell_on_windows_gets_forward_slashes():
    host = host_named("codex")
    command = hook_command(host, host.events[0], [r"C:\Users\Jo Ma\memhub-mcp.exe"], Path("C:/d"), "win32")
    assert command == '"C:/Users/Jo Ma/memhub-mcp.exe" hook codex session-start --home C:/d'
