/** Why a key or token was refused: where the body is fixed, it stands in WWW-Authenticate alone. */
export function refusalOf(headers: Headers): string | undefined {
  return /\berror_description="([^"]*)"/.exec(headers.get("WWW-Authenticate") ?? "")?.[1];
}
