"""What the conformance suite calls by name, added to the production server and to no other.

Names, arguments and answers are the suite's; each function does the least that the suite's
description of it asks for. Run as a module it serves them on a socket that listens already:
`python fixture.py DESCRIPTOR DATABASE`.
"""

import asyncio
import base64
import json
import socket
import sys
from pathlib import Path
from typing import Any

from mcp import MCPError
from mcp.server import MCPServer
from mcp.server.mcpserver import AssistantMessage, Context, UserMessage
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import (
    MISSING_REQUIRED_CLIENT_CAPABILITY,
    AudioContent,
    Completion,
    CreateMessageRequest,
    CreateMessageRequestParams,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitResult,
    EmbeddedResource,
    EmptyResult,
    ImageContent,
    InputRequiredResult,
    ListRootsRequest,
    SamplingMessage,
    SetLevelRequestParams,
    SubscribeRequestParams,
    TextContent,
    TextResourceContents,
    UnsubscribeRequestParams,
)
from pydantic import BaseModel, Field

from chartpact.bars import load
from chartpact.charts import chart

Ctx = Context[Any, Any]
SCHEMA_2020_12 = json.loads((Path(__file__).parent / "schema-2020-12.json").read_text())
PNG = base64.b64encode(chart(load("sample:es-5m"), [], last=5).png(width=200, height=150)).decode()
WAV = base64.b64encode(
    b"RIFF" + (38).to_bytes(4, "little") + b"WAVEfmt " + (16).to_bytes(4, "little")
    + b"\x01\x00\x01\x00\x40\x1f\x00\x00\x80\x3e\x00\x00\x02\x00\x10\x00"
    + b"data" + (2).to_bytes(4, "little") + b"\x00\x00"
).decode()  # fmt: skip


def extend(server: MCPServer[Any]) -> None:
    """Adds everything the suite asks for."""
    for add in (_contents, _reports, _questions, _pushes, _changes, _resources, _prompts, _legacy):
        add(server)


def _resource(uri: str, mime: str, text: str) -> EmbeddedResource:
    held = TextResourceContents(uri=uri, mime_type=mime, text=text)
    return EmbeddedResource(type="resource", resource=held)


def _text(text: str) -> TextContent:
    return TextContent(type="text", text=text)


def _image() -> ImageContent:
    return ImageContent(type="image", data=PNG, mime_type="image/png")


# ------------------------------------------------------------------ tools: what can be answered


def _contents(server: MCPServer[Any]) -> None:
    @server.tool(structured_output=False)
    def test_simple_text() -> str:
        """Answers with a text."""
        return "This is a simple text response for testing."

    @server.tool(structured_output=False)
    def test_image_content() -> list[ImageContent]:
        """Answers with an image."""
        return [_image()]

    @server.tool(structured_output=False)
    def test_audio_content() -> list[AudioContent]:
        """Answers with a sound."""
        return [AudioContent(type="audio", data=WAV, mime_type="audio/wav")]

    @server.tool(structured_output=False)
    def test_embedded_resource() -> list[EmbeddedResource]:
        """Answers with a resource."""
        text = "This is an embedded resource content."
        return [_resource("test://embedded-resource", "text/plain", text)]

    @server.tool(structured_output=False)
    def test_multiple_content_types() -> list[TextContent | ImageContent | EmbeddedResource]:
        """Answers with a text, an image and a resource."""
        data = json.dumps({"test": "data", "value": 123})
        return [
            _text("Multiple content types test:"),
            _image(),
            _resource("test://mixed-content-resource", "application/json", data),
        ]

    @server.tool(structured_output=False)
    def test_error_handling() -> str:
        """Fails."""
        raise ToolError("This tool intentionally returns an error for testing")

    @server.tool(structured_output=False)
    def json_schema_2020_12_tool() -> str:
        """Takes what a full JSON Schema describes."""
        return "ok"

    server._tool_manager.get_tool("json_schema_2020_12_tool").parameters = SCHEMA_2020_12

    @server.tool(structured_output=False)
    def test_custom_header(
        region: str = Field(json_schema_extra={"x-mcp-header": "Region"}),
    ) -> str:
        """Takes an argument that is repeated in a header."""
        return region


def _reports(server: MCPServer[Any]) -> None:
    @server.tool(structured_output=False)
    async def test_tool_with_progress(ctx: Ctx) -> str:
        """Reports progress three times."""
        for done in (0, 50, 100):
            await ctx.report_progress(done, 100, f"{done} of 100")
            await asyncio.sleep(0.05)
        return "done"

    @server.tool(structured_output=False)
    async def test_tool_with_logging(ctx: Ctx) -> str:
        """Logs three times."""
        for told in ("Tool execution started", "Tool processing data", "Tool execution completed"):
            await ctx.info(told)
            await asyncio.sleep(0.05)
        return "done"

    @server.tool(structured_output=False)
    async def test_logging_tool(ctx: Ctx) -> str:
        """Logs, which is passed on only to those who asked for it."""
        await ctx.info("said only to those who asked")
        return "done"

    @server.tool(structured_output=False)
    def test_missing_capability(ctx: Ctx) -> str:
        """Needs a client that can sample."""
        declared = ctx.client_capabilities
        if declared is None or declared.sampling is None:
            needed = {"requiredCapabilities": {"sampling": {}}}
            raise MCPError(MISSING_REQUIRED_CLIENT_CAPABILITY, "sampling is needed", needed)
        return "ok"


# ------------------------------------------------- tools: asking back, the way of 2026-07-28


def _ask(message: str, field: str, kind: str = "string") -> ElicitRequest:
    schema = {"type": "object", "properties": {field: {"type": kind}}, "required": [field]}
    return ElicitRequest(params=ElicitRequestFormParams(message=message, requested_schema=schema))


def _sample(question: str) -> CreateMessageRequest:
    message = SamplingMessage(role="user", content=_text(question))
    return CreateMessageRequest(
        params=CreateMessageRequestParams(messages=[message], max_tokens=100)
    )


def _answer(ctx: Ctx, key: str, field: str) -> Any:
    """What was filled in, or None where the answer is missing or of another kind."""
    given = (ctx.input_responses or {}).get(key)
    return (given.content or {}).get(field) if isinstance(given, ElicitResult) else None


def _questions(server: MCPServer[Any]) -> None:
    @server.tool(structured_output=False)
    def test_input_required_result_elicitation(ctx: Ctx) -> str | InputRequiredResult:
        """Asks for a name."""
        name = _answer(ctx, "user_name", "name")
        if name is None:
            asked = _ask("What is your name?", "name")
            return InputRequiredResult(input_requests={"user_name": asked})
        return f"Hello, {name}!"

    @server.tool(structured_output=False)
    async def test_streaming_elicitation(ctx: Ctx) -> str | InputRequiredResult:
        """Reports progress, then asks for a name."""
        await ctx.report_progress(0, 1)
        return test_input_required_result_elicitation(ctx)

    @server.tool(structured_output=False)
    def test_input_required_result_sampling(ctx: Ctx) -> str | InputRequiredResult:
        """Asks the client's model."""
        given = (ctx.input_responses or {}).get("capital_question")
        if given is None:
            asked = _sample("What is the capital of France?")
            return InputRequiredResult(input_requests={"capital_question": asked})
        return f"The model said: {given.content}"

    @server.tool(structured_output=False)
    def test_input_required_result_list_roots(ctx: Ctx) -> str | InputRequiredResult:
        """Asks for the client's roots."""
        given = (ctx.input_responses or {}).get("client_roots")
        if given is None:
            return InputRequiredResult(input_requests={"client_roots": ListRootsRequest()})
        return f"{len(given.roots)} roots"

    @server.tool(structured_output=False)
    def test_input_required_result_request_state(ctx: Ctx) -> str | InputRequiredResult:
        """Asks, and wants its state back."""
        if ctx.request_state != "asked":
            asked = {"confirm": _ask("Please confirm", "ok", "boolean")}
            return InputRequiredResult(input_requests=asked, request_state="asked")
        return f"state-ok, confirmed: {_answer(ctx, 'confirm', 'ok')}"

    @server.tool(structured_output=False)
    def test_input_required_result_tampered_state(ctx: Ctx) -> str | InputRequiredResult:
        """Asks; a changed state never comes this far, because the server seals it."""
        return test_input_required_result_request_state(ctx)

    @server.tool(structured_output=False)
    def test_input_required_result_multiple_inputs(ctx: Ctx) -> str | InputRequiredResult:
        """Asks three things of three kinds at once."""
        asked = {
            "user_name": _ask("What is your name?", "name"),
            "greeting": _sample("Generate a greeting"),
            "client_roots": ListRootsRequest(),
        }
        if ctx.request_state != "asked" or set(asked) - set(ctx.input_responses or {}):
            return InputRequiredResult(input_requests=asked, request_state="asked")
        return "all three are here"

    @server.tool(structured_output=False)
    def test_input_required_result_multi_round(ctx: Ctx) -> str | InputRequiredResult:
        """Asks twice, one after the other."""
        if ctx.request_state is None:
            asked = {"step1": _ask("Step 1: What is your name?", "name")}
            return InputRequiredResult(input_requests=asked, request_state="step 1")
        if ctx.request_state == "step 1":
            name = _answer(ctx, "step1", "name")
            asked = {"step2": _ask("Step 2: What is your favorite color?", "color")}
            return InputRequiredResult(input_requests=asked, request_state=f"step 2 of {name}")
        return f"{ctx.request_state}: {_answer(ctx, 'step2', 'color')}"

    @server.tool(structured_output=False)
    def test_input_required_result_capabilities(ctx: Ctx) -> str | InputRequiredResult:
        """Asks only what the client says it can answer."""
        declared = ctx.client_capabilities
        asked: dict[str, Any] = {}
        if declared is not None and declared.sampling is not None:
            asked["model"] = _sample("Say something")
        if declared is not None and declared.elicitation is not None:
            asked["person"] = _ask("Say something", "said")
        return InputRequiredResult(input_requests=asked) if asked else "nothing can be asked"


# -------------------------------------- tools: asking in mid-call, the way up to 2025-11-25


class Person(BaseModel):
    username: str = Field(description="User's response")
    email: str = Field(description="User's email address")


class Defaults(BaseModel):
    name: str = "John Doe"
    age: int = 30
    score: float = 95.5
    status: str = Field("active", json_schema_extra={"enum": ["active", "inactive", "pending"]})
    verified: bool = True


def _pushes(server: MCPServer[Any]) -> None:
    """A stateless server keeps no line open to ask on: the suite shows that these fail cleanly."""

    @server.tool(structured_output=False)
    async def test_sampling(prompt: str, ctx: Ctx) -> str:
        """Asks the client's model in mid-call."""
        message = SamplingMessage(role="user", content=_text(prompt))
        said = await ctx.session.create_message(messages=[message], max_tokens=100)
        return f"LLM response: {said.content}"

    @server.tool(structured_output=False)
    async def test_elicitation(message: str, ctx: Ctx) -> str:
        """Asks the user in mid-call."""
        said = await ctx.elicit(message=message, schema=Person)
        return f"User response: {said.action}"

    @server.tool(structured_output=False)
    async def test_elicitation_sep1034_defaults(ctx: Ctx) -> str:
        """Asks with defaults filled in."""
        said = await ctx.elicit(message="Please look", schema=Defaults)
        return f"Elicitation completed: {said.action}"

    @server.tool(structured_output=False)
    async def test_elicitation_sep1330_enums(ctx: Ctx) -> str:
        """Asks to choose."""
        said = await ctx.elicit(message="Please choose", schema=Defaults)
        return f"Elicitation completed: {said.action}"


# ------------------------------------------------------------------------- lists that change


def _changes(server: MCPServer[Any]) -> None:
    @server.tool(structured_output=False)
    async def test_trigger_tool_change(ctx: Ctx) -> str:
        """Says that the tools have changed."""
        await ctx.notify_tools_changed()
        return "said"

    @server.tool(structured_output=False)
    async def test_trigger_prompt_change(ctx: Ctx) -> str:
        """Says that the prompts have changed."""
        await ctx.notify_prompts_changed()
        return "said"


# --------------------------------------------------------------------- resources and prompts


def _resources(server: MCPServer[Any]) -> None:
    @server.resource("test://static-text", mime_type="text/plain")
    def static_text() -> str:
        """A text."""
        return "This is the content of the static text resource."

    @server.resource("test://static-binary", mime_type="image/png")
    def static_binary() -> bytes:
        """An image."""
        return base64.b64decode(PNG)

    @server.resource("test://watched-resource", mime_type="text/plain")
    def watched() -> str:
        """A text to be subscribed to."""
        return "Watched resource content"

    @server.resource("test://template/{id}/data", mime_type="application/json")
    def template(id: str) -> str:
        """A text made from its address."""
        return json.dumps({"id": id, "templateTest": True, "data": f"Data for ID: {id}"})


def _prompts(server: MCPServer[Any]) -> None:
    @server.prompt()
    def test_simple_prompt() -> str:
        """A prompt without arguments."""
        return "This is a simple prompt for testing."

    @server.prompt()
    def test_prompt_with_arguments(arg1: str, arg2: str) -> str:
        """A prompt with two arguments."""
        return f"Prompt with arguments: arg1='{arg1}', arg2='{arg2}'"

    @server.prompt()
    def test_prompt_with_embedded_resource(resourceUri: str) -> list[UserMessage]:
        """A prompt that holds a resource."""
        held = _resource(resourceUri, "text/plain", "Embedded resource content for testing.")
        return [UserMessage(held), UserMessage("Please process the embedded resource above.")]

    @server.prompt()
    def test_prompt_with_image() -> list[UserMessage | AssistantMessage]:
        """A prompt that holds an image."""
        return [UserMessage(_image()), UserMessage("Please analyze the image above.")]

    @server.prompt()
    def test_input_required_result_prompt(ctx: Ctx) -> str | InputRequiredResult:
        """A prompt that asks back."""
        context = _answer(ctx, "user_context", "context")
        if context is None:
            asked = {"user_context": _ask("What context should the prompt use?", "context")}
            return InputRequiredResult(input_requests=asked)
        return f"In the context of {context}"

    @server.completion()
    async def complete(_ref: Any, _argument: Any, _context: Any) -> Completion:
        return Completion(values=[], total=0, has_more=False)


def _legacy(server: MCPServer[Any]) -> None:
    """Methods of 2025-11-25 that the product does not offer; here to see them routed."""

    async def acknowledge(_context: Any, _params: Any) -> EmptyResult:
        return EmptyResult()

    plain = server._lowlevel_server
    plain.add_request_handler("logging/setLevel", SetLevelRequestParams, acknowledge)
    plain.add_request_handler("resources/subscribe", SubscribeRequestParams, acknowledge)
    plain.add_request_handler("resources/unsubscribe", UnsubscribeRequestParams, acknowledge)


def main() -> None:
    import uvicorn

    from chartpact.server import app
    from chartpact.server.settings import Settings
    from chartpact.server.uvicorn_server import BoundedHttp

    listener, database = socket.socket(fileno=int(sys.argv[1])), sys.argv[2]
    served = app.create(Settings(database=database, warm=False), extend=extend)
    config = uvicorn.Config(served.app, http=BoundedHttp, access_log=False, log_config=None)
    try:
        uvicorn.Server(config).run([listener])
    finally:
        served.close()


if __name__ == "__main__":
    main()
