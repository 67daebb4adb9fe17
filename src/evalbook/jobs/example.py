"""Where the worked example lies."""

from pathlib import Path

from evalbook.base.problems import UserError

NAME = "device-inventory"
_PACKAGE = Path(__file__).resolve().parents[1]


def example_folder() -> Path:
    """Return the folder of the device-inventory evaluation: in the package, or in its checkout.

    Raises:
        UserError: when this installation came without it.
    """
    for folder in (_PACKAGE / "examples", _PACKAGE.parents[1] / "evaluations"):
        if (folder / NAME / "evaluation.toml").is_file():
            return folder / NAME
    raise UserError(
        "this installation of evalbook came without its example", hint="reinstall evalbook"
    )


def example_path() -> str:
    """Return where the example goes in a repository, from its top."""
    return f"evaluations/{NAME}"
