import { randomBytes } from 'node:crypto';
import type { Config } from '../config/config.ts';
import { hostInUrl } from '../config/listenHost.ts';
import { addressesOf } from './addressesOf.ts';
import { askName, type NameAnswer, type Question } from './askName.ts';
import { type Finding, ok, problem, reasonOf, warning } from './finding.ts';

const DAY_MS = 86_400_000;
const RENEW_DAYS = 14;
/** More than any proxy allows by itself. */
const LARGE_BYTES = 8 * 2 ** 30;
const UPGRADE = {
  connection: 'Upgrade',
  upgrade: 'websocket',
  'sec-websocket-version': '13',
  'sec-websocket-key': randomBytes(16).toString('base64'),
};

type Origins = Pick<
  Config,
  'appOrigin' | 'contentOrigin' | 'appsDomain' | 's3Origin' | 's3MachineOrigin' | 's3InternalOrigin' | 'daemonOrigin'
>;

interface Name {
  /** The setting that names it. */
  about: string;
  origin: string;
  /** Each must be answered by the platform; the first tells whether it is reached at all. */
  questions: { question: Omit<Question, 'origin'>; status?: number; otherwise: string }[];
}

/** Reaches the platform by each of its names, through whatever is in front of it. */
export async function checkNames(config: Config): Promise<Finding[]> {
  const isUp = await isListening(config);
  const found = await Promise.all(namesOf(config).map((name) => checkName(name, isUp)));
  const down = `does not answer at ${hostInUrl(config.listenHost)}:${config.port}: the names are checked while it runs`;
  return [isUp ? ok('Platform', 'runs') : warning('Platform', down), ...found.flat(), ...adviceOn(config)];
}

/** Settings that a platform with a public address cannot do without. */
function adviceOn({ originIsLoopback, trustProxy, daemonOrigin }: Config): Finding[] {
  if (originIsLoopback) return [];
  const found: Finding[] = [];
  if (!trustProxy)
    found.push(
      problem(
        'TRUST_PROXY',
        'not set: all visitors have the address of the proxy, and limits of sign-in hit all at once',
      ),
    );
  if (!daemonOrigin) found.push(warning('DAEMON_ORIGIN', 'not set: servers on other machines cannot join'));
  return found;
}

async function isListening({ listenHost, port }: Config): Promise<boolean> {
  try {
    const { status } = await askName({ origin: `http://${hostInUrl(listenHost)}:${port}`, path: '/healthz' });
    return status === 200;
  } catch {
    // The platform is not started, which is no fault of a check before its first start.
    return false;
  }
}

function namesOf(config: Origins): Name[] {
  const { appOrigin, contentOrigin, appsDomain, s3Origin, s3MachineOrigin, s3InternalOrigin, daemonOrigin } = config;
  const uploads = {
    question: { path: '/', method: 'PUT', announcedBytes: LARGE_BYTES },
    otherwise:
      'large uploads do not get through: the proxy must neither limit nor collect bodies (nginx: client_max_body_size 0, proxy_request_buffering off)',
  };
  const sockets = {
    question: { path: '/daemon-api/link', headers: UPGRADE },
    status: 101,
    otherwise: 'WebSockets do not get through: live pages stand still, and servers cannot join',
  };
  const reached = (path: string) => ({ question: { path }, otherwise: 'the proxy answers, the platform does not' });
  const names: Name[] = [
    { about: 'APP_ORIGIN', origin: appOrigin, questions: [reached('/configuration.json'), sockets, uploads] },
    { about: 'CONTENT_ORIGIN', origin: contentOrigin, questions: [reached('/')] },
    { about: 'S3_ORIGIN', origin: s3Origin, questions: [reached('/'), uploads] },
  ];
  if (appsDomain) {
    const origin = `${appsDomain.protocol}//check-${randomBytes(4).toString('hex')}.${appsDomain.host}`;
    names.push({ about: 'APPS_DOMAIN', origin, questions: [reached('/')] });
  }
  if (daemonOrigin && daemonOrigin !== appOrigin)
    names.push({ about: 'DAEMON_ORIGIN', origin: daemonOrigin, questions: [reached('/daemon-api/reach'), sockets] });
  if (s3MachineOrigin && s3MachineOrigin !== s3Origin)
    names.push({ about: 'S3_MACHINE_ORIGIN', origin: s3MachineOrigin, questions: [reached('/'), uploads] });
  names.push({ about: 'S3_INTERNAL_ORIGIN', origin: s3InternalOrigin, questions: [reached('/')] });
  return names;
}

async function checkName({ about, origin, questions }: Name, isUp: boolean): Promise<Finding[]> {
  const { hostname } = new URL(origin);
  const addresses = [...new Set((await addressesOf(hostname)).map(({ address }) => address))];
  if (addresses.length === 0) return [problem(about, `the name ${hostname} has no address: add it to the DNS`)];
  const where = `${origin} (${addresses.join(', ')})`;
  let answer: NameAnswer;
  try {
    answer = await askName({ origin, ...questions[0]!.question });
  } catch (error) {
    if (isUp || isOfCertificate(error)) return [problem(about, `${where}: ${explain(error)}`)];
    return [ok(about, `${where}, not reached yet`)];
  }
  const certificate = certificateOf(about, where, answer.certificateUntil);
  const problems = isUp ? await problemsOf({ about, origin, questions }, where, answer) : [];
  return problems.length > 0 && certificate.level === 'ok' ? problems : [certificate, ...problems];
}

async function problemsOf({ about, origin, questions }: Name, where: string, first: NameAnswer): Promise<Finding[]> {
  if (first.status === 421)
    return [problem(about, `${where}: another name arrives here. Let the proxy pass the Host header on`)];
  if (!first.isOfPlatform) return [problem(about, `${where}: ${questions[0]!.otherwise} (status ${first.status})`)];
  const found = await Promise.all(questions.slice(1).map((one) => checkAnswer(about, origin, one)));
  return found.filter((one) => one !== null);
}

async function checkAnswer(
  about: string,
  origin: string,
  { question, status, otherwise }: Name['questions'][number],
): Promise<Finding | null> {
  try {
    const answer = await askName({ origin, ...question });
    const isRight = status === undefined ? answer.status !== 413 : answer.status === status;
    return isRight ? null : problem(about, `${otherwise} (status ${answer.status})`);
  } catch (error) {
    return problem(about, `${otherwise} (${reasonOf(error)})`);
  }
}

function certificateOf(about: string, where: string, until: Date | null): Finding {
  if (!until) return ok(about, where);
  const days = Math.floor((until.getTime() - Date.now()) / DAY_MS);
  const says = `${where}, certificate for another ${days} days`;
  return days >= RENEW_DAYS ? ok(about, says) : warning(about, `${says}: renew it`);
}

const UNKNOWN_AUTHORITY =
  'this machine does not know the authority of its certificate: put that into /usr/local/share/ca-certificates and run update-ca-certificates';
/** By the codes of OpenSSL, and of Node where the certificate is for other names. */
const CERTIFICATE_REASONS: Record<string, string> = {
  CERT_HAS_EXPIRED: 'its certificate has expired: renew it',
  CERT_NOT_YET_VALID: 'its certificate is not valid yet: look at the clock',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for other names',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate signs itself: nobody trusts it',
  SELF_SIGNED_CERT_IN_CHAIN: UNKNOWN_AUTHORITY,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNKNOWN_AUTHORITY,
  UNABLE_TO_GET_ISSUER_CERT: UNKNOWN_AUTHORITY,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    'its certificate comes without those between it and its authority, or this machine does not know that: serve the full chain',
};

const isOfCertificate = (error: unknown): boolean =>
  ((error as NodeJS.ErrnoException).code ?? '') in CERTIFICATE_REASONS;

function explain(error: unknown): string {
  const { code = '' } = error as NodeJS.ErrnoException;
  if (code === 'ECONNREFUSED') return 'nothing listens there: start the proxy';
  return CERTIFICATE_REASONS[code] ?? reasonOf(error);
}
