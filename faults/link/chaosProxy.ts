import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { type FrameTap, tapFrames } from './frameTap.ts';
import type { Random } from './random.ts';

/** The network conditions for each direction of each connection. */
export interface NetworkConditions {
  latencyMs: number;
  /** Jitter: up to this much more at random, never out of order. */
  jitterMs: number;
  /** Bandwidth limit; null: none. */
  bytesPerSecond: number | null;
  /** Splits into chunks of at most this many bytes; null: does not. */
  splitBytes: number | null;
  /** Delivers nothing, without an error; delivers it all when it ends. */
  blackhole: boolean;
  /** New connections are reset. */
  refuse: boolean;
}

export const NORMAL_CONDITIONS: NetworkConditions = {
  latencyMs: 0,
  jitterMs: 0,
  bytesPerSecond: null,
  splitBytes: null,
  blackhole: false,
  refuse: false,
};

/** A TCP proxy that injects network faults. */
export interface ChaosProxy {
  port: number;
  /** Changes the conditions, also for bytes in flight. */
  set(change: Partial<NetworkConditions>): void;
  /** Resets every connection at any byte; returns how many. */
  reset(): number;
  /** Makes every connection half-open: the far ends vanish without a reset. */
  halfOpen(): number;
  /** Replays recorded control frames of this connection and earlier ones to the near ends. */
  replay(count: number): void;
  replays(): number;
  close(): Promise<void>;
  connections(): number;
}

const QUEUE_BYTES = 256 * 1024;
const RECORDED = 500;
/** Messages that a hostile network could replay. */
const WORTH_REPLAYING = /^\{"type":"(?:desired|command|credit|log-resume|log-refuse|rotated)"/;

export async function startChaosProxy(
  upstream: () => number,
  random: Random,
  { port = 0, host = '127.0.0.1' } = {},
): Promise<ChaosProxy> {
  const weather: NetworkConditions = { ...NORMAL_CONDITIONS };
  const pairs = new Set<Pair>();
  const recorded: Buffer[] = [];
  let replays = 0;
  const server = createServer({ noDelay: true }, (near) => {
    if (weather.refuse) return void near.resetAndDestroy();
    const pair = join(near);
    pairs.add(pair);
    near.on('close', () => pairs.delete(pair));
  });

  interface Pair {
    near: Socket;
    far: Socket;
    tap: FrameTap;
    flows: Flow[];
    isHalf: boolean;
  }

  function join(near: Socket): Pair {
    const far = connect({ port: upstream(), host: '127.0.0.1', noDelay: true });
    const tap = tapFrames((text, frame) => {
      if (!WORTH_REPLAYING.test(text)) return;
      recorded.push(frame);
      if (recorded.length > RECORDED) recorded.splice(Math.floor(random.next() * RECORDED), 1);
    });
    const pair: Pair = { near, far, tap, isHalf: false, flows: [] };
    pair.flows = [flow(near, far, weather, random, (bytes) => bytes), flow(far, near, weather, random, tap.take)];
    const end = (other: Socket) => () => {
      if (pair.isHalf) return;
      for (const one of pair.flows) one.stop();
      other.destroy();
    };
    // The `close` event that follows handles the error.
    near.on('error', end(far)).on('close', end(far));
    far.on('error', end(near)).on('close', end(near));
    return pair;
  }

  server.listen(port, host);
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    set(change) {
      Object.assign(weather, change);
      for (const { flows } of pairs) for (const one of flows) one.weatherChanged();
    },
    reset() {
      const count = pairs.size;
      for (const { near, far } of [...pairs]) {
        near.resetAndDestroy();
        far.resetAndDestroy();
      }
      return count;
    },
    halfOpen() {
      for (const pair of pairs) {
        pair.isHalf = true;
        for (const one of pair.flows) one.stop();
        // Bytes are read and dropped, as by a peer that is gone. The platform may learn as little of it as the daemon.
        pair.near.removeAllListeners('data').resume();
        if (random.next() < 0.5) pair.far.destroy();
        else pair.far.removeAllListeners('data').resume();
      }
      return pairs.size;
    },
    replay(count) {
      for (const { tap, isHalf } of pairs) {
        for (let index = 0; index < count && recorded.length > 0 && !isHalf; index += 1) {
          tap.inject(random.pick(recorded));
          replays += 1;
        }
      }
    },
    replays: () => replays,
    connections: () => pairs.size,
    async close() {
      for (const { near, far } of pairs) {
        near.destroy();
        far.destroy();
      }
      server.close();
      await once(server, 'close');
    },
  };
}

interface Flow {
  weatherChanged(): void;
  stop(): void;
}

/** One direction of a connection: bytes wait in a queue as the conditions demand. */
function flow(
  from: Socket,
  to: Socket,
  weather: NetworkConditions,
  random: Random,
  pass: (bytes: Buffer) => Buffer,
): Flow {
  let queue: { bytes: Buffer; dueAt: number }[] = [];
  let queued = 0;
  let lastDueAt = 0;
  let freeAt = 0;
  let hasEnded = false;
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;

  from.on('data', (data: Buffer) => {
    if (stopped) return;
    const bytes = pass(data);
    lastDueAt = Math.max(lastDueAt, performance.now() + weather.latencyMs + random.next() * weather.jitterMs);
    queue.push({ bytes, dueAt: lastDueAt });
    queued += bytes.length;
    if (queued > QUEUE_BYTES) from.pause();
    work();
  });
  from.on('end', () => {
    hasEnded = true;
    work();
  });

  function work(): void {
    clearTimeout(timer);
    while (!stopped && !weather.blackhole && queue[0]) {
      const now = performance.now();
      const at = Math.max(queue[0].dueAt, freeAt);
      if (at > now) {
        timer = setTimeout(work, Math.ceil(at - now));
        return;
      }
      send(queue[0]);
    }
    if (hasEnded && queue.length === 0 && !stopped) to.end();
  }

  function send(first: { bytes: Buffer }): void {
    // With a bandwidth limit: chunks of a tenth of a second.
    const share = weather.bytesPerSecond === null ? first.bytes.length : Math.max(1, weather.bytesPerSecond / 10);
    const size = Math.min(first.bytes.length, Math.ceil(share), weather.splitBytes ?? first.bytes.length);
    const piece = first.bytes.subarray(0, size);
    first.bytes = first.bytes.subarray(size);
    if (first.bytes.length === 0) queue.shift();
    queued -= size;
    if (weather.bytesPerSecond !== null) freeAt = performance.now() + (size / weather.bytesPerSecond) * 1000;
    if (to.writable) to.write(piece);
    if (queued <= QUEUE_BYTES / 2 && from.isPaused()) from.resume();
  }

  return {
    weatherChanged() {
      if (weather.bytesPerSecond === null) freeAt = 0;
      work();
    },
    stop() {
      stopped = true;
      queue = [];
      clearTimeout(timer);
    },
  };
}
