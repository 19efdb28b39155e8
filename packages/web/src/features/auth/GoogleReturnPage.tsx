import { type ProviderResponse, ProviderReturn } from './ProviderReturn.tsx';

// Written by public/boot.js, which takes it out of the address of /sign-in before anything else runs.
const KEY = 'googleReturn';

export function GoogleReturnPage() {
  return <ProviderReturn provider="google" take={take} />;
}

function take(): ProviderResponse {
  const returned = new URLSearchParams(sessionStorage.getItem(KEY) ?? '');
  sessionStorage.removeItem(KEY);
  return { state: returned.get('state'), proof: returned.get('id_token'), error: returned.get('error') };
}
