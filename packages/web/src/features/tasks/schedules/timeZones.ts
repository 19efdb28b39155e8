/** Where the browser is. */
export const ownTimeZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone;

/** The zones that can be chosen: those the browser knows, and `also`, which it may call by another name. */
export function timeZones(also: string): string[] {
  return [...new Set(['UTC', ...Intl.supportedValuesOf('timeZone'), also])];
}
