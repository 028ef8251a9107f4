"""The widgets that several screens have, or that are long."""
