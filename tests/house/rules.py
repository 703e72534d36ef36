# SPDX-License-Identifier: BSD-3-Clause
"""The house rules: each a function of a Tree that yields "file:line: what is wrong".

Rules are rows of RULES at the foot. test_house.py runs them on the project, and shows of each one
on a planted tree that it can fail.
"""
import ast
import os
import re
import shutil
import subprocess

# A folder of emu/ includes only itself and those on lines above it; siblings on one line don't
# include each other. main.c and cmd_*.c stand below all of them.
ORDER = [
    ["base"], ["wire"], ["sim"], ["net"], ["eth", "ib"], ["topo"], ["switch"], ["xport"], ["cc"],
    ["host", "inc", "nvl"], ["coll"], ["mgmt"], ["fabric"], ["attach", "cap"], ["analyze"],
    ["scen"], ["ctl"], ["lab"],
]
RANK = {name: i for i, row in enumerate(ORDER) for name in row}
# pure functions: no mbuf, no EAL, so that they also build outside of the emulator
NO_DPDK = {"base", "wire", "xport", "cc"}
NO_ALLOCATION = {"wire", "xport", "cc"}
FUNCTION_LINES = 70
# the checkers' verdicts differ between versions: those of Debian 12 count
JUDGES = {"clang-format": "14.", "codespell": "2.2.", "shellcheck": "0.9."}

C = (".c", ".h")


class Skip(Exception):
    """The rule can't be judged here, and why."""


class Tree:
    """The tracked files below a folder (all files where it is no git repository)."""

    def __init__(self, root):
        self.root = os.path.abspath(root)
        self.files = sorted(f for f in self._list() if os.path.isfile(self.path(f)))
        self._text = {}

    def _list(self):
        git = subprocess.run(["git", "-C", self.root, "ls-files", "-z"], stdout=subprocess.PIPE,
                             stderr=subprocess.DEVNULL, check=False) if shutil.which("git") else None
        top = os.path.exists(os.path.join(self.root, ".git"))
        if top and git and git.returncode == 0:
            return [f for f in git.stdout.decode().split("\0") if f]
        found = []
        for folder, dirs, names in os.walk(self.root):
            dirs[:] = [d for d in dirs if d not in (".git", ".cache", "__pycache__")
                       and not (folder == self.root and d.startswith("build"))]
            rel = os.path.relpath(folder, self.root)
            found += [os.path.normpath(os.path.join(rel, n)) for n in names]
        return [f for f in found if not f.endswith(".log")]

    def path(self, name):
        return os.path.join(self.root, name)

    def text(self, name):
        if name not in self._text:
            with open(self.path(name), "rb") as f:
                data = f.read()
            self._text[name] = "" if b"\0" in data else data.decode("utf-8", "replace")
        return self._text[name]

    def lines(self, name):
        return enumerate(self.text(name).splitlines(), 1)

    def below(self, *folders, ends=C):
        return [f for f in self.files if f.endswith(ends) and f.startswith(folders)]

    def scripts(self, *shells):
        """Files that begin with #! and one of the interpreters."""
        out = []
        for f in self.files:
            first = self.text(f).split("\n", 1)[0]
            if first.startswith("#!") and re.search(r"\b(" + "|".join(shells) + r")\b", first):
                out.append(f)
        return out


def code_only(text):
    """C text with comments and strings blanked out, lines kept."""
    def blank(m):
        s = m.group(0)
        if s.startswith("/"):
            return re.sub(r"[^\n]", " ", s)
        return s[0] + " " * (len(s) - 2) + s[-1]
    return re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', blank, text,
                  flags=re.S)


def code_lines(tree, name):
    return enumerate(code_only(tree.text(name)).splitlines(), 1)


def folder_of(name):
    """The folder of emu/ that a file belongs to; "cmd" for what stands directly in emu/."""
    parts = name.split("/")
    return parts[1] if len(parts) > 2 else "cmd"


# --- what a C file may use -------------------------------------------------------------------

def include_order(tree):
    for f in tree.below("emu/"):
        here = folder_of(f)
        if here != "cmd" and here not in RANK:
            yield f"{f}:1: folder '{here}' is not in the include order of docs/ARCHITECTURE.md"
            continue
        for n, line in tree.lines(f):
            m = re.match(r'\s*#\s*include\s+"([^"]+)"', line)
            if not m:
                continue
            target = m.group(1)
            there = target.split("/")[0] if "/" in target else "cmd"
            if not os.path.isfile(tree.path("emu/" + target)):
                yield f"{f}:{n}: \"{target}\" is no file below emu/"
            elif there == here or here == "cmd":
                continue
            elif there == "cmd" or RANK[there] >= RANK[here]:
                yield f"{f}:{n}: {here}/ may not include {there}/, which is not above it"


def no_dpdk_in_pure_code(tree):
    for f in tree.below("emu/"):
        if folder_of(f) in NO_DPDK:
            for n, line in tree.lines(f):
                if re.match(r"\s*#\s*include\s+<rte_", line):
                    yield f"{f}:{n}: {folder_of(f)}/ has to build without DPDK"


CLOCKS = re.compile(r"\b(clock_gettime|gettimeofday|clock_nanosleep|nanosleep|usleep|time|"
                    r"rte_rdtsc\w*|rte_get_tsc\w*|rte_get_timer\w*|rte_delay\w*|"
                    r"rand|random|srand|srandom|drand48|getrandom|getentropy|rte_rand\w*)\s*\(")


def clock_has_one_home(tree):
    for f in tree.below("emu/"):
        if folder_of(f) in ("base", "sim"):
            continue
        for n, line in code_lines(tree, f):
            m = CLOCKS.search(line)
            if m:
                yield f"{f}:{n}: {m.group(1)}(): clock and randomness belong to base/ and sim/"


def environment_has_one_home(tree):
    """The programs and the lab may look at it; a model never."""
    for f in tree.below("emu/"):
        if folder_of(f) in ("base", "sim", "ctl", "lab", "cmd"):
            continue
        for n, line in code_lines(tree, f):
            if re.search(r"\b(secure_)?getenv\s*\(", line):
                yield f"{f}:{n}: the environment is read in a model"


def no_allocation_in_pure_code(tree):
    for f in tree.below("emu/"):
        if folder_of(f) in NO_ALLOCATION:
            for n, line in code_lines(tree, f):
                m = re.search(r"\b(malloc|calloc|realloc|strdup|free|rte_z?malloc)\s*\(", line)
                if m:
                    yield f"{f}:{n}: {m.group(1)}(): {folder_of(f)}/ allocates nothing"


# The exceptions to "no globals": what they are and why.
GLOBALS = {
    ("emu/base/assert.c", "ctx_of_thread"): "what a failed assertion prints of this thread's run",
    ("emu/host/cc_guard.c", "path_of_thread"): "whose hook this thread runs, for a fault to tell",
}
GLOBAL = re.compile(r"^(?:static\s+)?(?:_Thread_local\s+|__thread\s+|_Atomic\s+|volatile\s+)*"
                    r"(?:(?:struct|union|enum)\s+\w+|unsigned(?:\s+\w+)?|u?int(?:\d+_t)?|bool|char|"
                    r"double|long(?:\s+\w+)*|s?size_t|FILE|pthread_\w+|atomic_\w+|sig_atomic_t)\s+"
                    r"(?:\*\s*)*(\w+)\s*(?:\[[^\]]*\]\s*)*(?:=.*|;.*)$")


def no_globals(tree):
    for f in tree.below("emu/", ends=(".c",)):
        for n, line in code_lines(tree, f):
            m = GLOBAL.match(line)
            if not m or "sig_atomic_t" in line or (f, m.group(1)) in GLOBALS:
                continue
            yield f"{f}:{n}: '{m.group(1)}' is a global: several fabrics live in one process"


def no_struct_typedef(tree):
    for f in tree.below("emu/", "pmd/", "tests/"):
        for n, line in code_lines(tree, f):
            if re.match(r"\s*typedef\s+(struct|union|enum)\b", line):
                yield f"{f}:{n}: no typedef for structs"


# --- what no file may contain ----------------------------------------------------------------

# put together so that this file doesn't break its own rule
PROMISES = re.compile(r"\b(" + "|".join(["TO" "DO", "FIX" "ME", "X" "XX", "HA" "CK", "st" "ub",
                                         "not impl" "emented", "place" "holder"]) + r")\b")
REGISTRY = re.compile(r"https?://[a-z0-9.-]*(debian|npm" r"js)[a-z0-9.-]*|\bdeb\.deb" r"ian\.org")


def no_promises(tree):
    for f in tree.files:
        if f.endswith((".c", ".h", ".py", ".sh", ".build", ".md")) or f.startswith("scripts/"):
            for n, line in tree.lines(f):
                m = PROMISES.search(line)
                if m:
                    yield f"{f}:{n}: '{m.group(1)}' promises work instead of doing it"


def no_machine_paths(tree):
    here = os.path.dirname(tree.root) + "/"
    for f in tree.files:
        for n, line in tree.lines(f):
            if "/wo" "rk/" in line or (len(here) > 5 and here in line):
                yield f"{f}:{n}: a path of one machine"


def no_registry_hosts(tree):
    for f in tree.files:
        for n, line in tree.lines(f):
            if REGISTRY.search(line):
                yield f"{f}:{n}: the host of a package registry"


def spdx(tree):
    wanted = [f for f in tree.files if f.endswith(C + (".py", ".sh", "meson.build"))]
    for f in sorted(set(wanted + tree.scripts("sh", "bash", "python3"))):
        head = tree.text(f).split("\n")[:3]
        if not any("SPDX-License-Identifier: BSD-3-Clause" in line for line in head):
            yield f"{f}:1: no SPDX line in the first three"


# --- how a file is written -------------------------------------------------------------------

def file_begins_with_its_subject(tree):
    """A comment follows the SPDX line; a .c beside its .h is described there."""
    for f in tree.below("emu/", "pmd/", "tests/"):
        if f.endswith(".c") and f[:-2] + ".h" in tree.files:
            continue
        rest = [ln for ln in tree.text(f).split("\n")[1:] if ln.strip()]
        if not rest or not rest[0].startswith("/*"):
            yield f"{f}:2: does not begin with what it is about"


def c_functions(text):
    """(name, first line, last line) of each function, by the braces in column 0."""
    lines = code_only(text).splitlines()
    start = None
    for i, line in enumerate(lines):
        if line.startswith("{"):
            start = i
            while start > 0 and lines[start - 1].strip() and \
                    not re.search(r"[;}]\s*$|^\s*#", lines[start - 1]):
                start -= 1
        elif line.startswith("}") and start is not None:
            m = re.search(r"(\w+)\s*\(", " ".join(lines[start:i]))
            yield (m.group(1) if m else "?"), start + 1, i + 1
            start = None


def python_functions(text):
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node.name, node.lineno, node.end_lineno


def short_functions(tree):
    for f in tree.files:
        if f.endswith(C):
            found = c_functions(tree.text(f))
        elif f.endswith(".py") or f in tree.scripts("python3"):
            found = python_functions(tree.text(f))
        else:
            continue
        for name, first, last in found:
            if last - first + 1 > FUNCTION_LINES:
                yield f"{f}:{first}: {name}() has {last - first + 1} lines, {FUNCTION_LINES} at most"


def tool(name, *args):
    """Runs a checker; its exit status and what it said."""
    if not shutil.which(name):
        raise Skip(f"{name} is not installed: scripts/deps install lint")

    def run(*words):
        done = subprocess.run([name, *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              check=False)
        return done.returncode, done.stdout.decode("utf-8", "replace")

    found = re.search(r"(?:version:? )?(\d+\.\d+[.\d]*)", run("--version")[1])
    if not found or not found.group(1).startswith(JUDGES[name]):
        raise Skip(f"{name} {JUDGES[name]}x is the judge, here is {found and found.group(1)}")
    return run(*args)


def formatted(tree):
    files = [f for f in tree.files if f.endswith(C)]
    if files:
        _, said = tool("clang-format", "--dry-run", *[tree.path(f) for f in files])
        for m in re.finditer(r"^(.*?):(\d+):\d+: warning: code should", said, re.M):
            yield f"{os.path.relpath(m.group(1), tree.root)}:{m.group(2)}: clang-format -i changes it"


def spelling(tree):
    files = [f for f in tree.files if tree.text(f) and not f.startswith(("captures/", "tests/data/"))]
    if not files:
        return
    config = tree.path(".codespellrc")
    args = ["--config", config] if os.path.exists(config) else []
    status, said = tool("codespell", *args, *[tree.path(f) for f in files])
    if status:
        yield from (os.path.relpath(line, tree.root) for line in said.splitlines() if "==>" in line)


def shell(tree):
    files = sorted(set(tree.scripts("sh", "bash") + [f for f in tree.files if f.endswith(".sh")]))
    if files:
        # SC2317 takes a function that only a trap calls for unreachable
        status, said = tool("shellcheck", "-f", "gcc", "-e", "SC2317", *[tree.path(f) for f in files])
        if status:
            yield from (os.path.relpath(line, tree.root) for line in said.splitlines())


# --- nothing is forgotten, nothing is promised -----------------------------------------------

def every_test_is_listed(tree):
    listing = "\n".join(tree.text(f) for f in tree.files
                        if f.endswith("meson.build") and f.startswith(("tests/", "pmd/")))
    for f in tree.files:
        m = re.match(r"tests/(?:.*/)?((?:test_|fuzz_)(\w+)\.(c|py|sh))$", f)
        if not m:
            continue
        folder = f.split("/")[-2]
        row = rf"\[\s*'{folder}',\s*'{m.group(2)}'"
        if m.group(1) not in listing and not re.search(row, listing):
            yield f"{f}:1: no meson.build runs it"


def docs_name_what_exists(tree):
    """Relative links, and paths in backquotes below folders of the project."""
    folders = "scripts|docs|scenarios|captures|emu|tests|pmd|\\.ci"
    for f in tree.below("", ends=(".md",)):
        for n, line in tree.lines(f):
            names = [(m, os.path.dirname(f)) for m in re.findall(r"\]\(([^)#\s]+)[^)]*\)", line)
                     if "://" not in m and not m.startswith("mailto:")]
            names += [(m, "") for m in re.findall(rf"`(?:\./)?((?:{folders})/[\w./-]*)`", line)]
            for name, base in names:
                if not os.path.exists(tree.path(os.path.join(base, name))):
                    yield f"{f}:{n}: '{name}' does not exist"


def model_has_one_row_each(tree):
    """Two rows of one feature in one place of the code are bound to contradict each other."""
    seen = {}
    for n, line in tree.lines("docs/MODEL.md") if "docs/MODEL.md" in tree.files else []:
        row = tuple(c.strip() for c in line.split("|")[1:3])
        if len(row) < 2 or "`" not in row[1]:
            continue
        if row in seen:
            yield f"docs/MODEL.md:{n}: '{row[0]}' has a row already, in line {seen[row]}"
        seen.setdefault(row, n)


RULES = [
    include_order, no_dpdk_in_pure_code, clock_has_one_home, environment_has_one_home,
    no_allocation_in_pure_code, no_globals, no_struct_typedef, no_promises, no_machine_paths,
    no_registry_hosts, spdx, file_begins_with_its_subject, short_functions, formatted, spelling,
    shell, every_test_is_listed, docs_name_what_exists, model_has_one_row_each,
]
