__version__ = "0.2.0"
from .names import PUBLIC as __all__, __getattr__, __dir__
