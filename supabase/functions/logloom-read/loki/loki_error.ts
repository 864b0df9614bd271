/** An error in Loki's form: a status and plain text. */
export class Refusal extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly headers: Record<string, string> = {},
  ) {
    super(message);
  }
}

/** Returns the operation's result. If it is refused with one of the statuses, returns the result of `otherwise`. */
export async function unlessRefused<T>(
  asked: Promise<T>,
  statuses: readonly number[],
  otherwise: (status: number) => T | Promise<T>,
): Promise<T> {
  try {
    return await asked;
  } catch (error) {
    if (!(error instanceof Refusal) || !statuses.includes(error.status)) throw error;
    return otherwise(error.status);
  }
}

export function refuse(message: string): never {
  throw new Refusal(400, message);
}
