-- Tenants, their members and their settings.
create function logloom_private.tenants_errors()
returns setof logloom_private.error
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return query values
    ('tenants.id_is_invalid', 400, 'Invalid p_tenant_id: 1 to 255 characters, not all blank',
      'Send a short name, such as the name of your company.', null),
    ('tenants.role_is_unknown', 400, 'Invalid p_role: viewer, member, admin or owner',
      'docs/background/identity.md explains what each may do.', null),
    ('tenants.viewer_needs_a_view', 400, 'A viewer needs p_view_id',
      'list_log_views shows the views of the tenant, create_log_view creates one.', null),
    ('tenants.view_is_for_viewers', 400, 'p_view_id is for the role viewer',
      'Other roles read everything. Send p_role viewer, or leave p_view_id out.', null),
    ('tenants.view_not_found', 404, 'View not found',
      'list_log_views shows the views of this tenant.', null),
    ('tenants.user_id_is_invalid', 400, 'Invalid p_user_id: 1 to 255 characters, not all blank',
      'Send the claim sub of the user''s tokens.', null),
    ('tenants.email_is_too_long', 400, 'Invalid p_email: at most 320 characters',
      'Send an email address.', null),
    ('tenants.no_user_has_this_email', 404, 'No user has this email address',
      'The user must first sign up and confirm the address.', null),
    ('tenants.user_id_is_missing', 400, 'Missing required parameter: p_user_id',
      'This project has no Supabase Auth that could find a user by p_email.', null),
    ('tenants.already_a_member', 400, 'The user is already a member of the tenant',
      'set_tenant_member_role changes the role of a member.', null),
    ('tenants.no_room_for_member', 400, 'Plan limit exceeded: members (max %s)',
      'Remove a member, or choose a larger plan.', 'The plan''s `max_members`.'),
    ('tenants.first_member_is_owner', 400, 'The first member of a tenant is an owner',
      'From then on only members belong to the tenant.',
      '`service_role` adds the first member.'),
    ('tenants.last_owner_stays', 400, 'The last owner must stay an owner',
      'Make another member owner first. delete_tenant removes the whole tenant.', null),
    ('tenants.membership_not_found', 404, 'You do not belong to this tenant',
      'list_log_tenants shows the tenants that you belong to.',
      '`switch_log_tenant`: the tenant does not exist, or the caller is not a member.'),
    ('tenants.tenant_is_assigned', 409, 'An administrator chooses the tenant of this user',
      'Whoever runs the project can change app_metadata.tenant_id of the user.',
      '`switch_log_tenant`: `app_metadata.tenant_id` of the token names a tenant.'),
    ('tenants.member_not_found', 404, 'Member not found',
      'list_tenant_members shows the user_id of each member.', null),
    ('tenants.id_is_taken', 400, 'p_tenant_id is taken',
      'Choose another one. The id of a deleted tenant is free once all of its data is gone.',
      '`create_tenant`: a tenant with this id exists or is being deleted.'),
    ('tenants.caller_has_one', 400, 'You already belong to a tenant',
      'Sign in again, so that your token names it.',
      '`create_tenant` is for users without a tenant.'),
    ('tenants.made_by_a_user', 400, 'A tenant must be created by a user, who becomes its owner',
      'service_role creates one by add_tenant_member with p_tenant_id and p_role owner.', null),
    ('tenants.not_made_by_users', 403, 'Users cannot create tenants here',
      'Whoever runs the project can add you to one, or turn on tenants_by_users in '
        'logloom_private.settings.', null),
    ('tenants.not_made_by_anonymous_users', 403, 'Anonymous users cannot create tenants here',
      'Sign up, or ask whoever runs the project to turn on tenants_by_anonymous_users in '
        'logloom_private.settings.',
      'The token is from an anonymous sign-in (claim `is_anonymous`), and its tenant does not '
        'exist yet.'),
    ('tenants.being_deleted', 404, 'Tenant not found',
      'It is being deleted. Afterwards its id is free again.', null),
    ('tenants.deletes_another', 403, 'p_tenant_id is not the tenant of the token',
      'Nothing was deleted. Send the id of your own tenant; get_current_tenant shows it.', null),
    ('tenants.not_found', 404, 'Tenant not found',
      'A tenant is created by its first write: create, update or ingest.', null),
    ('tenants.settings_not_found', 404, 'Tenant settings not found',
      'A tenant is created by its first write: create, update or ingest.', null),
    ('tenants.plan_has_no_room', 400, 'Plan limit exceeded: %s (max %s)',
      'Delete one that is no longer needed, or choose a larger plan.',
      'The plan''s `max_saved_searches` or `max_alerts`.');
end;
$$;
