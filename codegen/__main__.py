"""The `gradspec` command, also as `python -m gradspec_codegen`."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command, or say what is missing where only the library is installed."""
    try:
        from .cli import main as run
    except ModuleNotFoundError as error:
        sys.exit(
            f"gradspec: the generator needs {error.name}, which is not installed: "
            "pip install 'gradspec[codegen]'"
        )
    run()


if __name__ == "__main__":
    main()
