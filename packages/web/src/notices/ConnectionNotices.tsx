import { IconRefresh, IconWifiOff, IconX } from '@tabler/icons-react';
import { useEffect, useState, useSyncExternalStore } from 'react';
import { fetchServedVersion, site } from '../api/site.ts';
import { useT } from '../i18n/i18n.ts';
import { Button } from '../ui/Button.tsx';
import { IconButton } from '../ui/IconButton.tsx';
import classes from './ConnectionNotices.module.css';

const VERSION_CHECK_MS = 5 * 60_000;

/** Notices about the connection: offline, or a new version of the app. */
export function ConnectionNotices() {
  const t = useT();
  const online = useOnline();
  const newer = useNewerVersion();
  const [put, setPut] = useState<string | null>(null);
  return (
    <div className={classes.notices} role="status">
      {!online && (
        <div className={classes.notice} data-testid="offline">
          <IconWifiOff size={18} aria-hidden="true" />
          <span>{t('You are offline. What you see may be out of date. It refreshes when the network is back.')}</span>
        </div>
      )}
      {newer !== null && newer !== put && (
        <div className={classes.notice} data-testid="new-version">
          <span>{t('A new version of this app is available.')}</span>
          <Button
            color="gray"
            size="xs"
            icon={<IconRefresh size={14} aria-hidden="true" />}
            onClick={() => window.location.reload()}
          >
            {t('Reload the page')}
          </Button>
          <IconButton size="xxs" plain label={t('Later')} onClick={() => setPut(newer)}>
            <IconX size={16} />
          </IconButton>
        </div>
      )}
    </div>
  );
}

function useOnline(): boolean {
  return useSyncExternalStore(
    (listener) => {
      window.addEventListener('online', listener);
      window.addEventListener('offline', listener);
      return () => {
        window.removeEventListener('online', listener);
        window.removeEventListener('offline', listener);
      };
    },
    () => navigator.onLine,
    () => true,
  );
}

/** The served version, once it differs from this page's. Checked every few minutes and when the tab becomes visible. */
function useNewerVersion(): string | null {
  const [newer, setNewer] = useState<string | null>(null);
  useEffect(() => {
    const { version } = site();
    if (version === '') return;
    const look = async () => {
      if (document.visibilityState !== 'visible' || !navigator.onLine) return;
      const served = await fetchServedVersion();
      if (served) setNewer(served === version ? null : served);
    };
    const timer = window.setInterval(look, VERSION_CHECK_MS);
    window.addEventListener('online', look);
    document.addEventListener('visibilitychange', look);
    return () => {
      window.clearInterval(timer);
      window.removeEventListener('online', look);
      document.removeEventListener('visibilitychange', look);
    };
  }, []);
  return newer;
}
