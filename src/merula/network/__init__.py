"""Bayesian networks: a graph and one conditional distribution per variable; queries, learning, sampling."""
