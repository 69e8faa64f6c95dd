"""A model that follows a script: it drives the real assistants without an account.

It speaks the Messages protocol (Claude Code), Responses (Codex), chat completions (Qwen Code, OpenCode) and Gemini's.
A step is the name of a tool and its input; `tool_search` is Codex looking for tools. After the last step the turn ends.
"""

import json
import threading
from collections.abc import Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Step = tuple[str, Any]


class ScriptedModel:
    """Serves the model protocols on a free port of this machine. `requests` is all it was sent.

    `agents` are the scripts of sub-agents, each by words of what it was asked to do.
    """

    def __init__(self, steps: Sequence[Step], agents: Mapping[str, Sequence[Step]] | None = None) -> None:
        self.steps = list(steps)
        self.agents = dict(agents or {})
        self.requests: list[dict[str, Any]] = []
        model = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                request = json.loads(self.rfile.read(int(self.headers.get("content-length", 0))) or b"{}")
                if self.path.startswith("/v1/messages") and "count_tokens" not in self.path:
                    self._stream(model.as_anthropic(request))
                elif self.path.startswith("/v1/responses"):
                    self._stream(model.as_openai(request))
                elif self.path.startswith("/v1/chat/completions"):
                    self._answer(model.as_chat(request), streamed=request.get("stream") is True, end="data: [DONE]\n\n")
                elif "enerateContent" in self.path:
                    self._answer(model.as_gemini(request), streamed="streamGenerateContent" in self.path)
                else:
                    self._reply(b'{"input_tokens": 1}', "application/json")

            def do_GET(self) -> None:
                self._reply(b"{}", "application/json")

            def log_message(self, format: str, *args: object) -> None:
                pass

            def _stream(self, events: list[dict[str, Any]]) -> None:
                text = "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)
                self._reply(text.encode(), "text/event-stream")

            def _answer(self, answer: dict[str, Any], *, streamed: bool, end: str = "") -> None:
                body = json.dumps(answer)
                if streamed:
                    self._reply(f"data: {body}\n\n{end}".encode(), "text/event-stream")
                else:
                    self._reply(body.encode(), "application/json")

            def _reply(self, body: bytes, kind: str) -> None:
                self.send_response(200)
                self.send_header("content-type", kind)
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        """Stop serving."""
        self._server.shutdown()
        self._server.server_close()

    def as_anthropic(self, request: dict[str, Any]) -> list[dict[str, Any]]:
        """The events of one answer in the Messages protocol."""
        tools = request.get("tools") or []
        done = sum(1 for message in request["messages"] if message["role"] == "assistant")
        step = self._next(request, done, bool(len(tools) > 2))
        blocks: list[tuple[dict[str, Any], dict[str, Any]]] = [
            ({"type": "text", "text": ""}, {"type": "text_delta", "text": "Next." if step else "Done."})
        ]
        if step:
            call = {"type": "tool_use", "id": f"toolu_{done}_{id(self)}", "name": step[0], "input": {}}
            blocks.append((call, {"type": "input_json_delta", "partial_json": json.dumps(step[1])}))
        usage = {"input_tokens": 1, "output_tokens": 1}
        message = {"id": f"msg_{done}", "type": "message", "role": "assistant", "model": request.get("model")}
        head = {**message, "content": [], "stop_reason": None, "stop_sequence": None, "usage": usage}
        events: list[dict[str, Any]] = [{"type": "message_start", "message": head}]
        for index, (block, delta) in enumerate(blocks):
            events += [
                {"type": "content_block_start", "index": index, "content_block": block},
                {"type": "content_block_delta", "index": index, "delta": delta},
                {"type": "content_block_stop", "index": index},
            ]
        reason = {"stop_reason": "tool_use" if step else "end_turn", "stop_sequence": None}
        return [*events, {"type": "message_delta", "delta": reason, "usage": usage}, {"type": "message_stop"}]

    def as_openai(self, request: dict[str, Any]) -> list[dict[str, Any]]:
        """The events of one answer in the Responses protocol."""
        given = [item for item in request["input"] if isinstance(item, dict)]
        done = sum(1 for item in given if str(item.get("type", "")).endswith("_call"))
        step = self._next(request, done, True)
        item = _openai_call(step, done) if step else _openai_text(done)
        answer = {"id": f"resp_{done}", "object": "response", "status": "completed", "output": [item]}
        usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
        return [
            {"type": "response.created", "response": {**answer, "status": "in_progress", "output": []}},
            {"type": "response.output_item.added", "output_index": 0, "item": item},
            {"type": "response.output_item.done", "output_index": 0, "item": item},
            {"type": "response.completed", "response": {**answer, "usage": usage}},
        ]

    def as_chat(self, request: dict[str, Any]) -> dict[str, Any]:
        """One answer in the protocol of chat completions."""
        done = sum(1 for message in request["messages"] if message.get("tool_calls"))
        step = self._next(request, done, len(request.get("tools") or []) > 2)
        said: dict[str, Any] = {"role": "assistant", "content": "Next." if step else "Done."}
        if step:
            function = {"name": step[0], "arguments": json.dumps(step[1])}
            said["tool_calls"] = [{"index": 0, "id": f"call_{done}", "type": "function", "function": function}]
        streamed = request.get("stream") is True
        return {
            "id": f"chat_{done}",
            "object": "chat.completion.chunk" if streamed else "chat.completion",
            "created": 1,
            "model": request.get("model"),
            "choices": [
                {
                    "index": 0,
                    "delta" if streamed else "message": said,
                    "finish_reason": "tool_calls" if step else "stop",
                }
            ],
            "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
        }

    def as_gemini(self, request: dict[str, Any]) -> dict[str, Any]:
        """One answer in Gemini's protocol."""
        parts = [part for content in request.get("contents") or [] for part in content.get("parts") or []]
        done = sum(1 for part in parts if "functionCall" in part)
        declared = [one for tool in request.get("tools") or [] for one in tool.get("functionDeclarations") or []]
        step = self._next(request, done, len(declared) > 2)
        said: list[dict[str, Any]] = [{"text": "Next." if step else "Done."}]
        if step:
            said.append({"functionCall": {"id": f"call_{done}", "name": step[0], "args": step[1]}})
        return {
            "candidates": [{"index": 0, "content": {"role": "model", "parts": said}, "finishReason": "STOP"}],
            "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2},
        }

    def _next(self, request: dict[str, Any], done: int, working: bool) -> Step | None:
        """The step after `done` ones; side requests (titles, summaries) get none."""
        self.requests.append(request)
        asked = json.dumps((request.get("messages") or [None])[0])
        steps = next((steps for words, steps in self.agents.items() if words in asked), self.steps)
        return steps[done] if working and done < len(steps) else None


def patch(old: str, new: str, path: str = "app.py") -> Step:
    """Codex changes one line of a file."""
    return "apply_patch", f"*** Begin Patch\n*** Update File: {path}\n@@\n-{old}\n+{new}\n*** End Patch\n"


def _openai_call(step: Step, number: int) -> dict[str, Any]:
    name, given = step
    call = {"id": f"item_{number}", "call_id": f"call_{number}", "status": "completed"}
    if name == "tool_search":
        return {"type": "tool_search_call", "execution": "client", "arguments": {"query": given}, **call}
    if name == "apply_patch":
        return {"type": "custom_tool_call", "name": name, "input": given, **call}
    namespace, _, tool = name.rpartition(".")
    return {"type": "function_call", "namespace": namespace, "name": tool, "arguments": json.dumps(given), **call}


def _openai_text(number: int) -> dict[str, Any]:
    text = {"type": "output_text", "text": "Done.", "annotations": []}
    return {"type": "message", "id": f"msg_{number}", "role": "assistant", "status": "completed", "content": [text]}
