"""train_stage_2.py under the name that the tutorial's text has for it."""
from train_stage_2 import main

if __name__ == "__main__":
    main()
