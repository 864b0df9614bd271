// A shop that shows each customer their own logs: docs/guides/portal.md starts it.
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { env } from "node:process";

const { PORT = "3000", PORTAL_URL = "http://127.0.0.1:54321/portal.html" } = env;
const json = { "Content-Type": "application/json", "Content-Profile": "public" };
const parts = { "/": "search", "/activity": "audit" };
for (const part of ["errors", "dashboards", "alerts", "streams", "usage"]) parts[`/${part}`] = part;
const files = {
  ...Object.fromEntries(Object.keys(parts).map((path) => [path, ["./page.html", "text/html"]])),
  "/page.css": ["./page.css", "text/css"],
  "/page.js": ["./page.js", "text/javascript"],
  "/viewer.js": ["logloom/viewer", "text/javascript"],
};
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; " +
  `frame-src ${new URL(PORTAL_URL).origin}`;
const together = ["search", "exports", "errors", "dashboards", "alerts", "streams", "audit"];

const sessionFor = (customer, part) =>
  fetch(`${env.SUPABASE_URL}/rest/v1/rpc/create_log_portal_session`, {
    method: "POST",
    headers: { apikey: env.SUPABASE_SECRET_KEY, ...json },
    body: JSON.stringify({
      p_tenant_id: env.TENANT ?? "demo",
      // The part usage counts the whole tenant. Show it only if each customer has a tenant.
      p_parts: part === "usage" ? [part] : together,
      p_query_dsl: part === "usage" ? null : `@customer:${customer}`,
      p_customer: `${customer}`,
      p_origins: [`http://localhost:${PORT}`],
      p_expires_in: 900,
    }),
  }).catch((error) => Response.json({ message: error.message }, { status: 502 }));

createServer(async ({ url, method, headers }, response) => {
  // Yours knows who is signed in. The example believes ?customer=43.
  const customer = Number(/\bcustomer=(\d{1,9})\b/.exec(`${url} ${headers.cookie}`)?.[1] ?? 42);
  const [path, search] = url.split("?");
  const part = new URLSearchParams(search).get("part");
  const asked = method === "POST" && path === "/token" && await sessionFor(customer, part);
  const [file, type] = files[path] ?? [];
  const body = file && await readFile(new URL(import.meta.resolve(file)), "utf8");
  response.setHeader("Content-Type", type ?? "application/json");
  response.setHeader("Content-Security-Policy", policy);
  response.setHeader("Set-Cookie", `customer=${customer}; HttpOnly; SameSite=Strict`);
  response.writeHead(asked ? asked.status : body ? 200 : 404);
  const shown = body?.replace("PORTAL_URL", PORTAL_URL).replace("PART", parts[path]);
  response.end(asked ? await asked.text() : shown);
}).listen(Number(PORT), "localhost");
