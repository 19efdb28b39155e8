/**
 * Matches a host (name and port) against a pattern in which `{env}` stands for one label. Returns that label, or an empty
 * text where the pattern has none; null when the host does not match.
 */
export function matchHostPattern(pattern: string, host: string): string | null {
  const [before = '', after] = pattern.split('{env}');
  if (after === undefined) return pattern === host ? '' : null;
  if (!host.startsWith(before) || !host.endsWith(after)) return null;
  const env = host.slice(before.length, host.length - after.length);
  return /^[a-z0-9-]+$/.test(env) ? env : null;
}
