import { redirectOf } from "../read/redirect.ts";
import { Failure } from "./failure.ts";
import { type Profile, readProfile, type StoredSession, writeProfile } from "./profiles.ts";

/** Before its end an access token is renewed, so that no request is late. */
const marginSeconds = 60;

const timeoutMs = 30_000;

/** What was given, a password or a refresh token, is not accepted. */
class Refused extends Failure {}

type Grant = { email: string; password: string } | { refresh_token: string };

/** Supabase Auth's answer to a password or a refresh token. */
export async function signIn(
  { url, publishable_key }: Pick<Profile, "url" | "publishable_key">,
  grant: Grant,
): Promise<StoredSession> {
  const type = "password" in grant ? "password" : "refresh_token";
  let response: Response;
  let text: string;
  try {
    response = await fetch(`${url}/auth/v1/token?grant_type=${type}`, {
      method: "POST",
      headers: {
        "Content-Type": "application/json",
        ...publishable_key !== undefined && { apikey: publishable_key },
      },
      body: JSON.stringify(grant),
      redirect: "manual",
      signal: AbortSignal.timeout(timeoutMs),
    });
    text = await response.text();
  } catch {
    throw new Error(`${url} cannot be reached`);
  }
  const redirect = redirectOf(response);
  if (redirect !== undefined) throw new Failure(`${redirect}.`);
  const answer = objectOf(text);
  if (response.status >= 500 || response.status === 429) {
    throw new Error(`Supabase Auth answered ${response.status}`);
  }
  const { access_token, refresh_token, expires_in, expires_at } = answer;
  if (!response.ok || typeof access_token !== "string") {
    const said = [answer.msg, answer.error_description, answer.message, answer.error]
      .find((one) => typeof one === "string");
    throw new Refused(`Supabase Auth refused: ${said ?? response.status}.`);
  }
  const ends = typeof expires_at === "number"
    ? expires_at
    : typeof expires_in === "number"
    ? Math.floor(Date.now() / 1000) + expires_in
    : undefined;
  return {
    access_token,
    ...typeof refresh_token === "string" && { refresh_token },
    ...ends !== undefined && { expires_at: ends },
  };
}

/** The profile's access token, renewed when it is about to end, or at once. */
export async function accessToken(name: string, renew = false): Promise<string> {
  const profile = await readProfile(name);
  const session = profile?.session;
  if (profile === undefined || session === undefined) {
    throw new Failure(`the profile ${name} has no session any more: log in again.`);
  }
  if (session.refresh_token === undefined || !renew && isFresh(session)) {
    return session.access_token;
  }
  try {
    const next = await signIn(profile, { refresh_token: session.refresh_token });
    await writeProfile(name, { ...profile, session: next });
    return next.access_token;
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    // Another command may have renewed it a moment ago: a refresh token works once.
    const now = (await readProfile(name))?.session;
    if (now !== undefined && now.access_token !== session.access_token) return now.access_token;
    throw new Failure(`the session of the profile ${name} has ended: log in again.`);
  }
}

function isFresh({ expires_at }: StoredSession): boolean {
  return expires_at === undefined || expires_at - marginSeconds > Date.now() / 1000;
}

/** What an access token says of its user; nothing is verified. */
export function claimsOf(token: string): Record<string, unknown> {
  const [, payload = ""] = token.split(".");
  return objectOf(Buffer.from(payload, "base64url").toString());
}

function objectOf(text: string): Record<string, unknown> {
  try {
    return { ...JSON.parse(text) };
  } catch {
    return {};
  }
}
