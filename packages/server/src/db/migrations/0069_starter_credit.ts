/** Starter credit once for each mailbox, and 20 a day for each network. */
export const sql = `
/*
 * Whose mailbox an address is: without the part after +, and at Google without dots. Only tells who has had starter
 * credit; accounts are told apart by their addresses.
 */
create function mailbox_of(email text) returns text language sql immutable as $$
  select case when domain in ('gmail.com', 'googlemail.com') then replace(name, '.', '') || '@gmail.com'
    else name || '@' || domain end
  from (select coalesce(nullif(regexp_replace(local, '[+].*$', ''), ''), local) as name, domain
    from (select split_part(whole, '@', 1) as local, split_part(whole, '@', 2) as domain
      from (select normalize(lower(email), NFKC) as whole) as one) as parts) as shortened
$$;
create index app_user_mailbox on app_user (mailbox_of(email));

/* Mailboxes that have had it, or whose owner had an account, as keyed hashes. They stay. */
create table starter_mailbox (
  hash bytea primary key,
  at timestamptz not null default now()
);

/* The number that a network got on a day of UTC; the network as a keyed hash, deleted after two days. */
create table starter_network (
  hash bytea not null,
  day date not null,
  given integer not null default 1,
  primary key (hash, day)
);

/* Why its owner got none: the mailbox has had it, or too many came from one network. */
alter table workspace add column starter_refused text check (starter_refused in ('mailbox', 'network'));
`;
