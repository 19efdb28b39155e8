import { beforeAll, expect, it } from 'vitest';
import { container } from './testing/daemon.ts';
import { ensureTestImage } from './testing/image.ts';
import { ensureProgramImage } from './testing/programImage.ts';
import { startTaskRuns } from './testing/taskRuns.ts';

const { at, wish } = startTaskRuns();
let image: string;
beforeAll(async () => {
  await ensureTestImage();
  // Tells names and values in hexadecimal, with what the system passes to it.
  image = await ensureProgramImage({
    name: 'stagi-test-environment',
    programs: ['/usr/bin/perl'],
    scripts: { 'bin/tell': '#!/usr/bin/perl\nprint unpack("H*", "$_=$ENV{$_}"), "\\n" for keys %ENV;\n' },
  });
});

const NAMES = [
  'PLAIN',
  'a.b',
  'a-b',
  'path/to/x',
  '1ST',
  '42',
  'with space',
  'spring.datasource.url',
  'ConnectionStrings:Default',
  'x__y',
  '%PERCENT%',
  '@at',
  'a,b;c',
  '(paren)',
  'ключ',
  '名前',
  '🚀',
  '"quoted"',
  '$DOLLAR',
  'back\\slash',
  'two\nlines',
  'tab\tbed',
  '[bracket',
  '#hash',
  'x'.repeat(200),
];
const VALUE = ' a=b\n"c" $d \\ ';

it(`gives a container its variables byte for byte, whatever their names (n = ${NAMES.length})`, async () => {
  const env = NAMES.map((name, index) => ({ name, value: `${VALUE}${index}`, secret: index % 2 === 0 }));
  const id = 801;
  await wish(container(id, '', { spec: { image, command: ['tell'], env } }));
  await at.platform.until('its log has ended', () => at.platform.logs.of(id).ends > 0);
  const told = at.platform.logs.of(id).lines.map(({ text }) => Buffer.from(text, 'hex').toString());
  const mine = told.filter((line) => /^(?!PATH=|HOSTNAME=|HOME=)/.test(line));
  expect(mine.sort()).toEqual(env.map(({ name, value }) => `${name}=${value}`).sort());
  console.log(`n = ${NAMES.length} names`);
});

it('masks the values of secrets with such names', async () => {
  const env = [
    { name: 'api.key one', value: 'canary-secret-1', secret: true },
    { name: 'one', value: 'canary-plain-2' },
    { name: '[key]', value: 'canary-secret-3', secret: true },
  ];
  const id = 802;
  await wish(container(id, 'echo canary-secret-1 canary-plain-2 canary-secret-3', { spec: { env } }));
  await at.platform.until('its log has ended', () => at.platform.logs.of(id).ends > 0);
  const [line] = at.platform.logs.of(id).lines;
  expect(line!.text).toContain('canary-plain-2');
  expect(line!.text).not.toContain('canary-secret');
});
