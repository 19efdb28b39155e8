import { recordAct } from '../audit/record.ts';
import type { Db } from '../db/schema.ts';

interface Told {
  /** The path of the operator's call. */
  action: string;
  object: { type: string; id: string | null; label: string | null };
  detail?: Record<string, unknown>;
}

/** Writes an act of an operator into the log of a workspace that it concerns: its members read that it was one, not who. */
export function tellWorkspace(trx: Db, workspaceId: number, told: Told): Promise<void> {
  return recordAct(
    trx,
    { user: null, credential: null, workspace: { id: workspaceId }, ip: null, userAgent: null },
    { outcome: 'done', ...told },
  );
}
