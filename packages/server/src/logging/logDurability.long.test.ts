import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { startEmbeddedPostgres } from '../db/embedded.ts';
import { aContainer } from '../testing/factories.ts';
import { killPostgres } from '../testing/killPostgres.ts';
import { line, type Ship, startLoggingApp } from './testing/shipped.ts';

const KILLS = 4;
const LINES = 75;

it('loses no acknowledged line when the database is killed, and stores each line exactly once', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'stagi-kept-'));
  // With the default settings, where a commit waits for the disk unless it is asynchronous.
  const postgres = await startEmbeddedPostgres({ dataDir, log: { info: () => {}, warn: () => {} } });
  const logs = await startLoggingApp({ DATABASE_URL: postgres.url });
  const { db } = logs.app.ctx;
  try {
    const container = await aContainer(logs.app.ctx, logs.alice, logs.server);
    const printed: Uint8Array[] = [];
    let acknowledged = 0;
    for (let kill = 1; kill <= KILLS; kill += 1) {
      const ship = await logs.open(container);
      sendFrom(ship, ship.offset, Buffer.concat(printed).subarray(ship.offset));
      // One line at a time, so that at each kill some are acknowledged and others in flight.
      for (let count = 0; count < LINES; count += 1) {
        const offset = lengthOf(printed);
        printed.push(line(`${printed.length + 1}`));
        sendFrom(ship, offset, printed.at(-1)!);
        if (count % 5 === 0) await ship.daemon.next('credit', (told) => told.offset > offset - 1_000);
      }
      await killPostgres(dataDir, postgres.url);
      ship.daemon.socket.terminate();
      await ship.daemon.closed;
      acknowledged = Math.max(acknowledged, ...toldBy(ship));
      expect(await stored()).toBeGreaterThanOrEqual(acknowledged);
    }
    const last = await logs.open(container);
    sendFrom(last, last.offset, Buffer.concat(printed).subarray(last.offset));
    const lines = await storedLines(printed.length);
    console.log(
      `logs over a killed database: n = ${KILLS} kills, ${printed.length} lines, ${acknowledged} bytes acknowledged`,
    );
    expect(acknowledged).toBeGreaterThan(0);
    expect(lines).toEqual(printed.map((_, index) => `${index + 1}`));
    await last.daemon.close();
  } finally {
    await logs.app.close();
    await postgres.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }

  async function stored(): Promise<number> {
    const rows = await db.selectFrom('log_stream').select('stored_bytes').execute();
    return Number(rows[0]?.stored_bytes ?? 0);
  }

  async function storedLines(count: number): Promise<string[]> {
    const read = () => db.selectFrom('log_line').select('text').orderBy('seq').execute();
    await expect.poll(async () => (await read()).length, { timeout: 20_000 }).toBe(count);
    return (await read()).map(({ text }) => text);
  }
}, 180_000);

const lengthOf = (printed: readonly Uint8Array[]): number => printed.reduce((sum, { length }) => sum + length, 0);

function sendFrom({ daemon, stream }: Ship, offset: number, bytes: Uint8Array): void {
  if (bytes.length > 0) daemon.sendBytes(stream, offset, bytes);
}

function toldBy({ daemon }: Ship): number[] {
  return daemon.received.filter((message) => message.type === 'credit').map(({ offset }) => offset);
}
