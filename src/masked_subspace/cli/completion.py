"""`masked-subspace completion bash|zsh`: a script that completes commands, options and their values."""

from __future__ import annotations

import argparse
import sys
from argparse import Namespace

from masked_subspace.cli.exits import Exit
from masked_subspace.cli.parser import build_parser
from masked_subspace.registry import METHODS

_BASH = """\
_masked_subspace() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} command=${COMP_WORDS[1]} words=
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    words="@COMMANDS@"
  else
    case "$command $previous" in
@VALUES@
      *)
        case "$command" in
@OPTIONS@
        esac ;;
    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  [ ${#COMPREPLY[@]} -gt 0 ] || COMPREPLY=($(compgen -f -- "$current"))
}
complete -o filenames -F _masked_subspace masked-subspace
"""
_ZSH = "autoload -U +X bashcompinit && bashcompinit\n"  # zsh understands bash's way when asked to


def run(options: Namespace) -> int:
    """Print the script."""
    sys.stdout.write((_ZSH if options.shell == "zsh" else "") + script())
    return Exit.OK


def script() -> str:
    """The script, made from the parser, so that it knows every option there is."""
    commands = _commands(build_parser())
    values, options = [], []
    for name, parser in commands.items():
        actions = [action for action in parser._actions if action.help != argparse.SUPPRESS]
        fixed = [str(choice) for one in actions if not one.option_strings and one.choices for choice in one.choices]
        words = [text for one in actions for text in one.option_strings] + fixed
        options.append(f'          {name}) words="{" ".join(words)}" ;;')
        for one in actions:
            choices = METHODS if "--method" in one.option_strings else one.choices
            if one.option_strings and choices:
                pattern = "|".join(f'"{name} {text}"' for text in one.option_strings)
                values.append(f'      {pattern}) words="{" ".join(map(str, choices))}" ;;')
    filled = _BASH.replace("@COMMANDS@", " ".join([*commands, "--help", "--version"]))
    return filled.replace("@VALUES@", "\n".join(values)).replace("@OPTIONS@", "\n".join(options))


def _commands(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    (action,) = (one for one in parser._actions if isinstance(one, argparse._SubParsersAction))
    return dict(action.choices)
