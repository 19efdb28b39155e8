import { expect, it } from 'vitest';
import { parseAnsi, plainText } from './ansi.ts';

const E = '\x1b';

it('reads colours and styles, and what ends them', () => {
  expect(parseAnsi(`${E}[1;31mbad${E}[22m still red${E}[0m plain`)).toEqual([
    { text: 'bad', look: { bold: true, color: 1 } },
    { text: ' still red', look: { bold: undefined, dim: undefined, color: 1 } },
    { text: ' plain', look: {} },
  ]);
  expect(parseAnsi(`${E}[92;44mx`)).toEqual([{ text: 'x', look: { color: 10, background: 4 } }]);
});

it('reads the colours of 256 and of 16 million', () => {
  expect(parseAnsi(`${E}[38;5;9ma${E}[38;5;196mb${E}[38;5;244mc${E}[48;2;1;2;300md`).map(({ look }) => look)).toEqual([
    { color: 9 },
    { color: '#ff0000' },
    { color: '#808080' },
    { color: '#808080', background: '#0102ff' },
  ]);
  expect(parseAnsi(`${E}[38:2::1:2:3ma${E}[4:3;48:5:7mb`).map(({ look }) => look)).toEqual([
    { color: '#010203' },
    { color: '#010203', underline: true, background: 7 },
  ]);
});

it('leaves out everything else that terminals are told', () => {
  expect(plainText(`${E}[2J${E}[1;1H${E}]0;title\x07a${E}]8;;http://x${E}\\b${E}[?25lc\x07\x00d${E}(B${E}[>4;1m`)).toBe(
    'abcd',
  );
  expect(plainText('tab\tstays')).toBe('tab\tstays');
});

it('shows of a redrawn line what a terminal would: the last drawing', () => {
  expect(plainText('10 %\r50 %\r100 %')).toBe('100 %');
  expect(plainText('windows\r')).toBe('windows');
});
