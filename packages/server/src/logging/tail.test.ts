import { api } from '@stagi/contract/api.ts';
import { STREAM_CLOSE } from '@stagi/contract/streams.ts';
import { describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { aLoggingContainer, line } from './testing/shipped.ts';
import { openTail, tailUrl, ticketOf } from './testing/tail.ts';

describe('a log tail', () => {
  const at = aLoggingContainer();

  it('sends the lines after a line number and then each new line exactly once, in order', async () => {
    const ship = await at.logs.open(at.container);
    const total = 3_000;
    let printed = 0;
    const printSome = async (count: number): Promise<void> => {
      const from = printed;
      printed += count;
      await ship.print(...Array.from({ length: count }, (_, index) => line(`line ${from + index + 1}`)));
    };
    await printSome(1_500);
    const tails = await Promise.all(
      [0, 700, 1_499].map((after) => openTail(at.logs.app, at.logs.alice, at.container, after)),
    );
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

  it('skips lines for a reader that lags far behind, and tells it which', async () => {
    const ship = await at.logs.open(at.container);
    for (let round = 0; round < 5; round += 1) {
      await ship.print(...Array.from({ length: 5_000 }, () => line('x')));
    }
    const tail = await openTail(at.logs.app, at.logs.alice, at.container, 10);
    const lines = await tail.until((heard) => heard.at(-1)?.seq === 25_000);
    const skipped = tail.received.find((message) => message.type === 'skipped');
    expect(skipped).toMatchObject({ fromSeq: 11 });
    expect(lines[0]!.seq).toBe((skipped as { toSeq: number }).toSeq + 1);
    tail.socket.close();
    await ship.daemon.close();
  });

  it('opens with a single-use ticket, only from the own origin and for the own workspace', async () => {
    const outcome = (ticket: string, options: { origin?: string; id?: number } = {}) =>
      upgrade(tailUrl(at.logs.app.url, ticket, options.id ?? at.container, 0), options.origin);
    const ticket = await ticketOf(at.logs.alice);
    expect(await outcome(ticket, { origin: 'https://evil.example' })).toBe(403);
    expect(await outcome(ticket, { origin: `http://localhost.evil.example:${new URL(at.logs.app.url).port}` })).toBe(
      403,
    );
    expect(await outcome(ticket, { origin: at.logs.app.url })).toBe(101);
    expect(await outcome(ticket)).toBe(401);
    expect(await outcome('made up')).toBe(401);
    expect(await outcome(await ticketOf(at.logs.mallory))).toBe(404);
    expect(await outcome(await ticketOf(at.logs.mallory), { id: 999_999 })).toBe(404);
    await expect(at.logs.query(at.container, {}, at.logs.mallory)).rejects.toMatchObject({ status: 404 });
    const raced = await ticketOf(at.logs.alice);
    const answers = await Promise.all(Array.from({ length: 10 }, () => outcome(raced)));
    expect(answers.filter((status) => status === 101)).toHaveLength(1);
  });

  it('is closed when its session or its membership ends', async () => {
    const leaver = await at.logs.app.signUp();
    await at.logs.app.ctx.db
      .insertInto('membership')
      .values({ workspace_id: at.logs.alice.workspaceId, user_id: leaver.userId, role: 'Developer' })
      .execute();
    leaver.useWorkspace(at.logs.alice.workspaceId);
    const tail = await openTail(at.logs.app, leaver, at.container, 0);
    await leaver.client(api.auth.logout, { refreshToken: leaver.tokens().refreshToken });
    expect((await tail.closed).code).toBe(STREAM_CLOSE.signedOut);
  });
});

/** The HTTP status that answers an upgrade. */
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
