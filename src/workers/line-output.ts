/** Standard output that several write to, each of them whole lines. */
export class LineOutput {
  readonly #output: (text: string) => Promise<void>;
  #written: Promise<void> = Promise.resolve();

  /** `output` resolves when a text is taken. */
  constructor(output: (text: string) => Promise<void>) {
    this.#output = output;
  }

  /** Writes behind what others have begun. Resolves when it is taken, or when nobody reads any more. */
  write(text: string): Promise<void> {
    this.#written = this.#written.then(() => this.#output(text)).catch(() => {});
    return this.#written;
  }

  /**
   * Copies the lines of a stream until its end; what is left after the last one is no line. It reads no faster than
   * its lines are taken: a process drops lines of its own log, and counts them, when nobody reads them.
   */
  async copy(stream: ReadableStream<Uint8Array>): Promise<void> {
    const decoder = new TextDecoder();
    let rest = "";
    for await (const bytes of stream) {
      const text = rest + decoder.decode(bytes, { stream: true });
      const end = text.lastIndexOf("\n") + 1;
      rest = text.slice(end);
      if (end > 0) await this.write(text.slice(0, end));
    }
  }
}
