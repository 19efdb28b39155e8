import { ContainerStatus } from '@stagi/contract/containers.ts';
import { RentedStatus, SelfHostedStatus } from '@stagi/contract/instances.ts';
import { ProjectStatus } from '@stagi/contract/projectRules.ts';
import { expect, it } from 'vitest';
import { STATUS } from './status.ts';

it('has a word and a shape for every status of the contract', () => {
  for (const status of [
    ...RentedStatus.options,
    ...SelfHostedStatus.options,
    ...ContainerStatus.options,
    ...ProjectStatus.options,
  ]) {
    expect(STATUS[status], status).toBeDefined();
  }
});
