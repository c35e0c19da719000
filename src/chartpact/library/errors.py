"""What the library refuses; nothing is changed then."""

from chartpact.problem import Failure, Problem


class LibraryError(Failure, ValueError):
    """A change or a question that is refused, with every reason.

    `of_script`: they are errors of a script itself, rather than of what is kept.
    """

    def __init__(self, *problems: Problem, of_script: bool = False) -> None:
        super().__init__(problems[0])
        self.of_script = of_script
        self.args = problems
        self.problems = problems

    def __str__(self) -> str:
        return "; ".join(map(str, self.problems))
