import { readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { runAgent } from './agent.ts';
import { ownerOf } from './containerSpec.ts';
import { connectDocker } from './docker.ts';
import { EnrolmentError, enrol, loadIdentity, loadKey } from './identity.ts';
import { openKeyring } from './keyring.ts';
import { errorText, log } from './log.ts';
import { type Paths, pathsFrom } from './paths.ts';
import { writePolicy } from './policy.ts';
import { PolicyError } from './policyError.ts';
import { type Allowances, checkRequirements } from './requirements.ts';
import { VERSION } from './version.ts';
import { bindHere, EXIT_REFUSED, FolderBinding } from './volumes/bindFolders.ts';

/** Tells the supervisor not to restart the daemon, as it does after any other code but 0. */
const EXIT_NOT_ENROLLED = 78;
const EXIT_ALREADY_RUNNING = 75;
const EXIT_USAGE = 64;

const USAGE = `Usage: stagid run
       stagid enrol --token-file FILE [--allow-cpu] [--allow-any-linux] [--allow-host-terminal]
                    [--allow-any-folder]
       stagid check [--allow-cpu] [--allow-any-linux]
       stagid version`;

// Set for the libraries of this binary; programs that it starts (git, nvidia-smi) must not get it.
delete process.env.LD_LIBRARY_PATH;
process.exitCode = await main(process.argv.slice(2));

async function main(argv: string[]): Promise<number> {
  const paths = pathsFrom(process.env);
  try {
    const { values, positionals } = parseArgs({
      args: argv,
      allowPositionals: true,
      options: {
        'token-file': { type: 'string' },
        'allow-cpu': { type: 'boolean', default: false },
        'allow-any-linux': { type: 'boolean', default: false },
        'allow-host-terminal': { type: 'boolean', default: false },
        'allow-any-folder': { type: 'boolean', default: false },
      },
    });
    const allow = { cpu: values['allow-cpu'], anyLinux: values['allow-any-linux'] };
    const [verb, ...rest] = positionals;
    // Asked for by the agent itself.
    if (verb === 'bind' && rest.length === 1) return await bind(rest[0]!);
    if (rest.length > 0) return printUsage();
    switch (verb) {
      case 'run':
        return await run(paths);
      case 'enrol':
        return values['token-file']
          ? await join(
              values['token-file'],
              allow,
              { hostTerminal: values['allow-host-terminal'], anyFolder: values['allow-any-folder'] },
              paths,
            )
          : printUsage();
      case 'check':
        return (await check(allow)) ? 0 : 1;
      case 'version':
        console.log(VERSION);
        return 0;
      default:
        return printUsage();
    }
  } catch (error) {
    log(`stagid: ${errorText(error)}`);
    return error instanceof TypeError && 'code' in error ? EXIT_USAGE : 1;
  }
}

function printUsage(): number {
  console.error(USAGE);
  return EXIT_USAGE;
}

async function run(paths: Paths): Promise<number> {
  const identity = await loadIdentity(paths);
  const key = identity && (await loadKey(paths.key));
  if (!identity || !key) {
    log(`this server has not joined a platform, or has left it: there is no key in ${paths.config}`);
    return EXIT_NOT_ENROLLED;
  }
  if (!(await acquireInstanceLock(paths))) {
    log('another stagid looks after this server already');
    return EXIT_ALREADY_RUNNING;
  }
  const stop = new AbortController();
  process.once('SIGTERM', () => stop.abort());
  process.once('SIGINT', () => stop.abort());
  log(`stagid ${VERSION} as node ${identity.node} of ${identity.origin}`);
  const keys = await openKeyring(paths, key);
  const ending = await runAgent({ identity, keys, engine: connectDocker(ownerOf(identity)), paths }, stop.signal);
  // A pending call, such as one to a Docker that hangs, must not delay the exit.
  process.exit(ending === 'gone' ? EXIT_NOT_ENROLLED : 0);
}

async function join(
  tokenFile: string,
  allow: Allowances,
  grants: { hostTerminal: boolean; anyFolder: boolean },
  paths: Paths,
): Promise<number> {
  const token = (await readFile(tokenFile, 'utf8')).trim();
  if (!(await check(allow))) return 1;
  try {
    const identity = await enrol(token, paths);
    await writePolicy(paths, identity.kind, grants);
    console.log(`This server has joined ${identity.origin} as node ${identity.node}.`);
    return 0;
  } catch (error) {
    if (!(error instanceof EnrolmentError)) throw error;
    console.error(error.message);
    return 1;
  }
}

async function check(allow: Allowances): Promise<boolean> {
  const found = await checkRequirements(connectDocker({ platform: 'none', node: 'none' }), allow);
  for (const { what, missing } of found)
    console.log(missing === null ? `  ok       ${what}` : `  missing  ${what}: ${missing}`);
  return found.every(({ missing }) => missing === null);
}

async function bind(bindings: string): Promise<number> {
  try {
    await bindHere(z.array(FolderBinding).parse(JSON.parse(bindings)));
    return 0;
  } catch (error) {
    if (!(error instanceof PolicyError)) throw error;
    console.log(error.message);
    return EXIT_REFUSED;
  }
}

/** Allows one daemon per state folder: an abstract socket, which the kernel frees however the process ends. */
function acquireInstanceLock(paths: Paths): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const server = createServer((socket) => socket.destroy());
  server.once('error', () => resolve(false));
  server.listen(`\0stagid:${paths.state}`, () => resolve(true));
  return promise;
}
