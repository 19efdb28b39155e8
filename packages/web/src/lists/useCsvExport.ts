import type { api } from '@stagi/contract/api.ts';
import type { InputOf } from '@stagi/contract/call.ts';
import { useCall } from '../api/useCall.ts';
import { downloadText } from '../ui/download.ts';

type ExportCall = typeof api.audit.export | typeof api.audit.exportForOperators | typeof api.usage.export;

/**
 * Hands what the filters show over as one file, however many parts it comes in. `name` begins the file's, before the
 * day; `onEnd` is for lists in which an export leaves an entry, also one that was cut short.
 */
export function useCsvExport<C extends ExportCall>(
  of: C,
  narrowed: Omit<InputOf<C>, 'before'>,
  name: string,
  onEnd?: () => void,
) {
  const { run: fetchPart, loading } = useCall<ExportCall>(of);

  async function run(): Promise<void> {
    const parts: string[] = [];
    for (let before: number | undefined; ; ) {
      const part = await fetchPart({ ...narrowed, before });
      if (!part) return;
      parts.push(part.csv);
      if (part.next === null) break;
      before = part.next;
    }
    downloadText(`${name}-${new Date().toISOString().slice(0, 10)}.csv`, parts, 'text/csv');
  }

  return { running: loading, run: () => void run().finally(onEnd) };
}
