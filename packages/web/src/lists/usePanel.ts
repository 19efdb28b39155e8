import { useSearchParams } from 'react-router';
import { idIn } from '../paths.ts';

/** A panel of one row, whose id stands in the address beside what the list asks for. */
export function usePanel(name: string) {
  const [params, setParams] = useSearchParams();
  return {
    id: idIn(params.get(name)),
    to(id: number): string {
      const next = new URLSearchParams(params);
      next.set(name, String(id));
      return `?${next}`;
    },
    close(): void {
      setParams(
        (current) => {
          const next = new URLSearchParams(current);
          next.delete(name);
          return next;
        },
        { replace: true, preventScrollReset: true },
      );
    },
  };
}
