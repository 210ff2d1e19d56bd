"""Pictures as functions: each draws on the Axes it is given, or on new ones, and returns them."""

from masked_subspace.plots.paper import plot_accuracy_against_pairs, plot_framework, plot_pair, plot_same_class
from masked_subspace.plots.samples import plot_affinity, plot_embedding, plot_map
from masked_subspace.plots.scores import plot_confusion, plot_convergence, plot_n_clusters
from masked_subspace.plots.themes import THEMES, Theme, new_figure

__all__ = [
    "THEMES",
    "Theme",
    "new_figure",
    "plot_accuracy_against_pairs",
    "plot_affinity",
    "plot_confusion",
    "plot_convergence",
    "plot_embedding",
    "plot_framework",
    "plot_map",
    "plot_n_clusters",
    "plot_pair",
    "plot_same_class",
]
