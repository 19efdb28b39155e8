import type { SelfHostedInstance, SelfHostedStatus } from '@stagi/contract/instances.ts';
import type { InstanceView } from '../instances/find.ts';
import { presentCommon } from '../instances/present.ts';

export function presentOwnServer(row: InstanceView): SelfHostedInstance {
  return {
    ...presentCommon(row, row.facts?.cpus ?? null),
    status: row.status as SelfHostedStatus,
    ip: row.node_address,
  };
}
