"""The files of the deployment page, with the proxies that they are for, where these are installed."""

from __future__ import annotations

import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from web_seats import PATIENCE, Seat, Server, free_port, serving

pytestmark = pytest.mark.slow  # each test starts a server and a proxy
FILES = Path(__file__).parents[2] / "docs" / "how-to" / "deploy"
NGINX = """
daemon off; pid {folder}/nginx.pid; error_log {folder}/error.log;
events {{}}
http {{
access_log off;
client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fastcgi;
uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
{site}
}}
"""


@contextmanager
def proxied(folder: Path, kind: str) -> Iterator[Server]:
    """A server behind a proxy with the file of the documentation, in which only addresses are other ones."""
    if not shutil.which(kind):
        pytest.skip(f"{kind} is not installed")
    public = f"127.0.0.1:{free_port()}"
    with serving(folder, "--allowed-origin", f"http://{public}") as server:
        text = (FILES / {"nginx": "nginx.conf", "caddy": "Caddyfile"}[kind]).read_text()
        text = text.replace("127.0.0.1:8642", f"127.0.0.1:{server.port}")
        if kind == "nginx":
            site = text.replace("listen 80;", f"listen {public};").replace("study.example.org", "127.0.0.1")
            site = site.replace("$host;", "$http_host;")  # which differ by the port alone
            (folder / "nginx.conf").write_text(NGINX.format(folder=folder, site=site))
            command = ["nginx", "-p", str(folder), "-c", str(folder / "nginx.conf")]
        else:
            site = text.replace("study.example.org", f"http://{public}")
            (folder / "Caddyfile").write_text(f"{{\n\tadmin off\n\tauto_https off\n}}\n{site}")
            command = ["caddy", "run", "--config", str(folder / "Caddyfile"), "--adapter", "caddyfile"]
        with (folder / "proxy.log").open("wb") as log:
            proxy = subprocess.Popen(
                command, stdout=log, stderr=log, env={"HOME": str(folder), "PATH": "/usr/sbin:/usr/bin:/bin"}
            )
        try:
            server.address = f"http://{public}"
            until = time.monotonic() + PATIENCE
            while not server._answers():
                assert proxy.poll() is None, (folder / "proxy.log").read_text()
                assert time.monotonic() < until
                time.sleep(0.05)
            yield server
        finally:
            proxy.terminate()
            proxy.wait()


@pytest.mark.parametrize("kind", ["nginx", "caddy"])
def test_a_study_is_played_through_a_proxy(tmp_path: Path, kind: str) -> None:
    with proxied(tmp_path, kind) as server:
        study = server.study(levels=["hatch"], facilitators=["none"])
        assert server.status("/api/studies", {"title": "x" * 100_000}) == 413
        with Seat(server, server.links(study)[0]) as ana, Seat(server, server.links(study)[1]) as ben:
            for person in (ana, ben):
                person.until("ready")
                person.say("ready")
            for person in (ana, ben):
                assert person.until("game")["stage"] == "game"


def test_limits_count_visitors_and_not_the_proxy(tmp_path: Path) -> None:
    with proxied(tmp_path, "nginx") as server:
        study = server.study(levels=["hatch"], facilitators=["none"], pairs=9)
        join = server.ask(f"/api/studies/{study}")["invitation"]
        codes = [server.status(join, {}) for _ in range(25)]
        assert codes.count(200) == 20, "as many as may join from one address"
        assert codes[-1] == 429
        # an address that the visitor claims is not believed: nginx says who it is
        assert server.status(join, {}, **{"X-Forwarded-For": "192.0.2.7"}) == 429


def test_the_service_file_names_options_that_there_are() -> None:
    text = (FILES / "otherminds.service").read_text()
    options = [word for word in text.partition("serve ")[2].split() if word.startswith("--")]
    from otherminds.cli.serve import serve

    names = serve.__annotations__
    assert options
    assert all(option[2:].replace("-", "_") in names for option in options)
    if shutil.which("systemd-analyze"):
        told = subprocess.run(
            ["systemd-analyze", "verify", str(FILES / "otherminds.service")],
            capture_output=True,
            text=True,
            check=False,
        )
        assert "Unknown" not in told.stderr


def test_every_package_of_a_server_is_pinned_as_for_the_tests_and_has_checksums() -> None:
    pins = set((Path(__file__).parents[2] / "constraints.txt").read_text().lower().replace("_", "-").split())
    entries = re.split(r"\n(?=\S)", (FILES / "requirements.txt").read_text().replace("\\\n", ""))
    packages = {entry.split()[0] for entry in entries}
    assert packages - {"colorama==0.4.6"} <= pins  # on Windows only
    assert {"fastapi", "uvicorn", "websockets", "numpy", "pyarrow"} <= {name.partition("==")[0] for name in packages}
    assert all(re.search(r"--hash=sha256:[0-9a-f]{64}", entry) for entry in entries)
