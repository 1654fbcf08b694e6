"""Is a model still true? New rows beside what it keeps of those it learned from."""

from merula.answers.monitoring.columns import ColumnChange
from merula.answers.monitoring.result import Change, Monitoring
from merula.answers.monitoring.run import monitor

__all__ = ["Change", "ColumnChange", "Monitoring", "monitor"]
