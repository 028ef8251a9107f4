"""How the panes of a screen lie, by how wide it is."""

LAYOUTS = [(0, "-narrow"), (100, "-normal"), (160, "-wide")]
"""From which width in columns on which layout holds."""

HEIGHTS = [(0, "-low"), (30, "-tall")]
"""From which height in lines on there is room for what is only nice to have."""
