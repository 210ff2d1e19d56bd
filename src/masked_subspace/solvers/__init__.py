"""Solvers of Algorithm 1. They know masks and arrays, nothing of estimators."""
