import { api } from '@stagi/contract/api.ts';
import { STREAM_CREDIT_BYTES } from '@stagi/contract/daemon.ts';
import { encodeRecord, type LogRecord } from '@stagi/contract/frames.ts';
import { type LogLine, TailMessage } from '@stagi/contract/logging.ts';
import fc from 'fast-check';
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { issueEnrolment } from '../daemon-link/enrolment.ts';
import { inTransaction } from '../db/pool.ts';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { connectDaemon, enrolNode, type NodeKey, type TestDaemon } from '../testing/daemon.ts';
import { aContainer, aRentedInstance } from '../testing/factories.ts';
import type { Person } from '../testing/person.ts';
import { forgetOldLines } from './retention.ts';
import { parseNs } from './time.ts';

const NOW_NS = BigInt(Date.now()) * 1_000_000n;

describe('logs', () => {
  let app: TestApp;
  let alice: Person;
  let mallory: Person;
  let server: number;
  let key: NodeKey;
  let container: number;

  const join = async (id: number): Promise<NodeKey> => {
    const { token } = await inTransaction(app.ctx.db, (trx) => issueEnrolment(app.ctx, trx, id, 'rented'));
    return enrolNode(app.url, token);
  };

  beforeAll(async () => {
    app = await startTestApp();
    alice = await app.signUp();
    mallory = await app.signUp();
    server = await aRentedInstance(app.ctx, alice);
    key = await join(server);
  });
  afterAll(async () => {
    await app?.close();
  });
  beforeEach(async () => {
    container = await aContainer(app.ctx, alice, server);
  });

  const query = (more: Partial<Parameters<typeof ask>[1]> = {}, by = alice) => ask(by, more);
  const ask = (by: Person, more: object) =>
    by.client(api.logging.query, { source: { type: 'docker-container', id: container }, limit: 1000, ...more });
  const stored = async (count: number): Promise<LogLine[]> => {
    await expect.poll(async () => (await query()).lastSeq).toBe(count);
    return (await query()).lines;
  };

  it('stores what a container printed, in order, with its time and output', async () => {
    const ship = await openLog(await connectDaemon(app.url, key), container);
    await ship.print(
      line('one', { timeNs: NOW_NS + 1n }),
      line('two', { timeNs: NOW_NS + 2n, stream: 'stderr' }),
      line('thr', { timeNs: NOW_NS + 3n, partial: true }),
      line('ee', { timeNs: NOW_NS + 4n }),
      line(''),
    );
    const lines = await stored(4);
    expect(lines.map(({ seq, stream, text }) => [seq, stream, text])).toEqual([
      [1, 'stdout', 'one'],
      [2, 'stderr', 'two'],
      [3, 'stdout', 'three'],
      [4, 'stdout', ''],
    ]);
    expect(lines.slice(0, 3).map(({ time }) => parseNs(time))).toEqual([NOW_NS + 1n, NOW_NS + 2n, NOW_NS + 3n]);
    await ship.daemon.close();
  });

  it('finds lines by a regular expression, from either end, and says what it does not take', async () => {
    const ship = await openLog(await connectDaemon(app.url, key), container);
    await ship.print(
      ...Array.from({ length: 60 }, (_, index) => line(`step ${index + 1}: ${index % 3 === 0 ? 'ERROR' : 'ok'}`)),
    );
    await stored(60);
    const found = async (text: string, more = {}) =>
      (await query({ mode: 'regex', text, ...more })).lines.map(({ seq }) => seq);
    expect(await found('^step [1-9]: error$')).toEqual([1, 4, 7]);
    expect(await found('\\b1\\d\\b.*ERROR')).toEqual([10, 13, 16, 19]);
    expect(await found('error', { limit: 2 })).toEqual([55, 58]);
    expect(await found('error', { limit: 2, cursor: { before: 55 } })).toEqual([49, 52]);
    expect(await found('error', { limit: 2, cursor: { after: 7 } })).toEqual([10, 13]);
    expect((await query({ mode: 'regex', text: 'error', limit: 2 })).hasBefore).toBe(true);
    expect((await query({ mode: 'regex', text: 'step 1:' })).hasBefore).toBe(false);
    expect(await found('never printed')).toEqual([]);
    for (const [text, message] of [
      ['(', 'This regular expression is not valid'],
      ['a{2,1}', 'This regular expression is not valid'],
      ['(a)\\1', 'Back-references and look-around are not supported'],
      ['(?=a)b', 'Back-references and look-around are not supported'],
    ] as const) {
      await expect(query({ mode: 'regex', text }), text).rejects.toMatchObject({
        status: 400,
        message,
        body: { fieldsWithError: ['text'] },
      });
    }
    await ship.daemon.close();
  });

  it('answers or gives up in time, whatever the expression', async () => {
    await app.ctx.db.executeQuery(
      sql`insert into log_line (container_id, seq, time_ns, stderr, text)
          select ${container}, n, n, false, repeat('a', 20000) from generate_series(1, 3000) n`.compile(app.ctx.db),
    );
    await app.ctx.db
      .insertInto('log_head')
      .values({ container_id: container, last_seq: 3000n })
      .onConflict((conflict) => conflict.column('container_id').doUpdateSet({ last_seq: 3000n }))
      .execute();
    const evil = [
      '(a+)+$b',
      '(a|a)*b',
      '(a|aa)+b',
      '(.*a){12}b',
      '(a*)*b',
      '^(a?){30}a{30}b',
      '([a-z]+)*b',
      '(a+a+)+b',
      '(.*){9}b',
      'a.*a.*a.*a.*b',
      '((a{1,60}){1,60}){1,60}',
      '(x+x+)+y|(a+)+z',
    ];
    let worst = 0;
    for (const text of evil) {
      const begun = performance.now();
      const answer = await query({ mode: 'regex', text }).catch((error: unknown) => error);
      worst = Math.max(worst, performance.now() - begun);
      if (answer instanceof Error) expect(answer, text).toMatchObject({ status: 400 });
      else expect(answer, text).toMatchObject({ isSuccess: true });
    }
    console.log(`hostile expressions over 60 MB of log: n = ${evil.length}, slowest ${Math.round(worst)} ms`);
    expect(worst).toBeLessThan(5_000);

    const asked = Array.from({ length: 40 }, () => query({ mode: 'regex', text: evil[0]! }));
    const refused = (await Promise.allSettled(asked)).flatMap((answer) =>
      answer.status === 'rejected' && answer.reason.status === 429 ? [answer.reason] : [],
    );
    console.log(`searches of one person at once: n = ${asked.length}, ${refused.length} refused`);
    expect(refused.length).toBeGreaterThan(0);
    for (const error of refused) expect(error).toMatchObject({ message: 'Too many requests at once', retryAfter: 1 });
  }, 60_000);

  it('acknowledges only whole records that are stored, and grants a window behind them', async () => {
    const ship = await openLog(await connectDaemon(app.url, key), container);
    const bytes = await ship.print(line('a'), line('b'));
    const half = line('c');
    ship.daemon.sendBytes(ship.stream, bytes, half.subarray(0, 5));
    ship.daemon.sendBytes(ship.stream, bytes + 5, half.subarray(5));
    const credit = await ship.daemon.next('credit', ({ offset }) => offset === bytes + half.length);
    expect(credit).toMatchObject({ stream: ship.stream, bytes: STREAM_CREDIT_BYTES });
    await ship.daemon.close();
  });

  it('stores every line exactly once over broken links that send again what was not acknowledged', async () => {
    const seed = Date.now();
    const links = fc.array(
      fc.record({ chunk: fc.integer({ min: 1, max: 90 }), cut: fc.nat(400), overlap: fc.nat(60), waits: fc.boolean() }),
      { minLength: 2, maxLength: 6 },
    );
    const runs = 12;
    let dialled = 0;
    let resumed = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(anyRecord, { minLength: 5, maxLength: 30 }), links, async (records, plan) => {
        container = await aContainer(app.ctx, alice, server);
        const bytes = Buffer.concat(records.map(encodeRecord));
        for (const { chunk, cut, overlap, waits } of plan) {
          const ship = await openLog(await connectDaemon(app.url, key), container);
          dialled += 1;
          if (ship.offset > 0 && ship.offset < bytes.length) resumed += 1;
          const end = Math.min(bytes.length, ship.offset + cut);
          for (let at = ship.offset; at < end; at += chunk) {
            const from = Math.max(ship.offset, at - overlap);
            ship.daemon.sendBytes(ship.stream, from, bytes.subarray(from, Math.min(end, at + chunk)));
          }
          if (waits) ship.daemon.send({ type: 'heartbeat', at: '' });
          else ship.daemon.socket.terminate();
          await (waits ? ship.daemon.close() : ship.daemon.closed);
        }
        const last = await openLog(await connectDaemon(app.url, key), container);
        last.daemon.sendBytes(last.stream, last.offset, bytes.subarray(last.offset));
        last.daemon.send({ type: 'log-end', stream: last.stream });
        const expected = linesOf(records);
        const lines = await stored(expected.length);
        expect(lines.map(({ stream, text }) => [stream, text])).toEqual(expected);
        expect(lines.map(({ seq }) => seq)).toEqual(expected.map((_, index) => index + 1));
        await last.daemon.close();
      }),
      { numRuns: runs, seed, endOnFailure: true },
    );
    console.log(
      `log streams over broken links: n = ${runs} logs, ${dialled} links, ${resumed} resumed in the middle, seed ${seed}`,
    );
    expect(resumed).toBeGreaterThan(0);
  }, 60_000);

  it('resumes a new link with where the last one got, and numbers on in a container made anew', async () => {
    const first = await openLog(await connectDaemon(app.url, key), container);
    expect(first.cursor).toEqual({ offset: 0, timeNs: null, recordsAtTime: 0 });
    const bytes = await first.print(line('a', { timeNs: 7n }), line('b', { timeNs: 7n }));
    await first.daemon.close();
    const second = await openLog(await connectDaemon(app.url, key), container);
    expect(second.cursor).toEqual({ offset: bytes, timeNs: '7', recordsAtTime: 2 });
    const anew = await openLog(second.daemon, container, 'another docker id', 2);
    expect(anew.cursor).toEqual({ offset: 0, timeNs: null, recordsAtTime: 0 });
    await anew.print(line('c'));
    expect((await stored(3)).map(({ text }) => text)).toEqual(['a', 'b', 'c']);
    await anew.daemon.close();
  });

  it('closes a link whose bytes do not join on or exceed what was granted, and stores none of them', async () => {
    const hole = await openLog(await connectDaemon(app.url, key), container);
    hole.daemon.sendBytes(1, 10, line('lost'));
    expect((await hole.daemon.closed).code).toBe(1013);
    const greedy = await openLog(await connectDaemon(app.url, key), container);
    const much = Buffer.concat(Array.from({ length: 20 }, () => line('x'.repeat(60_000))));
    greedy.daemon.socket.setMaxListeners(20);
    greedy.daemon.sendBytes(1, 0, much.subarray(0, 1_000_000));
    greedy.daemon.sendBytes(1, 1_000_000, much.subarray(1_000_000));
    expect((await greedy.daemon.closed).code).toBe(1008);
    const nonsense = await openLog(await connectDaemon(app.url, key), container);
    nonsense.daemon.sendBytes(1, nonsense.offset, new Uint8Array(64).fill(255));
    expect((await nonsense.daemon.closed).code).toBe(1008);
  });

  it('shows a gap once where it lies, though a new link tells of it again', async () => {
    const gap = {
      type: 'log-gap',
      from: '2026-01-01T00:00:00.000000001Z',
      to: '2026-01-01T00:00:09.000000000Z',
      reason: 'Docker had dropped them',
    } as const;
    const first = await openLog(await connectDaemon(app.url, key), container);
    const bytes = await first.print(line('before'));
    first.daemon.send({ ...gap, stream: 1, offset: bytes });
    await expect.poll(async () => (await query()).gaps).toHaveLength(1);
    await first.daemon.close();
    const second = await openLog(await connectDaemon(app.url, key), container);
    second.daemon.send({ ...gap, to: '2026-01-01T00:00:10.000000000Z', stream: 1, offset: bytes });
    await second.print(line('after'));
    await stored(2);
    expect((await query()).gaps).toEqual([
      { afterSeq: 1, from: gap.from, to: '2026-01-01T00:00:10.000000000Z', reason: gap.reason },
    ]);
    await second.daemon.close();
  });

  it('pages back and forward, finds text whatever its case and times', async () => {
    const ship = await openLog(await connectDaemon(app.url, key), container);
    const at = Date.UTC(2026, 0, 1);
    await ship.print(
      ...Array.from({ length: 50 }, (_, index) =>
        line(index % 10 === 0 ? `Error ${index} 100%` : `line ${index}`, {
          timeNs: BigInt(at + index * 1000) * 1_000_000n,
        }),
      ),
    );
    await stored(50);
    const seqs = async (more: object) => {
      const { lines, hasBefore, lastSeq } = await query(more);
      return { seqs: lines.map(({ seq }) => seq), hasBefore, lastSeq };
    };
    expect(await seqs({ limit: 3 })).toEqual({ seqs: [48, 49, 50], hasBefore: true, lastSeq: 50 });
    expect(await seqs({ limit: 3, cursor: { before: 3 } })).toEqual({ seqs: [1, 2], hasBefore: false, lastSeq: 50 });
    expect(await seqs({ limit: 2, cursor: { after: 10 } })).toEqual({ seqs: [11, 12], hasBefore: true, lastSeq: 50 });
    expect(await seqs({ text: 'eRRor', limit: 2 })).toEqual({ seqs: [31, 41], hasBefore: true, lastSeq: 50 });
    expect((await seqs({ text: '0%' })).seqs).toHaveLength(5);
    expect((await seqs({ text: '_' })).seqs).toEqual([]);
    const [from, to] = [new Date(at + 10_000).toISOString(), new Date(at + 12_000).toISOString()];
    expect((await seqs({ from, to })).seqs).toEqual([11, 12, 13]);
    await ship.daemon.close();
  });

  it('sends a tail the history behind a line and then each new line once, in order', async () => {
    const ship = await openLog(await connectDaemon(app.url, key), container);
    const total = 3_000;
    let printed = 0;
    const printSome = async (count: number): Promise<void> => {
      const from = printed;
      printed += count;
      await ship.print(...Array.from({ length: count }, (_, index) => line(`line ${from + index + 1}`)));
    };
    await printSome(1_500);
    const tails = await Promise.all([0, 700, 1_499].map((after) => openTail(app, alice, container, after)));
    while (printed < total) await printSome(75);
    for (const [index, after] of [0, 700, 1_499].entries()) {
      const lines = await tails[index]!.until((heard) => heard.at(-1)?.seq === total);
      expect(lines.map(({ seq }) => seq)).toEqual(Array.from({ length: total - after }, (_, at) => after + at + 1));
      expect(lines.map(({ text }) => text)).toEqual(lines.map(({ seq }) => `line ${seq}`));
      tails[index]!.socket.close();
    }
    console.log(`tails: n = 3 readers, ${total} lines, 0 missing, 0 twice`);
    await ship.daemon.close();
  });

  it('tells a tail that is far behind where the lines are that it does not get', async () => {
    const ship = await openLog(await connectDaemon(app.url, key), container);
    for (let round = 0; round < 5; round += 1) {
      await ship.print(...Array.from({ length: 5_000 }, () => line('x')));
    }
    const tail = await openTail(app, alice, container, 10);
    const lines = await tail.until((heard) => heard.at(-1)?.seq === 25_000);
    const skipped = tail.received.find((message) => message.type === 'skipped');
    expect(skipped).toMatchObject({ fromSeq: 11 });
    expect(lines[0]!.seq).toBe((skipped as { toSeq: number }).toSeq + 1);
    tail.socket.close();
    await ship.daemon.close();
  });

  it('opens a tail with a ticket once, from the own origin, for the own workspace only', async () => {
    const outcome = (ticket: string, options: { origin?: string; id?: number } = {}) =>
      upgrade(tailUrl(app.url, ticket, options.id ?? container, 0), options.origin);
    const ticket = await ticketOf(alice);
    expect(await outcome(ticket, { origin: 'https://evil.example' })).toBe(403);
    expect(await outcome(ticket, { origin: `http://localhost.evil.example:${new URL(app.url).port}` })).toBe(403);
    expect(await outcome(ticket, { origin: app.url })).toBe(101);
    expect(await outcome(ticket)).toBe(401);
    expect(await outcome('made up')).toBe(401);
    expect(await outcome(await ticketOf(mallory))).toBe(404);
    expect(await outcome(await ticketOf(mallory), { id: 999_999 })).toBe(404);
    await expect(query({}, mallory)).rejects.toMatchObject({ status: 404 });
    const raced = await ticketOf(alice);
    const answers = await Promise.all(Array.from({ length: 10 }, () => outcome(raced)));
    expect(answers.filter((status) => status === 101)).toHaveLength(1);
  });

  it('ends a tail when its session or its membership ends', async () => {
    const leaver = await app.signUp();
    await app.ctx.db
      .insertInto('membership')
      .values({ workspace_id: alice.workspaceId, user_id: leaver.userId, role: 'Developer' })
      .execute();
    leaver.useWorkspace(alice.workspaceId);
    const tail = await openTail(app, leaver, container, 0);
    const begun = performance.now();
    await leaver.client(api.auth.logout, { refreshToken: leaver.tokens().refreshToken });
    expect((await tail.closed).code).toBe(4401);
    console.log(`tail ended ${(performance.now() - begun).toFixed(0)} ms after sign-out, n = 1`);
    expect(performance.now() - begun).toBeLessThan(2_000);
  });

  it('forgets lines older than 30 days and keeps the numbers of the others', async () => {
    const ship = await openLog(await connectDaemon(app.url, key), container);
    await ship.print(line('old', { timeNs: 1n }), line('old too', { timeNs: 2n }), line('new'));
    await stored(3);
    await forgetOldLines(app.ctx.db);
    expect((await query()).lines.map(({ seq, text }) => [seq, text])).toEqual([[3, 'new']]);
    await ship.daemon.close();
  });
});

const line = (text: string, more: Partial<LogRecord> = {}): Uint8Array =>
  encodeRecord({ timeNs: NOW_NS, stream: 'stdout', partial: false, text: Buffer.from(text), ...more });

const anyRecord = fc.record({
  timeNs: fc.integer({ min: 0, max: 3 }).map((step) => NOW_NS + BigInt(step)),
  stream: fc.constantFrom('stdout' as const, 'stderr' as const),
  partial: fc.boolean(),
  text: fc
    .string({ unit: fc.constantFrom('a', 'b', 'ü', '€', ' ', '\t', '\0', '\r'), maxLength: 20 })
    .map((text) => Buffer.from(text)),
});

/** What a reader should see of records: the model of the test. */
function linesOf(records: readonly LogRecord[]): [string, string][] {
  const lines: [string, string][] = [];
  const open: Record<string, string | undefined> = {};
  for (const { stream, partial, text } of records) {
    const joined = (open[stream] ?? '') + text.toString().replaceAll('\0', '\uFFFD');
    open[stream] = partial ? joined : undefined;
    if (!partial) lines.push([stream, joined]);
  }
  for (const stream of ['stdout', 'stderr']) {
    const rest = open[stream];
    if (rest !== undefined) lines.push([stream, rest]);
  }
  return lines;
}

interface Ship {
  daemon: TestDaemon;
  stream: number;
  cursor: { offset: number; timeNs: string | null; recordsAtTime: number };
  offset: number;
  /** Sends records and waits until they are stored; answers the offset behind them. */
  print(...records: Uint8Array[]): Promise<number>;
}

async function openLog(daemon: TestDaemon, containerId: number, epoch = 'docker id', stream = 1): Promise<Ship> {
  daemon.send({ type: 'log-open', stream, containerId, epoch });
  const { cursor } = await daemon.next('log-resume', (message) => message.stream === stream);
  let at = cursor.offset;
  return {
    daemon,
    stream,
    cursor,
    offset: cursor.offset,
    async print(...records) {
      const bytes = Buffer.concat(records);
      const from = at;
      at += bytes.length;
      for (let sent = 0; sent < bytes.length; sent += 60_000) {
        daemon.sendBytes(stream, from + sent, bytes.subarray(sent, sent + 60_000));
      }
      const end = at;
      await daemon.next('credit', (message) => message.stream === stream && message.offset === end);
      return end;
    },
  };
}

async function ticketOf(person: Person): Promise<string> {
  return (await person.client(api.auth.streamTicket, {})).ticket;
}

function tailUrl(url: string, ticket: string, id: number, after: number): string {
  const query = new URLSearchParams({ ticket, type: 'docker-container', id: String(id), after: String(after) });
  return `${url.replace('http', 'ws')}/frontend-api/logging/tail?${query}`;
}

/** The status an upgrade is answered with. */
function upgrade(url: string, origin?: string): Promise<number> {
  const socket = new WebSocket(url, origin ? { origin } : {});
  return new Promise((resolve, reject) => {
    socket.on('unexpected-response', (_, response) => {
      resolve(response.statusCode ?? 0);
      response.destroy();
    });
    socket.on('open', () => {
      resolve(101);
      socket.close();
    });
    socket.on('error', reject);
  });
}

async function openTail(app: TestApp, person: Person, id: number, after: number) {
  const socket = new WebSocket(tailUrl(app.url, await ticketOf(person), id, after), { origin: app.url });
  const received: TailMessage[] = [];
  const lines: LogLine[] = [];
  let look = (): void => {};
  socket.on('message', (data: Buffer) => {
    const message = TailMessage.parse(JSON.parse(data.toString()));
    received.push(message);
    if (message.type === 'lines') lines.push(...message.lines);
    look();
  });
  const closed = new Promise<{ code: number }>((resolve) => socket.on('close', (code) => resolve({ code })));
  await new Promise((resolve, reject) => {
    socket.on('open', resolve);
    socket.on('error', reject);
  });
  return {
    socket,
    received,
    closed,
    until: (enough: (heard: readonly LogLine[]) => boolean): Promise<readonly LogLine[]> =>
      new Promise((resolve) => {
        look = () => {
          if (enough(lines)) resolve(lines);
        };
        look();
      }),
  };
}
