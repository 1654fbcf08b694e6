"""A model as one HTML file: a form to fill in, and every answer worked out in the page itself."""

from merula.web.page.writing import page_html, write_page

__all__ = ["page_html", "write_page"]
