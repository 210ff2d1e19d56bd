"""`python -m masked_subspace` is the command `masked-subspace`."""

import sys

from masked_subspace.cli import main

if __name__ == "__main__":
    sys.exit(main())
