"""Models as a service over HTTP: `serve` runs one until it is told to stop."""

from merula.web.service.models import named_files
from merula.web.service.running import Service, serve
from merula.web.service.settings import Settings

__all__ = ["Service", "Settings", "named_files", "serve"]
