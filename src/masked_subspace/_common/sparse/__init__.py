"""Samples in scipy.sparse matrices, used without ever making them dense as a whole."""
