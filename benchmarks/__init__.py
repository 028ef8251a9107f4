"""What the performance figures come from; each module runs alone."""
