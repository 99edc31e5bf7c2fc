"""Keyword arguments as options of a command line."""
from typing import Any, List


def words(**options: Any) -> List[str]:
    """planes=2 is --planes 2; verify=True is --verify, False is --no-verify; a list repeats the option; None is none."""
    line: List[str] = []
    for name, value in options.items():
        option = name.rstrip("_").replace("_", "-")
        if value is True or value is False:
            line.append(f"--{option}" if value else f"--no-{option}")
        elif isinstance(value, (list, tuple)):
            for item in value:
                line += [f"--{option}", str(item)]
        elif value is not None:
            line += [f"--{option}", str(value)]
    return line
