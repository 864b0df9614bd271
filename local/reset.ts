import { removeCluster } from "./database.ts";
import { removeIfThere } from "./files.ts";
import { run } from "./exit_on_failure.ts";
import { readOptions } from "./options.ts";
import { stop } from "./stop.ts";
import { findSystem } from "./system.ts";

await run(async () => {
  const { stack } = readOptions([]);
  await stop(stack);
  const system = await findSystem();
  if (system) await removeCluster(system, stack);
  await removeIfThere(stack.folder);
  console.log("All data of the local stack is deleted. The next npm start begins empty.");
});
