import { expect, it } from 'vitest';
import { commitTar } from './testing/commitTar.ts';
import { startTaskRuns } from './testing/taskRuns.ts';

const { run, settled, text, wish } = startTaskRuns();

const latin1 = (name: string): Buffer => Buffer.from(name, 'latin1');
const NAMES = [
  latin1('caf\xe9'),
  latin1('caf\xe8'),
  Buffer.from('caf\ufffd'),
  Buffer.from('café'),
  Buffer.from('cafe\u0301'),
  Buffer.from([0xc0, 0xae]),
  Buffer.from([0xed, 0xa0, 0xbd]),
  Buffer.from([0x83, 0x65, 0x83, 0x58, 0x5c]),
  Buffer.from('back\\slash'),
  Buffer.from('line\nend\n'),
  Buffer.from('return\r'),
  latin1('\xff\n'),
  Buffer.from('space '),
  Buffer.from('-rf'),
  Buffer.from('"quoted"'),
  Buffer.from('a%2Fb#?'),
  Buffer.alloc(255, 'n'),
  Buffer.alloc(255, 0xe9),
];
const FOLDER = latin1(`dossier \xe0 ${'\xe9'.repeat(120)}`);

it('has its files under the names that the commit has, byte for byte', async () => {
  const files = NAMES.map((name, n) => ({ name, content: `content ${n}` }));
  const link = { name: latin1('to \xe9'), content: latin1('caf\xe9'), isLink: true };
  const hex = '/bin/busybox od -An -v -tx1 | tr -d " \\n"';
  const { id, target, store } = run(
    [
      `cd dossier*; for f in *; do printf %s "$f" | ${hex}; printf " "; cat "./$f"; echo; done > /workspace/out/names;`,
      `for d in ../dossier*; do printf %s "$d" | ${hex}; done > /workspace/out/folder`,
    ].join(' '),
    { source: commitTar([...files, link], FOLDER) },
  );
  await wish(target);
  expect(await settled(id)).toMatchObject({ exitCode: 0 });
  const expected = [
    ...files.map(({ name, content }) => `${name.toString('hex')} ${content}`),
    `${link.name.toString('hex')} content 0`,
  ];
  expect(text(store, 'names')!.trim().split('\n').sort()).toEqual(expected.sort());
  expect(text(store, 'folder')).toBe(`2e2e2f${FOLDER.toString('hex')}`);
  console.log(`names of files of a task: n = ${NAMES.length}`);
});
