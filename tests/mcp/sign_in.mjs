import { Buffer } from "node:buffer";
import { createServer, request as send } from "node:http";
import Provider from "oidc-provider";

/**
 * A project with oidc-provider as its authorization server, at the path /auth/v1 like Supabase's. Users are signed in and
 * consent automatically. Tokens are like Supabase's, signed with the stack's secret.
 *
 * @param {{ gateway: string, secret: string, claims: Record<string, string> }} options
 * @returns {Promise<{ url: string, asked: string[], close(): Promise<void> }>}
 */
export async function projectWithSignIn({ gateway, secret, claims }) {
  /** @type {string[]} */
  const asked = [];
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? "/", url);
    asked.push(`${request.method} ${pathname}`);
    const below = belowServer(request.url ?? "/");
    if (below === undefined) {
      forward(gateway, request, response);
    } else if (below.startsWith("/interaction/")) {
      const said = { login: { accountId: claims.sub }, consent: {} };
      provider.interactionFinished(request, response, said);
    } else {
      Object.assign(request, { originalUrl: `/auth/v1${below}`, url: below });
      provider.callback()(request, response);
    }
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(undefined)));
  const address = server.address();
  const url = `http://127.0.0.1:${address !== null && typeof address === "object" && address.port}`;
  const scope = "email";
  const provider = new Provider(`${url}/auth/v1`, {
    clientAuthMethods: ["none"],
    cookies: { keys: ["of a test"] },
    findAccount: (_context, sub) => ({ accountId: sub, claims: () => ({ sub }) }),
    extraTokenClaims: () => claims,
    interactions: { url: (_context, { uid }) => `/auth/v1/interaction/${uid}` },
    async loadExistingGrant({ oidc }) {
      const grant = new oidc.provider.Grant({
        clientId: oidc.client.clientId,
        accountId: oidc.session.accountId,
      });
      grant.addOIDCScope("openid offline_access");
      grant.addResourceScope(`${url}/functions/v1/logloom-read/mcp`, scope);
      await grant.save();
      return grant;
    },
    issueRefreshToken: () => true,
    features: {
      devInteractions: { enabled: false },
      registration: { enabled: true },
      resourceIndicators: {
        enabled: true,
        useGrantedResource: () => true,
        getResourceServerInfo: () => ({
          scope,
          audience: "authenticated",
          accessTokenTTL: 3600,
          accessTokenFormat: "jwt",
          jwt: { sign: { alg: "HS256", key: Buffer.from(secret) } },
        }),
      },
    },
  });
  return {
    url,
    asked,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve(undefined));
        server.closeAllConnections();
      }),
  };
}

/**
 * The path at the authorization server, whose metadata clients look for in front of its own path.
 *
 * @param {string} path
 */
function belowServer(path) {
  const metadata = "/.well-known/oauth-authorization-server";
  if (path === `${metadata}/auth/v1`) return metadata;
  return path.startsWith("/auth/v1/") ? path.slice("/auth/v1".length) : undefined;
}

/** Forwards a request with the client's host name, like a project's gateway. */
function forward(gateway, request, response) {
  const { method, headers } = request;
  const handed = send(new URL(request.url, gateway), { method, headers }, (answer) => {
    response.writeHead(answer.statusCode, answer.headers);
    answer.pipe(response);
  });
  handed.on("error", () => response.destroy());
  request.pipe(handed);
}
