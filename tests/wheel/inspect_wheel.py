#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""inspect_wheel.py WHEEL [--release]: fails unless the wheel holds what it should and nothing else.

Of any wheel: its files, its tag, that it depends on nothing, the symbols that the libraries export, and what they are
linked with. With --release also what only a wheel of ./dev dist has: its libraries fit manylinux_2_28 (auditwheel), are
stripped, hold no path to look for libraries in and none of this tree, and it has less than 8 MB.

Runs in the environment of python/requirements.txt. Prints one line for each finding, and exits with 1 if there is any.
"""
import io
import os
import re
import subprocess
import sys
import zipfile

from elftools.elf.elffile import ELFFile

TREE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PACKAGE = "onnxruntime_ep_leat"
SIZE_MAX = 8_000_000
GLIBC_MAX = (2, 28)
BATCH = ("cancel", "outputs", "queue_configure", "queue_create", "queue_destroy", "queue_shutdown", "queue_stats",
         "release", "run", "submit", "wait")
EXPORTS = {"libleat_vulkan.so": {"leat_backend_query"},
           "libleat_onnxruntime.so": {"CreateEpFactories", "ReleaseEpFactory"},
           "libleat_batch.so": {"leat_batch_" + name for name in BATCH}}
LINKED = re.compile(r"lib(c|m|pthread|dl)\.so\.\d+|ld-linux[a-z0-9_.-]*\.so\.\d+")


def expected_files(version):
    """Every Python file of the package in the tree, and what build.sh adds."""
    folder = os.path.join(TREE, "python", PACKAGE)
    names = {os.path.relpath(os.path.join(where, name), folder)
             for where, _, files in os.walk(folder) for name in files if name.endswith(".py")}
    names |= {"py.typed", "report.html", "_build.py", "digits.onnx", *EXPORTS}
    info = f"{PACKAGE}-{version}.dist-info/"
    return {f"{PACKAGE}/{name}" for name in names} | {info + name for name in (
        "METADATA", "RECORD", "WHEEL", "licenses/LICENSE")}


def library_findings(name, data, release):
    elf = ELFFile(io.BytesIO(data))
    exported = {symbol.name for symbol in elf.get_section_by_name(".dynsym").iter_symbols()
                if symbol["st_shndx"] != "SHN_UNDEF" and symbol["st_info"]["bind"] != "STB_LOCAL"}
    if exported != EXPORTS[name]:
        yield f"exports {sorted(exported)}"
    for tag in elf.get_section_by_name(".dynamic").iter_tags():
        if tag.entry.d_tag == "DT_NEEDED" and not LINKED.fullmatch(tag.needed):
            yield f"is linked with {tag.needed}"
        if release and tag.entry.d_tag in ("DT_RUNPATH", "DT_RPATH"):
            yield "has a path to look for libraries in"
    if not release:
        return
    if elf.get_section_by_name(".symtab"):
        yield "is not stripped"
    if TREE.encode() in data:
        yield f"holds the path {TREE}"
    asked = elf.get_section_by_name(".gnu.version_r")
    for version in asked.iter_versions() if asked else ():
        for entry in version[1]:
            number = re.fullmatch(r"GLIBC_(\d+)\.(\d+)(\.\d+)?", entry.name)
            if not number or (int(number[1]), int(number[2])) > GLIBC_MAX:
                yield f"asks for {entry.name}"


def findings(path, release):
    tag = re.fullmatch(rf"{PACKAGE}-([0-9.]+)-py3-none-(\w+)\.whl", os.path.basename(path))
    if not tag:
        yield "the file's name is not that of such a wheel"
        return
    platform = tag[2]
    if release and not re.fullmatch(r"manylinux_2_28_(x86_64|aarch64)", platform):
        yield f"the platform is {platform}"
    with zipfile.ZipFile(path) as wheel:
        names = set(wheel.namelist())
        for name in sorted(names ^ expected_files(tag[1])):
            yield f"{name} is {'not expected' if name in names else 'missing'}"
        metadata = wheel.read(f"{PACKAGE}-{tag[1]}.dist-info/METADATA").decode()
        for line in re.findall("^Requires-Dist: .*", metadata, re.M):
            if "extra ==" not in line:
                yield line
        described = wheel.read(f"{PACKAGE}-{tag[1]}.dist-info/WHEEL").decode()
        if f"Tag: py3-none-{platform}\n" not in described or "Root-Is-Purelib: false\n" not in described:
            yield "its WHEEL says " + described
        for name in EXPORTS:
            for finding in library_findings(name, wheel.read(f"{PACKAGE}/{name}"), release):
                yield f"{name} {finding}"
    if release and os.path.getsize(path) >= SIZE_MAX:
        yield f"it has {os.path.getsize(path)} bytes; {SIZE_MAX} are allowed"
    if release:
        told = subprocess.run([sys.executable, "-m", "auditwheel", "show", path], capture_output=True, text=True,
                              check=False)
        fits = re.search(r'platform tag:\s+"manylinux_2_(\d+)_', told.stdout)
        if told.returncode or not fits or int(fits[1]) > GLIBC_MAX[1]:
            yield "auditwheel says: " + " ".join((told.stdout + told.stderr).split())


def main():
    arguments = [argument for argument in sys.argv[1:] if argument != "--release"]
    if len(arguments) != 1:
        sys.exit(__doc__)
    found = list(findings(arguments[0], len(arguments) < len(sys.argv) - 1))
    for finding in found:
        print(f"{arguments[0]}: {finding}")
    print(f"{os.path.basename(arguments[0])}: {os.path.getsize(arguments[0]):,} bytes, {len(found)} findings")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
