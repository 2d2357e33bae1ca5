"""The command of a run, made from a template and the run's configuration.

`./solver -n {nodes} --out {folder}/out.json`: the template is cut into words first and the values
are put inside the words, so that no value can become a second word or a command of its own. There
is no shell between Compass and the program, unless the template begins with `sh:`; values reach
that shell as variables, never as text of its script.
"""

import re
import shlex
import shutil
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from compass.domain.base import Config, Value
from compass.domain.errors import EnvironmentProblem, QuerySyntax, unknown
from compass.language.format import format_number
from compass.slurm.script import variable_name

SHELL = "sh:"  # what a template begins with that is a script of the shell
RUN, FOLDER = "run", "folder"  # the number of a run, and the folder that is its own
PREFIX = "COMPASS_"

# In this order: `${NAME}` belongs to the shell and stays as it is.
_PLACE = re.compile(r"\$\{[^{}]*\}|\{\{|\}\}|\{([^{}\s]+)\}")
# What only a shell would understand, by the quotes around it.
_SHELL_ONLY = {
    "": re.compile(r"[|&;<>`]|\$[A-Za-z_({]"),
    '"': re.compile(r"`|\$[A-Za-z_({]"),
}
_THREADS = re.compile(r"(?:omp_)?(?:num_|n_?)?(?:omp_?)?threads?", re.IGNORECASE)


@dataclass(frozen=True)
class Command:
    """What is executed for one run."""

    words: tuple[str, ...]
    environment: dict[str, str]  # added to the environment of the person


@dataclass(frozen=True)
class CommandTemplate:
    """A command with places for the values of a configuration; `checked` makes one."""

    text: str
    words: tuple[str, ...]  # of a script of the shell: the one word that the script is
    shell: bool

    def command(self, config: Config, *, run: int, folder: Path) -> Command:
        """The command of one run."""
        known = _known_values(config, run, folder)
        environment = _environment(config, run, folder)
        if not self.shell:
            words = tuple(_filled(word, known.__getitem__) for word in self.words)
            return Command(words, environment)
        script, values = _script(self.words[0], known)
        return Command(("/bin/sh", "-c", script, "sh"), environment | values)

    def shown(self, config: Config, *, run: int, folder: Path) -> str:
        """The command as a person would type it."""
        known = _known_values(config, run, folder)
        if not self.shell:
            return shlex.join(_filled(word, known.__getitem__) for word in self.words)
        return _filled(self.words[0], lambda name: shlex.quote(known[name]))

    @property
    def program(self) -> str | None:
        """The program that every run executes; None: it depends on the configuration."""
        return None if self.shell or _PLACE.search(self.words[0]) else self.words[0]


def checked(text: str, names: Collection[str]) -> CommandTemplate:
    """The template of a text; `names` are the columns of a configuration.

    A name that does not exist, an open quote, or what only a shell would understand is an error.
    """
    shell = text.startswith(SHELL)
    script = text.removeprefix(SHELL).strip() if shell else text
    words = (script,) if shell else tuple(_split(script))
    if not script or not words or not words[0] or "\0" in script:
        raise QuerySyntax("the command is empty", hint="for example './solver -n {nodes}'")
    known = [*names, RUN, FOLDER]
    for match in _PLACE.finditer(script):
        if match[1] is not None and match[1] not in known:
            error = unknown("parameter", match[1], known, where="in the command")
            raise QuerySyntax(
                error.message,
                hint=f"{error.hint} (braces that are meant as such: {{{{{match[1]}}}}})",
                text=text,
                column=text.find(match[0]),
            )
    return CommandTemplate(text, words, shell)


def find_program(name: str, directory: Path) -> Path:
    """The program that runs in a directory would execute; EnvironmentProblem if there is none."""
    if "/" not in name:
        found = shutil.which(name)
        if found is None:
            raise EnvironmentProblem(
                f"there is no program named '{name}'",
                hint=f"is it in $PATH? a program of this folder is ./{name}",
            )
        return Path(found)
    path = directory / name
    if not path.exists():
        raise EnvironmentProblem(f"there is no program {path}", hint="has it been built?")
    if path.is_dir():
        raise EnvironmentProblem(f"{path} is a folder, not a program", hint="name the program")
    if shutil.which(str(path)) is None:
        raise EnvironmentProblem(f"{path} may not be executed", hint=f"chmod +x {path}")
    return path


def written(value: Value) -> str:
    """A value as a person would type it: 16, not 16.0; none where there is none."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return format_number(value)
    return "none" if value is None else str(value).replace("\0", " ")


def _split(text: str) -> list[str]:
    names = [range(*m.span()) for m in _PLACE.finditer(text) if m[1] is not None]
    for place, quote in _quotes(text):
        sign = _SHELL_ONLY[quote].match(text, place) if quote != "'" else None
        if sign and not any(place in name for name in names):
            raise QuerySyntax(
                f"'{text[place]}' in the command needs a shell, and none is used",
                hint=f"put {SHELL} in front of the command to use one, or single quotes around it",
                text=text,
                column=place,
            )
    try:
        return shlex.split(text)
    except ValueError as problem:
        raise QuerySyntax(
            f"the command cannot be cut into words: {str(problem).lower()}",
            hint="is every quote closed?",
            text=text,
        ) from None


def _quotes(text: str) -> Iterator[tuple[int, str]]:
    """The places of a command that are read as signs, with the quotes around each."""
    quote, skip = "", False
    for i, sign in enumerate(text):
        if skip:
            skip = False
        elif sign == "\\" and quote != "'":
            skip = True
        elif sign == quote:
            quote = ""
        elif not quote and sign in "'\"":
            quote = sign
        else:
            yield i, quote


def _known_values(config: Config, run: int, folder: Path) -> dict[str, str]:
    return {RUN: str(run), FOLDER: str(folder)} | {n: written(v) for n, v in config.items()}


def _filled(text: str, value: Callable[[str], str]) -> str:
    def one(match: re.Match[str]) -> str:
        if match[1] is not None:
            return value(match[1])
        return match[0][0] if match[0] in ("{{", "}}") else match[0]

    return _PLACE.sub(one, text)


def _script(text: str, known: Mapping[str, str]) -> tuple[str, dict[str, str]]:
    """The script of the shell, and the variables with the values that it names.

    A place is written so that the shell takes it for one word, whatever quotes are around it. If
    these are misjudged (a comment with an apostrophe), a value is cut or left out; as it is never
    part of the script, the shell cannot execute it.
    """
    quotes = dict(_quotes(text))
    variables: dict[str, str] = {}
    pieces, end = [], 0
    for match in _PLACE.finditer(text):
        pieces.append(text[end : match.start()])
        end = match.end()
        if match[1] is None:
            pieces.append(match[0][0] if match[0] in ("{{", "}}") else match[0])
            continue
        variable = variables.setdefault(match[1], f"{PREFIX}VALUE_{len(variables) + 1}")
        form = {"": '"${%s}"', '"': "${%s}", "'": "'\"${%s}\"'"}[quotes.get(match.start(), "")]
        pieces.append(form % variable)
    pieces.append(text[end:])
    return "".join(pieces), {variable: known[name] for name, variable in variables.items()}


def _environment(config: Config, run: int, folder: Path) -> dict[str, str]:
    """All settings for programs that read them from the environment.

    Two columns whose names would be the same variable are both left out: neither can be meant.
    """
    counts = Counter(variable_name(name) for name in config)
    found = {PREFIX + "RUN": str(run), PREFIX + "FOLDER": str(folder)}
    for name, value in config.items():
        variable = variable_name(name)
        if value is not None and counts[variable] == 1 and variable not in ("RUN", "FOLDER"):
            found[PREFIX + variable] = written(value)
    threads = [name for name in config if _THREADS.fullmatch(name)]
    if len(threads) == 1 and _is_count(config[threads[0]]):
        found["OMP_NUM_THREADS"] = written(config[threads[0]])
    return found


def _is_count(value: Value) -> bool:
    whole = isinstance(value, int | float) and not isinstance(value, bool)
    return whole and float(value or 0).is_integer() and float(value or 0) >= 1
