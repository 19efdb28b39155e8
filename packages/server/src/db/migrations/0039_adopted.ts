/** Who adopts a stray machine has not rented it: such a server has no maker, and what happened to it names no operator. */
export const sql = `
alter table instance alter column created_by drop not null;
update instance_activity set actor_id = null where kind = 'adopted';
update instance set created_by = null
  where kind = 'rented' and exists (select from instance_activity a where a.instance_id = instance.id and a.kind = 'adopted');
alter table instance add check (created_by is not null or kind = 'rented');
`;
