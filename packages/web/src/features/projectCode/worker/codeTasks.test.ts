import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { runCodeTask } from './codeTasks.ts';
import type { FromWorker, Task, ToWorker } from './tasks.ts';

/** Stands for the browser's worker: it answers when the test says so. */
class SilentWorker extends EventTarget {
  static made: SilentWorker[] = [];
  received: ToWorker[] = [];
  isTerminated = false;
  constructor() {
    super();
    SilentWorker.made.push(this);
  }
  postMessage(message: ToWorker): void {
    this.received.push(message);
  }
  terminate(): void {
    this.isTerminated = true;
  }
  answer(data: FromWorker): void {
    this.dispatchEvent(new MessageEvent('message', { data }));
  }
}

const TASK: Task = { kind: 'markdown', text: '# Title', folder: '' };
const TIMEOUT_MS = 15_000;

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal('window', globalThis);
  vi.stubGlobal('Worker', SilentWorker);
});
afterEach(() => {
  // A task without an answer ends the worker: the next test starts another one.
  vi.runAllTimers();
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

/** A task that is on its way, and how it ended. */
function run(signal = new AbortController().signal) {
  const ended = vi.fn<(cause: unknown) => void>();
  const onPart = vi.fn();
  const promise = runCodeTask(TASK, onPart, signal).then(() => ended('done'), ended);
  const worker = SilentWorker.made.at(-1)!;
  const { id } = worker.received.at(-1)!;
  return { id, worker, onPart, ended, promise };
}

async function runAndCancel() {
  const leaving = new AbortController();
  const task = run(leaving.signal);
  leaving.abort(new Error('another page'));
  await task.promise;
  expect(task.ended).toHaveBeenCalledWith(new Error('another page'));
  expect(task.worker.received).toContainEqual({ id: task.id, cancel: true });
  return task;
}

test('a canceled task that the worker ends does not end the tasks after it', async () => {
  const canceled = await runAndCancel();
  canceled.worker.answer({ id: canceled.id, part: { lines: [] } });
  canceled.worker.answer({ id: canceled.id, done: true });
  expect(canceled.onPart).not.toHaveBeenCalled();

  await vi.advanceTimersByTimeAsync(TIMEOUT_MS - 1_000);
  const next = run();
  expect(next.worker).toBe(canceled.worker);
  await vi.advanceTimersByTimeAsync(2_000);
  expect(next.worker.isTerminated).toBe(false);
  next.worker.answer({ id: next.id, done: true });
  await next.promise;
  expect(next.ended).toHaveBeenCalledWith('done');
});

test('a worker that does not end a canceled task is replaced', async () => {
  const canceled = await runAndCancel();
  await vi.advanceTimersByTimeAsync(TIMEOUT_MS);
  expect(canceled.worker.isTerminated).toBe(true);
  expect(run().worker).not.toBe(canceled.worker);
});

test('a task without an answer fails, and the next one has another worker', async () => {
  const stuck = run();
  await vi.advanceTimersByTimeAsync(TIMEOUT_MS);
  expect(stuck.ended).toHaveBeenCalledWith(new Error('The code worker took too long'));
  expect(stuck.worker.isTerminated).toBe(true);
  const next = run();
  expect(next.worker).not.toBe(stuck.worker);
  next.worker.answer({ id: next.id, failed: 'no such grammar' });
  await next.promise;
  expect(next.ended).toHaveBeenCalledWith(new Error('no such grammar'));
});
