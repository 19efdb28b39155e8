import { execFile } from 'node:child_process';
import { request } from 'node:http';
import { promisify } from 'node:util';
import type { Config } from '../config/config.ts';
import { type Finding, ok, problem, reasonOf } from './finding.ts';

const run = promisify(execFile);
const PATIENCE_MS = 10_000;

/** git, and Docker where this machine is a cloud. */
export async function checkPrograms(config: Config): Promise<Finding[]> {
  const isCloud = config.localCloud === 'on' || (config.localCloud === 'auto' && config.originIsLoopback);
  return Promise.all([checkGit(), ...(isCloud ? [checkDocker(config.dockerSocket)] : [])]);
}

async function checkGit(): Promise<Finding> {
  try {
    const { stdout } = await run('git', ['--version']);
    return ok('Git', stdout.trim());
  } catch (error) {
    return problem('Git', `${reasonOf(error)}: projects need it. Install git`);
  }
}

function checkDocker(socketPath: string): Promise<Finding> {
  const wayOut = 'start Docker, let this user use it, or set LOCAL_CLOUD=off';
  return new Promise((resolve) => {
    const asked = request({ socketPath, path: '/version', timeout: PATIENCE_MS }, (answer) => {
      answer.resume();
      const isThere = answer.statusCode === 200;
      const says = `${socketPath} answers ${answer.statusCode}: ${wayOut}`;
      resolve(isThere ? ok('Local cloud', `Docker answers at ${socketPath}`) : problem('Local cloud', says));
    });
    asked.on('timeout', () => asked.destroy(new Error(`${socketPath} does not answer`)));
    asked.on('error', (error) => resolve(problem('Local cloud', `${reasonOf(error)}: ${wayOut}`)));
    asked.end();
  });
}
