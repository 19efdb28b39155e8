import type { Task } from '@stagi/contract/tasks.ts';
import { Money } from '../../ui/Money.tsx';

interface Props {
  of: Pick<Task, 'cost' | 'startedAt'>;
  server: Pick<Task['instance'], 'kind'>;
}

/** What a run has cost so far, for a cell; nothing on own servers, and before it starts. */
export function RunCost({ of: { cost, startedAt }, server }: Props) {
  if (startedAt === null || server.kind === 'self-hosted') return <span className="muted">—</span>;
  return <Money price={cost} stacked />;
}
