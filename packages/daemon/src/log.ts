/** Writes one line to the daemon's own log: standard error, which the supervisor stamps and keeps. No secrets. */
export function log(text: string): void {
  process.stderr.write(`${text.replaceAll(/[\r\n]+/g, ' ')}\n`);
}

/** The error's message in one line, with its causes: Node hides them behind "fetch failed". */
export function errorText(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error instanceof AggregateError && error.errors.length > 0) return errorText(error.errors[0]);
  return error.cause instanceof Error ? `${error.message}: ${errorText(error.cause)}` : error.message;
}
