import assert from "node:assert/strict";
import { runCommand } from "../../cli/testing.ts";
import { fileTypes, tenantTypes } from "../../packages/logloom/src/cli/files/file_schema.ts";
import { openDatabase } from "../support/database.ts";
import { stack } from "../support/stack.ts";
import { tempFolder } from "../support/temp_folder.ts";
import { newUser } from "../support/users.ts";

const tenantFile = `alert_rules:
  - name: API errors
    query_dsl: level:error service:api
    comparison: gt
    threshold: \${limit}
    window_minutes: 5
    cooldown_minutes: 30
    notification_destinations: [slack]
    secrets: { slack_url: "\${SECRET_SLACK_URL}" }
saved_searches:
  - name: Errors
    query_dsl: level:error
    description: |
      Costs $\${5} each.
`;
const SECRET_SLACK_URL = "https://hooks.slack.com/services/T/B/x";

/** A folder of files, and the commands of a user in it. */
async function workplace(token: string) {
  const folder = await tempFolder();
  return {
    ...folder,
    write: (name: string, text: string) => Deno.writeTextFile(`${folder.path}/${name}`, text),
    async run(command: string, ...args: string[]) {
      const env = {
        LOGLOOM_URL: stack.url,
        LOGLOOM_TOKEN: token,
        SECRET_SLACK_URL,
        SECRET_HASH_KEY: "a key",
        limit: "10",
      };
      const { code, out, err } = await runCommand([command, folder.path, ...args], env);
      return { code, text: (out + err).replaceAll(`${folder.path}/`, "") };
    },
  };
}

Deno.test("files are applied once, changed, pulled and pruned", async () => {
  const { token, client } = await newUser();
  await using place = await workplace(token);
  await place.write("all.yaml", tenantFile);
  const added = "+ saved_searches Errors\n" +
    '    query_dsl: "level:error"\n    description: "Costs ${5} each.\\n"\n' +
    "+ alert_rules API errors\n" +
    '    secrets: {"slack_url":{"set":true}}\n    query_dsl: "level:error service:api"\n' +
    '    threshold: "10"\n    comparison: "gt"\n    window_minutes: 5\n' +
    '    cooldown_minutes: 30\n    notification_destinations: ["slack"]\n';
  assert.deepEqual(await place.run("diff", "--check"), { code: 2, text: `${added}2 to create\n` });
  assert.deepEqual(await place.run("apply"), { code: 0, text: `${added}2 created\n` });
  // The secret is sealed anew each time, and compared by its digest.
  assert.deepEqual(await place.run("diff", "--check"), { code: 0, text: "No differences.\n" });

  await place.write("all.yaml", tenantFile.replace("window_minutes: 5", "window_minutes: 15"));
  assert.deepEqual(await place.run("apply", "--dry-run", "--json"), {
    code: 0,
    text: '{"action":"update","type":"alert_rules","name":"API errors","renamed_from":null,' +
      '"fields":{"window_minutes":{"new":15,"old":5}}}\n',
  });

  assert.equal((await place.run("pull")).code, 1);
  assert.deepEqual(await place.run("pull", "--overwrite", "--only", "alert_rules"), {
    code: 1,
    text: "logloom: all.yaml would contradict the pulled files: remove what is not pulled, or " +
      "choose other types with --only.\n",
  });
  await Deno.remove(`${place.path}/all.yaml`);
  assert.deepEqual(await place.run("pull", "--overwrite", "--only", "alert_rules"), {
    code: 0,
    text: "alert_rules.yaml\nschema.json\n",
  });
  const pulled = await Deno.readTextFile(`${place.path}/alert_rules.yaml`);
  const start = "# yaml-language-server: $schema=schema.json\nalert_rules:\n  - name: API errors\n";
  assert.ok(pulled.startsWith(start));
  assert.ok(pulled.endsWith("    secrets:\n      slack_url: ${SECRET_API_ERRORS_SLACK_URL}\n"));
  await place.write("alert_rules.yaml", "alert_rules:\n");
  assert.deepEqual(await place.run("apply", "--prune"), {
    code: 0,
    text: "- alert_rules API errors\n1 deleted\n",
  });
  const left = await Array.fromAsync(client.list("list_saved_searches"));
  assert.deepEqual(left.map(({ name }) => name), ["Errors"]);
});

Deno.test("a mistake is told with its line, and nothing is applied", async () => {
  const { token } = await newUser();
  await using place = await workplace(token);
  const mistakes: [from: string, to: string, told: string][] = [
    [
      "level:error\n",
      "level:(\n",
      "12: Errors: A value is missing (character 8 of the query)\n" +
      "  Write field:(a OR b), values only, and close the bracket.",
    ],
    [
      "${limit}",
      "${other}",
      "5: there is no variable other: set it in the environment, or for " +
      "the tenant.",
    ],
    [
      "window_minutes: 5",
      "window_minutes: soon",
      "6: API errors: Invalid window_minutes: its type is integer\n" +
      "  Write a value of this type.",
    ],
    [
      "saved_searches:",
      "searches:",
      "10: there is no searches: the types are views, members, " +
      "saved_searches, alert_rules, dashboards, streams, ingest_rules, silences, " +
      "retention_rules, plans, and tenants.",
    ],
    ["threshold:", "  threshold:", "4: Nested mappings are not allowed in compact mappings"],
  ];
  for (const [from, to, told] of mistakes) {
    await place.write("all.yaml", tenantFile.replace(from, to));
    assert.deepEqual(await place.run("apply"), { code: 1, text: `logloom: all.yaml:${told}\n` });
  }
});

Deno.test("the same rule is made for several tenants, by the service role", async () => {
  const users = [await newUser(), await newUser()];
  await using place = await workplace(stack.serviceRoleKey);
  const [first, second] = users.map(({ tenantId }) => tenantId);
  const rule = tenantFile.split("saved_searches:")[0];
  await place.write("rules.yaml", rule);
  await place.write(
    "tenants.yaml",
    `tenants:\n  ${first}: { limit: 20 }\n  ${second}: { limit: 30 }\n`,
  );
  const unknown = / there is no such tenant: --create-tenants creates it\.\n/;
  assert.match((await place.run("diff", "--tenant", first)).text, unknown);
  const all = ["--tenant", "tenant-*", "--create-tenants"];
  assert.match((await place.run("apply", ...all)).text, /\n2 created\n$/);
  for (const [{ client }, threshold] of [[users[0], 20], [users[1], 30]] as const) {
    const rules = await Array.fromAsync(client.list("list_alert_rules"));
    assert.deepEqual(rules.map((rule) => rule.threshold), [threshold]);
  }
  await place.write("rules.yaml", rule.replace("${limit}", "${limits}"));
  const { code, text } = await place.run("diff", "--tenant", first);
  assert.deepEqual([code, text.split("\n")[0]], [
    1,
    `logloom: ${first}: rules.yaml:5: there is no variable limits: set it in the environment, ` +
    "or for the tenant.",
  ]);
});

const others = `silences:
  - comment: Backup
    rule: API errors
    recurrence: { days: [sun, sat], start: "02:00", minutes: 90, time_zone: Europe/Berlin }
retention_rules:
  - { level: debug, days: 3 }
ingest_rules:
  - name: Mask cards
    action: { type: mask, what: [card], in: everywhere, hash: true }
    secrets: { hash_key: "\${SECRET_HASH_KEY}" }
  - name: No pings
    condition: "@path:/ping"
    action: { type: drop }
`;

Deno.test("silences, retention rules and the order of ingest rules are applied and pulled", async () => {
  const { token, client } = await newUser();
  await using place = await workplace(token);
  await place.write("rules.yaml", tenantFile.split("saved_searches:")[0]);
  await place.write("others.yaml", others);
  assert.match((await place.run("apply")).text, /\n4 created, 1 updated\n$/);
  assert.equal((await place.run("apply")).text, "No differences.\n");
  const [silence] = await client.call("list_alert_silences", {});
  assert.deepEqual(silence.recurrence?.days, ["sat", "sun"]);

  await place.write(
    "others.yaml",
    others.replace(/( {2}- name: Mask[^]*?)( {2}- name: No[^]*)/, "$2$1")
      .replace("rule: API errors", 'rule: ""'),
  );
  assert.deepEqual(await place.run("apply"), {
    code: 0,
    text: '~ silences Backup\n    rule: "API errors" → ""\n~ ingest_rules the order\n' +
      '    order: ["No pings","Mask cards"]\n2 updated\n',
  });
  await Deno.remove(`${place.path}/others.yaml`);
  const pull = ["--overwrite", "--only", "silences,retention_rules,ingest_rules"];
  assert.equal((await place.run("pull", ...pull)).code, 0);
  const pulled = await Deno.readTextFile(`${place.path}/retention_rules.yaml`);
  assert.match(pulled, /\nretention_rules:\n {2}- level: debug\n {4}days: 3\n$/);
  assert.equal((await place.run("diff", "--check", "--prune")).text, "No differences.\n");
});

Deno.test("plans are pulled and applied by the service role alone", async () => {
  await using place = await workplace(stack.serviceRoleKey);
  const id = `plan-${crypto.randomUUID()}`;
  assert.equal((await place.run("pull", "--only", "plans")).code, 0);
  const plans = await Deno.readTextFile(`${place.path}/plans.yaml`);
  const [pro] = /(?<= {2}- plan_id: pro)\n[^]*?(?=\n {2}- |\n$)/.exec(plans)!;
  await place.write("plans.yaml", `plans:\n  - plan_id: ${id}${pro}\n`);
  const { code, text } = await place.run("diff", "--check");
  assert.deepEqual([code, text.split("\n")[0]], [2, `+ plans ${id}`]);
  assert.equal((await place.run("apply")).text.split("\n").at(-2), "1 created");
  assert.equal((await place.run("apply")).text, "No differences.\n");
  await place.write("plans.yaml", `plans:\n  - { plan_id: ${id}, max_alerts: many }\n`);
  const wrong =
    `logloom: plans.yaml:2: ${id}: Invalid plan ${id}: invalid input syntax for type integer: "many"\n`;
  assert.ok((await place.run("apply")).text.startsWith(wrong));
  await place.write("plans.yaml", plans);
  assert.ok((await place.run("diff", "--prune")).text.includes(`- plans ${id}\n`));
  await using sql = openDatabase();
  await sql`delete from logloom.plans where plan_id = ${id}`;

  await using own = await workplace((await newUser()).token);
  await own.write("plans.yaml", plans);
  assert.match(
    (await own.run("diff")).text,
    /^logloom: plans are the project's: set LOGLOOM_TOKEN/,
  );
});

Deno.test("while files or members of a tenant change, another apply is told at once to try again", async () => {
  const { client, id, tenantId } = await newUser();
  const apply = (type = "dashboards", name = "Board") =>
    client.call("apply_tenant_files", {
      p_documents: [{ type, name, fields: type === "members" ? { role: "owner" } : {} }],
    });
  await using sql = openDatabase();
  const busy = { name: "files.tenant_is_busy", status: 429, retryAfterMs: 2000 };
  await sql.begin(async (other) => {
    await other`
      select pg_advisory_xact_lock(logloom_private.lock_key('files'), hashtext(${tenantId}))`;
    await assert.rejects(apply(), busy);
  });
  await sql.begin(async (other) => {
    await other`select logloom_private.lock_members(${tenantId})`;
    await assert.rejects(apply("members", id), busy);
  });
  // Of two at once, the second waits or finds nothing to do.
  const both = await Promise.allSettled([apply(), apply()]);
  const made = both.flatMap((one) => one.status === "fulfilled" ? one.value : []);
  assert.deepEqual(made.map(({ action, name }) => [action, name]), [["create", "Board"]]);
  assert.equal((await apply()).length, 0);
});

Deno.test("the schema for editors knows the fields that the database takes", async () => {
  await using sql = openDatabase();
  const rows = await sql`select type, name_member, fields from logloom_private.file_types()`;
  assert.deepEqual(
    rows.map(({ type, name_member, fields }) => [type, name_member, Object.keys(fields).sort()]),
    tenantTypes.map((
      type,
    ) => [type, fileTypes[type].key, Object.keys(fileTypes[type].fields).sort()]),
  );
  const columns = await sql`
    select attname as name from pg_attribute
    where attrelid = 'logloom.plans'::regclass and attnum > 0 and attname <> 'plan_id'
    order by attname collate "C"`;
  assert.deepEqual(
    columns.map(({ name }) => name),
    Object.keys(fileTypes.plans.fields).sort(),
  );
});
