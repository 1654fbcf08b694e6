"""Files of Bayesian networks that other programs read and write."""
