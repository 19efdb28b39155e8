import { api } from '@stagi/contract/api.ts';
import { useCall } from '../../api/useCall.ts';
import { useUser } from '../../api/user.ts';
import { downloadText } from '../../ui/download.ts';

/** Hands the intervals of a stretch of time over as one file, however many parts it comes in. */
export function useUsageExport(narrowed: { from?: string; to?: string; queryString?: string }) {
  const { workspace } = useUser();
  const { run: fetchPart, loading } = useCall(api.usage.export);

  async function run(): Promise<void> {
    const parts: string[] = [];
    for (let before: number | undefined; ; ) {
      const part = await fetchPart({ ...narrowed, before });
      if (!part) return;
      parts.push(part.csv);
      if (part.next === null) break;
      before = part.next;
    }
    downloadText(`usage-${workspace?.clientId}-${new Date().toISOString().slice(0, 10)}.csv`, parts, 'text/csv');
  }

  return { running: loading, run: () => void run() };
}
