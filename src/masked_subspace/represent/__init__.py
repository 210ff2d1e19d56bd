"""From rows and masks to a representation: Algorithm 1, dense and exact or on candidates."""
