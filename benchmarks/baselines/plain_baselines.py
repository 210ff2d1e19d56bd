"""The baselines written down as their papers state them: float64, explicit inverses, full decompositions, loops.

Samples are columns here, as in those papers. They are the yardstick of `baselines.py speed`; nothing else
uses them.
"""

from __future__ import annotations

import numpy as np


def plain_lsr(X, ridge=0.1):
    """−offdiag(P)/diag(P) with P = (XᵀX + λI)⁻¹."""
    n = X.shape[1]
    P = np.linalg.inv(X.T @ X + ridge * np.eye(n))
    C = -P / np.diag(P)[None, :]
    np.fill_diagonal(C, 0)
    return C


def plain_edsc(X, data_weight=1.0):
    """(I + λXᵀX)⁻¹λXᵀX."""
    G = data_weight * X.T @ X
    return np.linalg.inv(np.eye(len(G)) + G) @ G


def plain_ssc(X, alpha=20.0, weights=1.0, tol=2e-4, max_iter=1000):
    """ADMM with its three n × n arrays and one explicit inverse."""
    n = X.shape[1]
    G = X.T @ X
    lam = alpha / np.abs(G - np.diag(np.diag(G))).max(axis=0).min()
    inverse = np.linalg.inv(lam * G + alpha * np.eye(n))
    C, multiplier = np.zeros((n, n)), np.zeros((n, n))
    for _ in range(max_iter):
        Z = inverse @ (lam * G + alpha * C - multiplier)
        T = Z + multiplier / alpha
        C = np.sign(T) * np.maximum(np.abs(T) - weights / alpha, 0)
        C = C - np.diag(np.diag(C))
        multiplier = multiplier + alpha * (Z - C)
        if np.abs(Z - C).max() < tol:
            break
    return C


def plain_omp(X, n_nonzero=10, tol=1e-6):
    """One sample after the other, a least-squares problem for every atom."""
    n = X.shape[1]
    C = np.zeros((n, n))
    for i in range(n):
        residual, chosen = X[:, i].copy(), []
        for _ in range(n_nonzero):
            correlation = np.abs(X.T @ residual)
            correlation[[*chosen, i]] = 0
            chosen.append(int(correlation.argmax()))
            coefficients = np.linalg.lstsq(X[:, chosen], X[:, i], rcond=None)[0]
            residual = X[:, i] - X[:, chosen] @ coefficients
            if residual @ residual < tol:
                break
        C[chosen, i] = coefficients
    return C


def plain_ensc(X, gamma=50.0, tau=0.9, count=None):
    """One sample after the other with scikit-learn's coordinate descent on the whole dictionary."""
    from sklearn.linear_model import ElasticNet

    d, n = X.shape
    C = np.zeros((n, n))
    for i in range(n if count is None else count):
        others = np.delete(np.arange(n), i)
        A = np.asfortranarray(X[:, others])
        l1 = np.abs(A.T @ X[:, i]).max() / gamma
        l2 = l1 * (1 - tau) / tau
        model = ElasticNet(alpha=(l1 + l2) / d, l1_ratio=l1 / (l1 + l2), fit_intercept=False, tol=1e-6, max_iter=10_000)
        C[others, i] = model.fit(A, X[:, i]).coef_
    return C


def plain_lrr(X, lam=0.18, tol=1e-8, max_iter=1000):
    """The inexact ALM with A = XP, an explicit inverse and a full SVD in each iteration."""
    P = np.linalg.svd(X.T, full_matrices=False)
    P = P[0][:, P[1] > 1e-7 * P[1][0]]
    A = X @ P
    r, n = A.shape[1], X.shape[1]
    inverse = np.linalg.inv(A.T @ A + np.eye(r))
    Z, J, E = np.zeros((r, n)), np.zeros((r, n)), np.zeros(X.shape)
    Y1, Y2 = np.zeros(X.shape), np.zeros((r, n))
    mu = 1e-6
    for _ in range(max_iter):
        U, sigma, Vt = np.linalg.svd(Z + Y2 / mu, full_matrices=False)
        J = (U * np.maximum(sigma - 1 / mu, 0)) @ Vt
        Z = inverse @ (A.T @ X - A.T @ E + J + (A.T @ Y1 - Y2) / mu)
        rest = X - A @ Z + Y1 / mu
        norms = np.linalg.norm(rest, axis=0)
        E = rest * (np.maximum(norms - lam / mu, 0) / np.maximum(norms, 1e-300))
        gap1, gap2 = X - A @ Z - E, Z - J
        if max(np.abs(gap1).max(), np.abs(gap2).max()) < tol:
            break
        Y1, Y2 = Y1 + mu * gap1, Y2 + mu * gap2
        mu = min(1.1 * mu, 1e10)
    return P @ Z


def plain_bdr(X, n_blocks, lam=50.0, gamma=1.0, tol=1e-3, max_iter=1000):
    """Alternation with one explicit inverse and a full eigendecomposition in each iteration."""
    n = X.shape[1]
    G = X.T @ X
    inverse = np.linalg.inv(G + lam * np.eye(n))
    Z, B, W = np.zeros((n, n)), np.zeros((n, n)), np.zeros((n, n))
    for _ in range(max_iter):
        new_Z = inverse @ (G + lam * B)
        A = new_Z - gamma / lam * (np.repeat(np.diag(W)[:, None], n, axis=1) - W)
        new_B = np.maximum(0, (A + A.T) / 2)
        new_B = new_B - np.diag(np.diag(new_B))
        V = np.linalg.eigh(np.diag(new_B.sum(axis=1)) - new_B)[1][:, :n_blocks]
        W = V @ V.T
        change = max(np.abs(new_Z - Z).max(), np.abs(new_B - B).max())
        Z, B = new_Z, new_B
        if change < tol:
            break
    return B


def plain_soft_s3c(X, embed, rounds, alpha=20.0, structure_weight=0.1):
    """Weighted SSC from scratch in every round; `embed` gives the unit rows of the spectral embedding of C."""
    theta = np.zeros((X.shape[1], X.shape[1]))
    for _ in range(rounds):
        C = plain_ssc(X, alpha, 1 + structure_weight * theta)
        q = embed(C)
        theta = 0.5 * ((q[:, None, :] - q[None, :, :]) ** 2).sum(axis=2)
    return C
