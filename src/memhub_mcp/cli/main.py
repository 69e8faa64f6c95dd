"""The command line: `memhub-mcp VERB …`. Only the chosen verb's module is imported."""

import os
import sys
from importlib import import_module
from typing import NoReturn

from memhub_mcp.cli.words import COMMON, leading_options

# verb -> what it does. Its module, cli/<verb>.py, has `run(words) -> exit code`;
# `words` is all that stood around the verb, `--home` and `--workspace` before it included.
VERBS = {
    "init": "set up memory for this repository and show what it knows",
    "recall": "what is known that bears on a question",
    "remember": "store a fact, decision, preference, experience or intention",
    "history": "every version a block of code went through",
    "import": "take earlier sessions of an assistant into this repository's memory",
    "list": "memories, newest first",
    "get": "memories in full, by id",
    "forget": "erase memories for good (shows them first)",
    "confirm": "let what follows you be told in other repositories too",
    "status": "scope, counts and health",
    "doctor": "check this installation and say what to do",
    "pause": "stop hooks from recording here for a while: pause [--for 2h | --resume]",
    "capture": "what hooks may record here: capture [off | edits | all | default]",
    "promote": "let what was said on a branch hold for the whole repository",
    "workspaces": "the repositories that have a memory: list, merge, move, delete",
    "models": "the models that find meaning: list, pull, add, verify",
    "reindex": "make words and vectors anew from what is stored",
    "install": "give the memory to an assistant: install HOST",
    "uninstall": "take it out again, leaving files as they were",
    "serve": "answer an assistant over MCP (also when stdin is a pipe)",
    "hook": "report an assistant's event: hook HOST EVENT",
    "eval": "measure how well recall finds things",
}

REFUSED, BAD_USAGE, INTERRUPTED, BROKEN_PIPE = 1, 2, 130, 141

_USAGE = "usage: memhub-mcp [--home DIR] [--workspace PATH|NAME] VERB …"

_HELP_END = """\
  --home DIR             where memories are kept (MEMHUB_HOME, else the user data directory)
  --workspace PATH|NAME  act on this repository instead of the current one
  --version              print the version

`memhub-mcp VERB --help` explains a verb. Begin with `memhub-mcp init` inside a repository."""


def script() -> NoReturn:
    """The installed command: `main`, then the end of the process.

    A model that is still being loaded, in a daemon thread, is left: native code that comes back to an interpreter
    which is ending would abort the process.
    """
    code = main()
    threading = sys.modules.get("threading")
    if threading is not None and any(thread.daemon for thread in threading.enumerate()):
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()
        os._exit(code)
    sys.exit(code)


def main(argv: list[str] | None = None) -> int:
    """Exit code of one command: 0 done, 1 refused with a reason, 2 usage."""
    argv = sys.argv[1:] if argv is None else argv
    _, words = leading_options(argv)
    common = argv[: len(argv) - len(words)]
    if words[:1] == ["hook"]:  # standard library only, answers in milliseconds
        return import_module("memhub_mcp.cli.hook").run([*common, *words[1:]])
    from memhub_mcp.errors import MemhubError

    _speak_utf8()
    try:
        code = _dispatch(words, common)
        sys.stdout.flush()
    except MemhubError as error:
        return _refused(error)
    except KeyboardInterrupt:
        print("memhub-mcp: interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        # The reader left. Python flushes stdout once more at exit: give that flush somewhere to go.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    except OSError as error:
        return _refused(error)
    return code


def _dispatch(words: list[str], common: list[str]) -> int:
    if not words and sys.stdin is not None and not sys.stdin.isatty():
        words = ["serve"]
    if words[:1] == ["help"]:
        words = [*words[1:2], "--help"]
    if not words:
        return _usage_error("name a verb")
    verb = words[0]
    if verb in ("--help", "-h"):
        print(_help())
        return 0
    if verb in ("--version", "-V"):
        from memhub_mcp import __version__

        print(f"memhub-mcp {__version__}")
        return 0
    if verb.startswith("-"):
        return _usage_error(f"{verb} needs a value" if verb in COMMON else f"there is no option {verb} before the verb")
    if verb not in VERBS:
        return _usage_error(f"there is no verb {verb!r}{_nearest(verb)}")
    return import_module(f"memhub_mcp.cli.{verb}").run([*common, *words[1:]])


def _refused(error: Exception) -> int:
    print(f"memhub-mcp: {error}", file=sys.stderr)
    return REFUSED


def _speak_utf8() -> None:
    """UTF-8 whatever the locale or the code page says; what is not text travels as escapes."""
    escaped = "backslashreplace"
    for stream, errors in ((sys.stdin, "surrogateescape"), (sys.stdout, escaped), (sys.stderr, escaped)):
        if stream is not None:  # a host may start us without one
            stream.reconfigure(encoding="utf-8", errors=errors)  # pyright: ignore[reportAttributeAccessIssue]


def _help() -> str:
    widest = max(map(len, VERBS))
    verbs = "\n".join(f"  {verb:<{widest}}  {does}" for verb, does in VERBS.items())
    return f"{_USAGE}\n\nOne memory for every coding assistant on this machine.\n\n{verbs}\n\n{_HELP_END}"


def _usage_error(message: str) -> int:
    print(f"{_USAGE}\nmemhub-mcp: {message} (`memhub-mcp --help` lists the verbs)", file=sys.stderr)
    return BAD_USAGE


def _nearest(verb: str) -> str:
    from difflib import get_close_matches

    close = get_close_matches(verb, VERBS, n=1)
    return f"; did you mean {close[0]!r}?" if close else ""
