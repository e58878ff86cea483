"""The audit of a recording: statements of the file, interpretations, guesses."""

from __future__ import annotations

from dataclasses import dataclass

from limbtorque.errors import ReadError


@dataclass(frozen=True)
class Finding:
    """A property of a file and its interpretation by the reader.

    Attributes
    ----------
    item : str
        The property, e.g. ``"unit of length"``.
    stated : str
        Statement of the file.
    interpretation : str
        Interpretation by the reader.
    to_settle : str
        Empty where the file or an option settles the matter. Otherwise the interpretation is a guess, and this is the
        action that would settle it.
    """

    item: str
    stated: str
    interpretation: str
    to_settle: str = ""

    @property
    def guessed(self) -> bool:
        """True where neither the file nor an option settles the matter."""
        return bool(self.to_settle)

    @property
    def sentence(self) -> str:
        """The finding in one line."""
        return f"{self.item}: {self.stated}; {self.interpretation}{' (a guess)' if self.guessed else ''}"


@dataclass(frozen=True)
class Audit:
    """All findings about a recording, in the order of the reading.

    Attributes
    ----------
    findings : tuple of Finding
        The findings.

    Examples
    --------
    >>> audit = Audit((Finding("rate", "POINT:RATE is 100 Hz", "100 frames per second"),))
    >>> audit.sentences
    ('rate: POINT:RATE is 100 Hz; 100 frames per second',)
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
        """Raise an error where anything was guessed (``reading.strict``).

        Parameters
        ----------
        name : str
            Name of the file, for the message.

        Raises
        ------
        ReadError
            Something was guessed; the message lists every guess and the action that settles it.
        """
        if self.guesses:
            listed = "; ".join(f"{g.item}: {g.stated} ({g.to_settle})" for g in self.guesses)
            raise ReadError(f"{name}: {len(self.guesses)} guesses needed, which reading.strict forbids: {listed}")
