import { docker } from '@stagi/daemon/src/testing/image.ts';

/** A start of a container, as Docker tells it. */
export interface Start {
  /** The number of its row, which the daemon puts on it as a label. */
  containerId: number;
  dockerId: string;
  /** Milliseconds since 1970. */
  at: number;
}

/** What Docker itself tells of the starts of a platform's containers: it knows nothing of tasks. */
export interface StartWatch {
  all(): readonly Start[];
  of(containerId: number): Start[];
  /** Why starts may be missing; null: they are all here. */
  failure(): string | null;
  close(): void;
}

interface DockerEvent {
  Action: string;
  Actor: { ID: string; Attributes: Record<string, string> };
  timeNano: number;
}

export async function watchStarts(platform: string): Promise<StartWatch> {
  const starts: Start[] = [];
  let failure: string | null = null;
  let closed = false;
  const stream = await docker.getEvents({
    filters: { type: ['container'], event: ['start'], label: [`stagi.platform=${platform}`] },
  });
  let rest = '';
  stream.on('data', (chunk: Buffer) => {
    const lines = (rest + chunk.toString()).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      if (line.trim() === '') continue;
      const { Actor, timeNano } = JSON.parse(line) as DockerEvent;
      starts.push({ containerId: Number(Actor.Attributes['stagi.id']), dockerId: Actor.ID, at: timeNano / 1e6 });
    }
  });
  const lost = (why: string) => () => {
    if (!closed) failure ??= `Docker told no more starts: ${why}`;
  };
  stream.on('error', (error: Error) => lost(error.message)());
  stream.on('end', lost('its events ended'));
  return {
    all: () => starts,
    of: (containerId) => starts.filter((start) => start.containerId === containerId),
    failure: () => failure,
    close() {
      closed = true;
      (stream as unknown as { destroy(): void }).destroy();
    },
  };
}
