import { readConfig } from './config.ts';
import { ConfigError } from './configError.ts';
import { type Running, start } from './start.ts';

const NODE_MAJOR = 26;
/** Whatever is left then is taken up by the next start: everything here can be killed at any moment. */
const STOP_WITHIN_MS = 10_000;

/** Runs the platform until SIGINT or SIGTERM. A mistake in the configuration is one line on stderr. */
export async function main(argv: readonly string[] = process.argv.slice(2)): Promise<Running> {
  if (Number(process.versions.node.split('.')[0]) < NODE_MAJOR) {
    throw new ConfigError('Node', `must be version ${NODE_MAJOR}, this is ${process.versions.node}: start through npm`);
  }
  const config = readConfig(process.env, argv);
  const running = await start(config);
  // As Node would do it, but with what the log may show of an error.
  for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
    process.on(event, (error: unknown) => {
      running.ctx.log.fatal({ err: error }, 'cannot go on');
      process.exit(1);
    });
  }
  let stopping = false;
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      if (stopping) return;
      stopping = true;
      setTimeout(() => {
        running.ctx.log.error('did not stop in time');
        process.exit(1);
      }, STOP_WITHIN_MS).unref();
      void running.stop().then(() => process.exit(0));
    });
  }
  running.ctx.log.info({ origin: config.appOrigin, daemonOrigin: running.ctx.daemonOrigin }, 'serving');
  return running;
}

/** What to print when a start fails: the reason alone, the stack only when asked for. */
export function explain(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return process.env.LOG_LEVEL === 'debug' && error instanceof Error ? `${text}\n${error.stack}` : text;
}

if (import.meta.main) {
  main().catch((error: unknown) => {
    process.stderr.write(`Stagi cannot start. ${explain(error)}\n`);
    process.exit(1);
  });
}
