"""What every room may use: files, progress, threads, provenance."""
