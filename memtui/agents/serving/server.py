"""The server itself: the SDK's requests as calls. Nothing else knows the SDK."""

import functools
import signal

import anyio
import anyio.to_thread
import mcp_types as types
from mcp.server.lowlevel.server import Server
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError

from memtui import __version__
from memtui.agents.serving import parameters, prompts, resources
from memtui.agents.serving.calls import Calls, Failed, failed
from memtui.agents.serving.offered import offered
from memtui.agents.serving.tools import Tool
from memtui.agents.serving.wire import Heard
from memtui.errors import MemtuiError

NAME_CHARS = 80
"""How much of an unknown name is given back, in characters."""


def run(calls: Calls, *, with_writing: bool) -> None:
    """Serve standard input and output until the client goes.

    Args:
        calls: Who answers.
        with_writing: Whether tools that change something are offered.
    """
    # What waits for a line cannot be told to stop; nothing here is ever half done.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        anyio.run(functools.partial(_serve, _Desk(calls, with_writing)))
    except* BrokenPipeError:
        pass  # the client went without a word: there is nobody to tell


async def _serve(desk: "_Desk") -> None:
    server: Server[object] = Server(
        "memtui",
        version=__version__,
        instructions=prompts.INSTRUCTIONS,
        on_list_tools=desk.list_tools,
        on_call_tool=desk.call_tool,
        on_list_resources=desk.list_resources,
        on_list_resource_templates=desk.list_templates,
        on_read_resource=desk.read_resource,
        on_list_prompts=desk.list_prompts,
        on_get_prompt=desk.get_prompt,
    )
    async with stdio_server() as (reading, writing):
        heard = Heard(reading, writing)
        await server.run(heard, writing, server.create_initialization_options())


class _Desk:
    """Where requests are answered; what reads or writes does so on a thread."""

    def __init__(self, calls: Calls, with_writing: bool) -> None:
        self._calls = calls
        self._tools = {one.name: one for one in offered(with_writing=with_writing)}

    async def list_tools(
        self, context: object, told: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[_tool(o) for o in self._tools.values()])

    async def call_tool(
        self, context: object, told: types.CallToolRequestParams
    ) -> types.CallToolResult:
        tool = self._tools.get(told.name)
        if tool is None:
            raise MCPError(
                types.INVALID_PARAMS, f"there is no tool {told.name[:NAME_CHARS]!r}"
            )
        answer = await anyio.to_thread.run_sync(
            self._calls.call, tool, told.arguments or {}
        )
        content: list[types.ContentBlock] = [types.TextContent(text=answer.text)]
        if isinstance(answer, Failed):
            return types.CallToolResult(content=content, is_error=True)
        return types.CallToolResult(content=content, structured_content=answer.data)

    async def list_resources(
        self, context: object, told: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        try:
            years = await anyio.to_thread.run_sync(self._calls.roots)
        except MemtuiError as error:
            raise MCPError(types.INTERNAL_ERROR, failed(error).text) from None
        found = [(resources.ROOT, "The years that are kept"), *years]
        return types.ListResourcesResult(
            resources=[
                types.Resource(uri=uri, name=title, mime_type=resources.MIME)
                for uri, title in found
            ]
        )

    async def list_templates(
        self, context: object, told: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        return types.ListResourceTemplatesResult(
            resource_templates=[
                types.ResourceTemplate(
                    name=name,
                    uri_template=template,
                    description=says,
                    mime_type=resources.MIME,
                )
                for name, template, says in resources.TEMPLATES
            ]
        )

    async def read_resource(
        self, context: object, told: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        uri = str(told.uri)
        try:
            answer = await anyio.to_thread.run_sync(self._calls.read, uri)
        except MemtuiError as error:
            raise MCPError(types.INVALID_PARAMS, failed(error).text) from None
        content = types.TextResourceContents(
            uri=uri, mime_type=resources.MIME, text=answer.text
        )
        return types.ReadResourceResult(contents=[content])

    async def list_prompts(
        self, context: object, told: types.PaginatedRequestParams | None
    ) -> types.ListPromptsResult:
        takes = types.PromptArgument(name=prompts.ARGUMENT, required=True)
        one = types.Prompt(
            name=prompts.NAME, description=prompts.SAYS, arguments=[takes]
        )
        return types.ListPromptsResult(prompts=[one])

    async def get_prompt(
        self, context: object, told: types.GetPromptRequestParams
    ) -> types.GetPromptResult:
        if told.name != prompts.NAME:
            raise MCPError(
                types.INVALID_PARAMS, f"there is no prompt {told.name[:NAME_CHARS]!r}"
            )
        text = prompts.text((told.arguments or {}).get(prompts.ARGUMENT, ""))
        said = types.PromptMessage(role="user", content=types.TextContent(text=text))
        return types.GetPromptResult(description=prompts.SAYS, messages=[said])


def _tool(one: Tool) -> types.Tool:
    hints = types.ToolAnnotations(
        read_only_hint=not one.is_writing,
        idempotent_hint=one.is_repeatable if one.is_writing else None,
        destructive_hint=False if one.is_writing else None,
        open_world_hint=False,
    )
    return types.Tool(
        name=one.name,
        description=one.says,
        input_schema=parameters.schema(one.parameters),
        annotations=hints,
    )
