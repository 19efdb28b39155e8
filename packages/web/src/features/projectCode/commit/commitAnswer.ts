import type { api } from '@stagi/contract/api.ts';
import type { OutputOf } from '@stagi/contract/call.ts';

export type CommitAnswer = OutputOf<typeof api.projectCode.commit>;
