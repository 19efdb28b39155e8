import type { FromWorker, Task, ToWorker } from './tasks.ts';

type Part = Extract<FromWorker, { part: unknown }>['part'];

/** A task that the worker has not ended. Whoever asked for it may have canceled it. */
interface Running {
  onPart(part: Part): void;
  resolve(): void;
  reject(cause: Error): void;
  timer: number;
}

/** Without a part for this long a task has failed. A hostile text can keep a parser busy for hours. */
const PART_MS = 15_000;

let worker: Worker | null = null;
let count = 0;
const running = new Map<number, Running>();

/** Gives a task to the worker, which hands out its answer in parts. Rejects when it fails or takes too long. */
export async function runCodeTask(task: Task, onPart: (part: Part) => void, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  const id = count++;
  const cancel = (): void => {
    const canceled = running.get(id);
    if (!canceled) return;
    // It keeps its timer until the worker has answered: a worker that does not is stuck, and is replaced.
    canceled.onPart = () => undefined;
    canceled.reject(signal.reason as Error);
    worker?.postMessage({ id, cancel: true } satisfies ToWorker);
  };
  signal.addEventListener('abort', cancel);
  try {
    await new Promise<void>((resolve, reject) => {
      worker ??= start();
      running.set(id, { onPart, resolve, reject, timer: window.setTimeout(giveUp, PART_MS) });
      worker.postMessage({ id, task } satisfies ToWorker);
    });
  } finally {
    signal.removeEventListener('abort', cancel);
  }
}

function start(): Worker {
  const made = new Worker(new URL('./codeWorker.ts', import.meta.url), { type: 'module', name: 'code' });
  made.addEventListener('message', ({ data }: MessageEvent<FromWorker>) => {
    const task = running.get(data.id);
    if (!task) return;
    window.clearTimeout(task.timer);
    if ('part' in data) {
      task.timer = window.setTimeout(giveUp, PART_MS);
      task.onPart(data.part);
      return;
    }
    running.delete(data.id);
    if ('done' in data) task.resolve();
    else task.reject(new Error(data.failed));
  });
  made.addEventListener('error', () => end(new Error('The code worker failed')));
  return made;
}

const giveUp = (): void => end(new Error('The code worker took too long'));

/** The next task starts another worker. */
function end(cause: Error): void {
  worker?.terminate();
  worker = null;
  for (const task of running.values()) {
    window.clearTimeout(task.timer);
    task.reject(cause);
  }
  running.clear();
}
