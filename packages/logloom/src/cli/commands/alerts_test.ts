import assert from "node:assert/strict";
import { runCommand } from "../../../../../cli/testing.ts";
import { startPeer } from "../../../../../supabase/functions/_shared/testing.ts";

/** A fake service that keeps rules. */
function service() {
  const rules: Record<string, unknown>[] = [];
  return startPeer(({ path, body }) => {
    const given = JSON.parse(body);
    if (path.endsWith("list_alert_rules")) {
      return Response.json(given.p_after === undefined ? rules : []);
    }
    const rule = {
      notification_destinations: [],
      notification_config: {},
      ...Object.fromEntries(Object.entries(given).map(([name, value]) => [name.slice(2), value])),
      rule_id: `${rules.length}`,
    };
    rules.push(rule);
    return Response.json(rule);
  });
}

const hint = "logloom: To change a rule, edit it in the console, or delete it " +
  "(npm run logloom -- alerts delete 'Failed jobs') and add it again.\n";

Deno.test("alerts add says which rules stay unchanged, and of which nobody is told", async () => {
  await using peer = service();
  const env = { LOGLOOM_URL: peer.url, LOGLOOM_TOKEN: "t" };
  const add = (...args: string[]) => runCommand(["alerts", "add", "project", ...args], env);
  const wrong: [string, string, RegExp][] = [
    ["--email", "ops@", /^logloom: --email takes one address, not ops@\.\n$/],
    ["--webhook", "ftp://a", /^logloom: --webhook takes an address .*, not ftp:\/\/a\.\n$/],
    ["--database-limit", "8", /^logloom: Nothing was changed\. --database-limit takes a size/],
  ];
  for (const [option, value, sentence] of wrong) {
    const { code, err } = await add(option, value);
    assert.equal(code, 1);
    assert.match(err, sentence);
  }
  assert.equal(peer.requests.length, 0);
  assert.deepEqual(await add(), {
    code: 0,
    out: "Made Failed jobs.\nMade New slow statement.\n",
    err:
      "logloom: Without --email or --webhook nobody is told of Failed jobs, New slow statement." +
      `\n${hint}`,
  });
  const mail = ["--email", "a@example.com"];
  const kept = "is there and stays unchanged: email none, not a@example.com.\n";
  const { out: said } = await add("--database-limit", "10MB", ...mail);
  assert.equal(said, `Failed jobs ${kept}New slow statement ${kept}Made Database nearly full.\n`);
  const { code, out } = await add(
    ...["--database-limit", "20MB", "--email", "b@example.com", "--webhook", "https://h.example/x"],
  );
  assert.deepEqual([code, out.split("\n")[2]], [
    0,
    "Database nearly full is there and stays unchanged: threshold 8388608, not 16777216; " +
    "email a@example.com, not b@example.com; webhook none, not https://h.example/x.",
  ]);
  const same = await add("--database-limit", "10MB", ...mail, "--json");
  const shown = same.out.trim().split("\n").map((line) => JSON.parse(line));
  assert.deepEqual(shown.map(({ rule_id, made, others }) => [rule_id, made, others.length]), [
    ["0", false, 1],
    ["1", false, 1],
    ["2", false, 0],
  ]);
});

Deno.test("alerts history shows ids of rules to those who may not list rules", async () => {
  await using peer = startPeer(({ path }) =>
    path.endsWith("list_alert_rules")
      ? Response.json({ code: "PT403", message: "Not allowed" }, { status: 403 })
      : Response.json([{
        rule_id: "00000000-0000-4000-8000-000000000001",
        triggered_at: "2026-11-21T12:00:00.000Z",
        value: 12,
        group: null,
        acknowledged: false,
        notification_error: null,
        notification_sent: true,
      }])
  );
  const env = { LOGLOOM_URL: peer.url, LOGLOOM_TOKEN: "t" };
  const { code, out, err } = await runCommand(["alerts", "history"], env);
  assert.deepEqual([code, err, out.split("\n")[1].split(/ {2,}/)], [0, "", [
    "2026-11-21T12:00:00",
    "00000000-0000-4000-8000-000000000001",
    "12",
    "-",
    "not acknowledged",
    "sent",
  ]]);
});
