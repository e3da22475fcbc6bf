"""Settings of src/resnet50_imagenet2012_config.yaml; see src/config.py."""
from src.config import config

__all__ = ["config"]
