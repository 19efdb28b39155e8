import type { Logger } from 'pino';
import { type Machine, ProviderError } from '../provider.ts';
import { toProviderError } from './docker.ts';

export type OperationKind = 'stop' | 'reboot' | 'terminate';

/** How long a call waits for an operation before it continues in the background. */
const waitMs = 3_000;

/** Slow operations on machines, at most one at a time per machine. */
export interface Operations {
  of(name: string): OperationKind | null;
  /**
   * Begins the work, or joins the same work under way, and returns when it is done or soon. A failure that comes
   * later is logged: whoever looks sees that nothing changed, and asks again.
   */
  run(name: string, kind: OperationKind, work: () => Promise<void>): Promise<void>;
}

/** A rebooting machine counts as running, as it is billed; its daemon reports when it is back. */
export const stateDuring: Record<OperationKind, Machine['state']> = {
  stop: 'stopping',
  reboot: 'running',
  terminate: 'terminating',
};

export function createOperations(log: Logger): Operations {
  const running = new Map<string, { kind: OperationKind; done: Promise<void> }>();

  function begin(name: string, kind: OperationKind, work: () => Promise<void>) {
    const operation = { kind, done: work() };
    running.set(name, operation);
    operation.done
      .catch((error: unknown) => log.warn({ err: error, machine: name, kind }, 'the local cloud could not do this'))
      .finally(() => {
        if (running.get(name) === operation) running.delete(name);
      });
    return operation;
  }

  return {
    of: (name) => running.get(name)?.kind ?? null,
    async run(name, kind, work) {
      const present = running.get(name);
      // A termination overrides other operations.
      if (present && present.kind !== kind && kind !== 'terminate') {
        throw new ProviderError('retryable', `${name} is busy with another operation (${present.kind})`);
      }
      const { done } = present?.kind === kind ? present : begin(name, kind, work);
      const prompt = Promise.withResolvers<void>();
      const timer = setTimeout(prompt.resolve, waitMs);
      try {
        await Promise.race([done, prompt.promise]);
      } catch (error) {
        throw toProviderError(error, 'possible');
      } finally {
        clearTimeout(timer);
      }
    },
  };
}
