"""Algorithm 1 on the candidates of each sample: n small problems."""
