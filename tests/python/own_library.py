"""Libraries outside the tree: those of docs/examples, built against the library that this process has loaded."""
import os
import re
import shutil
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def build(example, folder, missing):
    """Compiles docs/examples/`example` into a shared library in `folder` and returns its path. The fixture `missing` reports missing requirements."""
    source, compiler = os.path.join(ROOT, 'docs', 'examples', example), shutil.which('c++')
    with open('/proc/self/maps', encoding='utf-8') as f:
        sindri = re.findall(r'(/\S*/libsindri\.so\S*)', f.read())
    if 'site-packages' in ''.join(sindri):
        missing('the wheel includes a C++ runtime, so an exception from an outside library would end the process: libraries are tested in the build tree')
    if compiler is None or not sindri or not os.path.exists(source):
        missing(f'compiler: {compiler}, shared library: {sindri}, example: {source}')
    path = os.path.join(folder, f'lib{os.path.splitext(os.path.basename(example))[0]}.so')
    subprocess.run([compiler, '-std=c++20', '-O1', '-Wall', '-Wextra', '-Werror', '-shared', '-fPIC', '-I', os.path.join(ROOT, 'include'), source, sindri[0],
                    '-o', path], check=True)
    return path
