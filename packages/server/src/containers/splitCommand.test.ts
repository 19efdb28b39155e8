import { execFileSync } from 'node:child_process';
import { newSeed } from '@stagi/contract/testing/random.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CommandError, splitCommand } from './splitCommand.ts';

describe('splitting a command', () => {
  it.each([
    ['python train.py --lr 0.1', ['python', 'train.py', '--lr', '0.1']],
    ['  a \t b\n c  ', ['a', 'b', 'c']],
    [`sh -c 'echo "$HOME"; exit 0'`, ['sh', '-c', 'echo "$HOME"; exit 0']],
    [`a"b c"'d e'f`, ['ab cd ef']],
    [`"" ''`, ['', '']],
    [`"\\" \\\\ \\$x \\n"`, [`" \\ $x \\n`]],
    [`a\\ b \\'c`, ['a b', `'c`]],
    ['a\\\nb', ['ab']],
    ['; && | > $(id) `id` *', [';', '&&', '|', '>', '$(id)', '`id`', '*']],
    ['', []],
  ])('%j', (line, words) => {
    expect(splitCommand(line)).toEqual(words);
  });

  it.each([`'open`, `"open`, `a "b\\"`, 'a\\'])('refuses %j', (line) => {
    expect(() => splitCommand(line)).toThrow(CommandError);
  });

  it('splits quoted words as a POSIX shell does', () => {
    const word = fc.string({ unit: fc.constantFrom('a', ' ', "'", '"', '\\', '$', '*', '\n', 'é', ';'), maxLength: 8 });
    const seed = newSeed();
    console.log(`splitCommand: n = 60, seed ${seed}`);
    fc.assert(
      fc.property(fc.array(word, { minLength: 1, maxLength: 4 }), (words) => {
        const line = words.map((text) => `'${text.replaceAll("'", `'\\''`)}'`).join(' ');
        expect(splitCommand(line)).toEqual(words);
        const shell = execFileSync('sh', ['-c', `printf '%s\\0' ${line}`]).toString();
        expect(shell).toBe(`${words.join('\0')}\0`);
      }),
      { numRuns: 60, seed },
    );
  });
});
