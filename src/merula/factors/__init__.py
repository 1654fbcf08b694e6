"""Named probability tables and what is computed on them: elimination orders, junction trees. They know no model."""
