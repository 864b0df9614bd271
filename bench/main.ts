import { Failure } from "../local/exit_on_failure.ts";

/** A benchmark is bench/<name>.ts that exports `run(args)`. */
const names = [
  "alerts",
  "archive",
  "console",
  "footprint",
  "ingest",
  "read",
  "scale",
  "sealed",
  "search",
];

const [name, ...args] = Deno.args;
if (!names.includes(name)) {
  console.error(`Usage: npm run bench -- ${names.join("|")} [options]`);
  Deno.exit(2);
}
try {
  const benchmark = await import(`./${name}.ts`);
  await benchmark.run(args);
  Deno.exit(0);
} catch (error) {
  if (!(error instanceof Failure)) throw error;
  console.error(error.message);
  Deno.exit(1);
}
