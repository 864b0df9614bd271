/** Returns why a key or token was refused. If the body's format is fixed, only WWW-Authenticate has the reason. */
export function refusalOf(headers: Headers): string | undefined {
  return /\berror_description="([^"]*)"/.exec(headers.get("WWW-Authenticate") ?? "")?.[1];
}
