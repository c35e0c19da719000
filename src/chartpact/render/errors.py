"""What cannot be drawn, and why."""


class RenderError(ValueError):
    """A picture that cannot be made as asked; the message says what would be right."""
