/** The daemon's own diary: one line an event on standard error, which the supervisor dates and keeps. No secrets. */
export function say(text: string): void {
  process.stderr.write(`${text.replaceAll(/[\r\n]+/g, ' ')}\n`);
}

/** What went wrong, in one line, with the causes that Node hides behind "fetch failed". */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error instanceof AggregateError && error.errors.length > 0) return reasonOf(error.errors[0]);
  return error.cause instanceof Error ? `${error.message}: ${reasonOf(error.cause)}` : error.message;
}
