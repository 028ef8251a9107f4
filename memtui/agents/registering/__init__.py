"""How agents are told of the MCP server: entries in their settings, and a skill.

What is put in is cut out again, and nothing else is touched: ``memtui.agents.changes``
plans it, shows it and writes it.
"""
