/**
 * The path to return to after sign-in, or `null` when `value` would leave this origin (open redirect). The parsed URLs
 * are compared, never prefixes: at most 2,048 characters, one leading slash, no backslash, space or control character.
 */
export function safeReturnUrl(value: string | null | undefined, origin: string): string | null {
  if (!value || value.length > 2048 || !/^\/(?!\/)/.test(value)) return null;
  for (const character of value) {
    const code = character.codePointAt(0) ?? 0;
    if (code <= 0x20 || code === 0x7f || character === '\\') return null;
  }
  if (!URL.canParse(value, origin)) return null;
  const url = new URL(value, origin);
  if (url.origin !== new URL(origin).origin) return null;
  const path = url.pathname + url.search + url.hash;
  return path.startsWith('//') ? null : path;
}
