"""The site package: leaves that the apps build on, and roots that join them."""

__version__ = "0.1.0"
