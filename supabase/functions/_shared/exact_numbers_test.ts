import assert from "node:assert/strict";
import { changes, jsonOf, parseExactly, rewrites, withTexts } from "./exact_numbers.ts";
import { processorMs } from "./testing_processor.ts";

const exact = (json: string, isText: (number: string) => boolean) =>
  JSON.parse(withTexts(json, isText));

Deno.test("a number becomes a text only if a double cannot hold it or writes it differently", () => {
  const cases: [number: string, isChanged: boolean, isRewritten: boolean][] = [
    ["0", false, false],
    ["-1.5", false, false],
    ["0.000001", false, false],
    ["10.0000001", false, false],
    ["1234567890123456", false, false],
    ["0.1234567890123456", false, false],
    ["12345678901234567890", true, true],
    ["-0.12345678901234567890", true, true],
    ["1.50", false, true],
    ["-0.0000001", false, true],
    ["1000000000000000000000", false, true],
    ["1e21", false, true],
    ["1E400", true, true],
    ["1.00000000000000", false, true],
    ["0.00000012345678", false, true],
    // PostgreSQL's longest.
    [`1${"0".repeat(131_071)}.${"0".repeat(16_382)}1`, true, true],
  ];
  for (const [number, isChanged, isRewritten] of cases) {
    for (const [isText, of] of [[isChanged, changes], [isRewritten, rewrites]] as const) {
      const found = isText ? number : Number(number);
      assert.deepEqual(exact(`[${number}]`, of), [found], number);
      assert.deepEqual(exact(`{"a" : ${number} , "b": [\n${number}, ${number}]}`, of), {
        a: found,
        b: [found, found],
      }, number);
      for (const text of [`:${number},`, `["${number}",${number}]`, `\\":${number},\\\\`]) {
        const value = { [text]: [text, "\\", Number("1")] };
        assert.deepEqual(exact(JSON.stringify(value), of), value, text);
      }
    }
  }
});

Deno.test("a text without such numbers costs little more than JSON.parse", () => {
  const bodies = ["0.12345,", '"a text",', '{"name":1},'].map((item) =>
    `[${item.repeat(50_000)}0]`
  );
  for (const body of bodies) {
    for (const isText of [changes, rewrites]) {
      let [parsing, looking] = [Infinity, Infinity];
      // The best of five rounds, or of more on a busy machine.
      for (let round = 0; round < 5 || round < 25 && looking / parsing >= 6; round++) {
        parsing = Math.min(parsing, processorMs(() => JSON.parse(body)));
        looking = Math.min(looking, processorMs(() => exact(body, isText)));
      }
      assert.ok(looking / parsing < 6, `${body.slice(0, 20)}: ${looking / parsing} times`);
    }
  }
});

Deno.test("numbers that JavaScript would round keep their text, here and on Node 20", () => {
  const json =
    '{"a":12345678901234567890,"b":[0.1,1.10,-0.30000000000000004],"c":"12345678901234567890 \\"1e400","d":1e400,"e":null}';
  const value = parseExactly(json, rewrites) as Record<string, unknown>;
  assert.equal(jsonOf(value), json);
  assert.deepEqual([value.c, value.e], ['12345678901234567890 "1e400', null]);
  assert.deepEqual([`${value.a}`, jsonOf(value.b)], [
    "12345678901234567890",
    "[0.1,1.10,-0.30000000000000004]",
  ]);
});
