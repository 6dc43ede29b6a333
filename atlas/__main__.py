"""Build the site: `python -m atlas`."""

from __future__ import annotations

import time

import click

from .build import build


@click.command()
def main() -> None:
    """Build the site from the tree into build/docs/site."""
    started = time.monotonic()

    def progress(text: str) -> None:
        click.echo(f"{time.monotonic() - started:6.1f} s  {text}")

    site = build(progress)
    progress(f"Open {site / 'index.html'}")


if __name__ == "__main__":
    main()
