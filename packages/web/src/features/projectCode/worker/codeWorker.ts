import type { FromWorker, Task, ToWorker } from './tasks.ts';

// What takes long for a long or hostile text happens here, so that the page never waits for it.

const canceled = new Set<number>();

const send = (message: FromWorker): void => self.postMessage(message);

self.addEventListener('message', ({ data }: MessageEvent<ToWorker>) => {
  if ('cancel' in data) canceled.add(data.id);
  else void answer(data.id, data.task);
});

async function answer(id: number, task: Task): Promise<void> {
  try {
    if (task.kind === 'markdown') {
      const { markdownTree } = await import('../markdown/markdownTree.ts');
      send({ id, part: { tree: markdownTree(task.text, task.folder) } });
    } else {
      const { highlightLines } = await import('../highlight/highlightLines.ts');
      for await (const lines of highlightLines(task.text, task.language)) {
        if (canceled.has(id)) break;
        send({ id, part: { lines } });
        await messagesToArrive();
      }
    }
    send({ id, done: true });
  } catch (cause) {
    send({ id, failed: cause instanceof Error ? cause.message : String(cause) });
  } finally {
    canceled.delete(id);
  }
}

const messagesToArrive = (): Promise<void> => new Promise((resolve) => setTimeout(resolve));
