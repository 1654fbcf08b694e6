"""Rows without a class: learned from by expectation-maximisation, as much as they help to tell the classes of others."""
