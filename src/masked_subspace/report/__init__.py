"""The report: one HTML file that shows what a clustering did and why."""

from masked_subspace.report.comparing import compare, comparison_table, content_of, write_report
from masked_subspace.report.fitted import run_from_estimator
from masked_subspace.report.page import render
from masked_subspace.report.record import Figure, ReportContent, Round, Run, Subspace, Table

__all__ = [
    "Figure",
    "ReportContent",
    "Round",
    "Run",
    "Subspace",
    "Table",
    "compare",
    "comparison_table",
    "content_of",
    "render",
    "run_from_estimator",
    "write_report",
]
