"""What assistants were told to remember, taken in at the terminal."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from git_repository import GitRepository
from tests.cli.conftest import Memhub
from transcript_lines import Claude, write_lines

pytestmark = pytest.mark.usefixtures("words_alone")

RULES = "# Shop\n\n## Build\n\nBuild with `pnpm build`.\n\n## Tests\n\n```sh\n# all of them\npnpm test\n```\n"


@pytest.fixture
def repo(tmp_path: Path) -> GitRepository:
    repo = GitRepository.create(tmp_path / "shop")
    repo.commit("start", {"app.py": "retries = 5\n", "CLAUDE.md": RULES})
    return repo


class Person:
    """Someone at the terminal, in one repository."""

    def __init__(self, memhub: Memhub, repo: GitRepository, home: Path) -> None:
        self.memhub, self.repo, self.home = memhub, repo, home

    def __call__(self, *words: str) -> dict[str, Any]:
        done = self.memhub(*words, "--json", cwd=self.repo.root)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def says(self, *words: str) -> str:
        done = self.memhub(*words, cwd=self.repo.root)
        return done.stdout + done.stderr

    def memories(self, branch: str | None = None) -> list[dict[str, Any]]:
        hits = self("list", *(("--branch", branch) if branch else ()))["hits"]
        ids = [hit["id"] for hit in hits if hit["type"] == "memory"]
        return self("get", *ids)["memories"] if ids else []

    def texts(self) -> set[str]:
        return {memory["text"] for memory in self.memories()}

    def counts(self, what: str = "CLAUDE.md") -> tuple[int, ...]:
        reply = self("import", what)
        return tuple(reply.get(name, 0) for name in ("memories", "changed", "unchanged", "archived", "forgotten"))


@pytest.fixture
def person(memhub: Memhub, repo: GitRepository, environment: dict[str, str]) -> Person:
    return Person(memhub, repo, Path(environment["HOME"]))


def test_a_file_becomes_one_memory_a_section_and_says_where_it_stands(person: Person) -> None:
    assert "would import 2 memories" in person.says("import", "CLAUDE.md", "--dry-run")
    assert person.memories() == []
    assert person.counts() == (2, 0, 0, 0, 0)
    build, tests = sorted(person.memories(), key=lambda memory: memory["text"])
    assert (build["subject"], build["places"]) == ("CLAUDE.md › Build", ["CLAUDE.md:5"])
    assert (build["kind"], build["tier"], build["source"]) == ("fact", "workspace", "claude-code")
    assert build["commit"] == person.repo.git("rev-parse", "HEAD")[:12]
    assert tests["text"] == "```sh\n# all of them\npnpm test\n```"
    assert person.counts() == (0, 0, 2, 0, 0)
    (hit, *_) = person("recall", "how do we run all tests")["hits"]
    assert hit["id"] == tests["id"]


def test_a_section_that_changed_takes_the_place_of_its_earlier_wording(person: Person) -> None:
    person.counts()
    person.repo.write("CLAUDE.md", "New on top.\n\n" + RULES.replace("`pnpm build`", "`make`"))
    assert person.counts() == (2, 1, 1, 0, 0)
    assert "Build with `make`." in person.texts()
    assert "Build with `pnpm build`." not in person.texts()
    (build,) = [memory for memory in person.memories() if "make" in memory["text"]]
    assert build["links"][0]["relation"] == "supersedes"
    assert {place for memory in person.memories() for place in memory["places"]} == {
        "CLAUDE.md:1",
        "CLAUDE.md:7",
        "CLAUDE.md:11",
    }
    person.repo.write("CLAUDE.md", RULES)
    assert person.counts() == (0, 1, 2, 1, 0)
    assert person.texts() == {"Build with `pnpm build`.", "```sh\n# all of them\npnpm test\n```"}


def test_a_section_that_is_gone_is_archived_and_comes_back_with_it(person: Person) -> None:
    person.counts()
    person.repo.write("CLAUDE.md", RULES.partition("## Tests")[0])
    assert person.counts() == (0, 0, 1, 1, 0)
    assert person.texts() == {"Build with `pnpm build`."}
    person.repo.write("CLAUDE.md", RULES)
    assert person.counts() == (0, 0, 2, 0, 0)
    assert len(person.texts()) == 2


def test_a_section_that_moved_under_another_heading_is_there_beside_what_took_its_place(person: Person) -> None:
    three = f"{RULES}\n## Style\n\nTabs, never spaces.\n"
    person.repo.write("CLAUDE.md", three)
    person.counts()
    moved = "## Build\n\nTabs, never spaces.\n\n## Style\n\nAs the formatter has it.\n"
    person.repo.write("CLAUDE.md", moved)
    person.counts()
    assert {memory["subject"]: memory["text"] for memory in person.memories()} == {
        "CLAUDE.md › Build": "Tabs, never spaces.",
        "CLAUDE.md › Style": "As the formatter has it.",
    }
    person.repo.write("CLAUDE.md", three)
    person.counts()
    subjects = {memory["subject"] for memory in person.memories()}
    assert subjects == {"CLAUDE.md › Build", "CLAUDE.md › Tests", "CLAUDE.md › Style"}


def test_a_heading_that_has_another_name_keeps_its_section_together(person: Person) -> None:
    person.counts()
    renamed = RULES.replace("## Tests", "## Checking")
    person.repo.write("CLAUDE.md", renamed)
    assert person.counts() == (0, 0, 2, 0, 0)
    assert "CLAUDE.md › Checking" in {memory["subject"] for memory in person.memories()}
    assert person("recall", "checking")["hits"]
    person.repo.write("CLAUDE.md", renamed.replace("pnpm test", "vitest"))
    assert person.counts() == (1, 1, 1, 0, 0)


def test_a_text_that_stands_twice_in_a_file_is_one_memory(person: Person) -> None:
    person.repo.write("CLAUDE.md", "## Build\n\nAsk first.\n\n## Deploy\n\nAsk first.\n")
    assert person.counts() == (1, 0, 0, 0, 0)
    (before,) = person.memories()
    assert person.counts() == (0, 0, 1, 0, 0)
    (after,) = person.memories()
    assert (after["subject"], after["places"]) == (before["subject"], before["places"])


def test_what_was_forgotten_or_corrected_stays_so(person: Person) -> None:
    person.counts()
    ids = {memory["subject"]: memory["id"] for memory in person.memories()}
    person("forget", ids["CLAUDE.md › Tests"], "--yes")
    assert person.counts() == (0, 0, 1, 0, 1)
    assert person.texts() == {"Build with `pnpm build`."}


def test_copies_and_links_of_a_file_are_remembered_once(person: Person) -> None:
    person.repo.write("AGENTS.md", RULES)
    (person.repo.root / "docs").mkdir()
    (person.repo.root / "docs" / "CLAUDE.md").symlink_to("../AGENTS.md")
    assert "would import 2 memories" in person.says("import", "claude", "--dry-run")
    reply = person("import", "claude")
    assert (reply["memories"], reply["unchanged"]) == (2, 2)
    assert len(person.memories()) == 2
    assert all(len(memory["places"]) == 2 for memory in person.memories())
    person.repo.write("AGENTS.md", "# Shop\n")
    person("import", "claude")
    assert len(person.memories()) == 2, "the other file still says it"


def test_an_assistant_brings_its_sessions_and_all_its_memories_of_this_repository(person: Person) -> None:
    root = person.repo.root
    folder = person.home / ".claude" / "projects" / str(root).replace("/", "-").replace("_", "-")
    claude = Claude("s1", cwd=root.as_posix())
    write_lines(
        folder / "s1.jsonl",
        claude.person("retry six times"),
        *claude.edit("c1", f"{root}/app.py", "retries = 5\n", "5", "6"),
    )
    notes = folder / "memory"
    notes.mkdir()
    head = "---\nname: terse\ndescription: how to answer\nmetadata:\n  type: feedback\n---\n"
    (notes / "terse.md").write_text(f"{head}Answer in one line.\n\n**Why:** said twice.\n")
    (notes / "MEMORY.md").write_text("- [Terse](terse.md) — answers\n")
    other = folder.parent / "-srv-other" / "memory"
    other.mkdir(parents=True)
    (other / "secret.md").write_text("Of another project.\n")
    (person.home / ".claude" / "CLAUDE.md").write_text("I prefer tabs.\n")
    person.repo.write("pkg/CLAUDE.md", "The package has its own rules.\n")
    person.repo.write(".claude/rules/api.md", "---\npaths: src/api/**\n---\nUse zod.\n")
    reply = person("import", "claude-code")
    assert (reply["sessions"], reply["edits"], reply["memories"]) == (1, 1, 6)
    found = {memory["text"].split("\n")[0]: memory for memory in person.memories() if memory["kind"] != "summary"}
    mine, note = found["I prefer tabs."], found["Answer in one line."]
    assert (mine["kind"], mine["tier"], mine.get("workspace"), mine.get("commit")) == ("preference", "user", None, None)
    assert mine["places"] == ["~/.claude/CLAUDE.md:1"]
    assert (note["kind"], note["tier"], note["search_keys"]) == ("preference", "workspace", ["how to answer"])
    assert found["Use zod."]["search_keys"] == ["src/api/**"]
    assert "The package has its own rules." in found
    assert "Of another project." not in found
    (notes / "terse.md").unlink()
    assert person("import", "claude-code")["archived"] == 1
    assert "Answer in one line." not in {memory["text"].split("\n")[0] for memory in person.memories()}


def test_files_that_are_named_to_be_read_along_are_followed_inside_the_repository_alone(
    person: Person, tmp_path: Path
) -> None:
    (tmp_path / "outside.md").write_text("Stolen.\n")
    (person.home / "private.md").write_text("Private.\n")
    person.repo.write("CLAUDE.md", "@docs/a.md @../outside.md\n\n@~/private.md @docs/link.md @.env.md @app.py\n")
    person.repo.write("docs/a.md", "From a. See @b.md\n")
    person.repo.write("docs/b.md", "From b. See @a.md\n")
    person.repo.write("docs/.env.md", "SECRET\n")
    (person.repo.root / "docs" / "link.md").symlink_to(tmp_path / "outside.md")
    reply = person("import", "CLAUDE.md")
    assert person.texts() == {"From a. See @b.md", "From b. See @a.md"}
    assert sum("outside" in note for note in reply["notes"]) == 2
    assert any("docs/link.md is a link" in note for note in reply["notes"])


def test_what_git_ignores_is_taken_by_name_alone_and_secret_files_never(person: Person) -> None:
    person.repo.write(".gitignore", "CLAUDE.local.md\nbuilt/\n")
    person.repo.write(".memhubignore", "GEMINI.md\n")
    person.repo.write("CLAUDE.local.md", "My port is 4000.\n")
    person.repo.write("built/CLAUDE.md", "Made by a tool.\n")
    person.repo.write("GEMINI.md", "Not to be kept.\n")
    reply = person("import", "claude-code")
    assert len(person.texts()) == 2
    assert any("CLAUDE.local.md is ignored by git" in note for note in reply["notes"])
    assert "never kept" in person.says("import", "GEMINI.md")
    assert person.counts("CLAUDE.local.md")[0] == 1
    person("import", "claude-code")
    assert "My port is 4000." in person.texts()


def test_keys_are_redacted_before_they_are_stored(person: Person) -> None:
    key = "ghp_" + "a1B2" * 9
    person.repo.write("CLAUDE.md", f"## Deploy\n\nexport GITHUB_TOKEN={key}\n")
    person.counts()
    assert all(key not in text for text in person.texts())
    assert person.counts() == (0, 0, 1, 0, 0)


def test_a_branch_says_only_what_the_default_branch_does_not(person: Person) -> None:
    person.counts()
    person.repo.git("switch", "-q", "-c", "feature")
    person.repo.commit("rules", {"CLAUDE.md": RULES.replace("pnpm test", "vitest").replace("# Shop", "# Shop!")})
    assert person.counts() == (1, 0, 1, 0, 0)
    by_text = {memory["text"]: memory for memory in person.memories()}
    vitest = by_text["```sh\n# all of them\nvitest\n```"]
    assert (vitest["tier"], vitest["branch"]) == ("branch", "feature")
    assert by_text["Build with `pnpm build`."]["tier"] == "workspace"
    person.repo.git("switch", "-q", "main")
    assert person.counts() == (0, 0, 2, 0, 0)
    assert "```sh\n# all of them\npnpm test\n```" in person.texts()
    person.repo.git("merge", "-q", "feature")
    assert person.counts()[3] <= 1
    assert [text for text in person.texts() if "all of them" in text] == ["```sh\n# all of them\nvitest\n```"]


def test_an_older_checkout_takes_nothing_back(person: Person) -> None:
    person.repo.commit("more", {"CLAUDE.md": RULES + "\n## Deploy\n\nOn Tuesdays.\n"})
    person.counts()
    person.repo.git("checkout", "-q", "HEAD~1")
    assert "older here" in person.says("import", "CLAUDE.md")
    person.repo.git("switch", "-q", "main")
    assert "On Tuesdays." in person.texts()


def test_a_deleted_file_is_remembered_no_more(person: Person) -> None:
    person("import", "claude")
    person.repo.git("rm", "-q", "CLAUDE.md")
    person.repo.git("commit", "-q", "-m", "no rules")
    assert person("import", "claude")["archived"] == 2
    assert person.memories() == []


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"\x7fELF\0\0", "NUL"),
        (b"caf\xe9", "not UTF-8"),
        (b"x" * (1 << 20) + b"\n", "larger than 1 MiB"),
        (b"- a\n" * 30_000, "lines"),
    ],
)
def test_a_file_that_cannot_be_kept_is_refused_in_a_sentence(person: Person, content: bytes, says: str) -> None:
    person.repo.write("CLAUDE.md", content)
    done = person.memhub("import", "CLAUDE.md", cwd=person.repo.root)
    assert (done.returncode, done.stdout) == (1, "")
    assert says in done.stderr
    assert done.stderr.count("\n") == 1
    person.repo.write("AGENTS.md", "Kept.\n")
    assert "left out" in person.says("import", "claude-code")
    assert person.texts() == {"Kept."}


def test_what_is_no_file_holds_nothing_up(person: Person) -> None:
    root = person.repo.root
    (root / "pkg" / "CLAUDE.md").mkdir(parents=True)
    (root / "AGENTS.md").symlink_to("/etc/passwd")
    odd = [("AGENTS.md", "is a link")]
    if hasattr(os, "mkfifo"):
        os.mkfifo(root / "CLAUDE.local.md")
        odd.append(("CLAUDE.local.md", "is no regular file"))
    notes = person("import", "claude-code")["notes"]
    assert [name for name, why in odd if not any(f"{name} {why}" in note for note in notes)] == []
    assert len(person.texts()) == 2


def test_empty_files_and_old_ones_bring_nothing(person: Person) -> None:
    person.repo.write("CLAUDE.md", "<!-- nothing yet -->\n")
    assert "holds nothing to remember" in person.says("import", "CLAUDE.md")
    os.utime(person.repo.write("CLAUDE.md", RULES), (1_600_000_000, 1_600_000_000))
    assert person.says("import", "CLAUDE.md", "--since", "1w").startswith("no session")
    assert person.memories() == []


def test_what_is_about_the_person_needs_no_repository(
    memhub: Memhub, environment: dict[str, str], tmp_path: Path
) -> None:
    folder = Path(environment["HOME"]) / ".codex"
    folder.mkdir()
    (folder / "AGENTS.md").write_text("I prefer tabs.\n")
    done = memhub("import", "codex", cwd=tmp_path)
    assert done.stdout.startswith("1 new memory from files of memories (codex)")
    assert "no git repository" in done.stdout
    listed = json.loads(memhub("list", "--json", cwd=tmp_path).stdout)
    assert listed["hits"][0]["tier"] == "user"


def test_the_last_file_of_the_person_that_is_gone_is_remembered_no_more(person: Person) -> None:
    mine = person.home / ".claude" / "CLAUDE.md"
    mine.parent.mkdir()
    mine.write_text("I prefer tabs.\n")
    person("import", "claude")
    mine.unlink()
    assert person("import", "claude")["archived"] == 1
    assert "I prefer tabs." not in person.texts()


def test_an_import_says_that_what_is_about_the_person_waits_for_their_word(person: Person) -> None:
    mine = person.home / ".codex" / "AGENTS.md"
    mine.parent.mkdir()
    mine.write_text("I prefer tabs.\n")
    assert "1 of them about you" in person.says("import", "codex")
    assert "about you" not in person.says("import", "codex")
    assert "I prefer tabs." in person.says("confirm")


def test_notes_that_qwen_code_wrote_are_one_memory_a_file(person: Person) -> None:
    home = person.home / ".qwen"
    name = str(person.repo.root).replace("/", "-").replace("_", "-")
    head = "---\nname: {0}\ndescription: about {0}\ntype: {1}\n---\n\n"
    index = "# Index\n\n- [A note](note.md) — what it is\n"
    for folder, sort in (
        (home / "memories", "user"),
        (home / "projects" / name / "memory", "project"),
        (person.repo.root / ".qwen" / "team-memory", "reference"),
    ):
        folder.mkdir(parents=True)
        (folder / "note.md").write_text(f"{head.format(sort, sort)}The {sort} one.\n\n## Why\n\nSaid so.\n")
        (folder / "MEMORY.md").write_text(index)
    person.repo.write(".qwen/rules/api.md", "---\npaths:\n  - src/api/**\n---\nUse zod.\n")
    assert person("import", "qwen-code")["memories"] == 4
    by_line = {memory["text"].split("\n")[0]: memory for memory in person.memories()}
    tiers = {line: (memory["tier"], memory["kind"]) for line, memory in by_line.items()}
    assert tiers == {
        "The user one.": ("user", "preference"),
        "The project one.": ("workspace", "fact"),
        "The reference one.": ("workspace", "fact"),
        "Use zod.": ("workspace", "fact"),
    }


def test_a_folder_brings_both(person: Person, tmp_path: Path) -> None:
    claude = Claude("s1", cwd="/w")
    kept = tmp_path / "kept"
    write_lines(kept / "a.jsonl", claude.person("two"), *claude.edit("c1", "/w/app.py", "1\n", "1", "2"))
    (kept / "AGENTS.md").write_text("Two, not one.\n")
    reply = person("import", str(kept))
    assert (reply["edits"], reply["memories"]) == (1, 1)
    assert reply["source"] == "agents-md, claude-code"
