"""A model as a page that anyone can open, and as a service that machines can ask."""
