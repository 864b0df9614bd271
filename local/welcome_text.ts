import { demoTenant } from "./demo_tenant.ts";
import type { State } from "./stack_state.ts";

/** Tells you what is running and what to try first. */
export function welcome(state: State): void {
  const { url, anonKey, databaseUrl, logs, demo, hasConsole, warnings } = state;
  const strong = (text: string) => Deno.stdout.isTerminal() ? `\x1b[1m${text}\x1b[0m` : text;
  console.log(`
${strong("Logloom is running")}

  API        ${url}
  Anon key   ${anonKey}
  Database   ${databaseUrl}
  Logs       ${logs}
`);
  if (demo) {
    const { apiKey, userTokens: [first, second] } = demo;
    if (hasConsole) {
      console.log(`${strong("Console, signed in as user 1")}

  ${url}/#token=${first}
`);
    }
    console.log(`${strong(`Tenant ${demoTenant}`)}

  API key    ${apiKey}
  User 1     ${first}
  User 2     ${second}

${strong("Try it: send an event, list the API keys")}

curl ${url}/functions/v1/ingest -H 'X-API-Key: ${apiKey}' --json '{"level":"info","msg":"hello"}'

curl ${url}/rest/v1/rpc/list_api_keys -H 'Authorization: Bearer ${first}' --json '{}'
`);
  }
  for (const warning of warnings) console.log(`${strong("Note:")} ${warning}\n`);
}
