import { useState } from 'react';
import { useLocation, useNavigationType } from 'react-router';

/** A name for the present visit of a page. What a list writes into its own address while one stays does not change it. */
export function useRouteMark(): string {
  const { key, pathname } = useLocation();
  const kind = useNavigationType();
  const [visit, setVisit] = useState({ key, pathname, mark: key });
  if (visit.key === key) return visit.mark;
  const stays = kind === 'REPLACE' && pathname === visit.pathname;
  const next = { key, pathname, mark: stays ? visit.mark : key };
  setVisit(next);
  return next.mark;
}
