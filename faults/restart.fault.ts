/**
 * The platform is killed with SIGKILL at random moments while people sign up, and started again on the same
 * data: every answered sign-up is still there with its workspace and its balance, and nothing is there twice.
 * `--n=5` for a short run; the seed is printed.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { api } from '@stagi/contract/api.ts';
import { createClient } from '@stagi/contract/apiClient.ts';
import { freePort } from '@stagi/contract/testing/freePort.ts';
import { httpSender, PASSWORD, signUp, tokensOf } from '@stagi/server/src/testing/person.ts';
import { newSeed, option, seeded } from './random.ts';

const kills = option('n', 25);
const seed = newSeed();
console.log(`restart: seed ${seed}, ${kills} kills`);

const MAIN = join(import.meta.dirname, '../packages/server/src/main.ts');
const dataDir = mkdtempSync(join(tmpdir(), 'stagi-restart-'));
const port = await freePort();
const url = `http://127.0.0.1:${port}`;
const random = seeded(seed);
const answered: string[] = [];
let slowestStart = 0;

let server = await startServer();
for (let kill = 0; kill < kills; kill += 1) {
  const until = Date.now() + 300 + random() * 1500;
  const people = (async () => {
    for (let n = 0; Date.now() < until + 500; n += 1) {
      const email = `k${kill}-${n}@example.com`;
      const person = await signUp(url, httpSender(url), { name: 'Kim', email }).catch(() => null);
      if (!person) return;
      answered.push(email);
    }
  })();
  await pause(until - Date.now());
  server.kill('SIGKILL');
  await people;
  server = await startServer();
}

let lost = 0;
for (const email of answered) {
  let tokens: { accessToken: string; refreshToken: string } | null = null;
  let workspace: number | null = null;
  const client = createClient({
    send: httpSender(url),
    session: { get: () => tokens, set: (next) => (tokens = next) },
    clientId: () => workspace,
  });
  try {
    tokens = tokensOf(await client(api.auth.authentication, { email, password: PASSWORD }));
    const { userProfile } = await client(api.user.profile, {});
    workspace = userProfile.clientRelations[0]?.clientId ?? null;
    const balance = await client(api.billing.balance, {});
    if (userProfile.clientRelations.length !== 1 || balance.clientBalance.STAGI.decimalValue !== '50.00') lost += 1;
  } catch {
    lost += 1;
  }
}
server.kill('SIGTERM');
await once(server, 'exit');
rmSync(dataDir, { recursive: true, force: true });
console.log(
  `restart: n = ${kills} kills, ${answered.length} answered sign-ups, ${lost} lost or doubled, slowest start ${slowestStart} ms`,
);
if (answered.length === 0 || lost > 0) process.exit(1);

async function startServer(): Promise<ChildProcess> {
  const started = Date.now();
  const child = spawn(process.execPath, [MAIN], {
    env: {
      ...process.env,
      PORT: String(port),
      METRICS_PORT: 'off',
      S3_PORT: '0',
      GIT_SSH_PORT: '0',
      STAGI_DATA: dataDir,
      DATABASE_URL: '',
      LOCAL_CLOUD: 'off',
      LOG_LEVEL: 'error',
    },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  for (;;) {
    if (child.exitCode !== null) throw new Error(`the platform ended with ${child.exitCode} at its start`);
    if (Date.now() - started > 60_000) throw new Error('the platform did not start again within 60 s');
    if ((await fetch(`${url}/readyz`).catch(() => null))?.ok) break;
    await pause(50);
  }
  slowestStart = Math.max(slowestStart, Date.now() - started);
  return child;
}
