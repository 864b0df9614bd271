import { parseArgs } from "node:util";

/** npm run chaos -- --kills N: runs the test step chaos with N kills and cuts. */
const { values } = parseArgs({ options: { kills: { type: "string", default: "20" } } });
Deno.env.set("LOGLOOM_CHAOS_KILLS", `${Number(values.kills)}`);
const { code } = await new Deno.Command(Deno.execPath(), {
  args: ["run", "--allow-all", new URL("../run.ts", import.meta.url).pathname, "chaos"],
}).spawn().status;
Deno.exit(code);
