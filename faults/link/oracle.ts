import { docker } from '@stagi/daemon/src/testing/image.ts';

export type Wish = 'run' | 'stop' | 'remove' | 'restart';
type Action = 'create' | 'start' | 'stop' | 'destroy';

interface Entry {
  container: number;
  /** By `Date.now()`. */
  at: number;
}

/** Which wishes allow an action; each wish allows it once. */
const ALLOWED_BY: Record<Action, readonly Wish[]> = {
  create: ['run'],
  start: ['run', 'restart'],
  stop: ['stop', 'remove', 'restart'],
  destroy: ['remove'],
};

/**
 * Holds what Docker did to the containers of a node against what was wished. An action is wrong when no wish explains
 * it, or one that has been carried out already: the oldest open wish is taken for its cause, and once a container is seen
 * as wished (`settled`) nothing older explains anything any more. One that was deleted before it was made never is: a
 * desired state that was on its way may still make it, once.
 */
export interface Oracle {
  wished(container: number, wish: Wish, at?: number): void;
  settled(container: number): void;
  /** Stops listening; answers all actions seen and those that were wrong. */
  judge(): Promise<{ actions: number; wishes: number; wrong: string[] }>;
}

export async function watchDocker(labels: Record<string, string>): Promise<Oracle> {
  const wishes: (Entry & { wish: Wish })[] = [];
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
  wishes: readonly (Entry & { wish: Wish })[],
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
