// supabase/functions/checkout/index.ts; the key is a secret of the project:
//   npx supabase secrets set LOGLOOM_API_KEY=ll_…
import { createLogger, logged } from "../_shared/logloom.js";

const log = createLogger({
  url: Deno.env.get("SUPABASE_URL"),
  key: Deno.env.get("LOGLOOM_API_KEY"),
  service: "checkout",
  env: "prod",
});

// The answer does not wait for the log: EdgeRuntime.waitUntil keeps the function alive until it is sent.
Deno.serve(logged(log, async (request) => {
  const { order } = await request.json();
  log.info("order placed", { order });
  return Response.json({ order, state: "placed" });
}));
