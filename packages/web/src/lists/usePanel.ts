import { useSearchParams } from 'react-router';

/** A panel of one row, whose id stands in the address beside what the list asks for. */
export function usePanel(name: string) {
  const [params, setParams] = useSearchParams();
  const value = params.get(name) ?? '';
  return {
    id: /^[1-9]\d{0,14}$/.test(value) ? Number(value) : null,
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
