"""The app: screens, widgets, and the table of their commands."""
