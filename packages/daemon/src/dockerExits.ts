import { z } from 'zod';

/** Codes that are kept; those noted longest ago are forgotten first. */
const MOST = 1_000;

const Exit = z.object({
  Action: z.literal('die'),
  Actor: z.object({ ID: z.string(), Attributes: z.object({ exitCode: z.coerce.number().int() }) }),
});

/** Remembers how containers ended: Docker tells it in an event, and shows it only until the next start. */
export function lastExits(): {
  /** Takes any event of a container. */
  note(event: unknown): void;
  codeOf(dockerId: string): number | undefined;
} {
  const codes = new Map<string, number>();
  return {
    note(event) {
      const exit = Exit.safeParse(event).data;
      if (!exit) return;
      const { ID, Attributes } = exit.Actor;
      codes.delete(ID);
      codes.set(ID, Attributes.exitCode);
      for (const oldest of codes.keys()) {
        if (codes.size <= MOST) break;
        codes.delete(oldest);
      }
    },
    codeOf: (dockerId) => codes.get(dockerId),
  };
}
