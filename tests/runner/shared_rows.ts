import postgres from "postgres";
import type { TestStack } from "./test_stack.ts";

/** Rows that hold for every tenant of a stack, as JSON by name: settings and the plans that we ship. */
async function sharedRows({ stack }: TestStack): Promise<Map<string, string>> {
  const sql = postgres(stack.databaseUrl, { max: 1 });
  try {
    const rows = await sql<{ name: string; value: string }[]>`
      select 'settings.' || s.key as name, s.value
      from logloom_private.settings t, jsonb_each_text(to_jsonb(t)) s
      union all
      select 'plan ' || plan_id || '.' || c.key, c.value
      from logloom.plans p, jsonb_each_text(to_jsonb(p)) c
      where plan_id not like 'plan-%'`;
    return new Map(rows.map(({ name, value }) => [name, value]));
  } finally {
    await sql.end();
  }
}

/**
 * Watches that a step leaves these rows as it found them: the steps after it share the stack, and would fail for it.
 * The result tells each row that differs.
 */
export async function watchSharedRows(stack: TestStack): Promise<() => Promise<string[]>> {
  const before = await sharedRows(stack);
  return async () => {
    const after = await sharedRows(stack);
    return [...before]
      .filter(([name, value]) => after.get(name) !== value)
      .map(([name, value]) => `${name} was ${value} before this step and is ${after.get(name)}`);
  };
}
