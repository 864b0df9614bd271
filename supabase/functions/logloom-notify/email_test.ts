import assert from "node:assert/strict";
import type { AddressInfo } from "node:net";
import { SMTPServer, type SMTPServerOptions } from "smtp-server";
import { compose, deliverEmail, readSmtpSettings, type SmtpSettings } from "./email.ts";

const id = "0c5d8e30-6c1b-4e7c-9b0a-000000000001";
const attempt = "0c5d8e30-6c1b-4e7c-9b0a-0000000000a1";
const data = {
  alert_id: "aaaaaaaa-0000-4000-8000-000000000001",
  rule_id: "bbbbbbbb-0000-4000-8000-000000000001",
  tenant_id: "acme",
  name: "Too many errors",
  description: null as string | null,
  query_dsl: "level:error",
  value: 12.5,
  comparison: "gt",
  threshold: 10,
  window_minutes: 5,
  window_start: "2026-11-21T12:00:00.000Z",
  window_end: "2026-11-21T12:05:00.000Z",
  triggered_at: "2026-11-21T12:05:07.000Z",
};

function body(changes: Partial<typeof data> = {}, type = "alert.triggered"): string {
  return JSON.stringify({ type, timestamp: data.triggered_at, data: { ...data, ...changes } });
}

interface Mail {
  from: string;
  to: string[];
  /** The mail's text, without the soft line breaks of quoted-printable. */
  text: string;
}

/** Runs a real SMTP server, which keeps its mails. */
async function withServer(
  options: SMTPServerOptions,
  use: (settings: SmtpSettings, mails: Mail[]) => Promise<void>,
): Promise<void> {
  const mails: Mail[] = [];
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ["STARTTLS"],
    logger: false,
    onData(stream, session, done) {
      const chunks: Uint8Array[] = [];
      stream.on("data", (chunk: Uint8Array) => chunks.push(chunk));
      stream.on("end", () => {
        const { mailFrom, rcptTo } = session.envelope;
        mails.push({
          from: mailFrom ? mailFrom.address : "",
          to: rcptTo.map(({ address }) => address),
          text: chunks.map((chunk) => new TextDecoder().decode(chunk)).join("")
            .replaceAll("=\r\n", ""),
        });
        done();
      });
    },
    ...options,
  });
  // Some tests disconnect in the middle.
  server.on("error", () => {});
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.server.address() as AddressInfo;
  try {
    await use({
      host: "127.0.0.1",
      port,
      secure: false,
      user: undefined,
      password: undefined,
      from: "Logloom <alerts@logloom.example>",
    }, mails);
  } finally {
    await new Promise<void>((resolve) => server.close(() => resolve()));
  }
}

const to = "ops@example.com";

/** The test runs without sanitizers, because Deno 2.1 keeps the timer of a closed socket. */
const test = (name: string, fn: () => Promise<void>) =>
  Deno.test({ name, fn, sanitizeOps: false, sanitizeResources: false });

test("an email names the rule that fired and why", async () => {
  await withServer({}, async (settings, mails) => {
    const outcome = await deliverEmail({ id, attempt, to, body: body() }, settings, 60_000);
    assert.deepEqual(outcome, { outcome: "delivered", status: 250 });
    const [{ from, to: recipients, text }] = mails;
    assert.deepEqual([from, recipients], ["alerts@logloom.example", [to]]);
    assert.match(text, /^From: Logloom <alerts@logloom.example>\r$/m);
    assert.match(text, /^To: ops@example.com\r$/m);
    assert.match(text, /^Subject: \[Logloom\] Too many errors: 12.5\r$/m);
    assert.match(text, new RegExp(`^Message-ID: <${id}@logloom.example>\r$`, "m"));
    assert.equal(
      text.slice(text.indexOf("\r\n\r\n") + 4).replaceAll("\r\n", "\n")
        .trimEnd(),
      `The alert rule "Too many errors" fired: its value was 12.5, above 10.

Rule:    Too many errors
Value:   12.5, above 10
Window:  2026-11-21T12:00:00.000Z to 2026-11-21T12:05:00.000Z
Query:   level:error

Rule bbbbbbbb-0000-4000-8000-000000000001, alert aaaaaaaa-0000-4000-8000-000000000001`,
    );
  });
});

test("a mail with a code has no text of a tenant", async () => {
  await withServer({}, async (settings, mails) => {
    const confirmation = JSON.stringify({
      type: "address.confirmation",
      code: "012345",
      hours: 24,
      data: { name: "Buy now", tenant_id: "spam.example" },
    });
    const outcome = await deliverEmail({ id, attempt, to, body: confirmation }, settings, 60_000);
    assert.deepEqual(outcome, { outcome: "delivered", status: 250 });
    const [{ text }] = mails;
    assert.match(text, /^Subject: \[Logloom\] Confirm this address\r$/m);
    // Each attempt has another code, so it needs another id.
    assert.match(text, new RegExp(`^Message-ID: <${attempt}@logloom.example>\r$`, "m"));
    assert.equal(
      text.slice(text.indexOf("\r\n\r\n") + 4).replaceAll("\r\n", "\n")
        .trimEnd(),
      `Somebody asked Logloom, a log service, to send alerts to this address.

Code:    012345

If it was you, enter the code there within 24 hours. Only the newest code works.
If it was not you, do nothing: without the code no alerts are sent here.`,
    );
  });
});

test("a test mail says that it is a test", async () => {
  await withServer({}, async (settings, mails) => {
    await deliverEmail({ id, attempt, to, body: body({}, "alert.test") }, settings, 60_000);
    assert.match(mails[0].text, /^Subject: \[Logloom\] Test of Too many errors\r$/m);
    assert.match(mails[0].text, /This is a test of the alert rule "Too many errors"/);
  });
});

test("a rule's texts never become headers or recipients", async () => {
  const name = "x\r\nBcc: eve@example.com\r\n\r\nhello";
  const address = "ops@example.com";
  await withServer({}, async (settings, mails) => {
    await deliverEmail({ id, attempt, to: address, body: body({ name }) }, settings, 60_000);
    const [{ to: recipients, text }] = mails;
    assert.deepEqual(recipients, [address]);
    const head = text.slice(0, text.indexOf("\r\n\r\n"));
    assert.doesNotMatch(head, /^Bcc:/im);
    assert.match(head, /^Subject: \[Logloom\] x Bcc: eve@example.com hello: 12.5\r?$/m);
  });
});

test("the server's answer decides the outcome of the delivery", async () => {
  const refuse = (code: number): SMTPServerOptions => ({
    onRcptTo(_address, _session, done) {
      done(Object.assign(new Error("secret words of the server"), { responseCode: code }));
    },
  });
  for (
    const [code, expected] of [
      [550, { outcome: "failed", error: "SMTP 550", status: 550 }],
      [451, { outcome: "retry", error: "SMTP 451", status: 451, retryAfter: undefined }],
    ] as const
  ) {
    await withServer(refuse(code), async (settings) => {
      assert.deepEqual(
        await deliverEmail({ id, attempt, to, body: body() }, settings, 60_000),
        expected,
      );
    });
  }
});

test("a password is only sent over TLS", async () => {
  let asked = 0;
  const options: SMTPServerOptions = {
    allowInsecureAuth: true,
    onAuth(_auth, _session, done) {
      asked += 1;
      done(null, { user: "logloom" });
    },
  };
  await withServer(options, async (settings, mails) => {
    const withPassword = { ...settings, user: "logloom", password: "a secret" };
    const outcome = await deliverEmail({ id, attempt, to, body: body() }, withPassword, 60_000);
    assert.equal(outcome.outcome, "retry");
    assert.deepEqual([asked, mails], [0, []]);
  });
});

test("a server that is unreachable or silent is tried again", async () => {
  const expected = {
    outcome: "retry",
    error: "The SMTP server cannot be reached",
    status: undefined,
    retryAfter: undefined,
  };
  using silent = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const settings: SmtpSettings = {
    host: "127.0.0.1",
    port: silent.addr.port,
    secure: false,
    user: undefined,
    password: undefined,
    from: "alerts@logloom.example",
  };
  // On a busy machine the time-out may come before the connection.
  const accepted = silent.accept().catch(() => undefined);
  assert.deepEqual(await deliverEmail({ id, attempt, to, body: body() }, settings, 200), expected);
  silent.close();
  (await accepted)?.close();
  assert.deepEqual(await deliverEmail({ id, attempt, to, body: body() }, settings, 200), expected);
});

test("a server that never ends its answer is dropped after the time-out", async () => {
  const dribbling = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  let isOpen = true;
  const talk = (async () => {
    const conn = await dribbling.accept().catch(() => undefined);
    if (conn === undefined) return;
    const say = (line: string) => conn.write(new TextEncoder().encode(`${line}\r\n`));
    try {
      await say("220 here");
      for (const answer of ["250 hello", "250 from", "250 to", "354 go on"]) {
        await conn.read(new Uint8Array(1024));
        await say(answer);
      }
      for (let n = 0; isOpen; n++) {
        await say(`250-${n}`);
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
    } catch {
      // The client disconnected.
    }
    conn.close();
  })();
  const settings: SmtpSettings = {
    host: "127.0.0.1",
    port: (dribbling.addr as Deno.NetAddr).port,
    secure: false,
    user: undefined,
    password: undefined,
    from: "alerts@logloom.example",
  };
  const outcome = await deliverEmail({ id, attempt, to, body: body() }, settings, 200);
  assert.deepEqual(outcome, {
    outcome: "retry",
    error: "The SMTP server cannot be reached",
    status: undefined,
    retryAfter: undefined,
  });
  isOpen = false;
  dribbling.close();
  await talk;
});

test("without SMTP settings an email fails and says so", async () => {
  const settings = readSmtpSettings(() => undefined);
  assert.deepEqual(
    await deliverEmail({ id, attempt, to, body: body() }, settings, 200),
    { outcome: "failed", error: "SMTP is not configured", status: undefined },
  );
  const env: Record<string, string> = {
    LOGLOOM_SMTP_HOST: "smtp.example.com",
    LOGLOOM_SMTP_FROM: "alerts@logloom.example",
  };
  assert.deepEqual(readSmtpSettings((name) => env[name]), {
    host: "smtp.example.com",
    port: 465,
    secure: true,
    user: undefined,
    password: undefined,
    from: "alerts@logloom.example",
  });
});

Deno.test("the mail about a paused log stream has the reason, and that nothing is lost", () => {
  const { subject, text, isNew } = compose(JSON.stringify({
    type: "stream.paused",
    data: {
      stream_id: "0c5d8e30-6c1b-4e7c-9b0a-000000000001",
      name: "to the\nwarehouse",
      kind: "s3",
      reason: "failing",
      failing_since: "2026-11-22T10:00:00Z",
      last_error: "HTTP 503",
    },
  }));
  assert.equal(subject, "[Logloom] Paused: to the warehouse");
  assert.equal(isNew, false);
  assert.match(text, /^The log stream "to the\nwarehouse" \(s3\) was paused\. Its receiver has/);
  assert.match(text, /\nFailing since: 2026-11-22T10:00:00Z\nLast error: {4}HTTP 503\n/);
});

Deno.test("the mail about a failing log stream has the receiver's status", () => {
  const { subject, text } = compose(JSON.stringify({
    type: "stream.failing",
    data: {
      stream_id: "0c5d8e30-6c1b-4e7c-9b0a-000000000001",
      name: "collector",
      kind: "otlp",
      reason: "failing",
      failing_since: "2026-11-22T10:00:00Z",
      last_error: "HTTP 404",
      answer: "no\nsuch route",
    },
  }));
  assert.equal(subject, "[Logloom] Failing: collector");
  assert.match(text, /^The log stream "collector" \(otlp\) fails: /);
  assert.match(text, /\nLast error: {4}HTTP 404\nIt answered: {3}no such route\n/);
});
