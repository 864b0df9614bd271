import assert from "node:assert/strict";
import fc from "fast-check";
import { success } from "../_shared/errors.ts";
import { secrets } from "../_shared/ingest_rules/testing_secrets.ts";
import { createIngestHandler } from "./handler.ts";
import { apiKey, parametersOf } from "./testing.ts";
import { bodies, event } from "./testing_random_bodies.ts";

const mask = { type: "mask", what: Object.keys(secrets), in: "everywhere" };
const told = { version: "v1", rules: [{ id: "r", when: [], do: mask }], tenant_id: "t" };

/** A function whose database has a mask of everything, or no rules. `sent` is the last commit. */
function ingestWith(hasRules: boolean) {
  let sent = "";
  const handler = createIngestHandler({
    authenticate: () => Promise.resolve(success({ kind: "api_key", keyDigest: "digest" })),
    callDatabase: (_name, text) => {
      sent = text;
      const { p_ts: ts, p_rules_version: version } = parametersOf(text);
      const answer = hasRules && ts !== undefined && version !== "v1"
        ? { status: 412, headers: {}, body: JSON.stringify({ rules: { ...told, hash_key: null } }) }
        : { status: 200, headers: {}, body: '{"success":true,"ingested":1,"rejected":0}' };
      return Promise.resolve(success(JSON.stringify([answer])));
    },
    wakeWriter: () => {},
  });
  return async ([path, type]: (typeof bodies)[number], body: string): Promise<string> => {
    sent = "";
    const headers = { "X-API-Key": apiKey, "Content-Type": type };
    await handler(new Request(`http://localhost/ingest${path}`, { method: "POST", headers, body }));
    return sent;
  };
}

/** JSON in each protocol, and lines of text. */
const protocols: typeof bodies = [
  ...bodies,
  ["", "text/plain", (events) => events.map((one) => `GET / ${one}`).join("\n")],
];
const [masked, plain] = [ingestWith(true), ingestWith(false)];
const secret = fc.constantFrom(...Object.values(secrets).flat());
const beside = fc.constantFrom(...'||x|zz|é|日| |"|\\|\n|(|=|/|}|:\t'.split("|"));
const fields = "msg service level host req_id attrs a message ts user_id".split(" ");
/** An event as JSON, with a secret as a value or a name, at any depth. */
const planted = fc.tuple(
  secret,
  fc.tuple(beside, beside),
  fc.constantFrom(...fields),
  fc.array(fc.constantFrom("array", "object", "name", "json"), { maxLength: 5 }),
  event,
).map(([secret, [before, after], name, depth, others]) => {
  let value: unknown = before + secret + after;
  for (const kind of depth) {
    if (kind === "array") value = [1, value];
    else if (kind === "json") value = JSON.stringify(value);
    else if (kind === "name") value = { [typeof value === "string" ? value : "b"]: value };
    else value = { b: value, c: null };
  }
  return {
    secret,
    json: others.replace(/\}$/, `${others === "{}" ? "" : ","}"${name}":${JSON.stringify(value)}}`),
  };
});

Deno.test("no planted secret reaches the database, from any protocol, in any place", async () => {
  let count = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...protocols),
      fc.array(planted, { minLength: 1, maxLength: 3 }),
      async (protocol, events) => {
        const body = protocol[2](events.map(({ json }) => json));
        const [sent, before] = [await masked(protocol, body), await plain(protocol, body)];
        for (const { secret } of events) {
          assert.ok(!sent.includes(secret), `${secret} in ${sent}`);
          if (before.includes(secret)) count++;
        }
      },
    ),
    { numRuns: 3000 },
  );
  assert.ok(count > 2000, String(count));
});

Deno.test("what a mask does not match is sent exactly as without rules", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...protocols),
      fc.array(event, { minLength: 1, maxLength: 4 }),
      async (protocol, events) => {
        const body = protocol[2](events);
        const rules = /,?"p_rules_version":"v1"(?:,"p_rule_counts":\[.*?\])?/;
        const sent = (await masked(protocol, body)).replace(rules, "");
        assert.equal(sent, await plain(protocol, body));
      },
    ),
    { numRuns: 1500 },
  );
});
