"""The paper's tables and figures: settings and numbers as data, a results database, a runner that can be killed."""
