"""The assistants we know: where they keep their configuration and how they say things. Data, no code.

A path begins with `~` (the person's home), `.` (the repository) or a name of `places.FOLDERS`.

What three of the programs really do, as met in them:

                    Gemini CLI 0.61.0         Qwen Code 0.24.4            OpenCode 1.18.34
    client name     gemini-cli-mcp-client     qwen-cli-mcp-client-memhub  opencode
    protocol        2025-06-18                2025-11-25                  2025-11-25
    roots           the project               the project                 the project
    server's cwd    the project               the project                 the project
    environment     without keys              whole                       whole
    a tool is       mcp_memhub_recall         mcp__memhub__recall         memhub_recall
    its result      the text, fenced          the text                    the text
    project scope   in trusted folders        once approved               at once
    untrusted       no server, no hook        (off unless switched on)    -
    hooks           yes, their own names      yes, as Claude Code         plugins in JavaScript alone
    request         BeforeAgent, once         UserPromptSubmit, again     -
                                              without words after tools
    session end     at once, also `-p`        not after `-p`              -
    call named      in the transcript alone   tool_call_id                callID
    branch          untold                    gitBranch                   untold
    our context     <hook_context>, escaped   system prompt, escaped      the rules
    they add        -                         "$version" to settings      "$schema" to settings
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

SERVER_NAME = "memhub"


class InstallScope(StrEnum):
    """Whose configuration is edited."""

    USER = "user"
    PROJECT = "project"
    LOCAL = "local"


class Format(StrEnum):
    """What kind of file it is."""

    JSON = "json"
    TOML = "toml"


class HookShape(StrEnum):
    """How a host lists hooks: groups with a matcher around commands, or commands alone."""

    GROUPED = "grouped"
    FLAT = "flat"


class Event(StrEnum):
    """What a hook reports, in our words."""

    SESSION_START = "session-start"
    PROMPT = "prompt"
    EDIT = "edit"
    COMPACT = "compact"
    SESSION_END = "session-end"


@dataclass(frozen=True, slots=True)
class Place:
    """Where something stands: a file, and the keys of the table in it. `{project}` as a key is the repository.

    `instead` is another name for the file, used when only that exists.
    """

    path: str
    keys: tuple[str, ...] = ()
    format: Format = Format.JSON
    instead: str | None = None


@dataclass(frozen=True, slots=True)
class HookEvent:
    """One event of a host: its name there, what it means here, which tools it is narrowed to."""

    name: str
    event: Event
    matcher: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """One assistant.

    `entry` is the server's configuration with `{command}` and `{args}` to be filled in. `programs` and `folders`
    show that it is on this machine. `timeout` is how long a hook may take, in the unit the host counts in.
    `plugins` is where it says which plugins are enabled, `name@marketplace` → true.
    `rules` are Markdown files the host reads to its model, for hosts without hooks. `transcripts` are patterns of the
    files that hold its sessions, `memories` of the Markdown files that hold what it is told to remember; in those `*`
    stands for folders too, and `{project}` for its name of the repository. `after` is what the person does once it is
    installed.
    """

    name: str
    title: str
    aliases: tuple[str, ...] = ()
    programs: tuple[str, ...]
    folders: tuple[str, ...]
    servers: Mapping[InstallScope, Place]
    entry: Mapping[str, object]
    hooks: Mapping[InstallScope, Place] = field(default_factory=dict[InstallScope, Place])
    hook_shape: HookShape = HookShape.GROUPED
    hook_head: Mapping[str, object] = field(default_factory=dict[str, object])
    events: tuple[HookEvent, ...] = ()
    timeout: int | None = None
    plugins: Place | None = None
    rules: Mapping[InstallScope, Place] = field(default_factory=dict[InstallScope, Place])
    transcripts: tuple[str, ...] = ()
    memories: tuple[str, ...] = ()
    after: str = "start it anew"


_STDIO = {"type": "stdio", "command": "{command}", "args": "{args}"}
_PLAIN = {"command": "{command}", "args": "{args}"}
_USER, _PROJECT, _LOCAL = InstallScope.USER, InstallScope.PROJECT, InstallScope.LOCAL
_SERVERS = ("mcpServers",)

HOSTS: tuple[Host, ...] = (
    Host(
        name="claude-code",
        title="Claude Code",
        aliases=("claude",),
        programs=("claude",),
        folders=("CLAUDE",),
        servers={
            _USER: Place("CLAUDE_STATE/.claude.json", _SERVERS),
            _LOCAL: Place("CLAUDE_STATE/.claude.json", ("projects", "{project}", "mcpServers")),
            _PROJECT: Place("./.mcp.json", _SERVERS),
        },
        entry=_STDIO,
        hooks={
            _USER: Place("CLAUDE/settings.json", ("hooks",)),
            _LOCAL: Place("./.claude/settings.local.json", ("hooks",)),
            _PROJECT: Place("./.claude/settings.json", ("hooks",)),
        },
        events=(
            HookEvent("SessionStart", Event.SESSION_START),
            HookEvent("UserPromptSubmit", Event.PROMPT),
            HookEvent("PostToolUse", Event.EDIT, "Edit|Write|MultiEdit|NotebookEdit"),
            HookEvent("PreCompact", Event.COMPACT),
            HookEvent("SessionEnd", Event.SESSION_END),
        ),
        timeout=10,
        plugins=Place("CLAUDE/settings.json", ("enabledPlugins",)),
        transcripts=("CLAUDE/projects/*/*.jsonl",),
        memories=(
            *("CLAUDE/CLAUDE.md", "CLAUDE/rules/*.md", "CLAUDE/projects/{project}/memory/*.md"),
            *("./CLAUDE.md", "./*/CLAUDE.md", "./CLAUDE.local.md", "./*/CLAUDE.local.md", "./.claude/rules/*.md"),
            *("./AGENTS.md", "./*/AGENTS.md"),
        ),
    ),
    Host(
        name="codex",
        title="Codex",
        programs=("codex",),
        folders=("CODEX",),
        servers={
            _USER: Place("CODEX/config.toml", ("mcp_servers",), Format.TOML),
            _PROJECT: Place("./.codex/config.toml", ("mcp_servers",), Format.TOML),
        },
        entry=_PLAIN,
        hooks={
            _USER: Place("CODEX/hooks.json", ("hooks",)),
            _PROJECT: Place("./.codex/hooks.json", ("hooks",)),
        },
        events=(
            HookEvent("SessionStart", Event.SESSION_START),
            HookEvent("UserPromptSubmit", Event.PROMPT),
            HookEvent("PostToolUse", Event.EDIT, "apply_patch"),
            HookEvent("PreCompact", Event.COMPACT),
            HookEvent("SessionEnd", Event.SESSION_END),
        ),
        timeout=3,  # it allows no more at the end of a session
        transcripts=("CODEX/sessions/**/*.jsonl", "CODEX/archived_sessions/**/*.jsonl"),
        memories=(
            *("CODEX/AGENTS.md", "CODEX/AGENTS.override.md"),
            *("./AGENTS.md", "./*/AGENTS.md", "./AGENTS.override.md", "./*/AGENTS.override.md"),
        ),
        after="start it anew, type /hooks and trust the memhub hooks: until then Codex leaves them out without a word",
    ),
    Host(
        name="cursor",
        title="Cursor",
        programs=("cursor", "cursor-agent"),
        folders=("~/.cursor",),
        servers={
            _USER: Place("~/.cursor/mcp.json", _SERVERS),
            _PROJECT: Place("./.cursor/mcp.json", _SERVERS),
        },
        # Cursor starts user servers outside the workspace.
        entry={**_PLAIN, "env": {"MEMHUB_WORKSPACE": "${workspaceFolder}"}},
        hooks={
            _USER: Place("~/.cursor/hooks.json", ("hooks",)),
            _PROJECT: Place("./.cursor/hooks.json", ("hooks",)),
        },
        hook_shape=HookShape.FLAT,
        hook_head={"version": 1},
        events=(
            HookEvent("sessionStart", Event.SESSION_START),
            HookEvent("beforeSubmitPrompt", Event.PROMPT),
            HookEvent("afterFileEdit", Event.EDIT),
            HookEvent("preCompact", Event.COMPACT),
            HookEvent("sessionEnd", Event.SESSION_END),
        ),
        transcripts=(
            "CURSOR/globalStorage/state.vscdb",
            "~/.cursor/projects/*/agent-transcripts/**/*.jsonl",
        ),
        memories=("./.cursor/rules/*.mdc", "./*/.cursor/rules/*.mdc", "./.cursorrules", "./AGENTS.md", "./*/AGENTS.md"),
    ),
    Host(
        name="vscode",
        title="VS Code",
        aliases=("code",),
        programs=("code",),
        folders=("VSCODE",),
        servers={
            _USER: Place("VSCODE/mcp.json", ("servers",)),
            _PROJECT: Place("./.vscode/mcp.json", ("servers",)),
        },
        entry=_STDIO,
        rules={_PROJECT: Place("./.github/copilot-instructions.md")},
        memories=("./.github/copilot-instructions.md", "./.github/instructions/*.instructions.md"),
        after="run `MCP: List Servers` and start memhub",
    ),
    Host(
        name="gemini-cli",
        title="Gemini CLI",
        aliases=("gemini",),
        programs=("gemini",),
        folders=("GEMINI",),
        servers={
            _USER: Place("GEMINI/settings.json", _SERVERS),
            _PROJECT: Place("./.gemini/settings.json", _SERVERS),
        },
        entry=_PLAIN,
        hooks={
            _USER: Place("GEMINI/settings.json", ("hooks",)),
            _PROJECT: Place("./.gemini/settings.json", ("hooks",)),
        },
        events=(
            HookEvent("SessionStart", Event.SESSION_START),
            HookEvent("BeforeAgent", Event.PROMPT),
            HookEvent("AfterTool", Event.EDIT, "write_file|replace"),
            # No PreCompress: it fires before every request to the model.
            HookEvent("SessionEnd", Event.SESSION_END),
        ),
        timeout=10_000,
        transcripts=("GEMINI/tmp/*/chats/session-*.json", "GEMINI/tmp/*/chats/session-*.jsonl"),
        memories=("GEMINI/GEMINI.md", "./GEMINI.md", "./*/GEMINI.md"),
        after="start it anew in a trusted folder: elsewhere Gemini CLI disables servers",
    ),
    Host(
        name="qwen-code",
        title="Qwen Code",
        aliases=("qwen",),
        programs=("qwen",),
        folders=("QWEN",),
        servers={
            _USER: Place("QWEN/settings.json", _SERVERS),
            _PROJECT: Place("./.qwen/settings.json", _SERVERS),
        },
        entry=_PLAIN,
        hooks={
            _USER: Place("QWEN/settings.json", ("hooks",)),
            _PROJECT: Place("./.qwen/settings.json", ("hooks",)),
        },
        events=(
            HookEvent("SessionStart", Event.SESSION_START),
            HookEvent("UserPromptSubmit", Event.PROMPT),
            HookEvent("PostToolUse", Event.EDIT, "edit|write_file|notebook_edit"),
            HookEvent("SessionEnd", Event.SESSION_END),
        ),
        timeout=10,
        transcripts=("QWEN/projects/*/chats/*.jsonl",),
        memories=(
            *("QWEN/QWEN.md", "QWEN/AGENTS.md", "QWEN/rules/*.md", "QWEN/memories/*.md"),
            *("QWEN/projects/{project}/memory/*.md", "./.qwen/team-memory/*.md"),
            *(
                "./QWEN.md",
                "./*/QWEN.md",
                "./.qwen/QWEN.local.md",
                "./.qwen/rules/*.md",
                "./AGENTS.md",
                "./*/AGENTS.md",
            ),
        ),
        after="start it anew; a project's server waits there for `qwen mcp approve memhub`",
    ),
    Host(
        name="opencode",
        title="OpenCode",
        programs=("opencode",),
        folders=("CONFIG/opencode",),
        servers={
            _USER: Place("CONFIG/opencode/opencode.json", ("mcp",), instead="CONFIG/opencode/opencode.jsonc"),
            _PROJECT: Place("./opencode.json", ("mcp",), instead="./opencode.jsonc"),
        },
        entry={"type": "local", "command": ["{command}", "{args}"], "enabled": True},
        rules={_USER: Place("CONFIG/opencode/AGENTS.md"), _PROJECT: Place("./AGENTS.md")},
        transcripts=("DATA/opencode/opencode.db", "DATA/opencode/storage"),
        memories=("CONFIG/opencode/AGENTS.md", "./AGENTS.md", "./*/AGENTS.md"),
    ),
    Host(
        name="windsurf",
        title="Windsurf",
        programs=("windsurf",),
        folders=("~/.codeium/windsurf",),
        servers={_USER: Place("~/.codeium/windsurf/mcp_config.json", _SERVERS)},
        entry=_PLAIN,
        rules={_USER: Place("~/.codeium/windsurf/memories/global_rules.md")},
        memories=("~/.codeium/windsurf/memories/global_rules.md", "./.windsurfrules", "./.windsurf/rules/*.md"),
        after="press refresh in its list of MCP servers",
    ),
    Host(
        name="zed",
        title="Zed",
        programs=("zed", "zeditor"),
        folders=("ZED",),
        servers={
            _USER: Place("ZED/settings.json", ("context_servers",)),
            _PROJECT: Place("./.zed/settings.json", ("context_servers",)),
        },
        entry={**_PLAIN, "env": {}},
        rules={_PROJECT: Place("./AGENTS.md")},
        after="nothing: it reads its settings at once",
    ),
)


def host_named(name: str) -> Host | None:
    """The host with this name or alias, in any case."""
    wanted = name.strip().lower()
    return next((host for host in HOSTS if wanted in (host.name, *host.aliases)), None)
