"""What is seen: one screen a file."""
