"""Algorithm 1 with every pair open: exact, one eigendecomposition for all rounds."""
