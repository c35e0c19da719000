"""What the library refuses; nothing is changed then."""

from chartpact.problem import Failure, Problem


class LibraryError(Failure, ValueError):
    """A change or a question that is refused, with every reason."""

    def __init__(self, *problems: Problem) -> None:
        super().__init__(problems[0])
        self.args = problems
        self.problems = problems

    def __str__(self) -> str:
        return "; ".join(map(str, self.problems))


class ScriptErrors(LibraryError):
    """A script is refused for errors of its own."""


class UploadError(LibraryError):
    """A file of bars is refused, or there is none of that name."""
