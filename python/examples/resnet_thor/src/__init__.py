"""The parts of the THOR example: network, layers, optimizer, model, loss, data, settings."""
