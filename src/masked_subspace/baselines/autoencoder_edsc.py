"""EDSC on the codes of a convolutional autoencoder (the AE+EDSC of the tables)."""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING

import numpy as np

from masked_subspace._common.rows import unit_rows
from masked_subspace._common.types import FloatArray, RandomSeed
from masked_subspace._common.validation import Interval
from masked_subspace.baselines.autoencoder import (
    AutoencoderSettings,
    import_torch,
    infer_image_shape,
    train_codes,
)
from masked_subspace.baselines.base import POSITIVE, Work
from masked_subspace.baselines.documentation import documented
from masked_subspace.baselines.edsc import EDSC, represent_edsc
from masked_subspace.baselines.result import Representation
from masked_subspace.label.graph import LINKS
from masked_subspace.rows.checks import refuse_entrywise

if TYPE_CHECKING:
    from sklearn.utils import Tags


@documented
class AutoencoderEDSC(EDSC):
    """EDSC on the flattened codes of a convolutional autoencoder that was trained alone on the same images.

        min ½‖C‖² + λ/2 ‖H − CH‖²,   H the codes of the autoencoder

    the AE+EDSC that Ji et al. (2017) compare with. Needs PyTorch: `pip install "masked-subspace[deep]"`.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters K.
    image_shape : tuple of two int or None, default=None
        (height, width) of a row of X; None: a square if the number of features is one, else one line.
    filters : tuple of int, default=(15,)
        Filters of each layer; all have stride 2 and a ReLU (COIL20: 15; COIL100: 50; ORL: 3, 3 and 5).
    kernel_sizes : tuple of int, default=(3,)
        Side of the filters of each layer (COIL20: 3; COIL100: 5; ORL: 3, 3 and 3).
    max_epochs : int, default=300
        Most passes over the images.
    batch_size : int, default=256
        Images a step.
    learning_rate : float, default=0.001
        Of Adam.
    patience : int, default=20
        Training stops after so many epochs without a visible fall of the loss.
    normalize_codes : bool, default=True
        Whether the autoencoder's codes get unit length before EDSC.
    data_weight : float, default=1.0
        λ, the weight of the residual.
    subspace_dim : int, default=4
        d, the dimension of a subspace: "shape-interaction" keeps dK + 1 directions.
    affinity_power : float, default=4.0
        Power of the "shape-interaction" graph.
    threshold : float, default=1.0
        ρ of thr(C, ρ): of each code the largest entries whose sum reaches ρ‖c‖₁ are kept; 1 keeps everything.
    {parameters}

    Attributes
    ----------
    codes_ : ndarray of shape (n_samples, n_code_features)
        The autoencoder's code of each sample.
    losses_ : list of float
        The loss of each epoch.
    {attributes}

    References
    ----------
    .. [Ji2014] Ji, P., Salzmann, M. and Li, H. (2014). Efficient dense subspace clustering. WACV.
    .. [Ji2017] Ji, P., Zhang, T., Li, H., Salzmann, M. and Reid, I. (2017). Deep subspace clustering networks. NIPS.

    Examples
    --------
    >>> from masked_subspace.baselines import AutoencoderEDSC
    >>> from masked_subspace.datasets import make_subspaces
    >>> data = make_subspaces(n_subspaces=3, per_subspace=20, dim=2, ambient=12, random_state=0)
    >>> model = AutoencoderEDSC(3, max_epochs=20, random_state=0).fit(data.data)
    >>> model.labels_.shape, len(model.losses_)
    ((60,), 20)
    """

    _parameter_constraints = {
        "image_shape": [tuple, list, None],
        "filters": [tuple, list],
        "kernel_sizes": [tuple, list],
        "max_epochs": [Interval(Integral, 1, None, closed="left")],
        "batch_size": [Interval(Integral, 1, None, closed="left")],
        "learning_rate": [POSITIVE],
        "patience": [Interval(Integral, 1, None, closed="left")],
        "normalize_codes": ["boolean"],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        image_shape: tuple[int, int] | None = None,
        filters: tuple[int, ...] = (15,),
        kernel_sizes: tuple[int, ...] = (3,),
        max_epochs: int = 300,
        batch_size: int = 256,
        learning_rate: float = 1e-3,
        patience: int = 20,
        normalize_codes: bool = True,
        data_weight: float = 1.0,
        subspace_dim: int = 4,
        affinity_power: float = 4.0,
        threshold: float = 1.0,
        affinity: str = "shape-interaction",
        n_links: int = LINKS,
        n_components: int | str | None = None,
        cut: str = "spectral",
        center: bool = False,
        normalize: bool = False,
        constraints: str = "soft",
        random_state: RandomSeed = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            n_clusters,
            data_weight=data_weight,
            subspace_dim=subspace_dim,
            affinity_power=affinity_power,
            threshold=threshold,
            affinity=affinity,
            n_links=n_links,
            n_components=n_components,
            cut=cut,
            center=center,
            normalize=normalize,
            constraints=constraints,
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
        )
        self.image_shape = image_shape
        self.filters = filters
        self.kernel_sizes = kernel_sizes
        self.max_epochs = max_epochs
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.patience = patience
        self.normalize_codes = normalize_codes

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        return tags

    def _refuse_sparse(self) -> None:
        refuse_entrywise("AutoencoderEDSC", "looks at pixels")

    def _solve(self, rows: FloatArray, work: Work) -> Representation:
        import_torch()
        settings = AutoencoderSettings(
            filters=tuple(self.filters),
            kernel_sizes=tuple(self.kernel_sizes),
            max_epochs=self.max_epochs,
            batch_size=self.batch_size,
            learning_rate=self.learning_rate,
            patience=self.patience,
        )
        shape = None if self.image_shape is None else (self.image_shape[0], self.image_shape[1])
        trained = train_codes(
            rows, infer_image_shape(rows.shape[1], shape), settings, work.seed % 2**31, work.n_threads, work.progress
        )
        self.codes_ = trained.codes
        self.losses_ = trained.losses
        codes = unit_rows(trained.codes) if self.normalize_codes else trained.codes
        found = represent_edsc(codes, self._edsc_settings())
        return Representation(found.matrix, n_iter=len(trained.losses), objective=np.array(trained.losses))
