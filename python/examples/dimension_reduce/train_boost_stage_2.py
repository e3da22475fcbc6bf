"""Runs train_stage_2.py, under the name in the tutorial's text."""
from train_stage_2 import main

if __name__ == "__main__":
    main()
