import { type NavigateOptions, useSearchParams } from 'react-router';

/**
 * The parameters of the address as the page shows them, and their change. A change begins from what the address says
 * now: the page may still show what stood there before the last one, and the router’s own updater would undo that. The
 * page stays where it is scrolled to.
 */
export function useAddressParams(): [
  params: URLSearchParams,
  change: (edit: (params: URLSearchParams) => void, options?: NavigateOptions) => void,
] {
  const [params, setParams] = useSearchParams();
  return [
    params,
    (edit, options) => {
      const next = new URLSearchParams(window.location.search);
      edit(next);
      setParams(next, { preventScrollReset: true, ...options });
    },
  ];
}
