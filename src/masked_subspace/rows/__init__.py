"""What happens to the rows before anything else: checks, views, cleaning."""
