import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { api } from '@stagi/contract/api.ts';
import type { InputOf } from '@stagi/contract/call.ts';
import type { ModelEndpoint } from '@stagi/contract/modelEndpoints.ts';
import { freeHostPort } from '@stagi/contract/testing/freePort.ts';
import { announce } from '@stagi/server/src/bus/bus.ts';
import { openPool, type Pool } from '@stagi/server/src/db/pool.ts';
import { createTestDatabase } from '@stagi/server/src/testing/database.ts';
import { httpSender, type Person, signUp } from '@stagi/server/src/testing/person.ts';
import { type Platform, spawnPlatform } from '@stagi/server/src/testing/platform.ts';
import { sql } from 'kysely';

/** The model that the engine for tests has, as an operator would add it to the catalogue. */
const TINY = 'stagi/tiny-random-llama';
export const TINY_FILES = `${TINY}-GGUF`;

/** A platform as a process of its own, which can be restarted and measured, with a tiny model in its catalogue. */
export interface ModelLab {
  platform: Platform;
  pool: Pool;
  owner: Person;
  signUp(name: string): Promise<Person>;
  /** An own server of the owner, and what its daemon enrols with. */
  ownServer(): Promise<{ id: number; token: string }>;
  deploy(instanceId: number, more?: Partial<Deploy>): Promise<ModelEndpoint>;
  view(id: number): Promise<ModelEndpoint>;
  check(id: number): Promise<ModelEndpoint>;
  /** Moves all that is known of an endpoint and its container into the past, as if so much time had gone by. */
  passTime(id: number, time: string): Promise<void>;
  close(): Promise<void>;
}
type Deploy = InputOf<typeof api.modelEndpoints.deploy>;

export async function startModelLab(env: Record<string, string> = {}): Promise<ModelLab> {
  const folder = mkdtempSync(join(tmpdir(), 'stagi-models-'));
  // Only the checksum of the daemon's archive is needed: daemons run from their source.
  mkdirSync(join(folder, 'daemon'));
  const archive = 'stagid-linux-x64.tar.gz';
  writeFileSync(join(folder, 'daemon', `${archive}.sha256`), `${'0'.repeat(64)}  ${archive}\n`);
  const database = await createTestDatabase();
  const platform = await spawnPlatform({
    DATABASE_URL: database.url,
    STAGI_DAEMON_DIR: join(folder, 'daemon'),
    LOG_LEVEL: process.env.TEST_LOG_LEVEL ?? 'error',
    ...env,
  });
  const pool = openPool(database.url, { max: 4 });
  const newPerson = async (name: string): Promise<Person> =>
    signUp(platform.url, httpSender(platform.url), { name, email: `${name.toLowerCase()}@example.com` });
  const owner = await newPerson('Ada');
  await addTinyModel(pool);
  let made = 0;
  return {
    ...{ platform, pool, owner, signUp: newPerson },
    async ownServer() {
      made += 1;
      const { entity, daemonToken } = await owner.client(api.selfHosted.create, {
        title: `Own ${made}`,
        slug: `own-${made}`,
      });
      return { id: entity.id, token: daemonToken };
    },
    async deploy(instanceId, more = {}) {
      made += 1;
      const { entity } = await owner.client(api.modelEndpoints.deploy, {
        modelRef: { id: TINY },
        quality: 'XL',
        template: 'llama.cpp',
        instanceRef: { id: instanceId },
        title: 'Tiny model',
        slug: `served-${process.pid}-${made}`,
        cpus: 1,
        port: await freeHostPort(),
        ...more,
      });
      return entity;
    },
    view: async (id) => (await owner.client(api.modelEndpoints.view, { id })).entity,
    check: async (id) => (await owner.client(api.modelEndpoints.check, { id })).entity,
    async passTime(id, time) {
      const by = sql`${time}::interval`;
      await sql`with moved as (update container set started_at = started_at - ${by}, status_since = status_since - ${by},
            looping_until = looping_until - ${by}, last_ended_at = last_ended_at - ${by}
          where id = (select container_id from model_endpoint where id = ${id}))
        update model_endpoint set created_at = created_at - ${by}, checked_at = checked_at - ${by},
          answered_at = answered_at - ${by}, check_due = check_due - ${by}, load_failed_at = load_failed_at - ${by}
        where id = ${id}`.execute(pool.db);
      // Without it the next look comes within seconds.
      await announce(pool.db, 'changed', { entity: 'docker-container', id: null, workspaceId: owner.workspaceId });
    },
    async close() {
      await pool.close();
      await platform.remove();
      await database.drop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** As the pages for operators do. */
async function addTinyModel({ db }: Pool): Promise<void> {
  const source = [{ computed: 'made for tests' }];
  const entry = {
    id: TINY,
    name: 'Tiny random llama',
    publisher: 'Stagi',
    task: 'text-generation',
    parameters: { total: 1_400_000 },
    layers: 4,
    hiddenSize: 128,
    heads: 4,
    kvHeads: 2,
    headDim: 32,
    intermediateSize: 384,
    vocabSize: 1500,
    contextLength: 4096,
    precisions: [{ precision: 'gguf', repository: TINY_FILES, variants: ['Q8_0'] }],
    links: [],
    source,
  };
  await db
    .insertInto('catalogue_change')
    .values({ model_id: TINY, kind: 'added', fields: JSON.stringify(entry), source: JSON.stringify(source) } as never)
    .execute();
}
