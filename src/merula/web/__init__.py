"""A model as a page that anyone can open, and as a service that machines can ask."""

from merula.web.page import page_html, write_page

__all__ = ["page_html", "write_page"]
