import { api } from '@stagi/contract/api.ts';
import type { InputOf } from '@stagi/contract/call.ts';
import { useCall } from '../../api/useCall.ts';
import { useUser } from '../../api/user.ts';
import { downloadText } from '../../ui/download.ts';

/** Hands what the filters show over as one file, however many parts it comes in. */
export function useExport(narrowed: Omit<InputOf<typeof api.audit.export>, 'before'>) {
  const { workspace } = useUser();
  const { run: fetchPart, loading } = useCall(api.audit.export);

  async function run(): Promise<void> {
    const parts: string[] = [];
    for (let before: number | undefined; ; ) {
      const part = await fetchPart({ ...narrowed, before });
      if (!part) return;
      parts.push(part.csv);
      if (part.next === null) break;
      before = part.next;
    }
    downloadText(`audit-${workspace?.clientId}-${new Date().toISOString().slice(0, 10)}.csv`, parts, 'text/csv');
  }

  return { running: loading, run: () => void run() };
}
