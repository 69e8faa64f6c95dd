"""Where each host documents its files, on each platform and with its folders moved."""

from pathlib import Path

import pytest

from memhub_mcp.hosts.places import HostPlaces
from memhub_mcp.hosts.records import InstallScope, host_named

HOME, REPOSITORY = Path("/home/jo"), Path("/srv/app")
USER, PROJECT = InstallScope.USER, InstallScope.PROJECT


def server_file(name, scope=USER, platform="linux", **elsewhere):
    places = HostPlaces(HOME, REPOSITORY, {key: Path(value) for key, value in elsewhere.items()}, platform)
    return places.path(host_named(name).servers[scope].path)


@pytest.mark.parametrize(
    ("name", "linux", "darwin", "win32"),
    [
        ("claude-code", ".claude.json", ".claude.json", ".claude.json"),
        ("codex", ".codex/config.toml", ".codex/config.toml", ".codex/config.toml"),
        ("cursor", ".cursor/mcp.json", ".cursor/mcp.json", ".cursor/mcp.json"),
        (
            "vscode",
            ".config/Code/User/mcp.json",
            "Library/Application Support/Code/User/mcp.json",
            "AppData/Roaming/Code/User/mcp.json",
        ),
        ("gemini-cli", ".gemini/settings.json", ".gemini/settings.json", ".gemini/settings.json"),
        ("qwen-code", ".qwen/settings.json", ".qwen/settings.json", ".qwen/settings.json"),
        (
            "opencode",
            ".config/opencode/opencode.json",
            ".config/opencode/opencode.json",
            ".config/opencode/opencode.json",
        ),
        ("windsurf", *[".codeium/windsurf/mcp_config.json"] * 3),
        ("zed", ".config/zed/settings.json", ".config/zed/settings.json", "AppData/Roaming/Zed/settings.json"),
    ],
)
def test_the_person_s_file_is_where_the_host_reads_it(name, linux, darwin, win32):
    assert server_file(name) == HOME / linux
    assert server_file(name, platform="darwin") == HOME / darwin
    assert server_file(name, platform="win32") == HOME / win32


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("claude-code", ".mcp.json"),
        ("codex", ".codex/config.toml"),
        ("cursor", ".cursor/mcp.json"),
        ("vscode", ".vscode/mcp.json"),
        ("gemini-cli", ".gemini/settings.json"),
        ("qwen-code", ".qwen/settings.json"),
        ("opencode", "opencode.json"),
        ("zed", ".zed/settings.json"),
    ],
)
def test_the_repository_s_file_is_where_the_host_reads_it(name, file):
    assert server_file(name, PROJECT) == REPOSITORY / file


@pytest.mark.parametrize(
    ("name", "variable", "file"),
    [
        ("claude-code", "CLAUDE_CONFIG_DIR", ".claude.json"),
        ("codex", "CODEX_HOME", "config.toml"),
        ("gemini-cli", "GEMINI_CLI_HOME", ".gemini/settings.json"),
        ("qwen-code", "QWEN_HOME", "settings.json"),
        ("opencode", "XDG_CONFIG_HOME", "opencode/opencode.json"),
        ("vscode", "XDG_CONFIG_HOME", "Code/User/mcp.json"),
        ("zed", "XDG_CONFIG_HOME", "zed/settings.json"),
    ],
)
def test_a_folder_that_was_moved_is_followed(name, variable, file):
    assert server_file(name, **{variable: "/moved"}) == Path("/moved") / file


def test_the_other_name_of_a_file_is_used_when_only_that_exists(tmp_path):
    places = HostPlaces(tmp_path, None, {})
    place = host_named("opencode").servers[USER]
    folder = tmp_path / ".config" / "opencode"
    folder.mkdir(parents=True)
    assert places.file(place).name == "opencode.json"
    (folder / "opencode.jsonc").touch()
    assert places.file(place).name == "opencode.jsonc"
    (folder / "opencode.json").touch()
    assert places.file(place).name == "opencode.json"
