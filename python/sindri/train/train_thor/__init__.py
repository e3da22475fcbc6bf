"""Second-order training under MindSpore's names: any network and Model work with THOR without conversion."""
from sindri.train.train_thor.convert_utils import ConvertModelUtils, ConvertNetUtils
from sindri.train.train_thor.model_thor import ModelThor

__all__ = ['ConvertModelUtils', 'ConvertNetUtils', 'ModelThor']
