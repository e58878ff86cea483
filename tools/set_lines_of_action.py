"""Bring the lines of action of tools/lines_of_action.yaml into the built-in muscle sets, and nothing else.

Usage: python tools/set_lines_of_action.py

For a set whose moment arms were made apart from the lines. Lines of muscles or joints that a set does not have are left out.
"""

from __future__ import annotations

import json

from fit_moment_arms import LINES, SETS

from limbtorque.study.files import read_yaml, yaml_text


def main() -> None:
    for name, lines in LINES.items():
        path = SETS / f"{name}.yaml"
        text = path.read_text(encoding="utf-8")
        header = "".join(line for line in text.splitlines(keepends=True) if line.startswith("#"))
        whole = read_yaml(path)
        for muscle in whole["muscles"]:
            crossed = [joint for joint, arm in muscle["moment_arms"].items() if arm["form"] != "zero"]
            own = {joint: line for joint, line in lines.get(muscle["name"], {}).items() if joint in crossed}
            muscle.pop("lines_of_action", None)
            if own:
                muscle["lines_of_action"] = own
        path.write_text(header + yaml_text(whole), encoding="utf-8")
        path.with_suffix(".json").write_text(json.dumps(whole, separators=(",", ":")) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
