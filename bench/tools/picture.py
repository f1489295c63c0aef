"""A small line chart as SVG, readable on light and dark pages."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

WIDTH, HEIGHT, LEFT, BOTTOM, TOP, RIGHT = 720, 320, 56, 40, 40, 170
COLOURS = ("#888888", "#d1495b", "#edae49", "#00798c", "#66a182")


def lines(title: str, across: str, series: Mapping[str, Sequence[float]]) -> str:
    """One line for each series, its name at its end; values from 0 up."""
    highest = max(max(values) for values in series.values())
    count = max(len(values) for values in series.values())
    body = [_text(LEFT, 20, title, size=15), _text(LEFT, HEIGHT - 8, across)]
    for part in range(5):
        value = highest * part / 4
        y = _y(value, highest)
        body.append(
            f'<line x1="{LEFT}" y1="{y:.0f}" x2="{WIDTH - RIGHT}" y2="{y:.0f}" '
            'stroke="#888" stroke-opacity=".3"/>'
        )
        body.append(_text(LEFT - 8, y + 4, f"{value:.0f}", anchor="end"))
    ends = sorted((values[-1], name) for name, values in series.items())
    places = _apart([_y(value, highest) for value, _ in ends])
    names = {name: place for (_, name), place in zip(ends, places, strict=True)}
    for (name, values), colour in zip(series.items(), COLOURS, strict=False):
        points = " ".join(
            f"{_x(place, count):.0f},{_y(value, highest):.0f}" for place, value in enumerate(values)
        )
        body.append(
            f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2.5"/>'
        )
        body.append(_text(WIDTH - RIGHT + 10, names[name] + 4, name, colour=colour))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        f'font-family="system-ui, sans-serif" font-size="12"><title>{title}</title>\n'
        + "\n".join(body)
        + "\n</svg>\n"
    )


def _x(place: int, count: int) -> float:
    return LEFT + (WIDTH - LEFT - RIGHT) * place / max(count - 1, 1)


def _y(value: float, highest: float) -> float:
    return HEIGHT - BOTTOM - (HEIGHT - BOTTOM - TOP) * value / highest


def _apart(places: list[float]) -> list[float]:
    """From the bottom up, labels at least a line apart."""
    kept: list[float] = []
    for place in places:
        kept.append(min(place, kept[-1] - 15) if kept else place)
    return kept


def _text(
    x: float, y: float, text: str, *, size: int = 12, anchor: str = "start", colour: str = "#888"
) -> str:
    return (
        f'<text x="{x:.0f}" y="{y:.0f}" font-size="{size}" text-anchor="{anchor}" '
        f'fill="{colour}">{text}</text>'
    )
