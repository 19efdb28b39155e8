import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

const EC = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2', '-x509'];

export interface Certificates {
  /** The certificate of the authority that signed the other one. */
  ca: string;
  certificate: string;
  key: string;
}

/** A private authority, and one certificate of all `names` by it; as files in `folder`. */
export function makeCertificates(folder: string, names: readonly string[]): Certificates {
  const [ca, caKey] = [join(folder, 'ca.pem'), join(folder, 'ca.key')];
  const [certificate, key] = [join(folder, 'fullchain.pem'), join(folder, 'privkey.pem')];
  openssl(...EC, '-subj', '/CN=Test authority', '-keyout', caKey, '-out', ca);
  const san = `subjectAltName=${names.map((name) => `DNS:${name}`).join(',')}`;
  const leaf = ['-CA', ca, '-CAkey', caKey, '-addext', san, '-addext', 'basicConstraints=critical,CA:FALSE'];
  openssl(...EC, '-subj', '/CN=stagi.test', ...leaf, '-keyout', key, '-out', certificate);
  return { ca, certificate, key };
}

const openssl = (...args: string[]) =>
  execFileSync('openssl', ['req', ...args], { stdio: ['ignore', 'ignore', 'pipe'] });
