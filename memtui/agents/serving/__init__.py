"""The MCP server: what agents ask of the memory, over standard input and output.

Only ``server`` and ``wire`` know the SDK. An answer is data that was asked for: bounded
in tokens, cited, and fenced, so that what somebody once wrote is not taken for an
instruction.
"""
