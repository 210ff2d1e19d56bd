"""Algorithm 2: the recursion, and an ensemble as a strategy of it."""
