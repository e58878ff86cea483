"""Torque terms of recorded movements by planar inverse dynamics.

`import limbtorque as lt` gives every public name: `lt.read_recording`, `lt.analyse_recording`, `lt.Chain`, `lt.torque_terms` ...
A name is imported from its room when it is first used. The names are listed in `__init__.pyi`, for type checkers too.
"""

import lazy_loader

__version__ = "0.1.0"

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
