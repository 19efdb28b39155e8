import { useState } from 'react';
import { pendingProvider } from '../../api/pendingProviderLogin.ts';
import { ProviderReturn, takeCode } from './ProviderReturn.tsx';

/** Exchanges the code of its query for a session. All OpenID providers return here; the tab knows which one it was. */
export function OpenIdReturnPage() {
  const [provider] = useState(() => pendingProvider() ?? 'OpenID');
  return <ProviderReturn provider={provider} take={takeCode} />;
}
