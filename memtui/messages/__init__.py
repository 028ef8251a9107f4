"""What is said between widgets, screens and the app.

Workers post these from their threads; handlers change what is on the screen.
"""
