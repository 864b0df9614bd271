/** What is answered instead, as Loki answers: a status and plain text. */
export class Refusal extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly headers: Record<string, string> = {},
  ) {
    super(message);
  }
}

export function refuse(message: string): never {
  throw new Refusal(400, message);
}
