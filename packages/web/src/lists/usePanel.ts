import { useAddressParams } from '../navigation/useAddressParams.ts';
import { idIn } from '../paths.ts';

/** A panel of one row, whose id stands in the address beside what the list asks for. */
export function usePanel(name: string) {
  const [params, changeParams] = useAddressParams();
  return {
    id: idIn(params.get(name)),
    to(id: number): string {
      const next = new URLSearchParams(params);
      next.set(name, String(id));
      return `?${next}`;
    },
    close(): void {
      changeParams((next) => next.delete(name), { replace: true });
    },
  };
}
