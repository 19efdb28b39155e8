import type { Db } from '../db/schema.ts';
import { recordAct } from './record.ts';

interface Told {
  /** The path of the operator's call. */
  action: string;
  object: { type: string; id: string | null; label: string | null };
  detail?: Record<string, unknown>;
}

/** Records an operator's act in the log of the workspace that it concerns. Its members do not see which operator it was. */
export function recordForWorkspace(trx: Db, workspaceId: number, told: Told): Promise<void> {
  return recordAct(
    trx,
    { user: null, credential: null, workspace: { id: workspaceId }, ip: null, userAgent: null },
    { outcome: 'done', ...told },
  );
}
