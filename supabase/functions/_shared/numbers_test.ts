import assert from "node:assert/strict";
import fc from "fast-check";
import { processorMs } from "./testing_processor.ts";
import {
  canonicalNumber,
  markedNumber,
  markNumbers,
  numberText,
  storedNumber,
  unmarkNumbers,
} from "./numbers.ts";

/** The expected text of a number: its digits, moved by its exponent, without zeros at both ends. */
function written(source: string): string {
  const [, sign, whole, fraction = "", exponent = "0"] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(source) ?? [];
  const shift = Number(exponent) - fraction.length;
  const digits = BigInt(whole + fraction) * 10n ** BigInt(Math.max(shift, 0));
  if (digits === 0n) return "0";
  const text = String(digits).padStart(Math.max(-shift, 0) + 1, "0");
  const point = text.length - Math.max(-shift, 0);
  const after = text.slice(point).replace(/0+$/, "");
  return sign + text.slice(0, point) + (after === "" ? "" : `.${after}`);
}

/** A number in the text for the database. */
function stored(source: string): string {
  return unmarkNumbers(JSON.stringify(JSON.parse(markNumbers(`[${source}]`))))
    .slice(1, -1);
}

const source = fc.stringMatching(/^-?(0|[1-9]\d{0,30})(\.\d{1,30})?([eE][+-]?\d{1,3})?$/);

Deno.test("a number is written without exponent and without zeros at the end of its fraction", () => {
  for (
    const number of ["0", "-0", "0.0", "1e2", "-1.50e1", "12e-1", "100e-2", "0.010e1", "1E+02"]
  ) {
    assert.equal(canonicalNumber(number), written(number), number);
  }
  fc.assert(fc.property(source, (number) => {
    assert.equal(canonicalNumber(number), written(number));
  }));
});

Deno.test("a number stays as sent if its text without exponent has over 40 characters and is longer than sent", () => {
  fc.assert(
    fc.property(source, (number) => {
      const text = written(number);
      const value = Number(number);
      const isKept = !Number.isFinite(value) || value === 0 && text !== "0" ||
        text.length > 40 && text.length > number.length;
      const json = stored(number);
      if (isKept) return assert.equal(json, JSON.stringify(number));
      assert.equal(written(json), text);
    }),
    { numRuns: 1000 },
  );
});

Deno.test("the same rule holds for the shortest text of a double", () => {
  assert.equal(numberText(1e21), "1000000000000000000000");
  assert.equal(numberText(1e39), `1${"0".repeat(39)}`);
  assert.equal(numberText(1e40), "1e+40");
  assert.equal(numberText(-1e39), "-1e+39");
  assert.equal(numberText(5e-324), "5e-324");
  assert.equal(storedNumber(1e21), 1e21);
  assert.equal(storedNumber(1e40), "1e+40");
  assert.equal(storedNumber(-5e-324), "-5e-324");
  assert.equal(storedNumber(Infinity), "Infinity");
  assert.equal(storedNumber(NaN), "NaN");
});

Deno.test("marked numbers differ from all other texts", () => {
  const [marked] = JSON.parse(markNumbers("[12345678901234567890]")) as string[];
  assert.equal(markedNumber(marked), "12345678901234567890");
  assert.equal(markedNumber("12345678901234567890"), undefined);
});

/** Processor time in milliseconds. */
function cost(text: string): number {
  return processorMs(() => unmarkNumbers(JSON.stringify(JSON.parse(markNumbers(text)))));
}

Deno.test("the cost of a number grows with its length, whatever its digits are", () => {
  const units = {
    "large ones": "1e300",
    "small ones": "1e-300",
    "ones with zeros": `1${"0".repeat(140)}1.0${"0".repeat(140)}1`,
    "zeros that end": `0.1${"0".repeat(290)}`,
    "long exponents": `1e${"0".repeat(250)}5`,
    "huge exponents": `0e${"9".repeat(250)}`,
    "white space": `${" \t\n\r".repeat(60)}1`,
    "no number": `"${'\\"'.repeat(60)}, 1e5"`,
    "backslashes": `"${"\\\\".repeat(150)}"`,
  };
  for (const [name, unit] of Object.entries(units)) {
    const body = (bytes: number) =>
      `[${Array(Math.ceil(bytes / (unit.length + 1))).fill(unit).join(",")}]`;
    const bodies = [1, 2, 4].map((n) => body(n * 400_000));
    const costs = bodies.map(() => Infinity);
    // More rounds on a busy machine. Times below 10 ms are too short to compare.
    const doubling = () => Math.sqrt(Math.max(costs[2], 10) / Math.max(costs[0], 10));
    for (let round = 0; round < 25 && !(doubling() <= 2.6); round++) {
      for (const [n, text] of bodies.entries()) costs[n] = Math.min(costs[n], cost(text));
    }
    assert.ok(doubling() <= 2.6, `${name}: ${costs.join(", ")} ms`);
  }
});
