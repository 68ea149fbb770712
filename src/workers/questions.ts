/** Questions to another process whose answers are awaited. */
export class Questions {
  readonly #open = new Map<number, (answer: string | undefined) => void>();
  #asked = 0;

  /** Sends a question. Resolves with the answer, or undefined after `deadline` milliseconds. */
  async ask(send: (question: number) => void, deadline: number): Promise<string | undefined> {
    const question = this.#asked++;
    const { promise, resolve } = Promise.withResolvers<string | undefined>();
    const late = setTimeout(() => resolve(undefined), deadline);
    this.#open.set(question, resolve);
    try {
      send(question);
      return await promise;
    } catch {
      return undefined; // the other process is gone
    } finally {
      clearTimeout(late);
      this.#open.delete(question);
    }
  }

  answer(question: number, text: string): void {
    this.#open.get(question)?.(text);
  }
}
