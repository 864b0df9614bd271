import { checkout } from "../../local/stack.ts";

/** An operation of the service, described by a file in operations/. */
export interface Operation {
  name: string;
  /** What it needs; runs before each permutation. */
  setUp: string;
  /** The statements that are cut into steps. */
  statements: string;
  /** Finishes what the operation began, before the invariant is checked. */
  afterwards: string;
}

/** In the order of the set-ups: those that queue events come last, after those that wait for the queue. */
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

/** In the order of finishing. */
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

/** All pairs, each operation also with itself. */
export function pairsOf(operations: Operation[]): [Operation, Operation][] {
  return operations.flatMap((a, n) =>
    operations.slice(n).map((b): [Operation, Operation] => [a, b])
  );
}

/** The statements that finish both. */
export function endingsOf(operations: Operation[]): string[] {
  const found = endings.flatMap((name) =>
    operations.filter((operation) => operation.name === name).map(({ afterwards }) => afterwards)
  );
  return [...new Set(found)];
}
