"""Our HTTP door with what the conformance suite asks for behind it, instead of the memory.

The suite calls tools, prompts and resources by fixed names. With them, its scenarios about streams, sessions, headers,
subscriptions and questions to the client reach the door that the product ships.
"""

import sys
from collections.abc import Awaitable, Callable, Mapping
from typing import Annotated, Any

import anyio
import mcp_types as types
from mcp.server import MCPServer
from mcp.server.mcpserver import Audio, Context, Image, Message, UserMessage
from mcp.server.mcpserver.tools import Tool
from mcp.shared.exceptions import MCPError
from pydantic import Field

from memhub_mcp.server.http import serve_http

PICTURE, SOUND = b"\x89PNG\r\n\x1a\n", b"RIFF\0\0\0\0WAVEfmt "
A_MOMENT_S = 0.05
"""The suite wants to see messages arrive one by one."""

Schema = dict[str, Any]
Questions = Mapping[str, types.InputRequest]

ALL_OF_2020_12: Schema = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {"address": {"$anchor": "addressDef", "type": "object", "properties": {"street": {"type": "string"}}}},
    "properties": {"name": {"type": "string"}, "address": {"$ref": "#/$defs/address"}},
    "allOf": [{"anyOf": [{"required": ["name"]}, {"required": ["address"]}]}],
    "if": {"required": ["address"]},
    "then": {"required": ["address"]},
    "else": {"required": ["name"]},
    "additionalProperties": False,
}


def form(**properties: Schema) -> Schema:
    return {"type": "object", "properties": properties}


def one_of(*values: str) -> list[Schema]:
    return [{"const": value, "title": value.title()} for value in values]


FORMS = {
    "test_elicitation": form(username={"type": "string"}, email={"type": "string"}),
    "test_elicitation_sep1034_defaults": form(
        name={"type": "string", "default": "John Doe"},
        age={"type": "integer", "default": 30},
        score={"type": "number", "default": 95.5},
        status={"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
        verified={"type": "boolean", "default": True},
    ),
    "test_elicitation_sep1330_enums": form(
        untitledSingle={"type": "string", "enum": ["option1", "option2", "option3"]},
        titledSingle={"type": "string", "oneOf": one_of("value1", "value2")},
        legacyEnum={"type": "string", "enum": ["opt1", "opt2"], "enumNames": ["Option One", "Option Two"]},
        untitledMulti={"type": "array", "items": {"type": "string", "enum": ["option1", "option2"]}},
        titledMulti={"type": "array", "items": {"anyOf": one_of("value1", "value2")}},
    ),
}
"""What the client is asked in the middle of a call, before 2026-07-28."""


def ask_person(message: str, **properties: Schema) -> types.ElicitRequest:
    params = types.ElicitRequestFormParams(message=message, requested_schema=form(**properties))
    return types.ElicitRequest(params=params)


def ask_model(text: str) -> types.CreateMessageRequest:
    said = types.SamplingMessage(role="user", content=types.TextContent(type="text", text=text))
    return types.CreateMessageRequest(params=types.CreateMessageRequestParams(messages=[said], max_tokens=100))


NAME = ask_person("What is your name?", name={"type": "string"})
CONFIRM = ask_person("Please confirm", ok={"type": "boolean"})
EVERYTHING: Questions = {
    "user_name": NAME,
    "greeting": ask_model("Generate a greeting"),
    "client_roots": types.ListRootsRequest(),
}
ROUNDS: dict[str, list[Questions]] = {
    "test_input_required_result_elicitation": [{"user_name": NAME}],
    "test_input_required_result_sampling": [{"capital_question": ask_model("What is the capital of France?")}],
    "test_input_required_result_list_roots": [{"client_roots": types.ListRootsRequest()}],
    "test_input_required_result_request_state": [{"confirm": CONFIRM}],
    "test_input_required_result_tampered_state": [{"confirm": CONFIRM}],
    "test_input_required_result_multiple_inputs": [EVERYTHING],
    "test_input_required_result_capabilities": [EVERYTHING],
    "test_input_required_result_multi_round": [
        {"step1": NAME},
        {"step2": ask_person("What is your favourite colour?", color={"type": "string"})},
    ],
    "test_streaming_elicitation": [{"user_name": NAME}],
}
"""What the client is asked by the answers of a call, round by round, from 2026-07-28 on."""

NEEDS = {
    "elicitation/create": types.ClientCapabilities(elicitation=types.ElicitationCapability()),
    "sampling/createMessage": types.ClientCapabilities(sampling=types.SamplingCapability()),
    "roots/list": types.ClientCapabilities(roots=types.RootsCapability()),
}

server = MCPServer(
    "fixture",
    version="1",
    log_level="ERROR",
    tools=[
        Tool.from_function(
            lambda: "checked", name="json_schema_2020_12_tool", description="Takes all that a schema can say."
        ).model_copy(update={"parameters": ALL_OF_2020_12})
    ],
)


@server.tool()
def test_simple_text() -> str:
    """Answers with a text."""
    return "This is a simple text response for testing."


@server.tool()
def test_image_content() -> Image:
    """Answers with an image."""
    return Image(data=PICTURE, format="png")


@server.tool()
def test_audio_content() -> Audio:
    """Answers with a sound."""
    return Audio(data=SOUND, format="wav")


def a_resource(uri: str) -> types.EmbeddedResource:
    return types.EmbeddedResource(
        type="resource", resource=types.TextResourceContents(uri=uri, mime_type="text/plain", text="embedded")
    )


@server.tool(structured_output=False)
def test_embedded_resource() -> types.EmbeddedResource:
    """Answers with a resource."""
    return a_resource("test://embedded-resource")


@server.tool(structured_output=False)
def test_multiple_content_types() -> list[Any]:
    """Answers with one of each."""
    return ["Multiple content types test:", Image(data=PICTURE, format="png"), a_resource("test://mixed")]


@server.tool()
def test_error_handling() -> str:
    """Fails."""
    raise ValueError("This tool intentionally returns an error for testing")


@server.tool()
def test_custom_headers(region: Annotated[str, Field(json_schema_extra={"x-mcp-header": "Region"})] = "") -> str:
    """Takes an argument that is also a header."""
    return region


@server.tool()
async def test_tool_with_logging(ctx: Context) -> str:
    """Says what it does while it does it."""
    for said in ("Tool execution started", "Tool processing data", "Tool execution completed"):
        await ctx.log("info", said)
        await anyio.sleep(A_MOMENT_S)
    return "logged"


server.add_tool(test_tool_with_logging, name="test_logging_tool")


@server.tool()
async def test_tool_with_progress(ctx: Context) -> str:
    """Reports how far it is."""
    for done in (0, 50, 100):
        await ctx.report_progress(done, 100)
        await anyio.sleep(A_MOMENT_S)
    return "done"


@server.tool()
async def test_reconnection(ctx: Context) -> str:
    """Would close its stream and go on with the next one, if streams could be taken up again here."""
    await ctx.close_sse_stream()
    return "still here"


@server.tool()
async def test_sampling(prompt: str, ctx: Context) -> str:
    """Asks the client's model in the middle of a call."""
    params = ask_model(prompt).params
    said = await ctx.session.create_message(params.messages, max_tokens=100, related_request_id=ctx.request_id)
    return f"LLM response: {said.content}"


@server.tool()
async def test_missing_capability(ctx: Context) -> str:
    """Cannot do without the client's model."""
    needed = NEEDS["sampling/createMessage"]
    if not ctx.session.check_client_capability(needed):
        data = {"requiredCapabilities": needed.model_dump(by_alias=True, exclude_none=True)}
        raise MCPError(types.MISSING_REQUIRED_CLIENT_CAPABILITY, "sampling is needed", data)
    return "there it is"


@server.tool()
async def test_trigger_tool_change(ctx: Context) -> str:
    """Tells subscribers that the tools have changed."""
    await ctx.notify_tools_changed()
    return "told"


@server.tool()
async def test_trigger_prompt_change(ctx: Context) -> str:
    """Tells subscribers that the prompts have changed."""
    await ctx.notify_prompts_changed()
    return "told"


def asking_a_form(schema: Schema) -> Callable[..., Awaitable[str]]:
    async def tool(ctx: Context, message: str = "Please fill this in") -> str:
        """Asks the person in the middle of a call."""
        said = await ctx.session.elicit_form(message, schema, related_request_id=ctx.request_id)
        return f"Elicitation completed: action={said.action}, content={said.content}"

    return tool


def still_to_ask(ctx: Context, rounds: list[Questions]) -> types.InputRequiredResult | None:
    """The questions of the round this request stands in, once more if they were not answered; None after the last."""
    reached = int(ctx.request_state or 0)
    answered = ctx.input_responses or {}
    asked = {
        key: question
        for key, question in (rounds[reached] if reached < len(rounds) else {}).items()
        if ctx.session.check_client_capability(NEEDS[question.method])
    }
    if set(asked) <= set(answered):
        reached += 1
        asked = rounds[reached] if reached < len(rounds) else {}
    return types.InputRequiredResult(input_requests=dict(asked), request_state=str(reached)) if asked else None


def asking_in_rounds(rounds: list[Questions]) -> Callable[..., str | types.InputRequiredResult]:
    def tool(ctx: Context) -> str | types.InputRequiredResult:
        """Asks the client before it answers."""
        return still_to_ask(ctx, rounds) or f"state-ok: {ctx.input_responses}"

    return tool


for name, schema in FORMS.items():
    server.add_tool(asking_a_form(schema), name=name)
for name, rounds in ROUNDS.items():
    server.add_tool(asking_in_rounds(rounds), name=name, structured_output=False)


@server.resource("test://static-text", description="A text.", mime_type="text/plain")
def static_text() -> str:
    return "This is the content of the static text resource."


@server.resource("test://static-binary", description="A picture.", mime_type="image/png")
def static_binary() -> bytes:
    return PICTURE


@server.resource("test://template/{id}/data", description="Something about an id.", mime_type="text/plain")
def template(id: str) -> str:
    return f"Data for ID: {id}"


@server.prompt(description="Says something.")
def test_simple_prompt() -> str:
    return "This is a simple prompt for testing."


@server.prompt(description="Says what it was given.")
def test_prompt_with_arguments(arg1: str, arg2: str) -> str:
    return f"Prompt with arguments: arg1={arg1!r}, arg2={arg2!r}"


@server.prompt(description="Shows a resource.")
def test_prompt_with_embedded_resource(resourceUri: str) -> list[Message]:
    return [UserMessage(a_resource(resourceUri)), UserMessage("Please process the embedded resource above.")]


@server.prompt(description="Shows a picture.")
def test_prompt_with_image() -> list[Message]:
    return [UserMessage(Image(data=PICTURE, format="png").to_image_content()), UserMessage("What is this?")]


@server.prompt(description="Asks the client before it answers.")
def test_input_required_result_prompt(ctx: Context) -> str | types.InputRequiredResult:
    question = ask_person("What context should the prompt use?", context={"type": "string"})
    return still_to_ask(ctx, [{"user_context": question}]) or "With that context."


@server.completion()
async def complete(*_: object) -> types.Completion:
    return types.Completion(values=["one", "two"])


async def accept(*_: object) -> types.EmptyResult:
    return types.EmptyResult()


if __name__ == "__main__":
    server.streamable_http_app()  # makes the low-level server reachable
    behind = server.session_manager.app
    behind.add_request_handler("logging/setLevel", types.SetLevelRequestParams, accept)
    behind.add_request_handler("resources/subscribe", types.SubscribeRequestParams, accept)
    behind.add_request_handler("resources/unsubscribe", types.UnsubscribeRequestParams, accept)
    serve_http("http", host="127.0.0.1", port=0, home=sys.argv[1], build=lambda *_: behind)
