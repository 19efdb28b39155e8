import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Command } from '@stagi/contract/desiredState.ts';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type CommandJournal, openCommandJournal } from './commandJournal.ts';
import { commandRunner } from './commands.ts';

let folder: string;
let journal: CommandJournal;
const command = (id: string): Command => ({
  aud: 'stagi-daemon-command',
  node: '7',
  id,
  iat: 0,
  exp: 0,
  do: { kind: 'restart', containerId: 1 },
});

/** One container that can be restarted. */
function world() {
  const state = { starts: 0, refuse: false };
  const runner = () =>
    commandRunner({
      journal,
      startedAt: async () => String(state.starts),
      async restart() {
        if (state.refuse) throw new Error('This container is not on the server');
        state.starts++;
      },
      leave: async () => {},
      removeImage: async () => ({ references: [], bytes: 0 }),
      pruneImages: async () => ({ references: [], bytes: 0 }),
    });
  return { state, runner };
}

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stagid-commands-'));
  journal = await openCommandJournal(join(folder, 'journal'));
});
afterEach(async () => {
  await journal.close();
  await rm(folder, { recursive: true });
});

describe('a command', () => {
  it('is idempotent: repeats, concurrent or later, are answered and not carried out', async () => {
    const { state, runner } = world();
    const one = runner();
    const answers = await Promise.all([one.run(command('a')), one.run(command('a'))]);
    expect(answers.filter((answer) => answer !== null)).toHaveLength(1);
    expect(await runner().run(command('a'))).toMatchObject({ commandId: 'a', ok: true });
    expect(state.starts).toBe(1);
    await one.run(command('b'));
    expect(state.starts).toBe(2);
  });

  it('answers a repeat of a failed command with the same failure', async () => {
    const { state, runner } = world();
    state.refuse = true;
    const first = await runner().run(command('a'));
    state.refuse = false;
    expect(first).toMatchObject({ ok: false, message: 'This container is not on the server' });
    expect(await runner().run(command('a'))).toEqual(first);
    expect(state.starts).toBe(0);
  });

  it('is carried out again after a crash only when it had no effect', async () => {
    const { state, runner } = world();
    await journal.begin('before', '0');
    expect(await runner().run(command('before'))).toMatchObject({ ok: true });
    expect(state.starts).toBe(1);
    await journal.begin('after', '0');
    expect(await runner().run(command('after'))).toMatchObject({ ok: true });
    expect(state.starts).toBe(1);
  });
});
