/** The way that a container is launched, besides its image and command. */
export const sql = `
alter table container add column entrypoint text;
alter table container add column run_as text;
/* Those that exist have the set that all had before. */
alter table container add column capabilities text not null default 'hardened'
  check (capabilities in ('docker', 'hardened'));
`;
