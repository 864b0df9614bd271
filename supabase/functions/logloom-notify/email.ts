import { createTransport } from "nodemailer";
import { cut, messageOf, oneLine, type Payload } from "./message.ts";
import { failed, type Outcome, retry } from "./delivery_outcome.ts";

export interface SmtpSettings {
  readonly host: string;
  readonly port: number;
  /** TLS from the first byte; otherwise STARTTLS if the server offers it. */
  readonly secure: boolean;
  readonly user: string | undefined;
  readonly password: string | undefined;
  readonly from: string;
}

export interface EmailMessage {
  readonly id: string;
  /** The id of this attempt. */
  readonly attempt: string;
  readonly to: string;
  /** The JSON that webhooks get, or a code. */
  readonly body: string;
}

/** Undefined without an SMTP server: then only the delivery of an email fails. */
export function readSmtpSettings(
  get: (name: string) => string | undefined,
): SmtpSettings | undefined {
  const host = get("LOGLOOM_SMTP_HOST");
  const from = get("LOGLOOM_SMTP_FROM");
  if (!host || !from) return undefined;
  const port = Number(get("LOGLOOM_SMTP_PORT") || 465);
  return {
    host,
    port,
    secure: port === 465,
    user: get("LOGLOOM_SMTP_USER") || undefined,
    password: get("LOGLOOM_SMTP_PASSWORD") || undefined,
    from,
  };
}

export async function deliverEmail(
  message: EmailMessage,
  settings: SmtpSettings | undefined,
  timeoutMs: number,
): Promise<Outcome> {
  if (settings === undefined) return failed("SMTP is not configured");
  const { host, port, secure, user, password, from } = settings;
  const domain = from.slice(from.lastIndexOf("@") + 1).split(">")[0];
  const transport = createTransport({
    host,
    port,
    secure,
    // The name for EHLO: the machine's own name is private.
    name: domain,
    auth: user === undefined ? undefined : { user, pass: password ?? "" },
    // A password is only sent over TLS.
    requireTLS: user !== undefined && !secure,
    connectionTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    socketTimeout: timeoutMs,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  const { isNew, ...content } = compose(message.body);
  const attempt = transport.sendMail({
    from,
    to: { name: "", address: message.to },
    // The same id in every attempt, so that a mailbox recognises a repeat. Mails that differ each time get new ids.
    messageId: `<${isNew ? message.attempt : message.id}@${domain}>`,
    ...content,
  }).then((): Outcome => ({ outcome: "delivered", status: 250 }), judge);
  // The timeouts above only end silence: a server that keeps talking would outlast the claim.
  let timer: ReturnType<typeof setTimeout> | undefined;
  const timeout = new Promise<Outcome>((resolve) => {
    timer = setTimeout(() => resolve(retry(unreachable)), timeoutMs);
  });
  try {
    return await Promise.race([attempt, timeout]);
  } finally {
    clearTimeout(timer);
    transport.close();
  }
}

const unreachable = "The SMTP server cannot be reached";

/** The mail that asks a mailbox to confirm that it wants alerts. */
interface Confirmation {
  readonly type: "address.confirmation";
  readonly code: string;
  readonly hours: number;
}

/** The mail that tells owners that a log stream was paused, or fails and is still tried. */
interface StreamTrouble {
  readonly type: "stream.paused" | "stream.failing";
  readonly data: {
    readonly stream_id: string;
    readonly name: string;
    readonly kind: string;
    readonly reason: string;
    readonly failing_since: string | null;
    readonly last_error: string | null;
    readonly answer?: string | null;
  };
}

interface Content {
  readonly subject: string;
  readonly text: string;
  /** Whether the mail differs in each attempt. */
  readonly isNew: boolean;
}

export function compose(body: string): Content {
  const payload = JSON.parse(body) as Payload | Confirmation | StreamTrouble;
  switch (payload.type) {
    case "address.confirmation":
      return composeConfirmation(payload as Confirmation);
    case "stream.paused":
    case "stream.failing":
      return composeTrouble(payload as StreamTrouble);
    default:
      return composeAlert(payload as Payload);
  }
}

/** The mail has no text of the tenant, because the recipient may not know the tenant. */
function composeConfirmation({ code, hours }: Confirmation): Content {
  const text = [
    "Somebody asked Logloom, a log service, to send alerts to this address.",
    "",
    `Code:    ${code}`,
    "",
    `If it was you, enter the code there within ${hours} hours. Only the newest code works.`,
    "If it was not you, do nothing: without the code no alerts are sent here.",
    "",
  ];
  return { subject: "[Logloom] Confirm this address", text: text.join("\n"), isNew: true };
}

const pauseReasons: Readonly<Record<string, string>> = {
  failing: "Its receiver has accepted nothing for a long time.",
  refused: "Its receiver refuses every record: look at its address and secrets.",
  maker: "Its creator is no longer an admin of the tenant.",
};

function composeTrouble({ type, data }: StreamTrouble): Content {
  const isPaused = type === "stream.paused";
  const what = `The log stream "${data.name}" (${data.kind})`;
  const lines = [
    isPaused
      ? `${what} was paused. ${pauseReasons[data.reason] ?? ""}`
      : `${what} fails: its receiver has accepted nothing for a while. Logloom keeps trying.`,
    "",
    ...data.failing_since === null ? [] : [`Failing since: ${data.failing_since}`],
    ...data.last_error === null ? [] : [`Last error:    ${data.last_error}`],
    ...data.answer ? [`It answered:   ${oneLine(data.answer)}`] : [],
    `Stream:        ${data.stream_id}`,
    "",
    isPaused
      ? "Nothing is lost within the retention: enable the stream, and it continues where it stopped."
      : "Nothing is lost within the retention: the stream continues as soon as its receiver works.",
    "",
  ];
  const name = data.name.replace(/\s+/g, " ");
  const subject = `[Logloom] ${isPaused ? "Paused" : "Failing"}: ${name}`;
  return { subject, text: lines.join("\n"), isNew: false };
}

function composeAlert(payload: Payload): Content {
  const { data } = payload;
  const { title, summary, facts, logs, url } = messageOf(payload);
  const width = Math.max(...facts.map(([name]) => name.length), 6);
  const lines = [
    summary,
    ...data.description === null ? [] : ["", data.description],
    "",
    ...facts.map(([name, value]) => `${`${name}:`.padEnd(width + 2)} ${value}`),
    ...logs.length === 0 ? [] : ["", "The newest records:", ...logs],
    ...url === undefined ? [] : ["", url],
    "",
    `Rule ${data.rule_id}${data.alert_id === null ? "" : `, alert ${data.alert_id}`}`,
    "",
  ];
  return { subject: `[Logloom] ${cut(title, 300)}`, text: lines.join("\n"), isNew: false };
}

function judge(error: unknown): Outcome {
  const { code, responseCode: status } = error as { code?: string; responseCode?: number };
  if (code === "EAUTH") {
    return retry("The SMTP server refused Logloom's user", status);
  }
  if (code === "ETLS") return retry("The TLS connection to the SMTP server failed");
  // A refused recipient or message is final. All other faults are the server's and may pass.
  const isRefusal = code === "EENVELOPE" || code === "EMESSAGE";
  if (isRefusal && status !== undefined && status >= 500) {
    return failed(`SMTP ${status}`, status);
  }
  if (status !== undefined) return retry(`SMTP ${status}`, status);
  return retry(unreachable);
}
