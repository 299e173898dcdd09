"""A story as a storyboard, with a frame for each happening: as SVG, PNG, GIF or MP4."""

from __future__ import annotations

import math
from pathlib import Path
from typing import IO, Any

from PIL import Image, ImageDraw

from otherminds.errors import InputError, install_hint
from otherminds.stories.model import Episode
from otherminds.stories.pictures.frames import HEIGHT, WIDTH, StoryFrame, frames_of
from otherminds.worlds.canvas import Brush, save, svg_shape, svg_text

SPACE = 10  # between frames on a sheet
MOST_FRAMES = 300  # on a sheet or in a film; chosen to bound the memory of hostile stories
FINER = 2  # frames are painted so many times as large and scaled down, to smooth edges
SHORTEST, PER_LETTER = 1.2, 0.03  # seconds that a frame of a film stays, and for each letter of its caption; chosen
RATE = 10  # frames a second of an .mp4
FONTS = "'DejaVu Sans', Verdana, system-ui, sans-serif"


def frames(episode: Episode) -> tuple[str, ...]:
    """A frame for each happening, as SVG. Raises InputError for a home that cannot be drawn."""
    return tuple(
        _svg(frame.caption, WIDTH, HEIGHT, "".join(map(svg_shape, frame.drawn))) for frame in frames_of(episode)
    )


def storyboard_svg(episode: Episode, columns: int = 4) -> str:
    """All frames of a story on one sheet, as SVG.

    Raises InputError for a home that cannot be drawn, or a story in which nothing happens.
    """
    drawn = _drawable_frames(episode)
    width, height, corners = _layout(len(drawn), columns)
    inner = "".join(
        f'<g transform="translate({x:g} {y:g})">{"".join(map(svg_shape, frame.drawn))}</g>'
        for frame, (x, y) in zip(drawn, corners, strict=True)
    )
    sheet = f'<rect width="{width:g}" height="{height:g}" fill="#d5d9de"/>{inner}'
    return _svg("A storyboard: " + " ".join(frame.caption for frame in drawn), width, height, sheet)


def write_png(
    episode: Episode, path: Path | str | IO[bytes], *, number: int | None = None, columns: int = 4, scale: float = 2.0
) -> None:
    """Write a storyboard, or only the frame with this number (they start at 1), as a PNG image.

    Raises InputError for a home that cannot be drawn, for an unknown frame number, or if the file cannot be written.
    """
    drawn = _drawable_frames(episode)
    if number is not None:
        if not 1 <= number <= len(drawn):
            raise InputError(f"episode {episode.id!r} has no frame {number}", hint=f"there are {len(drawn)}")
        image = _image(drawn[number - 1], scale)
    else:
        width, height, corners = _layout(len(drawn), columns)
        image = Image.new("RGB", (round(width * scale), round(height * scale)), "#d5d9de")
        for frame, (x, y) in zip(drawn, corners, strict=True):
            image.paste(_image(frame, scale), (round(x * scale), round(y * scale)))
    save(path, lambda file: image.save(file, format="PNG"))


def write_video(episode: Episode, path: Path | str, *, scale: float = 2.0) -> None:
    """Write a story as a film, .gif or .mp4, in which each frame stays as long as its caption takes to read.

    Raises InputError for another suffix, for a home that cannot be drawn, if it cannot be written, or, for .mp4, if the
    extra `video` is not installed.
    """
    kind = Path(path).suffix.lower()
    if kind not in (".gif", ".mp4"):
        raise InputError("is no kind of video that can be written", path=path, hint="use .gif or .mp4")
    drawn = _drawable_frames(episode)
    if kind == ".mp4":
        _write_mp4(drawn, Path(path), scale)
        return
    images = [_image(frame, scale).quantize(128, dither=Image.Dither.NONE) for frame in drawn]
    durations = [round(1000 * _seconds(frame)) for frame in drawn]
    rest = {"append_images": images[1:], "duration": durations, "loop": 0, "disposal": 1}
    save(path, lambda file: images[0].save(file, format="GIF", save_all=True, **rest))


def _drawable_frames(episode: Episode) -> list[StoryFrame]:
    """All frames of a story. Raises InputError if nothing happens in it, or more than can be drawn together."""
    if not episode.timeline:
        raise InputError(f"episode {episode.id!r} cannot be drawn: nothing happens in it")
    if len(episode.timeline) > MOST_FRAMES:
        happens = f"episode {episode.id!r} has {len(episode.timeline)} happenings"
        raise InputError(happens, hint=f"{MOST_FRAMES} can be drawn together at most")
    return list(frames_of(episode))


def _svg(title: str, width: float, height: float, inner: str) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="{svg_text(title)}" '
        f'viewBox="0 0 {width:g} {height:g}" width="{width:g}" height="{height:g}" font-family="{FONTS}">{inner}</svg>'
    )


def _layout(n: int, columns: int) -> tuple[float, float, list[tuple[float, float]]]:
    """The width and height of a sheet of `n` frames, and the upper left corner of each."""
    columns = max(1, min(columns, n))
    across, down = WIDTH + SPACE, HEIGHT + SPACE
    corners = [(SPACE + (i % columns) * across, SPACE + (i // columns) * down) for i in range(n)]
    return SPACE + columns * across, SPACE + math.ceil(n / columns) * down, corners


def _image(frame: StoryFrame, scale: float) -> Image.Image:
    size = round(WIDTH * scale), round(HEIGHT * scale)
    image = Image.new("RGB", (size[0] * FINER, size[1] * FINER), "#ffffff")
    Brush(ImageDraw.Draw(image), scale * FINER).paint(frame.drawn)
    return image.resize(size, Image.Resampling.LANCZOS)


def _seconds(frame: StoryFrame) -> float:
    return round(SHORTEST + PER_LETTER * min(len(frame.caption), 120), 1)


def _write_mp4(drawn: list[StoryFrame], path: Path, scale: float) -> None:
    """Write the frames as a film. Its sides are multiples of 16 pixels, which encoders need."""
    try:
        import imageio_ffmpeg
    except ImportError:
        raise InputError("a video as .mp4 needs an extra", path=path, hint=install_hint("video")) from None
    width, height = (16 * max(1, round(length * scale / 16)) for length in (WIDTH, HEIGHT))

    try:
        path.open("wb").close()  # its error message is clearer than that of ffmpeg
        writer: Any = imageio_ffmpeg.write_frames(str(path), (width, height), fps=RATE, codec="libx264")
        writer.send(None)
        for frame in drawn:
            pixels = _image(frame, scale).resize((width, height)).tobytes()
            for _ in range(round(RATE * _seconds(frame))):
                writer.send(pixels)
        writer.close()
    except (OSError, RuntimeError) as error:
        why = getattr(error, "strerror", None) or str(error).partition("\n")[0]
        raise InputError(f"cannot be written: {why}", path=path) from None
