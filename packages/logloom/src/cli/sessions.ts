import { redirectOf } from "../read/redirect.ts";
import { Failure } from "./failure.ts";
import { type Profile, readProfile, type StoredSession, writeProfile } from "./profiles.ts";

/** An access token is renewed this long before it expires, so that no request is late. */
const marginSeconds = 60;

const timeoutMs = 30_000;

/** The password or refresh token is not accepted. */
class Refused extends Failure {}

type Grant = { email: string; password: string } | { refresh_token: string };

/** Exchanges a password or a refresh token for a session at Supabase Auth. */
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

/** Returns the profile's access token. Renews it shortly before it expires, or at once with `renew`. */
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
    // Another command may have just renewed the session: a refresh token works only once.
    const now = (await readProfile(name))?.session;
    if (now !== undefined && now.access_token !== session.access_token) return now.access_token;
    throw new Failure(`the session of the profile ${name} has ended: log in again.`);
  }
}

function isFresh({ expires_at }: StoredSession): boolean {
  return expires_at === undefined || expires_at - marginSeconds > Date.now() / 1000;
}

/** Returns the claims of an access token without verifying it. */
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
