import assert from "node:assert/strict";
import {
  blockOf,
  found,
  intoAnOutage,
  longTest,
  many,
  runProgram,
  type Trial,
  ways,
  withTrial,
} from "./sender.ts";

async function runBlock(trial: Trial, page: string, name: string): Promise<unknown> {
  const script = await blockOf(page, name);
  return JSON.parse(await runProgram({ program: "bash", args: ["-euc", script], env: trial.env }));
}

Deno.test("curl: lines of every kind, compressed", async () => {
  await withTrial("curl", async (trial) => {
    assert.deepEqual(await runBlock(trial, "json.md", "curl-lines.sh"), {
      success: true,
      ingested: 2,
      rejected: 0,
    });
    const [declined] = await found(trial, "service:shop level:error attrs.order:7");
    assert.equal(declined.msg, "card declined");
    const [slow] = await found(trial, "service:shop level:warn slow");
    assert.match(slow.msg ?? "", /WARN slow$/);
  });
});

Deno.test("curl: a line of an access log, as the page shows it", async () => {
  await withTrial("curl", async (trial) => {
    await runBlock(trial, "json.md", "access-log.sh");
    const [log] = await found(trial, "service:web level:error route:/pay user_id:ann");
    assert.deepEqual(log.attrs, {
      method: "POST",
      status: 500,
      bytes: 42,
      client_ip: "192.0.2.1",
      user_agent: "curl/8.5",
    });
  });
});

Deno.test("curl: the event of the API's example", async () => {
  await withTrial("curl", async (trial) => {
    await runBlock(trial, "json.md", "curl-json.sh");
    const [log] = await found(trial, 'service:shop "card declined"');
    assert.deepEqual(log.attrs, { order: 7 });
  });
});

for (const away of ways) {
  longTest({
    name: `curl: 20,000 lines, while the service ${away} for ten seconds`,
    fn: () =>
      withTrial("curl", async (trial) => {
        const script = (await blockOf("json.md", "curl-lines.sh"))
          .replace(/^printf .*$/m, `seq -f 'event %.0f' 0 ${many - 1} |`);
        const run = { program: "bash", args: ["-euc", script], env: trial.env };
        await intoAnOutage(trial, () => runProgram(run), away);
      }),
  });
}

Deno.test("curl: the marker of the page about deployments", async () => {
  await withTrial("curl", async (trial) => {
    await runBlock(trial, "deployments.md", "marker.sh");
    const [log] = await found(trial, '@kind:marker @release:"1.2.3" service:shop');
    assert.equal(log.msg, "Release 1.2.3");
  });
});

Deno.test("the example on the page about Supabase's drain is stored", async () => {
  await withTrial("supabase", async (trial) => {
    await runBlock(trial, "supabase.md", "supabase-drain.sh");
    const [log] = await found(trial, "attrs.metadata.response.status_code:500");
    assert.deepEqual([log.level, log.msg], ["error", "GET | 500 | /rest/v1/orders"]);
  });
});

Deno.test("the example on the page about Vercel's drain is stored", async () => {
  await withTrial("vercel", async (trial) => {
    await runBlock(trial, "drains.md", "vercel-drain.sh");
    const [log] = await found(trial, "service:shop env:production level:error");
    assert.deepEqual([log.msg, log.req_id], ["card declined", "iad1::x"]);
  });
});
