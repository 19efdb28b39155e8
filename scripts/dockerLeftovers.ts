import { runQuietly } from './run.ts';

/** Images that only tests make, and environments that only tests name. */
const TEST_IMAGE = /^stagi-(test|prune)\b/;
const TEST_ENVIRONMENT = /^(test|e2e)/;
const ENVIRONMENT = 'cloud.stagi.environment';

interface Inspected {
  Id?: string;
  Name: string;
  /** Of containers and networks. */
  Created?: string;
  /** Of volumes. */
  CreatedAt?: string;
  Labels?: Record<string, string> | null;
  Config?: { Image: string; Labels: Record<string, string> | null };
  Mounts?: { Type: string; Name?: string }[];
}

/** Removes the containers, networks and volumes that tests have made since then and left, and nothing else. */
export async function removeTestLeftovers(since: Date): Promise<void> {
  const isNew = ({ Created, CreatedAt }: Inspected) => Date.parse(Created ?? CreatedAt ?? '') >= since.getTime();
  const isOfTests = ({ Config, Labels }: Inspected) =>
    TEST_IMAGE.test(Config?.Image ?? '') || TEST_ENVIRONMENT.test((Config?.Labels ?? Labels)?.[ENVIRONMENT] ?? '');
  const left = (all: Inspected[]) => all.filter((one) => isNew(one) && isOfTests(one));

  const containers = left(await inspect('container', ['ls', '-aq', '--no-trunc']));
  const mounted = containers.flatMap(({ Mounts = [] }) =>
    Mounts.flatMap(({ Type, Name }) => (Type === 'volume' && Name ? [Name] : [])),
  );
  await remove(
    ['rm', '-f', '-v'],
    containers.map(({ Id }) => Id!),
  );
  const networks = left(await inspect('network', ['ls', '-q', '--no-trunc']));
  await remove(
    ['network', 'rm'],
    networks.map(({ Id }) => Id!),
  );
  const volumes = await inspect('volume', ['ls', '-q']);
  const unused = volumes.filter((one) => isNew(one) && (isOfTests(one) || mounted.includes(one.Name)));
  await remove(
    ['volume', 'rm', '-f'],
    unused.map(({ Name }) => Name),
  );
}

async function inspect(kind: 'container' | 'network' | 'volume', list: string[]): Promise<Inspected[]> {
  const { output } = await runQuietly('docker', [kind, ...list]);
  const ids = output.split('\n').filter(Boolean);
  if (ids.length === 0) return [];
  const { code, output: found } = await runQuietly('docker', [kind, 'inspect', ...ids]);
  // One of them went meanwhile: what still ends by itself is no leftover.
  return code === 0 ? (JSON.parse(found) as Inspected[]) : inspect(kind, list);
}

async function remove(command: string[], names: string[]): Promise<void> {
  if (names.length === 0) return;
  const { code, output } = await runQuietly('docker', [...command, ...names]);
  console.log(code === 0 ? `Left by tests and removed: docker ${command.join(' ')} ${names.join(' ')}` : output);
}
