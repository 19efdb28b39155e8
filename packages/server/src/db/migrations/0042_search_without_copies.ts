/**
 * Long lists are searched by their trigram indexes alone (http/searchPage.ts): the block indexes of migration 0041 go, and
 * the names copied into memberships (0031, 0040) with the triggers that kept both.
 */
export const sql = `
drop trigger skip_news on app_user;
drop trigger skip_news_again on app_user;
drop trigger skip_news on workspace;
drop trigger skip_news_again on workspace;
drop trigger skip_news on membership;
drop trigger skip_news_again on membership;
drop function tell_skip_indexes();
drop table skip_news;
drop table skip_term;
drop table skip_index;

drop trigger memberships on app_user;
drop trigger person on membership;
drop function rename_member();
drop function copy_person();
drop function members_called(text, integer);
drop table membership_follows;
drop index membership_age, membership_name, membership_email, membership_role, membership_search, membership_owner;
alter table membership drop column search, drop column name, drop column email;
create index membership_age on membership (workspace_id, created_at desc, user_id desc) include (role);
create index membership_role on membership (workspace_id, role, created_at, user_id);
`;
