"""Conversion of models to second-order training. The names are there; using them raises NotYetError until the THOR part comes."""
from sindri.train.train_thor.convert_utils import ConvertModelUtils, ConvertNetUtils
from sindri.train.train_thor.model_thor import ModelThor

__all__ = ['ConvertModelUtils', 'ConvertNetUtils', 'ModelThor']
