import postgres from "postgres";

/** The parts of SQL that hold text of their own, and comments. */
const parts =
  /(?:--[^\n]*|\/\*[\s\S]*?\*\/|\s+)+|([eE]'(?:[^'\\]|''|\\[\s\S])*'|'(?:[^']|'')*'|"(?:[^"]|"")*"|\$(\w*)\$[\s\S]*?\$\2\$)/g;

/** Returns SQL without its comments and with single blanks. Texts stay as they are. */
export function withoutComments(sql: string): string {
  return sql.replace(parts, (_, text: string | undefined) => text ?? " ").trim();
}

interface DefinedFunction {
  readonly signature: string;
  readonly body: string;
  readonly definition: string;
}

/**
 * Gives the functions of one database the bodies of the other where only comments differ: a new comment in a body is no
 * reason to replace a function in every project.
 */
export async function keepFormerComments(former: string, current: string): Promise<void> {
  const bodies = new Map((await functionsOf(former)).map((one) => [one.signature, one]));
  const changed = (await functionsOf(current)).flatMap(({ signature, body }) => {
    const before = bodies.get(signature);
    return before !== undefined && before.body !== body &&
        withoutComments(before.body) === withoutComments(body)
      ? [before.definition]
      : [];
  });
  const sql = postgres(current, { max: 1, onnotice: () => {} });
  try {
    await sql`set check_function_bodies = off`;
    for (const definition of changed) await sql.unsafe(definition);
  } finally {
    await sql.end();
  }
}

async function functionsOf(url: string): Promise<DefinedFunction[]> {
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  try {
    return await sql<DefinedFunction[]>`
      select
        p.oid::regprocedure::text as signature, p.prosrc as body,
        pg_get_functiondef(p.oid) as definition
      from pg_proc p
      join pg_language l on l.oid = p.prolang
      where l.lanname = 'plpgsql' and p.prokind in ('f', 'p')
        and p.pronamespace::regnamespace::text in ('public', 'logloom', 'logloom_private')
      order by 1`;
  } finally {
    await sql.end();
  }
}
