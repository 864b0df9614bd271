import postgres from "postgres";
import { checkout, databaseUrl, type Stack } from "../../local/stack.ts";
import { pgtapDatabase } from "../runner/test_stack.ts";
import { endingsOf, type Operation } from "./operations.ts";

type Side = "a" | "b";

/** A lock that one side does not take. "row of f" is the "for update" in the function f. */
export interface Fault {
  side: Side;
  lock: string;
}

const templateName = "interleavings";

export function connect(stack: Stack, database: string, role = "supabase_admin"): postgres.Sql {
  return postgres(databaseUrl(role, stack.ports.postgres, database), {
    max: 1,
    onnotice: () => {},
    fetch_types: false,
    connection: { TimeZone: "UTC", DateStyle: "ISO", statement_timeout: 0 },
  });
}

async function apply(stack: Stack, database: string, role: string, texts: string[]): Promise<void> {
  const sql = connect(stack, database, role);
  try {
    for (const text of texts) await sql.unsafe(text).simple();
  } finally {
    await sql.end();
  }
}

const read = (name: string) => Deno.readTextFile(`${checkout}/tests/interleavings/sql/${name}.sql`);

/** Runs the operations without interleaving, to learn which tables they change. */
async function rehearse(sql: postgres.Sql, sides: Side[]): Promise<void> {
  for (const side of sides) {
    await sql`select interleavings.run_alone(${side})`;
    await sql`select interleavings.collect(${side})`;
  }
  await sql`select interleavings.note_touched()`;
  await sql`select interleavings.check()`.catch((error) => {
    throw new Error(`Fails even without interleaving (${sides.join(", ")}): ${error.message}`);
  });
  await sql`select interleavings.note_touched()`;
  await sql`select interleavings.write_restore()`;
  await sql`select interleavings.restore()`;
}

/** The databases of the pairs, one for each pair that runs at the same time. */
export class Databases implements AsyncDisposable {
  private constructor(private readonly stack: Stack, readonly names: string[]) {}

  static async make(stack: Stack, count: number): Promise<Databases> {
    const names = Array.from({ length: count }, (_, n) => `${templateName}_${n}`);
    const [first, ...others] = names;
    await clone(stack, pgtapDatabase, first);
    await apply(stack, first, "supabase_admin", [
      await read("harness"),
      await read("save_and_restore"),
      "grant all on schema interleavings to postgres",
    ]);
    await apply(stack, first, "postgres", [await read("world"), await read("invariant")]);
    await apply(stack, first, "supabase_admin", [
      "select interleavings.save_base()",
      "select interleavings.cut_functions()",
      "grant all on all tables in schema interleavings to public",
      "grant execute on all functions in schema interleavings to public",
    ]);
    for (const name of others) await clone(stack, first, name);
    return new Databases(stack, names);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const name of this.names) await drop(this.stack, name);
  }
}

async function clone(stack: Stack, template: string, name: string): Promise<void> {
  await drop(stack, name);
  await apply(stack, "postgres", "supabase_admin", [
    `create database "${name}" template "${template}" owner postgres`,
    // No test here needs crash safety.
    `alter database "${name}" set synchronous_commit = off`,
    // Longer than any lock_timeout, so that a session that gives up does it before PostgreSQL
    // reports a deadlock, even on a busy machine.
    `alter database "${name}" set deadlock_timeout = '20s'`,
  ]);
}

async function drop(stack: Stack, name: string): Promise<void> {
  await apply(stack, "postgres", "supabase_admin", [
    `drop database if exists "${name}" with (force)`,
  ]);
}

/** Two operations that are ready to run in a database, until disposed. */
export class ReadyPair implements AsyncDisposable {
  private constructor(
    private readonly sql: postgres.Sql,
    /** The places where each operation stops, alone or after the other: the names of its locks and commits. */
    readonly places: Record<Side, string[]>,
    private readonly cut: string[],
  ) {}

  static async make(
    sql: postgres.Sql,
    pair: [Operation, Operation],
    faults: Fault[] = [],
  ): Promise<ReadyPair> {
    await sql`select interleavings.end_pair()`;
    await sql.unsafe("set role postgres");
    for (const { setUp } of new Set(pair)) if (setUp !== "") await sql.unsafe(setUp);
    await sql.unsafe("reset role");
    for (const [n, side] of (["a", "b"] as const).entries()) {
      await sql`insert into interleavings.sides (side, operation, statements)
        values (${side}, ${pair[n].name}, ${pair[n].statements})`;
    }
    for (const [n, statements] of endingsOf(pair).entries()) {
      await sql`
        insert into interleavings.afterwards (place, statements) values (${n}, ${statements})`;
    }
    await sql`select interleavings.save_pair()`;
    await sql`select interleavings.write_restore()`;
    await sql`select interleavings.restore()`;
    const places = { a: [] as string[], b: [] as string[] };
    for (const sides of [["a"], ["b"], ["a", "b"], ["b", "a"]] as Side[][]) {
      await sql`delete from interleavings.places where true`;
      await rehearse(sql, sides);
      for (const side of sides) {
        const found = await sql`
          select name from interleavings.places where side = ${side} order by place`;
        // An operation may stop more often when it runs after the other one.
        if (found.length > places[side].length) places[side] = found.map((row) => row.name);
      }
    }
    for (const { side, lock } of faults) {
      await sql`insert into interleavings.removed (side, name) values (${side}, ${lock})`;
    }
    const rows = faults.filter(({ lock }) => lock.startsWith("row of "))
      .map(({ lock }) => lock.slice("row of ".length));
    if (rows.length > 0) await cutFunctions(sql, rows, true);
    return new ReadyPair(sql, places, rows);
  }

  /** Returns the tables that restore() does not restore. If there are any, permutations depend on earlier ones. */
  async leftovers(): Promise<string> {
    await this.sql`select interleavings.restore()`;
    const [{ differing }] = await this.sql`select interleavings.differing() as differing`;
    return differing ?? "";
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.cut.length > 0) await cutFunctions(this.sql, this.cut, false);
  }
}

async function cutFunctions(
  sql: postgres.Sql,
  names: string[],
  withoutRow: boolean,
): Promise<void> {
  await sql`
    select interleavings.cut_functions(string_to_array(${names.join(",")}, ','), ${withoutRow})`;
}
