import { useState } from 'react';
import { useLocation, useNavigationType } from 'react-router';

/** A key for the current visit of a page. A list that replaces its own query does not change it. */
export function useVisitKey(): string {
  const { key, pathname } = useLocation();
  const kind = useNavigationType();
  const [visit, setVisit] = useState({ key, pathname, mark: key });
  if (visit.key === key) return visit.mark;
  const stays = kind === 'REPLACE' && pathname === visit.pathname;
  const next = { key, pathname, mark: stays ? visit.mark : key };
  setVisit(next);
  return next.mark;
}
