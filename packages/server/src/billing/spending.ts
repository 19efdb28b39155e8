/** Statuses in which a rented machine costs its price an hour: it runs at its provider, or is on its way. */
export const RUNNING_STATUSES = ['in queue', 'creating', 'online', 'rebooting', 'unresponsive', 'powering on'] as const;

const list = RUNNING_STATUSES.map((status) => `'${status}'`).join(', ');

/** SQL: micro-STAGI an hour that the workspace of `id` spends now. */
export const perHourOf = (
  id: string,
): string => `(select coalesce(sum(case when i.status in (${list}) then i.price_per_hour
    when i.status = 'stopped' then i.stopped_price_per_hour else 0 end), 0)::bigint
  from instance i where i.workspace_id = ${id} and i.kind = 'rented' and i.closed_at is null)`;

/** SQL: micro-STAGI that the workspace of `id` can spend. */
export const balanceOf = (id: string): string => `(select coalesce(sum(a.balance), 0)::bigint
  from account a where a.client_id = ${id} and a.code not like '%:held')`;
