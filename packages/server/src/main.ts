import { type Config, readConfig } from './config/config.ts';
import { ConfigError } from './config/configError.ts';
import type { Running, Step } from './start.ts';
import { trustSystemCertificates } from './systemCertificates.ts';

const NODE_MAJOR = 26;
/** The limit of a graceful shutdown. Work cut off is resumed by the next start: the platform may be killed at any moment. */
const SHUTDOWN_TIMEOUT_MS = 10_000;

/** Reads the environment and the arguments; throws `ConfigError`. */
export function readProcessConfig(): Config {
  if (Number(process.versions.node.split('.')[0]) < NODE_MAJOR) {
    throw new ConfigError('Node', `must be version ${NODE_MAJOR}, this is ${process.versions.node}: start through npm`);
  }
  return readConfig(process.env, process.argv.slice(2));
}

/** Reports start and shutdown on a terminal; without a reporter the log shows where the platform serves. */
export interface Reporter {
  step: Step;
  serving(running: Running): void;
}

/** Runs the platform until SIGINT or SIGTERM, then shuts it down gracefully. */
export async function main(config: Config, reporter?: Reporter): Promise<Running> {
  // Imported late, as it takes a second to load: a mistake in the configuration is reported before.
  const { start } = await import('./start.ts');
  trustSystemCertificates();
  const running = await start(config, reporter?.step);
  // As Node does by default, but errors are logged without secrets.
  for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
    process.on(event, (error: unknown) => {
      running.ctx.log.fatal({ err: error }, 'cannot go on');
      process.exit(1);
    });
  }
  let shuttingDown = false;
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      if (shuttingDown) return;
      shuttingDown = true;
      setTimeout(() => {
        running.ctx.log.error('did not stop in time');
        process.exit(1);
      }, SHUTDOWN_TIMEOUT_MS).unref();
      const stop = () => running.stop();
      void (reporter ? reporter.step('Stopping', () => 'Stopped', stop) : stop()).then(() => process.exit(0));
    });
  }
  if (reporter) reporter.serving(running);
  else running.ctx.log.info({ origin: config.appOrigin, daemonOrigin: running.ctx.daemonOrigin }, 'serving');
  return running;
}

/** Ends a failed start with its reason; LOG_LEVEL=debug also prints the stack. */
export function failStart(error: unknown): never {
  if (process.env.LOG_LEVEL === 'debug' && error instanceof Error) console.error(error.stack);
  process.stderr.write(`Stagi cannot start. ${error instanceof Error ? error.message : error}\n`);
  process.exit(1);
}

if (import.meta.main) {
  try {
    await main(readProcessConfig());
  } catch (error) {
    failStart(error);
  }
}
