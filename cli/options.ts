import { Failure } from "../local/exit_on_failure.ts";

/** Options that npm has too. A user may have set them in an .npmrc. */
const ofNpm = new Set(["help", "json", "key", "url", "user", "role", "yes", "force", "env"]);

/**
 * Stops if npm has taken options of a script, which happens without `--`. npm then passes them as npm_config_…, and the
 * command would do something else than the user asked.
 */
export function refuseTaken(names: readonly string[]): void {
  const variable = "npm_lifecycle_event";
  // A shipper beside a stack may only read its own variables.
  if (Deno.permissions.querySync({ name: "env", variable }).state !== "granted") return;
  const script = Deno.env.get(variable);
  if (script === undefined) return;
  for (const name of names) {
    if (ofNpm.has(name)) continue;
    if (Deno.env.get(`npm_config_${name.replaceAll("-", "_")}`) === undefined) continue;
    throw new Failure(
      `npm took --${name} for itself: write npm run ${script} -- --${name} …, with -- before it.`,
    );
  }
}
