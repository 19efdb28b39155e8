import { api } from '@stagi/contract/api.ts';
import type { FakeOperation, FakeRecord } from '@stagi/server/src/providers/fake/protocol.ts';
import { retryUntilAnswered } from '../retryUntilAnswered.ts';
import { until } from '../until.ts';
import type { Stage } from './stage.ts';

export const RENTED_STEPS = ['rent', 'stop', 'start', 'reboot', 'terminate'] as const;
export type RentedStep = (typeof RENTED_STEPS)[number];

/** The cloud's operation of each step. */
export const OPERATION: Record<RentedStep, FakeOperation> = {
  rent: 'start',
  stop: 'stop',
  start: 'resume',
  reboot: 'reboot',
  terminate: 'terminate',
};

/** A rented server, used through the API. */
export interface RentedServer {
  id(): number;
  /** Requests a step, with retries until the platform has accepted it. */
  ask(step: RentedStep): Promise<void>;
  /** Resolves when the requested state is reached. */
  reached(step: RentedStep, withinMs?: number): Promise<void>;
  status(): Promise<string>;
}

let rented = 0;

export async function aRentedServer(
  stage: Pick<Stage, 'name' | 'customer' | 'db'>,
  offerId = 'fake:sim-cpu-4',
): Promise<RentedServer> {
  const { client } = stage.customer;
  const { entity: key } = (await retryUntilAnswered(() => client(api.sshKeys.generate, { title: 'laptop' })))!;
  rented += 1;
  const slug = `life-${rented}`;
  const idempotencyKey = crypto.randomUUID();
  let id = 0;
  let reboots = 0;

  const row = async (): Promise<{ status: string; gen: number; lock_token: string | null }> => {
    const { rows } = await stage.db.query('select status, gen, lock_token from instance where id = $1', [id]);
    return rows[0];
  };
  const rent = async (): Promise<void> => {
    const input = { offerId, title: slug, slug, sshKeyId: key.id };
    const answer = await retryUntilAnswered(() => client(api.instances.rent, input, { idempotencyKey }));
    id = answer!.entity.id;
  };
  const rebootsDone = async (): Promise<number> => {
    const { rows } = await stage.db.query('select reboot_done from instance where id = $1', [id]);
    return rows[0].reboot_done;
  };

  return {
    id: () => id,
    status: async () => (await row()).status,
    async ask(step) {
      if (step === 'rent') return rent();
      const { gen } = await row();
      reboots = await rebootsDone();
      await retryUntilAnswered(
        () => client(api.instances[step], { id }),
        async () => (await row()).gen > gen,
      );
    },
    async reached(step, withinMs) {
      const target = TARGET[step];
      await until(
        `server ${id} of ${stage.name} is ${target} after ${step}`,
        async () => {
          const { status, lock_token } = await row();
          if (status === 'creation failed') throw new Error(`server ${id} of ${stage.name} could not be made`);
          if (status !== target || (step === 'terminate' && lock_token !== null)) return false;
          return step !== 'reboot' || (await rebootsDone()) > reboots;
        },
        withinMs,
      );
    },
  };
}

const TARGET: Record<RentedStep, string> = {
  rent: 'online',
  stop: 'stopped',
  start: 'online',
  reboot: 'online',
  terminate: 'terminated',
};

/** Leaked machines of a cloud: those of closed or unknown servers, and second ones of open servers. */
export async function findLeakedMachines({
  cloud,
  db,
}: Pick<Stage, 'cloud' | 'db'>): Promise<{ orphans: FakeRecord[]; duplicates: FakeRecord[] }> {
  const { machines } = await cloud.control.report();
  const { rows } = await db.query("select id from instance where kind = 'rented' and closed_at is null");
  const open = new Set(rows.map(({ id }) => String(id)));
  const live = machines.filter(({ state }) => state !== 'gone');
  const orphans = live.filter(({ tags }) => !open.has(tags.resource ?? ''));
  const first = new Set<string>();
  const duplicates = live.filter(({ tags }) => {
    const owner = tags.resource ?? '';
    const isSecond = first.has(owner);
    first.add(owner);
    return open.has(owner) && isSecond;
  });
  return { orphans, duplicates };
}
