import type { TestApp } from '../../testing/app.ts';
import type { Person } from '../../testing/person.ts';
import { aProjectWith, type CodeProject } from './aRepository.ts';

const PNG = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex');
const POINTER = `version https://git-lfs.github.com/spec/v1\noid sha256:${'a'.repeat(64)}\nsize 12345\n`;
const MODULES = '[submodule "lib"]\n\tpath = vendor/lib\n\turl = https://git.example/lib.git\n';

/** A project with a file of each kind, a second author, a branch, a merge, a move and a tag. */
export const aProjectToRead = (app: TestApp, owner: Person): Promise<CodeProject> =>
  aProjectWith(
    app,
    owner,
    'reading',
    [
      {
        message: 'Begin\n\nWith a body\nof two lines.',
        files: {
          'README.md': '# Hello\n',
          'src/main.py': 'import os\nprint("hello")\n',
          'src/deep/a.txt': 'one\ntwo\nthree\n',
          'image.png': PNG,
          'model.bin': POINTER,
          'data.bin': Buffer.from([1, 0, 2]),
          'big.txt': 'x'.repeat(1024 * 1024 + 1),
          link: { mode: '120000', content: '../../etc/passwd' },
          '.gitmodules': MODULES,
          'vendor/lib': { mode: '160000', content: '1'.repeat(40) },
          'utf16.txt': Buffer.from('\ufeffhällo\n', 'utf16le'),
          'latin1.txt': Buffer.from('caf\xe9\n', 'latin1'),
        },
      },
      {
        message: 'Change one file',
        author: 'Bob',
        email: 'bob@example.com',
        files: { 'src/main.py': 'import os\nprint("bye")\n' },
      },
      { message: 'On a branch', branch: 'topic/x', files: { 'src/deep/a.txt': 'one\n2\nthree\n' } },
      {
        message: 'Move and remove',
        branch: 'main',
        files: { 'src/deep/a.txt': null, 'src/moved.txt': 'one\ntwo\nthree\n' },
      },
      { message: 'Merge the branch', branch: 'main', parents: [3, 2], files: { 'src/moved.txt': 'one\n2\nthree\n' } },
      { message: 'Only blanks', branch: 'main', files: { 'src/main.py': 'import  os\nprint("bye")\n' } },
    ],
    { tags: { 'v1.0': 1 } },
  );
