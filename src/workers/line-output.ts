/** Standard output for several writers, each of which writes whole lines. */
export class LineOutput {
  readonly #output: (text: string) => Promise<void>;
  #written: Promise<void> = Promise.resolve();

  /** `output` resolves when it has accepted the text. */
  constructor(output: (text: string) => Promise<void>) {
    this.#output = output;
  }

  /** Queues a text after earlier writes. Resolves when it is written, or when the reader is gone. */
  write(text: string): Promise<void> {
    this.#written = this.#written.then(() => this.#output(text)).catch(() => {});
    return this.#written;
  }

  /**
   * Copies the lines of a stream until its end and drops an incomplete last line. It reads only as fast as it can write.
   * If that is too slow, the process that writes the stream drops lines of its log and counts them.
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
