import { deepStrictEqual } from "node:assert/strict";
import fc from "fast-check";
import { type LiqeQuery, parse } from "liqe";
import { openDatabase } from "../support/database.ts";

// liqe is another parser of Lucene's syntax. For constructs of both languages our compiler and liqe must make the same
// tree. They differ in AND next to OR without brackets: liqe reads from the left, our compiler binds AND first. So the
// queries have brackets there.

const seed = Number(Deno.env.get("QUERY_SEED") ?? Math.floor(Math.random() * 2 ** 31));

/** A common form of both trees: ["and", …], ["or", …], ["not", …] or a leaf. */
type Tree = string | [string, ...Tree[]];

interface Range {
  min: number;
  max: number;
  minInclusive: boolean;
  maxInclusive: boolean;
}

const word = fc.stringMatching(/^[a-z][a-z0-9]{0,6}$/)
  .filter((value) => !["true", "false", "null"].includes(value));
const phrase = fc.array(word, { minLength: 1, maxLength: 3 }).map((words) =>
  `"${words.join(" ")}"`
);
const field = fc.constantFrom("service", "env", "host", "route");
const attribute = fc.constantFrom("attrs.a", "attrs.http.status");
const number = fc.integer({ min: -1000, max: 1000 });

const leaf = fc.oneof(
  word,
  phrase,
  fc.tuple(field, fc.oneof(word, phrase)).map(([name, value]) => `${name}:${value}`),
  fc.tuple(attribute, fc.constantFrom(">", ">=", "<", "<="), number)
    .map(([name, operator, value]) => `${name}:${operator}${value}`),
  fc.tuple(attribute, fc.constantFrom("[", "{"), number, number, fc.constantFrom("]", "}"))
    .map(([name, open, from, to, close]) => `${name}:${open}${from} TO ${to}${close}`),
);

const query: fc.Arbitrary<string> = fc.letrec<{ node: string }>((tie) => {
  // A leaf, or an expression in brackets. liqe refuses a bracket right after a range, so a space is
  // put before it.
  const operand = fc.oneof(leaf, tie("node").map((node) => `(${node} )`));
  // liqe has no - before a bracket.
  const negated = fc.oneof(
    { weight: 2, arbitrary: operand },
    operand.map((item) => `NOT ${item}`),
    leaf.map((item) => `-${item}`),
  );
  return {
    node: fc.oneof(
      { depthSize: "medium" },
      negated,
      fc.tuple(
        fc.constantFrom(" AND ", " ", " OR "),
        fc.array(negated, { minLength: 2, maxLength: 3 }),
      )
        .map(([glue, items]) => items.join(glue)),
    ),
  };
}).node;

Deno.test(`the compiler gets the same trees as liqe, seed ${seed}`, async () => {
  await using sql = openDatabase(undefined, 1);
  await fc.assert(
    fc.asyncProperty(fc.array(query, { minLength: 40, maxLength: 40 }), async (sources) => {
      const fitting = sources.filter((source) => source.length < 1000 && leavesOf(source) <= 64);
      const rows = await sql`
        select (logloom_private.compile_query(q)).tree
        from unnest(${fitting}::text[]) with ordinality as s (q, n) order by n`;
      fitting.forEach((source, i) =>
        deepStrictEqual(ours(rows[i].tree), theirs(parse(source)), source)
      );
    }),
    { seed, numRuns: 25 },
  );
});

/** Returns an upper bound of the number of leaves. */
function leavesOf(source: string): number {
  return source.split(/\s+/).length;
}

function joined(operator: string, items: Tree[]): Tree {
  const flat = items.flatMap((item) =>
    Array.isArray(item) && item[0] === operator ? item.slice(1) : [item]
  );
  return [operator, ...flat];
}

interface Node {
  type: string;
  items: Node[];
  item: Node;
  name: string;
  test: string;
  values: string[];
  bounds: { lower: string | null; upper: string | null; lower_open: boolean; upper_open: boolean };
}

function ours(node: Node): Tree {
  if (node.type === "and" || node.type === "or") return joined(node.type, node.items.map(ours));
  if (node.type === "not") return ["not", ours(node.item)];
  if (node.test === "contains") return `any ${node.values[0].slice(1, -1)}`;
  if (node.test === "equal") return `${node.name} = ${node.values[0]}`;
  const bounds = node.bounds;
  const lower = bounds.lower === null ? "" : `${bounds.lower_open ? ">" : ">="}${bounds.lower}`;
  const upper = bounds.upper === null ? "" : `${bounds.upper_open ? "<" : "<="}${bounds.upper}`;
  return `${node.name} ${lower}${upper}`;
}

function theirs(node: LiqeQuery): Tree {
  switch (node.type) {
    case "LogicalExpression":
      return joined(node.operator.operator.toLowerCase(), [theirs(node.left), theirs(node.right)]);
    case "UnaryOperator":
      return ["not", theirs(node.operand)];
    case "ParenthesizedExpression":
      return theirs(node.expression);
    case "Tag": {
      const { field, expression, operator } = node;
      if (expression.type === "RangeExpression") {
        const { min, max, minInclusive, maxInclusive }: Range = expression.range;
        const name = field.type === "Field" ? field.name : "any";
        return `${name} ${minInclusive ? ">=" : ">"}${min}${maxInclusive ? "<=" : "<"}${max}`;
      }
      if (expression.type !== "LiteralExpression") throw new Error(expression.type);
      if (field.type === "ImplicitField") return `any ${expression.value}`;
      const comparison = operator?.operator.slice(1);
      return comparison
        ? `${field.name} ${comparison}${expression.value}`
        : `${field.name} = ${expression.value}`;
    }
    default:
      throw new Error(node.type);
  }
}
