import { createHash } from "node:crypto";
import { scopes as helpfulScopes } from "../../packages/logloom/src/cli/init/supabase_cli.ts";
import type { Shop } from "./shop_project.ts";

/**
 * Fakes the endpoints of Supabase's Management API that the Supabase CLI and `logloom init` call, for one project, by the API's OpenAPI document (packages/api/src/generated/openapi.json of github.com/supabase/cli). SQL runs in the project's database, and
 * deployed functions are served.
 */
export interface ManagementApi extends AsyncDisposable {
  /** With these variables the CLI and logloom call the fake instead of api.supabase.com. */
  env: Record<string, string>;
  auth: Record<string, unknown>;
  secrets: Map<string, string>;
  deployed: Set<string>;
  requests: string[];
  /** The scopes of the access token: at first those that init says a token needs. */
  scopes: string[];
  /** Called before each request is answered. */
  onRequest: (request: string) => void;
}

export const ref = "abcdefghijklmnopqrst";

/** The scopes (fga_permissions) that a request needs, all of them. */
const neededScopes: Record<string, string[]> = {
  "GET ": ["project_admin_read"],
  "GET /config/auth": ["auth_config_read"],
  "PATCH /config/auth": ["auth_config_write", "project_admin_write"],
  "POST /database/query": ["database_write"],
  "GET /secrets": ["edge_functions_secrets_read"],
  "POST /secrets": ["edge_functions_secrets_write"],
  "DELETE /secrets": ["edge_functions_secrets_write"],
  "GET /functions": ["edge_functions_read"],
  "PUT /functions": ["edge_functions_write"],
  "POST /functions/deploy": ["edge_functions_write"],
  "DELETE /functions/": ["edge_functions_write"],
};

export async function startManagementApi(shop: Shop): Promise<ManagementApi> {
  const token = `sbp_${"0123456789".repeat(4)}`;
  const state = {
    auth: {
      site_url: "https://shop.example.com",
      hook_custom_access_token_enabled: false,
      hook_custom_access_token_uri: null,
    } as Record<string, unknown>,
    secrets: new Map<string, string>(),
    deployed: new Set<string>(),
    requests: [] as string[],
    scopes: helpfulScopes,
    onRequest: (_request: string): void => {},
  };
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
    const url = new URL(request.url);
    const path = url.pathname.replace(`/v1/projects/${ref}`, "");
    const called = `${request.method} ${path}`;
    state.requests.push(called);
    state.onRequest(called);
    if (request.headers.get("authorization") !== `Bearer ${token}`) {
      return Response.json({ message: "Unauthorized" }, { status: 401 });
    }
    const needed = neededScopes[called.replace(/(\/functions\/)(?!deploy).*/, "$1")];
    if (needed === undefined) {
      return Response.json({ message: `${called} is not faked` }, { status: 404 });
    }
    if (!needed.every((scope) => state.scopes.includes(scope))) {
      return Response.json({ message: "Forbidden action" }, { status: 403 });
    }
    switch (called) {
      case "GET /config/auth":
        return Response.json(state.auth);
      case "PATCH /config/auth":
        Object.assign(state.auth, await request.json());
        return Response.json(state.auth);
      case "GET /secrets":
        return Response.json([...state.secrets].map(([name, value]) => ({
          name,
          value: createHash("sha256").update(value).digest("hex"),
        })));
      case "POST /secrets":
        for (const { name, value } of await request.json()) state.secrets.set(name, value);
        return new Response(null, { status: 201 });
      case "DELETE /secrets":
        for (const name of await request.json()) state.secrets.delete(name);
        return new Response(null);
      case "GET /functions":
        return Response.json([...state.deployed].map(functionOf));
      case "POST /functions/deploy": {
        await request.body?.cancel();
        const slug = url.searchParams.get("slug") ?? "";
        state.deployed.add(slug);
        return Response.json(functionOf(slug), { status: 201 });
      }
      case "PUT /functions":
        await request.body?.cancel();
        return Response.json({ functions: [...state.deployed].map(functionOf) });
      case "POST /database/query": {
        const { query } = await request.json();
        return Response.json(await shop.sqlAsPostgres.unsafe(query), { status: 201 });
      }
      case "GET ":
        return Response.json({
          id: ref,
          ref,
          organization_id: "shop",
          organization_slug: "shop",
          name: "Shop",
          region: "eu-central-1",
          created_at: "2026-01-01T00:00:00Z",
          status: "ACTIVE_HEALTHY",
          database: {
            host: `db.${ref}.supabase.co`,
            version: "17.6.1.113",
            postgres_engine: "17",
            release_channel: "ga",
          },
        });
    }
    const [, slug = ""] = /^DELETE \/functions\/(.+)$/.exec(called) ?? [];
    return new Response(null, { status: state.deployed.delete(slug) ? 200 : 404 });
  });
  const api = `http://127.0.0.1:${(server.addr as Deno.NetAddr).port}`;
  const profile = `${shop.folder}/profile.yaml`;
  const addresses = ["api_url", "dashboard_url", "docs_url"].map((name) => `${name}: ${api}\n`);
  await Deno.writeTextFile(
    profile,
    `name: fake\n${addresses.join("")}project_host: supabase.test\n`,
  );
  return Object.assign(state, {
    env: { LOGLOOM_MANAGEMENT_API: api, SUPABASE_PROFILE: profile, SUPABASE_ACCESS_TOKEN: token },
    [Symbol.asyncDispose]: () => server.shutdown(),
  });
}

function functionOf(slug: string) {
  const at = 1764403200000;
  const id = createHash("sha256").update(slug).digest("hex");
  return {
    id: id.slice(0, 32).replace(/(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-"),
    slug,
    name: slug,
    status: "ACTIVE",
    version: 1,
    created_at: at,
    updated_at: at,
    verify_jwt: false,
  };
}
