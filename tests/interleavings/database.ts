import postgres from "postgres";
import { checkout, databaseUrl, type Stack } from "../../local/stack.ts";
import { pgtapDatabase } from "../runner/test_stack.ts";
import { endingsOf, type Operation } from "./operations.ts";

export type Side = "a" | "b";

/** A lock that one side does not take; rows: "for update" of a function. */
export interface Fault {
  side: Side;
  lock: string;
}

const templateDatabase = "interleavings";

export function connect(stack: Stack, database: string, role = "supabase_admin"): postgres.Sql {
  return postgres(databaseUrl(role, stack.ports.postgres, database), {
    max: 1,
    onnotice: () => {},
    fetch_types: false,
    connection: { TimeZone: "UTC", statement_timeout: 0 },
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

/** Makes the database that those of the pairs are cloned from. */
export async function makeTemplate(stack: Stack): Promise<void> {
  await clone(stack, pgtapDatabase, templateDatabase);
  await apply(stack, templateDatabase, "supabase_admin", [
    await read("harness"),
    await read("state"),
    "grant all on schema interleavings to postgres",
  ]);
  await apply(stack, templateDatabase, "postgres", [await read("world"), await read("invariant")]);
  await apply(stack, templateDatabase, "supabase_admin", [
    "grant all on all tables in schema interleavings to public",
    "grant execute on all functions in schema interleavings to public",
  ]);
}

async function clone(stack: Stack, template: string, name: string): Promise<void> {
  await drop(stack, name);
  await apply(stack, "postgres", "supabase_admin", [
    `create database "${name}" template "${template}" owner postgres strategy file_copy`,
  ]);
  // What is measured is none of the disk.
  await apply(stack, "postgres", "supabase_admin", [
    `alter database "${name}" set synchronous_commit = off`,
  ]);
}

async function drop(stack: Stack, name: string): Promise<void> {
  await apply(stack, "postgres", "supabase_admin", [
    `drop database if exists "${name}" with (force)`,
  ]);
}

export async function dropTemplate(stack: Stack): Promise<void> {
  await drop(stack, templateDatabase);
}

/** Runs operations one after the other: each stops nowhere, and what they change is noted, to be put back. */
async function rehearse(sql: postgres.Sql, sides: Side[]): Promise<void> {
  for (const side of sides) {
    await sql`select interleavings.run_alone(${side})`;
    await sql`select interleavings.collect(${side})`;
    await sql`select interleavings.dblink_disconnect(${side})`;
  }
  await sql`select interleavings.note_touched()`;
  await sql`select interleavings.check()`.catch((error) => {
    throw new Error(`Already one after the other (${sides.join(", ")}): ${error.message}`);
  });
  await sql`select interleavings.note_touched()`;
  await sql`select interleavings.write_restore()`;
  await sql`select interleavings.restore()`;
}

/** A database in which two operations are ready to run. */
export class PairDatabase implements AsyncDisposable {
  private constructor(
    private readonly stack: Stack,
    readonly name: string,
    /** Where each stops when it runs by itself: the names of its locks, and its commits. */
    readonly places: Record<Side, string[]>,
  ) {}

  static async make(
    stack: Stack,
    worker: number,
    pair: [Operation, Operation],
    faults: Fault[] = [],
  ): Promise<PairDatabase> {
    const name = `${templateDatabase}_${worker}`;
    await clone(stack, templateDatabase, name);
    const setUps = pair.filter((operation, n) => pair.indexOf(operation) === n)
      .map(({ setUp }) => setUp).filter((text) => text !== "");
    await apply(stack, name, "postgres", setUps);
    const sql = connect(stack, name);
    try {
      const rows = faults.filter(({ lock }) => lock.startsWith("row of ")).map(({ lock }) =>
        lock.slice("row of ".length)
      );
      await sql`select interleavings.cut_functions(string_to_array(${rows.join(",")}, ','))`;
      for (const [n, side] of (["a", "b"] as const).entries()) {
        await sql`insert into interleavings.sides (side, operation, statements)
          values (${side}, ${pair[n].name}, ${pair[n].statements})`;
      }
      for (const { side, lock } of faults) {
        await sql`insert into interleavings.removed (side, name) values (${side}, ${lock})`;
      }
      for (const [n, statements] of endingsOf(pair).entries()) {
        await sql`insert into interleavings.afterwards (place, statements) values (${n}, ${statements})`;
      }
      await sql`select interleavings.save()`;
      const places = { a: [] as string[], b: [] as string[] };
      for (const sides of [["a"], ["b"], ["a", "b"], ["b", "a"]] as Side[][]) {
        await rehearse(sql, sides);
        if (sides.length > 1) continue;
        const found = await sql`
          select name from interleavings.places where side = ${sides[0]} order by place`;
        places[sides[0]] = found.map((row) => row.name);
      }
      return new PairDatabase(stack, name, places);
    } finally {
      await sql.end();
    }
  }

  /** Tables that are not put back between permutations: what ran then ran on what was left of another. */
  async leftovers(): Promise<string> {
    const sql = connect(this.stack, this.name);
    try {
      await sql`select interleavings.restore()`;
      const [{ differing }] = await sql`select interleavings.differing()`;
      return differing ?? "";
    } finally {
      await sql.end();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await drop(this.stack, this.name);
  }
}
