/// <reference lib="dom" />
import assert from "node:assert/strict";
import { changeSettings, openDatabase } from "../../support/database.ts";
import { stack } from "../../support/stack.ts";
import { userToken } from "../../support/tokens.ts";
import { inBrowser, openBrowser, type Page } from "../browser.ts";

// No Auth server runs here: its answers are recorded from Supabase Auth. The service answers itself.

const browser = await openBrowser();
globalThis.addEventListener("unload", () => void browser[Symbol.asyncDispose]());

const email = "ada@example.com";

interface Auth {
  tenantId?: string;
  userId?: string;
  /** Seconds that the first access token lasts. */
  lasts?: number;
  refuses?: "password" | "refresh";
  asked: string[];
}

/** The tenant that the access-token hook would put into a new token. */
async function tenantOf(user: string): Promise<string | undefined> {
  await using db = openDatabase();
  const [hook] = await db`
    select logloom_private.custom_access_token_hook(
      jsonb_build_object('user_id', ${user}::text, 'claims', '{}'::jsonb)
    ) #>> '{claims,tenant_id}' as tenant_id`;
  return hook.tenant_id ?? undefined;
}

/** A session in the format of `POST /auth/v1/token`. */
async function session(auth: Auth, lasts = 3600) {
  const id = auth.userId ?? "5e1f8a44-8f0d-4b77-9a4a-2b4dfb4ad5d1";
  const now = Math.floor(Date.now() / 1000);
  return {
    access_token: await userToken({
      sub: id,
      email,
      tenant_id: auth.tenantId ?? await tenantOf(id),
      exp: now + lasts,
      session: crypto.randomUUID(),
    }),
    token_type: "bearer",
    expires_in: 3600,
    // The client believes this and does not read the token.
    expires_at: now + 3600,
    refresh_token: crypto.randomUUID().slice(0, 12),
    user: {
      id,
      aud: "authenticated",
      role: "authenticated",
      email,
      email_confirmed_at: "2026-11-21T12:00:00.000000Z",
      app_metadata: { provider: "email", providers: ["email"] },
      user_metadata: {},
      identities: [],
      created_at: "2026-11-21T12:00:00.000000Z",
      updated_at: "2026-11-21T12:00:00.000000Z",
      is_anonymous: false,
    },
  };
}

function withAuth(auth: Auth) {
  return async (page: Page) => {
    await page.route("**/config.json", (route) =>
      route.fulfill({
        json: { url: stack.url, key: stack.anonKey, auth: "supabase", providers: ["github"] },
      }));
    await page.route("**/auth/v1/**", async (route) => {
      const url = new URL(route.request().url());
      const grant = url.searchParams.get("grant_type");
      auth.asked.push(`${url.pathname.replace("/auth/v1", "")}${grant ? ` ${grant}` : ""}`);
      if (url.pathname.endsWith("/authorize")) {
        assert.equal(url.searchParams.get("code_challenge_method"), "s256");
        const back = url.searchParams.get("redirect_to");
        return await route.fulfill({
          status: 302,
          headers: { location: `${back}?code=from-github` },
        });
      }
      if (url.pathname.endsWith("/otp")) return await route.fulfill({ json: {} });
      if (url.pathname.endsWith("/logout")) return await route.fulfill({ status: 204 });
      if (grant === "password" && auth.refuses === "password") {
        return await route.fulfill({
          status: 400,
          json: { code: 400, error_code: "invalid_credentials", msg: "Invalid login credentials" },
        });
      }
      if (grant === "refresh_token" && auth.refuses === "refresh") {
        return await route.fulfill({
          status: 400,
          json: {
            code: 400,
            error_code: "refresh_token_not_found",
            msg: "Invalid Refresh Token: Refresh Token Not Found",
          },
        });
      }
      const lasts = grant === "refresh_token" ? 3600 : auth.lasts;
      return await route.fulfill({ json: await session(auth, lasts) });
    });
  };
}

async function byPassword(page: Page): Promise<void> {
  await page.getByLabel("Email").fill(email);
  await page.getByLabel("Password").fill("correct horse");
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
}

function signInTest(
  name: string,
  auth: Omit<Auth, "asked">,
  expected: RegExp,
  fn: (page: Page, asked: string[]) => Promise<void>,
) {
  inBrowser(name, async () => {
    const asked: string[] = [];
    const prepare = withAuth({ ...auth, asked });
    await using tab = await browser.open(null, { prepare, expected });
    await fn(tab.page, asked);
  });
}

const tenantId = `tenant-${crypto.randomUUID()}`;
const nothing = /^$/;

signInTest("by a password, and out again", { tenantId }, nothing, async (page, asked) => {
  await byPassword(page);
  await page.getByText("Send the first event").waitFor();
  await page.reload();
  await page.getByText("Send the first event").waitFor();
  assert.deepEqual(asked, ["/token password"]);
  await page.getByRole("button", { name: "User and display" }).click();
  await page.getByText(email).waitFor();
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByLabel("Password").waitFor();
});

signInTest(
  "a wrong password shows Auth's error",
  { tenantId, refuses: "password" },
  /status (of )?400/,
  async (page) => {
    await byPassword(page);
    await page.getByRole("alert").getByText("Invalid login credentials").waitFor();
  },
);

signInTest("by a link that comes by mail", { tenantId }, nothing, async (page, asked) => {
  await page.getByLabel("Email").fill(email);
  await page.getByRole("button", { name: "Send me a link instead" }).click();
  await page.getByText("Check your email").waitFor();
  await page.goto(`${stack.url}/?code=from-mail`);
  await page.getByText("Send the first event").waitFor();
  assert.deepEqual(asked, ["/otp", "/token pkce"]);
  assert.equal(new URL(page.url()).search, "", "the code leaves the address");
});

signInTest("by a provider, and back", { tenantId }, nothing, async (page, asked) => {
  await page.getByRole("button", { name: "Continue with github" }).click();
  await page.getByText("Send the first event").waitFor();
  assert.deepEqual(asked, ["/authorize", "/token pkce"]);
});

signInTest(
  "a refused token is refreshed without a note",
  { tenantId, lasts: -60 },
  /status (of )?401/,
  async (page, asked) => {
    await byPassword(page);
    await page.getByText("Send the first event").waitFor();
    assert.ok(asked.includes("/token refresh_token"), asked.join());
  },
);

signInTest(
  "without a refresh the session ends and says so",
  { tenantId, lasts: -60, refuses: "refresh" },
  /status (of )?40[01]/,
  async (page) => {
    await byPassword(page);
    await page.getByText("Your session has ended.").waitFor();
  },
);

signInTest("a token without a tenant gets a page of its own", {}, nothing, async (page) => {
  await byPassword(page);
  await page.getByText("You belong to no tenant yet").waitFor();
});

const founder = crypto.randomUUID();

signInTest(
  "a user without a tenant creates one, if the project allows it",
  { userId: founder },
  /status (of )?40[03]/,
  async (page, asked) => {
    await using db = openDatabase();
    await byPassword(page);
    const name = page.getByLabel(/Create your own tenant/);
    const make = page.getByRole("button", { name: "Create the tenant" });
    await name.fill(`acme-${founder}`);
    await using not = await changeSettings(db, { tenants_by_users: false });
    await make.click();
    await page.getByRole("alert").getByText("Users cannot create tenants here").waitFor();
    await not[Symbol.asyncDispose]();

    await using _allowed = await changeSettings(db, { tenants_by_users: true });
    await make.click();
    await page.getByText("Send the first event").waitFor();
    await page.getByTitle(`Tenant acme-${founder}`).waitFor();
    assert.deepEqual(asked, ["/token password", "/token refresh_token"]);
    assert.equal(await tenantOf(founder), `acme-${founder}`);
  },
);

const traveller = crypto.randomUUID();

signInTest(
  "a user of two tenants switches, and the next token names the other tenant",
  { userId: traveller },
  nothing,
  async (page, asked) => {
    await using db = openDatabase();
    const [here, there] = [`a-${traveller}`, `b-${traveller}`];
    for (const tenant of [here, there]) {
      await db`insert into logloom.tenants (tenant_id, plan_id) values (${tenant}, 'free')`;
      await db`
        insert into logloom.tenant_members (tenant_id, user_id, role)
        values (${tenant}, ${traveller}, 'owner')`;
    }
    await byPassword(page);
    await page.getByTitle(`Tenant ${here}`).click();
    await page.getByRole("button", { name: here, disabled: true }).last().waitFor();
    await page.getByRole("button", { name: there }).click();
    await page.getByTitle(`Tenant ${there}`).waitFor();
    assert.deepEqual(asked, ["/token password", "/token refresh_token"]);

    // Switches back with the command palette.
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: "Go to" }).fill(here);
    await page.getByRole("option", { name: `${here} Switch tenant` }).waitFor();
    await page.keyboard.press("Enter");
    await page.getByTitle(`Tenant ${here}`).waitFor();
  },
);
