"""The command `masked-subspace`. Nothing heavy is imported before a command needs it, so that `--help` is instant."""

from masked_subspace.cli.main import main

__all__ = ["main"]
