import { readFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { api } from '@stagi/contract/api.ts';
import { EDIT_FEATURE } from '@stagi/contract/daemon.ts';
import { STREAMS_FEATURE } from '@stagi/contract/daemonStreams.ts';
import { CallError } from '@stagi/contract/errors.ts';
import { answerOf, askerOf } from '@stagi/server/src/testing/askModel.ts';
import { type ModelLab, startModelLab } from '../modelLab.ts';
import { joinPortDaemon } from '../portDaemon.ts';
import { until } from '../until.ts';
import { type EngineCase, redirects } from './corpus.ts';
import { type HostileEngine, sends, startHostileEngine } from './hostile.ts';

const MB = 2 ** 20;
/** Of the engine, inside its container. */
const PORT = 8080;
const HEARTBEAT_MS = 5_000;
/** Until a connection to the engine is closed after its answer. */
const FREED_WITHIN_MS = 5_000;
/** The timeout of a check is 5 s. */
const SLOWEST_MS = 10_000;
/** Of which most is what V8 leaves to be collected later. */
const MOST_GROWN_MB = 300;
const OTHERS_MS = 5_000;

export interface EnginesResult {
  n: number;
  /** What did not go as it should. */
  surprises: string[];
  slowest: { name: string; ms: number };
  /** Of the platform's process, at its most. */
  grownMb: number;
  /** Calls that have nothing to do with engines, meanwhile. */
  others: { n: number; slowestMs: number };
}

/** Asks engines that answer what they should not, through the daemon's own code, and measures the platform's process. */
export async function runEngines(cases: readonly EngineCase[], say: (line: string) => void): Promise<EnginesResult> {
  const lab = await startModelLab();
  const [engine, elsewhere] = [await startHostileEngine(), await startHostileEngine()];
  const undo: (() => unknown)[] = [() => lab.close(), () => engine.close(), () => elsewhere.close()];
  try {
    const { id: serverId, token } = await lab.ownServer();
    const daemon = await joinPortDaemon(lab.platform.url, token, [STREAMS_FEATURE, EDIT_FEATURE]);
    undo.push(() => daemon.close());
    const beats = setInterval(
      () => daemon.link.send({ type: 'heartbeat', at: new Date().toISOString() }),
      HEARTBEAT_MS,
    );
    undo.push(() => clearInterval(beats));
    const { id, container } = await lab.deploy(serverId);
    daemon.link.applyDesired(await daemon.link.desired(({ containers }) => containers.length > 0));
    await until('its container runs', async () => (await lab.view(id)).status === 'loading');
    daemon.bind(container!.id, PORT, engine.port);
    const all = [...cases, ...redirects(`http://127.0.0.1:${elsewhere.port}/`)];
    const result = await measure(lab, id, engine, all, say);
    if (elsewhere.requests() > 0) result.surprises.push(`a redirect was followed ${elsewhere.requests()} times`);
    return result;
  } finally {
    for (const step of undo.toReversed()) await step();
  }
}

async function measure(
  lab: ModelLab,
  id: number,
  engine: HostileEngine,
  cases: readonly EngineCase[],
  say: (line: string) => void,
): Promise<EnginesResult> {
  const surprises: string[] = [];
  const outcome = async (one: EngineCase): Promise<void> => {
    const begun = performance.now();
    const asked = engine.requests();
    engine.behave(one.behave);
    const ended = outcomeOf(lab, id, one);
    // The next case may change the behaviour once this one has it.
    if (one.isSlow) await until(`${one.name} is asked`, async () => engine.requests() > asked, 10_000, 10);
    const judged = ended.then((surprise) => {
      const ms = performance.now() - begun;
      if (ms > slowest.ms && !one.isSlow) slowest = { name: one.name, ms };
      if (surprise !== null) surprises.push(`${one.call}: ${one.name}: ${surprise}`);
      if (one.isSlow) say(`engines: ${one.name}: ${(ms / 1000).toFixed(0)} s`);
    });
    if (one.isSlow) waiting.push(judged);
    else await judged;
  };
  let slowest = { name: '', ms: 0 };
  const waiting: Promise<void>[] = [];

  await outcomeOf(lab, id, { name: '', call: 'check', ends: /^/, behave: () => {} });
  const before = await rssOf(lab.platform.pid);
  let peak = before;
  const others = { n: 0, slowestMs: 0 };
  let isOver = false;
  const watch = (async () => {
    while (!isOver) {
      const begun = performance.now();
      await lab.owner.client(api.modelEndpoints.list, {});
      others.n += 1;
      others.slowestMs = Math.max(others.slowestMs, performance.now() - begun);
      peak = Math.max(peak, await rssOf(lab.platform.pid));
      await pause(50);
    }
  })();
  // Those that take minutes first, all at once.
  for (const one of cases.filter(({ isSlow }) => isSlow)) await outcome(one);
  const slow = waiting.length;
  for (const one of cases.filter(({ isSlow }) => !isSlow)) {
    await outcome(one);
    await until(`the connection of ${one.name} is closed`, async () => engine.open() <= slow, FREED_WITHIN_MS, 5).catch(
      (error: Error) => surprises.push(error.message),
    );
  }
  await Promise.all(waiting);
  isOver = true;
  await watch;
  await until('all connections are closed', async () => engine.open() === 0, FREED_WITHIN_MS).catch((error: Error) =>
    surprises.push(error.message),
  );
  engine.behave(sends('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'));
  if ((await lab.check(id)).status !== 'ready') surprises.push('an honest engine is not ready afterwards');
  if (lab.platform.ended() !== null) surprises.push(`the platform ended with ${lab.platform.ended()}`);
  if (lab.platform.log() !== '') surprises.push(`the platform logged errors: ${lab.platform.log().slice(0, 2_000)}`);
  return { n: cases.length, surprises, slowest, grownMb: (peak - before) / MB, others };
}

/** Null: it ended as it should. */
async function outcomeOf(lab: ModelLab, id: number, { call, ends, check }: EngineCase): Promise<string | null> {
  if (call === 'check') {
    const { status, reason } = await lab.check(id);
    const said = status === 'ready' ? 'ready' : (reason ?? status);
    return ends.test(said) ? null : said;
  }
  const question = { endpointRef: { id }, messages: [{ role: 'user' as const, content: 'Hello' }] };
  try {
    const { events, text, last } = await answerOf(askerOf(lab.platform.url, lab.owner), question);
    const said = last?.type === 'end' ? `end: ${text}` : last?.type === 'error' ? `error: ${last.message}` : 'cut off';
    return ends.test(said) ? (check?.(events) ?? null) : said.slice(0, 300);
  } catch (error) {
    if (!(error instanceof CallError)) return `no answer: ${String(error)}`;
    const said = `refused: ${error.message}`;
    if (error.status !== 200) return `status ${error.status}: ${said}`;
    return ends.test(said) ? null : said;
  }
}

async function rssOf(pid: number): Promise<number> {
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(await readFile(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024;
}

/** What is wrong with it. */
export function reportEngines({ surprises, slowest, grownMb, others }: EnginesResult): string[] {
  const wrong = [...surprises];
  if (slowest.ms > SLOWEST_MS) wrong.push(`${slowest.name} took ${slowest.ms.toFixed(0)} ms`);
  if (grownMb > MOST_GROWN_MB) wrong.push(`the platform grew by ${grownMb.toFixed(0)} MB`);
  if (others.slowestMs > OTHERS_MS) wrong.push(`another call took ${others.slowestMs.toFixed(0)} ms`);
  return wrong;
}

export const formatEngines = ({ n, surprises, slowest, grownMb, others }: EnginesResult): string =>
  [
    `n = ${n} answers, ${surprises.length} surprises`,
    `the slowest ${slowest.ms.toFixed(0)} ms (${slowest.name})`,
    `platform + ${grownMb.toFixed(0)} MB at most`,
    `${others.n} other calls meanwhile, the slowest ${others.slowestMs.toFixed(0)} ms`,
  ].join(', ');
