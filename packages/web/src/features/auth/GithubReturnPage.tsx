import { ProviderReturn, takeCode } from './ProviderReturn.tsx';

/** Exchanges the code of its query for a session. */
export function GithubReturnPage() {
  return <ProviderReturn provider="github" take={takeCode} />;
}
