import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Client, createClient, type Reply } from '@stagi/contract/apiClient.ts';
import { freePort } from '@stagi/contract/testing/freePort.ts';
import { sql } from 'kysely';
import { readConfig } from '../config/config.ts';
import type { Context } from '../context.ts';
import { type Step, start } from '../start.ts';
import { createTestDatabase } from './database.ts';
import { httpSender, type Person } from './person.ts';
import { signUpDirectly } from './signUpDirectly.ts';

export interface TestApp {
  url: string;
  databaseUrl: string;
  ctx: Context;
  dataDir: string;
  /** A client without a session. */
  anonymous: Client;
  /** Signs a person up without the mailed code (`signUp` of `person.ts` goes through the calls). */
  signUp(name?: string): Promise<Person>;
  /** A raw POST, for requests that the typed client would not make. */
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<Reply>;
  /** The paths of all routes, without the web app's files. */
  routes(): string[];
  close(): Promise<void>;
}

/**
 * The whole platform on a fresh database and a free port; with the role `api` no workers run. Scheduled jobs
 * (nightly, hourly) are removed.
 */
export async function startTestApp(
  env: Record<string, string> = {},
  { role = 'api,worker,s3', step }: { role?: string; step?: Step } = {},
): Promise<TestApp> {
  const database = await createTestDatabase();
  const dataDir = mkdtempSync(join(tmpdir(), 'stagi-test-'));
  // The configuration needs the port before anything listens on it.
  const port = env.PORT === undefined ? await freePort() : Number(env.PORT);
  const running = await start(
    readConfig(
      {
        PORT: String(port),
        METRICS_PORT: 'off',
        S3_PORT: String(await freePort()),
        GIT_SSH_PORT: String(await freePort()),
        DATABASE_URL: database.url,
        STAGI_DATA: dataDir,
        LOCAL_CLOUD: 'off',
        STAGI_ENVIRONMENT: 'test',
        LOG_LEVEL: process.env.TEST_LOG_LEVEL ?? 'fatal',
        // Tests call by address, also where the origin is another.
        ALLOWED_HOSTS: '127.0.0.1',
        ...env,
      },
      [`--role=${role}`],
    ),
    step,
  );
  // Otherwise a nightly job runs in the middle of whatever test is running at that time of day.
  await sql`delete from pgboss.schedule`.execute(running.ctx.db);
  const url = `http://127.0.0.1:${port}`;
  const send = httpSender(url);
  let people = 0;

  return {
    url,
    databaseUrl: database.url,
    ctx: running.ctx,
    dataDir,
    anonymous: createClient({ send, session: { get: () => null, set: () => {} }, clientId: () => null }),
    post: async (path, body, headers = {}) => send(path, body, { headers }),
    async signUp(name) {
      people += 1;
      const email = `person${people}-${Date.now()}@example.com`;
      return signUpDirectly(running.ctx, send, { name: name ?? `Person ${people}`, email });
    },
    routes: () => pathsIn(running.app!.printRoutes()),
    async close() {
      await running.stop();
      await database.drop();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

/** The full paths of Fastify's printed tree of routes, where each level is indented by four characters. */
function pathsIn(tree: string): string[] {
  const above: string[] = [];
  return tree.split('\n').flatMap((line) => {
    const [, indent, part, methods] = /^([│├└─\s]*)(\S*)( \(.*)?$/.exec(line) ?? [];
    if (!indent || !part) return [];
    const depth = indent.length / 4;
    above.splice(depth - 1, above.length, part);
    return methods ? [above.join('')] : [];
  });
}
