"""Makes `from resnet50_imagenet2012_config.yaml import config` work, which MindSpore's migration example uses (docs/seeds.md)."""
