/// <reference lib="dom" />
import assert from "node:assert/strict";
import { inBrowser, type Locator, type Page } from "../console/browser.ts";
import { store, withLogs } from "../console/steps.ts";
import { changeSettings, openDatabase } from "../support/database.ts";
import { becomes, eventually, patience } from "../support/eventually.ts";
import { newUser } from "../support/users.ts";
import { browser, buildSaid, open, origin, picture, portal, sessionOf } from "./portal.ts";

// How the portal gets and loses its tokens, and which pages may send it messages.

const give = ({ page }: Awaited<ReturnType<typeof open>>, given: { token: string }) =>
  page.evaluate(
    (given) => void Object.assign(document.querySelector("logloom-viewer") ?? {}, given),
    given,
  );

/** Waits until the last event that the host got is this one. */
const isLast = (tab: Awaited<ReturnType<typeof open>>, event: unknown) =>
  becomes(event, async () => (await tab.said()).at(-1));

const refusedToken = ["error", { status: 401, message: "The token was refused." }];

inBrowser("shortly before a token expires the page gets the next one, unnoticed", async () => {
  const user = await withLogs();
  const [first, second] = [
    await sessionOf(user, { p_expires_in: 3600 }),
    await sessionOf(user, { p_expires_in: 86_400 }),
  ];
  await using tab = await open([first, second], { clock: true });
  const row = tab.row("card declined");
  await row.waitFor();
  await tab.rests();
  await row.evaluate((element) => element.setAttribute("data-same", ""));
  // The next token is requested in nine minutes. Less time than that has passed so far.
  await tab.page.clock.fastForward(3_000_000);
  assert.equal(await tab.asked(), 1);
  await tab.page.clock.fastForward(570_000);
  await eventually("the next token to be asked for", async () => await tab.asked() === 2);
  const run = async () => {
    await tab.rests();
    const before = tab.requests.length;
    await tab.frame.getByRole("button", { name: "Run", exact: true }).click();
    return await eventually(
      "a search",
      () =>
        Promise.resolve(tab.requests.slice(before).find(({ url }) => url.endsWith("/search_logs"))),
    );
  };
  await eventually(
    "a search with the second token",
    async () => (await run()).headers.authorization === `Bearer ${second.token}`,
  );
  await eventually("a use of the second token", async () => {
    const sessions = await user.client.call("list_log_portal_sessions", {});
    return sessions.find(({ session_id }) => session_id === second.id)?.first_used_at;
  });
  assert.equal((await run()).headers.authorization, `Bearer ${second.token}`);
  assert.equal(await tab.asked(), 2);
  assert.equal(await tab.frame.locator("[data-same]").count(), 1, "the view did not begin anew");
});

inBrowser(
  "an expired or revoked token is replaced; a view without a token has no records",
  async () => {
    const user = await withLogs();
    const [first, second, third] = [
      await sessionOf(user),
      await sessionOf(user),
      await sessionOf(user),
    ];
    await using tab = await open([first.token, second.token, third.token], {
      expected: /status of 401/,
    });
    const { frame } = tab;
    const row = tab.row("card declined");
    const run = () => frame.getByRole("button", { name: "Run", exact: true }).click();
    await row.waitFor();
    await using db = openDatabase();
    await db`update logloom.portal_sessions set expires_at = now() where session_id = ${first.id}`;
    await run();
    await eventually("a second token", async () => await tab.asked() === 2);
    await row.waitFor();
    await user.client.call("revoke_log_portal_session", { p_session_id: second.id });
    await run();
    await eventually("a third token", async () => await tab.asked() === 3);
    await row.waitFor();
    await user.client.call("revoke_log_portal_session", { p_session_id: third.id });
    await runUntil(frame, frame.getByText("This view has ended"));
    await isLast(tab, refusedToken);
    assert.equal(await frame.getByText("card declined").count(), 0);
    assert.deepEqual(await tab.faultsWithin(), []);
    await picture(tab.page, "ended");
  },
);

inBrowser("a revoked token is noticed within a minute, even if nobody does anything", async () => {
  const user = await withLogs();
  const { id, token } = await sessionOf(user);
  await using tab = await open(token, { expected: /status of 401/, clock: true });
  await tab.row("card declined").waitFor();
  await tab.frame.locator(".histogram canvas").first().waitFor();
  await user.client.call("revoke_log_portal_session", { p_session_id: id });
  await tab.page.clock.fastForward(59_000);
  await tab.frame.getByText("This view has ended").waitFor();
  await isLast(tab, refusedToken);
  assert.equal(await tab.frame.getByText("card declined").count(), 0);
});

inBrowser("a host that gives no token gets an error, and may give one later", async () => {
  const user = await withLogs();
  const { token } = await sessionOf(user);
  await using tab = await open([{ token: "" }, token], { clock: true });
  const errors = async () => (await tab.said()).filter(([name]) => name === "error");
  await tab.frame.getByRole("status", { name: "Loading" }).waitFor();
  await eventually("the error", async () => (await errors()).length > 0);
  const none = ["error", { status: 0, message: "getToken failed: it gave no token" }];
  assert.deepEqual(await errors(), [none]);
  await tab.page.clock.fastForward(20_000);
  await tab.frame.getByText("This view did not open").waitFor();
  assert.deepEqual(await errors(), [none, ["error", {
    status: 401,
    message: "The page sent no token.",
  }]]);
  await tab.frame.getByRole("button", { name: "Open it again" }).click();
  await tab.row("card declined").waitFor();
  // After the element is removed from the page, it asks for no token.
  const asked = await tab.asked();
  await tab.page.evaluate(() => document.querySelector("logloom-viewer")?.remove());
  await tab.page.clock.fastForward(3_600_000);
  assert.equal(await tab.asked(), asked);
});

inBrowser("a call that never answers is made again, and a flood causes few calls", async () => {
  const { token } = await sessionOf(await withLogs());
  await using tab = await open("", {
    clock: true,
    expected: /status of 401/,
    prepare: (page) =>
      page.addInitScript((token) => {
        const page = globalThis as unknown as { calls: number; nextToken: unknown };
        page.calls = 0;
        // Only the second call gives a good token.
        page.nextToken = () => {
          page.calls += 1;
          return page.calls === 1
            ? new Promise(() => {})
            : token + (page.calls > 2 ? page.calls : "");
        };
      }, token),
  });
  const calls = () => tab.page.evaluate("calls");
  await becomes(1, calls);
  await tab.page.clock.fastForward(11_000);
  await tab.frame.getByRole("button", { name: "Open it again" }).click();
  await becomes(2, calls);
  await tab.row("card declined").waitFor();
  await tab.inner().evaluate((nonce) => {
    for (let turn = 0; turn < 50; turn++) {
      parent.postMessage({ logloom: "token-needed", nonce }, "*");
    }
  }, await tab.page.evaluate<string>("heard[0][1].nonce"));
  await eventually("the flood", async () => await tab.asked() >= 52);
  assert.ok(Number(await calls()) <= 12);
});

inBrowser("with the token of another customer no record of the previous one is shown", async () => {
  const [ann, bob] = [await withLogs(), await newUser()];
  await store(bob, [{ msg: "of bob" }]);
  await using tab = await open((await sessionOf(ann)).token);
  await tab.row("card declined").waitFor();
  await give(tab, { token: (await sessionOf(bob)).token });
  await tab.row("of bob").waitFor();
  assert.equal(await tab.frame.getByText("card declined").count(), 0);
});

inBrowser("nor with a token that is set while getToken is under way", async () => {
  const [ann, bob] = [await withLogs(), await newUser()];
  await store(bob, [{ msg: "of bob" }]);
  const { token, expires_at } = await sessionOf(ann, { p_expires_in: 180 });
  await using tab = await open([{ token, expires_at }], { clock: true });
  await tab.row("card declined").waitFor();
  await tab.page.evaluate(() => {
    const getToken = () => new Promise(() => {});
    Object.assign(document.querySelector("logloom-viewer") ?? {}, { getToken });
  });
  await tab.page.clock.fastForward(130_000);
  await eventually("the next token to be asked for", async () => await tab.asked() === 2);
  await give(tab, { token: (await sessionOf(bob)).token });
  await tab.row("of bob").waitFor();
  assert.equal(await tab.frame.getByText("card declined").count(), 0);
});

inBrowser(
  "a session works only in pages of its origins; elsewhere the host gets an error",
  async () => {
    const user = await withLogs();
    const { token } = await sessionOf(user, { p_origins: ["https://other.example"] });
    await using tab = await open(token, { expected: /status of 403/ });
    const message = `This session is not for pages of ${origin}`;
    await tab.frame.getByText(message).first().waitFor();
    assert.equal(await tab.frame.getByText("card declined").count(), 0);
    await isLast(tab, ["error", { status: 403, message }]);
  },
);

inBrowser("a link shows the logs once, and its code is in no address of a request", async () => {
  const user = await withLogs();
  await using db = openDatabase();
  await using _portal = await changeSettings(db, { portal_url: portal });
  const { session_id, url } = await user.client.call("create_log_portal_session", { p_link: true });
  assert.ok(url);
  const context = await browser.newContext();
  try {
    const page = await context.newPage();
    page.setDefaultTimeout(patience);
    const addresses: string[] = [];
    page.on("request", (request) => addresses.push(request.url()));
    await page.goto(url);
    await page.getByRole("row").filter({ hasText: "card declined" }).first().waitFor();
    assert.equal(page.url().split("#")[0], portal);
    assert.doesNotMatch(page.url(), /llc_/);
    assert.ok(!addresses.some((address) => /ll[cp]_/.test(address.split("#")[0])));
    await user.client.call("revoke_log_portal_session", { p_session_id: session_id });
    await runUntil(page, page.getByText("Ask for a new link."));
    assert.equal(await page.getByText("card declined").count(), 0);
    assert.equal(await page.getByRole("button").count(), 0);
    await page.goto("about:blank");
    await page.goto(url);
    await page.getByText("This link has been used, or is too old.").waitFor();
    await page.goto("about:blank");
    await page.goto(portal);
    await page.getByText("This page works only inside another page").waitFor();
  } finally {
    await context.close();
  }
});

Deno.test("the build says what nginx and Caddy have to send", async () => {
  const headers = await (await fetch(portal)).headers.get("content-security-policy");
  assert.match(headers ?? "", new RegExp(`frame-ancestors ${origin} https://other.example`));
  assert.ok(buildSaid.includes(`add_header Content-Security-Policy "${headers}";`), buildSaid);
  assert.ok(buildSaid.includes(`    Content-Security-Policy "${headers}"\n`), buildSaid);
});

/** Presses Run and waits for the end of the session, which a request that is still under way may meet first. */
async function runUntil(page: Pick<Page, "getByRole">, end: Locator): Promise<void> {
  await Promise.any([
    page.getByRole("button", { name: "Run", exact: true }).click(),
    end.waitFor(),
  ]);
  await end.waitFor();
}
