import { useParams } from 'react-router';

/** The `:id` of the address as a number; the guard has let only numbers through. */
export function useRouteId(): number {
  return Number(useParams().id);
}
