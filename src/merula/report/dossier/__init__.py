"""The dossier: a model card filled from a model, the rows it learned from, an evaluation, and a short file of what only people know."""

from merula.report.dossier.result import Dossier
from merula.report.dossier.writing import write_dossier

__all__ = ["Dossier", "write_dossier"]
