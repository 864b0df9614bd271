/** Everything new in public is everyone's: as projects had it until 30 October 2026, and some still have it. */
export const grantsUntilOctober2026 = ["tables", "functions", "sequences"].map((kind) =>
  `alter default privileges for role postgres in schema public
   grant all on ${kind} to anon, authenticated, service_role;`
).join("\n");
