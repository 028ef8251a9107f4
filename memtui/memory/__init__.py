"""What a memory is: frozen dataclasses and pure functions. No I/O and no clock."""
