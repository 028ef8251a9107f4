"""Looks: themes, stylesheets, and how lines are drawn on any terminal."""
