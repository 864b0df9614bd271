import { checkout } from "../../local/stack.ts";

/** An operation of the service, described by a file in operations/. */
export interface Operation {
  name: string;
  /** Statements that prepare the operation; they run before each permutation. */
  setUp: string;
  /** The statements that are cut into steps. */
  statements: string;
  /** SQL that finishes the operation's work before the invariant is checked. */
  afterwards: string;
}

/**
 * The operations in the order of their set-ups. Set-ups that queue events come after set-ups that wait for the queue.
 */
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

/** The operations in the order in which they are finished. */
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

/** Returns all pairs, each operation also with itself. */
export function pairsOf(operations: Operation[]): [Operation, Operation][] {
  return operations.flatMap((a, n) =>
    operations.slice(n).map((b): [Operation, Operation] => [a, b])
  );
}

/** Returns the statements that finish both operations. */
export function endingsOf(operations: Operation[]): string[] {
  const found = endings.flatMap((name) =>
    operations.filter((operation) => operation.name === name).map(({ afterwards }) => afterwards)
  );
  return [...new Set(found)];
}
