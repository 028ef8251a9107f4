"""Edit the settings of agents: install hooks, register the MCP server."""
