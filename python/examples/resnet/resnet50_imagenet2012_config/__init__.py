"""Makes `from resnet50_imagenet2012_config.yaml import config` work as the migration example of MindSpore prints it (docs/seeds.md)."""
