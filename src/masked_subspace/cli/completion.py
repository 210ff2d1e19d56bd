"""`masked-subspace completion bash|zsh`: a script that completes commands, options, their values and files.

Both scripts are made from the parser, so that they know every option there is, and both offer the same: commands
first, options after a dash, the values of an option that has a fixed set of them, else files.
"""

from __future__ import annotations

import argparse
import sys
from argparse import Namespace
from collections.abc import Iterator

from masked_subspace.cli.exits import Exit
from masked_subspace.cli.parser import build_parser
from masked_subspace.registry import METHODS

_BASH = """\
_masked_subspace() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} command=${COMP_WORDS[1]} words=
  if [ "$COMP_CWORD" -eq 1 ]; then
    words="@COMMANDS@"
  else
    case "$command $previous" in
@VALUES@
      *)
        case "$command $current" in
@OPTIONS@
@FIXED@
        esac ;;
    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  [ -n "$words" ] || COMPREPLY=($(compgen -f -- "$current"))
}
complete -o filenames -F _masked_subspace masked-subspace
"""
_ZSH = """\
(( $+functions[compdef] )) || { autoload -U compinit && compinit -i }
_masked_subspace() {
  local words_offered=
  if (( CURRENT == 2 )); then
    words_offered="@COMMANDS@"
  else
    case "$words[2] $words[CURRENT-1]" in
@VALUES@
      *)
        case "$words[2] $PREFIX" in
@OPTIONS@
@FIXED@
        esac ;;
    esac
  fi
  if [[ -n $words_offered ]]; then
    compadd -- ${=words_offered}
  else
    _files
  fi
}
compdef _masked_subspace masked-subspace
"""


def run(options: Namespace) -> int:
    """Print the script."""
    sys.stdout.write(script(options.shell))
    return Exit.OK


def script(shell: str = "bash") -> str:
    """The script for a shell."""
    template, variable = (_ZSH, "words_offered") if shell == "zsh" else (_BASH, "words")
    values, options, fixed = [], [], []
    commands = _choices(build_parser())
    for name, parser in commands.items():
        actions = list(_actions(parser))
        offered = dict.fromkeys(text for one in actions for text in one.option_strings)
        options.append(f'          "{name} -"*) {variable}="{" ".join(offered)}" ;;')
        places = [str(choice) for one in actions if not one.option_strings and one.choices for choice in one.choices]
        if places:
            fixed.append(f'          "{name} "*) {variable}="{" ".join(places)}" ;;')
        for one in actions:
            choices = METHODS if "--method" in one.option_strings else one.choices
            if one.option_strings and choices:
                pattern = "|".join(f'"{name} {text}"' for text in one.option_strings)
                values.append(f'      {pattern}) {variable}="{" ".join(map(str, choices))}" ;;')
    parts = {"COMMANDS": " ".join([*commands, "--help", "--version"]), "VALUES": "\n".join(dict.fromkeys(values)),
             "OPTIONS": "\n".join(options), "FIXED": "\n".join(fixed)}  # fmt: skip
    for name, text in parts.items():
        template = template.replace(f"@{name}@", text)
    return template


def _actions(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    """Everything a command understands, that of its own commands (`data list`) as well."""
    for action in parser._actions:
        if action.help != argparse.SUPPRESS:
            yield action
    for below in _choices(parser).values():
        yield from _actions(below)


def _choices(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    found = (one for one in parser._actions if isinstance(one, argparse._SubParsersAction))
    return {name: below for action in found for name, below in action.choices.items()}
