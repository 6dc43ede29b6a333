"""`python -m gradspec_codegen`."""

from .cli import main

main()
