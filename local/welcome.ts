import { userToken } from "./keys.ts";
import type { Stack } from "./stack.ts";

export const demoTenant = "demo";
export const demoUsers = [
  "11111111-1111-4111-8111-111111111111",
  "22222222-2222-4222-8222-222222222222",
];

/** Tells a person what there is now and what to try first. */
export async function welcome(stack: Stack): Promise<void> {
  const [first, second] = demoUsers.map((user) => userToken(user, demoTenant));
  await Promise.resolve();
  console.log(`
Logloom runs at ${stack.url}  (Postgres: ${stack.databaseUrl})

User 1   ${first}
User 2   ${second}
`);
}
