"""From a representation to labels: graph, embedding, cut, what is known."""
