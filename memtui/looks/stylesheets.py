"""Where the stylesheets are: beside the package in a checkout, inside it in a wheel."""

from pathlib import Path, PurePath

_PACKAGE = Path(__file__).parents[1]


def stylesheets() -> list[str | PurePath]:
    """Every ``.tcss`` file, by name, which is the order they apply in."""
    inside, beside = _PACKAGE / "styles", _PACKAGE.parent / "styles"
    folder = inside if inside.is_dir() else beside
    return [*sorted(folder.glob("*.tcss"))]
