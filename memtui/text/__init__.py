"""Functions on plain text: the analyzer, sentences, dates, token counts."""
