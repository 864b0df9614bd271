/** Statements that lock a table of the writer, or change its rows. */
const change =
  /\b(?:alter\s+table|drop|truncate|lock|reindex|cluster|update|delete\s+from|insert\s+into|create\s+(?:or\s+replace\s+)?(?:unique\s+)?(?:index|trigger|policy|table))\b[^;]*?\blogloom\.logs(?:_\w+)?\b/i;

const hold = /\blogloom_private\.hold_writers\(\)/;

/**
 * Returns whether a migration changes logloom.logs or a partition without holding the writers first. Under load this
 * migration would deadlock with them.
 */
export function changesLogsUnheld(migration: string): boolean {
  // Bodies of functions do not count: they run only when called.
  const statements = migration
    .replace(/--[^\n]*/g, "")
    .replace(
      /create\s+(?:or\s+replace\s+)?(?:function|procedure)\b[\s\S]*?\$(\w*)\$[\s\S]*?\$\1\$/gi,
      "",
    );
  const first = statements.search(change);
  const held = statements.search(hold);
  return first >= 0 && (held < 0 || held > first);
}
