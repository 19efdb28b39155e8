/**
 * Who looks for a text among the disabled, the unverified or the workspaces of one plan looks along the index of those:
 * among all, most that have the text are none of them.
 */
export const sql = `
drop index app_user_closed, app_user_closed_name, app_user_closed_email, app_user_unverified, app_user_unverified_name;
create index app_user_closed on app_user (created_at desc, id desc)
  include (search, deleted_at, email_verified_at, is_employee) where disabled_at is not null;
create index app_user_closed_name on app_user (name, id)
  include (search, deleted_at, email_verified_at, is_employee) where disabled_at is not null;
create index app_user_closed_email on app_user (email, id)
  include (search, deleted_at, email_verified_at, is_employee) where disabled_at is not null;
create index app_user_unverified on app_user (created_at desc, id desc)
  include (search, disabled_at, deleted_at, is_employee) where email_verified_at is null;
create index app_user_unverified_name on app_user (name, id)
  include (search, disabled_at, deleted_at, is_employee) where email_verified_at is null;
create index app_user_unverified_email on app_user (email, id)
  include (search, disabled_at, deleted_at, is_employee) where email_verified_at is null;

drop index workspace_plan, workspace_plan_name, workspace_closed, workspace_closed_name;
create index workspace_plan on workspace (plan, created_at desc, id desc) include (search, disabled_at, deleted_at);
create index workspace_plan_name on workspace (plan, name, id) include (search, disabled_at, deleted_at);
create index workspace_closed on workspace (created_at desc, id desc) include (search, plan, deleted_at)
  where disabled_at is not null;
create index workspace_closed_name on workspace (name, id) include (search, plan, deleted_at)
  where disabled_at is not null;
`;
