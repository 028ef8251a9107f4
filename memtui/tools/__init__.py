"""The tools that other programs call, through MCP, HTTP or ``memtui call``."""
