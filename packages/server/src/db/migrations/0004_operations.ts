/** Mails at rest are sealed, as they carry codes; what operators and long lists look for has an index. */
export const sql = `
alter table mail add column content_sealed text;
alter table mail alter column subject drop not null, alter column text_body drop not null, alter column html_body drop not null;
create index mail_unsent on mail (created_at) where sent_at is null;
`;
