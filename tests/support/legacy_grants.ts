/** The default privileges of projects before 30 October 2026: everything new in public is open to all roles. */
export const grantsUntilOctober2026 = ["tables", "functions", "sequences"].map((kind) =>
  `alter default privileges for role postgres in schema public
   grant all on ${kind} to anon, authenticated, service_role;`
).join("\n");
