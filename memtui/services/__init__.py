"""What screens, commands and tools call to read and change the store."""
