import { GetObjectCommand, PutObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import { api } from '@stagi/contract/api.ts';
import { endOf } from '@stagi/server/src/gitHosting/testing/gitClient.ts';
import { limitConcurrency } from '@stagi/server/src/loops/concurrency.ts';
import { issueEnrolment } from '@stagi/server/src/nodes/enrolment.ts';
import { s3Client } from '@stagi/server/src/objects/testing/bucket.ts';
import { connectDaemon, enrolNode, type NodeKey } from '@stagi/server/src/testing/daemon.ts';
import { joinSteadyDaemon, VOLUME } from './neighboursDaemon.ts';
import { aResident, type Site } from './neighboursStage.ts';
import { type EchoTerminal, openEchoTerminal } from './neighboursTerminal.ts';

export const KINDS = ['calls', 'git', 'S3', 'terminal', 'daemon link'] as const;
export type Kind = (typeof KINDS)[number];

export interface Sample {
  kind: Kind;
  step: string;
  /** A refusal counts as `GIVEN_UP_AFTER_MS`: a quick refusal is no quick answer. */
  ms: number;
  /** Null: it was done. */
  error: string | null;
}

export interface Victim {
  /** Does everything once, as the first time takes longer. */
  warmUp(): Promise<void>;
  /** Resolves when its daemon is linked, also again. */
  ready(): Promise<unknown>;
  /** Works for so long, and answers how long each thing took. */
  work(ms: number): Promise<Sample[]>;
  close(): Promise<void>;
}

interface Step {
  name: string;
  /** `signal`: nobody waits for it any more. Answers what is left to do, which is not measured. */
  run(signal: AbortSignal): Promise<(() => Promise<unknown>) | undefined>;
}

interface Work {
  kind: Kind;
  /** A step begins so often, also while earlier ones are not done: who waits for one does not ask less. */
  everyMs: number;
  /** Steps in progress at once; one that waits for its turn is measured with its wait. */
  atOnce: number;
  steps: Step[];
}

const GIVEN_UP_AFTER_MS = 20_000;
const LINKS_AT_ONCE = 4;
/** More than are linked at once: a link that was given up may still be on its way. */
const LINKED_SERVERS = 2 * LINKS_AT_ONCE;
const SMALL_BYTES = 16_000;
/** As JSON more than a body that needs no room of its own. */
const LARGE_TEXT = '\n'.repeat(700_000);

/** Somebody on the platform who has nothing to do with those who attack. */
export async function aVictim(site: Site): Promise<Victim> {
  const { platform, app } = site;
  const { url } = platform;
  const resident = await aResident(site, 1 + LINKED_SERVERS);
  const { person, machine, projectId, containerId, git, bucket } = resident;
  const { client } = person;
  const keys: NodeKey[] = [];
  for (const id of resident.servers)
    keys.push(await enrolNode(url, (await issueEnrolment(app.ctx, app.ctx.db, id, 'rented')).token));
  const [steady, ...unlinked] = keys as [NodeKey, ...NodeKey[]];
  const daemon = await joinSteadyDaemon(app.ctx.db, url, steady, containerId);
  let terminal: EchoTerminal | null = null;
  let count = 0;
  const next = (): number => (count += 1);

  const done = async (work: Promise<unknown>): Promise<undefined> => {
    await work;
  };
  const call = (name: string, ask: () => Promise<unknown>): Step => ({ name, run: () => done(ask()) });
  const log = { type: 'docker-container', id: containerId } as const;
  const files = { id: containerId, volume: VOLUME };

  async function runGit(args: string[], signal: AbortSignal): Promise<undefined> {
    const child = machine.spawn('git', args);
    signal.addEventListener('abort', () => child.kill('SIGKILL'), { once: true });
    child.stdin!.end();
    const { code, stderr } = await endOf(child);
    if (code !== 0) throw new Error(stderr.trim().split('\n').slice(0, 2).join('; '));
  }
  const gitStep = (name: string, args: () => string[]): Step => ({ name, run: (signal) => runGit(args(), signal) });

  async function typeKeys(): Promise<undefined> {
    if (!terminal) throw new Error('there is no terminal');
    await terminal.echo(`k${next()};`);
  }

  async function connectAnew(): Promise<() => Promise<unknown>> {
    // A second link of the same server would end the first.
    const key = unlinked.shift();
    if (!key) throw new Error('all servers are linked');
    try {
      const joined = await connectDaemon(url, key);
      return async () => {
        await joined.close();
        unlinked.push(key);
      };
    } catch (error) {
      unlinked.push(key);
      throw error;
    }
  }

  /** With a connection of its own, as a program has that was just started. */
  async function withS3<T>(use: (s3: S3Client) => Promise<T>): Promise<T> {
    const s3 = s3Client(platform.s3Url, resident.s3Key);
    return use(s3).finally(() => s3.destroy());
  }
  const put = (Key: string) => (s3: S3Client) =>
    s3.send(new PutObjectCommand({ Bucket: bucket.name, Key, Body: Buffer.alloc(SMALL_BYTES) }));
  async function getKept(s3: S3Client): Promise<void> {
    const { Body } = await s3.send(new GetObjectCommand({ Bucket: bucket.name, Key: 'kept' }));
    const { length } = await Body!.transformToByteArray();
    if (length !== SMALL_BYTES) throw new Error(`an object of ${length} bytes`);
  }

  const work: Work[] = [
    {
      ...{ kind: 'calls', everyMs: 250, atOnce: 8 },
      steps: [
        call('profile', () => client(api.user.profile, {})),
        call('servers', () => client(api.instances.list, {})),
        call('projects', () => client(api.projects.list, {})),
        call('code page', () => client(api.projectCode.tree, { id: projectId })),
        call('history', () => client(api.projectCode.commits, { id: projectId })),
        call('code search', () => client(api.projectCode.search, { id: projectId, query: 'two' })),
        call('log search', () => client(api.logging.query, { source: log, text: 'aa', limit: 100 })),
        call('large body', () =>
          client(api.volumeFiles.write, { ...files, path: `f${next()}`, text: LARGE_TEXT, etag: null }),
        ),
      ],
    },
    {
      ...{ kind: 'git', everyMs: 1_000, atOnce: 6 },
      steps: [
        gitStep('refs, HTTP', () => ['ls-remote', '-q', git.https]),
        gitStep('clone, HTTP', () => ['clone', '-q', '--bare', git.https, `clone-${next()}`]),
        gitStep('refs, SSH', () => ['ls-remote', '-q', git.ssh]),
      ],
    },
    {
      ...{ kind: 'S3', everyMs: 250, atOnce: 6 },
      steps: [
        { name: 'put', run: () => done(withS3(put(`k${next() % 50}`))) },
        { name: 'get', run: () => done(withS3(getKept)) },
      ],
    },
    { ...{ kind: 'terminal', everyMs: 200, atOnce: 6 }, steps: [{ name: 'key stroke', run: typeKeys }] },
    {
      ...{ kind: 'daemon link', everyMs: 1_000, atOnce: LINKS_AT_ONCE },
      steps: [{ name: 'connect', run: connectAnew }],
    },
  ];

  async function openTerminal(): Promise<undefined> {
    terminal?.close();
    terminal = null;
    terminal = await openEchoTerminal(url, person, `instance-rented/${resident.servers[0]}`);
  }

  await withS3(put('kept'));
  return {
    ready: () => daemon.linked(),
    async warmUp() {
      await daemon.linked();
      await openTerminal();
      for (const { steps } of [...work, ...work])
        for (const step of steps) await (await step.run(new AbortController().signal))?.();
    },
    async work(ms) {
      const samples: Sample[] = [];
      await measured('terminal', { name: 'opening', run: openTerminal }, performance.now(), samples);
      const until = performance.now() + ms;
      await Promise.all(work.map((one) => workOn(one, until, samples)));
      return samples;
    },
    async close() {
      terminal?.close();
      await daemon.close();
      machine.remove();
    },
  };
}

/** Begins steps in turn at fixed times until then, and waits for the last of them. */
function workOn({ kind, everyMs, atOnce, steps }: Work, until: number, samples: Sample[]): Promise<unknown> {
  const turn = limitConcurrency(atOnce);
  const begun: Promise<void>[] = [];
  let number = 0;
  return new Promise<void>((resolve) => {
    const timer = setInterval(() => {
      const since = performance.now();
      if (since > until) {
        clearInterval(timer);
        return resolve();
      }
      const step = steps[number % steps.length]!;
      number += 1;
      begun.push(turn(() => measured(kind, step, since, samples)));
    }, everyMs);
  }).then(() => Promise.all(begun));
}

async function measured(kind: Kind, { name, run }: Step, since: number, samples: Sample[]): Promise<void> {
  const given = new AbortController();
  const late = Promise.withResolvers<never>();
  const leftMs = Math.max(0, since + GIVEN_UP_AFTER_MS - performance.now());
  const timer = setTimeout(() => late.reject(new Error(`not done within ${GIVEN_UP_AFTER_MS / 1000} s`)), leftMs);
  // Not even begun in time: all earlier ones hang.
  const running = leftMs > 0 ? run(given.signal) : late.promise;
  let error: string | null = null;
  let rest: (() => Promise<unknown>) | undefined;
  try {
    rest = await Promise.race([running, late.promise]);
  } catch (reason) {
    error = explained(reason);
    given.abort();
    // It may be done, or fail, when nobody waits for it any more.
    void running.then((left) => left?.()).catch(() => {});
  }
  clearTimeout(timer);
  const took = performance.now() - since;
  samples.push({ kind, step: name, ms: error === null ? took : Math.max(took, GIVEN_UP_AFTER_MS), error });
  await rest?.();
}

function explained(reason: unknown): string {
  const { message, status, code, cause, $metadata } = reason as NodeJS.ErrnoException & {
    status?: number;
    $metadata?: { httpStatusCode?: number };
  };
  const why = status || $metadata?.httpStatusCode || code || (cause as NodeJS.ErrnoException | undefined)?.code;
  return `${why ? `${why} ` : ''}${message}`.slice(0, 160);
}
