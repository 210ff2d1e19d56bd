"""The settings that benchmarks/baselines/baselines.py runs, and the numbers that the paper prints."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from masked_subspace import baselines
from masked_subspace.experiments.settings import method_title, paper_rows


@dataclass(frozen=True)
class Setting:
    """One method with one set of parameters; the label "default" is the one reported first."""

    method: str
    class_name: str
    label: str
    params: dict[str, Any] = field(default_factory=dict)

    def make(self, n_clusters: int, **more: Any) -> Any:
        return getattr(baselines, self.class_name)(n_clusters, **self.params, **more)

    def methods(self) -> tuple[str, ...]:
        """The rows of the table it fills: one run of BDR gives both outputs."""
        return ("BDR-B", "BDR-Z") if self.class_name == "BDR" else (self.method,)

    def describe(self) -> str:
        hidden = () if self.label == "default" else ("filters", "kernel_sizes", "max_epochs")
        shown = {name: value for name, value in self.params.items() if name not in hidden}
        inside = ", ".join(f"{name}={value}" for name, value in shown.items()) or "class defaults"
        return f"default ({inside})" if self.label == "default" else inside


def settings_of(method: str, class_name: str, *params: dict[str, Any]) -> list[Setting]:
    """The first set of parameters is the default; the others are named by what they set."""
    labels = ["default"] + [", ".join(f"{k}={v}" for k, v in one.items()) for one in params[1:]]
    return [Setting(method, class_name, label, one) for label, one in zip(labels, params, strict=True)]


def common(n_nonzero: int) -> list[Setting]:
    """What every set is tried with; `n_nonzero` is the published k of SSC-OMP for digits (10) or faces (5)."""
    return [
        *settings_of("LSR", "LSR", {}, {"ridge": 1.0}, {"ridge": 10.0}),
        *settings_of("SSC", "SSC", {}, {"alpha": 5.0}, {"alpha": 100.0}, {"center": True}),
        *settings_of(
            "SSC-OMP", "SSCOMP", {"n_nonzero": n_nonzero}, {"n_nonzero": 3}, {"n_nonzero": n_nonzero, "center": True}
        ),
        *settings_of("EnSC", "EnSC", {}, {"gamma": 5.0}, {"gamma": 5.0, "center": True}),
        *settings_of(
            "LRR", "LRR", {}, {"noise_weight": 1.0}, {"noise_weight": 0.05}, {"noise_weight": 1.0, "center": True}
        ),
        *settings_of(
            "BDR-B",
            "BDR",
            {"threshold": 0.4},
            {"coupling": 50.0, "block_weight": 1.0, "threshold": 1.0},
            {"coupling": 5.0, "block_weight": 0.1, "threshold": 1.0},
        ),
        *settings_of(
            "Soft S³C",
            "SoftS3C",
            {},
            {"structure_weight": 0.5},
            {"alpha": 5.0},
            {"structure_weight": 0.5, "center": True},
        ),
    ]


def more_tries() -> list[Setting]:
    """Where SSC and SSC-OMP fall short of the printed numbers: fewer atoms, thr(C, ρ), more eigenvectors."""
    return [
        Setting("SSC", "SSC", "alpha=10", {"alpha": 10.0}),
        Setting("SSC", "SSC", "threshold=.7", {"threshold": 0.7}),
        Setting("SSC", "SSC", "weighted eigenvectors", {"n_components": "auto"}),
        Setting("SSC-OMP", "SSCOMP", "2 atoms", {"n_nonzero": 2}),
        Setting("SSC-OMP", "SSCOMP", "3, weighted eigenvectors", {"n_nonzero": 3, "n_components": "auto"}),
        Setting("SSC-OMP", "SSCOMP", "5, weighted eigenvectors", {"n_nonzero": 5, "n_components": "auto"}),
        Setting("SSC-OMP", "SSCOMP", "2, weighted", {"n_nonzero": 2, "n_components": "auto"}),
        Setting("SSC-OMP", "SSCOMP", "3, weighted, centred", {"n_nonzero": 3, "n_components": "auto", "center": True}),
        Setting("SSC-OMP", "SSCOMP", "10 atoms, weighted", {"n_nonzero": 10, "n_components": "auto"}),
    ]


def coil20_tries() -> list[Setting]:
    """Where the two stay short on COIL20: fewer atoms, centring, weighted eigenvectors, the other graph, thr(C, ρ)."""
    pursuit = {"n_nonzero": 2, "n_components": "auto", "center": True}
    weighted = {"n_components": "auto"}
    return [
        Setting("SSC-OMP", "SSCOMP", "2, weighted, centred", pursuit),
        Setting("SSC-OMP", "SSCOMP", "2, weighted, centred, by maximum", {**pursuit, "affinity": "normalized"}),
        Setting("Soft S³C", "SoftS3C", "weighted", weighted),
        Setting("Soft S³C", "SoftS3C", "weighted, alpha=5", {**weighted, "alpha": 5.0}),
        Setting("Soft S³C", "SoftS3C", "weighted, .5", {**weighted, "structure_weight": 0.5}),
        Setting("Soft S³C", "SoftS3C", "25 eigenvectors", {"n_components": 25}),
        Setting("Soft S³C", "SoftS3C", "threshold=.7", {"threshold": 0.7}),
        Setting("Soft S³C", "SoftS3C", "threshold=.7, weighted", {**weighted, "threshold": 0.7}),
    ]


def lengths_kept() -> list[Setting]:
    """SSC-OMP on rows as they are, as its authors run digits: long atoms are chosen more often."""
    return [
        Setting("SSC-OMP", "SSCOMP", f"{atoms}, lengths kept", {"n_nonzero": atoms, "normalize": False})
        for atoms in (3, 5, 10)
    ]


def dense(
    method: str, class_name: str, architecture: dict[str, Any], *choices: tuple[float, int, float]
) -> list[Setting]:
    """EDSC with (λ, d, power): first the class defaults, then the choices on rows as they are."""
    extra = {} if architecture else {"normalize": False}
    tried = [
        {**architecture, **extra, "data_weight": lam, "subspace_dim": dim, "affinity_power": power}
        for lam, dim, power in choices
    ]
    return settings_of(method, class_name, architecture, *tried)


_SMALL = {"filters": (15,), "kernel_sizes": (3,), "max_epochs": 100}
_ORL = {"filters": (3, 3, 5), "kernel_sizes": (3, 3, 3), "max_epochs": 200}
_COIL100 = {"filters": (50,), "kernel_sizes": (5,), "max_epochs": 20}
_DIGITS_DENSE = ((0.1, 6, 4.0), (0.1, 12, 8.0))

SETTINGS: dict[str, list[Setting]] = {
    "orl": [
        *common(5),
        *more_tries(),
        *lengths_kept(),
        *dense("EDSC", "EDSC", {}, (0.1, 3, 1.0), (0.1, 5, 4.0), (1.0, 3, 2.0)),
        *dense("AE+EDSC", "AutoencoderEDSC", _ORL, (1.0, 3, 1.0), (10.0, 3, 2.0)),
    ],
    "usps-1000": [
        *common(10),
        *lengths_kept(),
        Setting("LRR", "LRR", "noise_weight=.1", {"noise_weight": 0.1}),
        Setting("LRR", "LRR", "rows as they are", {"normalize": False}),
        Setting("LRR", "LRR", "rows as they are, noise_weight=.05", {"normalize": False, "noise_weight": 0.05}),
        Setting("LRR", "LRR", "weighted eigenvectors", {"n_components": "auto"}),
        Setting("LRR", "LRR", "noise_weight=.1, power 8", {"noise_weight": 0.1, "affinity_power": 8.0}),
        Setting("SSC-OMP", "SSCOMP", "20 eigenvectors", {"n_nonzero": 10, "n_components": 20}),
        Setting("SSC-OMP", "SSCOMP", "weighted eigenvectors", {"n_nonzero": 10, "n_components": "auto"}),
        Setting("SSC-OMP", "SSCOMP", "3, weighted eigenvectors", {"n_nonzero": 3, "n_components": "auto"}),
        *dense("EDSC", "EDSC", {}, *_DIGITS_DENSE),
        *dense("AE+EDSC", "AutoencoderEDSC", _SMALL, (1.0, 12, 8.0)),
    ],
    "coil20": [
        *common(5),
        *more_tries(),
        *coil20_tries(),
        *lengths_kept(),
        *dense("EDSC", "EDSC", {}, (0.01, 12, 8.0), (0.1, 12, 8.0)),
        *dense("AE+EDSC", "AutoencoderEDSC", _SMALL, (1.0, 12, 8.0)),
    ],
    "mnist-1000": [
        *common(10),
        *lengths_kept(),
        Setting("LRR", "LRR", "weighted eigenvectors", {"n_components": "auto"}),
        Setting("BDR-B", "BDR", "weighted eigenvectors", {"threshold": 0.4, "n_components": "auto"}),
        *dense("EDSC", "EDSC", {}, *_DIGITS_DENSE),
        *dense("AE+EDSC", "AutoencoderEDSC", {**_SMALL, "max_epochs": 40}),
    ],
    "coil100": [
        *settings_of("LSR", "LSR", {}),
        *settings_of("SSC", "SSC", {}),
        *settings_of("SSC-OMP", "SSCOMP", {"n_nonzero": 5}),
        *lengths_kept(),
        Setting(
            "SSC-OMP", "SSCOMP", "2, centred, by maximum", {"n_nonzero": 2, "center": True, "affinity": "normalized"}
        ),
        *settings_of("EnSC", "EnSC", {}),
        *settings_of("LRR", "LRR", {}),
        *settings_of("BDR-B", "BDR", {"threshold": 0.4}),
        *settings_of("Soft S³C", "SoftS3C", {"max_rounds": 3}),
        *dense("EDSC", "EDSC", {}, (0.1, 12, 8.0)),
        *dense("AE+EDSC", "AutoencoderEDSC", _COIL100, (1.0, 12, 8.0), (10.0, 12, 8.0)),
    ],
}

# Accuracy as the paper prints it (Tables 1 and 2), in percent. ORL and COIL of LRR to AE+EDSC are copied there from the
# DSC-Net paper (2017); BDR and Soft S³C, and everything on the digits, are the paper's own or of unknown origin.
PRINTED: dict[tuple[str, str], str] = {
    (name, method_title(row)): " ± ".join(f"{number:.2f}" for number in numbers["accuracy"])
    for name in SETTINGS
    for row, numbers in paper_rows(name).items()
}
