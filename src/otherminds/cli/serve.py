"""`otherminds serve`: the web app."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from threading import Timer
from typing import Annotated

import typer
from typer import Option

from otherminds.cli.levels import load_level
from otherminds.cli.lists import bundled
from otherminds.cli.options import OpenOption
from otherminds.errors import InputError, install_hint
from otherminds.evaluation.progress import telling
from otherminds.files.database import InUseError, alone

MISSING = "the web app is not installed"


def serve(
    host: Annotated[str, Option(metavar="HOST", help="Others can reach any but loopback.")] = "127.0.0.1",
    port: Annotated[int, Option(min=1, max=65535, metavar="N", help="The port to listen at.")] = 8642,
    store: Annotated[Path, Option(metavar="FILE", help="Where all is kept.")] = Path("otherminds.sqlite"),
    allowed_origin: Annotated[
        list[str] | None, Option(metavar="ORIGIN", help="Where pages are opened, as https://study.example.org.")
    ] = None,
    joins: Annotated[
        int, Option(min=1, metavar="N", help="Participants that may join from one address at once, as a class.")
    ] = 20,
    look: Annotated[
        bool, Option("--look", help="Only show the studies of a store that another server may be using.")
    ] = False,
    open_page: OpenOption = False,
    level: Annotated[list[Path] | None, Option(metavar="FILE", help="A level of your own to play; repeatable.")] = None,
    model: Annotated[
        list[str] | None,
        Option(metavar="NAME", help="A facilitator in studies: gpt-4o, ollama:NAME, URL, embedded, module:object, …"),
    ] = None,
) -> None:
    """Serve the web app: watch minds being read, play, study people.

    Where others can reach it, it needs --allowed-origin and a secret in the environment, OTHERMINDS_SECRET.

    Example: otherminds serve --port 8642
    """
    try:
        from otherminds.language.availability import check_model
        from otherminds.language.find import find_model
        from otherminds.papers.protom.language_facilitator import subject
        from otherminds.web.guard import LOOPBACK, origins
        from otherminds.web.server import application
        from otherminds.web.serving import Server
        from otherminds.web.settings import ServerSettings
    except ImportError:
        raise InputError(MISSING, hint=install_hint("web")) from None
    secret = os.environ.get("OTHERMINDS_SECRET", "")
    own = [load_level(str(path)) for path in level or ()]
    levels = {playable.name: playable for level_list in (*bundled().values(), own) for playable in level_list}
    models = {subject(find_model(spec).name): spec for spec in map(check_model, model or ())}
    allowed = origins(host, port, allowed_origin or (), secret)
    settings = ServerSettings(store, allowed, levels, models, look, secret, joins=joins)
    with nullcontext() if look else _alone_with(store), _listening(host, port) as listening:
        server = Server(application(settings))
        settings.stop = server.stop
        address = f"http://{f'[{host}]' if ':' in host else host}:{port}"
        does = "shows what is in" if look else "keeps everything in"
        typer.echo(f"otherminds is at {address} (Ctrl-C ends it) and {does} {settings.store}")
        login = "/enter, with the secret of this server" if secret else f"/enter#{settings.keys.key}"
        typer.echo(f"Studies: {address}{login}")
        if host in LOOPBACK:
            typer.echo("Links, of studies too, are of this computer only; --host and --allowed-origin let others in.")
        if open_page:
            Timer(1.0, typer.launch, [address]).start()
        with telling(), suppress(KeyboardInterrupt):
            server.run(sockets=[listening])
    if settings.problem:
        raise InputError(settings.problem)


@contextmanager
def _alone_with(store: Path) -> Iterator[None]:
    """The store is this server's alone, until it ends or is killed. Raises InputError if another server has it."""
    try:
        with alone(store.with_name(f"{store.name}-lock")):
            yield
    except InUseError:
        hint = "--store chooses another file, --look shows what is in this one"
        raise InputError("another server keeps its studies there", path=store, hint=hint) from None


def _listening(host: str, port: int) -> socket.socket:
    """A listening socket. Raises InputError if the address cannot be used."""
    try:
        return socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    except OSError as error:
        hint = "--port and --host choose another"
        raise InputError(f"nobody can listen at {host}, port {port}: {error.strerror}", hint=hint) from None
