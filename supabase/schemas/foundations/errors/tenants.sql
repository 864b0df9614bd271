-- Tenants, their members and their settings.
create function logloom_private.tenants_errors()
returns setof logloom_private.error
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return query
  select e.*
  from (
    values
    ('tenants.id_is_invalid', 400, 'Invalid p_tenant_id: 1 to 255 characters, not all blank',
      'Send a short name, such as that of your company.',
      '`create_tenant`: it cannot be a tenant''s id.'),
    ('tenants.role_is_unknown', 400, 'Invalid p_role: viewer, member, admin or owner',
      'docs/background/identity.md says what each may do.', 'There is no other role.'),
    ('tenants.viewer_needs_a_view', 400, 'A viewer needs p_view_id',
      'list_log_views shows the views of the tenant, create_log_view makes one.',
      'The role `viewer`, and no view.'),
    ('tenants.view_is_for_viewers', 400, 'p_view_id is for the role viewer',
      'Other roles read everything. Send p_role viewer, or leave p_view_id out.',
      'A view, and another role than `viewer`.'),
    ('tenants.view_not_found', 404, 'View not found',
      'list_log_views shows the views of this tenant.', 'The tenant has no such view.'),
    ('tenants.user_id_is_invalid', 400, 'Invalid p_user_id: 1 to 255 characters, not all blank',
      'Send the claim sub of their tokens.', 'It cannot be the `sub` of a token.'),
    ('tenants.email_is_too_long', 400, 'Invalid p_email: at most 320 characters',
      'Send an email address.', 'It cannot be an email address.'),
    ('tenants.no_user_has_this_email', 404, 'No user has this email address',
      'They sign up first, and confirm the address.', 'No user of Supabase Auth has confirmed it.'),
    ('tenants.user_id_is_missing', 400, 'Missing required parameter: p_user_id',
      'This project has no users of Supabase Auth to look for by p_email alone.',
      'Without Supabase Auth, `p_email` alone does not say who it is.'),
    ('tenants.already_a_member', 400, 'They are already a member of the tenant',
      'set_tenant_member_role changes what they may do.', '`add_tenant_member` of a member.'),
    ('tenants.no_room_for_member', 400, 'Plan limit exceeded: members (max %s)',
      'Remove a member, or choose a larger plan.', 'The plan''s `max_members`.'),
    ('tenants.first_member_is_owner', 400, 'The first member of a tenant is an owner',
      'From the first member on, nobody else belongs to the tenant.',
      '`service_role` adds the first one.'),
    ('tenants.last_owner_stays', 400, 'The last owner must stay an owner',
      'Make another member owner first; delete_tenant removes the tenant as a whole.',
      'A tenant needs one.'),
    ('tenants.membership_not_found', 404, 'You do not belong to such a tenant',
      'list_log_tenants shows those that you belong to.',
      '`switch_log_tenant`, and the tenant is not there, or the caller is not a member.'),
    ('tenants.tenant_is_assigned', 409, 'An administrator chooses the tenant of this user',
      'Whoever runs the project changes app_metadata.tenant_id of the user.',
      '`switch_log_tenant`, and `app_metadata.tenant_id` of the token names one.'),
    ('tenants.member_not_found', 404, 'Member not found',
      'list_tenant_members shows the user_id of each.', 'The tenant has no such member.'),
    ('tenants.id_is_taken', 400, 'p_tenant_id is taken',
      'Choose another one. That of a deleted tenant is free when nothing of it is left.',
      '`create_tenant`, and a tenant of this id exists or is being deleted.'),
    ('tenants.caller_has_one', 400, 'You already belong to a tenant',
      'Sign in again, so that your token names it.',
      '`create_tenant` is for users who belong to none.'),
    ('tenants.made_by_a_user', 400, 'A tenant must be created by a user, who becomes its owner',
      'service_role makes one by add_tenant_member with p_tenant_id and p_role owner.',
      '`service_role` calls `create_tenant`.'),
    ('tenants.not_made_by_users', 403, 'Users cannot create tenants here',
      'Whoever runs the project adds you to one, or sets tenants_by_users in '
        'logloom_private.settings.', '`tenants_by_users` in `logloom_private.settings` is off.'),
    ('tenants.not_made_by_anonymous_users', 403, 'Anonymous users cannot create tenants here',
      'Sign up, or ask whoever runs the project to set tenants_by_anonymous_users in '
        'logloom_private.settings.',
      'The token is of an anonymous sign-in (claim `is_anonymous`), and its tenant is not there '
        'yet.'),
    ('tenants.being_deleted', 404, 'Tenant not found',
      'It is being deleted. Its id is free again afterwards.', null),
    ('tenants.deletes_another', 403, 'p_tenant_id is not the tenant of the token',
      'Nothing was deleted. Send the id of your own tenant; get_current_tenant shows it.',
      '`delete_tenant` names another tenant, or is mistyped.'),
    ('tenants.not_found', 404, 'Tenant not found',
      'A tenant appears with its first write: create, update or ingest.',
      'Before its first write (create, update or ingest) a tenant does not exist.'),
    ('tenants.settings_not_found', 404, 'Tenant settings not found',
      'A tenant appears with its first write: create, update or ingest.', null),
    ('tenants.plan_has_no_room', 400, 'Plan limit exceeded: %s (max %s)',
      'Delete one that is no longer needed, or move to a larger plan.',
      'The plan has no room for one more `saved_searches` or `alerts`.')
  ) e (name, status, message, hint, explanation);
end;
$$;
