"""What a file says and what was made of it, finding by finding; a guess is called a guess."""

from __future__ import annotations

from dataclasses import dataclass

from limbtorque.errors import ReadError


@dataclass(frozen=True)
class Finding:
    """One thing a reader looked for in a file.

    Attributes
    ----------
    what : str
        What it is about, e.g. ``"unit of length"``.
    found : str
        What the file says.
    made : str
        What was made of it.
    settle : str
        Empty where the file (or an option) settles the matter. Otherwise `made` is a guess, and this says what
        would settle it.
    """

    what: str
    found: str
    made: str
    settle: str = ""

    @property
    def guessed(self) -> bool:
        """Whether the file leaves it open."""
        return bool(self.settle)

    @property
    def sentence(self) -> str:
        """The finding in one line."""
        return f"{self.what}: {self.found}; {self.made}{' (a guess)' if self.guessed else ''}"


@dataclass(frozen=True)
class Audit:
    """All findings about a recording, in the order of the reading.

    Attributes
    ----------
    findings : tuple of Finding
        The findings.

    Examples
    --------
    >>> audit = Audit((Finding("rate", "POINT:RATE is 100 Hz", "100 frames a second"),))
    >>> audit.sentences
    ('rate: POINT:RATE is 100 Hz; 100 frames a second',)
    >>> audit.guesses
    ()
    """

    findings: tuple[Finding, ...] = ()

    @property
    def guesses(self) -> tuple[Finding, ...]:
        """The findings that are guesses."""
        return tuple(finding for finding in self.findings if finding.guessed)

    @property
    def sentences(self) -> tuple[str, ...]:
        """Every finding in one line."""
        return tuple(finding.sentence for finding in self.findings)

    def refuse_guesses(self, name: str) -> None:
        """Raise an error where anything was guessed: what ``reading.strict`` asks for.

        Parameters
        ----------
        name : str
            Name of the file, for the message.

        Raises
        ------
        ReadError
            Something was guessed; the message lists every guess and what settles it.
        """
        if self.guesses:
            listed = "; ".join(f"{g.what}: {g.found}, taken as: {g.made} ({g.settle})" for g in self.guesses)
            raise ReadError(
                f"{name}: {len(self.guesses)} things would have to be guessed, which reading.strict forbids: {listed}"
            )
