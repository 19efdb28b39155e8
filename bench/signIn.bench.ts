/**
 * 200 sign-ins at once, repeatedly: calls of everybody else go on (`user/profile` p99 at most 200 ms), memory stays
 * bounded, and a refused sign-in is told when to retry.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { hashSecret } from '@stagi/server/src/passwords/hashing.ts';
import { startTestApp } from '@stagi/server/src/testing/app.ts';
import { startTestPostgres } from '@stagi/server/src/testing/database.ts';
import { PASSWORD } from '@stagi/server/src/testing/person.ts';
import type { LoadOrder, LoadReport } from './signInLoad.ts';

const AT_ONCE = 200;
const ROUNDS = 10;
const P99_MOST_MS = 200;
/** A hash takes 64 MiB, and at most as many run at once as there are threads for it. */
const RSS_MOST_MB = 1024;

const postgres = await startTestPostgres();
const app = await startTestApp({ TRUST_PROXY: '127.0.0.1' });
let rssMost = 0;
const watch = setInterval(() => {
  rssMost = Math.max(rssMost, process.memoryUsage.rss());
}, 20);
const child = fork(new URL('./signInLoad.ts', import.meta.url), { serialization: 'advanced' });
let report: LoadReport;
try {
  const person = await app.signUp('Bench');
  const password_hash = await hashSecret(PASSWORD);
  const emails = Array.from({ length: AT_ONCE }, (_, index) => `at-once-${index}@example.com`);
  await app.ctx.db
    .insertInto('app_user')
    .values(emails.map((email) => ({ email, name: 'At once', password_hash, email_verified_at: new Date() })))
    .execute();
  const { accessToken } = person.tokens();
  child.send({ url: app.url, emails, password: PASSWORD, accessToken, rounds: ROUNDS } satisfies LoadOrder);
  [report] = (await once(child, 'message')) as [LoadReport];
} finally {
  clearInterval(watch);
  child.kill();
  await app.close();
  await postgres.stop();
}

const { profileMs, signInMs, statuses, withoutRetryAfter, profileRefusals } = report;
const p99 = profileMs.toSorted((a, b) => a - b)[Math.ceil(profileMs.length * 0.99) - 1] ?? Number.NaN;
const others = Object.keys(statuses).filter((status) => status !== '200' && status !== '429');
const rssMb = rssMost / 1024 / 1024;
console.log(
  `${AT_ONCE} sign-ins at once, ${ROUNDS} times (n = ${signInMs.length})
  user/profile  p99 ${p99.toFixed(0)} ms, goal <= ${P99_MOST_MS}, n = ${profileMs.length}, ${profileRefusals} refused
  sign-ins      ${JSON.stringify(statuses)}, 429 without Retry-After: ${withoutRetryAfter}
  memory        ${rssMb.toFixed(0)} MB at most, goal <= ${RSS_MOST_MB}`,
);
const isMet =
  profileMs.length > 0 &&
  p99 <= P99_MOST_MS &&
  profileRefusals === 0 &&
  (statuses['200'] ?? 0) > 0 &&
  others.length === 0 &&
  withoutRetryAfter === 0 &&
  rssMb <= RSS_MOST_MB;
console.log(`  ${isMet ? 'met' : 'MISSED'}`);
if (!isMet) process.exitCode = 1;
