"""What the command's exit codes mean, and which errors lead to which."""

from __future__ import annotations

from enum import IntEnum


class Exit(IntEnum):
    """Exit codes; documented in docs/guide/cli.md."""

    OK = 0
    FAILED = 1  # a defect of the program: please report it
    USAGE = 2  # options that make no sense (argparse uses the same), or a package that is not installed
    INPUT = 3  # a file that cannot be read or does not hold what is needed
    OUTPUT = 4  # a file that cannot be written
    DATA = 5  # a data set that is not to be had
    INCOMPLETE = 6  # some cells of a table failed; the others are kept
    INTERRUPTED = 130  # Ctrl-C


class CommandError(Exception):
    """An error whose text is all a person needs."""

    def __init__(self, message: str, code: Exit = Exit.USAGE) -> None:
        super().__init__(message)
        self.code = code


def exit_for(error: BaseException) -> Exit | None:
    """The exit code of an error that a person can do something about; None for a defect."""
    from masked_subspace._common.files import FileError
    from masked_subspace.datasets.errors import DatasetError
    from masked_subspace.inputs import InputError
    from masked_subspace.inputs.samples import MissingExtraError
    from masked_subspace.registry import SettingError

    if isinstance(error, CommandError):
        return error.code
    if isinstance(error, ImportError) and "pip install" in str(error):  # an extra that is not installed
        return Exit.USAGE
    kinds = {MissingExtraError: Exit.USAGE, InputError: Exit.INPUT, FileError: Exit.OUTPUT, DatasetError: Exit.DATA,
             SettingError: Exit.USAGE}  # fmt: skip
    return next((code for kind, code in kinds.items() if isinstance(error, kind)), None)
