"""`chartpact completion SHELL`: a script that completes this command line in bash, zsh or fish.

The scripts are made from the parsers, so that they know every verb and option.
"""

import argparse
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from chartpact.bars import samples
from chartpact.catalogue import forkable, list_indicators
from chartpact.cli import DONE, Verbs

INSTALL = {
    "bash": 'eval "$(chartpact completion bash)"  # in ~/.bashrc',
    "zsh": 'eval "$(chartpact completion zsh)"  # in ~/.zshrc, after compinit',
    "fish": "chartpact completion fish > ~/.config/fish/completions/chartpact.fish",
}


def add(verbs: Verbs) -> None:
    verb = verbs.add_parser(
        "completion",
        help="print a script that completes commands in your shell",
        description="Prints a script with which the Tab key completes verbs, options and names.",
        epilog=f"Example: {INSTALL['bash']}",
    )
    verb.add_argument("shell", choices=INSTALL, help="your shell")

    def run(args: argparse.Namespace) -> int:
        commands = list(_walk("", verbs.choices))
        print(WRITERS[args.shell](commands), end="")
        return DONE

    verb.set_defaults(run=run)


@dataclass
class Command:
    """A verb with the verbs above it, as in ` scripts add`, and what may follow it."""

    path: str
    words: dict[str, str] = field(default_factory=dict)  # verbs, or values of its argument
    files: bool = False  # the argument may be a file too
    options: dict[str, str] = field(default_factory=dict)  # each with its help
    values: dict[str, list[str]] = field(default_factory=dict)  # of options; [] = a file or a text


def _walk(path: str, verbs: Mapping[str, argparse.ArgumentParser]) -> Iterator[Command]:
    """The commands of a parser's verbs, and of the verbs below them."""
    helps = {name: verb.description or "" for name, verb in verbs.items()}
    yield Command(path, helps)
    for name, verb in verbs.items():
        command = Command(f"{path} {name}")
        below: Mapping[str, argparse.ArgumentParser] = {}
        for action in verb._actions:
            if isinstance(action, argparse._SubParsersAction):
                below = action.choices
            elif not action.option_strings:
                command.words |= dict.fromkeys(_values(name, action), "")
                command.files |= action.dest == "bars_source"
            else:
                command.options |= dict.fromkeys(action.option_strings, action.help or "")
                if action.nargs != 0:
                    values = _values(name, action)
                    command.values |= dict.fromkeys(action.option_strings, values)
        if below:
            yield from _walk(command.path, below)
        yield command


PROVED = ("prove", "file")  # a script, or the name of what is built in


def _values(verb: str, action: argparse.Action) -> list[str]:
    """The values of an argument that are known; none of a file or of a text."""
    if action.choices is not None:
        return [str(choice) for choice in action.choices]
    if action.dest == "bars_source":
        return [f"{samples.PREFIX}{name}" for name in samples.SAMPLES]
    if action.dest == "indicator" or verb == "indicators" or (verb, action.dest) == PROVED:
        return [indicator.name for indicator in list_indicators()]
    return forkable() if verb == "fork" else []


# ------------------------------------------------------------------------------------- bash and zsh

# The script finds the verb among the words before the cursor, then the candidates for the last.
_CASES = """\
  for word in "${before[@]}"; do
    case "$verb $word" in
      @VERBS@) verb="$verb $word" ;;
    esac
  done
  case "$verb $previous" in
@VALUES@
    *)
      case "$verb:$current" in
@OPTIONS@
@WORDS@
      esac ;;
  esac
"""
_BASH = """\
_chartpact() {
  local line=${COMP_LINE:0:COMP_POINT} verb= word current previous words before reply=
  read -ra words <<< "$line"
  case $line in *[[:space:]]) words+=("") ;; esac
  current=${words[${#words[@]} - 1]} previous=${words[${#words[@]} - 2]}
  before=("${words[@]:1:${#words[@]} - 2}")
@CASES@\
  COMPREPLY=($(compgen -W "$reply" -- "$current"))
  case $current in
    *:*) COMPREPLY=("${COMPREPLY[@]#"${current%"${current##*:}"}"}") ;;  # bash splits at a colon
  esac
}
complete -o default -F _chartpact chartpact
"""
_ZSH = """\
#compdef chartpact
_chartpact() {
  local verb= word current=${words[CURRENT]} previous=${words[CURRENT-1]} reply=
  local -a before=("${(@)words[2,CURRENT-1]}")
@CASES@\
  compadd -- ${=reply} || _files
}
compdef _chartpact chartpact
"""


def _write_cases(commands: list[Command]) -> str:
    def case(pattern: str, values: list[str] | dict[str, str], indent: int) -> str:
        return f'{" " * indent}{pattern}) reply="{" ".join(values)}" ;;'

    verbs = " | ".join(f'"{command.path}"' for command in commands if command.path)
    values = [
        case(f'"{command.path} {option}"', known, 4)
        for command in commands
        for option, known in command.values.items()
    ]
    options = [case(f'"{c.path}:"-*', c.options, 8) for c in commands if c.options]
    # Nothing typed yet: where a file may stand, the shell offers files.
    words = [case(f'"{c.path}:"{"?" if c.files else ""}*', c.words, 8) for c in commands if c.words]
    filled = {"VERBS": verbs, "VALUES": values, "OPTIONS": options, "WORDS": words}
    text = _CASES
    for name, part in filled.items():
        text = text.replace(f"@{name}@", part if isinstance(part, str) else "\n".join(part))
    return text


def _write_bash(commands: list[Command]) -> str:
    return _BASH.replace("@CASES@", _write_cases(commands))


def _write_zsh(commands: list[Command]) -> str:
    return _ZSH.replace("@CASES@", _write_cases(commands))


# --------------------------------------------------------------------------------------------- fish


def _write_fish(commands: list[Command]) -> str:
    def quote(text: str) -> str:
        escaped = text.replace("\\", "\\\\").replace("'", "\\'")
        return f"'{escaped}'"

    def complete(path: str, *words: str) -> str:
        verbs = path.split()
        seen = [f"__fish_seen_subcommand_from {verb}" for verb in verbs]
        return " ".join(
            [
                "complete -c chartpact -n",
                quote("; and ".join(seen) or "__fish_use_subcommand"),
                *words,
            ]
        )

    lines = []
    for command in commands:
        for word, text in command.words.items():
            about = ("-d", quote(text)) if text else ()
            lines.append(complete(command.path, "-a", quote(word), *about))
        for option, text in command.options.items():
            name = ("-l", option[2:]) if option.startswith("--") else ("-s", option[1:])
            takes: tuple[str, ...] = ()
            if option in command.values:
                known = command.values[option]
                takes = ("-x", "-a", quote(" ".join(known))) if known else ("-r",)
            lines.append(complete(command.path, *name, *takes, "-d", quote(text)))
    return "\n".join(dict.fromkeys(lines)) + "\n"


WRITERS = {"bash": _write_bash, "zsh": _write_zsh, "fish": _write_fish}
