"""The ASGI application: MCP tools, REST and a page, for many users at once."""
