// A shop that shows each customer their own logs: docs/guides/portal.md starts it.
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { env } from "node:process";

const { PORT = "3000", PORTAL_URL = "http://127.0.0.1:54321/portal.html" } = env;
const json = { "Content-Type": "application/json", "Content-Profile": "public" };
const parts = { "/": "search", "/errors": "errors", "/activity": "audit" };
const files = {
  ...Object.fromEntries(Object.keys(parts).map((path) => [path, ["./page.html", "text/html"]])),
  "/page.css": ["./page.css", "text/css"],
  "/page.js": ["./page.js", "text/javascript"],
  "/viewer.js": ["logloom/viewer", "text/javascript"],
};
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; " +
  `frame-src ${new URL(PORTAL_URL).origin}`;

const sessionFor = (customer) =>
  fetch(`${env.SUPABASE_URL}/rest/v1/rpc/create_log_portal_session`, {
    method: "POST",
    headers: { apikey: env.SUPABASE_SECRET_KEY, ...json },
    body: JSON.stringify({
      p_tenant_id: env.TENANT ?? "demo",
      p_query_dsl: `@customer:${customer}`,
      p_parts: ["search", "exports", "errors", "audit"],
      p_customer: `${customer}`,
      p_origins: [`http://localhost:${PORT}`],
      p_expires_in: 900,
    }),
  }).catch((error) => Response.json({ message: error.message }, { status: 502 }));

createServer(async ({ url, method, headers }, response) => {
  // Yours knows who is signed in. The example believes ?customer=43.
  const customer = Number(/\bcustomer=(\d{1,9})\b/.exec(`${url} ${headers.cookie}`)?.[1] ?? 42);
  const asked = method === "POST" && url === "/token" && await sessionFor(customer);
  const [path] = url.split("?");
  const [file, type] = files[path] ?? [];
  const body = file && await readFile(new URL(import.meta.resolve(file)), "utf8");
  response.setHeader("Content-Type", type ?? "application/json");
  response.setHeader("Content-Security-Policy", policy);
  response.setHeader("Set-Cookie", `customer=${customer}; HttpOnly; SameSite=Strict`);
  response.writeHead(asked ? asked.status : body ? 200 : 404);
  response.end(
    asked
      ? await asked.text()
      : body?.replace("PORTAL_URL", PORTAL_URL).replace("PART", parts[path]),
  );
}).listen(Number(PORT), "localhost");
