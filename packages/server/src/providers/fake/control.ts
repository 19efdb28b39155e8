import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { FakeFaultRule, FakeReport, FakeStray } from './protocol.ts';

/** Controls the fake cloud: clock, capacity, faults. */
export interface FakeControl {
  report(): Promise<FakeReport>;
  /** Injects a fault into the next `times` (default 1) calls of this operation; several faults apply in sequence. */
  fault(on: FakeFaultRule['on'], fault: FakeFaultRule['fault'], times?: number | null): Promise<void>;
  clearFaults(): Promise<void>;
  /** `scale`: cloud milliseconds for one real millisecond. */
  clock(change: { scale?: number; advanceMs?: number }): Promise<void>;
  /** How many machines of an offer can exist at once. */
  capacity(offerId: string, count: number): Promise<void>;
  vanish(name: string): Promise<void>;
  fail(name: string, detail: string): Promise<void>;
  stray(stray: FakeStray): Promise<void>;
  /** Many at once, where capacity does not matter. */
  strays(strays: readonly FakeStray[]): Promise<void>;
  reset(): Promise<void>;
}

export interface FakeCloudProcess {
  /** Does not change on `restart`. */
  url: string;
  control: FakeControl;
  /** SIGKILL; resolves when the process has exited. */
  kill(): Promise<void>;
  /** Starts it again with the same state and address. */
  restart(): Promise<void>;
}

export function createFakeControl(url: string): FakeControl {
  const post = (path: string, body: unknown) => call(url, 'POST', path, body);
  return {
    report: async () => (await (await send(url, 'GET', 'report')).json()) as FakeReport,
    fault: (on, fault, times = 1) => post('faults', { on, fault, times } satisfies FakeFaultRule),
    clearFaults: () => call(url, 'DELETE', 'faults'),
    clock: (change) => post('clock', change),
    capacity: (offerId, count) => post('capacity', { offerId, count }),
    vanish: (name) => post('vanish', { name }),
    fail: (name, detail) => post('fail', { name, detail }),
    stray: (stray) => post('strays', [stray]),
    strays: (strays) => post('strays', strays),
    reset: () => post('reset', {}),
  };
}

/** Runs the fake cloud as a child process that does not outlive this one; on any port by default. */
export async function spawnFakeCloud(options: {
  statePath: string;
  provisionMs?: number;
  port?: number;
}): Promise<FakeCloudProcess> {
  let child: ChildProcess;
  let port = options.port ?? 0;

  async function run(): Promise<string> {
    const args = [`--state=${options.statePath}`, `--port=${port}`, `--provision-ms=${options.provisionMs ?? 120_000}`];
    child = spawn(process.execPath, [join(import.meta.dirname, 'main.ts'), ...args], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    process.once('exit', killChild);
    const [line] = (await Promise.race([
      once(createInterface({ input: child.stdout! }), 'line'),
      once(child, 'exit').then(([code]) => Promise.reject(new Error(`The fake cloud ended with status ${code}`))),
    ])) as [string];
    return (JSON.parse(line) as { url: string }).url;
  }

  function killChild(): void {
    child.kill('SIGKILL');
  }

  const url = await run();
  port = Number(new URL(url).port);
  return {
    url,
    control: createFakeControl(url),
    async kill() {
      process.off('exit', killChild);
      if (child.exitCode !== null || child.signalCode !== null) return;
      const gone = once(child, 'exit');
      child.kill('SIGKILL');
      await gone;
    },
    async restart() {
      await run();
    },
  };
}

async function call(url: string, method: string, path: string, body?: unknown): Promise<void> {
  await send(url, method, path, body);
}

async function send(url: string, method: string, path: string, body?: unknown): Promise<Response> {
  const response = await fetch(`${url}/admin/${path}`, {
    method,
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`The fake cloud refused ${method} ${path}: ${await response.text()}`);
  return response;
}
