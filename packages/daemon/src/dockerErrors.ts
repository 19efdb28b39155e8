import { text } from '@stagi/contract/text.ts';
import { errorText } from './log.ts';
import type { PullAuth } from './pullAuths.ts';

/** An error of Docker, in words for the person who created the container. A permanent one is not worth a retry. */
export class DockerError extends Error {
  readonly permanent: boolean;

  constructor(message: string, permanent: boolean, options?: ErrorOptions) {
    super(message, options);
    this.permanent = permanent;
  }
}

/** The registry has refused what it was logged in to with: another try needs another credential. */
export class CredentialError extends DockerError {
  constructor(host: string, options: ErrorOptions) {
    super(text('The registry refused the user name and password for {{host}}', { host }), true, options);
  }
}

const CREDENTIAL_REFUSED =
  /unauthorized|authentication required|incorrect username or password|no basic auth credentials|denied: denied/i;

/** Of a pull. Whether a login was wrong, or missing, depends on what it was made with. */
export function toPullError(error: unknown, image: string, auth: PullAuth): DockerError {
  const known = toDockerError(error, image);
  if (!CREDENTIAL_REFUSED.test(errorText(error))) return known;
  // It may be there once the platform can be asked.
  if (auth === 'unknown') return new DockerError(known.message, false, { cause: error });
  return auth === null ? known : new CredentialError(auth.serveraddress, { cause: error });
}

/** Recognises Docker's errors by their texts, as Docker reports most of them only in the text of a 500. */
export function toDockerError(error: unknown, image: string): DockerError {
  const said = errorText(error);
  const known = KNOWN_ERRORS.find(({ pattern }) => pattern.test(said));
  if (!known) return new DockerError(shorten(said), statusOf(error) === 400, { cause: error });
  const match = known.pattern.exec(said);
  return new DockerError(known.message({ image, found: match?.[1] ?? '' }), known.permanent, { cause: error });
}

export function statusOf(error: unknown): number | null {
  return error instanceof Error && 'statusCode' in error && typeof error.statusCode === 'number'
    ? error.statusCode
    : null;
}

export const noProgram = (program: string): string =>
  `The command cannot be run in this image: ${program} was not found or is no program`;

interface KnownError {
  pattern: RegExp;
  permanent: boolean;
  message(about: { image: string; found: string }): string;
}

const KNOWN_ERRORS: KnownError[] = [
  {
    pattern:
      /(?:Bind for|listen tcp\d?|host port for) (?:\[[^\]]*\]|[\d.]+):(\d+).*(?:port is already allocated|address already in use)/,
    permanent: true,
    message: ({ found }) => `Port ${found} is in use on the server`,
  },
  { pattern: /no space left on device/i, permanent: true, message: () => "The server's disk is full" },
  {
    pattern: /exec: \\?"([^"\\]*)\\?"/,
    permanent: true,
    message: ({ found }) => noProgram(found),
  },
  {
    pattern: /(?:exec format error|no matching manifest|does not match the specified platform)/,
    permanent: true,
    message: ({ image }) => `${image} was made for another kind of processor`,
  },
  {
    pattern: /[Nn]o command specified/,
    permanent: true,
    message: ({ image }) => `${image} has no command of its own: enter one`,
  },
  {
    pattern: /toomanyrequests|Too Many Requests/i,
    permanent: false,
    message: () => 'The registry allows no more downloads for now',
  },
  {
    pattern:
      /dial tcp|no such host|i\/o timeout|TLS handshake|connection refused|Client\.Timeout|proxyconnect|x509:|EOF$/,
    permanent: false,
    message: ({ image }) => `The registry of ${image} cannot be reached from the server`,
  },
  {
    pattern:
      /pull access denied|requested access to the resource is denied|unauthorized|authentication required|may require|no basic auth credentials/,
    permanent: true,
    message: ({ image }) => `${image} was not found, or its registry asks for a login`,
  },
  {
    pattern: /manifest unknown|manifest for .* not found|repository .* not found|name unknown|invalid reference format/,
    permanent: true,
    message: ({ image }) => `${image} was not found in its registry`,
  },
  {
    pattern: /cannot overwrite (?:non-)?directory \\?"([^"\\]*)\\?"/,
    permanent: true,
    message: ({ found }) => text('{{path}} would be both a file and a directory', { path: found }),
  },
  {
    // Docker names its own folder of the container in some of these.
    pattern:
      /(?:(?:mkdir|lstat|stat|open) (?:\S*\/overlay2\/\w+\/merged)?|Cannot mkdir: )(\/.*?)(?:\/\.)?(?:: not| is not) a directory/,
    permanent: true,
    message: ({ found }) => text('{{path}} is a file where a directory is needed', { path: found }),
  },
  {
    pattern: /could not select device driver|unknown or invalid runtime name|nvidia-container-cli/,
    permanent: true,
    message: () => 'Docker on the server cannot give out GPUs: the NVIDIA Container Toolkit is missing or broken',
  },
];

function shorten(message: string): string {
  const plain = message.replace(/^\(HTTP code \d+\) [^-]*- /, '').trim();
  return plain.length > 300 ? `${plain.slice(0, 299)}…` : plain;
}
