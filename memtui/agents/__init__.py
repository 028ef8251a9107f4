"""What agents see of memtui: the hooks installed in their settings.

Nothing here is done unasked: a change is planned, shown, and only then written. It
knows neither the store nor a screen, and is handed the places it works with.
"""
