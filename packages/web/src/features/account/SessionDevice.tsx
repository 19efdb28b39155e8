import type { Session } from '@stagi/contract/sessions.ts';
import { IconDeviceDesktop, IconDeviceMobile, IconDeviceTablet, IconDeviceUnknown } from '@tabler/icons-react';
import { useT } from '../../i18n/i18n.ts';
import { Tag } from '../../ui/Tag.tsx';
import classes from './SessionDevice.module.css';

const ICONS = {
  desktop: IconDeviceDesktop,
  mobile: IconDeviceMobile,
  tablet: IconDeviceTablet,
  other: IconDeviceUnknown,
};

/** The name of a session: its browser and system, as far as they are known. */
export function useDeviceName(): (session: Session) => string {
  const t = useT();
  return ({ device: { browser, os } }) => {
    if (browser && os) return t('{{browser}} on {{os}}', { browser, os });
    return browser ?? os ?? t('Unknown device');
  };
}

export function SessionDevice({ session }: { session: Session }) {
  const t = useT();
  const nameOf = useDeviceName();
  const Icon = ICONS[session.device.kind];
  return (
    <span className={classes.device}>
      <Icon size={18} aria-hidden="true" className={classes.icon} />
      <span className={classes.name}>{nameOf(session)}</span>
      {session.current && <Tag color="primary">{t('This session')}</Tag>}
    </span>
  );
}
