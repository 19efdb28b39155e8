/** What servers and containers use over time, in three resolutions. Partitions are made ahead and dropped by a worker. */
const COLUMNS = `
  instance_id integer not null,
  /* 0: of the server itself. There is no foreign key: samples of a deleted container are kept until they expire. */
  container_id integer not null,
  /* The index of the GPU that the row is of; -1: of none. */
  gpu smallint not null,
  /* When the sample came, or the beginning of the stretch that the row is of. */
  at timestamptz not null,
  samples integer not null,
  /* Averages. */
  cpu real, memory real, received real, sent real, read real, written real, disk real, data_disk real,
  gpu_use real, gpu_memory real, gpu_temperature real, gpu_power real,
  /* The highest; null where it is the average of one sample. */
  cpu_max real, memory_max real, received_max real, sent_max real, read_max real, written_max real, disk_max real,
  data_disk_max real, gpu_use_max real, gpu_memory_max real, gpu_temperature_max real, gpu_power_max real,
  /* How much there is. */
  memory_total real, disk_total real, data_disk_total real, gpu_memory_total real,
  primary key (instance_id, container_id, gpu, at)`;

const table = (name: string) => `
create table ${name} (${COLUMNS}) partition by range (at);
/* Rows come in the order of time: thinning reads a stretch of it over all servers. */
create index ${name}_at on ${name} using brin (at) with (pages_per_range = 32, autosummarize = on);`;

export const sql = `
${['usage_sample_15s', 'usage_sample_1m', 'usage_sample_15m'].map(table).join('')}

/* Up to when the finer samples were thinned into this table. Its row lock is held meanwhile. */
create table usage_thinning (
  resolution text primary key,
  until timestamptz not null
);
insert into usage_thinning (resolution, until)
  select resolution, date_bin('15 minutes', now(), 'epoch') from unnest(array['1m', '15m']) resolution;
`;
