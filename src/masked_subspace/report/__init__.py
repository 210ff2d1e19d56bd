"""The report: one HTML file that shows what a clustering did and why."""

from masked_subspace.report.page import render, write_report
from masked_subspace.report.record import Figure, ReportContent, Round, Run, Table, run_from_estimator

__all__ = [
    "Figure",
    "ReportContent",
    "Round",
    "Run",
    "Table",
    "render",
    "run_from_estimator",
    "write_report",
]
