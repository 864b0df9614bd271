import assert from "node:assert/strict";
import { allCallers, type Callers } from "../../local/migrations/operation_callers.ts";
import { type Answer, apiKey, bearer, call, createKey, newTenant, rpc } from "../support/client.ts";
import { openDatabase } from "../support/database.ts";
import { userToken } from "../support/tokens.ts";

const readsOnly = "The OAuth client of this token may only read";
const viewsOnly = "A viewer may only read";

/** An operation is open to a caller if it answers itself, even if only that parameters are missing. */
function isOpen({ status, body }: Answer, operation: string): boolean {
  const refusals = [
    [403, `${operation} is only for service_role`],
    [403, readsOnly],
    [403, viewsOnly],
    [403, "The audit trail is not in views or portal sessions"],
    [403, "The usage of a tenant is not in views or portal sessions"],
    [404, `No such reading operation: ${operation}`],
    [400, "A tenant must be created by a user, who becomes its owner"],
  ];
  assert.ok(status < 500, `${operation}: ${status} ${JSON.stringify(body)}`);
  return status !== 401 && body.code !== "PGRST202" &&
    !String(body.hint).startsWith("service_role belongs to no") &&
    !refusals.some(([refused, message]) => status === refused && body.message === message);
}

function read(headers: Record<string, string>, operation: string, body?: string): Promise<Answer> {
  return call(`/functions/v1/logloom-read/v1/${operation}`, { method: "POST", headers, body });
}

Deno.test("every operation is open exactly to the callers that the docs list", async () => {
  const all = await allCallers();
  await using db = openDatabase();
  const [{ operations }] = await db`select logloom_private.operations() as operations`;
  assert.deepEqual(all.map(({ operation }) => operation), operations.toSorted());

  const serviceRole = await userToken({ role: "service_role" });
  const found: Callers[] = [];
  for (const { operation, user, key, service, viewer: isForViewers, customer } of all) {
    const tenant = await newTenant("callers");
    const { key_value } = await createKey(tenant, { p_scopes: ["read", "ingest", "audit"] });
    const viewerId = crypto.randomUUID();
    const [{ view_id }] = await db`
      with v as (
        insert into logloom.log_views (tenant_id, name, operations, created_by)
        select ${tenant.id}, 'all', array_agg(o.operation), 'test'
        from logloom_private.reading_operations() o
        where o.in_views
        returning view_id
      ), m as (
        insert into logloom.tenant_members (tenant_id, user_id, role, view_id)
        select ${tenant.id}, m.user_id, m.role, case m.role when 'viewer' then v.view_id end
        from v
        cross join (values (${tenant.userId}, 'owner'), (${viewerId}, 'viewer')) m (user_id, role)
      )
      select v.view_id from v`;
    const session = await rpc<{ token: string }>(tenant.token, "create_log_portal_session", {
      p_view_id: view_id,
      ...customer && { p_customer: "42", p_parts: ["streams"] },
    });
    const viewer = await userToken({ tenant_id: tenant.id, sub: viewerId });
    const claims = { tenant_id: tenant.id, sub: tenant.userId, client_id: crypto.randomUUID() };
    const client = await userToken(claims);
    const named = {
      ...(user && service ? { p_tenant_id: tenant.id } : {}),
      // The caller is checked before the tenant.
      ...(operation === "validate_query" ? { p_query_dsl: "error" } : {}),
    };
    const asked = operation === "get_log_secret_scope" ? '{"p_purpose":"log_stream"}' : undefined;
    const byClient = [
      isOpen(await rpc(client, operation, named), operation),
      isOpen(await read(bearer(client), operation), operation),
    ];
    assert.equal(byClient[0], byClient[1], `${operation} by a client`);
    const byViewer = [
      isOpen(await rpc(viewer, operation, named), operation),
      isOpen(await read(bearer(viewer), operation), operation),
    ];
    assert.equal(byViewer[0], byViewer[1] || isForViewers && !key, `${operation} by a viewer`);
    const atRead = [
      isOpen(await read(apiKey(key_value), operation), operation),
      isOpen(await read(tenant.headers, operation), operation),
    ];
    assert.equal(atRead[0], atRead[1], `${operation} at logloom-read`);
    found.push({
      operation,
      user: isOpen(await rpc(tenant.token, operation, named), operation),
      key: atRead[0],
      client: byClient[0],
      viewer: byViewer[0],
      session: isOpen(await read(bearer(session.body.token), operation, asked), operation),
      customer,
      service: isOpen(await rpc(serviceRole, operation, named), operation) ||
        isOpen(await rpc(serviceRole, operation, { ...named, p_tenant_id: tenant.id }), operation),
    });
  }
  assert.deepEqual(found, all);
});
