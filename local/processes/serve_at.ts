// Loaded before a function, because hosted functions do not choose the address of Deno.serve.
const hostname = "127.0.0.1";
const port = Number(Deno.env.get("LOGLOOM_FUNCTION_PORT"));
const serve = Deno.serve;

Deno.serve = ((handler: Deno.ServeHandler) => serve({ hostname, port }, handler)) as typeof serve;
