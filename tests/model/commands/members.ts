import assert from "node:assert/strict";
import fc from "fast-check";
import { assertFound, timesOf } from "../assertions.ts";
import { type At, command } from "../command.ts";
import { sendPatiently, statusOf } from "../service.ts";
import { everything, type Role, today, viewQuery } from "../tenant_model.ts";

const roles: Role[] = ["viewer", "member", "admin", "owner", null];

const move = command("move", { to: fc.constantFrom(...roles) }, async ({ known, real }, { to }) => {
  const p_user_id = real.other.userId;
  const view = to === "viewer" ? { p_view_id: real.viewId } : {};
  if (to === null) {
    if (known.role !== null) await real.asOwner.call("remove_tenant_member", { p_user_id });
  } else {
    const operation = known.role === null ? "add_tenant_member" : "set_tenant_member_role";
    const member = await real.asOwner.call(operation, { p_user_id, p_role: to, ...view });
    assert.equal(member.role, to);
  }
  known.role = to;
});

/** Lists actions of the user, and the lowest role that may do each. */
const deeds = {
  search: { least: "viewer", try: ({ real }: At) => real.asOther.search("", { since: "1h" }) },
  fields: { least: "viewer", try: ({ real }: At) => real.asOther.fields("", { since: "1h" }) },
  members: { least: "member", try: ({ real }: At) => real.asOther.call("list_tenant_members", {}) },
  keys: { least: "member", try: ({ real }: At) => real.asOther.call("list_api_keys", {}) },
  settings: {
    least: "admin",
    try: ({ real }: At) => real.asOther.call("update_tenant_settings", {}),
  },
  erase: {
    least: "admin",
    try: ({ real }: At) =>
      real.asOther.call("delete_logs", {
        p_query_dsl: "ts:*",
        p_ts_from: "now-1h",
        p_ts_to: "now",
      }),
  },
  key: {
    least: "admin",
    try: async ({ known, real }: At) => {
      const { key_id, key_value } = await real.asOther.call("create_api_key", { p_name: "model" });
      known.keys.push({ id: key_id, value: key_value, works: true });
    },
  },
  invite: {
    least: "owner",
    try: ({ real }: At) =>
      real.asOther.call("add_tenant_member", { p_user_id: crypto.randomUUID(), p_role: "member" }),
  },
} as const;

const act = command(
  "act",
  { deed: fc.constantFrom(...Object.keys(deeds) as (keyof typeof deeds)[]) },
  async (at, { deed }) => {
    const { least, try: attempt } = deeds[deed];
    const { role } = at.known;
    const expected = role === null ? 401 : roles.indexOf(role) < roles.indexOf(least) ? 403 : 200;
    assert.equal(await statusOf(attempt(at)), expected, `${deed} as ${role}`);
  },
);

/** The user reads all records, or as a viewer the records of the view. */
const read = command("read as they may", {}, async ({ known, real, service }) => {
  const { role } = known;
  if (role === null) return;
  await service.settle();
  const range = everything();
  const found = await Array.fromAsync(real.asOther.records("", timesOf(range)));
  assertFound(found, known.found(role === "viewer" ? viewQuery : "ts:*", range, today()), "desc");
});

const sendAs = command("send as they may", {}, async ({ known, real }) => {
  const { status } = await sendPatiently(real.other.headers, "[]");
  assert.equal(status, known.role === null ? 401 : known.role === "viewer" ? 403 : 200);
});

export const people = { move, act, read, sendAs };
