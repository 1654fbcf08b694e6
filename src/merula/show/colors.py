"""The colours of every picture: of classes and curves, of what speaks for and against, of sums."""

# Okabe and Ito's colours, which are told apart with any colour vision, then more for many classes
COLORS = (
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7a5195", "#5b5b5b", "#8c6d31", "#b3b300",
    "#1f3b73", "#a05a2c", "#2f6f4f", "#8e3b63", "#6c8ebf", "#b85450", "#82b366", "#9673a6", "#d6b656", "#647687",
)  # fmt: skip
FOR, AGAINST, TOTAL, QUIET = "#2a78b5", "#c8553d", "#4a4a4a", "#8a8a8a"
PALE_FOR, PALE_AGAINST = "#e7eef5", "#f7ddd6"


def color_at(index: int) -> str:
    """The colour of the class, model or curve at this index; after the last, the first again."""
    return COLORS[index % len(COLORS)]


def sided(evidence: float) -> str:
    """The colour of evidence: in favour (0 included), or against."""
    return FOR if evidence >= 0 else AGAINST
