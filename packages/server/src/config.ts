import { createHash } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { compile } from '@fastify/proxy-addr';
import { LINK_LEASE_SECONDS } from '@stagi/contract/daemon.ts';
import { fromDecimal } from '@stagi/contract/money.ts';
import { type RegisteredApp, readApps } from './apps/registered.ts';
import { ConfigError } from './configError.ts';
import { type AppsDomain, readAppsDomain } from './containerAccess/domain.ts';
import { type IdentityProviders, readIdentityProviders } from './identityProviders.ts';
import { isLoopback } from './loopback.ts';
import { readSite, type Site } from './site.ts';

/** Everything the environment decides, read once. Throws `ConfigError` naming the variable. */
export interface Config {
  port: number;
  /** `/metrics`, on loopback; `null`: off. */
  metricsPort: number | null;
  /** What browsers see: scheme, host and port. */
  appOrigin: string;
  originIsLoopback: boolean;
  /** Where ports of containers are served; `null`: nowhere. */
  appsDomain: AppsDomain | null;
  /** What machines dial; `null`: the local cloud's gateway, else loopback. */
  daemonOrigin: string | null;
  /** How long a daemon's proof of its key holds. */
  linkLeaseSeconds: number;
  databaseUrl: string | null;
  /** At once for the calls of people, and as many for the platform's own work. */
  databaseConnections: number;
  dataDir: string;
  smtpUrl: string | null;
  mailFrom: string;
  /** 32 bytes as base64; `null`: made once and kept in the data directory. */
  secretKey: string | null;
  localCloud: 'auto' | 'on' | 'off';
  devMail: boolean;
  /** Where the local cloud’s Docker Engine listens. */
  dockerSocket: string;
  fakeCloudUrl: string | null;
  /** Another simulated cloud, which cannot stop a server. */
  fakeFixedCloudUrl: string | null;
  environment: string;
  /** How long a worker that stops answering keeps the server it works on. */
  leaseMs: number;
  /** How often each cloud's list is held against the servers there should be. */
  sweepMs: number;
  /** How long a machine that nobody owns is left alone before it is deleted. */
  quarantineMs: number;
  /** How often what runs is charged for. */
  meteringMs: number;
  /** Added to what other clouds ask, in 1/10,000. */
  markupBasisPoints: number;
  /** Micro-USD for one STAGI. */
  usdRate: bigint;
  /** Micro-STAGI a verified person gets once. */
  starterCredit: bigint;
  trustProxy: string | boolean;
  /** How often one address may come to the ways in within a minute. */
  signInsPerMinute: number;
  /** Who else may say who somebody is; `null`: not set up. */
  identityProviders: IdentityProviders;
  logLevel: string;
  roles: ReadonlySet<'api' | 'worker'>;
  /** The apps that may ask people to be let in, by their client ids. */
  apps: ReadonlyMap<string, RegisteredApp>;
  /** What the operator shows around the product. */
  site: Site;
  webDir: string | null;
  /** Holds the built daemon's archive and its checksum. */
  daemonDir: string;
}

type Environment = Record<string, string | undefined>;

export function readConfig(env: Environment, argv: readonly string[] = []): Config {
  const port = number(env, 'PORT', 4400);
  const appOrigin = origin(env, 'APP_ORIGIN') ?? `http://localhost:${port}`;
  const originIsLoopback = isLoopback(new URL(appOrigin).hostname);
  const dataDir = resolve(env.STAGI_DATA ?? '.data');
  try {
    mkdirSync(dataDir, { recursive: true });
  } catch (error) {
    throw new ConfigError('STAGI_DATA', `cannot be used as data directory: ${(error as Error).message}`);
  }
  return {
    port,
    metricsPort: env.METRICS_PORT === 'off' ? null : number(env, 'METRICS_PORT', 4480),
    appOrigin,
    originIsLoopback,
    appsDomain: readAppsDomain(env.APPS_DOMAIN, appOrigin),
    daemonOrigin: origin(env, 'DAEMON_ORIGIN'),
    linkLeaseSeconds: decimal(env, 'LINK_LEASE_SECONDS', LINK_LEASE_SECONDS),
    databaseUrl: databaseUrl(env),
    databaseConnections: count(env, 'DATABASE_CONNECTIONS', 10),
    dataDir,
    smtpUrl: env.SMTP_URL || null,
    mailFrom: env.MAIL_FROM ?? 'Stagi <no-reply@localhost>',
    secretKey: env.STAGI_SECRET_KEY || null,
    localCloud: choice(env, 'LOCAL_CLOUD', ['auto', 'on', 'off']),
    devMail: !env.SMTP_URL && (originIsLoopback || env.DEV_MAIL === 'on'),
    dockerSocket: dockerSocket(env),
    fakeCloudUrl: env.FAKE_CLOUD_URL || null,
    fakeFixedCloudUrl: env.FAKE_FIXED_CLOUD_URL || null,
    environment: word(env, 'STAGI_ENVIRONMENT', defaultEnvironment(dataDir)),
    leaseMs: seconds(env, 'LEASE_SECONDS', 30),
    sweepMs: seconds(env, 'SWEEP_SECONDS', 300),
    quarantineMs: seconds(env, 'QUARANTINE_SECONDS', 600),
    meteringMs: seconds(env, 'METERING_SECONDS', 60),
    markupBasisPoints: Math.round(decimal(env, 'MARKUP_PERCENT', 15) * 100),
    usdRate: amount(env, 'USD_RATE', '1'),
    starterCredit: amount(env, 'STARTER_CREDIT', '50'),
    trustProxy: proxies(env),
    // Behind a loopback origin everybody has the same address.
    signInsPerMinute: count(env, 'SIGN_INS_PER_MINUTE', originIsLoopback ? 600 : 20),
    identityProviders: readIdentityProviders(env),
    logLevel: env.LOG_LEVEL ?? 'info',
    roles: roles(argv),
    apps: readApps(env.OAUTH_APPS),
    site: readSite(env),
    webDir: env.STAGI_WEB_DIR ? resolve(env.STAGI_WEB_DIR) : join(import.meta.dirname, '../../web/dist'),
    daemonDir: env.STAGI_DAEMON_DIR
      ? resolve(env.STAGI_DAEMON_DIR)
      : join(import.meta.dirname, '../../../.cache/daemon'),
  };
}

function number(env: Environment, name: string, fallback: number): number {
  const text = env[name];
  if (!text) return fallback;
  const value = Number(text);
  if (!Number.isInteger(value) || value < 0 || value > 65_535)
    throw new ConfigError(name, `must be a port number, not "${text}"`);
  return value;
}

function decimal(env: Environment, name: string, fallback: number): number {
  const text = env[name];
  if (!text) return fallback;
  const value = Number(text);
  if (!Number.isFinite(value) || value < 0)
    throw new ConfigError(name, `must be a number of at least 0, not "${text}"`);
  return value;
}

function count(env: Environment, name: string, fallback: number): number {
  const value = decimal(env, name, fallback);
  if (!Number.isInteger(value) || value < 1)
    throw new ConfigError(name, `must be a whole number of at least 1, not "${env[name]}"`);
  return value;
}

function seconds(env: Environment, name: string, fallback: number): number {
  const value = decimal(env, name, fallback);
  if (value < 1 || value > 86_400) throw new ConfigError(name, `must be 1 to 86400 seconds, not "${env[name]}"`);
  return Math.round(value * 1000);
}

function amount(env: Environment, name: string, fallback: string): bigint {
  const text = env[name] || fallback;
  try {
    return fromDecimal(text);
  } catch (cause) {
    throw new ConfigError(name, `must be an amount like 1.25, not "${text}" (${(cause as Error).message})`);
  }
}

function origin(env: Environment, name: string): string | null {
  const text = env[name];
  if (!text) return null;
  if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol))
    throw new ConfigError(name, `must be an address like https://stagi.example, not "${text}"`);
  return new URL(text).origin;
}

/** Two platforms on one Docker Engine must not take each other's machines for their own. */
function defaultEnvironment(dataDir: string): string {
  return `local-${createHash('sha256').update(dataDir).digest('hex').slice(0, 6)}`;
}

function dockerSocket(env: Environment): string {
  const text = env.DOCKER_HOST;
  if (!text) return '/var/run/docker.sock';
  if (!text.startsWith('unix:///'))
    throw new ConfigError('DOCKER_HOST', 'must be a socket of this machine, like unix:///var/run/docker.sock');
  return text.slice('unix://'.length);
}

function databaseUrl(env: Environment): string | null {
  const text = env.DATABASE_URL;
  if (!text) return null;
  if (!/^postgres(ql)?:\/\//.test(text)) throw new ConfigError('DATABASE_URL', 'must begin with postgres://');
  return text;
}

function proxies(env: Environment): string | false {
  const text = env.TRUST_PROXY;
  if (!text) return false;
  try {
    compile(text.split(',').map((address) => address.trim()));
  } catch {
    throw new ConfigError('TRUST_PROXY', `must be addresses or networks, comma-separated, not "${text}"`);
  }
  return text;
}

function choice<T extends string>(env: Environment, name: string, options: readonly [T, ...T[]]): T {
  const text = env[name];
  if (!text) return options[0];
  const found = options.find((option) => option === text);
  if (!found) throw new ConfigError(name, `must be one of ${options.join(', ')}, not "${text}"`);
  return found;
}

function word(env: Environment, name: string, fallback: string): string {
  const text = env[name] || fallback;
  if (!/^[a-z0-9-]{1,20}$/.test(text)) throw new ConfigError(name, `may hold only a-z, 0-9 and "-", not "${text}"`);
  return text;
}

function roles(argv: readonly string[]): ReadonlySet<'api' | 'worker'> {
  const flag = argv.find((argument) => argument.startsWith('--role='));
  const named = flag ? flag.slice('--role='.length).split(',') : ['api', 'worker'];
  const known = named.filter((role): role is 'api' | 'worker' => role === 'api' || role === 'worker');
  if (known.length !== named.length || known.length === 0)
    throw new ConfigError('--role', 'must be api, worker or api,worker');
  return new Set(known);
}
