import { demo, demoTenant } from "./demo.ts";
import type { Stack } from "./stack.ts";

/** Tells a person what there is now and what to try first. */
export async function welcome(stack: Stack): Promise<void> {
  const { apiKey, userTokens: [first, second] } = await demo(stack);
  const heading = (text: string) => Deno.stdout.isTerminal() ? `\x1b[1m${text}\x1b[0m` : text;
  console.log(`
${heading("Logloom is running")}

  API        ${stack.url}
  Database   ${stack.databaseUrl}
  Logs       ${stack.folder}/logs

${heading(`Tenant ${demoTenant}`)}

  API key    ${apiKey}
  User 1     ${first}
  User 2     ${second}

${heading("Try it: send an event, then list the API keys")}

curl -s ${stack.url}/functions/v1/ingest -H 'X-API-Key: ${apiKey}' --json '{"level":"info","msg":"hello"}'

curl -s ${stack.url}/rest/v1/rpc/list_api_keys -H 'Authorization: Bearer ${first}' --json '{}'
`);
}
