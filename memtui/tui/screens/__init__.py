"""The screens, one in each file, with the widgets that it alone has."""
