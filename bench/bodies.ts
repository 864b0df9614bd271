import { parseArgs } from "node:util";
import fc from "fast-check";
import {
  type BodyCost,
  bodyOf,
  costOfBody,
  type Recipe,
} from "../supabase/functions/ingest/body_costs.ts";
import { worstBodies } from "../supabase/functions/ingest/worst_bodies.ts";
import { type Figure, printFigures } from "./support/report.ts";

/**
 * The processor time of the worst bodies, without the database, and a search for worse ones: fast-check builds bodies
 * from pieces of each protocol and keeps changing the most expensive ones.
 *
 * Options: --seconds N of search for each protocol (default 20).
 */
export async function run(args: string[]): Promise<void> {
  const { values } = parseArgs({ args, options: { seconds: { type: "string", default: "20" } } });
  const figures: Figure[] = [];
  for (const recipe of worstBodies) {
    figures.push(figure(recipe.name, await costOfBody(recipe, bodyOf(recipe), 3)));
  }
  for (const frame of frames) {
    const { recipe, cost } = await search(frame, Number(values.seconds));
    console.error(`  ${frame.name}: ${JSON.stringify(recipe)}`);
    figures.push(figure(`found: ${frame.name}`, cost));
  }
  printFigures("Bodies at their worst", figures);
}

function figure(name: string, { milliseconds, ratio, status }: BodyCost): Figure {
  return {
    name,
    value: `${(milliseconds / 1000).toFixed(2)} s, ${ratio.toFixed(1)} × JSON.parse (${status})`,
    limit: "≤ 2 s, ≤ 20 ×",
    holds: milliseconds <= 2000 && ratio <= 20,
  };
}

/** The places for pieces in a body of a protocol. */
type Frame = Omit<Recipe, "again"> & { readonly pieces: readonly string[] };

const jsonPieces = [
  "{",
  "}",
  "[",
  "]",
  '"',
  ",",
  ":",
  '"k#":1',
  '"a":',
  "{}",
  "[]",
  "null",
  "#",
  '"#"',
  "\\u0000",
  "\\\\",
  '\\"',
  "é",
  " ",
  '{"a":{"b":"#"}}',
  '{"k#":"#"}',
  '"ts":"2026-11-21T12:34:56Z"',
  '"level":"#"',
  '"message":{}',
  '"attrs":{"k#":[]}',
];
const textPieces = ["a", "#", "=", '"', "\\", " ", "\t", "\r", "{", "}", "k#=1 ", "[", "ERROR "];

const frames: readonly Frame[] = [
  { name: "native", path: "", before: "[", between: ",", after: "]", pieces: jsonPieces },
  { name: "drain", path: "/drain/vercel", before: "[", between: ",", after: "]", most: 20_000 },
  { name: "one event", path: "/drain/vercel", before: '[{"a":[', between: ",", after: "]}]" },
  { name: "one object", path: "/drain/supabase", before: "[{", between: ",", after: "}]" },
  { name: "GELF", path: "/gelf", before: "{", between: ",", after: "}" },
  { name: "Splunk HEC", path: "/services/collector" },
  { name: "Datadog", path: "/api/v2/logs", before: "[", between: ",", after: "]", most: 20_000 },
  { name: "Elasticsearch", path: "/es/_bulk", before: '{"create":{}}\n', between: "\n" },
  {
    name: "Loki",
    path: "/loki/api/v1/push",
    headers: { "Content-Type": "application/json" },
    before: '{"streams":[',
    between: ",",
    after: "]}",
    pieces: [...jsonPieces, '{"stream":{"k#":"1"},"values":[["1","a",{"k#":"1"}]]}'],
  },
  {
    name: "OTLP",
    path: "/v1/logs",
    headers: { "Content-Type": "application/json" },
    before: '{"resourceLogs":[{"scopeLogs":[{"logRecords":[',
    between: ",",
    after: "]}]}]}",
    pieces: [...jsonPieces, '{"attributes":[{"key":"k#","value":{"intValue":"#"}}]}'],
  },
  { name: "lines", path: "/lines", pieces: textPieces },
  { name: "short lines", path: "/lines", between: "\n", most: 20_000, pieces: textPieces },
  { name: "Logplex", path: "/drain/heroku", between: "\n", pieces: ["<1>1 ", "- ", ...textPieces] },
].map((frame) => ({ pieces: jsonPieces, ...frame }));

/** A part of the limit, so that many are tried; the worst is measured in full size. */
const part = 1 / 16;

async function search(
  { pieces, ...frame }: Frame,
  seconds: number,
): Promise<{ recipe: Recipe; cost: BodyCost }> {
  const piece = fc.constantFrom(...pieces);
  const again = fc.array(piece, { minLength: 1, maxLength: 8 });
  const recipeOf = (some: readonly string[]): Recipe => ({ ...frame, again: some.join("") });
  const fitness = async (some: readonly string[]) => {
    const recipe = recipeOf(some);
    return (await costOfBody(recipe, bodyOf(recipe, part), 2)).milliseconds;
  };
  let best: { some: readonly string[]; took: number }[] = [];
  const until = performance.now() + seconds * 1000;
  while (performance.now() < until) {
    const made = fc.sample(again, 4);
    const changed = best.flatMap(({ some }) => changes(some, fc.sample(piece, 3)));
    for (const some of [...made, ...changed]) best.push({ some, took: await fitness(some) });
    best = best.sort((one, other) => other.took - one.took).slice(0, 4);
  }
  const recipe = recipeOf(best[0].some);
  return { recipe, cost: await costOfBody(recipe, bodyOf(recipe), 3) };
}

/** With a piece more, another one, or one less. */
function changes(some: readonly string[], [one, other, third]: string[]): string[][] {
  const at = (by: string) => Math.floor((some.length * (by.length * 7 % 5)) / 5);
  return [
    [...some.slice(0, at(one)), one, ...some.slice(at(one))].slice(-12),
    some.map((piece, n) => n === at(other) ? other : piece),
    [...some, third].slice(-12),
    some.length > 1 ? some.slice(1) : [third],
  ];
}
