import { type Logger, pino } from 'pino';

/** Fields of an error that are logged. Drivers attach connections, rows and requests to errors, which must not be. */
const LOGGED_ERROR_FIELDS = [
  'code',
  'errno',
  'syscall',
  'severity',
  'schema',
  'table',
  'column',
  'constraint',
  'routine',
  'status',
];
/** PostgreSQL's messages for these errors quote the value. */
const DATA_EXCEPTION = /^22/;
const MAX_UNWRITTEN_BYTES = 1024 * 1024;
const MAX_CAUSES = 5;

interface LogCounters {
  /** A message of this level was logged. */
  logged(level: string): void;
  /** A log line could not be written. */
  logLost(): void;
}

interface LogOptions {
  logLevel: string;
  logFormat: 'text' | 'json';
}

/**
 * The log of this process on `fd`: JSON lines, or short ones for people. Lines that cannot be written (the disk is full, the
 * reader gone) are counted and dropped; they never end the process.
 */
export function openLog({ logLevel: level, logFormat }: LogOptions, watch: LogCounters, fd = 1): Logger {
  const out = pino.destination({ fd, sync: true, maxLength: MAX_UNWRITTEN_BYTES });
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
    { write: (line) => out.write(logFormat === 'json' ? asciiControls(line) : shortLine(JSON.parse(line))) },
  );
}

/** JSON escapes the controls of ASCII only; a terminal obeys others, too, and some readers break lines at them. */
const CONTROLS = /[\p{Cc}\u2028\u2029]/gu;
const escaped = (sign: string): string => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`;
const printable = (text: string): string => text.replace(CONTROLS, escaped);
const asciiControls = (line: string): string => `${printable(line.slice(0, -1))}\n`;

/** Overwrites the step of the start that is shown on the terminal's last line. */
const CLEAR_LINE = '\r\x1b[K';
/** Fields that every record has, or that a short line shows elsewhere. */
const SHOWN_ELSEWHERE = new Set(['level', 'time', 'pid', 'hostname', 'msg', 'err']);

/** `16:04:05 warn  while stopping: socket hang up instanceId=7`; an error's stack follows from level `error` on. */
function shortLine(record: Record<string, unknown> & { level: number; time: number; err?: ShownError }): string {
  const { level, time, msg, err } = record;
  const label = pino.levels.labels[level] ?? '';
  const fields = Object.entries(record)
    .filter(([name]) => !SHOWN_ELSEWHERE.has(name))
    .map(([name, value]) => ` ${name}=${printable(typeof value === 'object' ? JSON.stringify(value) : String(value))}`);
  const message = printable([msg, err?.message].filter(Boolean).join(': '));
  const stack =
    err?.stack && level >= pino.levels.values.error! ? `${err.stack.split('\n').map(printable).join('\n')}\n` : '';
  return `${CLEAR_LINE}${new Date(time).toTimeString().slice(0, 8)} ${label.padEnd(5)} ${message}${fields.join('')}\n${stack}`;
}

/** Names of secrets, redacted should they be logged by mistake. */
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

interface ShownError {
  type: string;
  message: string;
  stack?: string;
  cause?: ShownError;
}

/** An error as it is logged, with its causes. */
export function showError(error: unknown, depth = 0): ShownError {
  if (!(error instanceof Error)) return { type: typeof error, message: String(error) };
  const source = error as Error & Record<string, unknown>;
  const shown: ShownError & Record<string, unknown> = {
    type: error.name,
    message: messageOf(source),
    stack: stackFrames(error),
  };
  for (const name of LOGGED_ERROR_FIELDS) if (source[name] !== undefined) shown[name] = source[name];
  if (error.cause !== undefined && depth < MAX_CAUSES) shown.cause = showError(error.cause, depth + 1);
  return shown;
}

function messageOf(error: Error & Record<string, unknown>): string {
  const isAboutValue =
    typeof error.code === 'string' && error.severity !== undefined && DATA_EXCEPTION.test(error.code);
  return isAboutValue || error instanceof SyntaxError ? withoutQuoted(error.message) : error.message;
}

/** All from the first quotation mark to the last is replaced by `"…"`. */
function withoutQuoted(message: string): string {
  const start = message.search(/["“]/);
  const end = Math.max(message.lastIndexOf('"'), message.lastIndexOf('”'));
  return start >= 0 && end > start ? `${message.slice(0, start)}"…"${message.slice(end + 1)}` : message;
}

/** The stack without the message that it begins with. */
function stackFrames({ stack = '' }: Error): string {
  return stack.slice(Math.max(0, stack.search(/^ {4}at /m)));
}
