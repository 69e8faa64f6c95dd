"""Installing into real configuration files and leaving them as they were."""

import json
import os
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.hosts.written import comments, jsonc, markdown, names, toml

from memhub_mcp.errors import ConfigError
from memhub_mcp.hosts import json_text
from memhub_mcp.hosts.config_files import apply_all
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
    apply_all(plan.changes, places.person_home.parent / "backups")


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


def written(data: st.DataObject, path: Path) -> str | None:
    """What may stand in a configuration file before we come, None for no file."""
    kinds = {".toml": toml() | toml(others=True), ".md": markdown()}
    text = kinds.get(path.suffix, jsonc() | jsonc(others=True) | comments())
    drawn = data.draw(st.one_of(st.none(), st.just(""), st.just("\n \n"), text), label=str(path.name))
    return drawn if drawn is None else data.draw(st.sampled_from(["", "\ufeff"])) + drawn


def fresh_places(folder: Path) -> HostPlaces:
    places = HostPlaces(folder / "person", folder / "repository", {})
    for root in (places.person_home, folder / "repository"):
        root.mkdir()
    return places


@given(data=st.data(), chosen=everywhere)
def test_uninstall_gives_every_file_back_byte_for_byte(data, tmp_path_factory, chosen):
    host, scope = chosen
    places = fresh_places(tmp_path_factory.mktemp("law"))
    for path in files_of(host, scope, places):
        text = written(data, path)
        if text is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode())
    before = snapshot(places)
    try:
        plan = plan_install(pieces(host, scope, places))
    except ConfigError as refused:
        assert str(places.person_home.parent) in str(refused)
        assert snapshot(places) == before
        return
    do(plan, places)
    assert plan_install(pieces(host, scope, places), plan.files).changes == ()
    moved = plan_install(pieces(host, scope, places, ("/elsewhere/memhub-mcp",)), plan.files)
    do(moved, places)
    do(plan_uninstall(moved.files), places)
    assert snapshot(places) == before


@given(
    data=st.data(), installed=st.lists(everywhere, min_size=2, max_size=4, unique_by=lambda one: (one[0].name, one[1]))
)
def test_installations_that_share_files_are_left_in_any_order(data, tmp_path_factory, installed):
    places = fresh_places(tmp_path_factory.mktemp("law"))
    before = snapshot(places)
    record: dict[int, Plan] = {}
    for number, (host, scope) in enumerate(installed):
        others = [file for plan in record.values() for file in plan.files]
        record[number] = plan_install(pieces(host, scope, places), (), others)
        do(record[number], places)
    for number in data.draw(st.permutations(list(record))):
        gone = record.pop(number)
        others = [file for plan in record.values() for file in plan.files]
        do(plan_uninstall(gone.files, others), places)
        for left, plan in record.items():
            host, scope = installed[left]
            assert plan_install(pieces(host, scope, places), plan.files, others).changes == ()
    assert snapshot(places) == before


@given(text=jsonc(), name=names, chosen=everywhere)
def test_what_the_person_adds_to_json_meanwhile_stays(text, name, chosen, tmp_path_factory):
    host, scope = chosen
    places = fresh_places(tmp_path_factory.mktemp("law"))
    path = files_of(host, scope, places)[0]
    assume(path.suffix == ".json")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())
    try:
        plan = plan_install(pieces(host, scope, places))
    except ConfigError:
        return
    do(plan, places)
    mine = f"mine {name}"
    path.write_bytes(json_text.put(path.read_bytes().decode(), (mine,), {"x": [1]})[0].encode())
    do(plan_uninstall(plan.files), places)
    expected, _ = json_text.put(text, (mine,), {"x": [1]})
    assert json_text.parse(path.read_bytes().decode()).value == json_text.parse(expected).value


@given(text=toml())
def test_what_the_person_adds_to_toml_meanwhile_stays(text, tmp_path_factory):
    places = fresh_places(tmp_path_factory.mktemp("law"))
    host = host_named("codex")
    path = files_of(host, InstallScope.USER, places)[0]
    path.parent.mkdir()
    path.write_bytes(text.encode())
    try:
        plan = plan_install(pieces(host, InstallScope.USER, places))
    except ConfigError:
        return
    do(plan, places)
    more = "\n[mcp_servers.mine]\ncommand = 'x'\n"
    with path.open("ab") as file:
        file.write(("" if path.read_bytes().endswith(b"\n") else "\n").encode() + more.encode())
    do(plan_uninstall(plan.files), places)
    left = path.read_bytes().decode()
    assert left.startswith(text.rstrip())
    assert left.endswith(more)
    assert left.split() == [*text.split(), *more.split()]


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


@pytest.mark.skipif(os.name == "nt", reason="links need a privilege there")
def test_a_link_to_a_file_that_is_not_there_yet_stays_a_link(places):
    link = places.person_home / ".claude.json"
    link.symlink_to(places.person_home / "dotfiles" / "claude.json")
    before = snapshot(places)
    plan = plan_install(pieces(host_named("claude"), InstallScope.USER, places))
    do(plan, places)
    assert b"memhub" in (places.person_home / "dotfiles" / "claude.json").read_bytes()
    do(plan_uninstall(plan.files), places)
    assert link.is_symlink()
    assert snapshot(places) == before


def test_a_read_only_file_is_left_alone(places):
    config = places.person_home / ".claude.json"
    config.write_text("{}")
    config.chmod(0o444)
    with pytest.raises(ConfigError, match=r"claude\.json is read-only"):
        do(plan_install(pieces(host_named("claude"), InstallScope.USER, places)), places)
    assert config.read_text() == "{}"
    assert not (places.person_home / ".claude").exists()


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give files away")
def test_a_file_of_another_user_stays_theirs(places):
    config = places.person_home / ".claude.json"
    config.write_text("{}")
    os.chown(config, 1234, 1234)
    do(plan_install(pieces(host_named("claude"), InstallScope.USER, places)), places)
    assert (config.stat().st_uid, config.stat().st_gid) == (1234, 1234)


def test_when_one_file_cannot_be_written_none_is_changed(places):
    (places.person_home / ".cursor").mkdir()
    (places.person_home / ".cursor" / "mcp.json").write_text("{}")
    (places.person_home / ".cursor" / "hooks.json").symlink_to(places.person_home / "occupied" / "hooks.json")
    (places.person_home / "occupied").write_text("")
    before = snapshot(places)
    with pytest.raises(ConfigError, match="cannot be"):
        do(plan_install(pieces(host_named("cursor"), InstallScope.USER, places)), places)
    assert snapshot(places) == before


@pytest.mark.parametrize("name", ["gemini", "codex", "cursor", "opencode"])
def test_what_the_person_set_in_our_entry_outlives_a_new_version(places, name):
    host = host_named(name)
    first = plan_install(pieces(host, InstallScope.USER, places))
    do(first, places)
    config = first.files[0].path
    keys = host.servers[InstallScope.USER].keys
    if config.suffix == ".toml":
        text = config.read_text() + "enabled = false # mine\n\n[mcp_servers.memhub.tools.recall]\napproval = 1\n"
        theirs = {"enabled": False, "tools": {"recall": {"approval": 1}}}
    else:
        text, _ = json_text.put(config.read_text(), (*keys, "memhub", "trust"), True)
        text, _ = json_text.put(text, (*keys, "memhub", "enabled"), False)
        theirs = {"trust": True, "enabled": False}
    config.write_text(text)
    assert plan_install(pieces(host, InstallScope.USER, places), first.files).changes == ()
    moved = plan_install(pieces(host, InstallScope.USER, places, ("/elsewhere/memhub-mcp",)), first.files)
    do(moved, places)
    written = config.read_text()
    found = tomllib.loads(written) if config.suffix == ".toml" else json.loads(written)
    for key in (*keys, "memhub"):
        found = found[key]
    assert {key: found[key] for key in theirs} == theirs
    assert "/elsewhere/memhub-mcp" in json.dumps(found["command"])
    assert COMMAND[0] not in written
    do(plan_uninstall(moved.files), places)
    assert not config.exists()


def test_a_memhub_of_somebody_else_is_not_taken_for_ours(places):
    config = places.person_home / ".cursor" / "mcp.json"
    config.parent.mkdir()
    config.write_text('{"mcpServers": {"memhub": {"command": "docker"}}}')
    assert without_record(pieces(host_named("cursor"), InstallScope.USER, places)) == []
    config.write_text('{"mcpServers": {"memhub": {"command": "uvx", "args": ["memhub-mcp"]}}}')
    do(plan_uninstall(without_record(pieces(host_named("cursor"), InstallScope.USER, places))), places)
    assert "memhub" not in config.read_text()


def test_a_hook_that_only_speaks_of_us_stays(places):
    settings = places.person_home / ".claude" / "settings.json"
    settings.parent.mkdir()
    theirs = {
        "hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": "echo memhub-mcp has a hook here"}]}]}
    }
    settings.write_text(json.dumps(theirs))
    module = pieces(host_named("claude"), InstallScope.USER, places, ("/usr/bin/python3", "-m", "memhub_mcp"))
    do(plan_install(module), places)
    starts = json.loads(settings.read_text())["hooks"]["SessionStart"]
    assert [group["hooks"][0]["command"].split()[0] for group in starts] == ["echo", "/usr/bin/python3"]
    do(plan_uninstall(without_record(module)), places)
    assert json.loads(settings.read_text()) == theirs
    assert (
        not (places.person_home / ".claude.json").exists()
        or "memhub" not in (places.person_home / ".claude.json").read_text()
    )


def test_working_trees_are_one_project_to_claude_code(places):
    beside = replace(places, checkout=places.project, project=places.person_home.parent / "worktree")
    server = pieces(host_named("claude"), InstallScope.LOCAL, beside)[0]
    assert server.path == ("projects", places.project.as_posix(), "mcpServers", "memhub")


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
    command = hook_command(host, host.events[0], [r"C:\Users\R&D\memhub-mcp.exe"], Path("C:/d"), "win32")
    assert command.startswith('"C:/Users/R&D/memhub-mcp.exe" hook ')
