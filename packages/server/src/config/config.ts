import { createHash } from 'node:crypto';
import { accessSync, constants, mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { compile } from '@fastify/proxy-addr';
import { LINK_LEASE_SECONDS } from '@stagi/contract/daemon.ts';
import { fromDecimal } from '@stagi/contract/money.ts';
import { SAMPLE_SECONDS } from '@stagi/contract/usageSample.ts';
import type { Plan } from '@stagi/contract/user.ts';
import { readAllowedHosts } from './allowedHosts.ts';
import { type AppsDomain, readAppsDomain } from './appsDomain.ts';
import { ConfigError } from './configError.ts';
import { readDevMail } from './devMail.ts';
import { type GitHosting, readGitHosting } from './gitHosting.ts';
import { type IdentityProviders, readIdentityProviders } from './identityProviders.ts';
import { hostInUrl, isLoopbackAddress, readListenHost } from './listenHost.ts';
import { isLoopback } from './loopback.ts';
import { type ObjectStorage, readObjectStorage } from './objectStorage.ts';
import { mayMailPlainly, refusePlainHttp } from './plain.ts';
import { type RegisteredApp, readApps } from './registeredApps.ts';
import { readSignUp, type SignUp } from './signUp.ts';
import { readSite, type Site } from './site.ts';

const ROLES = ['api', 'worker', 's3'] as const;
type Role = (typeof ROLES)[number];

/** The configuration from the environment, read once. */
export interface Config extends ObjectStorage, GitHosting {
  port: number;
  /** The address of this machine that all ports listen at, but `/metrics`. */
  listenHost: string;
  /** `/metrics`, on loopback; `null`: off. */
  metricsPort: number | null;
  /** The origin that browsers use: scheme, host and port. */
  appOrigin: string;
  originIsLoopback: boolean;
  /** Nobody beyond this machine reaches the platform. */
  isOfThisMachine: boolean;
  /** Further host names that clients may reach the platform by. */
  allowedHosts: readonly string[];
  /** The domain of containers' ports; `null`: they are not served. */
  appsDomain: AppsDomain | null;
  /** The origin that daemons connect to; `null`: the local cloud's gateway, else loopback. */
  daemonOrigin: string | null;
  /** The lifetime of a daemon's proof of its key. */
  linkLeaseSeconds: number;
  /** Between two samples of what a server uses. */
  sampleSeconds: number;
  databaseUrl: string | null;
  /** Database connections for people's calls, and as many for the platform's own work. */
  databaseConnections: number;
  dataDir: string;
  /** The git repositories of projects. */
  repositoriesDir: string;
  smtpUrl: string | null;
  /** Mails may go to that server without TLS. */
  mayMailPlainly: boolean;
  mailFrom: string;
  /** 32 bytes as base64; `null`: generated once and stored in the data directory. */
  secretKey: string | null;
  localCloud: 'auto' | 'on' | 'off';
  /** Mails are not sent but shown at /dev/mail, to everybody. */
  devMail: boolean;
  /** The socket of the local cloud’s Docker Engine. */
  dockerSocket: string;
  fakeCloudUrl: string | null;
  /** Another simulated cloud, which cannot stop servers. */
  fakeFixedCloudUrl: string | null;
  /** Marks our machines at clouds. Unless `hasNamedEnvironment`, the database knows it better (`installation/open.ts`). */
  environment: string;
  hasNamedEnvironment: boolean;
  /** The duration of a worker's lease on a server. */
  leaseMs: number;
  /** How often each cloud's machines are compared with our servers. */
  sweepMs: number;
  /** How long an orphaned machine is quarantined before it is deleted. */
  quarantineMs: number;
  /** How often running servers are charged. */
  meteringMs: number;
  /** After this time a line of a log is copied to the log bucket of its server. */
  logCopyMs: number;
  /** The markup on other clouds' prices, in 1/10,000. */
  markupBasisPoints: number;
  /** Micro-USD for one STAGI. */
  usdRate: bigint;
  /** Who may make an account, and what the first form asks. */
  signUp: SignUp;
  /** The starter credit of a new user, in micro-STAGI. */
  starterCredit: bigint;
  /** The plan of new workspaces. */
  defaultPlan: Plan;
  trustProxy: string | boolean;
  /** The rate limit of sign-in calls per IP address and minute. */
  signInsPerMinute: number;
  /** The identity providers for signing in; each is `null` where it is not configured. */
  identityProviders: IdentityProviders;
  logLevel: string;
  /** Short lines for people at a terminal, else JSON lines. */
  logFormat: 'text' | 'json';
  roles: ReadonlySet<Role>;
  /** The registered OAuth apps by client id. */
  apps: ReadonlyMap<string, RegisteredApp>;
  /** The operator's links, banners and analytics. */
  site: Site;
  webDir: string | null;
  /** The folder with the built daemon's archive and its checksum. */
  daemonDir: string;
}

type Environment = Record<string, string | undefined>;

export function readConfig(env: Environment, argv: readonly string[] = []): Config {
  const port = number(env, 'PORT', 4400);
  const listenHost = readListenHost(env.LISTEN_HOST);
  const appOrigin = origin(env, 'APP_ORIGIN') ?? `http://localhost:${port}`;
  const originIsLoopback = isLoopback(new URL(appOrigin).hostname);
  const isOfThisMachine = originIsLoopback && isLoopbackAddress(listenHost);
  const dataDir = resolve(env.STAGI_DATA ?? '.data');
  try {
    mkdirSync(dataDir, { recursive: true });
    accessSync(dataDir, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    throw new ConfigError(
      'STAGI_DATA',
      `cannot be used as data directory (${(error as Error).message}): let this user write there or name another directory`,
    );
  }
  return {
    port,
    listenHost,
    metricsPort: env.METRICS_PORT === 'off' ? null : number(env, 'METRICS_PORT', 4480),
    appOrigin,
    originIsLoopback,
    isOfThisMachine,
    allowedHosts: readAllowedHosts(env.ALLOWED_HOSTS),
    ...readObjectStorage(
      env,
      { port, s3Port: number(env, 'S3_PORT', 4401), appOrigin, listenHost: hostInUrl(listenHost) },
      origin,
    ),
    ...readGitHosting(env, number(env, 'GIT_SSH_PORT', 4422)),
    appsDomain: readAppsDomain(env.APPS_DOMAIN, appOrigin),
    daemonOrigin: origin(env, 'DAEMON_ORIGIN'),
    linkLeaseSeconds: decimal(env, 'LINK_LEASE_SECONDS', LINK_LEASE_SECONDS),
    sampleSeconds: positive(env, 'SAMPLE_SECONDS', SAMPLE_SECONDS),
    databaseUrl: databaseUrl(env),
    databaseConnections: count(env, 'DATABASE_CONNECTIONS', 10),
    dataDir,
    repositoriesDir: env.REPOSITORIES_DIR ? resolve(env.REPOSITORIES_DIR) : join(dataDir, 'repositories'),
    smtpUrl: smtpUrl(env),
    mayMailPlainly: mayMailPlainly(env, smtpUrl(env)),
    mailFrom: env.MAIL_FROM ?? 'Stagi <no-reply@localhost>',
    secretKey: secretKey(env),
    localCloud: choice(env, 'LOCAL_CLOUD', ['auto', 'on', 'off']),
    devMail: readDevMail(env, isOfThisMachine),
    dockerSocket: dockerSocket(env),
    fakeCloudUrl: env.FAKE_CLOUD_URL || null,
    fakeFixedCloudUrl: env.FAKE_FIXED_CLOUD_URL || null,
    environment: word(env, 'STAGI_ENVIRONMENT', defaultEnvironment(dataDir)),
    hasNamedEnvironment: !!env.STAGI_ENVIRONMENT,
    leaseMs: seconds(env, 'LEASE_SECONDS', 30),
    sweepMs: seconds(env, 'SWEEP_SECONDS', 300),
    quarantineMs: seconds(env, 'QUARANTINE_SECONDS', 600),
    meteringMs: seconds(env, 'METERING_SECONDS', 60),
    logCopyMs: seconds(env, 'LOG_COPY_SECONDS', 240),
    markupBasisPoints: Math.round(decimal(env, 'MARKUP_PERCENT', 15) * 100),
    usdRate: amount(env, 'USD_RATE', '1'),
    signUp: readSignUp(env),
    starterCredit: amount(env, 'STARTER_CREDIT', '50'),
    defaultPlan: choice(env, 'DEFAULT_PLAN', ['Free', 'Individual', 'Team', 'Enterprise']),
    trustProxy: proxies(env),
    // On a loopback origin all clients have the same address.
    signInsPerMinute: count(env, 'SIGN_INS_PER_MINUTE', originIsLoopback ? 600 : 20),
    identityProviders: readIdentityProviders(env),
    logLevel: choice(env, 'LOG_LEVEL', ['info', 'fatal', 'error', 'warn', 'debug', 'trace', 'silent']),
    logFormat: choice(env, 'LOG_FORMAT', ['auto', 'json']) === 'auto' && process.stdout.isTTY ? 'text' : 'json',
    roles: roles(argv),
    apps: readApps(env.OAUTH_APPS),
    site: readSite(env),
    webDir: env.STAGI_WEB_DIR ? resolve(env.STAGI_WEB_DIR) : join(import.meta.dirname, '../../../web/dist'),
    daemonDir: env.STAGI_DAEMON_DIR
      ? resolve(env.STAGI_DAEMON_DIR)
      : join(import.meta.dirname, '../../../../.cache/daemon'),
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

function positive(env: Environment, name: string, fallback: number): number {
  const value = decimal(env, name, fallback);
  if (value === 0) throw new ConfigError(name, 'must be more than 0');
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
  const url = new URL(text);
  refusePlainHttp(env, name, url);
  return url.origin;
}

/** Differs per data directory, so that two platforms on one Docker Engine keep their machines apart. */
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

function smtpUrl(env: Environment): string | null {
  const text = env.SMTP_URL;
  if (!text) return null;
  if (!URL.canParse(text) || !/^smtps?:$/.test(new URL(text).protocol) || !new URL(text).hostname)
    throw new ConfigError('SMTP_URL', 'must be like smtp://user:password@mail.example:587');
  return text;
}

function secretKey(env: Environment): string | null {
  const text = env.STAGI_SECRET_KEY;
  if (!text) return null;
  if (Buffer.from(text, 'base64').length !== 32)
    throw new ConfigError('STAGI_SECRET_KEY', 'must be 32 bytes in base64');
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

function roles(argv: readonly string[]): ReadonlySet<Role> {
  const flag = argv.find((argument) => argument.startsWith('--role='));
  const named: readonly string[] = flag ? flag.slice('--role='.length).split(',') : ROLES;
  const known = named.filter((role): role is Role => ROLES.some((one) => one === role));
  if (known.length !== named.length || known.length === 0)
    throw new ConfigError('--role', `must be one or more of ${ROLES.join(', ')}, comma-separated`);
  return new Set(known);
}
