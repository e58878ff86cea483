"""Change single places of the code at random, and see whether the tests that run them fail.

`make mutants NUMBER=300 SEED=1` draws places of the rooms below (mechanics, signal chain, static optimization, C3D), changes each
once with an operator of cosmic-ray in a copy of the project, and runs the fast tests that run the changed line. A mutant that
fails no test survived: its difference is printed. `mutants.toml` beside this file lists those that no test can fail, with the
reason. The command ends with 1 where fewer than 90 % were killed, a survivor is not explained, or an explanation is out of date.
`--sample` is for few places: it allows as many survivors as chance leaves where 90 % are killed.
"""

from __future__ import annotations

import argparse
import ast
import difflib
import hashlib
import itertools
import multiprocessing
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from pathlib import Path
from queue import SimpleQueue
from tempfile import TemporaryDirectory
from time import monotonic
from xml.etree import ElementTree

import pytest
from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator, operator_names
from coverage import Coverage, CoverageData
from scipy.stats import binom

ROOT = Path(__file__).resolve().parents[1]
CACHE = ROOT / ".mutants"
EXPLAINED = Path(__file__).with_suffix(".toml")
ROOMS = {  # by folder of the sources: the folders of the tests that run first
    "chain": ("tests/chain",),
    "torques": ("tests/torques", "tests/tables"),
    "signals": ("tests/signals",),
    "motion": ("tests/motion",),
    "ground": ("tests/ground",),
    "quality": ("tests/quality",),
    "muscles/static_optimization": ("tests/muscles",),
    "recordings/c3d": ("tests/recordings",),
}
TESTS = [
    *itertools.chain(*ROOMS.values()),
    "tests/simulation",
    "tests/test_analysis.py",
    "src",
]
FAST = "not (slow or workflow or slurm or browser or attack)"
ARITHMETIC, BITS, ORDER = "Add|Sub|Mul|Div|FloorDiv|Mod|Pow", "BitAnd|BitOr|BitXor", "Eq|NotEq|Lt|LtE|Gt|GtE"
# a change of kind (& of two floats, `is` of two numbers) is refused at once, or decided by the interpreter
OPERATORS = re.compile(
    rf"core/(?!ReplaceBinary|ReplaceComparison|NoOp)|.*Binary.*?_({ARITHMETIC})_({ARITHMETIC})$|.*Binary.*?_({BITS})_({BITS})$"
    rf"|.*Comparison.*?_({ORDER})_({ORDER})$|.*Comparison.*?_(Is_IsNot|IsNot_Is|In_NotIn|NotIn_In)$"
)
CHECKS = ("strict", "check_finite", "frozen", "eq")  # keywords that change no result
TEST_S, ELSEWHERE_S, MUTANT_S = 60, 60, 600  # most time of one test, of the tests of other rooms, of all of a mutant
MEMORY_B = 6 << 30  # of one process
IMPORTED_ONCE = [
    "__main__",
    "numpy",
    "pandas",
    "pyarrow",
    "pydantic",
    "pytest",
    "scipy.optimize",
    "scipy.signal",
]
LEAST_KILLED = 0.9
STARTS = multiprocessing.get_context(
    "forkserver"
)  # a process that has imported the large packages; those of a mutant are its copies
NOT_FOUND = (4, 5)  # of pytest, for a test that is not there
KILLED, SURVIVED, TIMED_OUT = "killed", "survived", "timed out"


@dataclass(frozen=True)
class Mutant:
    """One place of a module, changed once."""

    module: str
    operator: str
    occurrence: int
    line: int
    before: str = field(repr=False)

    @cached_property
    def after(self) -> str:
        """Source of the changed module."""
        return mutate_code(self.before, get_operator(self.operator)(), self.occurrence)

    @cached_property
    def diff(self) -> str:
        """Difference of the sources, as `diff -u` prints it."""
        sources = self.before.splitlines(), self.after.splitlines()
        return "\n".join(difflib.unified_diff(*sources, self.module, self.module, lineterm="", n=2))

    @property
    def change(self) -> tuple[str, str, str]:
        """Module, line before and line after: the key of an explanation."""
        lines = [line for line in self.diff.splitlines()[2:] if line[0] in "-+"]
        before, after = (" ".join(" ".join(line[1:].split()) for line in lines if line[0] == sign) for sign in "-+")
        return self.module.removeprefix("src/limbtorque/"), before, after

    @property
    def room(self) -> str:
        """Folder of the sources, of those in ROOMS."""
        return next(room for room in ROOMS if f"/{room}/" in self.module)


@dataclass(frozen=True)
class Tests:
    """Tests by the line they run, and the time that each takes."""

    coverage: CoverageData
    tree: Path
    seconds: Mapping[str, float]

    def covering(self, mutant: Mutant) -> tuple[list[str], list[str]]:
        """Tests that run a mutant's statement, those of its room and then the others, short ones first.

        To those of the room belong all tests of a file that has one, because a fixture that several tests share is run, and
        counted, with the first of them only. A statement that runs at import belongs to all tests that run any line of its
        module.
        """
        contexts = self.coverage.contexts_by_lineno(str(self.tree / mutant.module))
        lines = statement(mutant.before, mutant.line) or contexts
        found = {test.rpartition("|")[0] for line in lines for test in contexts.get(line, ())} - {""}
        files = {test.partition("::")[0] for test in found if test.startswith(ROOMS[mutant.room])}
        near = {test for test in self.seconds if test.partition("::")[0] in files}
        return sorted(near, key=lambda test: (test not in found, self.seconds[test])), self.short(found - near)

    def short(self, tests: Iterable[str]) -> list[str]:
        """Shortest tests, of a minute together."""
        ordered = sorted(tests, key=self.seconds.__getitem__)
        ends = itertools.accumulate(self.seconds[test] for test in ordered)
        return [test for test, end in zip(ordered, ends, strict=True) if end < ELSEWHERE_S]


def statement(source: str, line: int) -> range | None:
    """Lines of the innermost statement of a function at a line; None for a statement that runs at import."""
    here = [
        node
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.stmt) and node.lineno <= line <= (node.end_lineno or node.lineno)
    ]
    if not any(isinstance(node, ast.FunctionDef) and line >= node.body[0].lineno for node in here):
        return None
    inner = max(here, key=lambda node: (node.lineno, -(node.end_lineno or 0)))
    body = getattr(inner, "body", None)
    return range(
        inner.lineno, body[0].lineno if body and body[0].lineno > inner.lineno else (inner.end_lineno or line) + 1
    )


def undecidable(source: str) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """Start and end (line and column) of what no input reaches: annotations, checks of our own, and stores of results.

    Checks are `strict` of zip, `check_finite` of SciPy, `frozen` and `eq` of dataclasses (tests/test_rooms.py finds one that is not frozen). A
    `lru_cache` and its size change no result. numpy takes any negative size of `reshape` for the one that is left.
    """
    found: list[ast.expr] = []
    for node in ast.walk(ast.parse(source)):
        found += [each for name in ("annotation", "returns") if (each := getattr(node, name, None))]
        found += [node.value] if isinstance(node, ast.keyword) and node.arg in CHECKS else []
        found += [each for each in getattr(node, "decorator_list", []) if "lru_cache" in ast.unparse(each)]
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "reshape":
            found += [each for each in node.args if isinstance(each, ast.UnaryOp)]
    return [((node.lineno, node.col_offset - 1), (node.end_lineno or 0, node.end_col_offset or 0)) for node in found]


@cache
def places(path: Path) -> list[list[Mutant]]:
    """Return the mutants of a module that a test can decide, by place."""
    return places_of(path.read_text(encoding="utf-8"), str(path.relative_to(ROOT)))


def places_of(source: str, module: str) -> list[list[Mutant]]:
    """Return the same of a source, which may be a part of the module."""
    nodes, hidden = list(ast_nodes(get_ast(source))), undecidable(source)
    found: dict[tuple[int, int], list[Mutant]] = {}
    for name in sorted(operator_names()):
        operator = get_operator(name)
        if operator.arguments() or not OPERATORS.match(name):
            continue
        starts = (
            (start, node) for find in [operator().mutation_positions] for node in nodes for start, _ in find(node)
        )
        for occurrence, (start, node) in enumerate(starts):
            if node.parent is None or node.parent.type == "parameters":  # the star of keyword-only arguments
                continue
            if not any(first <= start < last for first, last in hidden):
                found.setdefault(start, []).append(Mutant(module, name, occurrence, start[0], source))
    return [found[start] for start in sorted(found)]


def compiles(mutant: Mutant) -> bool:
    """Refuse what the interpreter refuses."""
    try:
        compile(mutant.after, mutant.module, "exec", dont_inherit=True)
    except SyntaxError:
        return False
    return True


def sample(rooms: Iterable[str], number: int, seed: int) -> list[Mutant]:
    """Draw places, and one mutant of each."""
    chance = random.Random(seed)
    every = [
        place
        for room in rooms
        for path in sorted((ROOT / "src/limbtorque" / room).glob("*.py"))
        for place in places(path)
    ]
    chance.shuffle(every)
    drawn = (chance.choice(place) for place in every)
    return sorted(itertools.islice(filter(compiles, drawn), number), key=lambda mutant: (mutant.module, mutant.line))


def run_pytest(tree: Path, *words: str, compiled: bool) -> None:
    """Run pytest in a copy of the project, with its sources; ends the process, whose output stands in a file beside them.

    With `compiled`, the interpreter keeps what it compiles; a mutant must not be kept.
    """
    sys.dont_write_bytecode = not compiled
    os.setsid()
    os.chdir(tree)
    with Path("output").open("wb") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    sys.stdout, sys.stderr = (os.fdopen(number, "w") for number in (1, 2))
    sys.path.insert(0, str(tree / "src"))
    os.environ |= {} if compiled else {"PYTHONDONTWRITEBYTECODE": "1"}
    os.environ |= {"PYTHONPATH": str(tree / "src"), "COVERAGE_FILE": str(tree.parent / "lines")}
    longest_s = MUTANT_S if compiled else TEST_S  # unchanged code is known to end
    limits = ["-o", f"faulthandler_timeout={longest_s}", "-o", "faulthandler_exit_on_timeout=true"]
    code = pytest.main(["-q", "-p", "no:cacheprovider", *limits, *words])
    sys.stdout.flush()
    os._exit(code)


def project_files() -> list[str]:
    """Files of the project that git knows or would add."""
    words = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(words, cwd=ROOT, check=True, capture_output=True, text=True).stdout.splitlines()
    return sorted(name for name in set(names) if (ROOT / name).is_file())


def covering_tests(folders: Sequence[str], jobs: int) -> Tests:
    """Run the fast tests in a copy of the project once, and note which lines each runs; done again after any change."""
    names = project_files()
    state = hashlib.sha256("\0".join(folders).encode())
    for name in names:
        if name.startswith(("src/", "tests/", "pyproject")):
            state.update(name.encode() + (ROOT / name).read_bytes())
    tree, key = CACHE / "tree", CACHE / "state"
    if not key.is_file() or key.read_text() != state.hexdigest():
        shutil.rmtree(CACHE, ignore_errors=True)
        for name in names:
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, tree / name)
        words = [
            f"-n{jobs}",
            "-m",
            FAST,
            "--cov=src/limbtorque",
            "--cov-context=test",
            "--cov-report=",
            f"--junit-xml={CACHE}/tests.xml",
        ]
        process = STARTS.Process(target=run_pytest, args=(tree, *words, *folders), kwargs={"compiled": True})
        process.start()
        process.join()
        if process.exitcode:
            output = (tree / "output").read_text(errors="replace")
            sys.exit(f"make mutants: the tests fail without any mutant; mend them first\n{output[-2000:]}")
        key.write_text(state.hexdigest())
    lines = CoverageData(str(CACHE / "lines"))
    lines.read()
    return Tests(lines, tree, seconds(CACHE / "tests.xml", lines))


def line_coverage(tree: Path, rooms: Iterable[str]) -> float:
    """Share of the lines of rooms that the tests run, %; from the lines that `covering_tests` notes."""
    measured = Coverage(
        data_file=str(CACHE / "lines"), include=[str(tree / f"src/limbtorque/{room}/*") for room in rooms]
    )
    measured.load()
    with Path(os.devnull).open("w", encoding="utf-8") as nowhere:
        return measured.report(file=nowhere)


def seconds(path: Path, lines: CoverageData) -> dict[str, float]:
    """Time of each test, by its id."""
    cases = ElementTree.parse(path).iter("testcase")
    times = {(case.get("classname"), case.get("name")): float(case.get("time", 0)) for case in cases}
    tests = {context.rpartition("|")[0] for context in lines.measured_contexts()} - {""}
    parts = {test: test.partition("::") for test in tests}
    return {
        test: times.get((file.removesuffix(".py").replace("/", "."), name), 0.1)
        for test, (file, _, name) in parts.items()
    }


def judge(mutant: Mutant, tree: Path, tests: Sequence[str]) -> str:
    """Run tests on a mutant in a copy of the project: `killed`, `survived` or `timed out`."""
    if not tests:
        return SURVIVED
    path = tree / mutant.module
    (tree / "tests-to-run").write_text("\n".join(tests), encoding="utf-8")
    state = path.stat()
    path.write_text(mutant.after, encoding="utf-8")
    process = STARTS.Process(target=run_pytest, args=(tree, "-x", "@tests-to-run"), kwargs={"compiled": False})
    process.start()
    process.join(MUTANT_S)
    if process.exitcode is None:
        os.killpg(process.pid or 0, signal.SIGKILL)
        process.join()
    path.write_text(mutant.before, encoding="utf-8")
    os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))  # so that the interpreter's compiled file stays good
    output = (tree / "output").read_text(errors="replace")
    # a test's name may hold what the code computes
    if process.exitcode in NOT_FOUND and mutant.after != mutant.before:
        judge(unchanged(mutant), tree, tests)  # ends this command where the unchanged code does not have them either
        return KILLED
    if process.exitcode not in (0, 1, 2, -signal.SIGKILL) and "ImportError while loading conftest" not in output:
        sys.exit(f"make mutants: pytest cannot run the tests of {mutant}\n{output[-2000:]}")
    if process.exitcode == -signal.SIGKILL or "Timeout (" in output:
        return TIMED_OUT
    return KILLED if process.exitcode else SURVIVED


def judge_all(drawn: Sequence[Mutant], tests: Tests, jobs: int) -> dict[Mutant, str]:
    """Run the covering tests on every mutant, on so many copies of the project at a time."""
    with TemporaryDirectory(prefix="mutants-") as folder, ThreadPoolExecutor(jobs) as pool:
        trees: SimpleQueue[Path] = SimpleQueue()
        for each in range(jobs):
            trees.put(Path(shutil.copytree(tests.tree, Path(folder, str(each), "project"))))

        near, _ = tests.covering(drawn[0])
        if judge(unchanged(drawn[0]), Path(folder, "0", "project"), near) != SURVIVED:
            sys.exit("make mutants: unchanged code fails its tests in a copy of the project; nothing can be concluded")

        def one(mutant: Mutant) -> str:
            tree = trees.get()
            try:
                near, far = tests.covering(mutant)
                outcome = judge(mutant, tree, near)
                outcome = judge(mutant, tree, far) if outcome == SURVIVED else outcome
            finally:
                trees.put(tree)
            print(f"{outcome:9}  {mutant.module}:{mutant.line}  {mutant.operator.removeprefix('core/')}", flush=True)
            return outcome

        return dict(zip(drawn, pool.map(one, drawn), strict=True))


def unchanged(mutant: Mutant) -> Mutant:
    """No change of a module: what a run must not kill."""
    same = replace(mutant)
    vars(same)["after"] = mutant.before
    return same


def explanations() -> dict[tuple[str, str, str], str]:
    """Reasons why no test can fail a mutant, by its change."""
    entries = tomllib.loads(EXPLAINED.read_text(encoding="utf-8"))["mutant"]
    return {(entry["module"], entry["before"], entry["after"]): entry["reason"] for entry in entries}


def out_of_date(explained: Iterable[tuple[str, str, str]]) -> list[tuple[str, str, str]]:
    """Explanations whose mutant the present code does not have; each is sought in its statement, which is parsed fast."""
    found = []
    for module, before, after in explained:
        path = ROOT / "src/limbtorque" / module
        for part in top_statements(path.read_text(encoding="utf-8")) if path.is_file() else []:
            numbers = {number for number, line in enumerate(part.splitlines(), 1) if " ".join(line.split()) == before}
            near = (mutant for place in (places_of(part, module) if numbers else []) for mutant in place)
            if any(mutant.line in numbers and mutant.change == (module, before, after) for mutant in near):
                break
        else:
            found.append((module, before, after))
    return found


def top_statements(source: str) -> list[str]:
    """Return the statements of a module, each with the comments and blank lines before it."""
    lines = source.splitlines(keepends=True)
    ends = [0, *(node.end_lineno or 0 for node in ast.parse(source).body)]
    return ["".join(lines[start:end]) for start, end in itertools.pairwise(ends)]


def report(
    outcomes: Mapping[Mutant, str], explained: Mapping[tuple[str, str, str], str], *, allowed: int = 0
) -> list[str]:
    """Print counts by room and the survivors; return the faults, none for as many survivors as are allowed."""
    survivors = [mutant for mutant, outcome in outcomes.items() if outcome == SURVIVED]
    unexplained = [mutant for mutant in survivors if mutant.change not in explained]
    for mutant in survivors:
        print(f"\nsurvived: {explained.get(mutant.change, 'not explained')}\n{mutant.diff}")
    print(f"\n{'room':30}{KILLED:>10}{TIMED_OUT:>11}{SURVIVED:>10}  of them explained")
    for room in [*ROOMS, "all"]:
        here = [mutant for mutant in outcomes if room in (mutant.room, "all")]
        counts = Counter(outcomes[mutant] for mutant in here)
        known = sum(mutant.change in explained for mutant in here if mutant in survivors)
        print(f"{room:30}{counts[KILLED]:10}{counts[TIMED_OUT]:11}{counts[SURVIVED]:10}{known:19}")
    share = 1 - len(survivors) / max(len(outcomes), 1)
    few = len(survivors) > max(allowed, (1 - LEAST_KILLED) * len(outcomes))
    print(f"{share:.1%} of {len(outcomes)} mutants killed, {len(unexplained)} survivors not explained")
    killed = {mutant.change for mutant, outcome in outcomes.items() if outcome != SURVIVED}
    return [
        *([f"only {share:.1%} killed, at least {LEAST_KILLED:.0%} are wanted"] if few else []),
        *(
            f"{mutant.module}:{mutant.line}: survived; write a test, or explain it in tools/mutants.toml"
            for mutant in (unexplained if len(unexplained) > allowed else [])
        ),
        *(
            f"tools/mutants.toml: a test fails this mutant; remove it: {' | '.join(change)}"
            for change in killed & explained.keys()
        ),
        *(
            f"tools/mutants.toml: no such mutant in the code; remove it: {' | '.join(change)}"
            for change in out_of_date(explained)
        ),
    ]


def main() -> int:
    """Draw, judge and report; return 1 at a fault."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--number", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--rooms", nargs="+", choices=ROOMS, default=[*ROOMS], metavar="ROOM", help=", ".join(ROOMS))
    parser.add_argument(
        "--tests",
        nargs="+",
        default=TESTS,
        metavar="FOLDER",
        help="folders of tests, by default of all rooms and what uses them",
    )
    parser.add_argument(
        "--sample",
        action="store_true",
        help="allow survivors that chance leaves in 99 of 100 samples where 90 % are killed",
    )
    chosen = parser.parse_args()
    begin = monotonic()
    os.environ |= {"OMP_NUM_THREADS": "1"}
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    STARTS.set_forkserver_preload(IMPORTED_ONCE)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_B, MEMORY_B))
    drawn = sample(chosen.rooms, chosen.number, chosen.seed)
    tests = covering_tests(chosen.tests, chosen.jobs)
    allowed = int(binom.ppf(0.99, len(drawn), 1 - LEAST_KILLED)) if chosen.sample else 0
    faults = report(judge_all(drawn, tests, chosen.jobs), explanations(), allowed=allowed)
    share = line_coverage(tests.tree, chosen.rooms)
    print(f"line coverage of {', '.join(chosen.rooms)} by {' '.join(chosen.tests)}: {share:.1f} %")
    print(f"seed {chosen.seed}, {monotonic() - begin:.0f} s")
    print("\n".join(f"make mutants: {fault}" for fault in faults), file=sys.stderr, end="\n" if faults else "")
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main())
