"""Services: screens, commands and tools call them to read and change the store."""
