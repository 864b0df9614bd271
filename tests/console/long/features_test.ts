/// <reference lib="dom" />
import assert from "node:assert/strict";
import { eventually } from "../../support/eventually.ts";
import { newUser } from "../../support/users.ts";
import { accessibilityFaults, inBrowser, openBrowser } from "../browser.ts";
import { boxOf, boxText, completions, isSeen, search, store, withLogs } from "../steps.ts";

const browser = await openBrowser();
globalThis.addEventListener("unload", () => void browser[Symbol.asyncDispose]());

const at = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString();

inBrowser(
  "the record panel shows arrays of objects, JSON in the message, a folded stack and the request",
  async () => {
    const user = await newUser();
    const stack = [
      "Error: no connection",
      "    at connect (node:net:1:1)",
      "    at Pool.get (/app/node_modules/pg/pool.js:2:3)",
      "    at pay (/app/src/pay.ts:4:5)",
      "    at run (/app/node_modules/x/run.js:6:7)",
    ].join("\n");
    await store(user, [
      { ts: at(6), level: "info", service: "web", msg: "begun", req_id: "r-1" },
      {
        ts: at(5),
        level: "info",
        service: "web",
        msg: 'order {"id": 7, "lines": [{"sku": "a-1"}]}',
        req_id: "r-1",
        attrs: { items: [{ sku: "b-2", price: 3 }] },
      },
      { ts: at(4), level: "error", service: "pay", msg: stack, req_id: "r-1" },
      { ts: at(3), level: "info", service: "web", msg: "another", req_id: "r-2" },
    ]);
    await using tab = await browser.open(user.token, { width: 1440, height: 900 });
    const { page } = tab;
    const row = (text: string) => page.getByRole("row").filter({ hasText: text }).first();
    const panel = page.getByRole("complementary", { name: "Record" });
    await row("order").click();
    await panel.locator(".message-json").getByText("a-1").waitFor();
    await panel.getByRole("button", { name: "Only attrs.items.sku = this" }).waitFor();
    const line = panel.getByRole("region", { name: "The same req_id" });
    await line.getByText("3 records").waitFor();
    assert.equal(await line.getByRole("listitem").count(), 3);
    assert.equal(await line.getByText("another").count(), 0);
    assert.deepEqual(await accessibilityFaults(page), []);

    // At full width the trace has a lane for each service, with errors and gaps.
    await line.getByRole("button", { name: "Show the trace" }).click();
    const trace = page.getByRole("dialog", { name: "The same req_id" });
    await trace.locator(".trace-service").nth(1).waitFor();
    assert.deepEqual(
      (await trace.locator(".trace-service").allInnerTexts()).map((text) => text.split(/\s+/)),
      [["web"], ["pay", "1", "error"]],
    );
    assert.equal(await trace.getByText("nothing for 60 sec").count(), 2);
    assert.deepEqual(await accessibilityFaults(page), []);
    await page.keyboard.press("Escape");
    await trace.waitFor({ state: "detached" });

    // The time line opens another record. Of its stack, the frame of our own code is shown first.
    await line.getByRole("button").filter({ hasText: "no connection" }).click();
    await panel.locator(".frame.own").getByText("/app/src/pay.ts").waitFor();
    assert.equal(await panel.locator(".stack").getByText("node_modules/pg").count(), 0);
    await panel.getByRole("button", { name: "All frames (4)" }).click();
    await panel.locator(".stack").getByText("node_modules/pg").waitFor();
    const link = await page.evaluate(() => location.hash);
    await page.keyboard.press("Escape");
    await panel.waitFor({ state: "detached" });

    await using other = await browser.open(user.token, { hash: link });
    await other.page.getByRole("complementary", { name: "Record" })
      .getByText("no connection").first().waitFor();
  },
);

inBrowser("a saved search keeps its range, columns and tab", async () => {
  const user = await withLogs();
  await using tab = await browser.open(user.token, {
    hash: "q=service:api&from=now-6h&cols=attrs.status&tab=patterns",
  });
  const { page } = tab;
  await page.getByRole("tab", { name: "Patterns", selected: true }).waitFor();
  await page.getByRole("button", { name: "Save this search" }).click();
  await page.getByLabel("Name", { exact: true }).fill("API shapes");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await page.evaluate(() => {
    location.hash = "/saved";
  });
  await page.getByRole("button", { name: "API shapes", exact: true }).click();
  await page.waitForFunction(() => location.hash.includes("service:api"));
  assert.equal(
    await page.evaluate(() => decodeURIComponent(location.hash)),
    "#q=service:api&from=now-6h&cols=attrs.status&tab=patterns",
  );
  await eventually(
    "the title",
    async () => await page.title() === "service:api · Last 6 hours · Logloom",
  );
});

inBrowser(
  "a search becomes a dashboard panel, and the dashboard is shared by its link",
  async () => {
    const user = await withLogs();
    const colleague = await newUser(user.tenantId);
    await using tab = await browser.open(user.token, { hash: "q=%7C+count()+by+service" });
    const { page } = tab;
    await user.client.call("create_log_dashboard", { p_name: "taken" });
    await page.getByRole("button", { name: "Add to a dashboard" }).click();
    await page.getByLabel("Title").fill("By service");
    await page.getByLabel("Name of the dashboard").fill("Taken");
    await page.getByText("You already have a dashboard of this name").waitFor();
    await page.getByLabel("Name of the dashboard").fill("Shop");
    await page.getByRole("button", { name: "Add", exact: true }).click();
    await page.getByRole("heading", { name: "Shop" }).waitFor();
    const panel = page.getByRole("region", { name: "By service" });
    await panel.locator(".u-over").waitFor();

    await page.getByRole("button", { name: "New panel" }).click();
    await page.getByLabel("Title").fill("Errors");
    await page.getByRole("dialog").getByLabel("Query").fill("level:error | count()");
    await page.getByLabel("Shown as").selectOption("number");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    const number = page.getByRole("region", { name: "Errors" });
    await number.locator(".panel-number").getByText("2", { exact: true }).waitFor();
    await page.getByRole("button", { name: /^Move Errors/ }).press("ArrowLeft");
    await eventually("it is moved", async () => {
      const dashboards = await user.client.call("list_log_dashboards", {});
      return dashboards.find(({ name }) => name === "Shop")?.panels.map(({ title }) => title)
        .join() === "Errors,By service";
    });
    // A variable has the values of its field, and its choice is in the address.
    await page.getByRole("button", { name: "Change: Errors" }).click();
    await page.getByRole("dialog").getByLabel("Query").fill("level:error service:$shop | count()");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByRole("combobox", { name: "$shop" }).selectOption("shop");
    await number.locator(".panel-number").getByText("1", { exact: true }).waitFor();
    assert.match(await page.evaluate(() => location.hash), /var-shop=shop/);
    await page.getByRole("combobox", { name: "$shop" }).selectOption("");
    // A drag moves it back, and a removed panel can be restored.
    const titles = () => page.locator(".panel h2").allInnerTexts();
    await page.getByRole("button", { name: /^Move Errors/ }).dragTo(panel);
    await eventually("it is dragged", async () => (await titles()).join() === "By service,Errors");
    await page.getByRole("button", { name: "Remove: By service" }).click();
    await panel.waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Undo" }).click();
    await eventually("it is back", async () => (await titles()).join() === "By service,Errors");
    await page.getByRole("button", { name: "Name and sharing" }).click();
    await page.getByLabel(/Everyone in this tenant/).check();
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await page.getByRole("button", { name: /Range:/ }).click();
    await page.getByRole("button", { name: "Last 6 hours" }).click();
    await number.locator(".panel-number").getByText("2", { exact: true }).waitFor();
    assert.deepEqual(await accessibilityFaults(page), []);
    assert.equal(await page.title(), "Shop · Logloom");

    const link = await page.evaluate(() => location.hash);
    await using other = await browser.open(colleague.token, { hash: link });
    await other.page.getByRole("region", { name: "Errors" }).locator(".panel-number")
      .getByText("2", { exact: true }).waitFor();
    assert.equal(await other.page.getByRole("button", { name: "New panel" }).count(), 0);

    await store(user, [{ level: "error", service: "api", msg: "once more" }]);
    await other.page.keyboard.press("r");
    await other.page.getByRole("region", { name: "Errors" }).locator(".panel-number")
      .getByText("3", { exact: true }).waitFor();
  },
);

inBrowser("two tabs change a dashboard, and the changes of both are kept", async () => {
  const user = await withLogs();
  const panelOf = (title: string) => ({ title, query_dsl: "| count()", kind: "number", width: 3 });
  const { dashboard_id } = await user.client.call("create_log_dashboard", {
    p_name: "Shop",
    p_panels: [panelOf("All"), panelOf("Old")],
  });
  const titles = async () => {
    const { panels } = await user.client.call("get_log_dashboard", {
      p_dashboard_id: dashboard_id,
    });
    return panels.map(({ title }) => title).join();
  };
  const options = { hash: `/dashboards?id=${dashboard_id}`, expected: /status (of )?409/ };
  await using one = await browser.open(user.token, options);
  await using two = await browser.open(user.token, options);
  for (const { page } of [one, two]) await page.getByRole("region", { name: "Old" }).waitFor();
  const add = async ({ page }: typeof one, title: string) => {
    await page.getByRole("button", { name: "New panel" }).click();
    await page.getByLabel("Title").fill(title);
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByRole("region", { name: title }).waitFor();
  };
  await add(one, "First");
  await add(two, "Second");
  assert.equal(await titles(), "All,Old,First,Second");
  await two.page.getByRole("region", { name: "First" }).waitFor();
  // The panels now have other positions than the first tab knows.
  await two.page.getByRole("button", { name: "Remove: All" }).click();
  await two.page.getByRole("region", { name: "All" }).waitFor({ state: "detached" });
  await one.page.getByRole("button", { name: "Remove: Old" }).click();
  await one.page.getByRole("region", { name: "Second" }).waitFor();
  assert.equal(await titles(), "First,Second");

  await using search = await browser.open(user.token, { ...options, hash: "q=%7C+count()" });
  await search.page.getByRole("button", { name: "Add to a dashboard" }).click();
  await search.page.getByRole("combobox", { name: "Dashboard" }).selectOption("Shop");
  await search.page.getByLabel("Title").fill("Found");
  await add(one, "Third");
  await search.page.getByRole("button", { name: "Add", exact: true }).click();
  await search.page.getByRole("region", { name: "Found" }).waitFor();
  assert.equal(await titles(), "First,Second,Third,Found");
});

inBrowser("a dashboard dialog closes on its own answer and shows its own error", async () => {
  const user = await withLogs();
  const { dashboard_id } = await user.client.call("create_log_dashboard", {
    p_name: "Shop",
    p_panels: ["All", "Old"].map((title) => ({
      title,
      query_dsl: "| count()",
      kind: "number",
      width: 3,
    })),
  });
  await using tab = await browser.open(user.token, {
    hash: `/dashboards?id=${dashboard_id}`,
    expected: /status (of )?400/,
  });
  const { page } = tab;
  const held = Promise.withResolvers<void>();
  await page.route("**/rpc/update_log_dashboard", async (route) => {
    await held.promise;
    await route.continue();
  }, { times: 1 });
  await page.getByRole("button", { name: "Remove: Old" }).click();
  await page.getByRole("button", { name: "Change: All" }).click();
  await page.getByLabel("Title").fill("Everything");
  held.resolve();
  await page.getByRole("region", { name: "Old", includeHidden: true })
    .waitFor({ state: "detached" });
  assert.equal(await page.getByLabel("Title").inputValue(), "Everything");
  await page.route("**/rpc/update_log_dashboard", async (route) => {
    await route.fulfill({ status: 400, json: { code: "PT400", message: "Not so" } });
  }, { times: 1 });
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByRole("dialog").getByText("Not so").waitFor();
  await page.getByRole("button", { name: "Cancel" }).click();
  await page.getByRole("button", { name: "New panel" }).click();
  await page.getByLabel("Title").waitFor();
  assert.equal(await page.getByText("Not so").count(), 0);

  // Two new panels, the second before the first is answered.
  const title = page.getByLabel("Title");
  for (const answer of ["continue", "fulfill"] as const) {
    const kept = Promise.withResolvers<void>();
    await page.route("**/rpc/update_log_dashboard", async (route) => {
      await kept.promise;
      if (answer === "continue") await route.continue();
      else await route.fulfill({ status: 400, json: { code: "PT400", message: "Nor so" } });
    }, { times: 1 });
    await title.fill(`First to ${answer}`);
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.getByRole("button", { name: "New panel" }).click();
    await title.fill("Second");
    await page.getByRole("button", { name: "Save", exact: true, disabled: true }).waitFor();
    kept.resolve();
    await page.getByRole("button", { name: "Save", exact: true, disabled: false }).waitFor();
    assert.equal(await title.inputValue(), "Second");
  }
  assert.equal(await page.getByRole("dialog").getByText("Nor so").count(), 0);
  await page.getByRole("button", { name: "Cancel" }).click();
  await page.getByText("Nor so").waitFor();
  await page.getByRole("region", { name: "First to continue" }).waitFor();
});

inBrowser("saving settings keeps what somebody else has changed", async () => {
  const user = await newUser();
  const keep = (retention_days: number) =>
    user.client.call("update_tenant_settings", { pipeline_config: { retention_days } });
  await keep(5);
  await using tab = await browser.open(user.token, { hash: "/settings" });
  const { page } = tab;
  const days = page.getByLabel("Keep records for (days)");
  const mayCall = page.getByLabel("Alerts may call webhooks");
  const save = page.getByRole("button", { name: "Save", exact: true });
  await days.waitFor();
  const before = await mayCall.isChecked();
  await keep(6);
  await mayCall.click();
  await save.click();
  await page.getByText("Saved.").waitFor();
  assert.equal(await days.inputValue(), "6");
  assert.equal(await mayCall.isChecked(), !before);
  await days.fill("4");
  await page.getByText("Saved.").waitFor({ state: "detached" });
  await save.click();
  await page.getByText("Saved.").waitFor();
  const { pipeline_config, notification_preferences } = await user.client.call(
    "get_tenant_settings",
    {},
  );
  assert.equal(pipeline_config.retention_days, 4);
  assert.equal(notification_preferences.webhook_enabled, !before);

  // Edits made during a save are sent with the next save.
  const held = Promise.withResolvers<void>();
  await page.route("**/rpc/update_tenant_settings", async (route) => {
    await held.promise;
    await route.continue();
  }, { times: 1 });
  await days.fill("3");
  await save.click();
  await mayCall.click();
  const mayMail = page.getByLabel("Alerts may send email");
  for (let times = 0; times < 2; times++) await mayMail.click();
  held.resolve();
  await page.getByRole("button", { name: "Save", exact: true, disabled: false }).waitFor();
  const asked = page.waitForRequest("**/rpc/update_tenant_settings");
  await save.click();
  assert.deepEqual((await asked).postDataJSON(), {
    pipeline_config: {},
    notification_preferences: { webhook_enabled: before },
  });
  await page.getByText("Saved.").waitFor();
  assert.equal(await days.inputValue(), "3");

  await page.getByRole("button", { name: "Add a rule" }).click();
  await page.getByLabel("Service (empty: all)").fill("api");
  await page.getByRole("button", { name: "Save the rules" }).click();
  await eventually("the rule is saved", async () => {
    const { retention_rules } = await user.client.call("get_tenant_settings", {});
    return retention_rules.map((rule) => Object.values(rule).join()).join(" ") === "debug,api,3";
  });
});

inBrowser(
  "a click on a legend shows one line, columns sort, and the tip shows values at the pointer",
  async () => {
    const user = await withLogs();
    await using tab = await browser.open(user.token, { hash: "q=%7C+count()+by+service" });
    const { page } = tab;
    const tip = page.locator(".chart-tip");
    const over = page.locator(".series .u-over");
    await over.hover({ position: { x: 30, y: 30 } });
    await tip.getByText("api").waitFor();
    await tip.getByText("shop").waitFor();
    await page.locator(".series-legend").getByRole("button", { name: "shop" }).click();
    await over.hover({ position: { x: 60, y: 40 } });
    await tip.getByText("shop").waitFor();
    assert.equal(await tip.getByText("api").count(), 0);
    const services = () => page.locator(".bars tbody td:first-child").allInnerTexts();
    assert.deepEqual(await services(), ["api", "shop"]);
    await page.getByRole("button", { name: "value" }).click();
    await page.getByRole("button", { name: "value" }).click();
    await eventually("the smallest is first", async () => (await services())[0] === "shop");
  },
);

inBrowser("an export continues on other screens and shows its progress", async () => {
  const user = await newUser();
  await store(user, Array.from({ length: 1200 }, (_, i) => ({ msg: `event ${i}` })));
  await eventually("an export holds them", async () => {
    const { records } = await user.client.call("export_logs", {});
    return records === 1200;
  });
  let isHeld = true;
  const { promise, resolve } = Promise.withResolvers<void>();
  await using tab = await browser.open(user.token, {
    prepare: (page) =>
      page.route("**/rpc/export_logs", async (route) => {
        if (isHeld) await promise;
        await route.continue();
      }),
  });
  const { page } = tab;
  await isSeen(page, "event");
  await page.getByRole("button", { name: "Save the records" }).click();
  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: /as NDJSON/ }).click();
  await page.getByText(/^Saving: 0/).waitFor();
  await page.getByRole("link", { name: "Keys" }).click();
  await page.getByText("No keys yet").waitFor();
  await page.getByText(/^Saving: 0/).waitFor();
  isHeld = false;
  resolve();
  const text = await Deno.readTextFile(await (await download).path());
  assert.equal(text.trim().split("\n").length, 1200);
  await page.getByText("Saved 1,200 of 1,200 records.").waitFor();
});

inBrowser("the palette and the completion list prefer matches at the start of a word", async () => {
  const user = await withLogs();
  await user.client.call("create_saved_search", { p_name: "Failures", p_query_dsl: "level:error" });
  await using tab = await browser.open(user.token);
  const { page } = tab;
  await isSeen(page, "slow query");
  await page.locator(".query-host").click();
  await page.keyboard.press("Control+k");
  const box = page.getByRole("combobox", { name: "Go to" });
  await box.fill("us");
  assert.match(
    await page.getByRole("listbox", { name: "Found" }).getByRole("option").first().innerText(),
    /^Usage/,
  );
  await box.fill("fai");
  await page.getByRole("option", { name: /Failures/ }).waitFor();
  assert.deepEqual(await accessibilityFaults(page), []);
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => location.hash.includes("level:error"));

  // Completion: a match at the start comes before a match inside.
  await search(page, "");
  await page.locator(".query-host").click();
  await page.keyboard.type("se");
  const list = await completions(page);
  await list.locator("li").first().getByText("service").waitFor();
  await page.keyboard.press("Tab");
  await list.getByText("shop", { exact: true }).waitFor();
  assert.equal(await boxText(page), "service:");
});

inBrowser("the calendar chooses days in the displayed zone", async () => {
  const user = await withLogs();
  await using tab = await browser.open(user.token, { timezone: "Asia/Kolkata" });
  const { page } = tab;
  await isSeen(page, "slow query");
  // Read before the calendar opens, in case a new day begins.
  const today = new Date().toLocaleDateString("en-US", {
    timeZone: "Asia/Kolkata",
    day: "numeric",
  });
  await page.getByRole("button", { name: /Range:/ }).click();
  await page.getByRole("button", { name: "Choose days" }).click();
  await page.getByRole("gridcell").getByText(today, { exact: true }).last().click();
  await eventually(
    "the end of the day is typed",
    async () => /T00:00$/.test(await page.getByLabel("To", { exact: true }).inputValue()),
  );
  assert.deepEqual(await accessibilityFaults(page), []);
  await page.getByRole("button", { name: "Use this range" }).click();
  await page.waitForFunction(() => location.hash.includes("18:30:00.000Z"));
});

inBrowser("a single day is a whole UTC day west of Greenwich, too", async () => {
  const user = await withLogs();
  await using tab = await browser.open(user.token, { timezone: "America/Los_Angeles" });
  const { page } = tab;
  await isSeen(page, "slow query");
  const today = new Date().toISOString().slice(0, 10);
  await page.getByRole("button", { name: /Range:/ }).click();
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Times in UTC-" }).click();
  await page.getByRole("button", { name: /Range:/ }).click();
  await page.getByRole("button", { name: "Choose days" }).click();
  await page.getByRole("gridcell").getByText(String(Number(today.slice(8))), { exact: true })
    .last().click();
  const tomorrow = new Date(Date.parse(today) + 86_400_000).toISOString().slice(0, 10);
  await eventually("the day is typed", async () => {
    const typed = await Promise.all(
      ["From", "To"].map((name) => page.getByLabel(name, { exact: true }).inputValue()),
    );
    return typed.join() === `${today}T00:00,${tomorrow}T00:00`;
  });
});

inBrowser("a first visit gets six notes, once", async () => {
  const user = await withLogs();
  await using tab = await browser.open(user.token, { hash: "", isFirstVisit: true });
  const { page } = tab;
  const note = page.getByRole("complementary", { name: "A first look" });
  await note.getByText("Your services").waitFor();
  assert.deepEqual(await accessibilityFaults(page), []);
  await note.getByRole("button", { name: "Got it" }).click();
  await note.getByText("2/6").waitFor();
  await page.getByRole("link", { name: "Errors" }).click();
  await note.waitFor({ state: "detached" });
  await page.getByRole("link", { name: "Overview" }).click();
  await note.getByText("2/6").waitFor();
  await note.getByRole("button", { name: "Got it" }).click();
  await page.getByRole("link", { name: "Search" }).click();
  for (const step of ["3/6", "4/6", "5/6", "6/6"]) {
    await note.getByText(step).waitFor();
    await page.setViewportSize({ width: 390, height: 844 });
    const { x, y, width, height } = await boxOf(note);
    assert.deepEqual([x, x + width, y + height], [8, 382, 836], "at the bottom edge");
    await note.getByRole("button", { name: "Got it" }).click();
  }
  await note.waitFor({ state: "detached" });
  await page.reload();
  await isSeen(page, "slow query");
  assert.equal(await note.count(), 0);
});

inBrowser("on a phone the screens are in a menu, and nothing is wider than the page", async () => {
  const user = await withLogs();
  await using tab = await browser.open(user.token, { hash: "", width: 390, height: 844 });
  const { page } = tab;
  await page.getByRole("heading", { name: "Overview" }).waitFor();
  await page.getByRole("button", { name: "Screens: Overview" }).click();
  await page.getByRole("link", { name: "Search" }).click();
  await isSeen(page, "slow query");
  const legend = await boxOf(page.locator(".legend"));
  assert.ok(legend.height < 34, `the legend is ${legend.height} px high`);
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 390);
  assert.deepEqual(await accessibilityFaults(page), []);
});
