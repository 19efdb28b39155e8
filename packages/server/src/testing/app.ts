import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Client, createClient, type Reply } from '@stagi/contract/client.ts';
import { freePort } from '@stagi/contract/testing/freePort.ts';
import { readConfig } from '../config.ts';
import type { Context } from '../context.ts';
import { start } from '../start.ts';
import { createTestDatabase } from './database.ts';
import { newPerson } from './newPerson.ts';
import { type Person, sender } from './person.ts';

export interface TestApp {
  url: string;
  databaseUrl: string;
  ctx: Context;
  dataDir: string;
  /** A client without a session. */
  anonymous: Client;
  /** Somebody who has signed up, without the mail of it (`person.ts` has the way through the front door). */
  signUp(name?: string): Promise<Person>;
  /** A raw POST, for requests that the typed client would not make. */
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<Reply>;
  /** The paths of everything that is served, but files of the web app. */
  routes(): string[];
  close(): Promise<void>;
}

/** The whole platform on a fresh database and a free port, as a user meets it; with the role `api` nothing happens by itself. */
export async function startTestApp(
  env: Record<string, string> = {},
  { role = 'api,worker' }: { role?: string } = {},
): Promise<TestApp> {
  const database = await createTestDatabase();
  const dataDir = mkdtempSync(join(tmpdir(), 'stagi-test-'));
  // Who names the port has to know it before.
  const port = env.PORT === undefined ? await freePort() : Number(env.PORT);
  const running = await start(
    readConfig(
      {
        PORT: String(port),
        METRICS_PORT: 'off',
        DATABASE_URL: database.url,
        STAGI_DATA: dataDir,
        LOCAL_CLOUD: 'off',
        STAGI_ENVIRONMENT: 'test',
        LOG_LEVEL: process.env.TEST_LOG_LEVEL ?? 'fatal',
        ...env,
      },
      [`--role=${role}`],
    ),
  );
  const url = `http://127.0.0.1:${port}`;
  const send = sender(url);
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
      return newPerson(running.ctx, send, { name: name ?? `Person ${people}`, email });
    },
    routes: () => pathsIn(running.app!.printRoutes({ commonPrefix: false })),
    async close() {
      await running.stop();
      await database.drop();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

/** The whole paths of Fastify's tree of routes, where each branch stands four signs further in. */
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
