"""Summaries: event files for visualisation."""
from sindri.train.summary.summary_record import SummaryRecord

__all__ = ['SummaryRecord']
