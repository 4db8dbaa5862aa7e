"""Drives wink with the official Python MCP client.

Usage: smoke.py ERA http URL TOKEN, or smoke.py ERA stdio WINK, where ERA is `legacy` (the client
sends initialize) or `auto` (the client asks with server/discover and speaks the newest revision).
Ends with a traceback if anything differs from what is asserted here. The workspace must be fresh.
"""

import asyncio
import sys

from mcp import Client, MCPError
from mcp.client.stdio import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client
from mcp.types import INVALID_PARAMS

REVISION = {"legacy": "2025-11-25", "auto": "2026-07-28"}


async def call(client, name, **arguments):
    """Calls a tool that must succeed; returns its text and its structured content."""
    result = await client.call_tool(name, arguments)
    assert not result.is_error, result
    return text_of(result), result.structured_content


async def refused(client, code, name, **arguments):
    """Calls a tool that must be refused with `code`; returns text and structured content."""
    result = await client.call_tool(name, arguments)
    assert result.is_error, result
    assert result.structured_content["error"] == code, result
    return text_of(result), result.structured_content


def text_of(result):
    # The result is sent once: as structured data, in which `message` is the text for a model.
    assert not result.content, result
    return result.structured_content["message"]


def check_server(client, era):
    assert client.protocol_version == REVISION[era], client.protocol_version
    assert client.server_info.name == "wink", client.server_info
    assert "read_file" in client.instructions


READING = ["ls", "read_file", "glob", "grep"]
CHANGING = ["write_file", "edit_file", "multi_edit", "apply_patch", "mkdir", "mv", "rm"]
ARCHIVES = ["export", "import"]
HISTORY = ["snapshot", "history", "diff", "restore", "revert", "undo", "fork", "merge"]
ADDING = ["mkdir", "export", "snapshot"]


async def check_tools(client, door):
    tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    assert list(tools) == READING[:2] + CHANGING + READING[2:] + ARCHIVES + HISTORY, tools
    for tool in tools.values():
        assert ("session" in tool.input_schema["properties"]) is (door == "http")
        assert tool.output_schema["type"] == "object"
        assert tool.title and tool.description
        assert tool.input_schema["type"] == "object"
        assert tool.input_schema["additionalProperties"] is False
        writes = tool.name not in READING + ["history", "diff"]
        assert tool.annotations.read_only_hint is not writes
        assert tool.annotations.destructive_hint is (writes and tool.name not in ADDING)


async def check_write_and_read(client):
    text, empty = await call(client, "ls")
    assert empty["entries"] == [] and "empty" in text

    text, written = await call(client, "write_file", path="docs/a.txt", content="one\ntwo\n")
    assert written["created"] is True and written["bytes_written"] == 8
    assert "Created docs/a.txt" in text

    text, page = await call(client, "read_file", file_path="docs/a.txt", limit="1")
    assert page["content"] == "one\n" and "one" not in text
    assert page["truncated"] is True and page["total_lines"] == 2
    assert page["content_hash"] == written["content_hash"]
    assert 'read_file {"limit":1,"offset":2,"path":"docs/a.txt"}' in text

    _, root = await call(client, "ls")
    assert [(e["name"], e["kind"]) for e in root["entries"]] == [("docs", "directory")]
    _, docs = await call(client, "ls", path="docs")
    assert docs["entries"] == [{"name": "a.txt", "kind": "file", "size_bytes": 8}]


async def check_overwrite_in_session(client, session):
    """What this session wrote or read it may overwrite."""
    new = {"path": "docs/a.txt", **session}
    await call(client, "read_file", **new)
    _, done = await call(client, "write_file", content="three\n", **new)
    assert done["created"] is False


async def check_overwrite(client):
    new = {"path": "docs/a.txt", "content": "three\n"}
    text, refusal = await refused(client, "conflict", "write_file", **new)
    assert "read_file" in text

    _, page = await call(client, "read_file", path="docs/a.txt")
    assert page["total_lines"] == 2, "a refused overwrite must leave the file as it was"
    assert page["content_hash"] == refusal["current_hash"]

    stale = page["content_hash"]
    _, done = await call(client, "write_file", **new, expected_hash=stale)
    assert done["created"] is False
    _, page = await call(client, "read_file", path="docs/a.txt")
    assert page["content"] == "three\n"

    await refused(client, "conflict", "write_file", **new, expected_hash=stale)


async def check_edit(client):
    text, edited = await call(client, "edit_file", path="docs/a.txt", oldText="three", newText="four")
    assert edited["lines"] == [1] and "\n1\tfour\n" in text, text
    text, _ = await refused(
        client, "invalid_argument", "edit_file", path="docs/a.txt", old_string="Four", new_string="4"
    )
    assert "upper and lower case" in text, text

    edits = [{"old_string": "four", "new_string": "five"}, {"old_str": "five", "new_str": "six"}]
    await call(client, "multi_edit", path="docs/a.txt", edits=edits)
    patch = "--- a/docs/a.txt\n+++ b/docs/a.txt\n@@ -1 +1 @@\n-six\n+three\n"
    await call(client, "apply_patch", patch=patch)
    _, page = await call(client, "read_file", path="docs/a.txt")
    assert page["content"] == "three\n"


async def check_search(client):
    _, found = await call(client, "glob", pattern="**/*.txt")
    assert found["paths"] == ["docs/a.txt"], found
    text, found = await call(client, "grep", pattern="th?ree", glob="*.txt")
    assert found["total_lines"] == 1 and found["matches"][0]["line_content"] == "three", text
    await refused(client, "invalid_pattern", "grep", pattern="(")


async def check_archive(client):
    _, exported = await call(client, "export", path="all.fs.zip")
    assert exported["file_count"] == 1, exported
    await call(client, "write_file", path="docs/b.txt", content="gone soon")
    await refused(client, "invalid_argument", "import", path="all.fs.zip", replace_everything=False)
    _, imported = await call(client, "import", path="all.fs.zip", replace_everything=True)
    assert imported["file_count"] == 1 and imported["removed"] == 2, imported
    _, found = await call(client, "glob", pattern="**")
    assert found["paths"] == ["docs/a.txt"], found


async def check_history(client):
    await call(client, "snapshot", tag="kept")
    await call(client, "rm", path="docs")
    text, restored = await call(client, "restore", snapshot="kept")
    assert restored["brought_back"] >= 1, text
    _, undone = await call(client, "undo")
    assert undone["name"], undone
    await call(client, "undo")


async def check_resources(client):
    listed = await client.list_resources()
    uris = [str(resource.uri) for resource in listed.resources]
    assert uris[0] == "wink://workspace/docs/a.txt", uris
    (content,) = (await client.read_resource(uris[0])).contents
    assert content.text == "three\n" and content.mime_type == "text/plain", content
    templates = (await client.list_resource_templates()).resource_templates
    assert len(templates) == 2, templates
    try:
        await client.read_resource("wink://workspace/..%2fsecret")
    except MCPError as error:
        assert error.error.code == INVALID_PARAMS, error.error
    else:
        raise AssertionError("a path that leaves the workspace must be refused")


async def check_refusals(client):
    await refused(client, "permission_denied", "read_file", path="../x")
    await refused(client, "permission_denied", "write_file", path="../x", content="")
    await refused(client, "not_found", "read_file", path="missing")
    text, _ = await refused(client, "invalid_argument", "read_file", path="docs/a.txt", ofset=1)
    assert "did you mean `offset`" in text
    await refused(client, "invalid_argument", "read_file", path="docs/a.txt", offset=-1)


async def check_unknown_tool(client):
    try:
        await client.call_tool("raed_file", {"path": "docs/a.txt"})
    except MCPError as error:
        assert error.error.code == INVALID_PARAMS, error.error
        assert "did you mean `read_file`" in error.error.message, error.error
    else:
        raise AssertionError("an unknown tool must be a protocol error")


def server(door, where, token):
    if door == "stdio":
        return StdioServerParameters(command=where, args=["mcp", "--backend", "memory", "--results", "structured"])
    headers = {"Authorization": f"Bearer {token}"}
    return streamable_http_client(where, http_client=create_mcp_http_client(headers=headers))


async def main(era, door, where, token=None):
    async with Client(server(door, where, token), mode=era) as client:
        check_server(client, era)
        await check_tools(client, door)
        await check_write_and_read(client)
        if door == "http":
            await check_overwrite(client)
            await check_overwrite_in_session(client, {"session": "smoke"})
        else:
            await check_overwrite_in_session(client, {})
        await check_edit(client)
        await check_search(client)
        await check_resources(client)
        await check_archive(client)
        await check_history(client)
        await check_refusals(client)
        await check_unknown_tool(client)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
    print("ok")
