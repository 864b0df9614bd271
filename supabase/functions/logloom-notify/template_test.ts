import assert from "node:assert/strict";
import { processorClock, processorMs } from "../_shared/testing_processor.ts";
import { hostile, hostilePayload, samplePayload } from "./testing_payloads.ts";
import { renderTemplate, TemplateError } from "./template.ts";

const json = (text: string, payload = samplePayload()) =>
  JSON.parse(renderTemplate({ text, type: "json" }, payload));
const plain = (text: string, payload = samplePayload()) =>
  renderTemplate({ text, type: "text" }, payload);

Deno.test("a template can use all parts of an alert", () => {
  assert.deepEqual(
    json(`{
      "text": "{{rule.name}} {{state}}: {{value}} {{rule.comparison}} {{rule.threshold}}",
      "number": {{value}}, "group": "{{group.service}}", "all": "{{group_text}}",
      "window": "{{window.start}}", "link": "{{url}}", "incident": "{{incident_id}}",
      "alerts": [{{#alerts}}{"g": "{{group_text}}", "v": {{value}}}{{/alerts}}],
      "logs": "{{#logs}}{{ts}} {{level}} {{msg}}; {{/logs}}",
      "resolved": {{#is_resolved}}true{{/is_resolved}}{{^is_resolved}}false{{/is_resolved}}
    }`),
    {
      text: "Too many errors triggered: 12 gt 10",
      number: 12,
      group: "shop",
      all: "service=shop",
      window: "2026-11-21T12:00:00.000Z",
      link: samplePayload().data.url,
      incident: "cccccccc-0000-4000-8000-000000000001",
      alerts: [{ g: "service=shop", v: 12 }],
      logs: "2026-11-21T12:04:59+00:00 error out of stock; " +
        "2026-11-21T12:04:58+00:00 error sold out; ",
      resolved: false,
    },
  );
  assert.equal(plain("{{rule.name}}: {{value}}"), "Too many errors: 12");
});

Deno.test("a value of null is null in JSON, and nothing within a text", () => {
  const alerts = [{ alert_id: null, group: null, value: null }];
  const payload = samplePayload({ value: null, alerts });
  assert.deepEqual(
    json(
      `{"value": {{value}}, "all": [{{#alerts}}{{value}}{{/alerts}}], "text": "\\"{{value}}\\""}`,
      payload,
    ),
    { value: null, all: [null], text: '""' },
  );
  assert.equal(plain("{{rule.name}}: {{value}}", payload), "Too many errors: ");
});

Deno.test("no log text can end a JSON string, whatever the template says", () => {
  for (const tag of ["{{msg}}", "{{{msg}}}", "{{&msg}}"]) {
    const made = json(`{"a": [{{#logs}}"${tag}"{{/logs}}]}`, hostilePayload);
    assert.deepEqual(made, { a: [hostile.repeat(20)] });
  }
  assert.equal(plain("{{group.service}}", hostilePayload), hostile);
});

Deno.test("a template reaches nothing but the alert", () => {
  for (
    const name of [
      "constructor",
      "__proto__",
      "toString",
      "valueOf",
      "rule.constructor",
      "rule.__proto__.polluted",
      "hasOwnProperty",
      "alerts.constructor",
      "alerts.push",
      "state.constructor.name",
      "value.toFixed",
    ]
  ) {
    assert.equal(plain(`[{{${name}}}{{#${name}}}x{{/${name}}}]`), "[]", name);
  }
  assert.equal(plain("{{rule.name.length}} {{alerts.length}} {{alerts.0.value}}"), "15 1 12");
  assert.equal(plain("{{#state}}{{.}}{{length}}{{/state}}"), "triggered");
  assert.equal(
    plain("{{#alerts}}{{#group}}{{service}} {{rule.name}}{{/group}}{{/alerts}}"),
    "shop Too many errors",
  );
});

Deno.test("a template cannot change anything for other tenants", () => {
  const steps = ["alerts.entries", "next", "constructor.prototype"];
  const text = steps.reduceRight(
    (inner, name) => `{{#${name}}}${inner}{{/${name}}}`,
    "{{alerts.push}}",
  );
  try {
    assert.equal(plain(text), "");
    assert.equal(
      plain("{{#value.constructor.prototype}}{{alerts.push}}{{/value.constructor.prototype}}"),
      "",
    );
    assert.ok(!("length" in {}));
    assert.ok(!("length" in Object(12)));
  } finally {
    for (const shared of [Object.prototype, Number.prototype]) {
      Reflect.deleteProperty(shared, "length");
    }
  }
});

Deno.test("the length and cost of a rendered template are limited", () => {
  const many = samplePayload({
    alerts: Array.from({ length: 100 }, () => ({ alert_id: null, group: null, value: 1 })),
    description: "d".repeat(2000),
  });
  const nested = "{{#alerts}}".repeat(8) + "x" + "{{/alerts}}".repeat(8);
  const began = processorClock();
  assert.throws(() => plain(nested, many), new TemplateError("The template repeats too much"));
  assert.throws(
    () => plain("{{rule.description}}".repeat(190), many),
    new TemplateError("The template's text is too long"),
  );
  // Long groups, and a template that inserts them as often as possible.
  const group = { service: "\\".repeat(500) };
  const long = samplePayload({
    alerts: Array.from({ length: 100 }, () => ({ alert_id: null, group, value: 1 })),
  });
  const before = processorClock();
  assert.throws(
    () => json("{{alerts}}".repeat(400), long),
    new TemplateError("The template's text is too long"),
  );
  assert.ok(processorClock() - before < 200);
  assert.ok(processorClock() - began < 5_000);
});

Deno.test("unknown names in nested repeating sections take no time", () => {
  const many = samplePayload({
    alerts: Array.from({ length: 100 }, () => ({ alert_id: null, group: null, value: 1 })),
  });
  const within = (times: number, section: string, text: string) =>
    `{{#${section}}}`.repeat(times) + text + `{{/${section}}}`.repeat(times);
  for (
    const text of [
      within(100, "rule", within(2, "alerts", "{{x}}".repeat(380))),
      within(2, "alerts", `{{${"x.".repeat(1_970)}x}}`),
    ]
  ) {
    assert.ok(text.length <= 4_000);
    const took = processorMs(() =>
      assert.throws(() => plain(text, many), new TemplateError("The template repeats too much"))
    );
    assert.ok(took < 500, `${took} ms`);
  }
  // The largest payload: as many names as fit a template, for the most alerts.
  assert.equal(
    plain(within(1, "alerts", "{{#rule}}" + "{{x}}".repeat(780) + "{{/rule}}"), many),
    "",
  );
});

Deno.test("a faulty template names its fault", () => {
  const message = (text: string) => {
    try {
      return renderTemplate({ text, type: "json" }, samplePayload());
    } catch (error) {
      assert.ok(error instanceof TemplateError);
      return error.message;
    }
  };
  assert.match(message("{{#logs}}x"), /^The template is invalid: Unclosed section "logs"/);
  assert.match(message("{{rule.name"), /^The template is invalid: Unclosed tag/);
  assert.equal(message('{"a": {{rule.name}}}'), "The template does not make JSON");
  assert.equal(message("{{> other}}"), "The template does not make JSON");
});
