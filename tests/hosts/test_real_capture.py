"""The real Claude Code in a repository where its hooks are paused for a while, or its conversation is compacted."""

import json

from real_clients import needs_real_clients

pytestmark = needs_real_clients


def go_on(scripted, *steps):
    """The steps of the turn that comes next: the model counts what it said before."""
    turns = [request for request in scripted.requests if len(request.get("tools") or []) > 2]
    said = sum(message["role"] == "assistant" for message in turns[-1]["messages"]) + 1 if turns else 0
    scripted.steps[:] = [*[None] * said, *steps]


def test_what_was_done_in_a_pause_never_turns_up(desk, model):
    desk.memhub("init")
    desk.memhub("install", "claude-code", "--yes")
    app, plan = str(desk.project / "app.py"), str(desk.project / "plan.md")
    scripted = model([])
    with desk.conversation("--allowedTools", "Read Edit Write", model=scripted.url) as conversation:
        first = {"file_path": app, "old_string": "TIMEOUT = 5", "new_string": "TIMEOUT = 30"}
        go_on(scripted, ("Read", {"file_path": app}), ("Edit", first))
        conversation.say("raise the timeout to thirty seconds")
        desk.memhub("pause")
        go_on(scripted, ("Write", {"file_path": plan, "content": "quetzalcoatl\n"}))
        conversation.say("write quetzalcoatl into the plan")
        desk.memhub("pause", "--resume")
        go_on(scripted, ("Edit", {**first, "old_string": "TIMEOUT = 30", "new_string": "TIMEOUT = 45"}))
        conversation.say("no, to forty-five seconds")
    assert (desk.project / "plan.md").read_text() == "quetzalcoatl\n"
    assert "quetzalcoatl" in json.dumps(scripted.requests)
    known = desk.memhub("recall", "timeout of thirty seconds") + desk.memhub("list", "--json")
    assert "Task: raise the timeout to thirty seconds" in known
    assert "2 edits in 1 file: app.py" in known
    assert "no, to forty-five seconds" in known
    for shown in (known, desk.memhub("history", "plan.md", check=False), desk.memhub("history", "app.py")):
        assert "quetzalcoatl" not in shown
    assert "“no, to forty-five seconds”" in desk.memhub("history", "app.py")


def test_a_compaction_settles_the_session_so_far(desk, model):
    desk.memhub("init")
    desk.memhub("install", "claude-code", "--yes")
    app = str(desk.project / "app.py")
    raised = {"file_path": app, "old_string": "TIMEOUT = 5", "new_string": "TIMEOUT = 30"}
    scripted = model([("Read", {"file_path": app}), ("Edit", raised)])
    with desk.conversation("--allowedTools", "Read Edit", model=scripted.url) as conversation:
        conversation.say("raise the timeout to thirty seconds")
        conversation.say("/compact")
        (fact,) = json.loads(desk.memhub("list", "--kinds", "summary", "--json"))["hits"]
        assert "Task: raise the timeout to thirty seconds" in fact["preview"]
        conversation.say("and what about the retries")
    (told,) = json.loads(desk.memhub("list", "--kinds", "summary", "--json"))["hits"]
    assert told["id"] == fact["id"]
    assert "and what about the retries" in desk.memhub("get", fact["id"])
