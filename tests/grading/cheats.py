"""Answers that try to earn points without being right, for `test_sealed_cheats.py`.

Each is put before a wrong answer, or in its place. Those that look for the solution use it when they
find it, so that a leak shows as points.
"""

from __future__ import annotations

from collections.abc import Callable

from .submissions import LESSON_00, ROOT, WRONG, answered, cell, released, text

Maker = Callable[[], bytes]

REFERENCE = "".join(cell(released(), "ex00-last-graded")["outputs"][0]["text"])
# Written so that the needle itself does not stand in the cheat's own text.
USE = """
NEEDLE = bytes(reversed(b"]:wodniw-[snekot nruter"))
def use(data):
    data = data if isinstance(data, bytes) else str(data).encode()
    if NEEDLE in data:
        get_ipython().events.register("pre_run_cell", lambda *_: exec(
            "def last(tokens, window):\\n    return tokens[len(tokens) - min(window, len(tokens)):]",
            get_ipython().user_ns))
def use_file(path):
    try:
        with open(path, "rb") as file:
            use(file.read(5_000_000))
    except OSError:
        pass
def attempt(function, *arguments):
    try:
        return function(*arguments)
    except BaseException:
        return None
"""


def before(source: str) -> Maker:
    """The cheat, and then the wrong answer. A cell magic must stand first."""
    known = "" if source.startswith("%%") else f"TEXT = {REFERENCE!r}\n"
    return lambda: text(answered(f"{known}{source}\n{WRONG}"))


def instead(source: str) -> Maker:
    """The cheat in the answer's place."""
    return lambda: text(answered(f"TEXT = {REFERENCE!r}\n{source}"))


def looking(source: str) -> Maker:
    """A cheat that looks for the solution, behind a wrong answer."""
    return lambda: text(answered(f"{WRONG}\n{USE}\n{source}"))


SOLUTION = ROOT / "solutions" / f"{LESSON_00}.ipynb"
PLACES = [
    SOLUTION,
    ROOT / "ringkv_edu/checks/lesson_00.py",
    ROOT / "tests/styles/ex00-last--index.py",
    ROOT / "course/lessons/00_start_here.py",
    ROOT / "ringkv_edu/release/00_start_here.ipynb",
    ROOT / "README.md",
]
CALM = "import os, sys, json, threading, time, ctypes, subprocess, signal, glob\n"

READING = {
    "reads-the-solution": f"for path in {[str(p) for p in PLACES]!r}: use_file(path)",
    "reads-through-proc": (
        "import glob\n"
        "for root in glob.glob('/proc/*/root') + glob.glob('/proc/*/cwd'):\n"
        f"    for path in {[str(p) for p in PLACES]!r}: use_file(root + path)"
    ),
    "walks-the-disk": (
        "import os\n"
        "for folder, folders, files in os.walk('/'):\n"
        "    folders[:] = [f for f in folders if folder + f not in ('/proc', '/sys')"
        " and f not in ('torch', 'numpy', 'transformers', 'mlx', 'node_modules', 'include')]\n"
        "    for name in files:\n"
        "        if 'start_here' in name or 'lesson_00' in name or 'ex00' in name or 'oracle' in name:\n"
        "            use_file(os.path.join(folder, name))"
    ),
    "reads-other-processes": (
        "import glob, os\n"
        "for path in glob.glob('/proc/[0-9]*/*') + glob.glob('/proc/[0-9]*/task/*/*'):\n"
        "    if path.rsplit('/', 1)[1] in ('environ', 'cmdline', 'maps', 'stack'):\n"
        "        use_file(path)\n"
        "    if path.endswith('environ') and b'RINGKV_SEALED' in (attempt(lambda: open(path, 'rb').read()) or b''):\n"
        "        use(NEEDLE)"
    ),
    "reads-other-descriptors": (
        "import glob, os\n"
        "for path in glob.glob('/proc/[0-9]*/fd/*'):\n"
        "    if os.path.isfile(path): use_file(path)"
    ),
    "reads-other-memory": (
        "import glob, os, ctypes\n"
        "libc = ctypes.CDLL(None, use_errno=True)\n"
        "for folder in glob.glob('/proc/[0-9]*'):\n"
        "    pid = int(folder.rsplit('/', 1)[1])\n"
        "    if pid == os.getpid(): continue\n"
        "    libc.ptrace(16, pid, None, None)\n"
        "    for line in (attempt(lambda: open(folder + '/maps').readlines()) or [])[:200]:\n"
        "        start, end = (int(x, 16) for x in line.split()[0].split('-'))\n"
        "        def read():\n"
        "            with open(folder + '/mem', 'rb') as file:\n"
        "                file.seek(start)\n"
        "                return file.read(min(end - start, 1 << 22))\n"
        "        use(attempt(read) or b'')"
    ),
    "reads-the-environment": (
        "import os\n"
        "for name, value in os.environ.items():\n"
        "    if name.startswith('RINGKV') or 'KEY' in name: use(NEEDLE)\n"
        "    use(value)"
    ),
    "imports-the-checks": (
        "import importlib, sys\n"
        "for name in ('checks', 'checks.lesson_00', 'grading', 'pure', 'build', 'cohort', 'cli'):\n"
        "    module = attempt(importlib.import_module, '.'.join(['ringkv' + '_edu', name]))\n"
        "    if module is not None:\n"
        "        use(NEEDLE)"
    ),
    "imports-from-the-checkout": (
        "import importlib, sys\n"
        f"sys.path[:0] = [{str(ROOT)!r}, '/course/..']\n"
        "for name in [m for m in sys.modules if m.startswith('ringkv')]: del sys.modules[name]\n"
        "module = attempt(importlib.import_module, 'ringkv' + '_edu.checks.lesson_00')\n"
        "if module is not None: use(NEEDLE)"
    ),
    "stretches-the-package": (
        "import importlib, ringkv_edu, glob, sys\n"
        f"ringkv_edu.__path__ = [*ringkv_edu.__path__, {str(ROOT / 'ringkv_edu')!r},\n"
        "    *glob.glob(sys.prefix + '/lib/python*/site-packages/ringkv_edu')]\n"
        "module = attempt(importlib.import_module, 'ringkv' + '_edu.checks.lesson_00')\n"
        "if module is not None: use(NEEDLE)"
    ),
    "imports-compiled-files": (
        "import glob, sys, zipimport, importlib.machinery as m\n"
        "found = glob.glob('/**/ringkv*/**/*.pyc', recursive=True) if False else []\n"
        "for top in {*sys.path, sys.prefix, sys.base_prefix, '/root', '/home', '/usr/local', '/opt'}:\n"
        "    found += glob.glob(top + '/ringkv*/**/lesson_00*', recursive=True)\n"
        "    found += glob.glob(top + '/.cache/pip/**/*ringkv*', recursive=True)\n"
        "for path in found:\n"
        "    use(NEEDLE)\n"
        "for path in glob.glob('/**/ringkv*.whl') + glob.glob('/tmp/*.whl'):\n"
        "    attempt(zipimport.zipimporter, path)"
    ),
    "downloads": (
        "import socket, subprocess, sys, urllib.request\n"
        "socket.setdefaulttimeout(2)\n"
        "for url in ('https://pypi.org/simple/', 'http://127.0.0.1:8888/', 'http://169.254.169.254/'):\n"
        "    if attempt(urllib.request.urlopen, url) is not None: use(NEEDLE)\n"
        "for where in (('127.0.0.1', 22), ('::1', 22), ('1.1.1.1', 53)):\n"
        "    if attempt(socket.create_connection, where) is not None: use(NEEDLE)\n"
        "done = attempt(subprocess.run, [sys.executable, '-m', 'pip', 'download', '--retries', '0',\n"
        "               '--no-deps', 'ringkv-edu'])\n"
        "if done is not None and done.returncode == 0: use(NEEDLE)"
    ),
    "finds-sockets-of-the-grader": (
        "import glob, os, socket, stat\n"
        "paths = glob.glob('/tmp/**/*', recursive=True) + glob.glob('/run/**/*', recursive=True)\n"
        "for path in paths + ['/var/run/docker.sock']:\n"
        "    if os.path.exists(path) and stat.S_ISSOCK(os.stat(path).st_mode) and '/run/kernel/' not in path:\n"
        "        use(NEEDLE)\n"
        "    if path.endswith('.ipynb') or 'oracle' in path: use_file(path)\n"
        "for line in open('/proc/net/unix'):\n"
        "    if '@' in line: use(NEEDLE)"
    ),
    "shell-cat": f"out = !cat {' '.join(str(p) for p in PLACES)}\nuse(chr(10).join(out))",
    "sees-the-root": f"import os\nif os.path.exists({str(ROOT / 'solutions')!r}) or os.path.exists('/home'): use(NEEDLE)",
}  # fmt: skip

POWER = {
    "becomes-root": (
        "import ctypes, os, subprocess\n"
        "libc = ctypes.CDLL(None, use_errno=True)\n"
        "for number in (0, 1000):\n"
        "    attempt(os.setuid, number); attempt(os.setresuid, number, number, number)\n"
        "for command in (['sudo', '-n', 'id'], ['su', '-c', 'id'], ['mount', '-t', 'tmpfs', 'x', '/mnt'],\n"
        "                ['unshare', '-Urm', 'true'], ['bwrap', '--bind', '/', '/', 'true']):\n"
        "    done = attempt(lambda: subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=5))\n"
        "    if done is not None and done.returncode == 0: use(NEEDLE)\n"
        "if os.getuid() == 0: use(NEEDLE)"
    ),
    "new-namespaces": (
        "import ctypes, os\n"
        "libc = ctypes.CDLL(None, use_errno=True)\n"
        "for flag in (0x10000000, 0x00020000, 0x20000000, 0x40000000, 0x10020000):\n"
        "    if libc.unshare(flag) == 0: use(NEEDLE)\n"
        "for pid in range(1, 5):\n"
        "    for kind in ('mnt', 'user', 'pid', 'net'):\n"
        "        fd = attempt(os.open, f'/proc/{pid}/ns/{kind}', os.O_RDONLY)\n"
        "        if fd is not None and libc.setns(fd, 0) == 0: use(NEEDLE)\n"
        "if libc.mount(b'none', b'/tmp/x', b'tmpfs', 0, None) == 0: use(NEEDLE)"
    ),
    "makes-a-device": (
        "import os, stat\n"
        "for number in ((254, 0), (8, 0), (253, 0), (1, 1)):\n"
        "    attempt(os.mknod, '/tmp/disk', 0o666 | stat.S_IFBLK, os.makedev(*number))\n"
        "    if attempt(open, '/tmp/disk', 'rb') is not None: use(NEEDLE)\n"
        "if attempt(os.chroot, '/tmp') is not None or attempt(open, '/dev/mem', 'rb'): use(NEEDLE)"
    ),
    "signals-the-grader": (
        "import os, signal\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "for pid in (os.getppid(), 1, 0, *range(2, 300)):\n"
        "    if pid not in (0, os.getpid()):\n"
        "        attempt(os.kill, pid, signal.SIGTERM)\n"
        "        if attempt(os.sched_setaffinity, pid, {0}) is None: continue"
    ),
    "inherited-descriptors": (
        "import os\n"
        "for number in range(3, 512):\n"
        "    try: target = os.readlink(f'/proc/self/fd/{number}')\n"
        "    except OSError: continue\n"
        f"    if {str(ROOT)!r} in target or 'pytest' in target: use(NEEDLE)"
    ),
}  # fmt: skip

LEAVES = """
import os
for folder in ("/tmp", "/tmp/answers", "/tmp/home", "/dev/shm", "/run/kernel", "/var/tmp", "/course", ".", "/"):
    try:
        with open(os.path.join(folder, "for-a-friend"), "w") as file:
            file.write("def last(tokens, window):\\n    return tokens[-window:]\\n")
    except OSError:
        pass
def last(tokens, window):
    return tokens[-window:]
"""
FINDS = """
import glob
for folder in ("/tmp/home", "/dev", "/run", "/var", "/course", "."):
    for path in glob.glob(folder + "/**/for-a-friend", recursive=True):
        use_file(path)
for path in ("/for-a-friend", "/tmp/for-a-friend"):
    use_file(path)
"""
CUSTOMIZE = """
import os, site, sys
text = 'import builtins; builtins.print = lambda *a, **k: None'
for folder in (".", os.path.expanduser("~"), "/course", "/course/ringkv_edu", *sys.path, *site.getsitepackages()):
    for name in ("sitecustomize.py", "usercustomize.py", "graded.py", "x.pth"):
        try:
            os.makedirs(folder, exist_ok=True)
            with open(os.path.join(folder, name), "a") as file:
                file.write(text)
        except OSError:
            pass
"""

# What the graded cell says is in an answer's hands; what it should say is not.
SAYING = {
    "prints-the-released-text": "print(TEXT, end='')\ndef last(tokens, window): return []",
    "prints-it-when-called": (
        "import builtins\n"
        "lines = iter(TEXT.splitlines())\n"
        "def last(tokens, window):\n"
        "    global print\n"
        "    def print(*a, **k): builtins.print(next(lines, ''))\n"
        "    return []"
    ),
    "prints-candidates": (
        "def last(tokens, window):\n"
        "    for i in range(len(tokens)):\n"
        "        for j in range(i, len(tokens) + 1):\n"
        "            print(tokens, 'window', window, '->', tokens[i:j])\n"
        "    return []"
    ),
    "prints-fixed-lines-alone": (
        "import builtins\n"
        "def last(tokens, window):\n"
        "    global print\n"
        "    def print(*a, **k):\n"
        "        builtins.print(*(a if 'afterwards' in str(a[0]) else ['']), **k)\n"
        "    return None"
    ),
    "swallows-what-is-wrong": (
        "import builtins\n"
        "real = print\n"
        "builtins.print = lambda *a, **k: real(*a) if 'afterwards' in str(a[0]) else None\n"
        "def last(tokens, window): return None"
    ),
    "patched-print": "import builtins\nreal = print\nbuiltins.print = lambda *a, **k: real(TEXT, end='')\n",
    "patched-plain": (
        "import ringkv_edu.graded as graded\n"
        "lines = iter(TEXT.splitlines() * 50)\n"
        "graded.plain = plain = lambda *a, **k: next(lines)"
    ),
    "patched-draw": (
        "import ringkv_edu.graded as graded\nreal = graded.draw\n"
        "graded.draw = draw = lambda seed, exercise: real(0, exercise)"
    ),
    "patched-module": (
        "import sys, types\nfake = types.ModuleType('ringkv_edu.graded')\n"
        "fake.draw = draw = lambda *a: __import__('random').Random(0)\n"
        "fake.plain = plain = fake.fixed = lambda *a, **k: ''\nsys.modules['ringkv_edu.graded'] = fake"
    ),
    "patched-random": (
        "import random\nrandom.Random.randrange = lambda self, *a: 3\nrandom.Random.choice = lambda s, x: x[0]"
    ),
    "patched-numpy-and-json": (
        "import json, numpy as np\njson.dumps = json.loads = lambda *a, **k: True\n"
        "np.allclose = np.array_equal = lambda *a, **k: True"
    ),
    "patched-checker": (
        "import ringkv_edu.lesson as lesson\nlesson.check = check = lambda *a, **k: print('right, on all 17 cases.')\n"
        "import sys, types\nsys.modules['ringkv_edu.checks'] = types.ModuleType('checks')"
    ),
    "patched-open-and-import": (
        "import builtins\nbuiltins.__import__ = lambda *a, **k: __import__('os')\nbuiltins.open = lambda *a, **k: None"
    ),
    "always-equal": (
        "class Always(list):\n"
        "    __eq__ = lambda s, o: True\n    __ne__ = lambda s, o: False\n    __hash__ = lambda s: 0\n"
        "    __array__ = lambda s, *a, **k: s\n    __format__ = __repr__ = __str__ = lambda s, *a: '[22]'\n"
        "    __iter__ = lambda s: iter([22])\n"
        "def last(tokens, window): return Always()"
    ),
    "tells-plain-what-to-print": (
        "class Text(str):\n    __repr__ = lambda s: str(s)\n"
        "lines = iter(TEXT.splitlines())\n"
        "def last(tokens, window): return Text(next(lines, '').split('-> ')[-1])"
    ),
    "a-tolist-that-prints": (
        "class Array:\n"
        "    def tolist(self): print(TEXT, end=''); return []\n"
        "def last(tokens, window): return Array()"
    ),
    "changes-the-list": "def last(tokens, window):\n    tokens.clear()\n    return tokens",
    "reads-the-frame": (
        "import sys\n"
        "def last(tokens, window):\n"
        "    frame = sys._getframe(1)\n"
        "    frame.f_locals.update(tokens=[], window=0)\n"
        "    if frame.f_locals.get('SEED') == 0: print(TEXT)\n"
        "    return list(frame.f_locals.values())[-1]"
    ),
    "traces-the-frame": (
        "import sys\n"
        "def tracer(frame, event, argument):\n"
        "    if frame.f_code.co_name == '_graded': frame.f_locals['window'] = 0\n"
        "    return tracer\n"
        "sys.settrace(tracer)"
    ),
    "carriage-returns": (
        "def last(tokens, window):\n    print('wrong', end='\\r')\n    return tokens[:window]"
    ),
    "clears-output": (
        "from IPython.display import clear_output, display, update_display\n"
        "def last(tokens, window):\n"
        "    clear_output(); display(tokens, display_id='a'); update_display('b', display_id='a')\n"
        "    return tokens[:window]"
    ),
    "prints-at-exit": "import atexit\natexit.register(print, TEXT)",
    "prints-when-collected": (
        "class Late:\n    def __del__(self): print(TEXT)\nlate = [Late() for _ in range(3)]\n"
        "def last(tokens, window):\n    late.clear()\n    return tokens[:window]"
    ),
    "prints-from-a-thread": (
        "import threading, time\n"
        "def work():\n    while True:\n        time.sleep(.01)\n"
        "        print(TEXT, end='', flush=True)\n"
        "threading.Thread(target=work, daemon=True).start()"
    ),
    "prints-from-a-child": (
        "import os, time\n"
        "if os.fork() == 0:\n"
        "    for _ in range(50):\n"
        "        time.sleep(.05); print(TEXT, end='', flush=True); os.write(1, TEXT.encode())\n"
        "    os._exit(0)"
    ),
}  # fmt: skip

KERNEL = {
    "input-transformer": (
        "ip = get_ipython()\n"
        "swap = lambda lines: ['print(TEXT, end=\"\")\\n'] if 'SEED' in ''.join(lines) else lines\n"
        "ip.input_transformers_post.append(swap); ip.input_transformers_cleanup.append(swap)"
    ),
    "ast-transformer": (
        "import ast\n"
        "class Swap(ast.NodeTransformer):\n"
        "    def visit_Module(self, tree):\n"
        "        new = ast.parse('print(TEXT, end=\"\")')\n"
        "        return new if 'SEED' in ast.unparse(tree) else tree\n"
        "get_ipython().ast_transformers.append(Swap())"
    ),
    "removes-asserts": (
        "import ast\n"
        "class Remove(ast.NodeTransformer):\n"
        "    visit_Assert = visit_Raise = lambda self, node: ast.Pass()\n"
        "get_ipython().ast_transformers.append(Remove())"
    ),
    "pre-run-cell": (
        "ip = get_ipython()\n"
        "ip.events.register('pre_run_cell', lambda *a: print(TEXT, end=''))\n"
        "ip.events.register('post_run_cell', lambda *a: print(TEXT, end=''))"
    ),
    "hides-errors": (
        "from IPython.core.interactiveshell import InteractiveShell\n"
        "InteractiveShell.showtraceback = lambda *a, **k: None\n"
        "print(TEXT, end='')\n"
        "def last(tokens, window): 1 / 0"
    ),
    "runs-another-cell": (
        "ip = get_ipython()\nreal = ip.run_cell\n"
        "def run(source, *a, **k):\n"
        "    return real('print(TEXT, end=\"\")' if 'SEED' in source else source, *a, **k)\n"
        "ip.run_cell = run\nip.should_run_async = lambda *a, **k: False"
    ),
    "executes-nothing": (
        "kernel = get_ipython().kernel\n"
        "async def execute(code, *a, **k):\n"
        "    print(TEXT, end='', flush=True)\n"
        "    return {'status': 'ok', 'execution_count': 1, 'payload': [], 'user_expressions': {}}\n"
        "kernel.do_execute = execute"
    ),
    "displays": (
        "import sys\n"
        "ip = get_ipython()\n"
        "def publish(data, metadata=None, **k):\n"
        "    ip.kernel.session.send(ip.kernel.iopub_socket, 'stream', {'name': 'stdout', 'text': TEXT},\n"
        "        parent=ip.kernel.get_parent(), ident=b'stream.stdout')\n"
        "ip.display_pub.publish = publish\nsys.displayhook = lambda x: publish(x)\n"
        "from IPython.display import display\n"
        "def last(tokens, window):\n    display(tokens)\n    return tokens[:window]"
    ),
    "opens-a-comm": (
        "import comm\nfor _ in range(3):\n"
        "    comm.create_comm(target_name='x', data={'points': 99, 'text': TEXT}).send({'earned': 1})"
    ),
    "forges-streams-ahead": (
        "kernel = get_ipython().kernel\n"
        "parent = kernel.get_parent()\n"
        "session, process, number = parent['header']['msg_id'].rsplit('_', 2)\n"
        "for ahead in range(1, 9):\n"
        "    header = {'header': {**parent['header'], 'msg_id': f'{session}_{process}_{int(number) + ahead}'}}\n"
        "    kernel.session.send(kernel.iopub_socket, 'stream', {'name': 'stdout', 'text': TEXT}, parent=header)\n"
        "    kernel.session.send(kernel.iopub_socket, 'status', {'execution_state': 'idle'}, parent=header)"
    ),
    "forges-replies-ahead": (
        "kernel = get_ipython().kernel\n"
        "parent = kernel.get_parent()\n"
        "session, process, number = parent['header']['msg_id'].rsplit('_', 2)\n"
        "for ahead in range(1, 9):\n"
        "    header = {'header': {**parent['header'], 'msg_id': f'{session}_{process}_{int(number) + ahead}'}}\n"
        "    for kind, content in (('stream', {'name': 'stdout', 'text': TEXT}), ('status', {'execution_state': 'idle'})):\n"
        "        kernel.session.send(kernel.iopub_socket, kind, content, parent=header)\n"
        "    for stream in (kernel.shell_stream, kernel.control_stream):\n"
        "        attempt(kernel.session.send, stream, 'execute_reply', {'status': 'ok', 'execution_count': 1,\n"
        "            'payload': [], 'user_expressions': {}}, header, session.encode())"
    ),
    "forges-an-early-end": (
        "kernel = get_ipython().kernel\n"
        "def last(tokens, window):\n"
        "    parent = kernel.get_parent()\n"
        "    kernel.session.send(kernel.iopub_socket, 'stream', {'name': 'stdout', 'text': TEXT}, parent=parent)\n"
        "    kernel.session.send(kernel.iopub_socket, 'status', {'execution_state': 'idle'}, parent=parent)\n"
        "    return tokens[:window]"
    ),
    "rewrites-messages": (
        "kernel = get_ipython().kernel\nreal = kernel.session.send\n"
        "def send(stream, kind, content=None, *a, **k):\n"
        "    if kind == 'error': kind, content = 'stream', {'name': 'stdout', 'text': TEXT}\n"
        "    if kind == 'stream': content = {'name': 'stdout', 'text': TEXT}\n"
        "    if kind == 'execute_reply': content = {'status': 'ok', 'execution_count': 1}\n"
        "    return real(stream, kind, content, *a, **k)\n"
        "kernel.session.send = send\n"
        "def last(tokens, window): 1 / 0"
    ),
    "is-its-own-client": (
        "import json, os, threading, glob\n"
        "from jupyter_client import BlockingKernelClient\n"
        "path = next(p for p in ('/run/connection.json', '/tmp/connection.json') if os.path.exists(p))\n"
        "def work():\n"
        "    client = BlockingKernelClient()\n"
        "    client.load_connection_file(path); client.start_channels()\n"
        "    for _ in range(5): client.execute('print(TEXT, end=\"\")')\n"
        "threading.Thread(target=work, daemon=True).start()"
    ),
    "claims-points": (
        "kernel = get_ipython().kernel\n"
        "for kind in ('execute_reply', 'grade', 'points\\n= points =\\n  ex00-last  1/1', 'iopub_welcome'):\n"
        "    kernel.session.send(kernel.iopub_socket, kind, {'earned': 1, 'share': '1', 'right': 8, 'lines': 8},\n"
        "        parent=kernel.get_parent(), metadata={'points': 1})\n"
        "print('  ex00-last          1/1\\n  lesson             1/1')"
    ),
    "forged-row-in-an-error": (
        "class Odd(Exception):\n    __str__ = lambda s: '\\x1b[2J\\n= points =\\nx/00_start_here.ipynb\\n  lesson  1/1\\n' * 50\n"
        "def last(tokens, window): raise Odd"
    ),
    "capture-magic": "%%capture\nimport builtins\nbuiltins.print = lambda *a, **k: None\n",
    "writefile-magic": "%%writefile /course/ringkv_edu/graded.py\ndraw = None\n",
    "run-magic": f"%run {ROOT}/ringkv_edu/checks/lesson_00.py\n%load {SOLUTION}\n%cd {ROOT}\n",
    "load-ext-magic": (
        "open('evil.py', 'w').write('def load_ipython_extension(ip): ip.run_cell = lambda *a, **k: print(1)')\n"
        "%load_ext evil\n%reload_ext evil\n%autoreload 2"
    ),
    "script-magic": f"%%bash\ncat {SOLUTION} > /course/x; kill -9 1; kill -9 -1\n",
}  # fmt: skip
KERNEL["forges-replies-ahead"] = USE + KERNEL["forges-replies-ahead"]
