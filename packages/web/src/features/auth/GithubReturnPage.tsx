import { type ProviderResponse, ProviderReturn } from './ProviderReturn.tsx';

/** Exchanges the code of its query for a session. */
export function GithubReturnPage() {
  return <ProviderReturn provider="github" take={take} />;
}

function take(): ProviderResponse {
  const returned = new URLSearchParams(window.location.search);
  window.history.replaceState(window.history.state, '', window.location.pathname);
  return { state: returned.get('state'), proof: returned.get('code'), error: returned.get('error') };
}
