"`python -m boostlit`: the command line, without its script on the path."
from .lab.command import main

if __name__ == "__main__":
    raise SystemExit(main())
