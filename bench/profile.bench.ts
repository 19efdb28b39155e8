/**
 * `user/profile` of the platform against a bare Fastify that verifies one EdDSA token and does one
 * indexed read: requests a second, alternating rounds in one run. Goal: at least 0.7 of the bare one.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { startTestApp } from '@stagi/server/src/testing/app.ts';
import { startTestPostgres } from '@stagi/server/src/testing/database.ts';
import autocannon from 'autocannon';
import { report } from './report.ts';

const ROUNDS = 5;
const SECONDS = 4;
const CONNECTIONS = 20;
const GOAL = 0.7;

const postgres = await startTestPostgres();
const app = await startTestApp({ LOG_LEVEL: 'fatal' });
const person = await app.signUp('Bench');
const bare = fork(new URL('./bareProfile.ts', import.meta.url), { serialization: 'advanced' });
bare.send({ databaseUrl: app.databaseUrl, userId: person.userId });
const [{ url: bareUrl, token: bareToken }] = (await once(bare, 'message')) as [{ url: string; token: string }];

const ours: number[] = [];
const theirs: number[] = [];
try {
  for (let round = 0; round <= ROUNDS; round += 1) {
    const mine = await measure(`${app.url}/frontend-api/user/profile`, person.tokens().accessToken);
    const base = await measure(bareUrl, bareToken);
    if (round === 0) continue;
    ours.push(mine);
    theirs.push(base);
  }
} finally {
  bare.disconnect();
  await app.close();
  await postgres.stop();
}
report('user/profile, requests per second against bare Fastify', ours, theirs, {
  unit: 'req/s',
  goal: `>= ${GOAL}`,
  ok: (ratio) => ratio >= GOAL,
});

async function measure(url: string, token: string): Promise<number> {
  const result = await autocannon({
    url,
    method: 'POST',
    workers: 1,
    connections: CONNECTIONS,
    duration: SECONDS,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: '{}',
  });
  if (result.non2xx > 0 || result.errors > 0 || result['2xx'] === 0)
    throw new Error(`${url}: ${result.non2xx} refusals, ${result.errors} errors`);
  return result.requests.average;
}
