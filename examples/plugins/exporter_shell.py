"""An exporter: `export` lines that a job script can source."""

import re
import shlex

from compass import registry
from compass.domain.answer import Answer
from compass.domain.errors import QueryProblem


@registry.add("exporter", "shell")
class Shell:
    """The best suggestion as shell variables."""

    name = "shell"

    @staticmethod
    def render(answer: Answer, template: str | None = None) -> str:
        """One `export NAME=value` line per setting; a level `none` unsets the variable."""
        if template is not None:
            raise QueryProblem("shell takes no template", hint="use sbatch for templates")
        if not answer.suggestions:
            raise QueryProblem(
                "there is no suggestion to export",
                hint=answer.no_answer or "ask recommend or reconfigure",
            )
        best = answer.suggestions[0]
        lines = [f"# {' '.join(best.trust.reason.split())}"]
        for name, value in best.config.items():
            variable = "RUN_" + re.sub(r"[^A-Z0-9]", "_", name.upper())
            if value is None:
                lines.append(f"unset {variable}")
            else:
                lines.append(f"export {variable}={shlex.quote(str(value))}")
        return "\n".join(lines) + "\n"
