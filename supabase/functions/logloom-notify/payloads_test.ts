import assert from "node:assert/strict";
import { discordPayload } from "./discord.ts";
import { type AlertData, messageOf } from "./message.ts";
import { pagerdutyEvent } from "./pagerduty.ts";
import { hostile, hostilePayload, longPayload, samplePayload } from "./testing_payloads.ts";
import { slackPayload } from "./slack.ts";
import { teamsPayload } from "./teams.ts";

const all = [
  samplePayload(),
  samplePayload({ resolution: "recovered" }, "alert.resolved"),
  samplePayload({ resolution: "still_absent", absent: true }, "alert.resolved"),
  samplePayload({ alert_id: null, group: null, logs: [] }, "alert.test"),
  samplePayload({ url: null, absent: true }),
  samplePayload({ kind: "new_error", group: { error: "E", service: null }, logs: [] }),
  hostilePayload,
  longPayload,
];

type Json = null | boolean | number | string | Json[] | { [name: string]: Json };

const asSent = (payload: unknown) => JSON.parse(JSON.stringify(payload)) as Json;

/** All texts in a value, with their paths. */
function texts(value: Json, path = ""): [string, string][] {
  if (typeof value === "string") return [[path, value]];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => texts(inner, `${path}.${name}`));
}

Deno.test("a message has rule, group, value and threshold, window, link and records", () => {
  const { title, summary, facts, logs, url } = messageOf(samplePayload());
  assert.equal(title, "Too many errors: 12");
  assert.equal(summary, 'The alert rule "Too many errors" fired: its value was 12, above 10.');
  assert.deepEqual(facts, [
    ["Rule", "Too many errors"],
    ["Group", "service=shop"],
    ["Value", "12, above 10"],
    ["Window", "2026-11-21T12:00:00.000Z to 2026-11-21T12:05:00.000Z"],
    ["Query", "level:error | count() by service"],
  ]);
  assert.deepEqual(logs, [
    "2026-11-21T12:04:59+00:00 error shop out of stock",
    "2026-11-21T12:04:58+00:00 error shop sold out",
  ]);
  assert.match(url ?? "", /^https:\/\/logs\.example\/#q=/);
  const hidden = messageOf(
    samplePayload({ value: null, resolution: "rule_changed" }, "alert.resolved"),
  );
  assert.deepEqual(hidden.facts[2], ["Value", "not shown, above 10"]);
});

Deno.test("a message of many groups names ten groups, and counts the rest", () => {
  const { title, facts } = messageOf(longPayload);
  assert.equal(title, `${"n".repeat(200)}: 60 groups`);
  assert.equal(facts.filter(([name]) => name.startsWith("service=")).length, 10);
  assert.deepEqual(facts.find(([name]) => name === "And"), ["And", "50 more groups"]);
});

Deno.test("a message about an error names the error, and says whether it is new", () => {
  const group = { fingerprint: "f1", error: "TypeError: x", service: "checkout" };
  const error = (changes: Partial<AlertData>, type?: "alert.resolved") =>
    messageOf(samplePayload(
      {
        kind: "new_error",
        name: "Errors",
        query_dsl: "*",
        value: 3,
        group,
        alerts: [],
        ...changes,
      },
      type,
    ));
  const { title, summary, facts } = error({});
  assert.equal(title, "New error in checkout: TypeError: x (3 records)");
  assert.equal(summary, 'The alert rule "Errors" fired: an error is new.');
  assert.deepEqual(facts, [["Rule", "Errors"]]);
  const back = error({ returned: true, value: 1, query_dsl: "env:prod" });
  assert.equal(back.title, "Error is back in checkout: TypeError: x (1 record)");
  assert.equal(
    back.summary,
    'The alert rule "Errors" fired: an error came back after it was resolved or ignored.',
  );
  assert.deepEqual(back.facts, [["Rule", "Errors"], ["Query", "env:prod"]]);
  // A view may hide everything but the fingerprint.
  assert.equal(error({ group: { fingerprint: "f1" } }).title, "New error (3 records)");
  const over = error({ resolution: "recovered" }, "alert.resolved");
  assert.equal(over.title, "Resolved: error in checkout: TypeError: x");
  assert.equal(over.summary, 'The error was resolved or ignored: "Errors".');
  const one = { alert_id: null, group, value: 3 };
  const many = error({ alerts: [one, { ...one, group: { ...group, service: null }, value: 1 }] });
  assert.equal(many.title, "Errors: 2 new or returning errors");
  assert.equal(many.summary, 'The alert rule "Errors" fired for 2 errors.');
  assert.deepEqual(many.facts, [
    ["Rule", "Errors"],
    ["Error in checkout: TypeError: x", "3 records"],
    ["Error: TypeError: x", "1 record"],
  ]);
});

Deno.test("if a silent group is no longer watched, the message does not look like a recovery", () => {
  const payload = samplePayload({ resolution: "still_absent", absent: true }, "alert.resolved");
  const message = messageOf(payload);
  assert.equal(message.title, "Still silent: Too many errors");
  assert.equal(
    message.summary,
    'Watching ended, and the group is still silent: "Too many errors".',
  );
  assert.deepEqual(message.facts[2], ["Value", "nothing, above 10"]);
  assert.equal(slackPayload(message).text, "⚪ Still silent: Too many errors");
  const event = pagerdutyEvent("k", message, payload);
  assert.deepEqual([event.event_action, event.dedup_key], ["resolve", message.key]);
  assert.match("payload" in event ? event.payload.summary : "", /is still silent/);
  const many = messageOf({
    ...payload,
    data: { ...payload.data, alerts: [...payload.data.alerts ?? [], ...payload.data.alerts ?? []] },
  });
  assert.match(many.summary, /^Watching ended, and the groups are still silent/);
});

Deno.test("trigger and resolution have the same key, and each group has its own", () => {
  const key = (group: Record<string, string | null> | null, type?: "alert.resolved") =>
    messageOf(samplePayload({ group }, type)).key;
  assert.equal(key({ a: "1", b: "2" }), key({ b: "2", a: "1" }, "alert.resolved"));
  const keys = [key(null), key({ a: "1" }), key({ a: "2" }), key({ a: null }), key({ b: "1" })];
  assert.equal(new Set(keys).size, 5);
  for (const one of [...keys, messageOf(longPayload).key]) assert.ok(one.length <= 255);
});

// https://docs.slack.dev/reference/block-kit/blocks and …/block-kit/composition-objects/text-object
Deno.test("Slack: blocks within its limits, without markup", () => {
  for (const payload of all) {
    const sent = asSent(slackPayload(messageOf(payload))) as unknown as {
      text: string;
      blocks: Block[];
    };
    assert.deepEqual(Object.keys(sent).sort(), ["blocks", "text", "unfurl_links", "unfurl_media"]);
    assert.ok(!/<[!@#h]|<http/.test(sent.text), sent.text);
    assert.ok(sent.text.length <= 4000 && sent.blocks.length <= 50);
    for (const block of sent.blocks) {
      assert.ok(["header", "rich_text", "actions"].includes(block.type));
      if (block.type === "header") {
        assert.equal(block.text?.type, "plain_text");
        assert.ok((block.text?.text.length ?? 0) <= 150);
      }
      for (const element of block.elements ?? []) {
        if (block.type === "actions") {
          assert.equal(element.type, "button");
          assert.ok((element.url?.length ?? 0) <= 3000);
          continue;
        }
        assert.ok(["rich_text_section", "rich_text_preformatted"].includes(element.type));
        // Rich text shows elements of type text as they are.
        for (const inner of element.elements ?? []) {
          assert.equal(inner.type, "text");
          assert.ok((inner.text?.length ?? 0) > 0 && (inner.text?.length ?? 0) <= 3000);
        }
      }
    }
  }
  const { text, blocks } = slackPayload(messageOf(hostilePayload));
  assert.match(text, /^🔴 &lt;!channel&gt; &lt;@U1\|x&gt; @everyone/);
  assert.equal(blocks.length, 3);
});

interface Block {
  type: string;
  text?: { type: string; text: string };
  elements?: { type: string; url?: string; elements?: { type: string; text?: string }[] }[];
}

// https://discord.com/developers/docs/resources/webhook#execute-webhook and …/resources/message#embed-object-embed-limits
Deno.test("Discord: an embed within its limits that mentions nobody", () => {
  for (const payload of all) {
    const sent = discordPayload(messageOf(payload));
    assert.deepEqual(Object.keys(sent).sort(), ["allowed_mentions", "embeds"]);
    assert.deepEqual(sent.allowed_mentions, { parse: [] });
    const [embed] = sent.embeds;
    assert.ok(embed.title.length <= 256 && embed.description.length <= 4096);
    assert.ok(embed.fields.length <= 25);
    for (const { name, value } of embed.fields) {
      assert.ok(name.length >= 1 && name.length <= 256 && value.length >= 1);
      assert.ok(value.length <= 1024);
    }
    const total = texts(asSent(embed.fields)).reduce((sum, [, { length }]) => sum + length, 0) +
      embed.title.length + embed.description.length;
    assert.ok(total <= 6000, `${total}`);
    assert.ok(Number.isInteger(embed.color) && embed.color <= 0xffffff);
    assert.ok(!Number.isNaN(Date.parse(embed.timestamp)));
    // The log's own text must not close the code block.
    assert.equal(embed.description.split("```").length, payload.data.logs?.length === 0 ? 1 : 3);
  }
  const [{ title }] = discordPayload(messageOf(hostilePayload)).embeds;
  assert.match(title, /^\\<!channel\\> \\<\\@U1\\\|x\\> \\@everyone \\@here /);
});

// https://adaptivecards.io/explorer/AdaptiveCard.html and
// https://learn.microsoft.com/microsoftteams/platform/webhooks-and-connectors/how-to/connectors-using
Deno.test("Teams: a card within its limits, without Markdown", () => {
  for (const payload of all) {
    const sent = teamsPayload(messageOf(payload));
    assert.ok(new TextEncoder().encode(JSON.stringify(sent)).length <= 28 * 1024);
    assert.equal(sent.type, "message");
    const [{ contentType, content }] = sent.attachments;
    assert.equal(contentType, "application/vnd.microsoft.card.adaptive");
    assert.equal(content.type, "AdaptiveCard");
    for (const { type, inlines } of content.body) {
      assert.equal(type, "RichTextBlock");
      for (const inline of inlines as { type: string; text: string }[]) {
        assert.equal(inline.type, "TextRun");
        assert.ok(!inline.text.includes("{{"));
      }
    }
    for (const action of content.actions ?? []) {
      assert.deepEqual(Object.keys(action), ["type", "title", "url"]);
    }
  }
});

// https://developer.pagerduty.com/docs/send-alert-event
Deno.test("PagerDuty: triggers and resolves the same incident, within its limits", () => {
  const key = "R".repeat(32);
  for (const payload of all) {
    const event = pagerdutyEvent(key, messageOf(payload), payload);
    assert.equal(event.routing_key, key);
    assert.ok(event.dedup_key.length <= 255);
    assert.ok(JSON.stringify(event).length < 512 * 1024);
    if (!("payload" in event)) continue;
    assert.ok(event.payload.summary.length <= 1024);
    assert.ok(["critical", "error", "warning", "info"].includes(event.payload.severity));
    assert.equal(event.payload.source, "acme");
    assert.ok(!Number.isNaN(Date.parse(event.payload.timestamp)));
  }
  const resolved = samplePayload({ resolution: "recovered" }, "alert.resolved");
  assert.deepEqual(pagerdutyEvent(key, messageOf(resolved), resolved), {
    routing_key: key,
    dedup_key: messageOf(samplePayload()).key,
    event_action: "resolve",
  });
  const test = samplePayload({}, "alert.test");
  assert.notEqual(
    pagerdutyEvent(key, messageOf(test), test).dedup_key,
    messageOf(samplePayload()).key,
  );
});

Deno.test("no message has control characters, or characters that change the direction of writing", () => {
  assert.ok(hostile.includes("\u202e"));
  const message = messageOf(hostilePayload);
  const sent = [
    slackPayload(message),
    discordPayload(message),
    teamsPayload(message),
    pagerdutyEvent("R", message, hostilePayload),
  ];
  for (const [path, text] of sent.flatMap((payload) => texts(asSent(payload)))) {
    // The line breaks in a code block are ours.
    // deno-lint-ignore no-control-regex
    assert.ok(!/[\u0000-\u0009\u000b-\u001f\u202a-\u202e]/.test(text), path);
  }
});
