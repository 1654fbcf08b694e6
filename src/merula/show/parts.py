"""What the parts of a pooled model are called where people read of them; models and files know them by shorter names."""

PARTS = {
    "pairs": "pairs of columns",
    "tables": "yes/no questions",
    "twin": "logistic regression",
    "texts": "words of texts",
    "gaussians": "normal distributions",
}
