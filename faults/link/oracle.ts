import { docker } from '@stagi/daemon/src/testing/image.ts';

export type RequestedChange = 'run' | 'stop' | 'remove' | 'restart';
type Action = 'create' | 'start' | 'stop' | 'destroy';

interface Entry {
  container: number;
  /** In milliseconds, as `Date.now()`. */
  at: number;
}

/** The requests that explain an action; each explains it once. */
const ALLOWED_BY: Record<Action, readonly RequestedChange[]> = {
  create: ['run'],
  start: ['run', 'restart'],
  stop: ['stop', 'remove', 'restart'],
  destroy: ['remove'],
};

/**
 * Compares Docker's actions on the containers of a node with the requested changes. An action is wrong when no request
 * explains it, or only one that was carried out already. The oldest open request counts as its cause. Once a container is
 * in its desired state (`settled`), older requests explain nothing. A container that was deleted before it was created
 * never settles: a desired state in flight may still create it, once.
 */
export interface Oracle {
  wished(container: number, wish: RequestedChange, at?: number): void;
  settled(container: number): void;
  /** Stops listening; returns all actions and the wrong ones. */
  judge(): Promise<{ actions: number; wishes: number; wrong: string[] }>;
}

export async function watchDocker(labels: Record<string, string>): Promise<Oracle> {
  const wishes: (Entry & { wish: RequestedChange })[] = [];
  const actions: (Entry & { action: Action })[] = [];
  const settles: Entry[] = [];
  const label = Object.entries(labels).map(([name, value]) => `${name}=${value}`);
  const stream = await docker.getEvents({ filters: { label, type: ['container'] } });
  let rest = '';
  stream.on('data', (chunk: Buffer) => {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines.filter(Boolean)) take(JSON.parse(line));
  });

  function take(event: { Action: string; timeNano: number; Actor: { Attributes: Record<string, string> } }): void {
    const container = Number(event.Actor.Attributes['stagi.id']);
    if (event.Action in ALLOWED_BY)
      actions.push({ container, at: event.timeNano / 1e6, action: event.Action as Action });
  }

  return {
    wished: (container, wish, at = Date.now()) => void wishes.push({ container, wish, at }),
    settled: (container) => void settles.push({ container, at: Date.now() }),
    async judge() {
      (stream as NodeJS.ReadableStream & { destroy(): void }).destroy();
      return { actions: actions.length, wishes: wishes.length, wrong: judge(wishes, actions, settles) };
    },
  };
}

export function judge(
  wishes: readonly (Entry & { wish: RequestedChange })[],
  actions: readonly (Entry & { action: Action })[],
  settles: readonly Entry[],
): string[] {
  const spent = new Set<string>();
  return actions.flatMap(({ container, action, at }) => {
    const settledAt = settles.findLast((settle) => settle.container === container && settle.at < at)?.at ?? 0;
    const cause = wishes.findIndex(
      (wish, index) =>
        wish.container === container &&
        wish.at <= at &&
        wish.at >= settledAt &&
        ALLOWED_BY[action].includes(wish.wish) &&
        !spent.has(`${index} ${action}`),
    );
    if (cause < 0) return [`${action} of container ${container} at ${new Date(at).toISOString()}`];
    spent.add(`${cause} ${action}`);
    return [];
  });
}
