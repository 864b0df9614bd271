import { npmProgram } from "../local/system.ts";
import { checkout, stackNamed } from "../local/stack.ts";

// deno run -A types/generate.ts [DATABASE_URL]: writes types/database.ts anew, from the running dev stack unless told otherwise.

const header = "// Made by types/generate.ts from the database's own description of itself.\n\n";

/** The operations and their results as TypeScript, formatted as this repository is. */
export async function databaseTypes(databaseUrl: string): Promise<string> {
  const output = await run(npmProgram("supabase"), [
    "gen",
    "types",
    `--remote=${databaseUrl}`,
    "--schema=public",
  ]);
  // Words about the connection come first.
  const types = output.slice(output.indexOf("export type Json"));
  return header + await run(Deno.execPath(), ["fmt", "--ext=ts", "-"], types);
}

async function run(program: string, args: string[], input = ""): Promise<string> {
  const child = new Deno.Command(program, {
    args,
    cwd: checkout,
    env: { SUPABASE_TELEMETRY_DISABLED: "1", DO_NOT_TRACK: "1", NO_COLOR: "1" },
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const writer = child.stdin.getWriter();
  await writer.write(new TextEncoder().encode(input));
  await writer.close();
  const { success, stdout, stderr } = await child.output();
  const decoder = new TextDecoder();
  if (!success) throw new Error(`${program} failed: ${decoder.decode(stderr)}`);
  return decoder.decode(stdout);
}

if (import.meta.main) {
  const databaseUrl = Deno.args[0] ?? stackNamed("dev").databaseUrl;
  await Deno.writeTextFile(`${checkout}/types/database.ts`, await databaseTypes(databaseUrl));
}
