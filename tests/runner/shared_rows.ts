import postgres from "postgres";
import type { TestStack } from "./test_stack.ts";

/** Rows that concern all tenants of a stack, as JSON by name: settings and our plans. */
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
 * Checks that a step leaves these rows unchanged, because later steps share the stack. The result lists each differing
 * row.
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
