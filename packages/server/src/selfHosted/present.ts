import type { SelfHostedInstance, SelfHostedStatus } from '@stagi/contract/instances.ts';
import type { InstanceView } from '../instances/find.ts';
import { presentCommon } from '../instances/present.ts';

export function presentSelfHosted(row: InstanceView): SelfHostedInstance {
  if (row.creator === null) throw new Error(`server ${row.id} was attached by nobody`);
  return {
    ...presentCommon(row, row.facts?.cpus ?? null),
    status: row.status as SelfHostedStatus,
    createdBy: row.creator,
    ip: row.node_address,
  };
}
