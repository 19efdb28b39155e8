/**
 * The client of `ports.bench.ts`, a process of its own. A message asks for requests to `port`: `count` of them, `atOnce`
 * at a time, on kept connections. It answers with the milliseconds of each, the bytes, and how many failed.
 */
import { Agent, request } from 'node:http';

export interface Asked {
  port: number;
  path: string;
  headers: Record<string, string>;
  count: number;
  atOnce: number;
}

export interface Measured {
  ms: number[];
  bytes: number;
  seconds: number;
  errors: number;
}

process.on('message', (asked: Asked) => {
  measure(asked).then((measured) => process.send?.(measured));
});

async function measure({ port, path, headers, count, atOnce }: Asked): Promise<Measured> {
  const agent = new Agent({ keepAlive: true, maxSockets: atOnce });
  const measured: Measured = { ms: [], bytes: 0, seconds: 0, errors: 0 };
  let left = count;
  const began = performance.now();
  const one = (): Promise<void> =>
    new Promise((resolve) => {
      const start = performance.now();
      const failed = (): void => {
        measured.errors += 1;
        resolve();
      };
      request({ host: '127.0.0.1', port, path, headers, agent }, (answer) => {
        answer.on('data', (data: Buffer) => {
          measured.bytes += data.length;
        });
        answer.on('error', failed);
        answer.on('end', () => {
          if (answer.statusCode !== 200) measured.errors += 1;
          measured.ms.push(performance.now() - start);
          resolve();
        });
      })
        .on('error', failed)
        .end();
    });
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      while (left-- > 0) await one();
    }),
  );
  measured.seconds = (performance.now() - began) / 1000;
  agent.destroy();
  return measured;
}
