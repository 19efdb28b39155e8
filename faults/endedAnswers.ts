import { api } from '@stagi/contract/api.ts';
import { type Arrived, answerOf, askerOf, askModel } from '@stagi/server/src/testing/askModel.ts';
import type { Person } from '@stagi/server/src/testing/person.ts';
import { expect } from 'vitest';
import { letIn } from './letIn.ts';
import { questionOf, type ServedModelLab } from './servedModel.ts';

const DEADLINE_MS = 60_000;
/** Tokens: the engine is far from their end, however late the platform acts. */
const ENDLESS = 4_000;

/**
 * Takes the right to a served model from members while it answers them, each in another way. Answers for how many
 * milliseconds each answer went on after that was asked for.
 */
export async function takeRightsToAnswers(lab: ServedModelLab, id: number): Promise<number[]> {
  const endings: [string, (member: Person) => Promise<unknown>][] = [
    ['Bob', (member) => member.client(api.auth.logout, { refreshToken: member.tokens().refreshToken })],
    ['Cem', ({ userId }) => lab.owner.client(api.clients.removeMember, { userId })],
    ['Dan', ({ userId }) => lab.owner.client(api.clients.editMember, { userId, role: 'Guest' })],
  ];
  const took: number[] = [];
  for (const [name, end] of endings) {
    const member = await addMember(lab, name);
    let endedAt = 0;
    let last: Arrived | undefined;
    for await (const event of askModel(askerOf(lab.platform.url, member), questionOf(id, ENDLESS), within())) {
      last = event;
      if (endedAt > 0) continue;
      endedAt = performance.now();
      await end(member);
    }
    took.push(performance.now() - endedAt);
    // The engine had more to say.
    expect(last!.type, name).not.toBe('end');
    await expect(answerOf(askerOf(lab.platform.url, member), questionOf(id, 1)), name).rejects.toThrow();
  }
  return took;
}

const within = () => ({ signal: AbortSignal.timeout(DEADLINE_MS) });

async function addMember(lab: ServedModelLab, name: string): Promise<Person> {
  const member = await lab.signUp(name);
  await letIn(lab.pool.db, lab.owner, member, 'Developer');
  return member;
}

/** Stops the platform while an answer is open. Answers how many milliseconds that took. */
export async function stopDuringAnswer({ platform, owner }: ServedModelLab, id: number): Promise<number> {
  const events: Arrived[] = [];
  let stopped: Promise<unknown> | null = null;
  let ms = 0;
  for await (const event of askModel(askerOf(platform.url, owner), questionOf(id, ENDLESS), within())) {
    events.push(event);
    if (stopped) continue;
    const begun = performance.now();
    stopped = platform.stop().then(() => {
      ms = performance.now() - begun;
    });
  }
  await stopped;
  expect(events.at(-1)).toMatchObject({ type: 'error' });
  return ms;
}
