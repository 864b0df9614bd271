import { checkout } from "../../local/stack.ts";

/** Something that the service does, as a file of operations/ describes it. */
export interface Operation {
  name: string;
  /** What it needs, made before each permutation. */
  setUp: string;
  /** What is cut into steps. */
  statements: string;
  /** What brings to its end what it began, before the invariant is looked at. */
  afterwards: string;
}

/** In the order in which the set-ups are made: what is queued last, after what waits for the queue. */
const names = [
  "compact-counts",
  "upgrade",
  "seal",
  "replace",
  "erase",
  "retention",
  "drop-day",
  "delete-tenant",
  "archive",
  "settle-stream",
  "claim-stream",
  "write",
  "flip",
  "enqueue",
];

/** In the order in which they are brought to an end. */
const endings = [
  "enqueue",
  "flip",
  "write",
  "retention",
  "drop-day",
  "erase",
  "delete-tenant",
  "archive",
  "claim-stream",
  "settle-stream",
];

export async function readOperations(): Promise<Operation[]> {
  return await Promise.all(names.map(async (name) => {
    const text = await Deno.readTextFile(`${checkout}/tests/interleavings/operations/${name}.sql`);
    const [, setUp, statements, afterwards] = text.split(/^-- (?:set-up|operation|afterwards)$/m);
    return {
      name,
      setUp: setUp.trim(),
      statements: statements.trim(),
      afterwards: afterwards.trim(),
    };
  }));
}

/** Every pair, each with itself too. */
export function pairsOf(operations: Operation[]): [Operation, Operation][] {
  return operations.flatMap((a, n) =>
    operations.slice(n).map((b): [Operation, Operation] => [a, b])
  );
}

/** What brings both to their end. */
export function endingsOf(operations: Operation[]): string[] {
  const found = endings.flatMap((name) =>
    operations.filter((operation) => operation.name === name).map(({ afterwards }) => afterwards)
  );
  return [...new Set(found)];
}
