import { setTimeout as pause } from 'node:timers/promises';
import { api } from '@stagi/contract/api.ts';
import { type ActualContainer, PlatformMessage } from '@stagi/contract/daemon.ts';
import { Command, type DesiredContainer, DesiredState } from '@stagi/contract/desiredState.ts';
import {
  connectDaemon,
  makeKey,
  type NodeKey,
  postEnrolment,
  type TestDaemon,
} from '@stagi/server/src/testing/daemon.ts';
import { decodeJwt } from 'jose';
import { retryUntilAnswered } from '../retryUntilAnswered.ts';
import { until } from '../until.ts';
import type { Stage } from './stage.ts';

export const OWN_STEPS = ['enrol', 'create', 'stop', 'start', 'restart', 'delete'] as const;
export type OwnStep = (typeof OWN_STEPS)[number];

/** How the daemon handles the next instruction: done and answered, not done, done without an answer, answered late. */
export type ReplyMode = 'at once' | 'no effect' | 'reply lost' | 'late';

const LATE_MS = 1_500;

/** A self-hosted server with a daemon that speaks the real protocol, and one container. */
export interface SelfHostedServer {
  ask(step: OwnStep): Promise<void>;
  reached(step: OwnStep, withinMs?: number): Promise<void>;
  /** Applies until the daemon reconnects. */
  behave(manner: ReplyMode): void;
  /** Containers that were created without being desired, and those created twice. */
  superfluous(): { orphans: number; duplicates: number };
  close(): Promise<void>;
}

let servers = 0;

export async function aSelfHostedServer(stage: Stage): Promise<SelfHostedServer> {
  const { client } = stage.customer;
  servers += 1;
  const slug = `own-${servers}-${Date.now().toString(36)}`;
  const createKey = crypto.randomUUID();
  const containerKey = crypto.randomUUID();
  const created = (await retryUntilAnswered(() =>
    client(api.selfHosted.create, { title: slug, slug }, { idempotencyKey: createKey }),
  ))!;
  const serverId = created.entity.id;
  const docker = new Map<number, ActualContainer>();
  const made: number[] = [];
  const done = new Map<string, { ok: boolean; message: string | null }>();
  let manner: ReplyMode = 'at once';
  let loop: Promise<void> | null = null;
  let live: TestDaemon | null = null;
  let closed = false;
  let containerId = 0;
  let startedAt: string | null = null;
  let applied = 0;
  let told: ActualContainer[] = [];

  async function enrol(): Promise<void> {
    const key = makeKey();
    const claims = decodeJwt<{ commandKey: NodeKey['commandKey'] }>(created.daemonToken);
    const node = await until('the enrolment is answered', async () => {
      const answer = await postEnrolment(stage.url, created.daemonToken, key).catch(() => null);
      if (answer && answer.status >= 400 && answer.status < 500) throw new Error(answer.body.message);
      return answer?.body.node;
    });
    loop ??= serve({ ...key, node, commandKey: claims.commandKey });
  }

  async function serve(key: NodeKey): Promise<void> {
    while (!closed) {
      try {
        // A stale inventory, without the last change.
        const listed = manner === 'late' ? told : [...docker.values()];
        live = await connectDaemon(stage.url, key, { containers: listed });
        if (manner !== 'late') manner = 'at once';
        if (closed) live.socket.terminate();
        await converse(live);
      } catch {
        // The platform is down: reconnects.
        await pause(100);
      }
    }
  }

  async function converse(daemon: TestDaemon): Promise<void> {
    const beat = setInterval(() => daemon.send({ type: 'heartbeat', at: new Date().toISOString() }), 5_000);
    for (const message of daemon.received) take(daemon, message);
    daemon.socket.on('message', (data: Buffer) => take(daemon, PlatformMessage.parse(JSON.parse(data.toString()))));
    await daemon.closed;
    clearInterval(beat);
  }

  function take(daemon: TestDaemon, message: PlatformMessage): void {
    if (manner === 'no effect') return;
    if (message.type === 'desired') bring(DesiredState.parse(decodeJwt(message.document)));
    else if (message.type === 'command') obey(daemon, Command.parse(decodeJwt(message.document)));
    else return;
    if (manner === 'reply lost') return;
    if (manner === 'late') setTimeout(() => tell(daemon), LATE_MS);
    else tell(daemon);
  }

  function bring(state: DesiredState): void {
    for (const { id, gen, state: wanted } of state.containers) {
      const known = docker.get(id);
      if (known && known.gen > gen) continue;
      if (wanted === 'absent') docker.delete(id);
      else docker.set(id, shown(known ?? fresh(id), wanted, gen));
    }
    applied = state.gen;
  }

  function fresh(id: number): ActualContainer {
    made.push(id);
    const nothing = { exitCode: null, error: null, startedAt: null, finishedAt: null };
    return { id, gen: 0, dockerId: `docker-${id}-${made.length}`, state: 'created', oomKilled: false, ...nothing };
  }

  function shown(
    container: ActualContainer,
    wanted: Exclude<DesiredContainer['state'], 'absent'>,
    gen: number,
  ): ActualContainer {
    const now = new Date().toISOString();
    if (wanted === 'stopped') {
      const finishedAt = container.state === 'running' ? now : container.finishedAt;
      return { ...container, gen, state: 'exited', exitCode: 143, finishedAt };
    }
    const begun = container.state === 'running' ? container.startedAt : now;
    return { ...container, gen, state: 'running', exitCode: null, startedAt: begun, finishedAt: null };
  }

  function obey(daemon: TestDaemon, command: Command): void {
    if (command.do.kind === 'restart' && !done.has(command.id)) {
      const container = docker.get(command.do.containerId);
      if (container) docker.set(container.id, { ...container, startedAt: new Date().toISOString() });
      done.set(command.id, { ok: container !== undefined, message: container ? null : 'not there' });
    }
    if (manner === 'at once') daemon.send({ type: 'result', commandId: command.id, ...done.get(command.id)! });
  }

  function tell(daemon: TestDaemon): void {
    if (daemon.socket.readyState !== daemon.socket.OPEN) return;
    told = [...docker.values()];
    Object.assign(daemon.inventory, { appliedGen: applied, containers: told });
    daemon.sendInventory();
    for (const [commandId, result] of done) daemon.send({ type: 'result', commandId, ...result });
  }

  const row = async () => {
    const { rows } = await stage.db.query(
      `select status, gen, deleted_at, started_at, (select count(*)::int from daemon_command) as commands
      from container where id = $1`,
      [containerId],
    );
    return rows[0] as {
      status: string;
      gen: number;
      deleted_at: Date | null;
      started_at: Date | null;
      commands: number;
    };
  };
  const serverStatus = async (): Promise<string> =>
    (await stage.db.query('select status from instance where id = $1', [serverId])).rows[0].status;

  async function create(): Promise<void> {
    const input = { instanceRef: { id: serverId }, title: slug, slug, dockerImage: 'busybox', cpus: 1 };
    const answer = await retryUntilAnswered(() =>
      client(api.containers.create, input, { idempotencyKey: containerKey }),
    );
    containerId = answer!.entity.id;
  }

  return {
    behave(next) {
      manner = next;
    },
    async ask(step) {
      if (step === 'enrol') return enrol();
      if (step === 'create') return create();
      const before = await row();
      startedAt = before.started_at?.toISOString() ?? null;
      await retryUntilAnswered(
        () => client(api.containers[step], { id: containerId }),
        async () => {
          const now = await row();
          return now.gen > before.gen || now.commands > before.commands;
        },
      );
    },
    async reached(step, withinMs) {
      await until(
        `own server ${serverId} of ${stage.name}: ${step}`,
        async () => {
          if (step === 'enrol') return (await serverStatus()) === 'online';
          const now = await row();
          if (step === 'delete') return now.deleted_at !== null;
          if (step === 'restart') return now.status === 'running' && now.started_at?.toISOString() !== startedAt;
          return now.status === (step === 'stop' ? 'stopped' : 'running');
        },
        withinMs,
      );
    },
    superfluous: () => ({ orphans: docker.size, duplicates: made.length - new Set(made).size }),
    async close() {
      closed = true;
      live?.socket.terminate();
      await loop;
    },
  };
}
