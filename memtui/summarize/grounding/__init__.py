"""Compare a model's lines with the events: grips, verdicts, reasons to withhold."""
