"""Findings as one HTML file that needs no network: charts, their figures in tables, and how to get them again."""

from merula.report.dossier import write_dossier
from merula.report.page import (
    findings_html,
    monitoring_html,
    write_evaluation,
    write_html,
    write_monitoring,
    write_report,
)

__all__ = [
    "findings_html",
    "monitoring_html",
    "write_dossier",
    "write_evaluation",
    "write_html",
    "write_monitoring",
    "write_report",
]
