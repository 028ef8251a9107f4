"""Events, sessions, nodes, grips, verdicts, filters and hits, as data without I/O."""
