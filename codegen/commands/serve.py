"""`gradspec serve`."""

from __future__ import annotations

import sys

import click

from ..playground.server import HOST, Playground


@click.command(
    short_help="Edit an entry in the browser, and prove it.",
    epilog="Exit status: 0 after Ctrl-C; 1 the port is taken; 2 usage.",
)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8765,
    show_default=True,
    help="The port; 0 for any that is free.",
)
def serve(port: int) -> None:
    """Serve the playground to this machine: a page where an entry is edited and proved.

    It listens on 127.0.0.1 alone, and answers the page whose address it prints. Nothing in a spec
    executes, no file is written that stays, and a proof is given up after a minute.
    """
    try:
        server = Playground(port)
    except OSError as error:
        click.echo(
            f"{HOST}:{port} cannot be had: {error.strerror or error}. Try --port 0.", err=True
        )
        sys.exit(1)
    click.echo(f"The playground is at {server.address}\nCtrl-C ends it.")
    with server:
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            click.echo("")
