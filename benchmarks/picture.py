"""Points with their intervals as an SVG picture: text in, text out, no plotting library. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from math import floor, log10

from corpus import Span

WIDTH, HEIGHT = 720, 440
LEFT, RIGHT, TOP, BOTTOM = 70, 20, 50, 60
TICKS = 6


@dataclass(frozen=True)
class Point:
    """One thing that was measured, along two axes."""

    name: str
    x: float
    y: float
    x_interval: Span
    y_interval: Span
    marked: bool = False


def scatter(title: str, x_axis: str, y_axis: str, points: Sequence[Point]) -> str:
    """A picture of the points; both axes begin at 0."""
    x_most = max(max(point.x_interval[1], point.x) for point in points) * 1.05 or 1.0
    y_most = max(max(point.y_interval[1], point.y) for point in points) * 1.1 or 1.0

    def x_at(value: float) -> float:
        return LEFT + value / x_most * (WIDTH - LEFT - RIGHT)

    def y_at(value: float) -> float:
        return HEIGHT - BOTTOM - value / y_most * (HEIGHT - TOP - BOTTOM)

    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif">',
        f"<title>{escape(title)}</title>",
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        _text(LEFT, 24, title, size=16),
        _text(LEFT + (WIDTH - LEFT - RIGHT) / 2, HEIGHT - 14, x_axis, anchor="middle"),
        _text(LEFT - 50, TOP - 10, y_axis),
        _line(LEFT, y_at(0), WIDTH - RIGHT, y_at(0), "black"),
        _line(LEFT, TOP, LEFT, y_at(0), "black"),
    ]
    lines += [_text(x_at(x), y_at(0) + 18, f"{x:g}", anchor="middle") for x in ticks(x_most)]
    for y in ticks(y_most):
        lines.append(_text(LEFT - 6, y_at(y) + 4, f"{y:g}", anchor="end"))
        lines.append(_line(LEFT, y_at(y), WIDTH - RIGHT, y_at(y), "#eeeeee"))
    for point in points:
        colour = "#b3261e" if point.marked else "#30506e"
        x, y = x_at(point.x), y_at(point.y)
        lines.append(_line(x_at(point.x_interval[0]), y, x_at(point.x_interval[1]), y, colour))
        lines.append(_line(x, y_at(point.y_interval[0]), x, y_at(point.y_interval[1]), colour))
        lines.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" fill="{colour}"/>')
        lines.append(_text(x + 9, y - 8, point.name, colour=colour))
    return "\n".join([*lines, "</svg>", ""])


def ticks(most: float) -> list[float]:
    """Round numbers from 0 to that, `TICKS` steps at most."""
    power = 10.0 ** floor(log10(most / TICKS))
    step = next(power * times for times in (1, 2, 5, 10) if most / (power * times) <= TICKS)
    return [round(step * number, 10) for number in range(floor(most / step + 1e-9) + 1)]


def _text(
    x: float, y: float, text: str, *, anchor: str = "start", size: int = 13, colour: str = "black"
) -> str:
    place = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"'
    return f'<text {place} font-size="{size}" fill="{colour}">{escape(text)}</text>'


def _line(x1: float, y1: float, x2: float, y2: float, colour: str) -> str:
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}"/>'
