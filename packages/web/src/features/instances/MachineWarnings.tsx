import type { MachineFacts } from '@stagi/contract/instances.ts';
import { useT } from '../../i18n/i18n.ts';
import { CodeBlock } from '../../ui/CodeBlock.tsx';
import { Note } from '../../ui/Note.tsx';
import classes from './Instances.module.css';

/** Who made the machine's system: its owner, a provider, or the local cloud, which builds it from Debian packages. */
type Maker = 'owner' | 'provider' | 'local';

/** What a machine's daemon warns of, and what can be done about it. */
export function MachineWarnings({ facts, maker }: { facts: MachineFacts | null; maker: Maker }) {
  const t = useT();
  if (!facts) return null;
  return (
    <>
      {facts.vulnerableRunc && <RuncWarning runc={facts.vulnerableRunc} maker={maker} />}
      {facts.warnings.map((warning) => (
        <Note key={warning} tone="warn">
          {t(warning)}
        </Note>
      ))}
    </>
  );
}

const UPDATE = 'apt-get update && apt-get install --only-upgrade';
const DOCKER_INSTALL = 'https://docs.docker.com/engine/install/';

function RuncWarning({ runc, maker }: { runc: NonNullable<MachineFacts['vulnerableRunc']>; maker: Maker }) {
  const t = useT();
  return (
    <Note tone="warn" title={t('A hostile container may break out of this server')}>
      <div className={classes.warning}>
        <p>
          {t(
            'Docker starts containers with runc {{version}}, which may be open to {{holes}}. Until it is upgraded, run only images that you trust.',
            { version: runc.version, holes: runc.cves.join(', ') },
          )}
        </p>
        {maker === 'local' ? <LocalCloudSteps /> : <UpgradeSteps />}
      </div>
    </Note>
  );
}

function UpgradeSteps() {
  const t = useT();
  return (
    <>
      <p>{t('Upgrade it on the server as root. Containers keep running; the agent restarts and checks again.')}</p>
      <CodeBlock
        title={t('Docker from Ubuntu or Debian')}
        prompt="#"
        wrap
        code={`${UPDATE} runc && systemctl restart stagid`}
      />
      <CodeBlock
        title={t('Docker from docker.com')}
        prompt="#"
        wrap
        code={`${UPDATE} containerd.io && systemctl restart stagid`}
      />
      <p>
        {t('If no newer version is available, use the packages from docker.com.')}{' '}
        <a href={DOCKER_INSTALL} target="_blank" rel="noreferrer">
          {t('How to install them')}
        </a>
      </p>
    </>
  );
}

/** Its machines run no systemd; a reboot starts their daemon. */
function LocalCloudSteps() {
  const t = useT();
  return (
    <>
      <p>
        {t(
          'Local cloud servers use the runc of Debian stable. Run this as root to install a fixed version once Debian has it, then reboot the server.',
        )}
      </p>
      <CodeBlock prompt="#" wrap code={`${UPDATE} runc`} />
      <p>{t('The operator of the platform can then rebuild the machine image, for servers rented later.')}</p>
    </>
  );
}
