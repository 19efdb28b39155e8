import type { api } from '@stagi/contract/api.ts';
import type { ParsedInputOf } from '@stagi/contract/call.ts';
import { USAGE_FEATURE } from '@stagi/contract/daemon.ts';
import { KEPT_DAYS } from '@stagi/contract/metrics.ts';
import { visibleContainer } from '../containers/access.ts';
import type { Db } from '../db/schema.ts';
import type { HandlersOf } from '../http/handlers.ts';
import { viewInstance } from '../instances/find.ts';
import { type KnownLimits, lastSampleAt, type Subject, seriesOf } from './series.ts';

type Input = ParsedInputOf<typeof api.metrics.container>;

const DEFAULT_MS = 3_600_000;

export const metricsHandlers: HandlersOf<typeof api.metrics> = {
  async container(ctx, input) {
    const { id, instance, cpus, memoryGb } = await visibleContainer(ctx, input);
    const limits = { cpu: cpus, memory: memoryGb === null ? null : memoryGb * 2 ** 30 };
    return answer(ctx.db, { instanceId: instance.id, containerId: id }, input, limits);
  },
  async rented(ctx, input) {
    const { id, facts, offer } = await viewInstance(ctx.db, ctx.workspace.id, 'rented', input);
    // Earlier agents tell the CPUs of the host where their machine is a container.
    const cpu = facts && Math.min(facts.cpus, offer?.cpu.cores ?? facts.cpus);
    return answer(ctx.db, { instanceId: id, containerId: 0 }, input, { cpu, gpuUse: 100 });
  },
  async selfHosted(ctx, input) {
    const { id, facts } = await viewInstance(ctx.db, ctx.workspace.id, 'self-hosted', input);
    return answer(ctx.db, { instanceId: id, containerId: 0 }, input, { cpu: facts?.cpus ?? null, gpuUse: 100 });
  },
};

async function answer(db: Db, subject: Subject, input: Input, limits: KnownLimits) {
  const now = new Date();
  const oldest = now.getTime() - KEPT_DAYS * 86_400_000;
  const within = (time: number) => Math.min(Math.max(time, oldest), now.getTime());
  const to = within(input.to ? Date.parse(input.to) : now.getTime());
  const from = within(input.from ? Date.parse(input.from) : to - DEFAULT_MS);
  const range = { from: new Date(from), to: new Date(to), points: input.points };
  const found = await seriesOf(db, subject, range, limits, now);
  const node = await db
    .selectFrom('daemon_node')
    .select(['version', 'features'])
    .where('instance_id', '=', subject.instanceId)
    .executeTakeFirst();
  return {
    isSuccess: true as const,
    from: range.from.toISOString(),
    to: range.to.toISOString(),
    ...found,
    lastAt: (await lastSampleAt(db, subject))?.toISOString() ?? null,
    // An agent that has never said hello is not too old.
    isMeasured: !node?.version || node.features.includes(USAGE_FEATURE),
  };
}
