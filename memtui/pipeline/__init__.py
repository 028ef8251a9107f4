"""The background work: one process at a time runs the stages and asks the model."""
