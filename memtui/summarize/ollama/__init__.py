"""Ask a local model through Ollama: what it reads, how it is asked, what it replies."""
