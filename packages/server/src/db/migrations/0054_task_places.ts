/** Which tasks wait for a place on their server, and which have one. */
export const sql = `
/* Its current run has, or had, a container. */
alter table task add column placed boolean not null default false;
update task set placed = true where exists (select from task_run r
  where r.task_id = task.id and r.number = task.run_number and r.container_id is not null);

create index task_waiting on task (instance_id, priority desc, id)
  where not placed and status in ('new', 'scheduled', 'in queue');
create index task_placed on task (id) where placed and status in ('in queue', 'running', 'canceling');
`;
