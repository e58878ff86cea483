"""Print the size of the package: lines of code, modules, functions, tokens, import depth, options, flags, words, tests.

python tools/size.py            prints the counts
python tools/size.py --rooms    and those of each folder
"""

from __future__ import annotations

import ast
import io
import sys
import tokenize
from collections import Counter
from functools import cache
from pathlib import Path

from limbtorque.quality.checks import CHECKS
from limbtorque.study.settings import option_names

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "limbtorque"
NO_CODE = {
    *(tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER),
}
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef)


def main() -> None:
    modules = {path: path.read_text(encoding="utf-8") for path in sorted(PACKAGE.rglob("*.py"))}
    sizes = {path: lines_and_tokens(text) for path, text in modules.items()}
    longest = max(sizes, key=lambda path: sizes[path][0])
    words = sum(len(page.read_text(encoding="utf-8").split()) for page in (ROOT / "docs").rglob("*.md"))
    tests = sum(len(path.read_text(encoding="utf-8").splitlines()) for path in (ROOT / "tests").rglob("*.py"))
    counts = {
        "lines of code": sum(lines for lines, _ in sizes.values()),
        "tokens": sum(tokens for _, tokens in sizes.values()),
        "modules": len(modules),
        f"lines of code in the longest module ({longest.relative_to(PACKAGE)})": sizes[longest][0],
        "functions": sum(
            isinstance(node, ast.FunctionDef) for text in modules.values() for node in ast.walk(ast.parse(text))
        ),
        "import depth": import_depth(modules),
        "options": len(option_names()),
        "flags": len(CHECKS),
        "words of documentation": words,
        "lines of tests": tests,
    }
    for name, count in counts.items():
        print(f"{count:8,} {name}")
    if "--rooms" in sys.argv:
        rooms: Counter[str] = Counter()
        for path, (lines, _) in sizes.items():
            rooms[path.relative_to(PACKAGE).parts[0]] += lines
        for room, lines in sorted(rooms.items()):
            print(f"{lines:8,} {room}")


def lines_and_tokens(text: str) -> tuple[int, int]:
    """Lines and tokens of a module, without blank lines, comments and docstrings."""
    documentation: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
            documentation |= set(range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1))
    code = [
        token
        for token in tokenize.generate_tokens(io.StringIO(text).readline)
        if token.type not in NO_CODE and token.start[0] not in documentation
    ]
    return len({line for token in code for line in range(token.start[0], token.end[0] + 1)}), len(code)


def import_depth(modules: dict[Path, str]) -> int:
    """Number of modules in the longest chain of imports."""
    names = {".".join(("limbtorque", *path.relative_to(PACKAGE).with_suffix("").parts)): path for path in modules}
    names = {name.removesuffix(".__init__"): path for name, path in names.items()}

    @cache
    def depth(name: str) -> int:
        imported = set()
        for node in ast.walk(ast.parse(modules[names[name]])):
            if isinstance(node, ast.ImportFrom) and node.module and not node.level:
                whole = (f"{node.module}.{alias.name}" for alias in node.names)
                imported |= {module if module in names else node.module for module in whole}
        return 1 + max((depth(module) for module in imported & names.keys() - {name}), default=0)

    return max(map(depth, names))


if __name__ == "__main__":
    main()
