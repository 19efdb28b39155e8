import type { ActualContainer, ActualTask } from '@stagi/contract/daemon.ts';
import { FRESH_TASK, TASKS_FEATURE } from '@stagi/contract/daemon.ts';
import { type DesiredContainer, DesiredState } from '@stagi/contract/desiredState.ts';
import type { MachineFacts } from '@stagi/contract/instances.ts';
import { decodeJwt } from 'jose';
import { dial, FACTS, type NodeKey, type TestDaemon } from '../../testing/daemon.ts';

type Behaviour = {
  /** Whether files are put in at once, so that it starts. */
  prepares: boolean;
  /** Whether the output is uploaded at once. */
  saves: boolean;
  /** Whether what is to be absent is removed at once. */
  removes: boolean;
  /** The exit code of a command that ends at once; null: it runs until `end`. */
  exits: number | null;
};

/** A daemon that follows its desired state by itself over the real link, as far as it is told to. */
export interface TaskDaemon {
  link: TestDaemon;
  behaviour: Behaviour;
  /** How often the container of each id was started. */
  starts: Map<number, number>;
  /** What each container was asked to be, newest last. */
  asked: Map<number, DesiredContainer[]>;
  shown(id: number): ActualContainer | undefined;
  start(id: number): void;
  /** The command of a running container ends. */
  end(id: number, exitCode: number, more?: { oomKilled?: boolean; task?: Partial<ActualTask> }): void;
  report(id: number, task: Partial<ActualTask>): void;
  /** Somebody removes it. */
  lose(id: number): void;
  close(): Promise<void>;
}

export async function connectTaskDaemon(
  url: string,
  key: NodeKey,
  {
    facts = {},
    behaviour = {},
    containers = [],
    features = [TASKS_FEATURE],
  }: {
    facts?: Partial<MachineFacts>;
    behaviour?: Partial<Behaviour>;
    containers?: ActualContainer[];
    features?: string[];
  } = {},
): Promise<TaskDaemon> {
  const link = await dial(url, key);
  const how: Behaviour = { prepares: true, saves: true, removes: true, exits: null, ...behaviour };
  const starts = new Map<number, number>();
  const asked = new Map<number, DesiredContainer[]>();
  const byId = new Map(containers.map((one) => [one.id, one]));
  let appliedGen = 0;

  function sendInventory(): void {
    link.inventory.appliedGen = appliedGen;
    link.inventory.containers = [...byId.values()];
    if (link.socket.readyState === link.socket.OPEN) link.sendInventory();
  }
  const now = (): string => new Date().toISOString();

  function started(one: ActualContainer): void {
    starts.set(one.id, (starts.get(one.id) ?? 0) + 1);
    one.state = 'running';
    one.startedAt = now();
    one.task = { ...(one.task ?? FRESH_TASK), phase: 'ready' };
    if (how.exits !== null) ended(one, how.exits);
  }
  function ended(one: ActualContainer, exitCode: number): void {
    one.state = 'exited';
    one.exitCode = exitCode;
    one.finishedAt = now();
    one.task = { ...(one.task ?? FRESH_TASK), phase: how.saves ? 'saved' : 'saving', files: how.saves ? 1 : 0 };
  }
  function follow(target: DesiredContainer): void {
    asked.set(target.id, [...(asked.get(target.id) ?? []), target]);
    const seen = byId.get(target.id);
    if (target.state === 'absent') {
      if (how.removes) byId.delete(target.id);
      return;
    }
    const one = seen ?? fresh(target);
    one.gen = target.gen;
    if (!seen && (target.state === 'stopped' || starts.has(target.id))) return;
    byId.set(target.id, one);
    if (target.state === 'stopped') {
      if (one.state === 'running' || one.state === 'paused') ended(one, 143);
      return;
    }
    if (one.state === 'created' && how.prepares) started(one);
    if (one.state === 'running' && target.state === 'paused') one.state = 'paused';
    if (one.state === 'paused' && target.state === 'running') one.state = 'running';
  }
  const one = (id: number): ActualContainer => {
    const found = byId.get(id);
    if (!found) throw new Error(`container ${id} is not on the server`);
    return found;
  };

  link.socket.on('message', (data: Buffer) => {
    const message = JSON.parse(data.toString()) as { type: string; document: string };
    if (message.type !== 'desired') return;
    const state = DesiredState.parse(decodeJwt(message.document));
    appliedGen = state.gen;
    for (const target of state.containers) follow(target);
    sendInventory();
  });
  await link.next('welcome');
  link.inventory.containers = [...byId.values()];
  link.send({
    type: 'hello',
    protocol: 1,
    version: '0.1.0',
    bootId: 'boot-1',
    features,
    facts: { ...FACTS, ...facts },
    inventory: link.inventory,
  });
  await link.next('desired');

  return {
    link,
    behaviour: how,
    starts,
    asked,
    shown: (id) => byId.get(id),
    start(id) {
      started(one(id));
      sendInventory();
    },
    end(id, exitCode, { oomKilled = false, task = {} } = {}) {
      const ending = one(id);
      ended(ending, exitCode);
      ending.oomKilled = oomKilled;
      ending.task = { ...ending.task!, ...task };
      sendInventory();
    },
    report(id, task) {
      const reporting = one(id);
      reporting.task = { ...(reporting.task ?? FRESH_TASK), ...task };
      sendInventory();
    },
    lose(id) {
      byId.delete(id);
      sendInventory();
    },
    async close() {
      await link.close();
    },
  };
}

const fresh = (target: DesiredContainer): ActualContainer => ({
  id: target.id,
  gen: target.gen,
  dockerId: `docker-${target.id}`,
  state: 'created',
  exitCode: null,
  oomKilled: false,
  error: null,
  startedAt: null,
  finishedAt: null,
  task: { ...FRESH_TASK },
});
