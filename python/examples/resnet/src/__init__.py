"""The parts of the ResNet example: network, initial values, data, learning rate, loss, settings."""
