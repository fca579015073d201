"""An article's lines, gathered element by element: a label stands on the line of the text it belongs to."""


class Lines:
    def __init__(self) -> None:
        self.done: list[str] = []
        self.parts: list[str] = []
        self.labelled = False  # the line so far is a label alone, and what follows belongs to it

    def write(self, text: str | None) -> None:
        if text:
            self.parts.append(text)
            self.labelled = self.labelled and not text.strip()

    def label(self, text: str) -> None:
        self.end()
        self.parts = [text, " "]
        self.labelled = True

    def block(self) -> None:
        """A block begins or ends here."""
        if not self.labelled:
            self.end()

    def end(self) -> None:
        line = "".join(self.parts)
        if line.strip():
            self.done.append(line)
        self.parts, self.labelled = [], False

    def all(self) -> list[str]:
        self.end()
        return self.done
