import type { DaemonMessage } from '@stagi/contract/daemon.ts';
import { type DataFrame, decodeRecords } from '@stagi/contract/frames.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { LinkSession } from './linkSession.ts';
import { openLogOutbox } from './logOutbox.ts';

/** The far end of a link, which grants credit for what it has received. */
function link() {
  const gone = new AbortController();
  const frames: DataFrame[] = [];
  let underWay = 0;
  const session: LinkSession = {
    signal: gone.signal,
    send: (_: DaemonMessage) => {},
    sendIfIdle: (_: DaemonMessage) => {},
    sendBytes(frame) {
      frames.push(frame);
      underWay += frame.bytes.length;
    },
    waitForRoom: () => Promise.resolve(100_000),
    acknowledged(bytes) {
      underWay -= bytes;
    },
  };
  return { session, frames, underWay: () => underWay, cut: () => gone.abort() };
}
const record = (length: number, index = 0) => ({
  timeNs: BigInt(index),
  stream: 'stdout' as const,
  partial: false,
  text: Buffer.alloc(length, 120),
});

describe('the log outbox', () => {
  it('stays within the credit and neither splits nor loses a record, however the credit moves', async () => {
    const lengths = fc.array(fc.integer({ min: 0, max: 32_768 }), { minLength: 1, maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(lengths, fc.integer({ min: 40_000, max: 300_000 }), async (texts, window) => {
        const { session, frames } = link();
        const outbox = openLogOutbox(session, 3, { offset: 100, limit: 100 + window }, session.signal);
        let allowed = 100 + window;
        for (const [index, length] of texts.entries()) outbox.put(record(length, index));
        let done = false;
        const flushed = outbox.flush().then(() => {
          done = true;
        });
        while (!done) {
          await Promise.resolve();
          const last = frames.at(-1);
          if (!last) continue;
          expect(last.offset + last.bytes.length).toBeLessThanOrEqual(allowed);
          allowed = last.offset + last.bytes.length + window;
          outbox.grantCredit(last.offset + last.bytes.length, allowed);
        }
        await flushed;
        const expected = frames.reduce((at, { offset, bytes }) => {
          expect(offset).toBe(at);
          expect(bytes.length).toBeLessThanOrEqual(65_536);
          expect(decodeRecords(bytes).consumed).toBe(bytes.length);
          return at + bytes.length;
        }, 100);
        expect(outbox.offset()).toBe(expected);
        expect(frames.flatMap(({ bytes }) => decodeRecords(bytes).records.map(({ text }) => text.length))).toEqual(
          texts,
        );
      }),
      { numRuns: 50 },
    );
  });

  it('counts nothing as in flight that the platform has stored, also after a rewind to before that', async () => {
    const { session, frames, underWay } = link();
    const outbox = openLogOutbox(session, 3, { offset: 0, limit: 100_000 }, session.signal);
    outbox.put(record(100));
    await outbox.flush();
    const [sent] = frames;
    expect(underWay()).toBe(sent!.bytes.length);
    outbox.grantCredit(3 * sent!.bytes.length, 100_000);
    expect(underWay()).toBe(0);
    for (const later of [0, 0]) {
      outbox.put(record(100));
      await outbox.flush();
      expect(underWay()).toBe(later);
    }
    outbox.put(record(100));
    await outbox.flush();
    expect(underWay()).toBe(sent!.bytes.length);
    outbox.close();
    expect(underWay()).toBe(0);
  });

  it('waits for credit, and stops waiting on a disconnect', async () => {
    const { session, frames, cut } = link();
    const outbox = openLogOutbox(session, 3, { offset: 0, limit: 10 }, session.signal);
    outbox.put(record(100));
    const flushed = outbox.flush();
    cut();
    await expect(flushed).rejects.toThrow();
    expect(frames).toEqual([]);
  });
});
