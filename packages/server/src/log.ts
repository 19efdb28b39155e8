import { type Logger, pino } from 'pino';

/** What a log line may show of an error. Drivers hang connections, rows and requests on theirs; none of that is here. */
const SHOWN = ['code', 'errno', 'syscall', 'severity', 'schema', 'table', 'column', 'constraint', 'routine', 'status'];
/** PostgreSQL's errors about values quote the value. */
const DATA_EXCEPTION = /^22/;
const UNWRITTEN_MAX_BYTES = 1024 * 1024;
const CAUSES_MOST = 5;

interface Watch {
  /** A message of this level was logged. */
  logged(level: string): void;
  /** Something logged could not be written. */
  logLost(): void;
}

/**
 * The log of this process: JSON lines on `fd`. A log that cannot be written (its disk is full, its reader gone) is
 * counted and given up, never a reason to end.
 */
export function openLog(level: string, watch: Watch, fd = 1): Logger {
  const out = pino.destination({ fd, sync: true, maxLength: UNWRITTEN_MAX_BYTES });
  out.on('error', () => watch.logLost());
  out.on('drop', () => watch.logLost());
  return pino(
    {
      level,
      serializers: { err: showError },
      redact: SECRETS.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]),
      hooks: {
        logMethod(args, method, number) {
          watch.logged(this.levels.labels[number] ?? '');
          method.apply(this, args);
        },
      },
    },
    out,
  );
}

/** Nothing logs these on purpose. */
const SECRETS = [
  'authorization',
  'password',
  'newPassword',
  'currentPassword',
  'accessToken',
  'refreshToken',
  'token',
  'ticket',
  'privateKey',
  'proof',
  'env',
  'secret',
];

/** An error as a log line shows it, with what caused it. */
export function showError(error: unknown, depth = 0): object {
  if (!(error instanceof Error)) return { type: typeof error, message: String(error) };
  const source = error as Error & Record<string, unknown>;
  const shown: Record<string, unknown> = {
    type: error.name,
    message: messageOf(source),
    stack: framesOf(error),
  };
  for (const name of SHOWN) if (source[name] !== undefined) shown[name] = source[name];
  if (error.cause !== undefined && depth < CAUSES_MOST) shown.cause = showError(error.cause, depth + 1);
  return shown;
}

function messageOf(error: Error & Record<string, unknown>): string {
  const isAboutValue =
    typeof error.code === 'string' && error.severity !== undefined && DATA_EXCEPTION.test(error.code);
  return isAboutValue || error instanceof SyntaxError ? error.message.replace(/(["“]).*["”]/s, '"…"') : error.message;
}

/** The frames alone: a stack begins with the message. */
function framesOf({ stack = '' }: Error): string {
  return stack.slice(Math.max(0, stack.search(/^ {4}at /m)));
}
