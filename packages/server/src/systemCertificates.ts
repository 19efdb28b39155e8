import { getCACertificates, setDefaultCACertificates } from 'node:tls';

/**
 * Trusts the machine's certificates beside those that Node brings, as the agent does: an authority of one's own counts
 * for all programs of a machine once `update-ca-certificates` has seen it.
 */
export function trustSystemCertificates(): void {
  setDefaultCACertificates([...new Set([...getCACertificates('default'), ...getCACertificates('system')])]);
}
