/** The name of a browser in which terminals cannot run: it draws pages on a server of its own, and has no WebSockets. */
export function unsupportedBrowser(userAgent: string): string | null {
  return /Opera Mini/i.test(userAgent) ? 'Opera Mini' : null;
}
