"""The first process of a sealed place: ``python inside.py PLACE COMMAND...``, from within it.

Standard library alone, Linux alone. It sets limits, gives up its user, its capabilities and the
system calls that no answer needs, starts the command, and buries what that leaves behind. Whatever
the command does, the place ends with this process: nothing inside can stop or reach into it.
Seccomp filters are described in seccomp(2), capabilities in capabilities(7).
"""

from __future__ import annotations

import ctypes
import errno
import json
import os
import platform
import resource
import signal
import struct
import sys
from pathlib import Path
from typing import Any

NEWUSER = 0x10000000
SET_PDEATHSIG, SET_DUMPABLE, SET_NO_NEW_PRIVS, SET_SECUREBITS, SET_SECCOMP = 1, 4, 38, 28, 22
FILTER = 2
NO_ROOT = 0x3F  # no capabilities come back with a user id or an exec
CAPSET = {"x86_64": 126, "aarch64": 91}
ARCHITECTURE = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
X32 = 0x40000000  # the calls of another ABI of the same processor
CLONE = {"x86_64": 56, "aarch64": 220}
CLONE3 = 435
# Namespaces and mounts would give room that is not counted; the others are doors to the kernel.
REFUSED = {
    "x86_64": {
        "ptrace": 101, "pivot_root": 155, "mount": 165, "umount2": 166, "add_key": 248,
        "request_key": 249, "keyctl": 250, "unshare": 272, "perf_event_open": 298, "setns": 308,
        "process_vm_readv": 310, "process_vm_writev": 311, "memfd_create": 319, "bpf": 321,
        "userfaultfd": 323,
    },
    "aarch64": {
        "ptrace": 117, "pivot_root": 41, "mount": 40, "umount2": 39, "add_key": 217,
        "request_key": 218, "keyctl": 219, "unshare": 97, "perf_event_open": 241, "setns": 268,
        "process_vm_readv": 270, "process_vm_writev": 271, "memfd_create": 279, "bpf": 280,
        "userfaultfd": 282,
    },
}  # fmt: skip
REFUSED_EVERYWHERE = {
    "io_uring_setup": 425, "open_tree": 428, "move_mount": 429, "fsopen": 430, "fsmount": 432,
    "mount_setattr": 442, "memfd_secret": 447,
}  # fmt: skip
LOAD, EQUAL, AT_LEAST, ANY_BIT, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
NUMBER, WHICH, FIRST_ARGUMENT = 0, 4, 16  # where they lie in what a filter looks at
ALLOW, ERROR = 0x7FFF0000, 0x00050000

libc = ctypes.CDLL(None, use_errno=True)


def main(place_file: str, command: list[str]) -> int:
    """Become harmless, run the command, and end as it ends."""
    place = json.loads(Path(place_file).read_text(encoding="utf-8"))
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the whole group gets it; it is the command's
    for name, value in place["limits"].items():
        _limit(getattr(resource, name), value)
    give_up_power(place["uid"])
    prctl(SET_DUMPABLE, 0)  # the command is the same user's: it may not reach in
    prctl(SET_PDEATHSIG, signal.SIGKILL)
    refuse_calls()
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.chdir(place["folders"][0])
        os.execve(command[0], command, place["environment"])
    while True:
        ended, status = os.wait()
        if ended == child:
            return os.waitstatus_to_exitcode(status) & 0xFF


def give_up_power(uid: int) -> None:
    """Become a user without a name and without capabilities; who is not root is one already."""
    if os.getuid() == 0:
        prctl(SET_SECUREBITS, NO_ROOT)
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    if libc.syscall(_known(CAPSET), header, (ctypes.c_uint32 * 6)()) != 0:
        raise OSError(ctypes.get_errno(), "capset")
    prctl(SET_NO_NEW_PRIVS, 1)


def refuse_calls() -> None:
    """Refuse system calls from here on, for this process and all that it starts."""
    program = b"".join(struct.pack("HBBI", *step) for step in filter_steps(platform.machine()))
    buffer = ctypes.create_string_buffer(program, len(program))
    about = struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(buffer))
    prctl(SET_SECCOMP, FILTER, ctypes.c_char_p(about))


def filter_steps(machine: str) -> list[tuple[int, int, int, int]]:
    """Write the filter: (code, steps to skip if so, steps to skip if not, constant)."""
    refused = [*_known(REFUSED, machine).values(), *REFUSED_EVERYWHERE.values()]
    refuse = (RETURN, 0, 0, ERROR | errno.EPERM)
    steps = [(LOAD, 0, 0, WHICH), (EQUAL, 1, 0, ARCHITECTURE[machine]), refuse]
    steps += [(LOAD, 0, 0, NUMBER), (AT_LEAST, 0, 1, X32), refuse]
    for number in refused:
        steps += [(EQUAL, 0, 1, number), refuse]
    # the flags of clone3 lie where no filter can look; without it, clone is called
    steps += [(EQUAL, 0, 1, CLONE3), (RETURN, 0, 0, ERROR | errno.ENOSYS)]
    steps += [(EQUAL, 0, 3, CLONE[machine]), (LOAD, 0, 0, FIRST_ARGUMENT)]
    return [*steps, (ANY_BIT, 0, 1, NEWUSER), refuse, (RETURN, 0, 0, ALLOW)]


def prctl(option: int, *arguments: Any) -> None:
    """Call prctl(2); raises ``OSError``."""
    values = [one if isinstance(one, ctypes.c_char_p) else ctypes.c_ulong(one) for one in arguments]
    values += [ctypes.c_ulong(0)] * (4 - len(values))
    if libc.prctl(option, *values) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"prctl {option}: {os.strerror(number)}")


def _limit(kind: int, value: int) -> None:
    hard = resource.getrlimit(kind)[1]
    value = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(kind, (value, value))


def _known(numbers: dict[str, Any], machine: str = "") -> Any:
    machine = machine or platform.machine()
    if machine not in numbers:
        raise OSError(0, f"sealing is not written for {machine}")
    return numbers[machine]


if __name__ == "__main__":
    try:
        code = main(sys.argv[1], sys.argv[2:])
    except BaseException as error:
        print(f"cannot seal: {type(error).__name__}: {error}", file=sys.stderr, flush=True)
        code = 125
    os._exit(code)
