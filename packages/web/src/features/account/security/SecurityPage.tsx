import { api } from '@stagi/contract/api.ts';
import type { Passkey } from '@stagi/contract/secondFactor.ts';
import { useQuery } from '@tanstack/react-query';
import { Link } from 'react-router';
import { errorText } from '../../../api/messages.ts';
import { q } from '../../../api/query.ts';
import { useT } from '../../../i18n/i18n.ts';
import { paths } from '../../../paths.ts';
import { ErrorState } from '../../../ui/ErrorState.tsx';
import { Note } from '../../../ui/Note.tsx';
import { PageHeader } from '../../../ui/PageHeader.tsx';
import { PanelSkeleton } from '../../../ui/Skeletons.tsx';
import { AccountTabs } from '../AccountTabs.tsx';
import { PasskeysSection } from './PasskeysSection.tsx';
import { RecoverySection } from './RecoverySection.tsx';
import own from './security.module.css';
import { TotpSection } from './TotpSection.tsx';

const ALL = { entityFilterRequest: { limit: 100, orderByDirection: 'asc' } } as const;

/** The second factors of the account. */
export function SecurityPage() {
  const t = useT();
  const factors = useQuery(q(api.secondFactor.view, {}));
  const passkeys = useQuery(q(api.secondFactor.passkeyList, ALL));
  const error = factors.error ?? passkeys.error;
  return (
    <>
      <PageHeader title={t('Security')}>
        {t('A second factor keeps others out of your account even if they learn your password.')}
      </PageHeader>
      <AccountTabs />
      {factors.data && passkeys.data ? (
        <Sections {...factors.data} list={passkeys.data.entities} />
      ) : error ? (
        <ErrorState
          message={errorText(error)}
          onRetry={() => void Promise.all([factors.refetch(), passkeys.refetch()])}
          retrying={factors.isFetching || passkeys.isFetching}
        />
      ) : (
        <PanelSkeleton rows={5} />
      )}
    </>
  );
}

interface Factors {
  totpSince: string | null;
  recoveryCodesLeft: number;
  list: readonly Passkey[];
}

function Sections({ totpSince, recoveryCodesLeft, list }: Factors) {
  const t = useT();
  const isProtected = totpSince !== null || list.length > 0;
  return (
    <div>
      <PasskeysSection passkeys={list} isOnlyFactor={totpSince === null} />
      <TotpSection since={totpSince} isOnlyFactor={list.length === 0} />
      {isProtected && <RecoverySection left={recoveryCodesLeft} />}
      <div className={own.note}>
        <Note>
          {t('If somebody else may know your password, end their sessions too.')}{' '}
          <Link to={paths.sessions()}>{t('Sessions')}</Link>
        </Note>
      </div>
    </div>
  );
}
