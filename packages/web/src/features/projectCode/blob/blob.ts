import type { api } from '@stagi/contract/api.ts';
import type { OutputOf } from '@stagi/contract/call.ts';

export type Blob = OutputOf<typeof api.projectCode.blob>;
