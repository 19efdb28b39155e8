import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

const NEW_KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];

/** A certificate and its key, as files. */
export interface Certificate {
  certificate: string;
  key: string;
}

/** A private authority. */
export function makeAuthority(folder: string): Certificate {
  const [certificate, key] = [join(folder, 'ca.pem'), join(folder, 'ca.key')];
  openssl(
    'req',
    '-x509',
    ...NEW_KEY,
    '-days',
    '100',
    '-subj',
    '/CN=Test authority',
    '-keyout',
    key,
    '-out',
    certificate,
  );
  return { certificate, key };
}

/** One certificate of all `names`; with negative `days` it has expired. Replaces the one in `folder`. */
export function makeCertificate(
  folder: string,
  authority: Certificate,
  names: readonly string[],
  days = 2,
): Certificate {
  const [certificate, key] = [join(folder, 'fullchain.pem'), join(folder, 'privkey.pem')];
  const [asked, extensions] = [join(folder, 'tls.csr'), join(folder, 'tls.ext')];
  openssl('req', ...NEW_KEY, '-subj', '/CN=Stagi', '-keyout', key, '-out', asked);
  writeFileSync(
    extensions,
    `subjectAltName=${names.map((name) => `DNS:${name}`).join(',')}\nbasicConstraints=critical,CA:FALSE\n`,
  );
  const by = ['-CA', authority.certificate, '-CAkey', authority.key, '-CAcreateserial'];
  openssl('x509', '-req', '-in', asked, ...by, '-days', String(days), '-extfile', extensions, '-out', certificate);
  return { certificate, key };
}

function openssl(...args: string[]): void {
  execFileSync('openssl', args, { stdio: ['ignore', 'ignore', 'pipe'] });
}
