# SPDX-License-Identifier: BSD-3-Clause
"""What the checks of this folder have in common: the list of files, and canaries.

A check is a function that takes a Tree and yields findings, one text each. A canary is a small tree with a seeded
defect and a part of the text that the check must find there, or None where it must find nothing. A check that is wrong
about one of its canaries fails, whatever it says of the real tree.
"""
import os
import re
import subprocess
import sys
import tempfile


class Tree:
    """The project's own files, by path relative to its root; not what git ignores, nor what was built."""

    def __init__(self, root):
        self.root = root
        self.files = sorted(self._list())
        self._texts = {}

    def _list(self):
        if os.path.exists(os.path.join(self.root, '.git')):
            listed = subprocess.run(
                ['git', '-C', self.root, 'ls-files', '-z', '--cached', '--others', '--exclude-standard'],
                check=False, capture_output=True)
            # Git refuses trees that belong to somebody else; then this is as good as an unpacked archive.
            if listed.returncode == 0:
                files = listed.stdout.decode().split('\0')
                return [f for f in files if f and os.path.isfile(os.path.join(self.root, f))]
        found = []
        for folder, folders, files in os.walk(self.root):
            folders[:] = [f for f in folders
                          if f not in ('.git', '__pycache__', 'env') and not f.startswith(('build', '.leat-'))]
            found += [os.path.relpath(os.path.join(folder, f), self.root) for f in files]
        return found

    def path(self, file):
        return os.path.join(self.root, file)

    def text(self, file):
        """Contents, with bytes that are no UTF-8 replaced; empty for binary files."""
        if file not in self._texts:
            with open(self.path(file), 'rb') as opened:
                data = opened.read()
            self._texts[file] = '' if b'\0' in data else data.decode('utf-8', 'replace')
        return self._texts[file]

    def lines(self, file):
        return self.text(file).splitlines()

    def matching(self, pattern):
        return [f for f in self.files if re.search(pattern, f)]


def strip_comments(text):
    """C without its comments; strings and line numbers stay as they are."""
    def blank(match):
        found = match.group(0)
        return found if found[0] in '"\'' else ' ' + '\n' * found.count('\n')
    return re.sub(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|/\*.*?\*/|//[^\n]*', blank, text, flags=re.S)


def _missed(check, canaries):
    for files, expected in canaries:
        with tempfile.TemporaryDirectory() as root:
            for file, text in files.items():
                path = os.path.join(root, file)
                os.makedirs(os.path.dirname(path), exist_ok=True)
                with open(path, 'w', encoding='utf-8') as opened:
                    opened.write(text)
            findings = list(check(Tree(root)))
            if expected is None and findings:
                yield f'{", ".join(files)}: "{findings[0]}", though there is nothing wrong'
            if expected is not None and not any(expected in f for f in findings):
                yield f'{", ".join(files)}: "{expected}" was not reported, but {findings}'


def main(check, canaries):
    """Runs a check over its canaries and over the tree that the command line names; never returns."""
    if len(sys.argv) != 2 or not os.path.isdir(sys.argv[1]):
        print(f'usage: {os.path.basename(sys.argv[0])} TREE', file=sys.stderr)
        sys.exit(2)
    missed = list(_missed(check, canaries))
    for text in missed:
        print('canary missed: ' + text)
    tree = Tree(sys.argv[1])
    findings = list(check(tree))
    for finding in findings:
        print(finding)
    print(f'{len(canaries)} canaries, {len(missed)} missed; {len(tree.files)} files, {len(findings)} findings')
    sys.exit(1 if missed or findings else 0)
